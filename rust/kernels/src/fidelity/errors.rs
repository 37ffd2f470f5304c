//! Sums of squared and of absolute differences.

use super::scratch::Scratch;
use crate::format::{Format, Model, Range};
use crate::frame::{Frame, Pixels, Rows, Sample};
use crate::read::{Read, Reader, read};
use crate::simd::Level;

/// Mean squared and mean absolute difference, where white is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Mean squared difference.
    pub squared: f64,
    /// Mean absolute difference.
    pub absolute: f64,
}

/// Rows of one parallel task. Fixed, so that sums do not depend on the number of threads.
const BAND: usize = 32;

/// Sums over integers are exact.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    squared: u64,
    absolute: u64,
}

impl std::iter::Sum for Sums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            squared: a.squared + b.squared,
            absolute: a.absolute + b.absolute,
        })
    }
}

impl Sums {
    fn means(self, count: usize, white: u32) -> Errors {
        let (count, white) = (count as f64, f64::from(white));
        Errors {
            squared: self.squared as f64 / count / (white * white),
            absolute: self.absolute as f64 / count / white,
        }
    }
}

/// Two frames and how to read them.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p, 'a> {
    pub(super) level: Level,
    pub(super) frames: [&'p Frame<'a>; 2],
    pub(super) formats: [&'p Format; 2],
    pub(super) scratch: &'p Scratch,
}

impl<'p> Pair<'p, '_> {
    pub(super) fn readers(&self) -> [Box<dyn Read + 'p>; 2] {
        [0, 1].map(|i| read(self.frames[i], self.formats[i], self.level))
    }
}

/// Errors of plane `plane` between frames whose planes have one size and depth.
pub(super) fn plane_errors(pair: Pair<'_, '_>, plane: usize) -> Errors {
    let format = pair.formats[0];
    let (height, width) = format.plane_size(plane);
    let white = format.range.white_code();
    let sums = match (&pair.frames[0], &pair.frames[1]) {
        (Frame::U8(a), Frame::U8(b)) => byte_sums(pair, a, b, plane, height),
        _ => coded_sums(pair, height, width, white, |reader, y, out| reader.plane(plane, y, out)),
    };
    sums.means(height * width, white)
}

/// Errors over red, green and blue.
pub(super) fn rgb_errors(pair: Pair<'_, '_>) -> Errors {
    let [a, b] = pair.formats;
    let (height, width) = (a.height, a.width);
    let count = 3 * height * width;
    let float = |f: &Format| matches!(f.range, Range::Float { .. });
    let white = a.range.white_code();
    if float(a) || float(b) || white != b.range.white_code() {
        return value_errors(pair, height, width);
    }
    let yuv = |f: &Format| matches!(f.model, Model::Yuv { .. });
    // The squares of a run fit 32 bits: 2^16 · 255², 256 · 4095².
    if yuv(a) && yuv(b) && white < 1 << 12 {
        match (pair.frames[0], pair.frames[1]) {
            (Frame::U8(first), Frame::U8(second)) => {
                return yuv_sums::<_, { 1 << 16 }>(pair, first, second, height).means(count, white);
            }
            (Frame::U16(first), Frame::U16(second)) => {
                return yuv_sums::<_, 256>(pair, first, second, height).means(count, white);
            }
            _ => {}
        }
    }
    if let (Frame::U8(first), Frame::U8(second)) = (pair.frames[0], pair.frames[1])
        && plain(a)
        && plain(b)
    {
        let sums = match (first, second) {
            (Pixels::Planar(_), Pixels::Planar(_)) => {
                (0..3).map(|plane| byte_sums(pair, first, second, plane, height)).sum()
            }
            (Pixels::Packed(_), Pixels::Packed(_)) => byte_sums(pair, first, second, 0, height),
            (Pixels::Grey(_), Pixels::Grey(_)) => {
                let sums = byte_sums(pair, first, second, 0, height);
                return sums.means(height * width, white);
            }
            _ => coded_sums(pair, height, 3 * width, white, |r, y, out| r.rgb(y, out)),
        };
        return sums.means(count, white);
    }
    coded_sums(pair, height, 3 * width, white, |r, y, out| r.rgb(y, out)).means(count, white)
}

/// Whether a sample is a channel's code as it lies.
fn plain(format: &Format) -> bool {
    matches!((format.model, format.range), (Model::Rgb | Model::Grey, Range::Full { .. }))
}

fn byte_sums(
    pair: Pair<'_, '_>,
    a: &Pixels<'_, u8>,
    b: &Pixels<'_, u8>,
    plane: usize,
    height: usize,
) -> Sums {
    bands(pair, height, |from, to| {
        let (mut a, mut b) = (Rows::new(a), Rows::new(b));
        (from..to)
            .map(|y| {
                let (a, b) = (a.plane_row(plane, y), b.plane_row(plane, y));
                pair.level.run(
                    #[inline(always)]
                    || byte_row(a, b),
                )
            })
            .sum()
    })
}

