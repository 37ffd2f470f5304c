//! How far a sound moved from its reference, second by second.

use rayon::prelude::*;

use super::checked;
use super::logarithm::ln;
use super::mel::Mel;
use super::stft::{self, BATCH, BINS, Bin, LENGTH, Stft};
use super::sums::{STRETCH, Stretch, Sums};
use crate::simd::Level;
use crate::spare::Spare;
use crate::{Error, Result};

/// Samples between frames.
const HOP: usize = 256;
/// Samples from the first frame of a batch to the first of the next.
const STEP: usize = BATCH * HOP;
/// Power that stands for less.
const FLOOR: f64 = 1e-20;

/// A reference and a candidate of one sample rate, pushed in pieces of any size.
///
/// The first of the tracks is the mean of the channels; the others are the channels, where they are
/// compared. What one side is ahead of the other is kept.
#[derive(Debug)]
pub struct AudioPair {
    level: Level,
    rate: usize,
    sides: [Side; 2],
    by_channel: bool,
    stft: Stft,
    mel: Mel,
    works: Spare<Work>,
    /// Samples whose sums are taken, and frames whose spectra are.
    summed: usize,
    batches: usize,
    tracks: Vec<Vec<Sums>>,
    stretches: Vec<Stretch>,
}

/// What is not compared yet of one sound.
#[derive(Debug)]
struct Side {
    channels: usize,
    /// Samples that have no partner, for the lag.
    skip: usize,
    /// Of each track; the first sample's index among those compared is `at`.
    at: usize,
    pending: Vec<Vec<f64>>,
}

#[derive(Debug, Default)]
struct Work {
    stft: [stft::Work; 2],
    means: [Vec<Bin>; 2],
}

/// Per frame of a batch the sums over its frequencies and its bands.
type Distances = [(f64, f64); BATCH];

impl AudioPair {
    /// Frequencies of a frame, and mel bands.
    pub const SIZES: (usize, usize) = (BINS, Mel::BANDS);

    /// `channels` of the reference and the candidate, which is late by `lag` samples. Channels are
    /// compared one by one only where asked for and where both have as many.
    pub fn new(
        channels: [usize; 2],
        sample_rate: u32,
        lag: i64,
        by_channel: bool,
        level: Level,
    ) -> Result<Self> {
        for count in channels {
            checked(count, sample_rate)?;
        }
        let by_channel = by_channel && channels[0] == channels[1] && channels[0] > 1;
        let skips = [lag.min(0).unsigned_abs() as usize, lag.max(0) as usize];
        let tracks = if by_channel { 1 + channels[0] } else { 1 };
        let side = |s: usize| Side {
            channels: channels[s],
            skip: skips[s],
            at: 0,
            pending: vec![Vec::new(); tracks],
        };
        Ok(Self {
            level,
            rate: sample_rate as usize,
            sides: [side(0), side(1)],
            by_channel,
            stft: Stft::new(),
            mel: Mel::new(sample_rate),
            works: Spare::default(),
            summed: 0,
            batches: 0,
            tracks: vec![Vec::new(); tracks],
            stretches: vec![Stretch::default(); tracks],
        })
    }

    /// Takes the next samples of both, interleaved; either may be ahead of the other.
    pub fn push(&mut self, reference: &[f32], candidate: &[f32]) -> Result<()> {
        let [first, second] = &mut self.sides;
        first.check(reference)?;
        second.check(candidate)?;
        rayon::join(|| first.push(reference), || second.push(candidate));
        self.advance();
        Ok(())
    }

    /// The sums of each second of each track. What one sound has more is not compared.
    pub fn finish(mut self) -> Vec<Vec<Sums>> {
        let common = self.common();
        let left = stft::frames_of(common, HOP) - self.batches * BATCH;
        if left > 0 {
            let from = self.batches * STEP;
            let found = self.batch(from, common - from, left);
            self.add(self.batches, &found, left);
        }
        if let Some(last) = self.summed.checked_sub(1) {
            for (seconds, stretch) in self.tracks.iter_mut().zip(&mut self.stretches) {
                stretch.close(second(seconds, last / self.rate));
            }
        }
        self.tracks
    }

    /// Samples that both sides have, from the first on.
    fn common(&self) -> usize {
        self.sides.iter().map(Side::end).min().unwrap_or(0)
    }

    fn advance(&mut self) {
        let common = self.common();
        self.sum_until(common);
        let span = STEP - HOP + LENGTH;
        let ready = if common < span { 0 } else { 1 + (common - span) / STEP };
        if ready > self.batches {
            let found: Vec<Vec<Distances>> = (self.batches..ready)
                .into_par_iter()
                .map(|b| self.batch(b * STEP, span, BATCH))
                .collect();
            for (b, distances) in found.iter().enumerate() {
                self.add(self.batches + b, distances, BATCH);
            }
            self.batches = ready;
        }
        let done = self.summed.min(self.batches * STEP);
        for side in &mut self.sides {
            side.forget(done);
        }
    }

