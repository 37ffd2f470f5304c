//! The Gaussian window of SSIM (Wang, Bovik, Sheikh, Simoncelli 2004) over two planes.
//!
//! In double precision: a variance is the difference of two nearly equal numbers, and single
//! precision leaves 1e-4 of it in bright flat areas.

use super::scratch::Scratch;
use crate::simd::Level;

/// Taps of the window: 11, that is 3.5 standard deviations of 1.5 pixels to either side, rounded.
pub const TAPS: usize = 11;

/// Rows and columns that the window takes from either side.
pub(super) const RADIUS: usize = TAPS / 2;

const SIGMA: f64 = 1.5;
const K1: f64 = 0.01;
const K2: f64 = 0.03;

/// Weights of the taps; they sum to 1.
fn weights() -> [f64; TAPS] {
    let weights: [f64; TAPS] = std::array::from_fn(|i| {
        let distance = i.abs_diff(RADIUS) as f64 / SIGMA;
        libm::exp(-0.5 * distance * distance)
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|w| w / sum)
}

/// Two planes of one size, read row by row in step.
pub(super) trait Planes {
    /// Row `y` of both.
    fn rows(&mut self, y: usize, first: &mut [f32], second: &mut [f32]);
}

/// Opens the same two planes anew, for each thread.
pub(super) type Open<'o> = dyn Fn() -> Box<dyn Planes + 'o> + Sync + 'o;

/// Means over the positions of the window that lie within the planes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Similarity {
    /// Whether every sample is equal in both planes.
    pub(super) equal: bool,
    /// Mean of luminance times contrast and structure: the SSIM. 0 where it was not taken.
    pub(super) ssim: f64,
    /// Mean of contrast and structure alone. 0 where it was not taken.
    pub(super) contrast: f64,
    /// SSIM of each position, row by row, if it was asked for.
    pub(super) map: Vec<f32>,
}

/// A mean that is 1 for equal planes alone: one sample in a corner of a large plane is lost in the
/// rounding of a mean.
pub(super) fn told_apart(mean: f64, equal: bool) -> f64 {
    if equal { mean } else { mean.min(1.0_f64.next_down()) }
}

/// Which of the two means are taken: each costs a division per position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// SSIM alone.
    Ssim,
    /// Contrast and structure alone.
    Contrast,
    /// Both.
    Both,
}

/// Output rows of one parallel task. Fixed, so that sums do not depend on the number of threads; at
/// 720p, 1080p and 4K their number is even, so that two threads end together.
const BAND: usize = 54;
/// Output columns that are worked on together: what they need of eleven rows fits the nearest cache.
const STRIP: usize = 160;
/// Columns that a strip reads, in whole vectors.
const LINE: usize = STRIP + 16;
/// Sums that run side by side.
const LANES: usize = 8;

/// A row of the sum of both planes, and of their difference.
type Line = [[f64; LINE]; 2];

struct Band {
    equal: bool,
    ssim: f64,
    contrast: f64,
    map: Vec<f32>,
}

/// SSIM of two planes of `height` rows and `width` columns, at least [`TAPS`] each, whose white
/// is `full_scale` above black.
pub(super) fn similarity(
    level: Level,
    (height, width): (usize, usize),
    full_scale: f64,
    open: &Open<'_>,
    means: Means,
    with_map: bool,
    scratch: &Scratch,
) -> Similarity {
    let (rows, columns) = (height + 1 - TAPS, width + 1 - TAPS);
    // Twice the published constants, as `compare` takes every term twice.
    let constants = [K1, K2].map(|k| 2.0 * (k * full_scale) * (k * full_scale));
    let bands: Vec<Band> = scratch.each(rows.div_ceil(BAND), |band| {
        let first = band * BAND;
        let mut work = scratch.works.take();
        work.load(&mut *open(), first, rows.min(first + BAND) - first, width);
        let found = work.band(level, columns, constants, means, with_map);
        scratch.works.give(work);
        found
    });
    let count = (rows * columns) as f64;
    let total = |pick: fn(&Band) -> f64| bands.iter().map(pick).sum::<f64>() / count;
    let equal = bands.iter().all(|b| b.equal);
    Similarity {
        equal,
        ssim: told_apart(total(|b| b.ssim), equal),
        contrast: total(|b| b.contrast),
        map: bands.iter().flat_map(|b| b.map.iter().copied()).collect(),
    }
}

