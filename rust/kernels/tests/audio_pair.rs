//! The comparison of two sounds and the search for their lag, against their definitions written out.
#![allow(clippy::unwrap_used)]

use std::f64::consts::TAU;

use screentest_kernels::Error;
use screentest_kernels::audio::{AudioPair, Best, LagSearch, Sums};
use screentest_kernels::simd::Level;

const RATE: u32 = 8_000;

/// Noise between -1 and 1, the same for the same seed.
fn noise(samples: usize, seed: u32) -> Vec<f64> {
    let mut state = seed;
    (0..samples)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 23) - 1.0
        })
        .collect()
}

/// The same sound that many samples later, after silence or without its beginning.
fn late(sound: &[f64], lag: i64) -> Vec<f64> {
    let at = |t: usize| usize::try_from(t as i64 - lag).ok().and_then(|t| sound.get(t));
    (0..sound.len()).map(|t| at(t).copied().unwrap_or(0.0)).collect()
}

fn searched(reference: &[f64], candidate: &[f64], rate: u32, piece: usize) -> Option<Best> {
    let mut search = LagSearch::new(rate, Level::best()).unwrap();
    for (r, c) in reference.chunks(piece).zip(candidate.chunks(piece)) {
        search.push(r, c);
    }
    search.finish()
}

/// The lag by its definition: every overlap of at least 10 ms, its energies summed by themselves.
fn defined(reference: &[f64], candidate: &[f64], rate: u32) -> Option<(i64, f64)> {
    let n = reference.len().min(candidate.len());
    let least = rate as usize / 100;
    let bound = (rate as usize / 20).min(n.saturating_sub(least)) as i64;
    let centred = |sound: &[f64]| -> Vec<f64> {
        let mean = sound[..n].iter().sum::<f64>() / n as f64;
        sound[..n].iter().map(|x| x - mean).collect()
    };
    let (r, c) = (centred(reference), centred(candidate));
    let energy = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>();
    let all = (energy(&r), energy(&c));
    let mut best: Option<(i64, f64)> = None;
    for lag in std::iter::once(0).chain((1..=bound).flat_map(|l| [l, -l])) {
        let (early, later) = (lag.min(0).unsigned_abs() as usize, lag.max(0) as usize);
        let (r, c) = (&r[early..n - later], &c[later..n - early]);
        let energies = (energy(r), energy(c));
        if energies.0 <= 1e-12 * all.0 || energies.1 <= 1e-12 * all.1 {
            continue;
        }
        let products = r.iter().zip(c).map(|(r, c)| r * c).sum::<f64>();
        let found = products / (energies.0 * energies.1).sqrt();
        if best.is_none_or(|(_, known)| found.abs() > known.abs() + 1e-9) {
            best = Some((lag, found));
        }
    }
    best
}

fn assert_defined(name: &str, reference: &[f64], candidate: &[f64]) {
    let found = searched(reference, candidate, RATE, 5_000);
    let known = defined(reference, candidate, RATE);
    assert_eq!(found.map(|best| best.lag), known.map(|(lag, _)| lag), "{name}");
    if let (Some(found), Some((_, known))) = (found, known) {
        assert!((found.correlation - known).abs() < 1e-9, "{name}: {found:?}, {known}");
        assert!(found.correlation.abs() <= 1.0, "{name}");
    }
}

#[test]
fn lag_of_every_length_equals_the_definition() {
    for samples in [2, 3, 79, 80, 81, 82, 120, 479, 480, 481, 2_000, 40_000] {
        let sound = noise(samples, 5);
        assert_defined(&format!("{samples}"), &sound, &late(&sound, 7));
    }
    assert_eq!(searched(&[], &[], RATE, 1), None);
    assert_eq!(searched(&[0.5], &[0.5], RATE, 1), None);
}

#[test]
fn lag_of_clicks_offsets_and_silent_ends_equals_the_definition() {
    let samples = 9_000;
    let sound = noise(samples, 9);
    let scaled =
        |by: f64, offset: f64| -> Vec<f64> { sound.iter().map(|x| by * x + offset).collect() };
    for at in [0, 10, 400, samples - 20, samples - 1] {
        let mut clicked = scaled(1e-4, 0.0);
        clicked[at] = 1.0;
        assert_defined(&format!("a click at {at}"), &clicked, &late(&scaled(1e-4, 0.0), 7));
        assert_defined(&format!("a click at {at} in both"), &clicked, &late(&clicked, 7));
    }
    assert_defined("an offset", &scaled(0.01, 1.0), &late(&sound, -30));
    assert_defined("large numbers", &scaled(16.0, 0.0), &late(&scaled(16.0, 0.0), -13));
    assert_defined("small numbers", &scaled(1e-7, 0.0), &late(&scaled(1e-7, 0.0), 13));
    let mut framed = sound.clone();
    framed[..4_000].fill(0.0);
    framed[8_000..].fill(0.0);
    assert_defined("silent ends", &framed, &late(&framed, 100));
}

