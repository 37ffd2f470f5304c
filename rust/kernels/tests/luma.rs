//! Luma in fixed point: every model, range, depth and chroma step against the same picture written
//! another way.
#![allow(clippy::unwrap_used)]

use ndarray::Array2;
use screentest_kernels::integrity::{Ask, Integrity, Still};
use screentest_kernels::simd::Level;
use screentest_kernels::{Format, Frame, Model, Pixels, Range};

const BT601: (f64, f64) = (0.299, 0.114);
const BT709: (f64, f64) = (0.2126, 0.0722);
/// Nearly BT.601: its chroma weights in luma are 0.008 and 0.0007.
const FCC: (f64, f64) = (0.30, 0.11);
const EVERYTHING: Ask = Ask { grid: true, align: true, change: true };

/// A plane of hashed codes below 256.
fn codes(width: usize, height: usize, seed: usize) -> Array2<u16> {
    Array2::from_shape_fn((height, width), |(y, x)| {
        let hash =
            (x * 31 + y * 17 + seed * 7 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
        (hash >> 40) as u16 % 256
    })
}

fn yuv(
    (width, height): (usize, usize),
    (kr, kb): (f64, f64),
    range: Range,
    chroma_shift: (u32, u32),
) -> Format {
    Format::new(width, height, Model::Yuv { kr, kb, chroma_shift }, range).unwrap()
}

fn planar(planes: &[Array2<u16>; 3]) -> Frame<'_> {
    let [a, b, c] = planes;
    Frame::U16(Pixels::Planar([a.view(), b.view(), c.view()]))
}

fn still(format: &Format, frame: &Frame<'_>) -> Still {
    let mut integrity = Integrity::new(format.clone(), Level::best());
    integrity.push(0, frame, None, Ask::default()).unwrap();
    integrity.stills()[0]
}

#[test]
fn white_is_one_and_black_zero_at_every_depth_of_rgb() {
    for bit_depth in 8..=16 {
        let range = Range::Full { bit_depth, shift: 0 };
        let format = Format::new(3, 2, Model::Rgb, range).unwrap();
        for (code, luma) in [(0, 0.0), (((1_u32 << bit_depth) - 1) as u16, 1.0)] {
            let plane = Array2::from_elem((2, 3), code);
            let got = still(&format, &planar(&[plane.clone(), plane.clone(), plane]));
            assert_eq!((got.luma_mean, got.luma_max), (luma, luma), "{bit_depth}");
        }
    }
}

#[test]
fn integers_past_the_bit_depth_read_as_white() {
    for bit_depth in [8, 10, 15] {
        let range = Range::Full { bit_depth, shift: 0 };
        let format = Format::new(200, 90, Model::Rgb, range).unwrap();
        let plane = Array2::from_elem((90, 200), u16::MAX);
        let got = still(&format, &planar(&[plane.clone(), plane.clone(), plane]));
        assert_eq!((got.luma_mean, got.luma_std, got.luma_max), (1.0, 0.0, 1.0), "{bit_depth}");
    }
}

#[test]
fn limited_luma_of_one_picture_is_the_same_at_every_depth() {
    let planes = [codes(40, 30, 1), codes(40, 30, 2), codes(40, 30, 3)];
    for matrix in [BT601, BT709, FCC] {
        let at = |bit_depth: u32| {
            let range = Range::Limited { bit_depth, shift: 0 };
            let scaled = planes.each_ref().map(|p| p.mapv(|v| v << (bit_depth - 8)));
            let got = still(&yuv((40, 30), matrix, range, (0, 0)), &planar(&scaled));
            (got.luma_mean, got.luma_std, got.luma_min, got.luma_max)
        };
        let expected = at(8);
        for bit_depth in [10, 12, 14, 16] {
            assert_eq!(at(bit_depth), expected, "{matrix:?} {bit_depth}");
        }
    }
}

#[test]
fn luma_is_that_of_the_rgb_picture_whatever_the_matrix_and_depth() {
    for (kr, kb) in [BT601, BT709, FCC, (0.299, 0.114_05), (0.2627, 0.0593)] {
        for bit_depth in [8, 10, 12, 16] {
            let white = f64::from((1_u32 << bit_depth) - 1);
            let neutral = f64::from(1_u32 << (bit_depth - 1));
            for [r, g, b] in [[0.7, 0.3, 0.3], [0.2, 0.5, 0.3], [0.3, 0.4, 0.9], [0.8, 0.7, 0.2]] {
                let y = kr * r + (1.0 - kr - kb) * g + kb * b;
                let (cb, cr) = ((b - y) / (2.0 * (1.0 - kb)), (r - y) / (2.0 * (1.0 - kr)));
                let codes = [y * white, cb * white + neutral, cr * white + neutral];
                let planes = codes.map(|c| Array2::from_elem((2, 2), c.round() as u16));
                let range = Range::Full { bit_depth, shift: 0 };
                let got = still(&yuv((2, 2), (kr, kb), range, (0, 0)), &planar(&planes)).luma_mean;
                let luma = 0.299 * r + 0.587 * g + 0.114 * b;
                // Half a code for each plane, and 0.02 of a level for the chroma weights.
                let tolerance = 0.7 / white + 0.03 / 255.0;
                assert!((got - luma).abs() < tolerance, "{kr} {bit_depth}: {got} {luma}");
            }
        }
    }
}

#[test]
fn subsampled_chroma_reads_as_its_repeated_samples() {
    let range = Range::Limited { bit_depth: 8, shift: 0 };
    for width in 513_usize..=516 {
        let size = (width, 11);
        for (sx, sy) in [(1, 0), (0, 1), (1, 1), (2, 0), (2, 2)] {
            let (chroma_width, chroma_height) =
                (width.div_ceil(1 << sx), 11_usize.div_ceil(1 << sy));
            let small = |seed| codes(chroma_width, chroma_height, seed);
            let pair =
                [5, 8].map(|seed| [codes(width, 11, seed), small(seed + 1), small(seed + 2)]);
            let repeated = pair.each_ref().map(|[y, cb, cr]| {
                let spread = |c: &Array2<u16>| {
                    Array2::from_shape_fn((11, width), |(y, x)| c[[y >> sy, x >> sx]])
                };
                [y.clone(), spread(cb), spread(cr)]
            });
            let read = |format: Format, [a, b]: &[[Array2<u16>; 3]; 2]| {
                let mut integrity = Integrity::new(format, Level::best());
                integrity.push(0, &planar(a), None, EVERYTHING).unwrap();
                integrity.push(1, &planar(b), Some(&planar(a)), EVERYTHING).unwrap();
                let step = integrity.steps()[1].unwrap();
                let stills = integrity.stills().iter().map(|s| (s.luma_mean, s.luma_std));
                let grid = integrity.grid(&[0, 1]).unwrap();
                (stills.collect::<Vec<_>>(), step.corr, step.corr_aligned, grid)
            };
            assert_eq!(
                read(yuv(size, BT709, range, (sx, sy)), &pair),
                read(yuv(size, BT709, range, (0, 0)), &repeated),
                "{width} {sx} {sy}"
            );
        }
    }
}
