//! Detail of frames against the definitions in double precision and against values worked by hand.
#![allow(clippy::unwrap_used)]

mod common;

use common::random;
use ndarray::{Array2, Array3};
use proptest::prelude::*;
use screentest_kernels::detail::{DENSITY_SLOPE, Detail, EDGE_QUANTILE, FrameDetail};
use screentest_kernels::simd::Level;
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range, scan_frame};

const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };

fn measure_at(level: Level, parallel: bool, plane: &Array2<u8>) -> FrameDetail {
    let (height, width) = plane.dim();
    let format = Format::new(width, height, Model::Grey, FULL8).unwrap();
    let detail = Detail::new(format, level).parallel(parallel);
    detail.measure(&Frame::U8(Pixels::Grey(plane.view()))).unwrap()
}

fn measure(plane: &Array2<u8>) -> FrameDetail {
    measure_at(Level::best(), false, plane)
}

/// Blocks of random levels under noise.
fn picture(height: usize, width: usize, seed: u64) -> Array2<u8> {
    let mut next = random(seed);
    let cells = Array2::from_shape_simple_fn((height / 9 + 1, width / 7 + 1), || next() % 200);
    let mut noise = random(seed + 1);
    Array2::from_shape_fn((height, width), |(y, x)| (cells[[y / 9, x / 7]] + noise() % 40) as u8)
}

/// Overshoot, strength, density and texture, by the definitions in double precision.
fn by_definition(plane: &Array2<u8>) -> (f64, f64, f64, Option<f64>) {
    let (height, width) = plane.dim();
    let luma = plane.mapv(|v| f64::from(v) / 255.0);
    let weight = |k: isize| (-0.5 * (k as f64 / 1.2).powi(2)).exp();
    let sum: f64 = (-5..=5).map(weight).sum();
    let at = |i: isize, n: usize| {
        let turn = i.rem_euclid(2 * n as isize) as usize;
        turn.min(2 * n - 1 - turn)
    };
    let smooth = |source: &Array2<f64>, down: isize, across: isize| {
        Array2::from_shape_fn((height, width), |(y, x)| {
            (-5..=5)
                .map(|k: isize| {
                    let row = at(y as isize + k * down, height);
                    let column = at(x as isize + k * across, width);
                    weight(k) / sum * source[[row, column]]
                })
                .sum()
        })
    };
    let blur = smooth(&smooth(&luma, 1, 0), 0, 1);
    let slope = |i: usize, n: usize, value: &dyn Fn(usize) -> f64| match (i, n) {
        (_, 1) => 0.0,
        (0, _) => value(1) - value(0),
        (i, n) if i == n - 1 => value(n - 1) - value(n - 2),
        (i, _) => (value(i + 1) - value(i - 1)) / 2.0,
    };
    let steep = Array2::from_shape_fn((height, width), |(y, x)| {
        let across = slope(x, width, &|i| blur[[y, i]]);
        let down = slope(y, height, &|i| blur[[i, x]]);
        across.hypot(down)
    });
    let mut sorted: Vec<f64> = steep.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let position = EDGE_QUANTILE * (sorted.len() - 1) as f64;
    let (low, fraction) = (position as usize, position.fract());
    let high = sorted[(low + 1).min(sorted.len() - 1)];
    let limit = sorted[low] + (high - sorted[low]) * fraction;
    let (mut band, mut texture) = (Vec::new(), Vec::new());
    for ((y, x), &s) in steep.indexed_iter() {
        let near = steep
            .indexed_iter()
            .any(|((v, u), &s)| s >= limit && v.abs_diff(y) + u.abs_diff(x) <= 2);
        let residue = (luma[[y, x]] - blur[[y, x]]).abs();
        if !near {
            texture.push(residue);
        } else if s < limit {
            band.push(residue);
        }
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let centre = luma.mean().unwrap();
    let std = luma.mapv(|v| (v - centre).powi(2)).mean().unwrap().sqrt();
    let overshoot = if band.is_empty() { 0.0 } else { mean(&band) / std.max(1e-6) };
    let dense = steep.iter().filter(|&&s| s >= DENSITY_SLOPE).count() as f64;
    let texture = (!texture.is_empty()).then(|| mean(&texture));
    (overshoot, limit, dense / steep.len() as f64, texture)
}

/// Single precision blurs to within 2e-7 of full scale; of a flat area that is all there is.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * b.abs() + 2e-7
}

