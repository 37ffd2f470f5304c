//! A band of neighbouring rows through all frames.

use super::rows::{self, Counts};
use crate::read::Read;
use crate::simd::Level;

/// Cells along each side of the picture, whose mean luma is kept.
pub const CELLS: usize = 4;

/// What the rows of one frame add up to. Luma is in the format's fixed point; the high-passed luma
/// is nine times that.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    pub(super) squares: u128,
    pub(super) cells: [[u64; CELLS]; CELLS],
    pub(super) change: u64,
    pub(super) bend: u64,
    pub(super) detail: Option<Box<Detail>>,
}

/// The part of it that the full pass alone takes.
#[derive(Debug, Clone)]
pub(super) struct Detail {
    pub(super) laplacian: i64,
    pub(super) laplacian_squares: u128,
    pub(super) high_pass: u64,
    pub(super) shimmer: u64,
    pub(super) saturation: u64,
    pub(super) counts: Counts,
}

impl Default for Detail {
    fn default() -> Self {
        Self {
            laplacian: 0,
            laplacian_squares: 0,
            high_pass: 0,
            shimmer: 0,
            saturation: 0,
            counts: [[0; rows::BINS]; 4],
        }
    }
}

impl Sums {
    /// Adds row `y` of the current frame beside the same row of the last and the last but one, of
    /// which `seen` are there.
    #[inline(always)]
    fn add_luma(&mut self, shape: Shape, y: usize, seen: usize, [now, last, before]: [&[i32]; 3]) {
        let width = shape.width;
        self.squares += u128::from(rows::sum_of_squares(now));
        let cells = &mut self.cells[((y + 1) * CELLS - 1) / shape.height];
        for (k, cell) in cells.iter_mut().enumerate() {
            *cell += rows::sum(&now[k * width / CELLS..(k + 1) * width / CELLS]);
        }
        match seen {
            0 => {}
            1 => self.change += rows::change(now, last),
            _ => {
                let (change, bend) = rows::change_and_bend(now, last, before);
                self.change += change;
                self.bend += bend;
            }
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.squares += other.squares;
        for (a, b) in self.cells.as_flattened_mut().iter_mut().zip(other.cells.as_flattened()) {
            *a += b;
        }
        self.change += other.change;
        self.bend += other.bend;
        if let Some(theirs) = &other.detail {
            let ours = self.detail.get_or_insert_default();
            ours.laplacian += theirs.laplacian;
            ours.laplacian_squares += theirs.laplacian_squares;
            ours.high_pass += theirs.high_pass;
            ours.shimmer += theirs.shimmer;
            ours.saturation += theirs.saturation;
            for (a, b) in ours.counts.iter_mut().zip(&theirs.counts) {
                for (a, b) in a.iter_mut().zip(b) {
                    *a += b;
                }
            }
        }
    }
}

/// Rows `first` to `first + rows - 1`, with the luma of the last three frames: a band's rows lie in
/// the cache while frame after frame passes, and no picture is kept.
#[derive(Debug)]
pub(super) struct Band {
    first: usize,
    rows: usize,
    /// Luma of the current, the last and the last but one frame. With detail they hold a row more
    /// above and below, the picture's edge repeated. Without, of the last and the last but one
    /// alone: a row of the current one takes the place of the oldest as soon as that has been read.
    luma: [Vec<i32>; 3],
    /// High-passed luma of the current and of the last frame.
    high_pass: [Vec<i32>; 2],
    seen: usize,
}

/// What all bands share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) white: i32,
    pub(super) detail: bool,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub(super) struct Line {
    luma: Vec<i32>,
    sums: Vec<i32>,
    rgb: Vec<i32>,
    bins: Vec<u8>,
}

impl Band {
    pub(super) fn new(shape: Shape, first: usize, rows: usize) -> Self {
        let margin = if shape.detail { 2 } else { 0 };
        let plane = || vec![0; (rows + margin) * shape.width];
        let oldest = if shape.detail { plane() } else { Vec::new() };
        let passed = || vec![0; if shape.detail { rows * shape.width } else { 0 }];
        Self {
            first,
            rows,
            luma: [plane(), plane(), oldest],
            high_pass: [passed(), passed()],
            seen: 0,
        }
    }

