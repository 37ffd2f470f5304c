//! What is worked out from the short-time spectra of one sound, against its definition.
#![allow(clippy::unwrap_used)]

use std::f64::consts::TAU;

use screentest_kernels::audio::{Flatness, Onsets, Spectrogram};
use screentest_kernels::simd::Level;

fn noise(samples: usize) -> Vec<f64> {
    let mut state = 3_u32;
    (0..samples)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 23) - 1.0
        })
        .collect()
}

/// Powers of a frame by the definition of the transform; what a short one lacks is 0.
fn powers(samples: &[f64]) -> Vec<f64> {
    let roots: Vec<(f64, f64)> =
        (0..1024).map(|i| (TAU * f64::from(i) / 1024.0).sin_cos()).collect();
    (0..513)
        .map(|k| {
            let (re, im) = samples.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, x)| {
                let x = x * (0.5 - 0.5 * (TAU * i as f64 / 1023.0).cos());
                let (sin, cos) = roots[k * i % 1024];
                (re + x * cos, im + x * sin)
            });
            re * re + im * im
        })
        .collect()
}

fn flatness(samples: &[f64], piece: usize, level: Level) -> Option<f64> {
    let mut flatness = Flatness::new(level);
    samples.chunks(piece).for_each(|part| flatness.push(part));
    flatness.finish()
}

#[test]
fn flatness_is_the_mean_over_the_frames_that_are_not_silent() {
    let mut samples = noise(7_000);
    samples[2_000..4_500].fill(0.0);
    let frames: Vec<f64> = (0..=(7_000 - 1_024) / 256)
        .map(|f| powers(&samples[f * 256..][..1_024]))
        .filter(|powers| powers.iter().sum::<f64>() / 513.0 > 1e-18)
        .map(|powers| {
            let logs = powers.iter().map(|p| p.max(1e-20).ln()).sum::<f64>() / 513.0;
            logs.exp() / (powers.iter().map(|p| p.max(1e-20)).sum::<f64>() / 513.0)
        })
        .collect();
    // Of 24 frames, those from 2048 to 3328 lie in the pause.
    assert_eq!(frames.len(), 18);
    let known = frames.iter().sum::<f64>() / 18.0;
    let found = flatness(&samples, 7_000, Level::best()).unwrap();
    assert!((found / known - 1.0).abs() < 1e-10, "{found}, {known}");
    for &level in Level::available() {
        for piece in [1, 256, 999] {
            assert_eq!(flatness(&samples, piece, level), Some(found), "{piece}, {level:?}");
        }
    }
}

#[test]
fn flatness_of_silence_is_none_of_a_tone_0_and_of_noise_0_56() {
    assert_eq!(flatness(&[], 1, Level::best()), None);
    assert_eq!(flatness(&[0.0; 5_000], 5_000, Level::best()), None);
    let tone: Vec<f64> = (0..20_000).map(|i| (TAU * f64::from(i) / 50.0).sin()).collect();
    assert!(flatness(&tone, 20_000, Level::best()).unwrap() < 1e-6);
    // exp of minus Euler's constant: the geometric mean of exponentially distributed powers.
    let white = flatness(&noise(200_000), 200_000, Level::best()).unwrap();
    assert!((white - 0.561_459).abs() < 0.01, "{white}");
}

#[test]
fn onsets_are_the_rise_of_the_magnitudes_at_the_middle_of_their_frames() {
    let samples = noise(3_000);
    let mut onsets = Onsets::new(44_100, Level::best());
    samples.chunks(700).for_each(|part| onsets.push(part));
    let (times, flux) = onsets.finish();
    // 5 ms are 220.5 samples: 220, and so 9 frames.
    assert_eq!((times.len(), flux.len()), (8, 8));
    for (k, (time, found)) in times.iter().zip(&flux).enumerate() {
        let at = |f: usize| powers(&samples[f * 220..][..1_024]);
        let rise = at(k + 1).into_iter().zip(at(k)).map(|(b, a)| (b.sqrt() - a.sqrt()).max(0.0));
        assert!((found / rise.sum::<f64>() - 1.0).abs() < 1e-10, "{k}");
        assert!((time - ((k + 1) * 220 + 512) as f64 / 44_100.0).abs() < 1e-12);
    }
}

#[test]
fn spectrogram_columns_are_the_mean_powers_of_their_frames() {
    let samples = noise(4_000);
    let mut spectrogram = Spectrogram::new(4, Level::best());
    samples.chunks(999).for_each(|part| spectrogram.push(part));
    let columns = spectrogram.finish();
    // Six frames, 512 apart: four in the first column, two in the last.
    assert_eq!(columns.len(), 2 * Spectrogram::BINS);
    for (column, frames) in columns.chunks(Spectrogram::BINS).zip([0..4, 4..6]) {
        for k in [0, 1, 77, 512] {
            let sum: f64 = frames.clone().map(|f| powers(&samples[f * 512..][..1_024])[k]).sum();
            let known = sum / frames.len() as f64 / (256.0 * 256.0);
            assert!((column[k] / known - 1.0).abs() < 1e-9, "{k}");
        }
    }
}
