//! Sums over the samples of two sounds, the same bits however the samples were cut up.

use super::lanes::{LANES, total};

/// Samples whose sums are taken apart from the others' of their second: what a long sum loses would
/// hide a difference 80 dB below an offset.
pub(super) const STRETCH: usize = 1024;

/// Sums over one second of one channel, or of the mean of all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Samples that were compared.
    pub samples: f64,
    /// Of the reference's samples.
    pub reference: f64,
    /// Of the candidate's samples.
    pub candidate: f64,
    /// Of the reference's squares.
    pub reference_squares: f64,
    /// Of the candidate's squares.
    pub candidate_squares: f64,
    /// Of the products of both.
    pub products: f64,
    /// Of the squares of their differences.
    pub differences: f64,
    /// Frames that begin in this second.
    pub frames: f64,
    /// Over these frames and all frequencies, of the squared differences of level, in dB^2.
    pub level_squares: f64,
    /// Over these frames and all mel bands, of the differences of the logarithms.
    pub mel: f64,
}

/// Sums of one track's samples since the last whole stretch, in the order of [`Sums`].
#[derive(Debug, Clone, Default)]
pub(super) struct Stretch {
    pub(super) samples: usize,
    sums: [[f64; LANES]; 6],
}

impl Stretch {
    #[inline(always)]
    pub(super) fn add(&mut self, [reference, candidate]: [&[f64]; 2]) {
        let at = self.samples % LANES;
        let first = ((LANES - at) % LANES).min(reference.len());
        let (r_first, r_rest) = reference.split_at(first);
        let (c_first, c_rest) = candidate.split_at(first);
        let (r_groups, r_last) = r_rest.as_chunks();
        let (c_groups, c_last) = c_rest.as_chunks();
        let mut sums = self.sums;
        add_group(&mut sums, &padded(r_first, at), &padded(c_first, at));
        for (r, c) in r_groups.iter().zip(c_groups) {
            add_group(&mut sums, r, c);
        }
        add_group(&mut sums, &padded(r_last, 0), &padded(c_last, 0));
        self.sums = sums;
        self.samples += reference.len();
    }

    /// Ends it: its sums are those of this second too.
    pub(super) fn close(&mut self, second: &mut Sums) {
        let [r, c, rr, cc, rc, dd] = self.sums.map(|lanes| total(&lanes));
        second.samples += self.samples as f64;
        second.reference += r;
        second.candidate += c;
        second.reference_squares += rr;
        second.candidate_squares += cc;
        second.products += rc;
        second.differences += dd;
        *self = Self::default();
    }
}

/// Some of a group of samples, in their lanes; 0 in the others adds nothing.
#[inline(always)]
fn padded(samples: &[f64], at: usize) -> [f64; LANES] {
    let mut group = [0.0; LANES];
    group[at..at + samples.len()].copy_from_slice(samples);
    group
}

#[inline(always)]
fn add_group(sums: &mut [[f64; LANES]; 6], reference: &[f64; LANES], candidate: &[f64; LANES]) {
    for l in 0..LANES {
        let (r, c) = (reference[l], candidate[l]);
        let difference = r - c;
        sums[0][l] += r;
        sums[1][l] += c;
        sums[2][l] += r * r;
        sums[3][l] += c * c;
        sums[4][l] += r * c;
        sums[5][l] += difference * difference;
    }
}
