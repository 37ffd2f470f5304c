//! Loudness of ITU-R BS.1770-4 and EBU R 128: K weighting and gating are the `ebur128` crate's.
//!
//! What the crate does not keep, the loudness of every moment and its range, is worked out from the
//! energies of its filtered signal in steps of 10 ms.

use ebur128::{Channel, EbuR128, Mode};

use super::{Weight, step_frames};
use crate::{Error, Result};

/// Steps of the momentary window, 400 ms.
const MOMENTARY: usize = 40;
/// Steps of the short-term window, 3 s.
const SHORT_TERM: usize = 300;
/// Steps from one gating block to the next, a tenth of a second.
const HOP: u64 = 10;

/// Below this power, -120 dB of full scale, there is no loudness to speak of.
const LEAST: f64 = 1e-12;

/// The absolute gate, as the loudness range applies it.
const GATE_LUFS: f64 = -70.0;

/// What was found, in LUFS; `None` where there is no such window or it holds nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoudnessFound {
    /// Gated loudness of the whole.
    pub integrated: Option<f64>,
    /// Loudness of the mean energy of all gating blocks.
    pub ungated: Option<f64>,
    /// Gating blocks of 400 ms, one each tenth of a second.
    pub blocks: u64,
    /// Largest loudness of 400 ms, looked at each 10 ms.
    pub momentary_max: Option<f64>,
    /// Largest loudness of 3 s, looked at each 10 ms.
    pub short_term_max: Option<f64>,
    /// Loudness range in LU, from the short-term loudness of each tenth of a second.
    pub range: Option<f64>,
    /// Momentary loudness at the end of each tenth; NaN before there is one.
    pub momentary: Vec<f64>,
    /// Short-term loudness at the end of each tenth; NaN before there is one.
    pub short_term: Vec<f64>,
}

/// The loudness of one sound.
#[derive(Debug)]
pub struct Loudness {
    meter: EbuR128,
    channels: usize,
    step: usize,
    filled: usize,
    steps: u64,
    /// Energies of the last 3 s of steps, by their number modulo [`SHORT_TERM`].
    ring: Vec<f64>,
    energy_of_blocks: f64,
    blocks: u64,
    momentary_max: f64,
    short_term_max: f64,
    momentary: Vec<f64>,
    short_term: Vec<f64>,
}

impl Loudness {
    /// A meter at `rate` samples per second of as many channels as there are weights.
    pub fn new(rate: u32, weights: &[Weight]) -> Result<Self> {
        let channels = weights.len();
        let refused = |_| Error::BadSound { channels, rate };
        let mut meter = EbuR128::new(channels as u32, rate, Mode::I).map_err(refused)?;
        let map: Vec<Channel> = weights.iter().map(|weight| weight.channel()).collect();
        meter.set_channel_map(&map).map_err(refused)?;
        Ok(Self {
            meter,
            channels,
            step: step_frames(rate),
            filled: 0,
            steps: 0,
            ring: vec![0.0; SHORT_TERM],
            energy_of_blocks: 0.0,
            blocks: 0,
            momentary_max: 0.0,
            short_term_max: 0.0,
            momentary: Vec::new(),
            short_term: Vec::new(),
        })
    }

    /// Adds interleaved samples.
    pub fn push(&mut self, interleaved: &[f32]) -> Result<()> {
        let mut rest = interleaved;
        while !rest.is_empty() {
            let room = (self.step - self.filled) * self.channels;
            let (now, later) = rest.split_at(room.min(rest.len()));
            let refused = |_| Error::BadBlock { samples: now.len(), channels: self.channels };
            self.meter.add_frames_f32(now).map_err(refused)?;
            self.filled += now.len() / self.channels;
            rest = later;
            if self.filled == self.step {
                self.filled = 0;
                self.end_step();
            }
        }
        Ok(())
    }

    fn end_step(&mut self) {
        // Ten milliseconds are a step: both are the rate over 100, rounded down.
        let loudness = self.meter.loudness_window(10).unwrap_or(f64::NEG_INFINITY);
        self.ring[(self.steps % SHORT_TERM as u64) as usize] = energy_of(loudness);
        self.steps += 1;
        let (momentary, short_term) = (self.mean_of_last(MOMENTARY), self.mean_of_last(SHORT_TERM));
        self.momentary_max = self.momentary_max.max(momentary.unwrap_or(0.0));
        self.short_term_max = self.short_term_max.max(short_term.unwrap_or(0.0));
        if self.steps.is_multiple_of(HOP) {
            if let Some(energy) = momentary {
                self.energy_of_blocks += energy;
                self.blocks += 1;
            }
            self.momentary.push(momentary.and_then(loudness_of).unwrap_or(f64::NAN));
            self.short_term.push(short_term.and_then(loudness_of).unwrap_or(f64::NAN));
        }
    }

    /// Mean energy of the last `count` steps, once there are so many.
    fn mean_of_last(&self, count: usize) -> Option<f64> {
        let end = (self.steps % SHORT_TERM as u64) as usize;
        (self.steps >= count as u64).then(|| {
            let (wrapped, last) = (count.saturating_sub(end), end.min(count));
            let before: f64 = self.ring[SHORT_TERM - wrapped..].iter().sum();
            (before + self.ring[end - last..end].iter().sum::<f64>()) / count as f64
        })
    }