fn bands(pair: Pair<'_, '_>, height: usize, band: impl Fn(usize, usize) -> Sums + Sync) -> Sums {
    let count = height.div_ceil(BAND);
    pair.scratch.each(count, |i| band(i * BAND, height.min((i + 1) * BAND))).into_iter().sum()
}

#[inline(always)]
fn byte_row(a: &[u8], b: &[u8]) -> Sums {
    let mut sums = Sums::default();
    // The longest run whose squares fit 32 bits: 255² · 2^16 < 2^32.
    for (a, b) in a.chunks(1 << 16).zip(b.chunks(1 << 16)) {
        let (mut squared, mut absolute) = (0_u32, 0_u32);
        for (&a, &b) in a.iter().zip(b) {
            let d = i16::from(a) - i16::from(b);
            squared += (i32::from(d) * i32::from(d)) as u32;
            absolute += u32::from(a.abs_diff(b));
        }
        sums.squared += u64::from(squared);
        sums.absolute += u64::from(absolute);
    }
    sums
}

/// Two frames of Y, Cb and Cr as red, green and blue, without writing those down.
fn yuv_sums<T: Sample, const RUN: usize>(
    pair: Pair<'_, '_>,
    first: &Pixels<'_, T>,
    second: &Pixels<'_, T>,
    height: usize,
) -> Sums {
    bands(pair, height, |from, to| {
        let mut a = Reader::new(first, pair.formats[0], pair.level);
        let mut b = Reader::new(second, pair.formats[1], pair.level);
        (from..to)
            .map(|y| {
                let (Some(a), Some(b)) = (a.yuv(y), b.yuv(y)) else { return Sums::default() };
                let (squared, absolute) = pair.level.run(
                    #[inline(always)]
                    || a.differences::<RUN>(&b),
                );
                Sums { squared, absolute }
            })
            .sum()
    })
}

fn coded_sums(
    pair: Pair<'_, '_>,
    height: usize,
    samples: usize,
    white: u32,
    row: impl Fn(&mut dyn Read, usize, &mut [i32]) + Sync,
) -> Sums {
    bands(pair, height, |from, to| {
        let [mut a, mut b] = pair.readers();
        let (mut first, mut second) = (vec![0_i32; samples], vec![0_i32; samples]);
        (from..to)
            .map(|y| {
                row(&mut *a, y, &mut first);
                row(&mut *b, y, &mut second);
                pair.level.run(
                    #[inline(always)]
                    || coded_row(&first, &second, white),
                )
            })
            .sum()
    })
}

#[inline(always)]
fn coded_row(a: &[i32], b: &[i32], white: u32) -> Sums {
    let mut sums = Sums::default();
    if white < 1 << 12 {
        // 4095² · 256 < 2^32.
        for (a, b) in a.chunks(256).zip(b.chunks(256)) {
            let (mut squared, mut absolute) = (0_u32, 0_u32);
            for (&a, &b) in a.iter().zip(b) {
                let d = a - b;
                squared += (d * d) as u32;
                absolute += d.unsigned_abs();
            }
            sums.squared += u64::from(squared);
            sums.absolute += u64::from(absolute);
        }
        return sums;
    }
    for (&a, &b) in a.iter().zip(b) {
        let d = u64::from(a.abs_diff(b));
        sums.squared += d * d;
        sums.absolute += d;
    }
    sums
}

/// Errors of formats that share no integer scale, in double precision.
fn value_errors(pair: Pair<'_, '_>, height: usize, width: usize) -> Errors {
    let rows: Vec<[f64; 2]> = pair.scratch.each(height.div_ceil(BAND), |band| {
        let [mut a, mut b] = pair.readers();
        let (mut first, mut second) = (vec![0.0_f64; 3 * width], vec![0.0_f64; 3 * width]);
        let mut sums = [0.0_f64; 2];
        for y in band * BAND..height.min((band + 1) * BAND) {
            a.rgb_values(y, &mut first);
            b.rgb_values(y, &mut second);
            let row = pair.level.run(
                #[inline(always)]
                || value_row(&first, &second),
            );
            sums = [sums[0] + row[0], sums[1] + row[1]];
        }
        sums
    });
    let count = (3 * height * width) as f64;
    let total = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / count;
    Errors { squared: total(0), absolute: total(1) }
}

/// Sums that run side by side, in this order everywhere.
const LANES: usize = 8;

#[inline(always)]
fn value_row(a: &[f64], b: &[f64]) -> [f64; 2] {
    let mut squared = [0.0_f64; LANES];
    let mut absolute = [0.0_f64; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            let d = a - b;
            squared[i] += d * d;
            absolute[i] += d.abs();
        }
    }
    [squared.iter().sum(), absolute.iter().sum()]
}