    /// Takes the band's part of the next frame.
    pub(super) fn take(
        &mut self,
        shape: Shape,
        level: Level,
        frame: &mut dyn Read,
        line: &mut Line,
    ) -> Sums {
        let sums = if shape.detail {
            self.take_detail(shape, level, frame, line)
        } else {
            self.take_luma(shape, level, frame, line)
        };
        self.seen += 1;
        sums
    }

    fn take_luma(
        &mut self,
        shape: Shape,
        level: Level,
        frame: &mut dyn Read,
        line: &mut Line,
    ) -> Sums {
        let (first, seen) = (self.first, self.seen);
        let mut sums = Sums::default();
        let [last, before, _] = &mut self.luma;
        line.luma.resize(shape.width, 0);
        let rows = last.chunks_exact(shape.width).zip(before.chunks_exact_mut(shape.width));
        for (y, (last, before)) in (first..).zip(rows) {
            frame.luma_codes(y, &mut line.luma);
            level.run(
                #[inline(always)]
                || {
                    sums.add_luma(shape, y, seen, [&line.luma, last, before]);
                    before.copy_from_slice(&line.luma);
                },
            );
        }
        self.luma.swap(0, 1);
        sums
    }

    fn take_detail(
        &mut self,
        shape: Shape,
        level: Level,
        frame: &mut dyn Read,
        line: &mut Line,
    ) -> Sums {
        self.luma.rotate_right(1);
        self.high_pass.swap(0, 1);
        for (i, out) in self.luma[0].chunks_exact_mut(shape.width).enumerate() {
            let y = (self.first + i).saturating_sub(1).min(shape.height - 1);
            frame.luma_codes(y, out);
        }
        let mut sums = Sums { detail: Some(Box::default()), ..Sums::default() };
        line.sums.resize(shape.width + 2, 0);
        line.rgb.resize(3 * shape.width, 0);
        line.bins.resize(shape.width, 0);
        for i in 0..self.rows {
            frame.rgb(self.first + i, &mut line.rgb);
            level.run(
                #[inline(always)]
                || self.row(shape, i, line, &mut sums),
            );
        }
        sums
    }

    #[inline(always)]
    fn row(&mut self, shape: Shape, i: usize, line: &mut Line, sums: &mut Sums) {
        let width = shape.width;
        let y = self.first + i;
        let [now, last, before] =
            self.luma.each_ref().map(|luma| &luma[(i + 1) * width..][..width]);
        sums.add_luma(shape, y, self.seen, [now, last, before]);
        let Some(detail) = &mut sums.detail else { return };
        let above = &self.luma[0][i * width..][..width];
        let below = &self.luma[0][(i + 2) * width..][..width];
        if y > 0 && y + 1 < shape.height {
            let (sum, squares) = rows::laplacian(above, now, below);
            detail.laplacian += sum;
            detail.laplacian_squares += u128::from(squares);
        }
        rows::column_sums(above, now, below, &mut line.sums);
        let [passed, passed_before] = &mut self.high_pass;
        let passed = &mut passed[i * width..][..width];
        rows::high_pass(now, &line.sums, passed);
        detail.high_pass += rows::sizes(passed);
        if self.seen > 0 {
            detail.shimmer += rows::high_pass_change(passed, &passed_before[i * width..][..width]);
        }
        let (red, rest) = line.rgb.split_at(width);
        let (green, blue) = rest.split_at(width);
        detail.saturation += rows::saturation(red, green, blue);
        rows::count(now, rows::bins_per_code(shape.white), &mut line.bins, &mut detail.counts);
    }
}
