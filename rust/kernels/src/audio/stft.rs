//! Short-time spectra of sound: sixteen frames at a time, two to a complex sequence.

use std::f64::consts::TAU;

use crate::fft;

/// Samples of a frame.
pub(super) const LENGTH: usize = 1024;
/// Frequencies of a frame, from 0 to half the sample rate.
pub(super) const BINS: usize = LENGTH / 2 + 1;
/// Frames that are transformed at once.
pub(super) const BATCH: usize = 2 * LANES;

const LANES: usize = 8;

type Cell = fft::Cell<f64, LANES>;

/// One frequency of a batch of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(super) struct Bin {
    pub(super) re: [f64; BATCH],
    pub(super) im: [f64; BATCH],
}

impl Bin {
    pub(super) const ZERO: Self = Self { re: [0.0; BATCH], im: [0.0; BATCH] };

    #[inline(always)]
    pub(super) fn power(&self) -> [f64; BATCH] {
        std::array::from_fn(|l| self.re[l] * self.re[l] + self.im[l] * self.im[l])
    }
}

/// The Hann window, symmetric, and the transform of what it leaves.
#[derive(Debug)]
pub(super) struct Stft {
    fft: fft::Fft<f64, LANES>,
    window: Vec<f64>,
}

/// Memory of one transform, kept from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Work {
    data: Vec<Cell>,
    scratch: Vec<Cell>,
    bins: Vec<Bin>,
}

impl Stft {
    pub(super) fn new() -> Self {
        let angle = |i: usize| TAU * (i as f64 / (LENGTH - 1) as f64);
        Self {
            fft: fft::Fft::new(LENGTH),
            window: (0..LENGTH).map(|i| 0.5 - 0.5 * libm::cos(angle(i))).collect(),
        }
    }

    /// The spectra of up to sixteen frames `hop` samples apart, the first of which begins with the
    /// first of `samples`. Samples that a frame lacks are 0, and so are the frames after `frames`.
    ///
    /// A frame's bits depend on which place it has in its batch: let batches begin at fixed frames.
    #[inline(always)]
    pub(super) fn run<'w>(
        &self,
        samples: &[f64],
        hop: usize,
        frames: usize,
        work: &'w mut Work,
    ) -> &'w [Bin] {
        let Work { data, scratch, bins } = work;
        data.resize(LENGTH, Cell::default());
        scratch.resize(self.fft.scratch(), Cell::default());
        bins.resize(BINS, Bin::ZERO);
        let frame = |f: usize| {
            let from = if f < frames { (f * hop).min(samples.len()) } else { samples.len() };
            &samples[from..(from + LENGTH).min(samples.len())]
        };
        let parts: [&[f64]; BATCH] = std::array::from_fn(frame);
        for (i, (cell, &window)) in data.iter_mut().zip(&self.window).enumerate() {
            for l in 0..LANES {
                cell.re[l] = parts[l].get(i).map_or(0.0, |&x| x * window);
                cell.im[l] = parts[LANES + l].get(i).map_or(0.0, |&x| x * window);
            }
        }
        self.fft.run(data, scratch);
        for (k, bin) in bins.iter_mut().enumerate() {
            split(&data[k], &data[(LENGTH - k) % LENGTH], bin);
        }
        bins
    }
}

/// The spectra of two real sequences from that of the complex one which they make.
#[inline(always)]
fn split(at: &Cell, mirrored: &Cell, bin: &mut Bin) {
    for l in 0..LANES {
        bin.re[l] = 0.5 * (at.re[l] + mirrored.re[l]);
        bin.im[l] = 0.5 * (at.im[l] - mirrored.im[l]);
        bin.re[LANES + l] = 0.5 * (at.im[l] + mirrored.im[l]);
        bin.im[LANES + l] = 0.5 * (mirrored.re[l] - at.re[l]);
    }
}

/// How many frames a sound of so many samples has: a short one is one frame, filled up with zeros.
pub(super) fn frames_of(samples: usize, hop: usize) -> usize {
    match samples {
        0 => 0,
        n if n < LENGTH => 1,
        n => 1 + (n - LENGTH) / hop,
    }
}

/// Samples that come in pieces of any size, taken as batches of frames.
#[derive(Debug)]
pub(super) struct Feed {
    hop: usize,
    pending: Vec<f64>,
    taken: usize,
    batches: usize,
}

impl Feed {
    pub(super) fn new(hop: usize) -> Self {
        Self { hop, pending: Vec::new(), taken: 0, batches: 0 }
    }

    pub(super) fn hop(&self) -> usize {
        self.hop
    }

    /// Takes more samples.
    pub(super) fn push(&mut self, samples: impl Iterator<Item = f64>) {
        let before = self.pending.len();
        self.pending.extend(samples);
        self.taken += self.pending.len() - before;
    }

    /// Whole batches that lie ready: each one's index and its samples.
    pub(super) fn ready(&self) -> impl ExactSizeIterator<Item = (usize, &[f64])> {
        let (step, span) = (BATCH * self.hop, (BATCH - 1) * self.hop + LENGTH);
        let count =
            if self.pending.len() < span { 0 } else { 1 + (self.pending.len() - span) / step };
        (0..count).map(move |b| (self.batches + b, &self.pending[b * step..][..span]))
    }

    /// Forgets the batches that [`ready`](Self::ready) gave.
    pub(super) fn drop_ready(&mut self) {
        let count = self.ready().len();
        self.pending.drain(..count * BATCH * self.hop);
        self.batches += count;
    }

    /// After the last sample: the samples of the last, incomplete batch and its frames.
    pub(super) fn rest(&self) -> (&[f64], usize) {
        let frames = frames_of(self.taken, self.hop) - self.batches * BATCH;
        (&self.pending, frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_equals_the_definition_wherever_it_lies_in_its_batch() {
        let mut state = 7_u32;
        let samples: Vec<f64> = (0..LENGTH + 15 * 256)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1 << 23) - 1.0
            })
            .collect();
        let stft = Stft::new();
        let mut work = Work::default();
        let bins = stft.run(&samples, 256, 16, &mut work);
        for f in [0, 7, 8, 15] {
            for k in [0, 1, 100, 511, 512] {
                let (re, im) = (0..LENGTH).fold((0.0, 0.0), |(re, im), i| {
                    let hann = 0.5 - 0.5 * (TAU * i as f64 / 1023.0).cos();
                    let angle = -TAU * ((k * i % LENGTH) as f64 / LENGTH as f64);
                    let x = samples[f * 256 + i] * hann;
                    (re + x * angle.cos(), im + x * angle.sin())
                });
                let near = |a: f64, b: f64| (a - b).abs() < 1e-11;
                assert!(near(bins[k].re[f], re) && near(bins[k].im[f], im), "frame {f}, bin {k}");
            }
        }
    }

    #[test]
    fn frames_are_counted_as_whole_ones_but_the_first() {
        let counts = [0, 1, 1023, 1024, 1279, 1280, 1536].map(|n| frames_of(n, 256));
        assert_eq!(counts, [0, 1, 1, 1, 1, 2, 3]);
    }
}
