//! The integrity family against numbers worked out by hand and invariances that must hold.
#![allow(clippy::unwrap_used)]

mod common;

use common::{noise, noise_rgb, random};
use half::f16;
use ndarray::{Array2, Array3, s};
use proptest::prelude::*;
use screentest_kernels::integrity::{
    ALIGN_BELOW, Ask, Axis, CONFIRM_BELOW, Integrity, Item, Step, decimation,
};
use screentest_kernels::simd::Level;
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range};

const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };
const LIMITED8: Range = Range::Limited { bit_depth: 8, shift: 0 };
const BT709: (f64, f64) = (0.2126, 0.0722);
const EVERYTHING: Ask = Ask { grid: true, align: true, change: true };

fn rgb8(width: usize, height: usize) -> Format {
    Format::new(width, height, Model::Rgb, FULL8).unwrap()
}

fn grey8(width: usize, height: usize) -> Format {
    Format::new(width, height, Model::Grey, FULL8).unwrap()
}

fn yuv(width: usize, height: usize, (kr, kb): (f64, f64), range: Range) -> Format {
    let model = Model::Yuv { kr, kb, chroma_shift: (1, 1) };
    Format::new(width, height, model, range).unwrap()
}

fn grey(plane: &Array2<u8>) -> Frame<'_> {
    Frame::U8(Pixels::Grey(plane.view()))
}

fn packed(frame: &Array3<u8>) -> Frame<'_> {
    Frame::U8(Pixels::Packed(frame.view()))
}

fn pair_at<'a>(level: Level, format: &Format, a: &Frame<'a>, b: &Frame<'a>, ask: Ask) -> Integrity {
    let mut integrity = Integrity::new(format.clone(), level);
    integrity.push(0, a, None, ask).unwrap();
    integrity.push(1, b, Some(a), ask).unwrap();
    integrity
}

fn step<'a>(format: &Format, a: &Frame<'a>, b: &Frame<'a>) -> Step {
    pair_at(Level::best(), format, a, b, EVERYTHING).steps()[1].unwrap()
}

/// Everything that was measured, to the last bit.
fn facts(integrity: &Integrity) -> String {
    let frames: Vec<usize> = integrity.stills().iter().map(|s| s.index).collect();
    let bits = |v: f64| v.to_bits();
    let stills: Vec<_> = integrity
        .stills()
        .iter()
        .map(|s| {
            [s.luma_mean, s.luma_std, s.luma_min, s.luma_max, s.rgb[0], s.rgb[1], s.rgb[2]]
                .map(bits)
        })
        .collect();
    let steps: Vec<_> = integrity
        .steps()
        .iter()
        .map(|s| s.map(|s| (s.corr.to_bits(), s.corr_aligned.map(bits), s.change.map(bits))))
        .collect();
    let grid = integrity.grid(&frames).unwrap().map(|g| {
        [g.peak, g.repeated].map(|line| {
            let numbers = [line.ratio, line.period_px, line.phase_px, line.amplitude_levels];
            (numbers.map(bits), line.axis)
        })
    });
    format!("{stills:?} {steps:?} {grid:?} {:?}", integrity.scan())
}

// ------------------------------------------------------------------------------ worked by hand

#[test]
fn two_by_two_correlation_is_four_fifths() {
    // Means 25 and 25; deviations (-15 -5 5 15) and (-15 5 -5 15): 400 / 500.
    let a = ndarray::array![[10_u8, 20], [30, 40]];
    let b = ndarray::array![[10_u8, 30], [20, 40]];
    let got = step(&grey8(2, 2), &grey(&a), &grey(&b));
    assert!((got.corr - 0.8).abs() < 1e-15, "{got:?}");
}

#[test]
fn a_frame_and_its_negative_correlate_at_minus_one() {
    let a = noise(40, 30, 1);
    let b = a.mapv(|v| 255 - v);
    assert_eq!(step(&grey8(40, 30), &grey(&a), &grey(&b)).corr, -1.0);
    assert_eq!(step(&grey8(40, 30), &grey(&a), &grey(&a)).corr, 1.0);
}