fn agrees(plane: &Array2<u8>) {
    let found = measure(plane);
    let (overshoot, strength, density, texture) = by_definition(plane);
    let size = plane.dim();
    assert!(close(found.overshoot, overshoot), "{size:?}: {found:?}, expected {overshoot}");
    assert!(close(found.edge_strength, strength), "{size:?}: {found:?}, expected {strength}");
    assert!((found.edge_density - density).abs() < 1e-9, "{size:?}: {found:?}, not {density}");
    assert_eq!(found.texture_residual.is_some(), texture.is_some(), "{size:?}: {found:?}");
    if let (Some(a), Some(b)) = (found.texture_residual, texture) {
        assert!(close(a, b), "{size:?}: {found:?}, expected {b}");
    }
}

#[test]
fn frames_of_many_sizes_follow_the_definition() {
    // On both sides of the bands' ends, of a vector, and of the blur.
    for (height, width) in
        [(89, 40), (90, 33), (91, 17), (180, 5), (6, 70), (5, 5), (3, 9), (2, 2), (1, 30), (30, 1)]
    {
        agrees(&picture(height, width, (height * width) as u64));
    }
}

#[test]
fn a_step_has_the_slope_and_the_residue_of_the_gaussian() {
    // Columns 0 to 31 are 0, the others 200 of 255. Of 64 columns two are the steepest, beside the
    // step, with the same slope; with 32 rows the twentieth is 102 pixels, so it reaches past their
    // 64 into the next two columns, whose slope is then the quantile.
    let plane = Array2::from_shape_fn((32, 64), |(_, x)| if x < 32 { 0 } else { 200 });
    let found = measure(&plane);
    let weight = |k: i32| (-0.5 * (f64::from(k) / 1.2).powi(2)).exp();
    let sum: f64 = (-5..=5).map(weight).sum();
    let height = 200.0 / 255.0;
    // Central difference of the blurred step, one column off its middle: half of two weights.
    let slope = |column: i32| height * (weight(column) + weight(column + 1)) / sum / 2.0;
    assert!(close(found.edge_strength, slope(1)), "{found:?}, expected {}", slope(1));
    // Columns 30 to 33 are edges, 28, 29, 34 and 35 the band: the residue of the third column off
    // the step is the tail of the kernel from 3 on, that of the fourth from 4 on.
    let tail = |from: i32| (from..=5).map(weight).sum::<f64>() / sum * height;
    let std = height / 2.0;
    assert_eq!(found.band_pixels, 4 * 32);
    assert!(close(found.overshoot, (tail(3) + tail(4)) / 2.0 / std), "{found:?}");
    // Texture begins at the fifth column off the step, where one weight is left.
    let texture = 2.0 * tail(5) / 56.0;
    assert!(close(found.texture_residual.unwrap(), texture), "{found:?}, expected {texture}");
    // Slopes of 0.02 and more: the columns whose two weights reach it.
    let columns = (0..5).filter(|&k| slope(k) >= DENSITY_SLOPE).count();
    assert_eq!(found.edge_density, 2.0 * columns as f64 / 64.0);
}

#[test]
fn a_flat_frame_is_all_edge_and_has_no_band() {
    for level in [0, 119, 255] {
        let found = measure(&Array2::from_elem((40, 50), level));
        assert_eq!((found.overshoot, found.edge_strength, found.edge_density), (0.0, 0.0, 0.0));
        assert_eq!((found.band_pixels, found.texture_residual, found.luma_std), (0, None, 0.0));
    }
}

