//! By how much one sound is late against another, from the cross-correlation of bounded lags.

use rayon::prelude::*;

use super::checked;
use crate::simd::Level;
use crate::{Result, fft};

const LANES: usize = 8;

type Cell = fft::Cell<f64, LANES>;
type Fft = fft::Fft<f64, LANES>;

/// Below this share of all of its energy, what overlaps of a sound has none: rounding.
const NO_ENERGY: f64 = 1e-12;
/// Correlations closer than this are equal; then the smaller lag is taken.
const EQUAL: f64 = 1e-9;

/// The best lag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// Samples by which the candidate is late.
    pub lag: i64,
    /// Correlation of what overlaps, with its sign.
    pub correlation: f64,
    /// The largest lag that was looked at: less in a sound of less than 60 ms.
    pub bound: i64,
}

/// The search, over two sounds of one rate that are pushed side by side.
///
/// A block of the reference and the longer stretch of the candidate that it may correspond to make
/// one complex sequence; their cross-spectra are summed, and one transform back gives the
/// correlation at every lag. Memory does not grow with the length.
#[derive(Debug)]
pub struct LagSearch {
    level: Level,
    bound: usize,
    least: usize,
    fft: Fft,
    step: usize,
    pending: [Vec<f64>; 2],
    /// Batches done; even ones are summed apart from odd ones, so that two can run at once.
    batches: usize,
    cross: [Vec<Cell>; 2],
    works: [Vec<Cell>; 2],
    ends: [Ends; 2],
}

/// The sums of a sound, and its first and last samples.
#[derive(Debug, Default)]
struct Ends {
    count: usize,
    sum: f64,
    squares: f64,
    first: Vec<f64>,
    last: Vec<f64>,
}

impl LagSearch {
    /// Lags of up to 50 ms to either side, with at least 10 ms that overlap.
    pub fn new(sample_rate: u32, level: Level) -> Result<Self> {
        checked(1, sample_rate)?;
        let bound = libm::rint(0.05 * f64::from(sample_rate)) as usize;
        let length = (4 * bound + 2).next_power_of_two().max(1024);
        Ok(Self {
            level,
            bound,
            least: sample_rate as usize / 100,
            fft: Fft::new(length),
            step: length - 2 * bound,
            pending: [vec![0.0; bound], Vec::new()],
            batches: 0,
            cross: [(); 2].map(|()| vec![Cell::default(); length / 2 + 1]),
            works: [(); 2].map(|()| vec![Cell::default(); 2 * length]),
            ends: [Ends::default(), Ends::default()],
        })
    }

    /// Takes as many samples of the candidate as of the reference. The two end together: what one
    /// has more is no part of the search.
    pub fn push(&mut self, reference: &[f64], candidate: &[f64]) {
        let count = reference.len().min(candidate.len());
        for (side, samples) in [reference, candidate].into_iter().enumerate() {
            self.ends[side].push(&samples[..count], self.bound);
        }
        // The candidate's stretch begins `bound` samples before the reference's block.
        self.pending[0].extend_from_slice(&candidate[..count]);
        self.pending[1].extend_from_slice(&reference[..count]);
        let span = LANES * self.step + 2 * self.bound;
        while self.pending[0].len() >= span + LANES * self.step {
            self.two_batches();
        }
    }

    fn two_batches(&mut self) {
        let Self { level, bound, fft, step, pending, cross, works, .. } = self;
        let batch = LANES * *step;
        let [candidate, reference] = &*pending;
        let (level, bound, step) = (*level, *bound, *step);
        cross.par_iter_mut().zip(works.par_iter_mut()).enumerate().for_each(
            |(b, (cross, work))| {
                let candidate = &candidate[(b * batch).min(candidate.len())..];
                let reference = &reference[(b * batch).min(reference.len())..];
                level.run(
                    #[inline(always)]
                    || correlate(fft, candidate, reference, step, bound, work, cross),
                );
            },
        );
        for side in pending {
            side.drain(..(2 * batch).min(side.len()));
        }
        self.batches += 2;
    }

    /// The lag whose correlation is largest in magnitude; `None` where one of the sounds does not
    /// change. Sounds of 10 ms or less have lag 0.
    pub fn finish(mut self) -> Option<Best> {
        while !self.pending[1].is_empty() {
            self.two_batches();
        }
        let count = self.ends[0].count;
        let correlation = self.correlation();
        let [reference, candidate] = &self.ends;
        let (mr, mc) = (reference.mean(), candidate.mean());
        // What is left of each without its first or its last samples.
        let without =
            [reference, candidate].map(|ends| [ends.without_first(), ends.without_last()]);
        let score = |lag: i64| -> Option<f64> {
            let gone = lag.unsigned_abs() as usize;
            let r = without[0][usize::from(lag >= 0)][gone];
            let c = without[1][usize::from(lag < 0)][gone];
            let n = (count - gone) as f64;
            let sums = correlation[(lag + self.bound as i64) as usize];
            let product = sums - mc * r.sum - mr * c.sum + n * mr * mc;
            let energy =
                |part: Part, mean: f64| part.squares - 2.0 * mean * part.sum + n * mean * mean;
            let (er, ec) = (energy(r, mr), energy(c, mc));
            let heard = |e: f64, ends: &Ends| e > NO_ENERGY * ends.squares;
            (heard(er, reference) && heard(ec, candidate))
                .then(|| (product / (er * ec).sqrt()).clamp(-1.0, 1.0))
        };
        let bound = if count > self.least { self.bound.min(count - self.least) as i64 } else { 0 };
        let mut best: Option<Best> = None;
        for lag in std::iter::once(0).chain((1..=bound).flat_map(|l| [l, -l])) {
            let Some(correlation) = score(lag) else { continue };
            if best.is_none_or(|b| correlation.abs() > b.correlation.abs() + EQUAL) {
                best = Some(Best { lag, correlation, bound });
            }
        }
        best
    }

