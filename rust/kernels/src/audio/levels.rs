//! Levels, clipping, offset, silence and the relation of left and right.
//!
//! Sums are kept in a fixed number of lanes by the index of the sample in its segment, and a
//! segment ends where a silence block or a tenth of a second does, so neither the size of the
//! blocks that are pushed nor the instruction set changes a bit.

use super::ending::Ending;
use super::lanes::{Lanes, PairLanes, in_lanes, total};
use super::{CLIP_LEVEL, SILENCE_POWER, silence_frames, step_frames};
use crate::simd::Level;

/// The samples of one channel, so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelLevels {
    /// Mean of the squared samples.
    pub power: f64,
    /// Largest magnitude.
    pub peak: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// Samples with a magnitude of at least [`CLIP_LEVEL`].
    pub clipped: u64,
}

/// What two channels, left and right, have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Stereo {
    /// Mean power of the two.
    pub power: f64,
    /// Power of half of their difference.
    pub side: f64,
    /// Pearson's correlation; 1 where one of them is constant.
    pub correlation: f64,
}

/// Blocks of 50 ms whose mean power over the channels is below [`SILENCE_POWER`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Silence {
    /// Whole blocks, or 1 for a sound shorter than one.
    pub blocks: u64,
    /// Those that are silent.
    pub silent: u64,
    /// The most of them in a row.
    pub longest: u64,
    /// Frame at which the first such row begins.
    pub longest_from: u64,
    /// How the sound goes over into that row: the power of the half second before, and of its last
    /// 5 ms. `None` without half a second of sound before it.
    pub longest_edge: Option<(f64, f64)>,
    run: u64,
    edge: Option<(f64, f64)>,
}

impl Silence {
    fn add(&mut self, power: f64, frames: u64, ending: &Ending) {
        self.blocks += 1;
        if power < SILENCE_POWER && self.run == 0 {
            self.edge = ending.edge();
        }
        self.run = if power < SILENCE_POWER { self.run + 1 } else { 0 };
        self.silent += u64::from(self.run > 0);
        if self.run > self.longest {
            self.longest = self.run;
            self.longest_from = (self.blocks - self.run) * frames;
            self.longest_edge = self.edge;
        }
    }
}

/// Sums of one channel's whole segments.
#[derive(Debug, Clone)]
struct Sums {
    sum: f64,
    squares: f64,
    low: f32,
    high: f32,
    clipped: u64,
}

/// Levels of all channels, fed with planes of samples.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    front: Option<(usize, usize)>,
    level: Level,
    frames: u64,
    open: Vec<Lanes>,
    open_pair: PairLanes,
    open_frames: usize,
    sums: Vec<Sums>,
    side: f64,
    product: f64,
    tenth: Stretch,
    block: Stretch,
    silence: Silence,
    ending: Ending,
    /// Mean power and largest magnitude of each whole tenth of a second.
    tenths: Vec<(f64, f64)>,
    first_clip: Option<u64>,
}

/// A stretch of the sound that is being filled.
#[derive(Debug, Clone)]
struct Stretch {
    size: usize,
    filled: usize,
    squares: f64,
    peak: f64,
}

impl Stretch {
    fn new(size: usize) -> Self {
        Self { size, filled: 0, squares: 0.0, peak: 0.0 }
    }

    /// Adds a segment; the mean power per channel and the peak, once this is `full`.
    fn add(
        &mut self,
        frames: usize,
        squares: f64,
        peak: f64,
        channels: usize,
    ) -> Option<(f64, f64)> {
        self.filled += frames;
        self.squares += squares;
        self.peak = self.peak.max(peak);
        (self.filled == self.size).then(|| {
            let values = self.values(channels);
            *self = Self::new(self.size);
            values
        })
    }

    fn values(&self, channels: usize) -> (f64, f64) {
        (self.squares / (self.filled * channels) as f64, self.peak)
    }
}

/// What was found of the whole sound.
pub(super) struct Found {
    pub(super) channels: Vec<ChannelLevels>,
    pub(super) stereo: Option<Stereo>,
    pub(super) silence: Silence,
    pub(super) first_clip: Option<u64>,
    pub(super) tenths: Vec<(f64, f64)>,
}

impl Levels {
    pub(super) fn new(
        channels: usize,
        rate: u32,
        front: Option<(usize, usize)>,
        level: Level,
    ) -> Self {
        let none = Sums {
            sum: 0.0,
            squares: 0.0,
            low: f32::INFINITY,
            high: f32::NEG_INFINITY,
            clipped: 0,
        };
        Self {
            front,
            level,
            frames: 0,
            open: vec![Lanes::EMPTY; channels],
            open_pair: PairLanes::default(),
            open_frames: 0,
            sums: vec![none; channels],
            side: 0.0,
            product: 0.0,
            tenth: Stretch::new(10 * step_frames(rate)),
            block: Stretch::new(silence_frames(rate)),
            silence: Silence::default(),
            ending: Ending::new(channels, rate),
            tenths: Vec::new(),
            first_clip: None,
        }
    }

