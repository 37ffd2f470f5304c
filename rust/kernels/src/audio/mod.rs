//! Sound: blocks of interleaved samples, `channels` to a frame, in [-1, 1].

mod flatness;
mod lag;
mod logarithm;
mod mel;
mod onsets;
mod pair;
mod spectrogram;
mod stft;

pub use flatness::Flatness;
pub use lag::{Best, LagSearch};
pub use onsets::Onsets;
pub use pair::{AudioPair, Sums};
pub use spectrogram::Spectrogram;

/// The mean of the channels, in double precision.
pub fn mean_of_channels(block: &[f32], channels: usize) -> impl Iterator<Item = f64> {
    let share = 1.0 / channels as f64;
    block
        .chunks_exact(channels)
        .map(move |frame| frame.iter().map(|&x| f64::from(x)).sum::<f64>() * share)
}
