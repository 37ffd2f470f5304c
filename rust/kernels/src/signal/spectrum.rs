//! The share of a picture's energy at high spatial frequencies.

use rayon::prelude::*;

use crate::fft;
use crate::simd::Level;
use crate::spare::Spare;

/// Sequences that are transformed at once.
const LANES: usize = 16;

type Cell = fft::Cell<f32, LANES>;
type Fft = fft::Fft<f32, LANES>;

/// A fixed plan of the two-dimensional transform of one size.
///
/// Columns come first: two real columns make one complex sequence, sixteen such pairs are
/// transformed side by side, and only the rows of frequency 0 to `height / 2` are kept, since the
/// others mirror them. Then sixteen of those rows at a time.
#[derive(Debug)]
pub(super) struct Spectrum {
    width: usize,
    height: usize,
    /// Columns of the left half: column `x` shares a sequence with `x + half`.
    half: usize,
    columns: Fft,
    rows: Fft,
    groups: Vec<Group>,
    works: Spare<Work>,
}

/// Sixteen neighbouring vertical frequencies.
#[derive(Debug)]
struct Group {
    /// The least horizontal frequency, in cycles per picture width, that is high beside each.
    first_high: [i32; LANES],
    /// How often the published half plane (horizontal frequencies from 0 up, all vertical ones)
    /// counts a bin: of the positive horizontal frequencies, of 0 and the highest of an even width,
    /// and of the negative ones.
    weights: [[f64; LANES]; 3],
}

/// Memory of one transform, kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    plane: Vec<f32>,
    kept: Vec<Cell>,
}

impl Scratch {
    /// Where the picture is laid before [`Spectrum::high_share`].
    pub(super) fn plane(&mut self, samples: usize) -> &mut [f32] {
        self.plane.resize(samples, 0.0);
        &mut self.plane
    }
}

/// The data and the scratch of one thread's transforms.
#[derive(Debug, Default)]
struct Work {
    data: Vec<Cell>,
    scratch: Vec<Cell>,
}

impl Work {
    /// Both, long enough for `fft`.
    fn of(&mut self, fft: &Fft) -> (&mut [Cell], &mut [Cell]) {
        let Self { data, scratch } = self;
        data.resize(data.len().max(fft.length()), Cell::default());
        scratch.resize(scratch.len().max(fft.scratch()), Cell::default());
        (&mut data[..fft.length()], &mut scratch[..])
    }
}

impl Spectrum {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let kept = height / 2 + 1;
        let groups = (0..kept.div_ceil(LANES))
            .map(|group| Group::new(group * LANES, width, height))
            .collect();
        Self {
            width,
            height,
            half: width.div_ceil(2),
            columns: Fft::new(height),
            rows: Fft::new(width),
            groups,
            works: Spare::default(),
        }
    }

    /// Energy above a quarter cycle per pixel, as a share of all, of the plane in `scratch`, whose
    /// mean is zero and whose white is `white`.
    ///
    /// The energies are those of the usual real transform: half a plane, of which the columns of frequency
    /// 0 and, for an even width, of the highest are counted once like all others. Less energy than
    /// `1e-12` for white 1 counts as `1e-12`.
    pub(super) fn high_share(
        &self,
        level: Level,
        scratch: &mut Scratch,
        white: f64,
        parallel: bool,
    ) -> f64 {
        let chunk = self.groups.len() * 2 * LANES;
        let blocks = self.half.div_ceil(LANES);
        scratch.kept.resize(blocks * chunk, Cell::default());
        let plane = &scratch.plane[..];
        let column = |(block, kept): (usize, &mut [Cell])| {
            let mut work = self.works.take();
            let (data, scratch) = work.of(&self.columns);
            level.run(
                #[inline(always)]
                || self.column_block(plane, block * LANES, data, scratch, kept),
            );
            self.works.give(work);
        };
        let kept = &mut scratch.kept[..];
        if parallel {
            kept.par_chunks_mut(chunk).enumerate().for_each(column);
        } else {
            kept.chunks_mut(chunk).enumerate().for_each(column);
        }
        let kept = &scratch.kept[..];
        let row = |group: usize| {
            let mut work = self.works.take();
            let (data, scratch) = work.of(&self.rows);
            let part = level.run(
                #[inline(always)]
                || self.row_group(kept, group, data, scratch),
            );
            self.works.give(work);
            part
        };
        let parts: Vec<(f64, f64)> = if parallel {
            (0..self.groups.len()).into_par_iter().map(row).collect()
        } else {
            (0..self.groups.len()).map(row).collect()
        };
        let (high, total) = parts.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        // The kept rows are twice the transform.
        let floor = 4.0e-12 * white * white;
        high / f64::max(total, floor)
    }

    /// Transforms columns `x0` to `x0 + 15` and their partners; leaves, for each group of rows, the
    /// sixteen left columns and the sixteen right ones.
    #[inline(always)]
    fn column_block(
        &self,
        plane: &[f32],
        x0: usize,
        data: &mut [Cell],
        scratch: &mut [Cell],
        kept: &mut [Cell],
    ) {
        let left = (self.half - x0).min(LANES);
        let right = (self.width - self.half).saturating_sub(x0).min(LANES);
        for (cell, row) in data.iter_mut().zip(plane.chunks_exact(self.width)) {
            fill(&mut cell.re, &row[x0..][..left]);
            let from = (self.half + x0).min(self.width);
            fill(&mut cell.im, &row[from..][..right]);
        }
        self.columns.run(data, scratch);
        let last = self.height / 2;
        for (group, kept) in kept.chunks_exact_mut(2 * LANES).enumerate() {
            let (left, right) = kept.split_at_mut(LANES);
            let mut tiles = [[[0.0; LANES]; LANES]; 4];
            let [left_re, left_im, right_re, right_im] = &mut tiles;
            for i in 0..LANES {
                let row = group * LANES + i;
                if row <= last {
                    let mirrored = &data[(self.height - row) % self.height];
                    let cell = &data[row];
                    unpack(cell, mirrored, &mut left_re[i], &mut left_im[i]);
                    unpack_other(cell, mirrored, &mut right_re[i], &mut right_im[i]);
                }
            }
            for i in 0..LANES {
                for x in 0..LANES {
                    (left[x].re[i], left[x].im[i]) = (left_re[i][x], left_im[i][x]);
                    (right[x].re[i], right[x].im[i]) = (right_re[i][x], right_im[i][x]);
                }
            }
        }
    }

    /// (energy at high frequencies, energy) of the rows of one group.
    #[inline(always)]
    fn row_group(
        &self,
        kept: &[Cell],
        group: usize,
        data: &mut [Cell],
        scratch: &mut [Cell],
    ) -> (f64, f64) {
        let chunk = self.groups.len() * 2 * LANES;
        for (block, kept) in kept.chunks_exact(chunk).enumerate() {
            let kept = &kept[group * 2 * LANES..][..2 * LANES];
            let x0 = block * LANES;
            let left = (self.half - x0).min(LANES);
            data[x0..][..left].copy_from_slice(&kept[..left]);
            let right = (self.width - self.half).saturating_sub(x0).min(LANES);
            let from = (self.half + x0).min(self.width);
            data[from..][..right].copy_from_slice(&kept[LANES..][..right]);
        }
        self.rows.run(data, scratch);
        let Group { first_high, weights } = &self.groups[group];
        let (width, middle) = (self.width, self.width / 2);
        let even = width.is_multiple_of(2);
        let positive_end = if even { middle } else { middle + 1 }.max(1);
        let negative = (middle + 1).min(width);
        let highest = if even { &data[middle..=middle] } else { &[] };
        let ends = [
            energy(&data[..1], 0, 0, first_high, &weights[1]),
            energy(&data[1..positive_end], 1, 1, first_high, &weights[0]),
            energy(highest, middle as i32, 0, first_high, &weights[1]),
            energy(&data[negative..], (width - negative) as i32, -1, first_high, &weights[2]),
        ];
        ends.iter().fold((0.0, 0.0), |(high, total), part| (high + part.0, total + part.1))
    }
}