    /// What is known of the whole sound, with a value for each of `tenths`.
    pub fn finish(mut self, tenths: usize) -> LoudnessFound {
        let integrated = self.meter.loudness_global().ok().filter(|value| value.is_finite());
        let range = range_of(&self.short_term);
        // The last tenth may be cut short: its windows end with its last whole step.
        let last = |count| self.mean_of_last(count).and_then(loudness_of).unwrap_or(f64::NAN);
        let (momentary, short_term) = (last(MOMENTARY), last(SHORT_TERM));
        self.momentary.resize(tenths, momentary);
        self.short_term.resize(tenths, short_term);
        LoudnessFound {
            integrated,
            ungated: loudness_of(self.energy_of_blocks / self.blocks.max(1) as f64),
            blocks: self.blocks,
            momentary_max: loudness_of(self.momentary_max),
            short_term_max: loudness_of(self.short_term_max),
            range,
            momentary: self.momentary,
            short_term: self.short_term,
        }
    }
}

impl Weight {
    /// The crate's channel of the same weight; its `Center` stands for every weight of 1.
    fn channel(self) -> Channel {
        match self {
            Self::One => Channel::Center,
            Self::Surround => Channel::LeftSurround,
            Self::Zero => Channel::Unused,
        }
    }
}

fn energy_of(loudness: f64) -> f64 {
    libm::exp10((loudness + 0.691) / 10.0)
}

fn loudness_of(energy: f64) -> Option<f64> {
    (energy >= LEAST).then(|| 10.0 * libm::log10(energy) - 0.691)
}

/// Loudness range of EBU Tech 3342: from the 10th to the 95th percentile of the short-term loudness
/// that passes -70 LUFS and then 20 LU below its mean energy. The document asks for windows that
/// overlap by 2.9 s or more, which a value each tenth of a second gives.
fn range_of(short_term: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = short_term.iter().copied().filter(|&l| l >= GATE_LUFS).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().map(|&l| energy_of(l)).sum::<f64>() / sorted.len() as f64;
    let gate = loudness_of(mean).unwrap_or(GATE_LUFS) - 20.0;
    let kept = &sorted[sorted.partition_point(|&l| l < gate)..];
    let at = |share: f64| kept[((kept.len() - 1) as f64 * share).round() as usize];
    (!kept.is_empty()).then(|| at(0.95) - at(0.10))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A programme whose level rises and falls, one channel per weight.
    fn programme(seconds: usize, channels: usize) -> Vec<f32> {
        let mut state = 7_u32;
        (0..seconds * 48_000 * channels)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / 16_777_216.0 - 0.5;
                let slow = (i / channels) as f32 / 48_000.0;
                noise * (0.1 + 0.09 * (slow * 1.3).sin())
            })
            .collect()
    }

    fn run(samples: &[f32], weights: &[Weight]) -> LoudnessFound {
        let mut own = Loudness::new(48_000, weights).unwrap();
        own.push(samples).unwrap();
        own.finish(samples.len() / weights.len() / 4_800)
    }

    /// The crate's own windows and mean energies, polled each tenth of a second.
    #[test]
    fn moments_and_range_are_those_of_the_crate() {
        let weights = [Weight::One, Weight::Surround, Weight::Zero];
        let samples = programme(20, 3);
        let found = run(&samples, &weights);
        let mut theirs = EbuR128::new(3, 48_000, Mode::all()).unwrap();
        let map = [Channel::Left, Channel::RightSurround, Channel::Unused];
        theirs.set_channel_map(&map).unwrap();
        for (i, tenth) in samples.chunks(3 * 4_800).enumerate() {
            theirs.add_frames_f32(tenth).unwrap();
            let momentary = theirs.loudness_momentary().unwrap();
            let short_term = theirs.loudness_shortterm().unwrap();
            assert_eq!(i < 3, found.momentary[i].is_nan());
            assert!(i < 3 || (found.momentary[i] - momentary).abs() < 1e-9);
            assert_eq!(i < 29, found.short_term[i].is_nan());
            assert!(i < 29 || (found.short_term[i] - short_term).abs() < 1e-9);
        }
        // The crate samples the short-term loudness once a second, into a histogram of 0.1 LU.
        let range = theirs.loudness_range().unwrap();
        assert!((found.range.unwrap() - range).abs() < 0.3);
        let louder = |series: &[f64]| series.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(found.momentary_max >= Some(louder(&found.momentary)));
        assert!(found.short_term_max >= Some(louder(&found.short_term)));
    }

    #[test]
    fn sound_shorter_than_a_block_has_no_loudness() {
        let found = run(&programme(1, 1)[..14_400], &[Weight::One]);
        assert_eq!((found.blocks, found.integrated, found.ungated), (0, None, None));
        assert_eq!((found.momentary_max, found.short_term_max, found.range), (None, None, None));
    }

    #[test]
    fn sound_under_the_gate_has_an_ungated_loudness_alone() {
        let quiet: Vec<f32> = programme(1, 1).iter().map(|x| x * 1e-4).collect();
        let found = run(&quiet, &[Weight::One]);
        assert_eq!((found.blocks, found.integrated), (7, None));
        assert!(found.ungated.is_some_and(|l| (-120.0..-70.0).contains(&l)));
    }

    /// Three levels of equal length, 10 LU apart, the lowest more than 20 LU under the mean.
    #[test]
    fn range_leaves_out_what_is_20_lu_below_the_mean() {
        let level = |lufs: f64| std::iter::repeat_n(lufs, 100);
        let series: Vec<f64> = level(-48.0).chain(level(-30.0)).chain(level(-20.0)).collect();
        let range = range_of(&series).unwrap();
        assert!((range - 10.0).abs() < 1e-9);
        assert_eq!(range_of(&[-71.0, f64::NAN]), None);
    }
}
