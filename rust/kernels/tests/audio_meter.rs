//! The meter of a sound against sums written out, and against itself in pieces, on threads and on
//! every instruction set.
#![allow(clippy::unwrap_used)]

use screentest_kernels::Error;
use screentest_kernels::audio::{AudioFound, AudioMeter, Weight};
use screentest_kernels::simd::Level;

const RATE: u32 = 44_100;
const WEIGHTS: [Weight; 3] = [Weight::One, Weight::One, Weight::Zero];

/// Three channels of noise with an offset, clipping now and then, and half a second of silence.
fn sound(frames: usize) -> Vec<f32> {
    let mut state = 1_u32;
    (0..frames * 3)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = (state >> 8) as f32 / 8_388_608.0 - 1.0;
            let quiet = (30_000..52_050).contains(&(i / 3));
            if quiet { 0.0 } else { (x * 1.002 + 0.01 * (i % 3) as f32).clamp(-1.0, 1.0) }
        })
        .collect()
}

fn meter(level: Level) -> AudioMeter {
    AudioMeter::new(3, RATE, Some(&WEIGHTS), Some((0, 1)), level).unwrap()
}

fn measured(samples: &[f32], level: Level, pieces: usize) -> AudioFound {
    let mut meter = meter(level);
    for piece in samples.chunks(pieces * 3) {
        meter.push(piece).unwrap();
    }
    meter.finish().unwrap()
}

/// Shortest digits that give each number back: equal text is equal bits, of NaN too.
fn bits(found: &AudioFound) -> String {
    format!("{found:?}")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[test]
fn levels_are_the_sums_of_their_definitions() {
    let samples = sound(100_003);
    let found = measured(&samples, Level::Baseline, 44_100);
    let channel = |c: usize| samples.iter().skip(c).step_by(3).map(|&x| f64::from(x));
    let n = 100_003.0;
    for (c, levels) in found.channels.iter().enumerate() {
        assert!(close(levels.power, channel(c).map(|x| x * x).sum::<f64>() / n));
        assert!(close(levels.mean, channel(c).sum::<f64>() / n));
        assert_eq!(levels.peak, channel(c).fold(0.0, |peak, x| x.abs().max(peak)));
        let clipped = samples.iter().skip(c).step_by(3).filter(|x| x.abs() >= 0.999).count();
        assert!(clipped > 100);
        assert_eq!(levels.clipped, clipped as u64);
    }
    let first = samples.iter().position(|x| x.abs() >= 0.999).unwrap() / 3;
    assert_eq!(found.first_clip, Some(first as u64));

    let stereo = found.stereo.unwrap();
    let pairs = || channel(0).zip(channel(1));
    let side = pairs().map(|(l, r)| (0.5 * (l - r)).powi(2)).sum::<f64>() / n;
    assert!(close(stereo.side, side));
    let means = (found.channels[0].mean, found.channels[1].mean);
    let spread = |c: usize, mean: f64| channel(c).map(|x| (x - mean).powi(2)).sum::<f64>();
    let common = pairs().map(|(l, r)| (l - means.0) * (r - means.1)).sum::<f64>();
    let correlation = common / (spread(0, means.0) * spread(1, means.1)).sqrt();
    assert!((stereo.correlation - correlation).abs() < 1e-9);

    // Blocks of 2205 frames: 14 to 22 lie wholly in the silence from 30000 to 52050.
    assert_eq!((found.silence.blocks, found.silence.silent), (45, 9));
    assert_eq!((found.silence.longest, found.silence.longest_from), (9, 14 * 2_205));

    // Tenths of 4410 frames, the last of 2983.
    assert_eq!((found.tenth, found.tenths.len()), (4_410, 23));
    let last = &samples[22 * 4_410 * 3..];
    let power = last.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / last.len() as f64;
    assert!(close(found.tenths[22].0, power));
    assert_eq!(found.loudness.unwrap().momentary.len(), 23);
}

#[test]
fn pieces_of_any_size_give_the_same_bits() {
    let samples = sound(60_001);
    let whole = bits(&measured(&samples, Level::Baseline, 60_001));
    for pieces in [1, 3, 441, 2_205, 16_384, 50_000] {
        assert_eq!(bits(&measured(&samples, Level::Baseline, pieces)), whole, "{pieces}");
    }
}

#[test]
fn dispatch_levels_agree_bit_for_bit() {
    let samples = sound(60_001);
    let plain = bits(&measured(&samples, Level::Baseline, 44_100));
    for &level in Level::available() {
        assert_eq!(bits(&measured(&samples, level, 44_100)), plain, "{level:?}");
    }
}

#[test]
fn threads_change_no_bit() {
    let samples = sound(60_001);
    let alone = bits(&measured(&samples, Level::best(), 44_100));
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut meter = meter(Level::best()).parallel(true);
        pool.install(|| meter.push(&samples)).unwrap();
        assert_eq!(bits(&meter.finish().unwrap()), alone, "{threads}");
    }
}

