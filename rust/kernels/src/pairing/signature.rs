//! A frame as the means of its luma over a grid of blocks.

use crate::format::{Format, Model, Range};
use crate::frame::{Coding, Frame, Pixels, Rows, Sample, with_pixels};
use crate::luma::luma_row;
use crate::simd::Level;

/// Blocks along the longer side of a frame, at most.
const BLOCKS: usize = 64;

/// A block is at least this many pixels on a side, so that coding noise averages out.
const LEAST_BLOCK: usize = 4;

/// Steps of a signature in one 8-bit level.
pub const STEPS_PER_LEVEL: i32 = 16;

/// White of every format; black is 0. What a limited-range picture holds beyond is cut off.
const FULL_SCALE: f64 = 255.0 * STEPS_PER_LEVEL as f64;

/// Products of two signatures that a sum in 32 bits holds: 128 x 4080^2 < 2^31.
const SPAN: usize = 128;

/// How a frame of one size falls into blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blocks {
    side: usize,
    columns: usize,
    rows: usize,
}

impl Blocks {
    pub(super) fn of(format: &Format) -> Self {
        let side = format.width.max(format.height).div_ceil(BLOCKS).max(LEAST_BLOCK);
        Self { side, columns: format.width.div_ceil(side), rows: format.height.div_ceil(side) }
    }

    pub(super) fn count(&self) -> usize {
        self.rows * self.columns
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }
}

/// The block means of one frame without their mean.
#[derive(Debug, Clone, Default)]
pub(super) struct Signature {
    values: Vec<i16>,
    /// Sum of their squares.
    pub(super) energy: i64,
}

impl Signature {
    pub(super) fn of(level: Level, format: &Format, blocks: &Blocks, frame: &Frame<'_>) -> Self {
        let means = means(level, format, blocks, frame);
        let count = means.len() as i32;
        // Whole steps, so that the same bits come out everywhere; half a step of offset is nothing
        // against what is compared.
        let mean = (means.iter().map(|&v| i32::from(v)).sum::<i32>() + count / 2) / count;
        let mut one = Self {
            values: means.iter().map(|&v| (i32::from(v) - mean) as i16).collect(),
            energy: 0,
        };
        one.energy = one.dot(level, &one);
        one
    }

    /// Sum of the products of two signatures of one size.
    pub(super) fn dot(&self, level: Level, other: &Self) -> i64 {
        level.run(
            #[inline(always)]
            || {
                self.values
                    .chunks(SPAN)
                    .zip(other.values.chunks(SPAN))
                    .map(|(a, b)| i64::from(products(a, b)))
                    .sum()
            },
        )
    }
}

#[inline(always)]
fn products(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

/// Mean luma of each block, row by row, in steps of 1/16 of an 8-bit level. Of Y, Cb and Cr the
/// first plane stands for luma, whatever the matrix: two copies of the same planes with different
/// tags have the same signature.
pub(super) fn means(level: Level, format: &Format, blocks: &Blocks, frame: &Frame<'_>) -> Vec<u16> {
    with_pixels!(frame, pixels => typed_means(level, format, blocks, pixels))
}

fn typed_means<T: Sample + Widen>(
    level: Level,
    format: &Format,
    blocks: &Blocks,
    pixels: &Pixels<'_, T>,
) -> Vec<u16> {
    let (width, height) = (format.width, format.height);
    let mut rows = Rows::new(pixels);
    let mut sums = vec![0_u32; width];
    let mut narrow = Vec::new();
    let mut luma = Vec::new();
    let plain = !matches!(format.model, Model::Rgb);
    let (black, span) = black_and_span(format, plain);
    let mut means = Vec::with_capacity(blocks.count());
    for top in (0..height).step_by(blocks.side) {
        let bottom = height.min(top + blocks.side);
        sums.fill(0);
        if plain {
            T::add_rows(level, format, &mut rows, top..bottom, &mut sums, &mut narrow);
        } else {
            luma.resize(width, 0);
            for y in top..bottom {
                level.run(
                    #[inline(always)]
                    || {
                        luma_row(&mut rows, format, y, &mut luma);
                        for (sum, &v) in sums.iter_mut().zip(&luma) {
                            *sum += v as u32;
                        }
                    },
                );
            }
        }
        level.run(
            #[inline(always)]
            || {
                for run in sums.chunks(blocks.side) {
                    let samples = (run.len() * (bottom - top)) as f64;
                    let sum = run.iter().map(|&v| u64::from(v)).sum::<u64>() as f64;
                    let mean = (sum - black * samples) * (FULL_SCALE / (span * samples));
                    means.push((mean + 0.5).clamp(0.0, FULL_SCALE) as u16);
                }
            },
        );
    }
    means
}

/// Codes of black and from black to white: of the first plane if `plain`, else of fixed-point luma.
fn black_and_span(format: &Format, plain: bool) -> (f64, f64) {
    match format.range {
        _ if !plain => (0.0, format.full_scale()),
        Range::Limited { bit_depth, .. } => {
            let unit = f64::from(1_u32 << (bit_depth - 8));
            (16.0 * unit, 219.0 * unit)
        }
        _ => (0.0, f64::from(format.range.white_code())),
    }
}

/// Adds the codes of rows of the first plane, column by column.
trait Widen: Sample {
    fn add_rows(
        level: Level,
        format: &Format,
        rows: &mut Rows<'_, '_, Self>,
        band: std::ops::Range<usize>,
        sums: &mut [u32],
        narrow: &mut Vec<u16>,
    );
}

/// Rows of bytes whose sum fits 16 bits: 257 x 255.
const BYTE_ROWS: usize = 257;

impl Widen for u8 {
    fn add_rows(
        level: Level,
        _: &Format,
        rows: &mut Rows<'_, '_, Self>,
        band: std::ops::Range<usize>,
        sums: &mut [u32],
        narrow: &mut Vec<u16>,
    ) {
        let last = band.end;
        for top in band.step_by(BYTE_ROWS) {
            narrow.clear();
            narrow.resize(sums.len(), 0);
            for y in top..last.min(top + BYTE_ROWS) {
                let row = rows.plane_row(0, y);
                level.run(
                    #[inline(always)]
                    || {
                        for (sum, &v) in narrow.iter_mut().zip(row) {
                            *sum += u16::from(v);
                        }
                    },
                );
            }
            for (sum, &v) in sums.iter_mut().zip(narrow.iter()) {
                *sum += u32::from(v);
            }
        }
    }
}

macro_rules! widen {
    ($($t:ty),*) => {$(
        impl Widen for $t {
            fn add_rows(
                level: Level,
                format: &Format,
                rows: &mut Rows<'_, '_, Self>,
                band: std::ops::Range<usize>,
                sums: &mut [u32],
                _: &mut Vec<u16>,
            ) {
                use crate::frame::Code;
                let coding = Coding::of(format.range);
                for y in band {
                    let row = rows.plane_row(0, y);
                    level.run(
                        #[inline(always)]
                        || {
                            for (sum, &v) in sums.iter_mut().zip(row) {
                                *sum += v.code(coding) as u32;
                            }
                        },
                    );
                }
            }
        }
    )*};
}
widen!(u16, half::f16, f32);

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: i16, count: usize) -> Signature {
        Signature { values: vec![value; count], energy: 0 }
    }

    #[test]
    fn products_of_the_largest_signatures_do_not_overflow() {
        let (a, b) = (flat(4080, 64 * 64), flat(-4080, 64 * 64));
        assert_eq!(a.dot(Level::best(), &b), -4080 * 4080 * 64 * 64);
    }
}
