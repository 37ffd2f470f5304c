//! Fidelity against values worked out by hand, and the same bits on every level and thread count.

#![allow(clippy::unwrap_used, clippy::panic)]

use ndarray::Array2;
use proptest::prelude::*;
use screentest_kernels::fidelity::{Border, Fidelity, FrameFidelity, Wants, rgb8};
use screentest_kernels::simd::Level;
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range};

const EIGHT: Range = Range::Full { bit_depth: 8, shift: 0 };
const ALL: Wants =
    Wants { rgb: true, planes: true, ssim: true, ms_ssim: true, ssim_y: true, ms_ssim_y: true };

fn grey(width: usize, height: usize) -> Format {
    Format::new(width, height, Model::Grey, EIGHT).unwrap()
}

fn compare(a: &Array2<u8>, b: &Array2<u8>, wants: Wants, level: Level) -> FrameFidelity {
    let (height, width) = a.dim();
    let format = grey(width, height);
    let fidelity = Fidelity::new(format.clone(), format, level, wants, Border::Valid).unwrap();
    let frames = [a, b].map(|plane| Frame::U8(Pixels::Grey(plane.view())));
    fidelity.measure(&frames[0], &frames[1]).unwrap()
}

/// A texture that no window sees twice.
fn texture(height: usize, width: usize, seed: u64) -> Array2<u8> {
    Array2::from_shape_fn((height, width), |(y, x)| {
        let mut v = (y as u64 * 374_761_393 + x as u64 * 668_265_263) ^ (seed << 7);
        v = (v ^ (v >> 13)).wrapping_mul(1_274_126_177);
        (v >> 16) as u8
    })
}

#[test]
fn one_sample_off_by_one() {
    let a = texture(20, 30, 1);
    let mut b = a.clone();
    b[[3, 4]] ^= 1;
    let found = compare(&a, &b, ALL, Level::best());
    let expected = 1.0 / 600.0 / (255.0 * 255.0);
    assert_eq!(found.rgb.unwrap().squared, expected);
    assert_eq!(found.rgb.unwrap().absolute, 1.0 / 600.0 / 255.0);
    assert_eq!(found.planes[0].unwrap().squared, expected);
    assert!(found.planes[1].is_none());
}

#[test]
fn identical_frames_read_exactly_nothing_and_one() {
    let a = texture(190, 180, 2);
    let found = compare(&a, &a, ALL, Level::best());
    assert_eq!(found.rgb.unwrap().squared, 0.0);
    for structure in [found.luma, found.first_plane] {
        assert_eq!(structure.ssim, Some(1.0));
        let scales = structure.multi_scale.unwrap();
        assert_eq!((scales.value, scales.scales, scales.clipped), (1.0, 5, 0));
    }
}

/// Its part of the mean is below the rounding of 1.
#[test]
fn one_sample_in_the_corner_of_a_large_frame_is_not_identical() {
    let a = texture(2160, 3840, 4);
    let mut b = a.clone();
    b[[2159, 3839]] ^= 1;
    let found = compare(&a, &b, ALL, Level::best());
    for structure in [found.luma, found.first_plane] {
        assert_eq!(structure.ssim, Some(1.0_f64.next_down()));
        assert_eq!(structure.multi_scale.unwrap().value, 1.0_f64.next_down());
    }
}

#[test]
fn flat_frames_read_the_luminance_term_alone() {
    let (a, b) = (Array2::from_elem((16, 16), 100_u8), Array2::from_elem((16, 16), 150_u8));
    let found = compare(&a, &b, ALL, Level::best()).first_plane.ssim.unwrap();
    let c1 = (0.01_f64 * 255.0).powi(2);
    let expected = (2.0 * 100.0 * 150.0 + c1) / (100.0_f64.powi(2) + 150.0_f64.powi(2) + c1);
    assert!((found - expected).abs() < 1e-12);
}

#[test]
fn one_window_by_the_definition() {
    // 11x11: a single position, worked out without separating the window.
    let (a, b) = (texture(11, 11, 3), texture(11, 11, 4));
    let g: Vec<f64> = (-5..=5).map(|k| (-f64::from(k * k) / 4.5).exp()).collect();
    let total: f64 = g.iter().sum::<f64>().powi(2);
    let mean = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.indexed_iter()
            .map(|((y, x), &v)| g[y] * g[x] / total * f(v.into(), b[[y, x]].into()))
            .sum()
    };
    let (mx, my) = (mean(&|x, _| x), mean(&|_, y| y));
    let vx = mean(&|x, _| (x - mx) * (x - mx));
    let vy = mean(&|_, y| (y - my) * (y - my));
    let cov = mean(&|x, y| (x - mx) * (y - my));
    let (c1, c2) = ((0.01_f64 * 255.0).powi(2), (0.03_f64 * 255.0).powi(2));
    let expected =
        (2.0 * mx * my + c1) * (2.0 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2));
    let found = compare(&a, &b, ALL, Level::best()).luma;
    assert!((found.ssim.unwrap() - expected).abs() < 1e-12);
    assert!((found.multi_scale.unwrap().value - expected.max(1e-12)).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn dispatch_levels_agree_bit_for_bit(
        height in 11_usize..120, width in 11_usize..230, seed in 0_u64..1000
    ) {
        let (a, b) = (texture(height, width, seed), texture(height, width, seed + 1));
        let expected = compare(&a, &b, ALL, Level::Baseline);
        for &level in Level::available() {
            prop_assert_eq!(compare(&a, &b, ALL, level), expected);
        }
    }
}