#[test]
fn non_finite_samples_are_counted_and_nothing_else_is_measured() {
    let mut samples = sound(20_000);
    samples[3 * 12_345 + 1] = f32::NAN;
    samples[3 * 17_000] = f32::NEG_INFINITY;
    let found = measured(&samples, Level::best(), 5_000);
    assert_eq!((found.non_finite, found.first_non_finite), (2, Some(12_345)));
    assert!(found.channels.is_empty() && found.true_peaks.is_empty() && found.tenths.is_empty());
    assert!(found.loudness.is_none() && found.spectral_flatness.is_none());
    assert!(found.stereo.is_none() && found.first_clip.is_none());
}

#[test]
fn nothing_pushed_is_no_sound() {
    let found = meter(Level::best()).finish().unwrap();
    assert_eq!((found.frames, found.silence.blocks, found.tenths.len()), (0, 0, 0));
    assert_eq!(found.stereo, None);
}

#[test]
fn constant_channel_correlates_with_anything() {
    let samples: Vec<f32> = sound(5_000).chunks(3).flat_map(|f| [f[0], 0.25]).collect();
    let mut meter = AudioMeter::new(2, RATE, None, Some((0, 1)), Level::best()).unwrap();
    meter.push(&samples).unwrap();
    assert_eq!(meter.finish().unwrap().stereo.unwrap().correlation, 1.0);
}

#[test]
fn bad_sound_and_bad_block() {
    let refused = |channels, rate, weights: Option<&[Weight]>, front| {
        AudioMeter::new(channels, rate, weights, front, Level::best()).err()
    };
    assert_eq!(refused(0, 48_000, None, None), Some(Error::BadSound { channels: 0, rate: 48_000 }));
    assert_eq!(
        refused(65, 48_000, None, None),
        Some(Error::BadSound { channels: 65, rate: 48_000 })
    );
    assert_eq!(refused(2, 15, None, None), Some(Error::BadSound { channels: 2, rate: 15 }));
    let three = Some(&WEIGHTS[..]);
    assert_eq!(
        refused(2, 48_000, three, None),
        Some(Error::BadSound { channels: 2, rate: 48_000 })
    );
    let front = Some((0, 2));
    assert_eq!(
        refused(2, 48_000, None, front),
        Some(Error::BadSound { channels: 2, rate: 48_000 })
    );
    let refused = meter(Level::best()).push(&[0.0; 4]);
    assert_eq!(refused, Err(Error::BadBlock { samples: 4, channels: 3 }));
}

#[test]
fn the_edge_of_a_silence_is_the_last_5_ms_against_half_a_second() {
    let edge_db = |found: &AudioFound| {
        found.silence.longest_edge.map(|(before, last)| 10.0 * (last / before).log10())
    };
    let mut samples = sound(200_000);
    let found = measured(&samples, Level::Baseline, 44_100);
    // Noise that stops at once: 15 % is what 5 ms of it may differ by.
    assert_eq!(found.silence.longest_from, 30_870);
    assert!(edge_db(&found).unwrap().abs() < 0.7);
    // Turned down by 20 dB for its last 10 ms.
    for x in &mut samples[(30_000 - 441) * 3..30_000 * 3] {
        *x *= 0.1;
    }
    let found = measured(&samples, Level::Baseline, 44_100);
    assert!((edge_db(&found).unwrap() + 20.0).abs() < 0.8);
    // Without half a second of it there is nothing to compare with.
    let found = measured(&samples[9_000 * 3..], Level::Baseline, 44_100);
    assert_eq!(edge_db(&found), None);
}