/// What one band is computed in.
#[derive(Debug)]
pub(super) struct Work {
    rows: usize,
    stride: usize,
    equal: bool,
    x: Vec<f32>,
    y: Vec<f32>,
    /// The last rows, row `r` in slot `r % TAPS`.
    ring: Box<[Line; TAPS]>,
    weights: [f64; TAPS],
}

impl Default for Work {
    fn default() -> Self {
        Self {
            rows: 0,
            stride: 0,
            equal: true,
            x: Vec::new(),
            y: Vec::new(),
            ring: Box::new([[[0.0; LINE]; 2]; TAPS]),
            weights: weights(),
        }
    }
}

impl Work {
    /// Reads what `rows` output rows need, from row `first` on.
    fn load(&mut self, planes: &mut dyn Planes, first: usize, rows: usize, width: usize) {
        self.rows = rows;
        self.stride = (width + 1 - TAPS).div_ceil(STRIP) * STRIP + (LINE - STRIP);
        self.equal = true;
        let samples = (rows + TAPS - 1) * self.stride;
        self.x.resize(samples, 0.0);
        self.y.resize(samples, 0.0);
        let lines = self.x.chunks_exact_mut(self.stride).zip(self.y.chunks_exact_mut(self.stride));
        for (i, (x, y)) in lines.enumerate() {
            planes.rows(first + i, &mut x[..width], &mut y[..width]);
            self.equal = self.equal && x[..width] == y[..width];
            // What comes of the columns past the last is not summed; it must be finite.
            x[width..].fill(0.0);
            y[width..].fill(0.0);
        }
    }

    fn band(
        &mut self,
        level: Level,
        columns: usize,
        constants: [f64; 2],
        means: Means,
        with_map: bool,
    ) -> Band {
        let mut sums = vec![[0.0_f64; 2]; self.rows];
        let mut map = if with_map { vec![0.0_f32; self.rows * columns] } else { Vec::new() };
        for at in (0..columns).step_by(STRIP) {
            let count = STRIP.min(columns - at);
            let out = (&mut map[..], columns);
            level.run(
                #[inline(always)]
                || match means {
                    Means::Ssim => {
                        self.strip::<true, false>(at, count, constants, &mut sums, out);
                    }
                    Means::Contrast => {
                        self.strip::<false, true>(at, count, constants, &mut sums, out);
                    }
                    Means::Both => {
                        self.strip::<true, true>(at, count, constants, &mut sums, out);
                    }
                },
            );
        }
        let total = |i: usize| sums.iter().map(|row| row[i]).sum::<f64>();
        Band { equal: self.equal, ssim: total(0), contrast: total(1), map }
    }

    #[inline(always)]
    fn strip<const SSIM: bool, const CONTRAST: bool>(
        &mut self,
        at: usize,
        count: usize,
        constants: [f64; 2],
        sums: &mut [[f64; 2]],
        (map, columns): (&mut [f32], usize),
    ) {
        let mut down = [[[0.0_f64; LINE]; 2]; 2];
        for row in 0..self.rows + TAPS - 1 {
            let start = row * self.stride + at;
            combine(
                &self.x[start..start + LINE],
                &self.y[start..start + LINE],
                &mut self.ring[row % TAPS],
            );
            let Some(out) = (row + 1).checked_sub(TAPS) else { continue };
            // The slots stay where they are, and the weights go round.
            let turned =
                std::array::from_fn(|slot| self.weights[(slot + TAPS - out % TAPS) % TAPS]);
            for (q, moments) in down.iter_mut().enumerate() {
                filter_down(&self.ring, q, &turned, moments);
            }
            let line =
                if map.is_empty() { None } else { Some(&mut map[out * columns + at..][..count]) };
            let found = compare::<SSIM, CONTRAST>(&down, &self.weights, constants, count, line);
            sums[out][0] += found[0];
            sums[out][1] += found[1];
        }
    }
}