#[test]
fn bound_is_50_ms_and_less_where_10_ms_would_not_overlap() {
    let bound = |samples: usize, rate: u32| {
        let sound = noise(samples, 3);
        searched(&sound, &sound, rate, samples).unwrap().bound
    };
    assert_eq!(bound(8_000, 8_000), 400);
    // Half a sample is rounded to the even one: 1102.5.
    assert_eq!(bound(22_050, 22_050), 1_102);
    assert_eq!([80, 81, 479, 480, 481].map(|n| bound(n, 8_000)), [0, 1, 399, 400, 400]);
}

#[test]
fn a_sound_that_does_not_change_has_no_lag() {
    let sound = noise(4_000, 1);
    assert_eq!(searched(&[0.0; 4_000], &sound, RATE, 999), None);
    assert_eq!(searched(&sound, &[0.25; 4_000], RATE, 999), None);
}

/// Two channels of noise with a pause, and a damaged copy of it that is 13 samples late.
fn pair() -> (Vec<f32>, Vec<f32>) {
    let reference: Vec<f32> = noise(2 * 20_500, 1)
        .into_iter()
        .enumerate()
        .map(|(i, x)| if (9_000..11_000).contains(&(i / 2)) { 0.0 } else { 0.4 * x as f32 })
        .collect();
    let added = noise(2 * 20_513, 2);
    let candidate = added
        .iter()
        .enumerate()
        .map(|(i, x)| i.checked_sub(26).map_or(0.0, |i| 0.9 * reference[i] + 0.05 * *x as f32))
        .collect();
    (reference, candidate)
}

fn compared(pieces: [usize; 2], level: Level) -> Vec<Vec<Sums>> {
    let (reference, candidate) = pair();
    let mut pair = AudioPair::new([2, 2], RATE, 13, true, level).unwrap();
    for block in reference.chunks(2 * pieces[0]) {
        pair.push(block, &[]).unwrap();
    }
    for block in candidate.chunks(2 * pieces[1]) {
        pair.push(&[], block).unwrap();
    }
    pair.finish()
}

/// The channels at their lag, and before them their mean.
fn tracks() -> Vec<[Vec<f64>; 2]> {
    let (reference, candidate) = pair();
    let channel = |sound: &[f32], c: usize| -> Vec<f64> {
        sound.iter().skip(c).step_by(2).map(|&x| f64::from(x)).collect()
    };
    let of = |c: usize| [channel(&reference, c), channel(&candidate[26..], c)];
    let (left, right) = (of(0), of(1));
    let mean = [0, 1].map(|side| {
        left[side].iter().zip(&right[side]).map(|(l, r)| (l + r) / 2.0).collect::<Vec<f64>>()
    });
    vec![mean, left, right]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[test]
fn sums_are_those_of_their_definitions() {
    let found = compared([4_000, 7_777], Level::best());
    assert_eq!(found.len(), 3);
    for (seconds, [reference, candidate]) in found.iter().zip(&tracks()) {
        assert_eq!(seconds.len(), 3);
        for (s, sums) in seconds.iter().enumerate() {
            let part = s * 8_000..((s + 1) * 8_000).min(20_500);
            let (r, c) = (&reference[part.clone()], &candidate[part]);
            let sum =
                |of: fn(f64, f64) -> f64| -> f64 { r.iter().zip(c).map(|(&r, &c)| of(r, c)).sum() };
            assert_eq!(sums.samples, r.len() as f64);
            assert!(close(sums.reference, sum(|r, _| r)));
            assert!(close(sums.candidate, sum(|_, c| c)));
            assert!(close(sums.reference_squares, sum(|r, _| r * r)));
            assert!(close(sums.candidate_squares, sum(|_, c| c * c)));
            assert!(close(sums.products, sum(|r, c| r * c)));
            assert!(close(sums.differences, sum(|r, c| (r - c) * (r - c))));
        }
    }
}

/// Magnitudes of a frame by the definition of the transform, under a symmetric Hann window.
fn magnitudes(samples: &[f64]) -> Vec<f64> {
    let roots: Vec<(f64, f64)> =
        (0..1024).map(|i| (TAU * f64::from(i) / 1024.0).sin_cos()).collect();
    (0..513)
        .map(|k| {
            let (re, im) = samples.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, x)| {
                let x = x * (0.5 - 0.5 * (TAU * i as f64 / 1023.0).cos());
                let (sin, cos) = roots[k * i % 1024];
                (re + x * cos, im + x * sin)
            });
            f64::hypot(re, im)
        })
        .collect()
}