#[test]
fn a_flat_frame_correlates_at_zero_and_has_no_deviation() {
    let (a, b) = (Array2::from_elem((20, 20), 119_u8), noise(20, 20, 2));
    let integrity = pair_at(Level::best(), &grey8(20, 20), &grey(&a), &grey(&b), EVERYTHING);
    assert_eq!(integrity.stills()[0].luma_std, 0.0);
    assert_eq!(integrity.stills()[0].luma_mean, 119.0 / 255.0);
    assert_eq!(integrity.steps()[1].unwrap().corr, 0.0);
}

#[test]
fn a_checkerboard_deviates_by_one_half() {
    let a = Array2::from_shape_fn((8, 8), |(y, x)| if (x + y) % 2 == 0 { 0_u8 } else { 255 });
    let integrity = pair_at(Level::best(), &grey8(8, 8), &grey(&a), &grey(&a), EVERYTHING);
    assert_eq!(integrity.stills()[0].luma_std, 0.5);
}

#[test]
fn luma_weighs_red_green_and_blue_by_bt601() {
    for (channel, weight) in [0.299, 0.587, 0.114].into_iter().enumerate() {
        let mut frame = Array3::<u8>::zeros((4, 4, 3));
        frame.slice_mut(s![.., .., channel]).fill(255);
        let integrity =
            pair_at(Level::best(), &rgb8(4, 4), &packed(&frame), &packed(&frame), EVERYTHING);
        let still = integrity.stills()[0];
        assert!((still.luma_mean - weight).abs() < 1e-12);
        let rgb: [f64; 3] = std::array::from_fn(|c| if c == channel { 1.0 } else { 0.0 });
        assert_eq!(still.rgb, rgb);
    }
}

#[test]
fn limited_range_black_and_white_are_zero_and_one_at_every_depth() {
    for bit_depth in [8_u32, 10, 12] {
        let range = Range::Limited { bit_depth, shift: 0 };
        let unit = 1_u16 << (bit_depth - 8);
        for matrix in [(0.299, 0.114), BT709] {
            for (code, luma) in [(16, 0.0), (235, 1.0), (0, 0.0), (255, 1.0)] {
                let y = Array2::from_elem((4, 4), code * unit);
                let c = Array2::from_elem((2, 2), 128 * unit);
                let frame = Frame::U16(Pixels::Planar([y.view(), c.view(), c.view()]));
                let format = yuv(4, 4, matrix, range);
                let integrity = pair_at(Level::best(), &format, &frame, &frame, EVERYTHING);
                assert_eq!(integrity.stills()[0].luma_mean, luma, "{bit_depth} {code}");
            }
        }
    }
}

#[test]
fn bt709_red_has_the_luma_of_bt601_red() {
    // Full-range 709 red: Y .2126, Cb -.1146, Cr .5, rounded to 8 bits: half a level each.
    let y = Array2::from_elem((4, 4), 54_u8);
    let cb = Array2::from_elem((2, 2), 99_u8);
    let cr = Array2::from_elem((2, 2), 255_u8);
    let frame = Frame::U8(Pixels::Planar([y.view(), cb.view(), cr.view()]));
    let integrity = pair_at(Level::best(), &yuv(4, 4, BT709, FULL8), &frame, &frame, EVERYTHING);
    let still = integrity.stills()[0];
    assert!((still.luma_mean - 0.299).abs() < 1.5 / 255.0, "{still:?}");
    assert!((still.rgb[0] - 1.0).abs() < 2.0 / 255.0 && still.rgb[1] < 0.02 && still.rgb[2] < 0.02);
}

#[test]
fn one_pixel_of_sixteen_levels_changes_its_run_by_one() {
    let a = Array2::<u8>::zeros((4, 40));
    let mut b = a.clone();
    b[[2, 17]] = 16;
    let change = step(&grey8(40, 4), &grey(&a), &grey(&b)).change;
    assert_eq!(change, Some(1.0));
    // The last run has 8 pixels.
    let mut c = a.clone();
    c[[2, 39]] = 4;
    assert_eq!(step(&grey8(40, 4), &grey(&a), &grey(&c)).change, Some(0.5));
}

#[test]
fn a_change_between_the_fixed_rows_is_confirmed_in_full() {
    // 192 rows are decimated by 2; row 1 is on no fixed row.
    let a = noise(32, 192, 3);
    let mut b = a.clone();
    b[[1, 0]] ^= 128;
    assert_eq!(decimation(192), 2);
    let change = step(&grey8(32, 192), &grey(&a), &grey(&b)).change;
    assert_eq!(change, Some(8.0));
}

