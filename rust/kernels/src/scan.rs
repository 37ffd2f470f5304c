//! Samples that no picture has: NaN, infinity, and values out of the stated range.

use rayon::prelude::*;

use crate::Result;
use crate::format::{Format, Range};
use crate::frame::{Frame, Pixels, Rows, Sample};
use crate::simd::Level;

/// What every sample of a frame was checked for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scan {
    /// Samples that are NaN or infinite.
    pub non_finite: u64,
    /// Row and column of the first of them, in row order whatever the planes.
    pub first_non_finite: Option<(usize, usize)>,
    /// Finite samples further out of the range than half an 8-bit level.
    pub out_of_range: u64,
    /// Smallest and largest finite sample; `None` if there is none or the samples were not read.
    pub extremes: Option<(f64, f64)>,
}

impl Scan {
    /// What both say together; the order does not matter.
    pub(crate) fn merge(self, other: Self) -> Self {
        let first_non_finite = match (self.first_non_finite, other.first_non_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let extremes = match (self.extremes, other.extremes) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        Self {
            non_finite: self.non_finite + other.non_finite,
            first_non_finite,
            out_of_range: self.out_of_range + other.out_of_range,
            extremes,
        }
    }
}

/// What a frame's samples are checked for before anything is measured of them.
///
/// # Errors
/// A frame that does not fit the format.
pub fn scan_frame(format: &Format, frame: &Frame<'_>, level: Level) -> Result<Scan> {
    frame.check(format)?;
    Ok(scan(level, format, frame, false))
}

/// Rows of one parallel task.
const BAND: usize = 64;

/// Checks every sample of `frame`. Integers that fill their container pass without being read, and
/// so do those of a decoder: shifted, or of limited range. `parallel` works on
/// the rayon pool that the caller is in.
pub(crate) fn scan(level: Level, format: &Format, frame: &Frame<'_>, parallel: bool) -> Scan {
    match (frame, format.range) {
        (Frame::F32(pixels), Range::Float { low, high }) => {
            scan_rows(pixels, parallel, |row| float_row(level, row, low, high))
        }
        (Frame::F16(pixels), Range::Float { low, high }) => {
            scan_rows(pixels, parallel, |row| float_row(level, row, low, high))
        }
        (Frame::U16(pixels), Range::Full { bit_depth, shift: 0 }) if bit_depth < 16 => {
            let white = format.range.white_code() as u16;
            scan_rows(pixels, parallel, |row| integer_row(level, row, white))
        }
        _ => Scan::default(),
    }
}

fn scan_rows<T: Sample>(
    pixels: &Pixels<'_, T>,
    parallel: bool,
    row: impl Fn(&[T::Row]) -> (Scan, Option<usize>) + Sync,
) -> Scan {
    let (per_pixel, planes) = pixels.runs();
    let mut total = Scan::default();
    for plane in 0..planes {
        let height = pixels.plane_rows(plane);
        let band = |band: usize| {
            let mut rows = Rows::new(pixels);
            (band * BAND..height.min((band + 1) * BAND))
                .map(|y| {
                    let (mut found, first) = row(rows.plane_row(plane, y));
                    found.first_non_finite = first.map(|i| (y, i / per_pixel));
                    found
                })
                .fold(Scan::default(), Scan::merge)
        };
        let count = height.div_ceil(BAND);
        let bands: Vec<Scan> = if parallel {
            (0..count).into_par_iter().map(band).collect()
        } else {
            (0..count).map(band).collect()
        };
        total = bands.into_iter().fold(total, Scan::merge);
    }
    total
}

fn float_row(level: Level, row: &[f32], low: f32, high: f32) -> (Scan, Option<usize>) {
    let slack = (high - low) / 512.0;
    let (floor, ceiling) = (low - slack, high + slack);
    let (bad, outside, least, most) = level.run(
        #[inline(always)]
        || {
            let (mut bad, mut outside) = (0_u32, 0_u32);
            let mut least = [f32::INFINITY; LANES];
            let mut most = [f32::NEG_INFINITY; LANES];
            let (chunks, rest) = row.as_chunks::<LANES>();
            let mut tail = [0.0_f32; LANES];
            // The unused lanes of the last chunk repeat a sample that is there.
            if let Some(&first) = rest.first() {
                tail = [first; LANES];
                tail[..rest.len()].copy_from_slice(rest);
            }
            for chunk in chunks {
                for i in 0..LANES {
                    look(chunk[i], floor, ceiling, &mut bad, &mut outside);
                    (least[i], most[i]) = widen(chunk[i], least[i], most[i]);
                }
            }
            if !rest.is_empty() {
                for i in 0..LANES {
                    (least[i], most[i]) = widen(tail[i], least[i], most[i]);
                }
                for &v in rest {
                    look(v, floor, ceiling, &mut bad, &mut outside);
                }
            }
            (bad, outside, least, most)
        },
    );
    let least = least.into_iter().fold(f32::INFINITY, f32::min);
    let most = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let first = if bad > 0 { row.iter().position(|v| !v.is_finite()) } else { None };
    let found = Scan {
        non_finite: bad.into(),
        first_non_finite: None,
        out_of_range: outside.into(),
        extremes: (least <= most).then_some((least.into(), most.into())),
    };
    (found, first)
}

/// Independent running extremes, so that the compiler may hold them in one vector.
const LANES: usize = 16;

#[inline(always)]
fn look(v: f32, floor: f32, ceiling: f32, bad: &mut u32, outside: &mut u32) {
    let finite = v.to_bits() & 0x7f80_0000 != 0x7f80_0000;
    *bad += u32::from(!finite);
    *outside += u32::from(finite & ((v < floor) | (v > ceiling)));
}

#[inline(always)]
fn widen(v: f32, least: f32, most: f32) -> (f32, f32) {
    let finite = v.to_bits() & 0x7f80_0000 != 0x7f80_0000;
    let (low, high) = if finite { (v, v) } else { (least, most) };
    (if low < least { low } else { least }, if high > most { high } else { most })
}

fn integer_row(level: Level, row: &[u16], white: u16) -> (Scan, Option<usize>) {
    let (outside, most) = level.run(
        #[inline(always)]
        || {
            let mut outside = 0_u32;
            let mut most = 0_u16;
            for &v in row {
                outside += u32::from(v > white);
                most = most.max(v);
            }
            (outside, most)
        },
    );
    let found = Scan {
        out_of_range: outside.into(),
        extremes: Some((0.0, most.into())),
        ..Scan::default()
    };
    (found, None)
}
