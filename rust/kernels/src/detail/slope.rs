//! The blur, what it takes away, and the slope of what it leaves, row by row.

use super::DENSITY_SLOPE;
use super::select::{BUCKETS, bucket};
use crate::format::Format;
use crate::frame::{Pixels, Rows, Sample};
use crate::integrity::Moments;
use crate::luma::luma_row;
use crate::simd::Level;

/// Of the blur, in pixels.
const SIGMA: f64 = 1.2;

/// Four standard deviations to either side, rounded.
const RADIUS: usize = 5;
const TAPS: usize = 2 * RADIUS + 1;

/// What one band, or all of them, counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// Of luma.
    pub(super) moments: Moments,
    /// Pixels steep enough for the density.
    pub(super) dense: u64,
    /// Pixels of each bucket of squared slopes.
    pub(super) histogram: Vec<u32>,
}

impl Sums {
    pub(super) fn merge(mut self, other: Self) -> Self {
        if self.histogram.is_empty() {
            self.histogram = other.histogram;
        } else {
            for (sum, count) in self.histogram.iter_mut().zip(other.histogram) {
                *sum += count;
            }
        }
        Self { moments: self.moments.merge(other.moments), dense: self.dense + other.dense, ..self }
    }
}

/// The weights of the taps from the outermost to the centre; all eleven sum to 1.
fn weights() -> [f32; RADIUS + 1] {
    let weight = |distance: f64| libm::exp(-0.5 * (distance / SIGMA) * (distance / SIGMA));
    let half: [f64; RADIUS + 1] = std::array::from_fn(|i| weight((RADIUS - i) as f64));
    let sum = 2.0 * half[..RADIUS].iter().sum::<f64>() + half[RADIUS];
    half.map(|w| (w / sum) as f32)
}

/// The sample that stands for index `i` beyond the ends of `n`: d c b a | a b c d | d c b a, again
/// and again where `n` is small.
fn mirrored(i: isize, n: usize) -> usize {
    let turn = i.rem_euclid(2 * n as isize) as usize;
    if turn < n { turn } else { 2 * n - 1 - turn }
}

/// What one band is computed in.
#[derive(Debug)]
pub(super) struct Slopes {
    weights: [f32; RADIUS + 1],
    width: usize,
    codes: Vec<i32>,
    /// The last rows of luma, row `r` in slot `r % TAPS`.
    luma: Vec<f32>,
    /// A row blurred downwards, with its mirror image at either end.
    down: Vec<f32>,
    /// The last rows of the blur, row `r` in slot `r % 3`.
    blur: Vec<f32>,
}

impl Default for Slopes {
    fn default() -> Self {
        Self {
            weights: weights(),
            width: 0,
            codes: Vec::new(),
            luma: Vec::new(),
            down: Vec::new(),
            blur: Vec::new(),
        }
    }
}

impl Slopes {
    /// Fills the rows of a band from row `first` on with residue and squared slope.
    pub(super) fn band<T: Sample>(
        &mut self,
        level: Level,
        format: &Format,
        pixels: &Pixels<'_, T>,
        first: usize,
        (residue, steep): (&mut [f32], &mut [f32]),
    ) -> Sums {
        let (width, height) = (format.width, format.height);
        self.width = width;
        self.codes.resize(width, 0);
        self.luma.resize(TAPS * width, 0.0);
        self.down.resize(width + 2 * RADIUS, 0.0);
        self.blur.resize(3 * width, 0.0);
        let last = first + residue.len() / width;
        let mut sums = Sums { histogram: vec![0; BUCKETS], ..Sums::default() };
        let enough = (DENSITY_SLOPE * format.full_scale()).powi(2) as f32;
        let mut rows = Rows::new(pixels);
        // The slope of a row takes the blur of its neighbours, which takes luma of five more rows.
        let top = first.saturating_sub(1);
        let mut loaded = top.saturating_sub(RADIUS);
        for y in top..height.min(last + 1) {
            while loaded < height.min(y + RADIUS + 1) {
                level.run(
                    #[inline(always)]
                    || luma_row(&mut rows, format, loaded, &mut self.codes),
                );
                if (first..last).contains(&loaded) {
                    sums.moments = sums.moments.merge(Moments::of(level, &self.codes));
                }
                let slot = &mut self.luma[loaded % TAPS * width..][..width];
                let codes = &self.codes;
                level.run(
                    #[inline(always)]
                    || {
                        for (to, &code) in slot.iter_mut().zip(codes) {
                            *to = code as f32;
                        }
                    },
                );
                loaded += 1;
            }
            let own = (first..last).contains(&y).then(|| {
                let at = (y - first) * width;
                &mut residue[at..at + width]
            });
            self.blur_row(level, y, height, own);
            // The row above has both its neighbours now; the last row of all has but one.
            if let Some(above) = y.checked_sub(1)
                && (first..last).contains(&above)
            {
                let at = (above - first) * width;
                self.slope_row(level, above, height, &mut steep[at..at + width], enough, &mut sums);
            }
            if y + 1 == height && y < last {
                let at = (y - first) * width;
                self.slope_row(level, y, height, &mut steep[at..at + width], enough, &mut sums);
            }
        }
        sums
    }

