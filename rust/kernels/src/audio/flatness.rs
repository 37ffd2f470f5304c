use super::logarithm::ln;
use super::stft::{BATCH, BINS, Bin, Feed, Stft, Work};
use crate::simd::Level;

/// Samples between frames.
const HOP: usize = 256;
/// Power that stands for less.
const FLOOR: f64 = 1e-20;
/// A frame whose mean power is at most this says nothing.
const SILENT: f64 = 1e-18;

/// Mean over the frames of the geometric over the arithmetic mean of their power spectrum: 0 for a
/// tone, 0.56 for white noise.
#[derive(Debug)]
pub struct Flatness {
    level: Level,
    stft: Stft,
    feed: Feed,
    work: Work,
    sum: f64,
    frames: u64,
}

impl Flatness {
    /// Of a sound of which nothing was heard yet.
    pub fn new(level: Level) -> Self {
        let (stft, feed) = (Stft::new(), Feed::new(HOP));
        Self { level, stft, feed, work: Work::default(), sum: 0.0, frames: 0 }
    }

    /// Takes the next samples of one channel, or of the mean of several, any number of them.
    pub fn push(&mut self, samples: &[f64]) {
        self.feed.push(samples.iter().copied());
        for (_, batch) in self.feed.ready() {
            let found = self.level.run(
                #[inline(always)]
                || of_batch(self.stft.run(batch, HOP, BATCH, &mut self.work)),
            );
            add(&mut self.sum, &mut self.frames, &found, BATCH);
        }
        self.feed.drop_ready();
    }

    /// The mean over all frames that are not silent, `None` without one.
    pub fn finish(mut self) -> Option<f64> {
        let (rest, frames) = self.feed.rest();
        let found = self.level.run(
            #[inline(always)]
            || of_batch(self.stft.run(rest, HOP, frames, &mut self.work)),
        );
        add(&mut self.sum, &mut self.frames, &found, frames);
        (self.frames > 0).then(|| self.sum / self.frames as f64)
    }
}

fn add(sum: &mut f64, count: &mut u64, found: &[Option<f64>; BATCH], frames: usize) {
    for flatness in found[..frames].iter().flatten() {
        *sum += flatness;
        *count += 1;
    }
}

#[inline(always)]
fn of_batch(bins: &[Bin]) -> [Option<f64>; BATCH] {
    let mut total = [0.0; BATCH];
    let mut logs = [0.0; BATCH];
    // The product of twelve powers is a number still, and costs one logarithm.
    for group in bins.chunks(12) {
        let mut product = [1.0; BATCH];
        for bin in group {
            let power = bin.power();
            for l in 0..BATCH {
                let p = power[l].max(FLOOR);
                total[l] += p;
                product[l] *= p;
            }
        }
        let log = ln(&product);
        for l in 0..BATCH {
            logs[l] += log[l];
        }
    }
    std::array::from_fn(|l| {
        let mean = total[l] / BINS as f64;
        (mean > SILENT).then(|| libm::exp(logs[l] / BINS as f64) / mean)
    })
}
