use super::stft::{BATCH, BINS, Bin, Feed, LENGTH, Stft, Work};
use crate::simd::Level;

/// By how much the spectrum's magnitudes rise from frame to frame: the envelope of sudden sounds.
#[derive(Debug)]
pub struct Onsets {
    level: Level,
    stft: Stft,
    feed: Feed,
    work: Work,
    /// Magnitudes of the last frame, once there is one.
    last: Vec<f64>,
    flux: Vec<f64>,
    rate: f64,
}

impl Onsets {
    /// Frames 5 ms apart, as near as whole samples come.
    pub fn new(sample_rate: u32, level: Level) -> Self {
        let rate = f64::from(sample_rate);
        let hop = libm::rint(0.005 * rate).max(1.0) as usize;
        Self {
            level,
            stft: Stft::new(),
            feed: Feed::new(hop),
            work: Work::default(),
            last: Vec::new(),
            flux: Vec::new(),
            rate,
        }
    }

    /// Takes the next samples of one channel, or of the mean of several, any number of them.
    pub fn push(&mut self, samples: &[f64]) {
        self.feed.push(samples.iter().copied());
        for (_, batch) in self.feed.ready() {
            let last = (!self.last.is_empty()).then_some(&self.last[..]);
            let (rises, newest) = self.level.run(
                #[inline(always)]
                || rises(self.stft.run(batch, self.feed.hop(), BATCH, &mut self.work), last, BATCH),
            );
            self.flux.extend_from_slice(&rises[usize::from(last.is_none())..]);
            self.last = newest;
        }
        self.feed.drop_ready();
    }

    /// For each frame but the first the time of its middle, in seconds from the first sample, and
    /// the sum over the frequencies of what their magnitudes gained since the frame before.
    pub fn finish(mut self) -> (Vec<f64>, Vec<f64>) {
        let (rest, frames) = self.feed.rest();
        if frames > 0 {
            let last = (!self.last.is_empty()).then_some(&self.last[..]);
            let (rises, _) = self.level.run(
                #[inline(always)]
                || {
                    rises(
                        self.stft.run(rest, self.feed.hop(), frames, &mut self.work),
                        last,
                        frames,
                    )
                },
            );
            self.flux.extend_from_slice(&rises[usize::from(last.is_none())..frames]);
        }
        let middle = |k: usize| ((k + 1) * self.feed.hop() + LENGTH / 2) as f64 / self.rate;
        ((0..self.flux.len()).map(middle).collect(), self.flux)
    }
}

/// The rise of each frame over the one before it, and the magnitudes of the last of `frames`.
#[inline(always)]
fn rises(bins: &[Bin], last: Option<&[f64]>, frames: usize) -> ([f64; BATCH], Vec<f64>) {
    let mut sum = [0.0; BATCH];
    let mut newest = Vec::with_capacity(BINS);
    for (k, bin) in bins.iter().enumerate() {
        let power = bin.power();
        let mut magnitudes = [0.0; BATCH + 1];
        for l in 0..BATCH {
            magnitudes[l + 1] = power[l].sqrt();
        }
        magnitudes[0] = last.map_or(magnitudes[1], |last| last[k]);
        for l in 0..BATCH {
            sum[l] += (magnitudes[l + 1] - magnitudes[l]).max(0.0);
        }
        newest.push(magnitudes[frames]);
    }
    (sum, newest)
}