#[test]
fn chroma_alone_is_a_change() {
    let y = Array2::from_elem((4, 32), 100_u8);
    let c = Array2::from_elem((2, 16), 128_u8);
    let d = Array2::from_elem((2, 16), 131_u8);
    let format = yuv(32, 4, (0.299, 0.114), LIMITED8);
    let a = Frame::U8(Pixels::Planar([y.view(), c.view(), c.view()]));
    let b = Frame::U8(Pixels::Planar([y.view(), c.view(), d.view()]));
    assert_eq!(step(&format, &a, &b).change, Some(3.0));
}

#[test]
fn ten_bit_changes_are_counted_in_eight_bit_levels() {
    let range = Range::Full { bit_depth: 10, shift: 6 };
    let format = Format::new(16, 2, Model::Grey, range).unwrap();
    let a = Array2::from_elem((2, 16), 0_u16);
    let b = Array2::from_elem((2, 16), 1023_u16 << 6);
    let (a, b) = (Frame::U16(Pixels::Grey(a.view())), Frame::U16(Pixels::Grey(b.view())));
    assert!((step(&format, &a, &b).change.unwrap() - 255.0).abs() < 1e-12);
}

#[test]
fn lattice_lines_are_found_where_they_lie() {
    for (period, first) in [(16, 3), (8, 0), (12, 7)] {
        let line = |i: usize| if i % period == first { 20 } else { 0 };
        let base = noise(640, 600, 4).mapv(|v| v / 8);
        for axis in [Axis::X, Axis::Y] {
            let frame = Array2::from_shape_fn((600, 640), |(y, x)| {
                base[[y, x]] + line(if axis == Axis::X { x } else { y })
            });
            let frame = grey(&frame);
            let ask = Ask { grid: true, ..Ask::default() };
            let integrity = pair_at(Level::best(), &grey8(640, 600), &frame, &frame, ask);
            let grid = integrity.grid(&[0]).unwrap().unwrap().peak;
            assert_eq!(grid.axis, axis);
            assert!(grid.ratio > 6.0, "{grid:?}");
            // A period of n / k is quantised; so is the phase that follows from it.
            assert!((grid.period_px - period as f64).abs() < 0.7, "{grid:?}");
            let distance = (grid.phase_px - first as f64).rem_euclid(grid.period_px);
            assert!(distance.min(grid.period_px - distance) < 0.25 * period as f64, "{grid:?}");
        }
    }
}

#[test]
fn the_amplitude_of_a_lattice_is_that_of_its_gradients_cosine() {
    // Lines of 32 levels every 16 px on black: the mean gradient is 32 at two neighbouring places
    // of each period, whose m-th harmonic is (2 / 16) 32 * 2 cos(m pi / 16).
    let frame = Array2::from_shape_fn((16, 1025), |(_, x)| if x % 16 == 8 { 32 } else { 0 });
    let frame = grey(&frame);
    let ask = Ask { grid: true, ..Ask::default() };
    let integrity = pair_at(Level::best(), &grey8(1025, 16), &frame, &frame, ask);
    let line = integrity.grid(&[0]).unwrap().unwrap().peak;
    let harmonic = 16.0 / line.period_px;
    assert!(harmonic == 1.0 || harmonic == 2.0);
    let expected = 2.0 / 16.0 * 32.0 * 2.0 * (harmonic * std::f64::consts::PI / 16.0).cos();
    assert!((line.amplitude_levels / expected - 1.0).abs() < 1e-2, "{line:?} {expected}");
}

#[test]
fn a_period_that_fits_seven_times_is_a_peak_but_not_repeated() {
    let wave = |x: usize| (128.0 + 100.0 * (x as f64 * std::f64::consts::TAU / 160.0).sin()) as u8;
    let base = noise(561, 40, 25).mapv(|v| v / 64);
    let frame = Array2::from_shape_fn((40, 561), |(y, x)| wave(x) + base[[y, x]]);
    let frame = grey(&frame);
    let ask = Ask { grid: true, ..Ask::default() };
    let integrity = pair_at(Level::best(), &grey8(561, 40), &frame, &frame, ask);
    let grid = integrity.grid(&[0]).unwrap().unwrap();
    // |gradient| of a 160 px wave repeats every 80 px: seven times over 560.
    assert_eq!(grid.peak.period_px, 80.0);
    assert!(grid.peak.ratio > 6.0 && grid.repeated.ratio < grid.peak.ratio, "{grid:?}");
    assert!(grid.repeated.period_px <= 70.0);
}

