//! How much the most changed place of a frame changed.

use crate::format::{Format, Model};
use crate::frame::{Code, Coding, Pixels, Row, Rows, Sample};
use crate::simd::Level;

/// Pixels of the run along a row over which a change is averaged: a codec's macroblock. Coding noise
/// averages out over it, a moving detail does not.
const RUN: usize = 16;

/// The largest mean absolute difference over any run of 16 pixels of a row, in 8-bit levels. RGB is
/// averaged over its channels; luma and chroma planes count each for themselves.
///
/// `step` picks the rows. Chroma is read at `step` 1 alone: a picture that repeats its luma nearly
/// always repeats its colour.
pub(crate) fn largest_change<T: Sample>(
    level: Level,
    format: &Format,
    previous: &Pixels<'_, T>,
    current: &Pixels<'_, T>,
    step: usize,
) -> f64 {
    let coding = Coding::of(format.range);
    let (mut a, mut b) = (Rows::new(previous), Rows::new(current));
    let mut largest = 0.0_f64;
    let yuv = matches!(format.model, Model::Yuv { .. });
    let planes = if yuv && step == 1 { 3 } else { 1 };
    for plane in 0..planes {
        for y in (0..current.plane_rows(plane)).step_by(step) {
            let row = if yuv {
                let (a, b) = (a.plane_row(plane, y), b.plane_row(plane, y));
                level.run(
                    #[inline(always)]
                    || largest_run::<_, RUN>(a, b, coding),
                )
            } else {
                let (a, b) = (a.row(format, y), b.row(format, y));
                level.run(
                    #[inline(always)]
                    || largest_pixel_run(&a, &b, coding),
                )
            };
            largest = largest.max(row);
        }
    }
    largest / format.range.codes_per_level()
}

#[inline(always)]
fn largest_pixel_run<C: Code>(a: &Row<'_, C>, b: &Row<'_, C>, coding: Coding) -> f64 {
    match (a, b) {
        (Row::Packed(a), Row::Packed(b)) => largest_run::<_, { 3 * RUN }>(a, b, coding),
        (Row::First(a), Row::First(b)) => largest_run::<_, RUN>(a, b, coding),
        (Row::Planar(a), Row::Planar(b)) => largest_planar_run(a, b, coding),
        // Not reached: a pair of two layouts is refused before it is measured.
        _ => f64::INFINITY,
    }
}

/// The largest mean of |a - b| over consecutive runs of `N`; the last run may be shorter.
#[inline(always)]
fn largest_run<C: Code, const N: usize>(a: &[C], b: &[C], coding: Coding) -> f64 {
    let (a_runs, a_rest) = a.as_chunks::<N>();
    let (b_runs, b_rest) = b.as_chunks::<N>();
    let mut largest = 0_u32;
    for (a, b) in a_runs.iter().zip(b_runs) {
        let mut sum = 0_u32;
        for i in 0..N {
            sum += a[i].code(coding).abs_diff(b[i].code(coding));
        }
        largest = largest.max(sum);
    }
    let full = f64::from(largest) / N as f64;
    if a_rest.is_empty() {
        return full;
    }
    full.max(f64::from(sum_of_differences(a_rest, b_rest, coding)) / a_rest.len() as f64)
}

/// The same over runs of pixels whose three channels lie in planes of their own.
#[inline(always)]
fn largest_planar_run<C: Code>(a: &[&[C]; 3], b: &[&[C]; 3], coding: Coding) -> f64 {
    let width = a[0].len();
    let mut largest = 0.0_f64;
    for start in (0..width).step_by(RUN) {
        let end = width.min(start + RUN);
        let sum: u32 = a
            .iter()
            .zip(b)
            .map(|(a, b)| sum_of_differences(&a[start..end], &b[start..end], coding))
            .sum();
        largest = largest.max(f64::from(sum) / (3 * (end - start)) as f64);
    }
    largest
}

#[inline(always)]
fn sum_of_differences<C: Code>(a: &[C], b: &[C], coding: Coding) -> u32 {
    a.iter().zip(b).map(|(a, b)| a.code(coding).abs_diff(b.code(coding))).sum()
}