    /// Blurs row `y`, and keeps what that took away.
    fn blur_row(&mut self, level: Level, y: usize, height: usize, residue: Option<&mut [f32]>) {
        let (width, weights) = (self.width, self.weights);
        let luma = &self.luma;
        let rows: [&[f32]; TAPS] = std::array::from_fn(|k| {
            let row = mirrored(y as isize + k as isize - RADIUS as isize, height);
            &luma[row % TAPS * width..][..width]
        });
        let down = &mut self.down;
        let blur = &mut self.blur[y % 3 * width..][..width];
        level.run(
            #[inline(always)]
            || {
                filter_down(rows, weights, &mut down[RADIUS..RADIUS + width]);
                for i in 0..RADIUS {
                    let beyond = i as isize - RADIUS as isize;
                    down[i] = down[RADIUS + mirrored(beyond, width)];
                    let beyond = width as isize + i as isize;
                    down[RADIUS + width + i] = down[RADIUS + mirrored(beyond, width)];
                }
                filter_across(down, weights, blur);
                if let Some(residue) = residue {
                    take_away(rows[RADIUS], blur, residue);
                }
            },
        );
    }

    /// Squared slopes of row `y`, counted.
    fn slope_row(
        &mut self,
        level: Level,
        y: usize,
        height: usize,
        steep: &mut [f32],
        enough: f32,
        sums: &mut Sums,
    ) {
        let (width, blur) = (self.width, &self.blur);
        let row = |r: usize| &blur[r % 3 * width..][..width];
        let (above, below) = (y.saturating_sub(1), (y + 1).min(height - 1));
        // At the top and bottom the difference is one-sided, over one row.
        let half = if below - above == 2 { 0.5 } else { 1.0 };
        let (above, middle, below) = (row(above), row(y), row(below));
        sums.dense += level.run(
            #[inline(always)]
            || {
                slopes(above, middle, below, half, steep);
                steep.iter().map(|&s| u32::from(s >= enough)).sum::<u32>()
            },
        ) as u64;
        for &s in steep.iter() {
            sums.histogram[bucket(s)] += 1;
        }
    }
}

/// The weighted sum of eleven rows, in this order everywhere.
#[inline(always)]
fn filter_down(rows: [&[f32]; TAPS], w: [f32; RADIUS + 1], out: &mut [f32]) {
    let n = out.len();
    let rows = rows.map(|row| &row[..n]);
    for x in 0..n {
        let pair = |k: usize| w[k] * (rows[k][x] + rows[TAPS - 1 - k][x]);
        out[x] = ((pair(0) + pair(1)) + (pair(2) + pair(3))) + (pair(4) + w[RADIUS] * rows[5][x]);
    }
}

/// The weighted sum of eleven neighbours along a row, in this order everywhere.
#[inline(always)]
fn filter_across(row: &[f32], w: [f32; RADIUS + 1], out: &mut [f32]) {
    let n = out.len();
    let at: [&[f32]; TAPS] = std::array::from_fn(|k| &row[k..k + n]);
    filter_down(at, w, out);
}

#[inline(always)]
fn take_away(luma: &[f32], blur: &[f32], residue: &mut [f32]) {
    for ((to, &y), &b) in residue.iter_mut().zip(luma).zip(blur) {
        *to = (y - b).abs();
    }
}

/// The squares of the slopes: central differences, one-sided at the ends.
#[inline(always)]
fn slopes(above: &[f32], row: &[f32], below: &[f32], half: f32, out: &mut [f32]) {
    let n = out.len();
    let (above, row, below) = (&above[..n], &row[..n], &below[..n]);
    let square = |across: f32, x: usize| {
        let down = (below[x] - above[x]) * half;
        across * across + down * down
    };
    if n < 2 {
        out[0] = square(0.0, 0);
        return;
    }
    out[0] = square(row[1] - row[0], 0);
    for x in 1..n - 1 {
        out[x] = square((row[x + 1] - row[x - 1]) * 0.5, x);
    }
    out[n - 1] = square(row[n - 1] - row[n - 2], n - 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_a_normalised_gaussian() {
        // exp(-k² / 2.88) for k = 5..0, over 1 + 2 (0.706648 + 0.249352 + 0.043937 + 0.003866 +
        // 0.000170) = 3.007946, by hand.
        let w = weights();
        assert!((w[RADIUS] - 0.332_453).abs() < 1e-6, "{}", w[RADIUS]);
        assert!((w[RADIUS - 1] / w[RADIUS] - 0.706_648_3).abs() < 1e-6);
        let sum = 2.0 * w[..RADIUS].iter().map(|&w| f64::from(w)).sum::<f64>() + f64::from(w[5]);
        assert!((sum - 1.0).abs() < 1e-7);
    }

    #[test]
    fn the_edge_sample_is_repeated_in_the_mirror() {
        let seen: Vec<usize> = (-5..9).map(|i| mirrored(i, 4)).collect();
        assert_eq!(seen, [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert!((-5..6).all(|i| mirrored(i, 1) == 0));
    }
}