#[test]
fn a_side_of_511_pixels_has_no_lattice() {
    let frame = noise(511, 300, 5);
    let frame = grey(&frame);
    let integrity = pair_at(Level::best(), &grey8(511, 300), &frame, &frame, EVERYTHING);
    assert_eq!(integrity.grid(&[0, 1]), Ok(None));
}

#[test]
fn noise_stays_uncorrelated_after_the_best_shift() {
    for (width, height) in [(512, 256), (176, 144), (1344, 768)] {
        let (a, b) = (noise(width, height, 6), noise(width, height, 7));
        let got = step(&grey8(width, height), &grey(&a), &grey(&b));
        assert!(got.corr.abs() < 0.05 && got.corr_aligned.unwrap() < 0.1, "{got:?}");
    }
}

/// Noise averaged over 3 x 3 pixels: texture that a decimation cannot follow.
fn texture(width: usize, height: usize, seed: u64) -> Array2<u8> {
    let raw = noise(width + 2, height + 2, seed);
    Array2::from_shape_fn((height, width), |(y, x)| {
        let sum: u32 = raw.slice(s![y..y + 3, x..x + 3]).iter().map(|&v| u32::from(v)).sum();
        (sum / 9) as u8
    })
}

#[test]
fn a_pan_of_fine_texture_correlates_after_the_shift_is_found() {
    for (width, height, dx, dy) in [(480, 360, 2, 0), (1280, 720, 5, 3), (640, 480, 7, -4_isize)] {
        let big = texture(width + 20, height + 20, 8);
        let a = big.slice(s![10..10 + height, 10..10 + width]).to_owned();
        let (top, left) = ((10 + dy) as usize, 10 + dx);
        let b = big.slice(s![top..top + height, left..left + width]).to_owned();
        let got = step(&grey8(width, height), &grey(&a), &grey(&b));
        assert!(got.corr < 0.6, "the plain correlation is fooled: {got:?}");
        assert!(got.corr_aligned.unwrap() > 0.95, "{got:?}");
    }
}

#[test]
fn a_well_correlated_pair_is_not_searched() {
    let a = texture(64, 64, 9);
    let b = a.mapv(|v| v / 2 + 10);
    let got = step(&grey8(64, 64), &grey(&a), &grey(&b));
    assert!(got.corr >= ALIGN_BELOW);
    assert_eq!(got.corr_aligned, Some(got.corr));
}

#[test]
fn non_finite_samples_are_counted_and_located() {
    let format = Format::new(20, 70, Model::Rgb, Range::Float { low: 0.0, high: 1.0 }).unwrap();
    let mut frame = Array3::from_elem((70, 20, 3), 0.5_f32);
    frame[[65, 7, 1]] = f32::NAN;
    frame[[66, 0, 0]] = f32::NEG_INFINITY;
    let clean = Array3::from_elem((70, 20, 3), 0.5_f32);
    let mut integrity = Integrity::new(format, Level::best());
    for (index, array) in [&clean, &frame, &frame, &clean, &frame].into_iter().enumerate() {
        integrity
            .push(index, &Frame::F32(Pixels::Packed(array.view())), None, Ask::default())
            .unwrap();
    }
    assert_eq!(integrity.scan().non_finite, 6);
    assert_eq!(integrity.scan().out_of_range, 0);
    assert_eq!(integrity.first_non_finite(), Some((1, 65, 7)));
    assert_eq!(integrity.non_finite_runs(), [(1, 2), (4, 4)]);
}

#[test]
fn the_first_non_finite_sample_of_planes_is_first_in_row_order() {
    let format = Format::new(4, 70, Model::Rgb, Range::Float { low: 0.0, high: 1.0 }).unwrap();
    let mut planes = [0, 1, 2].map(|_| Array2::from_elem((70, 4), 0.5_f32));
    planes[0][[69, 0]] = f32::NAN;
    planes[2][[1, 3]] = f32::NAN;
    let frame = Frame::F32(Pixels::Planar(planes.each_ref().map(|p| p.view())));
    let mut integrity = Integrity::new(format, Level::best());
    integrity.push(0, &frame, None, Ask::default()).unwrap();
    assert_eq!(integrity.first_non_finite(), Some((0, 1, 3)));
}