#[test]
fn thread_counts_agree_bit_for_bit() {
    let (a, b) = (texture(211, 307, 5), texture(211, 307, 6));
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let alone = compare(&a, &b, ALL, Level::best());
    let fidelity = Fidelity::new(grey(307, 211), grey(307, 211), Level::best(), ALL, Border::Valid);
    let fidelity = fidelity.unwrap().parallel(true);
    let frames = [&a, &b].map(|plane| Frame::U8(Pixels::Grey(plane.view())));
    for threads in [1, 2, 8] {
        let found = pool(threads).install(|| fidelity.measure(&frames[0], &frames[1]).unwrap());
        assert_eq!(found, alone);
    }
}

#[test]
fn reflected_border_is_the_mean_over_a_mirrored_picture() {
    let (height, width) = (13, 17);
    let (a, b) = (texture(height, width, 7), texture(height, width, 8));
    let mirror = |i: usize, n: usize| {
        let i = i.abs_diff(5);
        i.min(2 * (n - 1) - i)
    };
    let padded = |p: &Array2<u8>| {
        Array2::from_shape_fn((height + 10, width + 10), |(y, x)| {
            p[[mirror(y, height), mirror(x, width)]]
        })
    };
    let wants = Wants { ssim: true, ..Wants::default() };
    let expected = compare(&padded(&a), &padded(&b), wants, Level::best()).luma.ssim;
    let format = grey(width, height);
    let reflect =
        Fidelity::new(format.clone(), format, Level::best(), wants, Border::Reflect).unwrap();
    let frames = [&a, &b].map(|plane| Frame::U8(Pixels::Grey(plane.view())));
    assert_eq!(reflect.measure(&frames[0], &frames[1]).unwrap().luma.ssim, expected);
    assert_eq!(reflect.ssim_map(&frames[0], &frames[1]).unwrap().len(), height * width);
}

#[test]
fn a_16_bit_difference_of_the_whole_scale() {
    let format = Format::new(12, 8, Model::Grey, Range::Full { bit_depth: 16, shift: 0 }).unwrap();
    let (a, b) = (Array2::<u16>::zeros((8, 12)), Array2::from_elem((8, 12), u16::MAX));
    let wants = Wants { rgb: true, planes: true, ..Wants::default() };
    let fidelity =
        Fidelity::new(format.clone(), format, Level::best(), wants, Border::Valid).unwrap();
    let frames = [&a, &b].map(|plane| Frame::U16(Pixels::Grey(plane.view())));
    let found = fidelity.measure(&frames[0], &frames[1]).unwrap();
    assert_eq!(found.rgb.unwrap().squared, 1.0);
    assert_eq!(found.planes[0].unwrap().squared, 1.0);
}

#[test]
fn limited_grey_is_stretched_for_red_green_and_blue() {
    let range = Range::Limited { bit_depth: 8, shift: 0 };
    let format = Format::new(2, 1, Model::Grey, range).unwrap();
    let plane = Array2::from_shape_vec((1, 2), vec![16_u8, 235]).unwrap();
    let shown =
        rgb8(&Frame::U8(Pixels::Grey(plane.view())), &format, Level::best(), false).unwrap();
    assert_eq!(shown, [0, 0, 0, 255, 255, 255]);
}

#[test]
fn size_mismatch() {
    let got = Fidelity::new(grey(4, 5), grey(5, 4), Level::best(), ALL, Border::Valid);
    assert_eq!(got.unwrap_err(), Error::SizeMismatch { reference: (4, 5), candidate: (5, 4) });
}

#[test]
fn no_common_planes() {
    let rgb = Format::new(16, 16, Model::Rgb, EIGHT).unwrap();
    let wants = Wants { planes: true, ..Wants::default() };
    let got = Fidelity::new(grey(16, 16), rgb, Level::best(), wants, Border::Valid);
    assert_eq!(got.unwrap_err(), Error::NoCommonPlanes);
}

#[test]
fn too_small() {
    let wants = Wants { ssim: true, ..Wants::default() };
    let got = Fidelity::new(grey(10, 30), grey(10, 30), Level::best(), wants, Border::Valid);
    assert_eq!(got.unwrap_err(), Error::TooSmall { width: 10, height: 30, least: 11 });
}
