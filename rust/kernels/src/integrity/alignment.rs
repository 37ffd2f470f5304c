//! Pearson correlation of two luma planes after averaging and the best small shift.

use super::correlation::{Moments, pearson};
use crate::format::Format;
use crate::frame::{Rows, Sample};
use crate::luma::luma_row;
use crate::simd::Level;

/// Furthest shift of the coarse search, in cells.
const REACH: isize = 4;

/// How many coarse shifts are refined to the pixel.
const CANDIDATES: usize = 3;

/// A correlation from which on no better shift is looked for.
const ENOUGH: f64 = super::ALIGN_BELOW;

/// Full scale of a cell: 12 bits, so that products are summed pairwise in 32.
const CELL_BITS: u32 = 12;
const CELL_SCALE: f64 = (1 << CELL_BITS) as f64;

/// Products of two cells that are sure to sum in 32 bits.
const PRODUCTS: usize = 128;

/// The largest Pearson correlation of `a` and `b` over shifts of up to four cells and a fraction, in
/// whole pixels. Both are averaged over cells of `step` x `step` pixels first, so texture finer than
/// the plain decimation can alias neither for nor against them. Whole cells are searched on the cell
/// grid, then the three best shifts are refined by halving down to one pixel, until one reaches
/// [`ENOUGH`]. Only the overlap counts. 0 where a plane is flat or smaller than a cell.
pub(crate) fn aligned_correlation<T: Sample>(
    level: Level,
    format: &Format,
    a: &mut Rows<'_, '_, T>,
    b: &mut Rows<'_, '_, T>,
    step: usize,
) -> f64 {
    let a = Grid::new(level, BoxSums::new(level, format, a, step).cells(0, 0));
    let b = BoxSums::new(level, format, b, step);
    let whole = Grid::new(level, b.cells(0, 0));
    let cell = step as isize;
    let mut coarse: Vec<(f64, isize, isize)> = Vec::new();
    for dy in -REACH..=REACH {
        for dx in -REACH..=REACH {
            coarse.push((whole_cell_correlation(level, &a, &whole, dx, dy), dx * cell, dy * cell));
        }
    }
    // A stable sort keeps the scan order on ties, so the result does not depend on the sort.
    coarse.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut best = coarse.first().map_or(0.0, |c| c.0);
    for &start in coarse.iter().take(CANDIDATES) {
        if best >= ENOUGH {
            break;
        }
        best = best.max(refine(level, &a, &b, start));
    }
    best
}

/// Climbs from a whole-cell shift to the best one nearby, halving the stride down to a pixel.
fn refine(level: Level, a: &Grid, b: &BoxSums, start: (f64, isize, isize)) -> f64 {
    let (mut value, mut x, mut y) = start;
    let mut reach = b.step as isize / 2;
    while reach >= 1 {
        let (centre_x, centre_y) = (x, y);
        for dy in [-reach, 0, reach] {
            for dx in [-reach, 0, reach] {
                if (dx, dy) == (0, 0) {
                    continue;
                }
                let cells = b.cells(centre_x + dx, centre_y + dy);
                let candidate = cell_correlation(level, a, &cells);
                if candidate > value {
                    (value, x, y) = (candidate, centre_x + dx, centre_y + dy);
                }
            }
        }
        reach /= 2;
    }
    value
}

/// Running sums of a frame's luma, from which the sum of any box is four reads.
struct BoxSums {
    sums: Vec<u32>,
    width: usize,
    height: usize,
    step: usize,
    /// Bits dropped from a box's sum, so that a cell has 12.
    cell_shift: u32,
}

/// Cells of a frame whose boxes were moved by some pixels: those that stay inside the frame.
struct Cells {
    values: Vec<i16>,
    columns: usize,
    /// (row, column) of the unmoved grid that the first cell stands on.
    origin: (usize, usize),
}

impl BoxSums {
    fn new<T: Sample>(
        level: Level,
        format: &Format,
        rows: &mut Rows<'_, '_, T>,
        step: usize,
    ) -> Self {
        let (width, height) = (format.width, format.height);
        // One box must fit 32 bits (60^2 of up to 2^20 do); larger sums wrap, and their differences
        // are right.
        let luma_shift = if step > 60 { 8 } else { 0 };
        let largest = ((format.full_scale() as u64) >> luma_shift) * (step * step) as u64;
        let bits = u64::BITS - largest.leading_zeros();
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
                running = running.wrapping_add((v >> luma_shift) as u32);
                *out = running.wrapping_add(up);
            }
        }
        let cell_shift = bits.saturating_sub(CELL_BITS);
        Self { sums, width, height, step, cell_shift }
    }

    /// Every cell of the unmoved grid that stays inside the frame when moved by (dx, dy) pixels.
    fn cells(&self, dx: isize, dy: isize) -> Cells {
        let step = self.step as isize;
        let span = |extent: usize, shift: isize| -> (usize, usize) {
            let cells = extent as isize / step;
            let first = if shift < 0 { (-shift + step - 1) / step } else { 0 }.min(cells);
            let last = ((extent as isize - shift.max(0)).max(0) / step).clamp(first, cells);
            (first as usize, last as usize)
        };
        let (x0, x1) = span(self.width, dx);
        let (y0, y1) = span(self.height, dy);
        let mut values = Vec::new();
        if x0 == x1 || y0 == y1 {
            return Cells { values, columns: 0, origin: (0, 0) };
        }
        let line = self.width + 1;
        values.reserve((x1 - x0) * (y1 - y0));
        for row in y0..y1 {
            let top = ((row * self.step) as isize + dy) as usize * line;
            let left = ((x0 * self.step) as isize + dx) as usize;
            let upper = &self.sums[top + left..top + line];
            let lower = &self.sums[top + self.step * line + left..][..upper.len()];
            let near = upper.iter().zip(lower).step_by(self.step);
            let far = upper[self.step..].iter().zip(&lower[self.step..]).step_by(self.step);
            let cells = near.zip(far).take(x1 - x0).map(|((a, c), (b, d))| {
                let sum = d.wrapping_sub(*b).wrapping_sub(*c).wrapping_add(*a);
                (sum >> self.cell_shift) as i16
            });
            values.extend(cells);
        }
        Cells { values, columns: x1 - x0, origin: (y0, x0) }
    }
}