#[test]
fn a_frame_of_nothing_but_nan_is_measured_as_black() {
    let format = Format::new(4, 4, Model::Grey, Range::Float { low: 0.0, high: 1.0 }).unwrap();
    let frame = Array2::from_elem((4, 4), f32::NAN);
    let mut integrity = Integrity::new(format, Level::best());
    let frame = Frame::F32(Pixels::Grey(frame.view()));
    let scan = integrity.push(0, &frame, None, EVERYTHING).unwrap();
    assert_eq!((scan.non_finite, scan.extremes), (16, None));
    assert_eq!(integrity.stills()[0].luma_mean, 0.0);
}

#[test]
fn values_past_half_a_level_out_of_range_are_counted() {
    let format = Format::new(4, 1, Model::Grey, Range::Float { low: 0.0, high: 1.0 }).unwrap();
    let row = ndarray::array![[-0.001_f32, 1.001, -0.01, 1.5]];
    let mut integrity = Integrity::new(format, Level::best());
    let frame = Frame::F32(Pixels::Grey(row.view()));
    let scan = integrity.push(0, &frame, None, Ask::default()).unwrap();
    assert_eq!(scan.out_of_range, 2);
    assert_eq!(scan.extremes, Some((f64::from(-0.01_f32), 1.5)));
}

#[test]
fn integers_past_the_bit_depth_are_counted() {
    let range = Range::Full { bit_depth: 10, shift: 0 };
    let format = Format::new(3, 1, Model::Grey, range).unwrap();
    let row = ndarray::array![[0_u16, 1023, 1024]];
    let mut integrity = Integrity::new(format, Level::best());
    let frame = Frame::U16(Pixels::Grey(row.view()));
    assert_eq!(integrity.push(0, &frame, None, Ask::default()).unwrap().out_of_range, 1);
}

// ------------------------------------------------------------------- the same picture, otherwise

/// The three planes of a packed frame, each in memory of its own.
fn planes(frame: &Array3<u8>) -> [Array2<u8>; 3] {
    std::array::from_fn(|c| frame.slice(s![.., .., c]).to_owned())
}

fn planar([r, g, b]: &[Array2<u8>; 3]) -> Frame<'_> {
    Frame::U8(Pixels::Planar([r.view(), g.view(), b.view()]))
}

/// The frame turned around in memory and read backwards: negative strides on every axis.
fn turned(frame: &Array3<u8>) -> Array3<u8> {
    Array3::from_shape_fn(frame.dim(), |(y, x, c)| {
        let (h, w, d) = frame.dim();
        frame[[h - 1 - y, w - 1 - x, d - 1 - c]]
    })
}

fn read_backwards(frame: &Array3<u8>) -> Frame<'_> {
    Frame::U8(Pixels::Packed(frame.slice(s![..;-1, ..;-1, ..;-1])))
}

#[test]
fn planar_packed_and_backward_views_agree_bit_for_bit() {
    let (a, b) = (noise_rgb(530, 40, 10), noise_rgb(530, 40, 11));
    fn read<'a>(a: &Frame<'a>, b: &Frame<'a>) -> String {
        facts(&pair_at(Level::best(), &rgb8(530, 40), a, b, EVERYTHING))
    }
    let expected = read(&packed(&a), &packed(&b));
    let (pa, pb) = (planes(&a), planes(&b));
    assert_eq!(read(&planar(&pa), &planar(&pb)), expected);
    let (ta, tb) = (turned(&a), turned(&b));
    assert_eq!(read(&read_backwards(&ta), &read_backwards(&tb)), expected);
}

#[test]
fn semi_planar_chroma_reads_as_planar() {
    let (y, cb, cr) = (noise(34, 18, 12), noise(17, 9, 13), noise(17, 9, 14));
    let both = Array2::from_shape_fn((9, 34), |(row, x)| {
        if x % 2 == 0 { cb[[row, x / 2]] } else { cr[[row, x / 2]] }
    });
    let format = yuv(34, 18, BT709, LIMITED8);
    let planar = Frame::U8(Pixels::Planar([y.view(), cb.view(), cr.view()]));
    let semi =
        Frame::U8(Pixels::Planar([y.view(), both.slice(s![.., 0..;2]), both.slice(s![.., 1..;2])]));
    let read = |f: &Frame<'_>| facts(&pair_at(Level::best(), &format, f, f, EVERYTHING));
    assert_eq!(read(&planar), read(&semi));
}

