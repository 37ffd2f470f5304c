//! Pearson correlation of two luma planes, as they lie and after the best small shift.

use crate::format::Format;
use crate::frame::{Rows, Sample};
use crate::luma::luma_row;
use crate::simd::Level;

/// Exact sums of one or two integer planes, from which every moment follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) sum: i64,
    pub(crate) sum_of_squares: i128,
}

impl Moments {
    pub(crate) fn of(level: Level, plane: &[i32]) -> Self {
        let mut total = Self {
            count: plane.len() as u64,
            ..Self::default()
        };
        for chunk in plane.chunks(CHUNK) {
            let (sum, squares) = level.run(
                #[inline(always)]
                || {
                    let mut sum = 0_i64;
                    let mut squares = 0_i64;
                    for &v in chunk {
                        sum += i64::from(v);
                        squares += i64::from(v) * i64::from(v);
                    }
                    (sum, squares)
                },
            );
            total.sum += sum;
            total.sum_of_squares += i128::from(squares);
        }
        total
    }

    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// `count^2` times the population variance; exact.
    fn scaled_variance(&self) -> i128 {
        i128::from(self.count) * self.sum_of_squares - i128::from(self.sum) * i128::from(self.sum)
    }

    /// Population standard deviation, in luma units.
    pub(crate) fn std(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.scaled_variance() as f64).sqrt() / self.count as f64
    }
}

/// Samples of 21 bits whose products sum in 64 bits.
const CHUNK: usize = 1 << 20;

fn cross(level: Level, a: &[i32], b: &[i32]) -> i128 {
    a.chunks(CHUNK)
        .zip(b.chunks(CHUNK))
        .map(|(a, b)| {
            i128::from(level.run(
                #[inline(always)]
                || {
                    a.iter()
                        .zip(b)
                        .map(|(&a, &b)| i64::from(a) * i64::from(b))
                        .sum::<i64>()
                },
            ))
        })
        .sum()
}

/// Below this standard deviation (of full scale) a plane has nothing to correlate: the value is 0.
const FLAT_STD: f64 = 1e-6;

fn pearson(a: &Moments, b: &Moments, cross: i128, full_scale: f64) -> f64 {
    if a.std() / full_scale < FLAT_STD || b.std() / full_scale < FLAT_STD {
        return 0.0;
    }
    let covariance = i128::from(a.count) * cross - i128::from(a.sum) * i128::from(b.sum);
    let scale = (a.scaled_variance() as f64).sqrt() * (b.scaled_variance() as f64).sqrt();
    (covariance as f64 / scale).clamp(-1.0, 1.0)
}

/// Pearson correlation of two planes of one size whose own sums are known.
pub(crate) fn correlation(
    level: Level,
    (a, a_moments): (&[i32], &Moments),
    (b, b_moments): (&[i32], &Moments),
    full_scale: f64,
) -> f64 {
    pearson(a_moments, b_moments, cross(level, a, b), full_scale)
}

/// Furthest shift of the coarse search, in cells.
const REACH: isize = 4;

/// How many coarse shifts are refined to the pixel.
const CANDIDATES: usize = 3;

/// The largest Pearson correlation of `a` and `b` over shifts of up to four cells and a fraction, in
/// whole pixels. Both are averaged over cells of `step` x `step` pixels first, so texture finer than
/// the plain decimation can alias neither for nor against them. Whole cells are searched on the cell
/// grid, then the three best shifts are refined by halving down to one pixel. Only the overlap
/// counts. 0 where a plane is flat or smaller than a cell.
pub(crate) fn aligned_correlation<T: Sample>(
    level: Level,
    format: &Format,
    a: &mut Rows<'_, '_, T>,
    b: &mut Rows<'_, '_, T>,
    step: usize,
) -> f64 {
    let a = Cells::new(level, format, a, step).grid(0, 0);
    let b = Cells::new(level, format, b, step);
    if a.rows == 0 || a.columns == 0 {
        return 0.0;
    }
    let full_scale = format.full_scale();
    let score = |dx: isize, dy: isize| -> f64 {
        let shifted = b.grid(dx, dy);
        overlap_correlation(level, &a, &shifted, full_scale)
    };
    let cell = step as isize;
    let whole = b.grid(0, 0);
    let mut coarse: Vec<(f64, isize, isize)> = Vec::new();
    for dy in -REACH..=REACH {
        for dx in -REACH..=REACH {
            let moved = whole.moved(dx, dy);
            let value = overlap_correlation(level, &a, &moved, full_scale);
            coarse.push((value, dx * cell, dy * cell));
        }
    }
    // A stable sort keeps the scan order on ties, so the result does not depend on the sort.
    coarse.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = coarse.first().map_or(0.0, |c| c.0);
    for &(value, x, y) in coarse.iter().take(CANDIDATES) {
        let (mut value, mut x, mut y) = (value, x, y);
        let mut reach = cell / 2 + cell % 2;
        while step > 1 && reach >= 1 {
            let (centre_x, centre_y) = (x, y);
            for dy in [-reach, 0, reach] {
                for dx in [-reach, 0, reach] {
                    let candidate = score(centre_x + dx, centre_y + dy);
                    if candidate > value {
                        (value, x, y) = (candidate, centre_x + dx, centre_y + dy);
                    }
                }
            }
            if reach == 1 {
                break;
            }
            reach = reach / 2 + reach % 2;
        }
        best = best.max(value);
    }
    best
}