/// Sum and difference: equal planes have no difference at all.
#[inline(always)]
fn combine(x: &[f32], y: &[f32], [sum, difference]: &mut Line) {
    for i in 0..LINE {
        let (a, b) = (f64::from(x[i]), f64::from(y[i]));
        sum[i] = a + b;
        difference[i] = a - b;
    }
}

/// The weighted sums of the eleven slots and of their squares, in this order everywhere.
#[inline(always)]
fn filter_down(
    ring: &[Line; TAPS],
    q: usize,
    w: &[f64; TAPS],
    [first, second]: &mut [[f64; LINE]; 2],
) {
    for i in 0..LINE {
        let value = |slot: usize| ring[slot][q][i];
        let once: [f64; TAPS] = std::array::from_fn(|slot| w[slot] * value(slot));
        let twice: [f64; TAPS] = std::array::from_fn(|slot| once[slot] * value(slot));
        first[i] = total(once);
        second[i] = total(twice);
    }
}

#[inline(always)]
fn total(v: [f64; TAPS]) -> f64 {
    let first = (v[0] + v[1]) + (v[2] + v[3]);
    let second = (v[4] + v[5]) + (v[6] + v[7]);
    (first + second) + ((v[8] + v[9]) + v[10])
}

/// The weighted sum of eleven neighbours along a line, in this order everywhere.
#[inline(always)]
fn across(line: &[f64; LINE], i: usize, w: &[f64; TAPS]) -> f64 {
    let pair = |k: usize| w[k] * (line[i + k] + line[i + TAPS - 1 - k]);
    let outer = pair(0) + pair(1);
    let middle = pair(2) + pair(3);
    outer + middle + (pair(4) + w[RADIUS] * line[i + RADIUS])
}

/// Sums of SSIM and of contrast and structure over the first `count` positions of a line, in fixed
/// lanes, so that every instruction set adds in the same order.
///
/// In terms of u = x + y and v = x - y: 4 mean_x mean_y = mean_u² - mean_v², 2 (mean_x² + mean_y²) =
/// mean_u² + mean_v², and likewise for covariance and variances. All four terms are taken twice.
#[inline(always)]
fn compare<const SSIM: bool, const CONTRAST: bool>(
    [sum, difference]: &[[[f64; LINE]; 2]; 2],
    w: &[f64; TAPS],
    [c1, c2]: [f64; 2],
    count: usize,
    map: Option<&mut [f32]>,
) -> [f64; 2] {
    let mut ssim = [0.0_f64; STRIP];
    let mut contrast = [0.0_f64; STRIP];
    for i in 0..STRIP {
        let (u, v) = (across(&sum[0], i, w), across(&difference[0], i, w));
        let (uu, vv) = (u * u, v * v);
        let (spread_u, spread_v) = (across(&sum[1], i, w) - uu, across(&difference[1], i, w) - vv);
        let shared = (spread_u - spread_v) + c2;
        let spread = (spread_u + spread_v) + c2;
        if CONTRAST {
            contrast[i] = shared / spread;
        }
        if SSIM {
            // One quotient of the products: equal planes still give exactly 1.
            ssim[i] = (shared * ((uu - vv) + c1)) / (spread * ((uu + vv) + c1));
        }
    }
    if let Some(map) = map {
        for (to, &from) in map.iter_mut().zip(&ssim) {
            *to = from as f32;
        }
    }
    let sum = |on: bool, values: &[f64; STRIP]| if on { lane_sum(&values[..count]) } else { 0.0 };
    [sum(SSIM, &ssim), sum(CONTRAST, &contrast)]
}

/// A sum in fixed lanes, so that every instruction set adds in the same order.
#[inline(always)]
fn lane_sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0_f64; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += value;
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_published_window() {
        // exp(-k² / 4.5) for k = -5..5, divided by their sum; the centre worked by hand.
        let w = weights();
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((w[5] - 0.266_011_724_8).abs() < 1e-9);
        assert!((w[0] / w[5] - (-25.0_f64 / 4.5).exp()).abs() < 1e-15);
        assert!((0..TAPS).all(|k| w[k] == w[TAPS - 1 - k]));
    }
}