#[test]
fn half_and_single_precision_of_the_same_values_agree_bit_for_bit() {
    let bytes = noise_rgb(33, 21, 15);
    let single = bytes.mapv(|v| f16::from_f32(f32::from(v) / 255.0).to_f32());
    let half = single.mapv(f16::from_f32);
    let range = Range::Float { low: 0.0, high: 1.0 };
    let format = Format::new(33, 21, Model::Rgb, range).unwrap();
    let read = |f: &Frame<'_>| facts(&pair_at(Level::best(), &format, f, f, EVERYTHING));
    assert_eq!(
        read(&Frame::F32(Pixels::Packed(single.view()))),
        read(&Frame::F16(Pixels::Packed(half.view())))
    );
}

#[test]
fn eight_bit_values_and_their_floats_agree_to_a_millionth() {
    let (a, b) = (noise_rgb(97, 60, 16), noise_rgb(97, 60, 17));
    let eight = pair_at(Level::best(), &rgb8(97, 60), &packed(&a), &packed(&b), EVERYTHING);
    for (low, high) in [(0.0_f32, 1.0_f32), (-1.0, 1.0), (0.0, 255.0)] {
        let scale = |v: u8| low + f32::from(v) / 255.0 * (high - low);
        let (fa, fb) = (a.mapv(scale), b.mapv(scale));
        let format = Format::new(97, 60, Model::Rgb, Range::Float { low, high }).unwrap();
        let float = pair_at(
            Level::best(),
            &format,
            &Frame::F32(Pixels::Packed(fa.view())),
            &Frame::F32(Pixels::Packed(fb.view())),
            EVERYTHING,
        );
        for (x, y) in eight.stills().iter().zip(float.stills()) {
            assert!((x.luma_mean - y.luma_mean).abs() < 1e-6);
            assert!((x.luma_std - y.luma_std).abs() < 1e-6);
        }
        let (x, y) = (eight.steps()[1].unwrap(), float.steps()[1].unwrap());
        assert!((x.corr - y.corr).abs() < 1e-6);
        assert!((x.change.unwrap() - y.change.unwrap()).abs() < 1e-3);
    }
}

#[test]
fn ten_bits_of_an_eight_bit_picture_read_the_same() {
    let (y, c) = (noise(64, 48, 18), noise(32, 24, 19));
    let wide = |p: &Array2<u8>, shift: u32| p.mapv(|v| u16::from(v) << 2 << shift);
    let eight = Frame::U8(Pixels::Planar([y.view(), c.view(), c.view()]));
    let format = yuv(64, 48, (0.299, 0.114), LIMITED8);
    let expected = pair_at(Level::best(), &format, &eight, &eight, EVERYTHING);
    for shift in [0, 6] {
        let (y, c) = (wide(&y, shift), wide(&c, shift));
        let ten = Frame::U16(Pixels::Planar([y.view(), c.view(), c.view()]));
        let format = yuv(64, 48, (0.299, 0.114), Range::Limited { bit_depth: 10, shift });
        let got = pair_at(Level::best(), &format, &ten, &ten, EVERYTHING);
        assert_eq!(got.stills()[0].luma_std, expected.stills()[0].luma_std);
        assert_eq!(got.stills()[0].luma_mean, expected.stills()[0].luma_mean);
    }
}

#[test]
fn a_batch_gives_the_facts_of_one_by_one() {
    let frames: Vec<Array3<u8>> = (0..7).map(|i| noise_rgb(530, 200, 60 + i / 2)).collect();
    let frames: Vec<Frame<'_>> = frames.iter().map(packed).collect();
    let format = rgb8(530, 200);
    let mut single = Integrity::new(format.clone(), Level::best());
    for (index, frame) in frames.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| &frames[i]);
        single.push(index, frame, before, EVERYTHING).unwrap();
    }
    let items: Vec<Item<'_, '_>> = frames
        .iter()
        .enumerate()
        .map(|(index, frame)| Item { index, frame, ask: EVERYTHING })
        .collect();
    let mut batched = Integrity::new(format.clone(), Level::best());
    batched.push_many(&items[..3], None).unwrap();
    batched.push_many(&items[3..], Some(&frames[2])).unwrap();
    assert_eq!(facts(&batched), facts(&single));
    let mut gapped = Integrity::new(format, Level::best());
    gapped.push_many(&[items[0], items[2], items[3]], None).unwrap();
    let compared: Vec<bool> = gapped.steps().iter().map(Option::is_some).collect();
    assert_eq!(compared, [false, false, true]);
}