/// A frame's luma as a table of running sums, from which the mean of any box is four reads.
struct Cells {
    sums: Vec<u32>,
    width: usize,
    height: usize,
    step: usize,
    lost_bits: u32,
}

/// Cell means; the cells outside the frame are left out, so a grid may start at any cell of `a`.
struct Grid<'v> {
    values: std::borrow::Cow<'v, [i32]>,
    stride: usize,
    rows: usize,
    columns: usize,
    /// Cell of the unshifted grid that the first value stands on.
    origin: (usize, usize),
    /// Where the first value lies in `values`.
    start: usize,
}

impl Cells {
    fn new<T: Sample>(
        level: Level,
        format: &Format,
        rows: &mut Rows<'_, '_, T>,
        step: usize,
    ) -> Self {
        let (width, height) = (format.width, format.height);
        // Box sums wrap, and their differences are right, as long as one box fits 32 bits.
        let lost_bits = if step > 60 { 8 } else { 0 };
        let mut sums = vec![0_u32; (width + 1) * (height + 1)];
        let mut luma = vec![0_i32; width];
        for y in 0..height {
            level.run(
                #[inline(always)]
                || luma_row(rows, format, y, &mut luma),
            );
            let (above, below) = sums[y * (width + 1)..].split_at_mut(width + 1);
            let mut running = 0_u32;
            for ((out, &up), &v) in below[1..].iter_mut().zip(&above[1..]).zip(&luma) {
                running = running.wrapping_add((v >> lost_bits) as u32);
                *out = running.wrapping_add(up);
            }
        }
        Self {
            sums,
            width,
            height,
            step,
            lost_bits,
        }
    }

    /// Means of the cells moved by (dx, dy) pixels, for every cell of the unmoved grid that stays
    /// inside the frame.
    fn grid(&self, dx: isize, dy: isize) -> Grid<'static> {
        let step = self.step as isize;
        let span = |extent: usize, shift: isize| -> (usize, usize) {
            let cells = extent as isize / step;
            let first = if shift < 0 {
                (-shift + step - 1) / step
            } else {
                0
            };
            let last = (extent as isize - shift.max(0)).max(0) / step;
            (
                first.min(cells) as usize,
                last.clamp(first.min(cells), cells) as usize,
            )
        };
        let (x0, x1) = span(self.width, dx);
        let (y0, y1) = span(self.height, dy);
        let area = (self.step * self.step) as u32;
        let line = self.width + 1;
        let mut values = Vec::with_capacity((x1 - x0) * (y1 - y0));
        for row in y0..y1 {
            let top = ((row * self.step) as isize + dy) as usize * line;
            let bottom = top + self.step * line;
            for column in x0..x1 {
                let left = ((column * self.step) as isize + dx) as usize;
                let right = left + self.step;
                let sum = self.sums[bottom + right]
                    .wrapping_sub(self.sums[top + right])
                    .wrapping_sub(self.sums[bottom + left])
                    .wrapping_add(self.sums[top + left]);
                values.push((((sum + area / 2) / area) << self.lost_bits) as i32);
            }
        }
        Grid {
            stride: x1 - x0,
            rows: y1 - y0,
            columns: x1 - x0,
            origin: (y0, x0),
            start: 0,
            values: values.into(),
        }
    }
}

impl Grid<'_> {
    /// This unmoved grid read at whole-cell shifts.
    fn moved(&self, dx: isize, dy: isize) -> Grid<'_> {
        let span = |count: usize, shift: isize| -> (usize, usize) {
            let first = (-shift).clamp(0, count as isize) as usize;
            let last = (count as isize - shift.max(0)).max(first as isize) as usize;
            (first, last)
        };
        let (x0, x1) = span(self.columns, dx);
        let (y0, y1) = span(self.rows, dy);
        let start =
            (y0 as isize + dy).max(0) as usize * self.stride + (x0 as isize + dx).max(0) as usize;
        Grid {
            values: std::borrow::Cow::Borrowed(&self.values),
            stride: self.stride,
            rows: y1 - y0,
            columns: x1 - x0,
            origin: (y0, x0),
            start,
        }
    }
}

/// Pearson correlation of `a` with `b` where `b` has cells.
fn overlap_correlation(level: Level, a: &Grid<'_>, b: &Grid<'_>, full_scale: f64) -> f64 {
    let mut a_total = Moments::default();
    let mut b_total = Moments::default();
    let mut cross = 0_i128;
    for row in 0..b.rows {
        let a_start = (b.origin.0 + row) * a.stride + b.origin.1;
        let b_start = b.start + row * b.stride;
        let (Some(a_row), Some(b_row)) = (
            a.values.get(a_start..a_start + b.columns),
            b.values.get(b_start..b_start + b.columns),
        ) else {
            continue;
        };
        let sums = level.run(
            #[inline(always)]
            || {
                let mut s = [0_i64; 5];
                for (&a, &b) in a_row.iter().zip(b_row) {
                    let (a, b) = (i64::from(a), i64::from(b));
                    s[0] += a;
                    s[1] += b;
                    s[2] += a * a;
                    s[3] += b * b;
                    s[4] += a * b;
                }
                s
            },
        );
        a_total.count += b.columns as u64;
        a_total.sum += sums[0];
        b_total.sum += sums[1];
        a_total.sum_of_squares += i128::from(sums[2]);
        b_total.sum_of_squares += i128::from(sums[3]);
        cross += i128::from(sums[4]);
    }
    b_total.count = a_total.count;
    if a_total.count == 0 {
        return 0.0;
    }
    pearson(&a_total, &b_total, cross, full_scale)
}