#[test]
fn dispatch_levels_and_threads_agree_bit_for_bit() {
    for (height, width) in [(190, 75), (91, 321), (7, 13)] {
        let plane = picture(height, width, 3);
        let expected = measure_at(Level::Baseline, false, &plane);
        for &level in Level::available() {
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| measure_at(level, threads > 1, &plane));
                assert_eq!(found, expected, "{} with {threads} threads", level.name());
            }
        }
    }
}

#[test]
fn a_kernel_used_again_gives_what_a_new_one_does() {
    let format = Format::new(40, 100, Model::Grey, FULL8).unwrap();
    let kernel = Detail::new(format, Level::best());
    for seed in 0..4 {
        let plane = picture(100, 40, seed);
        let found = kernel.measure(&Frame::U8(Pixels::Grey(plane.view()))).unwrap();
        assert_eq!(found, measure(&plane));
    }
}

#[test]
fn rgb_and_float_read_as_the_same_luma() {
    let plane = picture(60, 50, 9);
    let grey = measure(&plane);
    let rgb = Array3::from_shape_fn((60, 50, 3), |(y, x, _)| plane[[y, x]]);
    let format = Format::new(50, 60, Model::Rgb, FULL8).unwrap();
    let found =
        Detail::new(format, Level::best()).measure(&Frame::U8(Pixels::Packed(rgb.view()))).unwrap();
    assert!(close(found.overshoot, grey.overshoot), "{found:?} {grey:?}");
    let float = plane.mapv(|v| f32::from(v) / 255.0);
    let range = Range::Float { low: 0.0, high: 1.0 };
    let format = Format::new(50, 60, Model::Grey, range).unwrap();
    let found = Detail::new(format, Level::best())
        .measure(&Frame::F32(Pixels::Grey(float.view())))
        .unwrap();
    assert!(close(found.overshoot, grey.overshoot), "{found:?} {grey:?}");
}

#[test]
fn non_finite_samples_are_counted_and_do_no_harm() {
    let mut float = Array2::from_shape_fn((20, 20), |(y, x)| (x * y) as f32 / 400.0);
    float[[3, 4]] = f32::NAN;
    float[[5, 6]] = f32::INFINITY;
    let range = Range::Float { low: 0.0, high: 1.0 };
    let format = Format::new(20, 20, Model::Grey, range).unwrap();
    let frame = Frame::F32(Pixels::Grey(float.view()));
    let found = Detail::new(format.clone(), Level::best()).measure(&frame).unwrap();
    assert_eq!(found.scan.non_finite, 2);
    assert!(found.overshoot.is_finite() && found.edge_strength.is_finite());
    assert_eq!(scan_frame(&format, &frame, Level::best()).unwrap(), found.scan);
}

#[test]
fn plane_of_another_size_is_refused() {
    let format = Format::new(20, 20, Model::Grey, FULL8).unwrap();
    let plane = Array2::from_elem((20, 21), 0_u8);
    let frame = Frame::U8(Pixels::Grey(plane.view()));
    let expected = Error::PlaneSize { plane: 0, expected: (20, 20), given: (20, 21) };
    assert_eq!(scan_frame(&format, &frame, Level::best()), Err(expected.clone()));
    assert_eq!(Detail::new(format, Level::best()).measure(&frame), Err(expected));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_small_frame_follows_the_definition(
        height in 1_usize..24, width in 1_usize..40, seed in 0_u64..1000,
    ) {
        agrees(&picture(height, width, seed));
    }

    #[test]
    fn two_valued_frames_with_many_equal_slopes_do_not_panic(
        height in 1_usize..30, width in 1_usize..30, bits in any::<u64>(),
    ) {
        let plane =
            Array2::from_shape_fn((height, width), |(y, x)| ((bits >> ((y * 7 + x) % 64)) & 1) as u8 * 255);
        let found = measure(&plane);
        prop_assert!(found.overshoot >= 0.0 && found.overshoot < 10.0);
        prop_assert!((0.0..=1.0).contains(&found.edge_density));
    }
}
