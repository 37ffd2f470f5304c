//! Sound: blocks of interleaved samples, `channels` to a frame, in [-1, 1].

mod ending;
mod flatness;
mod lag;
mod lanes;
mod levels;
mod logarithm;
mod loudness;
mod mel;
mod meter;
mod onsets;
mod pair;
mod spectrogram;
mod stft;
mod sums;
mod true_peak;

use crate::{Error, Result};

pub use flatness::Flatness;
pub use lag::{Best, LagSearch};
pub use levels::{ChannelLevels, Silence, Stereo};
pub use loudness::{Loudness, LoudnessFound};
pub use meter::{AudioFound, AudioMeter};
pub use onsets::Onsets;
pub use pair::AudioPair;
pub use spectrogram::Spectrogram;
pub use sums::Sums;
pub use true_peak::oversampling;

/// A sample of this magnitude is at full scale: a coder's own rounding lies below it.
pub const CLIP_LEVEL: f32 = 0.999;
/// Mean power below which a block is silent: -60 dB of full scale.
pub const SILENCE_POWER: f64 = 1e-6;

/// The most channels that a sound may have.
const MOST_CHANNELS: usize = 64;
/// Samples per second that a sound may have: those that the loudness meter takes.
const RATES: std::ops::RangeInclusive<u32> = 16..=2_822_400;

/// Refuses what is no sound.
fn checked(channels: usize, rate: u32) -> Result<()> {
    if (1..=MOST_CHANNELS).contains(&channels) && RATES.contains(&rate) {
        return Ok(());
    }
    Err(Error::BadSound { channels, rate })
}

/// What a channel counts for in loudness (ITU-R BS.1770-4, tables 3 and 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// 1: in front, behind, above or below.
    One,
    /// 1.41: on ear level, 60 to 120 degrees to a side.
    Surround,
    /// 0: low-frequency effects.
    Zero,
}

/// Frames of 10 ms, rounded down.
pub fn step_frames(rate: u32) -> usize {
    (rate as usize / 100).max(1)
}

/// Frames of 50 ms, a half rounded to even.
pub fn silence_frames(rate: u32) -> usize {
    ((f64::from(rate) / 20.0).round_ties_even() as usize).max(1)
}

/// Decibels of a mean power, never below -120.
pub fn power_db(power: f64) -> f64 {
    if power > 1e-12 { 10.0 * libm::log10(power) } else { -120.0 }
}

/// Decibels of a magnitude, never below -120.
pub fn magnitude_db(magnitude: f64) -> f64 {
    if magnitude > 1e-6 { 20.0 * libm::log10(magnitude) } else { -120.0 }
}

/// The mean of the channels, in double precision.
pub fn mean_of_channels(block: &[f32], channels: usize) -> impl Iterator<Item = f64> {
    let share = 1.0 / channels as f64;
    block
        .chunks_exact(channels)
        .map(move |frame| frame.iter().map(|&x| f64::from(x)).sum::<f64>() * share)
}
