//! Pairing against edit lists that the tests make, and signatures against sums by hand.
#![allow(clippy::unwrap_used)]

mod common;

use common::random;
use ndarray::{Array2, Array3};
use proptest::prelude::*;
use screentest_kernels::pairing::{Found, Pairing, REACH, signature};
use screentest_kernels::simd::Level;
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range};

const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };
const WIDTH: usize = 96;
const HEIGHT: usize = 64;

fn grey8(width: usize, height: usize) -> Format {
    Format::new(width, height, Model::Grey, FULL8).unwrap()
}

fn grey(plane: &Array2<u8>) -> Frame<'_> {
    Frame::U8(Pixels::Grey(plane.view()))
}

/// A window that moves over random squares by `speed` pixels a frame.
fn pan(frames: usize, speed: usize, seed: u64) -> Vec<Array2<u8>> {
    let mut next = random(seed);
    let (rows, columns) = (HEIGHT / 8 + 1, (WIDTH + frames * speed) / 8 + 1);
    let cells = Array2::from_shape_simple_fn((rows, columns), || next() as u8);
    (0..frames)
        .map(|t| {
            Array2::from_shape_fn((HEIGHT, WIDTH), |(y, x)| cells[[y / 8, (x + t * speed) / 8]])
        })
        .collect()
}

fn pair_at(level: Level, reference: &[&Array2<u8>], candidate: &[&Array2<u8>]) -> Found {
    let format = grey8(WIDTH, HEIGHT);
    let mut pairing = Pairing::new(format.clone(), format, level).unwrap();
    for i in 0..reference.len().max(candidate.len()) {
        let [a, b] = [reference, candidate].map(|clip| clip.get(i).map(|frame| grey(frame)));
        pairing.push(a.as_ref(), b.as_ref()).unwrap();
    }
    pairing.finish()
}

/// Pairs a clip with the frames of it that `order` names.
fn edited(clip: &[Array2<u8>], order: &[usize]) -> Found {
    let reference: Vec<_> = clip.iter().collect();
    let candidate: Vec<_> = order.iter().map(|&i| &clip[i]).collect();
    pair_at(Level::best(), &reference, &candidate)
}

// ------------------------------------------------------------------------------- by hand

#[test]
fn a_signature_holds_the_means_of_its_blocks_in_sixteenths_of_a_level() {
    // 6x5 pixels: blocks of 4x4, 2x4, 4x1 and 2x1.
    let frame = Array2::from_shape_fn((5, 6), |(y, x)| (10 * y + x) as u8);
    let (means, shape) = signature(Level::best(), &grey8(6, 5), &grey(&frame)).unwrap();
    assert_eq!(shape, (2, 2));
    // Means 16.5, 19.5, 41.5 and 44.5.
    assert_eq!(means, [264, 312, 664, 712]);
}

#[test]
fn white_is_the_same_in_every_format() {
    let of = |format: &Format, frame: &Frame<'_>| signature(Level::best(), format, frame).unwrap();
    let bytes = Array2::from_elem((8, 8), 235_u8);
    let words = Array2::from_elem((8, 8), 940_u16 << 6);
    let colours = Array3::from_elem((8, 8, 3), 1.0_f32);
    let limited = |bit_depth, shift| {
        let range = Range::Limited { bit_depth, shift };
        Format::new(8, 8, Model::Grey, range).unwrap()
    };
    let float = Range::Float { low: 0.0, high: 1.0 };
    let rgb = Format::new(8, 8, Model::Rgb, float).unwrap();
    let all = [
        of(&limited(8, 0), &grey(&bytes)),
        of(&limited(10, 6), &Frame::U16(Pixels::Grey(words.view()))),
        of(&rgb, &Frame::F32(Pixels::Packed(colours.view()))),
    ];
    for (means, _) in all {
        assert_eq!(means, [4080; 4]);
    }
}