/// Logarithms of 64 triangular bands, evenly wide in mel.
fn mel_logs(magnitudes: &[f64]) -> Vec<f64> {
    let rate = f64::from(RATE);
    let top = 2595.0 * (1.0 + rate / 1400.0).log10();
    let edges: Vec<usize> = (0..66)
        .map(|i| 700.0 * (10_f64.powf(top * f64::from(i) / 65.0 / 2595.0) - 1.0))
        .map(|frequency| (1025.0 * frequency / rate) as usize)
        .collect();
    (0..64)
        .map(|band| {
            let [low, middle, high] = [edges[band], edges[band + 1], edges[band + 2]];
            let rising =
                (low..middle).map(|i| magnitudes[i] * (i - low) as f64 / (middle - low) as f64);
            let falling = (middle..high)
                .map(|i| magnitudes[i] * (1.0 - (i - middle) as f64 / (high - middle) as f64));
            rising.chain(falling).sum::<f64>().max(1e-10).ln()
        })
        .collect()
}

#[test]
fn distances_of_each_second_are_those_of_their_definitions() {
    let found = compared([20_500, 20_513], Level::best());
    // 77 frames, 256 apart: 32 begin in the first second, 31 in the second, 14 in the third.
    for (seconds, [reference, candidate]) in found.iter().zip(&tracks()) {
        let frames: Vec<f64> = seconds.iter().map(|sums| sums.frames).collect();
        assert_eq!(frames, [32.0, 31.0, 14.0]);
        let (mut levels, mut bands) = (0.0, 0.0);
        for f in 63..77 {
            let frame = |sound: &[f64]| magnitudes(&sound[f * 256..][..1024]);
            let (r, c) = (frame(reference), frame(candidate));
            let decibels = |x: f64| 20.0 * x.max(1e-10).log10();
            levels +=
                r.iter().zip(&c).map(|(&r, &c)| (decibels(c) - decibels(r)).powi(2)).sum::<f64>();
            let logs = mel_logs(&r).into_iter().zip(mel_logs(&c));
            bands += logs.map(|(r, c)| (c - r).abs()).sum::<f64>();
        }
        assert!((seconds[2].level_squares / levels - 1.0).abs() < 1e-9);
        assert!((seconds[2].mel / bands - 1.0).abs() < 1e-9);
    }
}

#[test]
fn pieces_and_dispatch_levels_change_no_bit() {
    let known = compared([20_500, 20_513], Level::Baseline);
    for &level in Level::available() {
        for pieces in [[1, 20_000], [777, 1_000], [8_000, 8_000]] {
            assert_eq!(compared(pieces, level), known, "{pieces:?}, {level:?}");
        }
    }
}

#[test]
fn bad_sound_and_bad_block() {
    let refused = |channels, rate| AudioPair::new(channels, rate, 0, true, Level::best()).err();
    assert_eq!(refused([2, 0], RATE), Some(Error::BadSound { channels: 0, rate: RATE }));
    assert_eq!(refused([65, 2], RATE), Some(Error::BadSound { channels: 65, rate: RATE }));
    assert_eq!(refused([2, 2], 15), Some(Error::BadSound { channels: 2, rate: 15 }));
    let refused = |rate| LagSearch::new(rate, Level::best()).err();
    assert_eq!(refused(0), Some(Error::BadSound { channels: 1, rate: 0 }));
    assert_eq!(refused(u32::MAX), Some(Error::BadSound { channels: 1, rate: u32::MAX }));
    let mut pair = AudioPair::new([2, 3], RATE, 0, true, Level::best()).unwrap();
    let uneven = pair.push(&[0.0; 4], &[0.0; 4]);
    assert_eq!(uneven, Err(Error::BadBlock { samples: 4, channels: 3 }));
}
