//! All that is measured of a sound alone, in one pass over its blocks.

use super::flatness::Flatness;
use super::levels::{ChannelLevels, Levels, Silence, Stereo};
use super::loudness::{Loudness, LoudnessFound};
use super::true_peak::TruePeak;
use super::{Weight, checked, mean_of_channels, step_frames};
use crate::simd::Level;
use crate::{Error, Result};

/// Frames that are worked on at once: few enough that their planes stay in the cache.
const CHUNK: usize = 16_384;
/// Below this many samples other threads cost more than they do.
const FEW: usize = 8_192;

/// What was found of the samples pushed so far.
#[derive(Debug, Clone, PartialEq)]
pub struct AudioFound {
    /// Samples per channel.
    pub frames: u64,
    /// NaN and infinite samples. With one of them everything below is empty.
    pub non_finite: u64,
    /// Frame of the first of them.
    pub first_non_finite: Option<u64>,
    /// Each channel.
    pub channels: Vec<ChannelLevels>,
    /// Largest magnitude of each channel's oversampled signal, and the frame it is near.
    pub true_peaks: Vec<(f64, u64)>,
    /// Frame of the first sample of a magnitude of at least [`super::CLIP_LEVEL`].
    pub first_clip: Option<u64>,
    /// Left and right, where the sound has both.
    pub stereo: Option<Stereo>,
    /// Silent blocks.
    pub silence: Silence,
    /// Spectral flatness of the mean of the channels; `None` where that holds nothing.
    pub spectral_flatness: Option<f64>,
    /// Loudness, where the weights of the channels were given.
    pub loudness: Option<LoudnessFound>,
    /// Frames of a tenth of a second.
    pub tenth: usize,
    /// Mean power and largest magnitude of each tenth; the last may be shorter.
    pub tenths: Vec<(f64, f64)>,
}

impl AudioFound {
    /// Mean power of all samples of all channels.
    pub fn power(&self) -> f64 {
        let sum: f64 = self.channels.iter().map(|channel| channel.power).sum();
        sum / self.channels.len().max(1) as f64
    }
}

/// The meter of one sound, fed with interleaved blocks of any size. Their sizes, the number of
/// threads and the instruction set change no bit.
#[derive(Debug)]
pub struct AudioMeter {
    channels: usize,
    rate: u32,
    parallel: bool,
    frames: u64,
    non_finite: u64,
    first_non_finite: Option<u64>,
    levels: Levels,
    loudness: Option<Loudness>,
    peaks: Vec<TruePeak>,
    flatness: Flatness,
    mean: Vec<f64>,
    planes: Vec<f32>,
}

impl AudioMeter {
    /// A meter of `channels` at `rate` samples per second. Loudness needs `weights`, one for each
    /// channel; `front` are the indices of left and right.
    pub fn new(
        channels: usize,
        rate: u32,
        weights: Option<&[Weight]>,
        front: Option<(usize, usize)>,
        level: Level,
    ) -> Result<Self> {
        let known = |index: usize| index < channels;
        checked(channels, rate)?;
        if weights.is_some_and(|weights| weights.len() != channels)
            || front.is_some_and(|(left, right)| !known(left) || !known(right))
        {
            return Err(Error::BadSound { channels, rate });
        }
        Ok(Self {
            channels,
            rate,
            parallel: false,
            frames: 0,
            non_finite: 0,
            first_non_finite: None,
            levels: Levels::new(channels, rate, front, level),
            loudness: weights.map(|weights| Loudness::new(rate, weights)).transpose()?,
            peaks: (0..channels).map(|_| TruePeak::new(rate)).collect::<Result<_>>()?,
            flatness: Flatness::new(level),
            mean: Vec::new(),
            planes: Vec::new(),
        })
    }

    /// Whether the parts of the work may run on the threads of the pool this is called in.
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// Adds a block of whole frames.
    pub fn push(&mut self, interleaved: &[f32]) -> Result<()> {
        let (samples, channels) = (interleaved.len(), self.channels);
        if !samples.is_multiple_of(channels) {
            return Err(Error::BadBlock { samples, channels });
        }
        interleaved.chunks(CHUNK * channels).try_for_each(|chunk| self.push_chunk(chunk))
    }

    fn push_chunk(&mut self, chunk: &[f32]) -> Result<()> {
        let frames = chunk.len() / self.channels;
        let bad = chunk.iter().filter(|x| !x.is_finite()).count() as u64;
        if bad > 0 && self.first_non_finite.is_none() {
            let first = chunk.iter().position(|x| !x.is_finite());
            self.first_non_finite = first.map(|i| self.frames + (i / self.channels) as u64);
        }
        self.non_finite += bad;
        self.frames += frames as u64;
        if self.non_finite > 0 {
            return Ok(());
        }
        self.planes.resize(chunk.len(), 0.0);
        for (c, plane) in self.planes.chunks_exact_mut(frames).enumerate() {
            for (to, frame) in plane.iter_mut().zip(chunk.chunks_exact(self.channels)) {
                *to = frame[c];
            }
        }
        let (levels, loudness) = (&mut self.levels, &mut self.loudness);
        let (flatness, mean, channels) = (&mut self.flatness, &mut self.mean, self.channels);
        let planes = &self.planes[..];
        let mut of_loudness = Ok(());
        let mut of_peaks = vec![Ok(()); channels];
        let peaks = self.peaks.iter_mut().zip(planes.chunks_exact(frames)).zip(&mut of_peaks);
        let mut spectrum = || {
            mean.clear();
            mean.extend(mean_of_channels(chunk, channels));
            flatness.push(mean);
        };
        let mut loud = || {
            if let Some(loudness) = loudness {
                of_loudness = loudness.push(chunk);
            }
        };
        if self.parallel && chunk.len() >= FEW {
            rayon::scope(|scope| {
                scope.spawn(|_| spectrum());
                scope.spawn(|_| loud());
                for ((peak, plane), result) in peaks {
                    scope.spawn(move |_| *result = peak.push(plane));
                }
                scope.spawn(|_| levels.push(planes, frames));
            });
        } else {
            spectrum();
            loud();
            for ((peak, plane), result) in peaks {
                *result = peak.push(plane);
            }
            levels.push(planes, frames);
        }
        of_peaks.into_iter().fold(of_loudness, Result::and)
    }

    /// What was found of the whole sound.
    pub fn finish(self) -> Result<AudioFound> {
        let found = AudioFound {
            frames: self.frames,
            non_finite: self.non_finite,
            first_non_finite: self.first_non_finite,
            channels: Vec::new(),
            true_peaks: Vec::new(),
            first_clip: None,
            stereo: None,
            silence: Silence::default(),
            spectral_flatness: None,
            loudness: None,
            tenth: 10 * step_frames(self.rate),
            tenths: Vec::new(),
        };
        if self.non_finite > 0 {
            return Ok(found);
        }
        let levels = self.levels.finish();
        Ok(AudioFound {
            channels: levels.channels,
            true_peaks: self.peaks.into_iter().map(TruePeak::finish).collect::<Result<_>>()?,
            first_clip: levels.first_clip,
            stereo: levels.stereo,
            silence: levels.silence,
            spectral_flatness: self.flatness.finish(),
            loudness: self.loudness.map(|loudness| loudness.finish(levels.tenths.len())),
            tenths: levels.tenths,
            ..found
        })
    }
}