#[test]
fn a_block_of_many_rows_does_not_overflow() {
    let (width, height) = (8, 20_000);
    let frame = Array2::from_elem((height, width), 255_u8);
    let (means, shape) = signature(Level::best(), &grey8(width, height), &grey(&frame)).unwrap();
    assert_eq!(shape, (64, 1));
    assert!(means.iter().all(|&v| v == 4080));
}

// ------------------------------------------------------------------------------- edits

#[test]
fn identical_clips_lie_on_the_diagonal_with_evidence() {
    let clip = pan(60, 2, 1);
    let found = edited(&clip, &(0..60).collect::<Vec<_>>());
    assert_eq!((found.lag, found.evidence), (0, true));
    assert!(found.dropped.is_empty() && found.repeated.is_empty());
    assert_eq!((found.missing_at_end, found.extra_at_end), (0, 0));
    assert_eq!(found.stretches, [(0, 0)]);
}

#[test]
fn a_dropped_frame_is_located() {
    let order: Vec<_> = (0..60).filter(|&i| i != 20).collect();
    let found = edited(&pan(60, 2, 2), &order);
    assert_eq!((found.lag, found.dropped.as_slice()), (0, [20].as_slice()));
    assert_eq!(found.stretches, [(0, 0), (20, 1)]);
    assert_eq!((found.missing_at_end, found.extra_at_end), (0, 0));
}

#[test]
fn an_inserted_frame_is_located() {
    let order: Vec<_> = (0..=20).chain(20..60).collect();
    let found = edited(&pan(60, 2, 3), &order);
    assert_eq!((found.lag, found.repeated.as_slice()), (0, [21].as_slice()));
    assert_eq!(found.stretches.last(), Some(&(22, -1)));
}

#[test]
fn a_frame_repeated_in_place_leaves_the_diagonal_alone() {
    let order: Vec<_> = (0..60).map(|i| if i == 21 { 20 } else { i }).collect();
    let found = edited(&pan(60, 2, 4), &order);
    assert_eq!((found.lag, found.repeated.as_slice()), (0, [21].as_slice()));
    assert_eq!(found.stretches, [(0, 0)]);
}

#[test]
fn a_frozen_clip_repeats_in_place() {
    let found = edited(&pan(100, 2, 5), &[0; 100]);
    assert_eq!(found.repeated, (1..100).collect::<Vec<_>>());
    assert_eq!((found.lag, found.missing_at_end, found.extra_at_end), (0, 0, 0));
    assert_eq!(found.stretches, [(0, 0)]);
}

#[test]
fn lags_of_both_signs_are_found_up_to_the_reach() {
    let clip = pan(100, 2, 6);
    for lag in [1, 7, REACH] {
        let early = edited(&clip, &(lag..100).collect::<Vec<_>>());
        assert_eq!((early.lag, early.missing_at_end), (lag as i64, 0));
        let (reference, candidate): (Vec<_>, Vec<_>) =
            (clip[lag..].iter().collect(), clip.iter().collect());
        let late = pair_at(Level::best(), &reference, &candidate);
        assert_eq!((late.lag, late.extra_at_end), (-(lag as i64), 0));
    }
}

#[test]
fn static_periodic_and_unrelated_pictures_give_no_evidence() {
    let clip = pan(40, 2, 7);
    let other = pan(40, 2, 8);
    let still = edited(&clip, &[3; 40]);
    assert!(still.lag == 0 && still.dropped.is_empty());
    let four: Vec<_> = (0..40).map(|i| &clip[i % 4]).collect();
    let periodic = pair_at(Level::best(), &four, &four);
    assert_eq!((periodic.lag, periodic.evidence), (0, false));
    let (a, b): (Vec<_>, Vec<_>) = (clip.iter().collect(), other.iter().collect());
    let unrelated = pair_at(Level::best(), &a, &b);
    assert_eq!((unrelated.lag, unrelated.evidence), (0, false));
    let frozen = vec![&clip[0]; 40];
    assert!(!pair_at(Level::best(), &frozen, &frozen).evidence);
}