    /// Sums of samples, each second by itself and from its first sample on.
    fn sum_until(&mut self, end: usize) {
        let Self { level, sides: [reference, candidate], tracks, stretches, .. } = self;
        let (level, from, rate) = (*level, self.summed, self.rate);
        tracks.par_iter_mut().zip(stretches).enumerate().for_each(|(track, (seconds, stretch))| {
            let mut at = from;
            while at < end {
                let inside = at % rate;
                let whole = STRETCH.min(rate - (inside - stretch.samples));
                let count = (whole - stretch.samples).min(end - at);
                let samples = [&*reference, &*candidate].map(|side| side.samples(track, at, count));
                level.run(
                    #[inline(always)]
                    || stretch.add(samples),
                );
                if stretch.samples == whole {
                    stretch.close(second(seconds, at / rate));
                }
                at += count;
            }
        });
        self.summed = end;
    }

    /// The distances of each track's frames, of which the first begins at sample `from`.
    fn batch(&self, from: usize, span: usize, frames: usize) -> Vec<Distances> {
        let mut work = self.works.take();
        // The mean's spectrum is that of the channels' spectra.
        let sources = if self.by_channel { 1..self.tracks.len() } else { 0..1 };
        let mut found = vec![[(0.0, 0.0); BATCH]; self.tracks.len()];
        let share = 1.0 / sources.len() as f64;
        for mean in &mut work.means {
            mean.clear();
            mean.resize(BINS, Bin::ZERO);
        }
        for track in sources {
            let samples = [0, 1].map(|s| self.sides[s].samples(track, from, span));
            let Work { stft: [first, second], means } = &mut work;
            found[track] = self.level.run(
                #[inline(always)]
                || {
                    let reference = self.stft.run(samples[0], HOP, frames, first);
                    let candidate = self.stft.run(samples[1], HOP, frames, second);
                    if self.by_channel {
                        add_share(&mut means[0], reference, share);
                        add_share(&mut means[1], candidate, share);
                    }
                    distances(reference, candidate, &self.mel)
                },
            );
        }
        if self.by_channel {
            found[0] = self.level.run(
                #[inline(always)]
                || distances(&work.means[0], &work.means[1], &self.mel),
            );
        }
        self.works.give(work);
        found
    }

    fn add(&mut self, batch: usize, found: &[Distances], frames: usize) {
        for (track, distances) in found.iter().enumerate() {
            for (f, &(level_squares, mel)) in distances[..frames].iter().enumerate() {
                let at = (batch * BATCH + f) * HOP / self.rate;
                let sums = second(&mut self.tracks[track], at);
                sums.frames += 1.0;
                sums.level_squares += level_squares;
                sums.mel += mel;
            }
        }
    }
}

impl Side {
    fn check(&self, block: &[f32]) -> Result<()> {
        let (samples, channels) = (block.len(), self.channels);
        if samples.is_multiple_of(channels) {
            return Ok(());
        }
        Err(Error::BadBlock { samples, channels })
    }

    fn push(&mut self, block: &[f32]) {
        let skipped = self.skip.min(block.len() / self.channels);
        self.skip -= skipped;
        let block = &block[skipped * self.channels..];
        let [mean, channels @ ..] = &mut self.pending[..] else { return };
        mean.extend(super::mean_of_channels(block, self.channels));
        for (c, channel) in channels.iter_mut().enumerate() {
            channel.extend(block.chunks_exact(self.channels).map(|frame| f64::from(frame[c])));
        }
    }

    /// Where the samples end that were pushed so far.
    fn end(&self) -> usize {
        self.at + self.pending[0].len()
    }

    fn samples(&self, track: usize, from: usize, count: usize) -> &[f64] {
        &self.pending[track][from - self.at..][..count]
    }

    fn forget(&mut self, until: usize) {
        for track in &mut self.pending {
            track.drain(..until - self.at);
        }
        self.at = until;
    }
}

/// The sums of a second, which may not have been reached yet.
fn second(seconds: &mut Vec<Sums>, at: usize) -> &mut Sums {
    if seconds.len() <= at {
        seconds.resize(at + 1, Sums::default());
    }
    &mut seconds[at]
}

#[inline(always)]
fn add_share(mean: &mut [Bin], bins: &[Bin], share: f64) {
    for (mean, bin) in mean.iter_mut().zip(bins) {
        for l in 0..BATCH {
            mean.re[l] += bin.re[l] * share;
            mean.im[l] += bin.im[l] * share;
        }
    }
}

#[inline(always)]
fn distances(reference: &[Bin], candidate: &[Bin], mel: &Mel) -> Distances {
    const DECIBELS: f64 = 10.0 / std::f64::consts::LN_10;
    let mut level_squares = [0.0; BATCH];
    for (r, c) in reference.iter().zip(candidate) {
        let (r, c) = (r.power(), c.power());
        let ratio: [f64; BATCH] = std::array::from_fn(|l| c[l].max(FLOOR) / r[l].max(FLOOR));
        let logs = ln(&ratio);
        for l in 0..BATCH {
            let decibels = DECIBELS * logs[l];
            level_squares[l] += decibels * decibels;
        }
    }
    let mut bands = [0.0; BATCH];
    for (r, c) in mel.logs(reference).iter().zip(&mel.logs(candidate)) {
        for l in 0..BATCH {
            bands[l] += (c[l] - r[l]).abs();
        }
    }
    std::array::from_fn(|l| (level_squares[l], bands[l]))
}
