//! Largest value between the samples: the `ebur128` crate's interpolation, four times below 96 kHz,
//! twice below 192 kHz and none from there on, one meter for each channel.

use ebur128::{EbuR128, Mode};

use crate::{Error, Result};

/// Frames of the stretches whose peaks are compared: to about this, half of it on either side, a
/// peak's place is known.
const STRETCH: usize = 64;

/// The interpolation filter has 12 taps per phase at four times and 24 at two: with as many zeros it
/// has seen all of the sound.
const TAPS: usize = 24;

/// By how much the samples are multiplied at this rate.
pub fn oversampling(rate: u32) -> u32 {
    match rate {
        ..96_000 => 4,
        96_000..192_000 => 2,
        192_000.. => 1,
    }
}

/// The true peak of one channel.
#[derive(Debug)]
pub(super) struct TruePeak {
    meter: EbuR128,
    frames: u64,
    peak: f64,
    stretch: u64,
}

impl TruePeak {
    pub(super) fn new(rate: u32) -> Result<Self> {
        let refused = |_| Error::BadSound { channels: 1, rate };
        let meter = EbuR128::new(1, rate, Mode::TRUE_PEAK).map_err(refused)?;
        Ok(Self { meter, frames: 0, peak: 0.0, stretch: 0 })
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<()> {
        let mut rest = samples;
        while !rest.is_empty() {
            let room = STRETCH - (self.frames % STRETCH as u64) as usize;
            let (now, later) = rest.split_at(room.min(rest.len()));
            let peak = peak_of(&mut self.meter, now)?;
            if peak > self.peak {
                self.peak = peak;
                self.stretch = self.frames / STRETCH as u64;
            }
            self.frames += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The peak, with silence after the last sample, and the frame that it is near.
    pub(super) fn finish(mut self) -> Result<(f64, u64)> {
        let last = self.frames.saturating_sub(1);
        let after = peak_of(&mut self.meter, &[0.0; TAPS])?;
        let middle = (self.stretch * STRETCH as u64 + STRETCH as u64 / 2).min(last);
        Ok(if after > self.peak { (after, last) } else { (self.peak, middle) })
    }
}

/// The peak of what these samples bring out of the filter.
fn peak_of(meter: &mut EbuR128, samples: &[f32]) -> Result<f64> {
    let refused = |_| Error::BadBlock { samples: samples.len(), channels: 1 };
    meter.add_frames_f32(samples).map_err(refused)?;
    meter.prev_true_peak(0).map_err(refused)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn peak(samples: &[f32], rate: u32) -> (f64, u64) {
        let mut meter = TruePeak::new(rate).unwrap();
        meter.push(samples).unwrap();
        meter.finish().unwrap()
    }

    /// Between two samples of full scale the sinc reaches 2 sinc(1/2) = 4 / pi; Hann's window over 12
    /// samples takes 0.15 dB of it.
    #[test]
    fn peak_of_the_last_two_samples_is_not_lost() {
        let mut samples = vec![0.0; 1000];
        samples[998..].fill(1.0);
        let (last, at) = peak(&samples, 48_000);
        let window = (1.0 + (std::f64::consts::PI / 12.0).cos()) / 2.0;
        assert!((last - 4.0 / std::f64::consts::PI * window).abs() < 1e-6, "{last}");
        assert_eq!(at, 999);
        let (inside, at) = peak(&[&samples[..], &[0.0; 100]].concat(), 48_000);
        assert_eq!(inside, last);
        assert!(at.abs_diff(999) <= STRETCH as u64, "{at}");
    }

    #[test]
    fn factor_falls_with_the_rate_and_the_last_is_the_sample_peak() {
        let given: Vec<u32> = [8_000, 95_999, 96_000, 191_999, 192_000, 384_000].into();
        assert_eq!(given.into_iter().map(oversampling).collect::<Vec<_>>(), [4, 4, 2, 2, 1, 1]);
        let samples = [0.0, 0.5, 0.5, 0.0];
        assert!(peak(&samples, 48_000).0 > 0.55);
        assert!(peak(&samples, 96_000).0 > 0.55);
        assert_eq!(peak(&samples, 192_000).0, 0.5);
    }

    #[test]
    fn pieces_of_any_size_give_the_same_bits() {
        let samples: Vec<f32> = (0..5000).map(|i| ((i * i) as f32 * 0.01).sin() * 0.7).collect();
        let whole = peak(&samples, 44_100);
        for size in [1, 7, 64, 1000] {
            let mut meter = TruePeak::new(44_100).unwrap();
            for piece in samples.chunks(size) {
                meter.push(piece).unwrap();
            }
            assert_eq!(meter.finish().unwrap(), whole, "{size}");
        }
    }
}