#[test]
fn no_frames_and_one_frame_are_pairs_without_evidence() {
    let clip = pan(1, 2, 9);
    assert!(!edited(&clip, &[0]).evidence);
    let none = edited(&clip, &[]);
    assert_eq!((none.reference, none.candidate, none.missing_at_end), (1, 0, 1));
    assert!(!none.evidence);
}

#[test]
fn a_long_clip_is_settled_on_the_way() {
    // Longer than what is held back, with an event on either side of the first settling.
    let order: Vec<_> = (0..1500).filter(|&i| i != 255 && i != 900).collect();
    let found = edited(&pan(1500, 2, 10), &order);
    assert_eq!(found.dropped, [255, 900]);
    assert_eq!((found.lag, found.missing_at_end), (0, 0));
}

#[test]
fn one_clip_may_be_pushed_ahead() {
    let clip = pan(80, 2, 11);
    let format = grey8(WIDTH, HEIGHT);
    let mut pairing = Pairing::new(format.clone(), format, Level::best()).unwrap();
    for i in 0..80 {
        pairing.push(Some(&grey(&clip[i])), None).unwrap();
        if let Some(behind) = i.checked_sub(REACH - 1) {
            pairing.push(None, Some(&grey(&clip[behind]))).unwrap();
        }
    }
    assert_eq!(pairing.frames(), (80, 80 - (REACH - 1)));
    let found = pairing.finish();
    assert_eq!((found.lag, found.missing_at_end, found.evidence), (0, REACH - 1, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn dispatch_levels_agree_bit_for_bit(
        seed in any::<u64>(), speed in 1_usize..6, drop in 4_usize..30, copy in 4_usize..30,
    ) {
        let clip = pan(40, speed, seed);
        let mut order: Vec<_> = (0..40).filter(|&i| i != drop).collect();
        order.insert(copy, order[copy]);
        let reference: Vec<_> = clip.iter().collect();
        let candidate: Vec<_> = order.iter().map(|&i| &clip[i]).collect();
        let wanted = pair_at(Level::Baseline, &reference, &candidate);
        let format = grey8(WIDTH, HEIGHT);
        let means = signature(Level::Baseline, &format, &grey(&clip[0])).unwrap();
        for &level in Level::available() {
            prop_assert_eq!(&pair_at(level, &reference, &candidate), &wanted);
            prop_assert_eq!(&signature(level, &format, &grey(&clip[0])).unwrap(), &means);
        }
    }
}

// ------------------------------------------------------------------------------- errors

#[test]
fn size_mismatch() {
    let got = Pairing::new(grey8(8, 6), grey8(6, 8), Level::best()).map(|_| ());
    assert_eq!(got, Err(Error::SizeMismatch { reference: (8, 6), candidate: (6, 8) }));
}

#[test]
fn out_of_step() {
    let clip = pan(1, 1, 12);
    let format = grey8(WIDTH, HEIGHT);
    let mut pairing = Pairing::new(format.clone(), format, Level::best()).unwrap();
    for _ in 0..=REACH {
        pairing.push(Some(&grey(&clip[0])), None).unwrap();
    }
    let late = pairing.push(None, Some(&grey(&clip[0])));
    assert_eq!(late, Err(Error::OutOfStep { reference: REACH + 1, candidate: 0, most: REACH }));
    // Nothing is kept of a pair that is refused.
    assert!(pairing.push(Some(&grey(&clip[0])), Some(&grey(&clip[0]))).is_err());
    assert_eq!(pairing.frames(), (REACH + 1, 0));
}

#[test]
fn a_frame_that_does_not_fit_is_refused_with_its_pair() {
    let clip = pan(1, 1, 13);
    let format = grey8(WIDTH, HEIGHT);
    let mut pairing = Pairing::new(format.clone(), format, Level::best()).unwrap();
    let small = Array2::from_elem((HEIGHT, WIDTH - 1), 0_u8);
    let got = pairing.push(Some(&grey(&clip[0])), Some(&grey(&small)));
    assert!(matches!(got, Err(Error::PlaneSize { .. })));
    assert_eq!(pairing.frames(), (0, 0));
}
