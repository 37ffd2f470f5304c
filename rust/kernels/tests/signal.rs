//! The signal family against numbers worked out by hand and invariances that must hold.
#![allow(clippy::unwrap_used)]

mod common;

use common::{noise, noise_rgb};
use half::f16;
use ndarray::{Array2, Array3, s};
use proptest::prelude::*;
use screentest_kernels::signal::{Features, FrameSignal, Signal};
use screentest_kernels::simd::Level;
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range};

const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };

fn format(width: usize, height: usize, model: Model, range: Range) -> Format {
    Format::new(width, height, model, range).unwrap()
}

fn grey8(width: usize, height: usize) -> Format {
    format(width, height, Model::Grey, FULL8)
}

fn greys(planes: &[Array2<u8>]) -> Vec<Frame<'_>> {
    planes.iter().map(|p| Frame::U8(Pixels::Grey(p.view()))).collect()
}

fn packed(frames: &[Array3<u8>]) -> Vec<Frame<'_>> {
    frames.iter().map(|f| Frame::U8(Pixels::Packed(f.view()))).collect()
}

fn measure(format: &Format, frames: &[Frame<'_>]) -> Vec<FrameSignal> {
    let mut signal = Signal::new(format.clone(), Level::best(), true);
    signal.push_many(frames, 1).unwrap();
    signal.frames().to_vec()
}

fn features(of: &FrameSignal) -> Features {
    of.features.unwrap()
}

#[test]
fn one_bright_pixel_by_hand() {
    // 5x5 black with 90/255 in the middle. The Laplacian over the 3x3 interior is -360 in the middle
    // and 90 on its four sides: mean 0, so its variance is (360^2 + 4 * 90^2) / 9 = 18000.
    let mut plane = Array2::<u8>::zeros((5, 5));
    plane[[2, 2]] = 90;
    let found = measure(&grey8(5, 5), &greys(&[plane]))[0];
    assert_eq!(found.luma_mean, 90.0 / 255.0 / 25.0);
    let value = features(&found);
    assert!((value.laplacian_variance.unwrap() - 18_000.0).abs() < 1e-9);
    // Less its 3x3 mean the middle is 80 and each of its eight neighbours -10.
    assert!((value.highpass - 160.0 / 25.0 / 255.0).abs() < 1e-15);
    // Two values, 24 and 1 of 25: -0.96 log2 0.96 - 0.04 log2 0.04.
    assert!((value.entropy - 0.242_292_189_082).abs() < 1e-11);
    assert_eq!(value.saturation, 0.0);
}

#[test]
fn a_column_pattern_of_two_pixels_has_all_its_energy_high() {
    let plane = Array2::from_shape_fn((32, 32), |(_, x)| if x % 2 == 0 { 0 } else { 200 });
    assert_eq!(features(&measure(&grey8(32, 32), &greys(&[plane]))[0]).hf_ratio, 1.0);
}

#[test]
fn a_pattern_of_exactly_a_quarter_cycle_is_not_high() {
    let plane = Array2::from_shape_fn((32, 32), |(y, _)| if y % 4 < 2 { 0 } else { 200 });
    // A square wave of period 4 has its fundamental at a quarter and nothing above it but the
    // (absent) even harmonics: all of it is at a quarter, which is not above a quarter.
    assert!(features(&measure(&grey8(32, 32), &greys(&[plane]))[0]).hf_ratio < 1e-12);
}

#[test]
fn high_frequencies_of_noise_are_the_share_of_the_half_plane_outside_the_quarter_circle() {
    // White noise has equal energy in every bin but the first; of the half plane a quarter-radius
    // half disc of pi / 8 / (1 / 2) is low.
    let share = features(&measure(&grey8(512, 512), &greys(&[noise(512, 512, 3)]))[0]).hf_ratio;
    let expected = 1.0 - std::f64::consts::PI / 16.0;
    assert!((share - expected).abs() < 0.005, "{share} {expected}");
}

#[test]
fn saturation_is_the_mean_spread_of_the_channels() {
    let mut frame = Array3::<u8>::zeros((2, 2, 3));
    frame.slice_mut(s![0, 0, ..]).assign(&ndarray::arr1(&[255, 0, 51]));
    frame.slice_mut(s![1, 1, ..]).assign(&ndarray::arr1(&[10, 112, 61]));
    let format = format(2, 2, Model::Rgb, FULL8);
    let found = features(&measure(&format, &packed(&[frame]))[0]);
    assert!((found.saturation - (255.0 + 102.0) / 4.0 / 255.0).abs() < 1e-15);
    assert_eq!(found.laplacian_variance, None, "no pixel of 2x2 has four neighbours");
}

#[test]
fn changes_of_three_flat_frames_by_hand() {
    let planes = [10, 40, 50].map(|v| Array2::<u8>::from_elem((8, 12), v));
    let found = measure(&grey8(12, 8), &greys(&planes));
    let motion: Vec<_> = found.iter().map(|f| f.motion).collect();
    assert_eq!(motion, [None, Some(30.0 / 255.0), Some(10.0 / 255.0)]);
    // |50 - 80 + 10| = 20.
    let acceleration: Vec<_> = found.iter().map(|f| f.acceleration).collect();
    assert_eq!(acceleration, [None, None, Some(20.0 / 255.0)]);
    assert_eq!(features(&found[1]).shimmer, Some(0.0));
    assert_eq!(features(&found[2]).highpass, 0.0);
    assert_eq!((features(&found[2]).hf_ratio, features(&found[2]).entropy), (0.0, 0.0));
    assert_eq!(found[2].luma_std, 0.0);
}

#[test]
fn cells_are_the_means_of_the_sixteen_parts() {
    let plane = Array2::from_shape_fn((9, 10), |(y, x)| (10 * (y * 4 / 9) + x * 4 / 10) as u8);
    let found = measure(&grey8(10, 9), &greys(std::slice::from_ref(&plane)))[0];
    for row in 0..4 {
        for column in 0..4 {
            let rows = row * 9 / 4..(row + 1) * 9 / 4;
            let columns = column * 10 / 4..(column + 1) * 10 / 4;
            let part = plane.slice(s![rows, columns]).mapv(f64::from);
            let expected = (part.mean().unwrap() / 255.0) as f32;
            assert_eq!(found.cells[row][column], expected, "cell {row} {column}");
        }
    }
}

#[test]
fn shimmer_and_high_pass_of_noise_equal_plain_loops() {
    let planes = [noise(37, 21, 1), noise(37, 21, 2)];
    let found = measure(&grey8(37, 21), &greys(&planes));
    let passed = |plane: &Array2<u8>| {
        Array2::from_shape_fn((21, 37), |(y, x)| {
            let mut sum = 0.0;
            for dy in -1..=1_isize {
                for dx in -1..=1_isize {
                    let at = |i: usize, d: isize, n: usize| {
                        (i as isize + d).clamp(0, n as isize - 1) as usize
                    };
                    sum += f64::from(plane[[at(y, dy, 21), at(x, dx, 37)]]);
                }
            }
            f64::from(plane[[y, x]]) - sum / 9.0
        })
    };
    let (a, b) = (passed(&planes[0]), passed(&planes[1]));
    let mean = |values: Array2<f64>| values.mapv(f64::abs).mean().unwrap() / 255.0;
    assert!((features(&found[1]).highpass - mean(b.clone())).abs() < 1e-12);
    assert!((features(&found[1]).shimmer.unwrap() - mean(b - a)).abs() < 1e-12);
}

#[test]
fn a_nan_is_refused_with_its_place_and_nothing_is_kept() {
    let mut bad = Array3::<f32>::from_elem((6, 5, 3), 0.5);
    let good = bad.clone();
    bad[[4, 2, 1]] = f32::NAN;
    let range = Range::Float { low: 0.0, high: 1.0 };
    let mut signal = Signal::new(format(5, 6, Model::Rgb, range), Level::best(), true);
    signal.push_many(&[Frame::F32(Pixels::Packed(good.view()))], 1).unwrap();
    let batch = [&good, &bad].map(|f| Frame::F32(Pixels::Packed(f.view())));
    let refused = signal.push_many(&batch, 1);
    assert_eq!(refused, Err(Error::NonFinite { frame: 2, row: 4, column: 2 }));
    assert_eq!(signal.frames().len(), 1);
}

#[test]
fn out_of_range() {
    let good = Array3::<f32>::from_elem((6, 5, 3), 0.5);
    let mut bad = good.clone();
    bad[[1, 3, 0]] = 7.0;
    let range = Range::Float { low: 0.0, high: 1.0 };
    let mut signal = Signal::new(format(5, 6, Model::Rgb, range), Level::best(), true);
    signal.push_many(&[Frame::F32(Pixels::Packed(good.view()))], 1).unwrap();
    let batch = [&good, &bad, &good].map(|f| Frame::F32(Pixels::Packed(f.view())));
    let refused = signal.push_many(&batch, 1);
    assert_eq!(refused, Err(Error::OutOfRange { frame: 2, low: 0.5, high: 7.0 }));
    assert_eq!(
        (signal.frames().len(), signal.extremes()),
        (1, Some((0.5, 0.5))),
        "nothing is kept"
    );
    signal.push_many(&batch[..1], 1).unwrap();
    assert_eq!(signal.frames()[1].motion, Some(0.0));
}

#[test]
fn ten_bits_that_are_more_are_out_of_range() {
    let plane = Array2::<u16>::from_elem((4, 4), 1024);
    let ten = format(4, 4, Model::Grey, Range::Full { bit_depth: 10, shift: 0 });
    let refused = Signal::new(ten, Level::best(), false)
        .push_many(&[Frame::U16(Pixels::Grey(plane.view()))], 1);
    assert_eq!(refused, Err(Error::OutOfRange { frame: 0, low: 0.0, high: 1024.0 }));
}

/// Every sum at its largest: a checkerboard at full swing, inverted from frame to frame, in luma of
/// 20 bits, on the longest rows and columns that there are.
#[test]
fn a_checkerboard_that_inverts_fits_the_sums_of_the_longest_rows_and_columns() {
    let float = Range::Float { low: 0.0, high: 1.0 };
    for (width, height) in [(65_536, 1), (1, 65_536), (65_536, 3), (3, 65_536)] {
        let board = |odd: usize| {
            Array2::from_shape_fn((height, width), |(y, x)| ((x + y + odd) % 2) as f32)
        };
        let boards = [board(0), board(1), board(2)];
        let frames: Vec<_> = boards.iter().map(|b| Frame::F32(Pixels::Grey(b.view()))).collect();
        let found = measure(&format(width, height, Model::Grey, float), &frames)[2];
        assert_eq!((found.luma_mean, found.luma_std), (0.5, 0.5));
        assert_eq!((found.motion, found.acceleration), (Some(1.0), Some(2.0)));
        let value = features(&found);
        // Inside, all four neighbours are the other colour: 4 * 255, of either sign. An even number
        // of columns, or of rows, has as many of the one as of the other.
        let inside = width.min(height) > 2;
        assert_eq!(value.laplacian_variance, inside.then_some(1020.0 * 1020.0));
        // Of the nine pixels of the mean, with the edge repeated: one row has 6 of the other colour,
        // 3 at its two ends; three rows have 4 inside, 5 at an edge, 4 in a corner.
        let long = width.max(height) as f64;
        let others = if inside {
            (long - 2.0) * (4.0 + 2.0 * 5.0) + 2.0 * (5.0 + 2.0 * 4.0)
        } else {
            (long - 2.0) * 6.0 + 2.0 * 3.0
        };
        let mean = others / 9.0 / (width * height) as f64;
        assert!((value.highpass - mean).abs() < 1e-12, "{width}x{height} {}", value.highpass);
        assert!((value.shimmer.unwrap() - 2.0 * mean).abs() < 1e-12);
        assert!((value.hf_ratio - 1.0).abs() < 1e-6);
        assert_eq!((value.entropy, value.saturation), (1.0, 0.0));
    }
}

#[test]
fn integers_and_floats_of_one_picture_agree() {
    let frames = [noise_rgb(33, 18, 5), noise_rgb(33, 18, 6), noise_rgb(33, 18, 7)];
    let plain = measure(&format(33, 18, Model::Rgb, FULL8), &packed(&frames));
    let range = Range::Float { low: 0.0, high: 1.0 };
    let floats = frames.each_ref().map(|f| f.mapv(|v| f32::from(v) / 255.0));
    let halves = frames.each_ref().map(|f| f.mapv(|v| f16::from_f32(f32::from(v) / 255.0)));
    let wide = frames.each_ref().map(|f| f.mapv(|v| u16::from(v) * 257));
    let as_f32: Vec<_> = floats.iter().map(|f| Frame::F32(Pixels::Packed(f.view()))).collect();
    let as_f16: Vec<_> = halves.iter().map(|f| Frame::F16(Pixels::Packed(f.view()))).collect();
    let as_u16: Vec<_> = wide.iter().map(|f| Frame::U16(Pixels::Packed(f.view()))).collect();
    let full16 = Range::Full { bit_depth: 16, shift: 0 };
    for (other, tolerance) in [
        (measure(&format(33, 18, Model::Rgb, range), &as_f32), 1e-5),
        (measure(&format(33, 18, Model::Rgb, range), &as_f16), 2e-3),
        (measure(&format(33, 18, Model::Rgb, full16), &as_u16), 1e-5),
    ] {
        for (a, b) in plain.iter().zip(&other) {
            let numbers = |f: &FrameSignal| {
                let g = features(f);
                [
                    f.luma_mean,
                    f.luma_std,
                    f.motion.unwrap_or(0.5),
                    f.acceleration.unwrap_or(0.5),
                    g.laplacian_variance.unwrap() / 1e4,
                    g.hf_ratio,
                    g.saturation,
                    g.highpass,
                ]
            };
            for (a, b) in numbers(a).into_iter().zip(numbers(b)) {
                assert!((a - b).abs() < tolerance, "{a} {b}");
            }
        }
    }
}

#[test]
fn every_format_is_measured_at_every_small_size() {
    let range = Range::Limited { bit_depth: 8, shift: 0 };
    for (width, height) in [(1, 1), (1, 7), (5, 1), (2, 3), (3, 3), (17, 4), (31, 33)] {
        let model = Model::Yuv { kr: 0.2126, kb: 0.0722, chroma_shift: (1, 1) };
        let format = format(width, height, model, range);
        let planes = |seed| {
            let chroma = (width.div_ceil(2), height.div_ceil(2));
            [
                noise(width, height, seed),
                noise(chroma.0, chroma.1, seed + 1),
                noise(chroma.0, chroma.1, seed + 2),
            ]
        };
        let clip: Vec<_> = (0..4).map(|t| planes(10 * t)).collect();
        let frames: Vec<_> = clip
            .iter()
            .map(|p| Frame::U8(Pixels::Planar(p.each_ref().map(|plane| plane.view()))))
            .collect();
        let found = measure(&format, &frames);
        assert_eq!(found.len(), 4);
        for frame in found {
            let value = features(&frame);
            assert_eq!(value.laplacian_variance.is_some(), width > 2 && height > 2);
            assert!((0.0..=1.0).contains(&value.hf_ratio), "{width}x{height} {}", value.hf_ratio);
            assert!((0.0..=6.0).contains(&value.entropy));
            assert!(frame.luma_std.is_finite() && value.highpass.is_finite());
        }
    }
}

#[test]
fn the_light_pass_gives_the_same_luma_numbers() {
    let frames = [1, 2, 3, 4].map(|seed| noise_rgb(70, 50, seed));
    let format = format(70, 50, Model::Rgb, FULL8);
    let mut light = Signal::new(format.clone(), Level::best(), false);
    light.push_many(&packed(&frames), 1).unwrap();
    for (full, light) in measure(&format, &packed(&frames)).iter().zip(light.frames()) {
        assert_eq!(FrameSignal { features: None, ..*full }, *light);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn levels_threads_and_batches_agree_bit_for_bit(
        width in 1_usize..90,
        height in 1_usize..90,
        seed in any::<u64>(),
        cuts in proptest::collection::vec(1_usize..4, 1..4),
    ) {
        let frames: Vec<_> = (0..5).map(|t| noise_rgb(width, height, seed ^ t)).collect();
        let format = Format::new(width, height, Model::Rgb, FULL8).unwrap();
        let expected = measure(&format, &packed(&frames));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for &level in Level::available() {
            for threads in [1, 3] {
                let mut signal = Signal::new(format.clone(), level, true);
                let mut rest = &frames[..];
                for &cut in cuts.iter().cycle() {
                    let (batch, after) = rest.split_at(cut.min(rest.len()));
                    pool.install(|| signal.push_many(&packed(batch), threads)).unwrap();
                    rest = after;
                    if rest.is_empty() {
                        break;
                    }
                }
                // As text, in which a NaN (a cell without a pixel) equals itself.
                prop_assert_eq!(format!("{:?}", signal.frames()), format!("{expected:?}"));
            }
        }
    }
}
