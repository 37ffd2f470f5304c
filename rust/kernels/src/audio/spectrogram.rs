use super::stft::{BATCH, BINS, Bin, Feed, Stft, Work};
use crate::simd::Level;

/// Samples between frames.
const HOP: usize = 512;

/// Mean power spectra of stretches of equal length, to look at.
#[derive(Debug)]
pub struct Spectrogram {
    level: Level,
    stft: Stft,
    feed: Feed,
    work: Work,
    frames_per_column: usize,
    frames: usize,
    columns: Vec<f64>,
}

impl Spectrogram {
    /// Frequencies of a column, from 0 to half the sample rate.
    pub const BINS: usize = BINS;

    /// A column for so many frames of 1024 samples, 512 apart; at least one.
    pub fn new(frames_per_column: usize, level: Level) -> Self {
        Self {
            level,
            stft: Stft::new(),
            feed: Feed::new(HOP),
            work: Work::default(),
            frames_per_column: frames_per_column.max(1),
            frames: 0,
            columns: Vec::new(),
        }
    }

    /// Takes the next samples of one channel, or of the mean of several, any number of them.
    pub fn push(&mut self, samples: &[f64]) {
        let Self { level, stft, feed, work, frames_per_column, frames, columns } = self;
        feed.push(samples.iter().copied());
        for (_, batch) in feed.ready() {
            let bins = level.run(
                #[inline(always)]
                || stft.run(batch, HOP, BATCH, work),
            );
            add(bins, BATCH, *frames_per_column, frames, columns);
        }
        feed.drop_ready();
    }

    /// The columns one after another, each of [`BINS`](Self::BINS) mean powers; a sine of amplitude
    /// 1 has a power of 1 where it is strongest.
    pub fn finish(mut self) -> Vec<f64> {
        let Self { level, stft, feed, work, frames_per_column, frames, columns } = &mut self;
        let (rest, left) = feed.rest();
        let bins = level.run(
            #[inline(always)]
            || stft.run(rest, HOP, left, work),
        );
        add(bins, left, *frames_per_column, frames, columns);
        let (total, per_column) = (*frames, *frames_per_column);
        for (c, column) in columns.chunks_exact_mut(BINS).enumerate() {
            let count = per_column.min(total - c * per_column);
            // The window's sum is half its length.
            let scale = 1.0 / (count as f64 * 256.0 * 256.0);
            column.iter_mut().for_each(|power| *power *= scale);
        }
        self.columns
    }
}

fn add(bins: &[Bin], count: usize, per_column: usize, frames: &mut usize, columns: &mut Vec<f64>) {
    for f in 0..count {
        let column = *frames / per_column;
        columns.resize((column + 1) * BINS, 0.0);
        for (sum, bin) in columns[column * BINS..].iter_mut().zip(bins) {
            *sum += bin.re[f] * bin.re[f] + bin.im[f] * bin.im[f];
        }
        *frames += 1;
    }
}