/// Cells with the sums of every rectangle at hand.
struct Grid {
    cells: Vec<i16>,
    rows: usize,
    columns: usize,
    sums: Vec<(i64, i64)>,
}

impl Grid {
    fn new(level: Level, Cells { values, columns, .. }: Cells) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let mut sums = vec![(0, 0); (rows + 1) * (columns + 1)];
        for y in 0..rows {
            let row = &values[y * columns..][..columns];
            let (above, below) = sums[y * (columns + 1)..].split_at_mut(columns + 1);
            level.run(
                #[inline(always)]
                || {
                    let (mut sum, mut squares) = (0_i64, 0_i64);
                    for ((out, up), &v) in below[1..].iter_mut().zip(&above[1..]).zip(row) {
                        sum += i64::from(v);
                        squares += i64::from(v) * i64::from(v);
                        *out = (sum + up.0, squares + up.1);
                    }
                },
            );
        }
        Self { cells: values, rows, columns, sums }
    }

    /// Sums over `rows` x `columns` cells from (y, x).
    fn moments(&self, (y, x): (usize, usize), (rows, columns): (usize, usize)) -> Moments {
        let at = |y: usize, x: usize| self.sums[y * (self.columns + 1) + x];
        let (a, b) = (at(y, x), at(y, x + columns));
        let (c, d) = (at(y + rows, x), at(y + rows, x + columns));
        Moments {
            count: (rows * columns) as u64,
            sum: d.0 - c.0 - b.0 + a.0,
            sum_of_squares: i128::from(d.1 - c.1 - b.1 + a.1),
        }
    }

    fn row(&self, y: usize, x: usize, columns: usize) -> &[i16] {
        &self.cells[y * self.columns + x..][..columns]
    }
}

/// Correlation of `a` with `b` read (dx, dy) whole cells away.
fn whole_cell_correlation(level: Level, a: &Grid, b: &Grid, dx: isize, dy: isize) -> f64 {
    // The overlap starts in `a` where the shift is negative, and in `b` where it is positive.
    let overlap = |extent: usize, shift: isize| -> (usize, usize, usize) {
        let (in_a, in_b) = ((-shift).max(0) as usize, shift.max(0) as usize);
        (in_a, in_b, extent.saturating_sub(in_a + in_b))
    };
    let (ax, bx, columns) = overlap(a.columns, dx);
    let (ay, by, rows) = overlap(a.rows, dy);
    if rows == 0 || columns == 0 {
        return 0.0;
    }
    let cross = level.run(
        #[inline(always)]
        || {
            (0..rows)
                .map(|y| products(a.row(ay + y, ax, columns), b.row(by + y, bx, columns)))
                .sum::<i64>()
        },
    );
    let (a, b) = (a.moments((ay, ax), (rows, columns)), b.moments((by, bx), (rows, columns)));
    pearson(&a, &b, cross.into(), CELL_SCALE)
}

/// Correlation of `a` with the cells of a moved frame, where it has any.
fn cell_correlation(level: Level, a: &Grid, b: &Cells) -> f64 {
    if b.values.is_empty() {
        return 0.0;
    }
    let rows = b.values.len() / b.columns;
    let (y0, x0) = b.origin;
    let (sum, squares, cross) = level.run(
        #[inline(always)]
        || {
            let (mut sum, mut squares, mut cross) = (0_i64, 0_i64, 0_i64);
            for (y, row) in b.values.chunks_exact(b.columns).enumerate() {
                sum += i64::from(row.iter().map(|&v| i32::from(v)).sum::<i32>());
                squares += products(row, row);
                cross += products(a.row(y0 + y, x0, b.columns), row);
            }
            (sum, squares, cross)
        },
    );
    let b_moments = Moments { count: b.values.len() as u64, sum, sum_of_squares: squares.into() };
    let a_moments = a.moments(b.origin, (rows, b.columns));
    pearson(&a_moments, &b_moments, cross.into(), CELL_SCALE)
}

#[inline(always)]
fn products(a: &[i16], b: &[i16]) -> i64 {
    a.chunks(PRODUCTS)
        .zip(b.chunks(PRODUCTS))
        .map(|(a, b)| {
            let sum: i32 = a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
            i64::from(sum)
        })
        .sum()
}