    /// Adds `frames` samples of each channel, one plane after the other, all of them finite.
    pub(super) fn push(&mut self, planes: &[f32], frames: usize) {
        let mut at = 0;
        while at < frames {
            let room = self.room().min(frames - at);
            self.fill(planes, frames, at, room);
            at += room;
            if self.room() == 0 {
                self.close();
            }
        }
    }

    /// Frames until the segment ends.
    fn room(&self) -> usize {
        let left = |stretch: &Stretch| stretch.size - stretch.filled - self.open_frames;
        left(&self.tenth).min(left(&self.block))
    }

    fn fill(&mut self, planes: &[f32], stride: usize, at: usize, count: usize) {
        let from = self.open_frames;
        let (open, pair, front) = (&mut self.open, &mut self.open_pair, self.front);
        let before: u64 = open.iter().map(Lanes::clipped).sum();
        self.level.run(
            #[inline(always)]
            || {
                for (lanes, plane) in open.iter_mut().zip(planes.chunks_exact(stride)) {
                    let samples = &plane[at..at + count];
                    let mut local = lanes.clone();
                    in_lanes(from, count, |lane, i| local.add(lane, samples[i]));
                    *lanes = local;
                }
                if let Some((left, right)) = front {
                    let left = &planes[left * stride + at..][..count];
                    let right = &planes[right * stride + at..][..count];
                    let mut local = pair.clone();
                    in_lanes(from, count, |lane, i| local.add(lane, left[i], right[i]));
                    *pair = local;
                }
            },
        );
        if self.first_clip.is_none() && self.open.iter().map(Lanes::clipped).sum::<u64>() > before {
            let first = planes
                .chunks_exact(stride)
                .filter_map(|plane| {
                    plane[at..at + count].iter().position(|x| x.abs() >= CLIP_LEVEL)
                })
                .min();
            self.first_clip = first.map(|i| self.frames + i as u64);
        }
        self.ending.push(planes, stride, at, count);
        self.open_frames += count;
        self.frames += count as u64;
    }

    /// Ends the segment: its lanes go into the sums.
    fn close(&mut self) {
        let (mut squares, mut peak) = (0.0, 0.0_f64);
        for (lanes, sums) in self.open.iter_mut().zip(&mut self.sums) {
            let own = total(&lanes.squares);
            squares += own;
            peak = peak.max(lanes.peak());
            sums.squares += own;
            sums.sum += total(&lanes.sum);
            sums.low = sums.low.min(lanes.low());
            sums.high = sums.high.max(lanes.high());
            sums.clipped += lanes.clipped();
            *lanes = Lanes::EMPTY;
        }
        self.side += total(&self.open_pair.side);
        self.product += total(&self.open_pair.product);
        self.open_pair = PairLanes::default();
        let (frames, channels) = (std::mem::take(&mut self.open_frames), self.open.len());
        if let Some((power, _)) = self.block.add(frames, squares, peak, channels) {
            self.silence.add(power, self.block.size as u64, &self.ending);
        }
        self.tenths.extend(self.tenth.add(frames, squares, peak, channels));
    }

    /// All that is known of the whole sound.
    pub(super) fn finish(self) -> Found {
        let mut ended = self;
        ended.close();
        let channels = ended.open.len();
        if ended.silence.blocks == 0 && ended.frames > 0 {
            ended.silence.add(ended.block.values(channels).0, ended.frames, &ended.ending);
        }
        if ended.tenth.filled > 0 {
            ended.tenths.push(ended.tenth.values(channels));
        }
        let n = ended.frames.max(1) as f64;
        let of = |sums: &Sums| ChannelLevels {
            power: sums.squares / n,
            peak: f64::from(sums.high.max(-sums.low).max(0.0)),
            mean: sums.sum / n,
            clipped: sums.clipped,
        };
        Found {
            channels: ended.sums.iter().map(of).collect(),
            stereo: ended.front.filter(|_| ended.frames > 0).map(|front| ended.stereo(front, n)),
            silence: ended.silence,
            first_clip: ended.first_clip,
            tenths: ended.tenths,
        }
    }

    fn stereo(&self, (left, right): (usize, usize), n: f64) -> Stereo {
        let (left, right) = (&self.sums[left], &self.sums[right]);
        let variance = |sums: &Sums| sums.squares - sums.sum * sums.sum / n;
        let spread = variance(left).max(0.0) * variance(right).max(0.0);
        let constant = left.low >= left.high || right.low >= right.high || spread <= 0.0;
        let common = self.product - left.sum * right.sum / n;
        let correlation = if constant { 1.0 } else { common / spread.sqrt() };
        Stereo {
            power: (left.squares + right.squares) / (2.0 * n),
            side: self.side / n,
            correlation: correlation.clamp(-1.0, 1.0),
        }
    }
}