    /// Sum over t of reference[t] candidate[t + lag], for the lags from `-bound` to `bound`.
    fn correlation(&mut self) -> Vec<f64> {
        let length = self.fft.length();
        let mut data = vec![Cell::default(); length];
        for k in 0..=length / 2 {
            let [even, odd] = [&self.cross[0][k], &self.cross[1][k]];
            let sum = |a: &[f64; LANES], b: &[f64; LANES]| a.iter().chain(b).sum::<f64>();
            let (re, im) = (sum(&even.re, &odd.re), sum(&even.im, &odd.im));
            // The conjugate of a transform of conjugates is the transform back.
            (data[k].re[0], data[k].im[0]) = (re, -im);
            if k > 0 {
                (data[length - k].re[0], data[length - k].im[0]) = (re, im);
            }
        }
        let mut scratch = vec![Cell::default(); self.fft.scratch()];
        self.level.run(
            #[inline(always)]
            || self.fft.run(&mut data, &mut scratch),
        );
        let scale = 1.0 / length as f64;
        data[..=2 * self.bound].iter().map(|cell| cell.re[0] * scale).collect()
    }
}

/// Adds the cross-spectra of eight blocks.
#[inline(always)]
fn correlate(
    fft: &Fft,
    candidate: &[f64],
    reference: &[f64],
    step: usize,
    bound: usize,
    work: &mut [Cell],
    cross: &mut [Cell],
) {
    if reference.is_empty() {
        return;
    }
    let length = fft.length();
    let (data, scratch) = work.split_at_mut(length);
    let part = |samples: &'_ [f64], l: usize, span: usize| {
        let from = (l * step).min(samples.len());
        from..(from + span).min(samples.len())
    };
    for l in 0..LANES {
        let stretch = &candidate[part(candidate, l, step + 2 * bound)];
        let block = &reference[part(reference, l, step)];
        for (i, cell) in data.iter_mut().enumerate() {
            cell.re[l] = stretch.get(i).copied().unwrap_or(0.0);
            cell.im[l] = block.get(i).copied().unwrap_or(0.0);
        }
    }
    fft.run(data, scratch);
    for (k, sum) in cross.iter_mut().enumerate() {
        let (at, mirrored) = (&data[k], &data[(length - k) % length]);
        for l in 0..LANES {
            let c = (0.5 * (at.re[l] + mirrored.re[l]), 0.5 * (at.im[l] - mirrored.im[l]));
            let r = (0.5 * (at.im[l] + mirrored.im[l]), 0.5 * (mirrored.re[l] - at.re[l]));
            sum.re[l] += r.0 * c.0 + r.1 * c.1;
            sum.im[l] += r.0 * c.1 - r.1 * c.0;
        }
    }
}

/// Sums over what overlaps.
#[derive(Clone, Copy)]
struct Part {
    sum: f64,
    squares: f64,
}

impl Ends {
    fn push(&mut self, samples: &[f64], bound: usize) {
        let room = bound.saturating_sub(self.first.len()).min(samples.len());
        self.first.extend_from_slice(&samples[..room]);
        self.last.extend_from_slice(&samples[samples.len().saturating_sub(bound)..]);
        let surplus = self.last.len().saturating_sub(bound);
        self.last.drain(..surplus);
        self.count += samples.len();
        for &x in samples {
            self.sum += x;
            self.squares += x * x;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The sums of all but the first 0, 1, 2, ... samples.
    fn without_first(&self) -> Vec<Part> {
        self.without(self.first.iter())
    }

    /// The sums of all but the last 0, 1, 2, ... samples.
    fn without_last(&self) -> Vec<Part> {
        self.without(self.last.iter().rev())
    }

    fn without<'a>(&self, gone: impl Iterator<Item = &'a f64>) -> Vec<Part> {
        let mut left = Part { sum: self.sum, squares: self.squares };
        let rest = gone.map(|x| {
            left = Part { sum: left.sum - x, squares: left.squares - x * x };
            left
        });
        std::iter::once(Part { sum: self.sum, squares: self.squares }).chain(rest).collect()
    }
}