// ------------------------------------------------------------------------ levels and thread counts

#[test]
fn dispatch_levels_and_thread_counts_agree_bit_for_bit() {
    let sizes = [(1, 1), (2, 3), (16, 16), (97, 31), (530, 200), (640, 513)];
    for (seed, (width, height)) in sizes.into_iter().enumerate() {
        let seed = 40 + 2 * seed as u64;
        let (a, b) = (noise_rgb(width, height, seed), noise_rgb(width, height, seed + 1));
        let floats = |f: &Array3<u8>| f.mapv(|v| f32::from(v) / 255.0);
        let (fa, fb) = (floats(&a), floats(&b));
        let float = Range::Float { low: 0.0, high: 1.0 };
        let halves = [&a, &b].map(|f| {
            let chroma = |c| {
                Array2::from_shape_fn((height.div_ceil(2), width.div_ceil(2)), |(y, x)| {
                    f[[2 * y, 2 * x, c]]
                })
            };
            [f.slice(s![.., .., 0]).to_owned(), chroma(1), chroma(2)]
        });
        let deep = halves.each_ref().map(|f| f.each_ref().map(|p| p.mapv(|v| u16::from(v) << 8)));
        let cases = [
            (rgb8(width, height), packed(&a), packed(&b)),
            (yuv(width, height, BT709, LIMITED8), planar(&halves[0]), planar(&halves[1])),
            (
                yuv(width, height, BT709, Range::Limited { bit_depth: 10, shift: 6 }),
                Frame::U16(Pixels::Planar(deep[0].each_ref().map(|p| p.view()))),
                Frame::U16(Pixels::Planar(deep[1].each_ref().map(|p| p.view()))),
            ),
            (
                Format::new(width, height, Model::Rgb, float).unwrap(),
                Frame::F32(Pixels::Packed(fa.view())),
                Frame::F32(Pixels::Packed(fb.view())),
            ),
        ];
        for (format, a, b) in &cases {
            let expected = facts(&pair_at(Level::Baseline, format, a, b, EVERYTHING));
            for &level in Level::available() {
                for threads in [1, 2, 8] {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let got = pool.install(|| facts(&pair_at(level, format, a, b, EVERYTHING)));
                    assert_eq!(got, expected, "{width}x{height} {} {threads}", level.name());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn correlation_is_symmetric_and_bounded(
        width in 1_usize..40, height in 1_usize..40, seed in any::<u64>()
    ) {
        let (a, b) = (noise(width, height, seed), noise(width, height, seed ^ 0xABCD));
        let format = grey8(width, height);
        let there = step(&format, &grey(&a), &grey(&b));
        let back = step(&format, &grey(&b), &grey(&a));
        prop_assert_eq!(there.corr, back.corr);
        prop_assert_eq!(there.change, back.change);
        let aligned = there.corr_aligned.unwrap();
        prop_assert!((-1.0..=1.0).contains(&there.corr));
        prop_assert!(aligned >= there.corr && aligned <= 1.0);
    }

    #[test]
    fn narrow_and_low_frames_are_searched_without_leaving_them(
        long in 500_usize..1500, short in 1_usize..14, upright in any::<bool>(), seed in any::<u64>()
    ) {
        let (width, height) = if upright { (short, long) } else { (long, short) };
        let (a, b) = (noise(width, height, seed), noise(width, height, !seed));
        let got = step(&grey8(width, height), &grey(&a), &grey(&b));
        prop_assert!(got.corr_aligned.unwrap() >= got.corr);
    }

    #[test]
    fn a_repeated_frame_changes_by_nothing(
        width in 1_usize..70, height in 1_usize..300, seed in any::<u64>()
    ) {
        let a = noise(width, height, seed);
        prop_assert_eq!(step(&grey8(width, height), &grey(&a), &grey(&a)).change, Some(0.0));
    }

    #[test]
    fn a_change_below_the_limit_is_exact(
        width in 1_usize..70, height in 1_usize..300, seed in any::<u64>(), flips in 0_usize..4
    ) {
        let a = noise(width, height, seed);
        let mut b = a.clone();
        let mut next = random(seed);
        for _ in 0..flips {
            let at = [next() as usize % height, next() as usize % width];
            b[at] = b[at].wrapping_add(next() as u8 % 9);
        }
        // The definition, written plainly.
        let mut largest = 0.0_f64;
        for (p, q) in a.rows().into_iter().zip(b.rows()) {
            let (p, q) = (p.to_vec(), q.to_vec());
            for (p, q) in p.chunks(16).zip(q.chunks(16)) {
                let sum: u32 = p.iter().zip(q).map(|(p, q)| u32::from(p.abs_diff(*q))).sum();
                largest = largest.max(f64::from(sum) / p.len() as f64);
            }
        }
        let got = step(&grey8(width, height), &grey(&a), &grey(&b)).change.unwrap();
        if got < CONFIRM_BELOW {
            prop_assert_eq!(got, largest);
        } else {
            prop_assert!(got <= largest);
        }
    }
}

// ---------------------------------------------------------------------------------------- refusals

#[test]
fn wrong_planes() {
    let plane = noise(4, 4, 20);
    let mut integrity = Integrity::new(rgb8(4, 4), Level::best());
    let got = integrity.push(0, &grey(&plane), None, EVERYTHING);
    assert!(matches!(got, Err(Error::WrongPlanes { .. })), "{got:?}");
    let wide = plane.mapv(u16::from);
    let float = Format::new(4, 4, Model::Grey, Range::Float { low: 0.0, high: 1.0 }).unwrap();
    let mut integrity = Integrity::new(float, Level::best());
    let got = integrity.push(0, &Frame::U16(Pixels::Grey(wide.view())), None, EVERYTHING);
    let expected = Error::WrongPlanes { expected: "float16 or float32", given: "uint16" };
    assert_eq!(got, Err(expected));
}

#[test]
fn a_previous_frame_of_another_type_or_layout_is_refused_and_nothing_is_kept() {
    let (rgb, wide) = (noise_rgb(4, 4, 26), noise_rgb(4, 4, 26).mapv(u16::from));
    let separate = planes(&rgb);
    let mut integrity = Integrity::new(rgb8(4, 4), Level::best());
    integrity.push(0, &packed(&rgb), None, EVERYTHING).unwrap();
    for before in [planar(&separate), Frame::U16(Pixels::Packed(wide.view()))] {
        let got = integrity.push(1, &packed(&rgb), Some(&before), EVERYTHING);
        assert!(matches!(got, Err(Error::WrongPlanes { .. })), "{got:?}");
        assert_eq!((integrity.stills().len(), integrity.steps().len()), (1, 1));
    }
    integrity.push(1, &packed(&rgb), Some(&packed(&rgb)), EVERYTHING).unwrap();
}

#[test]
fn plane_size() {
    let (y, c) = (noise(5, 5, 21), noise(2, 3, 22));
    let frame = Frame::U8(Pixels::Planar([y.view(), c.view(), c.view()]));
    let mut integrity = Integrity::new(yuv(5, 5, BT709, LIMITED8), Level::best());
    let got = integrity.push(0, &frame, None, EVERYTHING);
    assert_eq!(got, Err(Error::PlaneSize { plane: 1, expected: (3, 3), given: (3, 2) }));
}

#[test]
fn not_adjacent() {
    let plane = noise(4, 4, 23);
    let frame = grey(&plane);
    let mut integrity = Integrity::new(grey8(4, 4), Level::best());
    integrity.push(3, &frame, None, EVERYTHING).unwrap();
    let got = integrity.push(5, &frame, Some(&frame), EVERYTHING);
    assert_eq!(got, Err(Error::NotAdjacent { last: Some(3), given: 5 }));
    let mut integrity = Integrity::new(grey8(4, 4), Level::best());
    let got = integrity.push(1, &frame, Some(&frame), EVERYTHING).unwrap_err();
    assert_eq!(got, Error::NotAdjacent { last: None, given: 1 });
    assert!(got.to_string().ends_with("none was pushed"), "{got}");
}

#[test]
fn no_profile() {
    let plane = noise(520, 4, 24);
    let mut integrity = Integrity::new(grey8(520, 4), Level::best());
    integrity.push(0, &grey(&plane), None, Ask::default()).unwrap();
    assert_eq!(integrity.grid(&[0]), Err(Error::NoProfile { frame: 0 }));
}