impl Group {
    fn new(first: usize, width: usize, height: usize) -> Self {
        let (w, h) = (width as u128, height as u128);
        let last = height / 2;
        let rows: [usize; LANES] = std::array::from_fn(|i| first + i);
        // Of frequencies k, high are those with (k / width)^2 + (row / height)^2 > 1 / 16.
        let is_high = |k: u128, row: u128| 16 * (k * k * h * h + row * row * w * w) > w * w * h * h;
        let first_high = rows.map(|row| {
            let row = row as u128;
            (0..=width as u128 / 2 + 1).find(|&k| is_high(k, row)).unwrap_or(w) as i32
        });
        // Row 0 and, for an even height, the highest are their own mirrors.
        let of = |usual: f64, mirror: f64| {
            rows.map(|row| match row {
                _ if row > last => 0.0,
                _ if row == 0 || 2 * row == height => mirror,
                _ => usual,
            })
        };
        Self { first_high, weights: [of(1.0, 1.0), of(2.0, 1.0), of(1.0, 0.0)] }
    }
}

#[inline(always)]
fn fill(lanes: &mut [f32; LANES], samples: &[f32]) {
    if let Ok(all) = <&[f32; LANES]>::try_from(samples) {
        *lanes = *all;
    } else {
        *lanes = [0.0; LANES];
        lanes[..samples.len()].copy_from_slice(samples);
    }
}

/// Twice the transform of the real parts of a sequence, at one frequency.
#[inline(always)]
fn unpack(a: &Cell, mirrored: &Cell, re: &mut [f32; LANES], im: &mut [f32; LANES]) {
    for l in 0..LANES {
        re[l] = a.re[l] + mirrored.re[l];
        im[l] = a.im[l] - mirrored.im[l];
    }
}

/// The same of the imaginary parts.
#[inline(always)]
fn unpack_other(a: &Cell, mirrored: &Cell, re: &mut [f32; LANES], im: &mut [f32; LANES]) {
    for l in 0..LANES {
        re[l] = a.im[l] + mirrored.im[l];
        im[l] = mirrored.re[l] - a.re[l];
    }
}

/// (energy at high frequencies, energy) of cells whose horizontal frequency begins at `frequency` and
/// goes on by `step`.
#[inline(always)]
fn energy(
    cells: &[Cell],
    mut frequency: i32,
    step: i32,
    first_high: &[i32; LANES],
    weights: &[f64; LANES],
) -> (f64, f64) {
    let (mut high, mut total) = ([0.0; LANES], [0.0; LANES]);
    for cell in cells {
        add_energy(cell, frequency, first_high, &mut high, &mut total);
        frequency += step;
    }
    let sum = |lanes: [f64; LANES]| lanes.iter().zip(weights).fold(0.0, |sum, (v, w)| sum + v * w);
    (sum(high), sum(total))
}

#[inline(always)]
fn add_energy(
    cell: &Cell,
    frequency: i32,
    first_high: &[i32; LANES],
    high: &mut [f64; LANES],
    total: &mut [f64; LANES],
) {
    for l in 0..LANES {
        let energy = f64::from(cell.re[l] * cell.re[l] + cell.im[l] * cell.im[l]);
        total[l] += energy;
        high[l] += if frequency >= first_high[l] { energy } else { 0.0 };
    }
}
