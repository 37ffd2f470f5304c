use super::stft::{BATCH, BINS, Bin, LENGTH};

/// Bands of the mel scale.
const BANDS: usize = 64;
/// Magnitude that stands for less.
const FLOOR: f64 = 1e-10;

/// Triangular bands, evenly wide in mel from 0 to half the sample rate.
#[derive(Debug)]
pub(super) struct Mel {
    /// Per frequency the band that rises there and the one that falls, each with its weight.
    shares: Vec<[(usize, f64); 2]>,
}

/// Sums of the bands of a batch of frames.
pub(super) type Bands = [[f64; BATCH]; BANDS];

impl Mel {
    pub(super) const BANDS: usize = BANDS;

    pub(super) fn new(sample_rate: u32) -> Self {
        let rate = f64::from(sample_rate);
        let top = 2595.0 * libm::log10(1.0 + rate / 2.0 / 700.0);
        let edge = |i: usize| {
            let mel = top * i as f64 / (BANDS + 1) as f64;
            let frequency = 700.0 * (libm::pow(10.0, mel / 2595.0) - 1.0);
            ((LENGTH + 1) as f64 * frequency / rate) as usize
        };
        let mut shares = vec![[(0, 0.0); 2]; BINS];
        for band in 0..BANDS {
            let [low, middle, high] = [0, 1, 2].map(|i| edge(band + i));
            let width = |from: usize, to: usize| (to - from) as f64;
            let (rising, falling) = (low..middle.min(BINS), middle.min(BINS)..high.min(BINS));
            for (i, bin) in shares[rising].iter_mut().enumerate() {
                bin[0] = (band, i as f64 / width(low, middle));
            }
            for (i, bin) in shares[falling].iter_mut().enumerate() {
                bin[1] = (band, 1.0 - i as f64 / width(middle, high));
            }
        }
        Self { shares }
    }

    /// The logarithms of the bands' sums of magnitudes.
    #[inline(always)]
    pub(super) fn logs(&self, bins: &[Bin]) -> Bands {
        let mut bands = [[0.0; BATCH]; BANDS];
        for (bin, shares) in bins.iter().zip(&self.shares) {
            let magnitudes = bin.power().map(f64::sqrt);
            for &(band, weight) in shares {
                for (sum, magnitude) in bands[band].iter_mut().zip(magnitudes) {
                    *sum += weight * magnitude;
                }
            }
        }
        for band in &mut bands {
            *band = super::logarithm::ln(&band.map(|x: f64| x.max(FLOOR)));
        }
        bands
    }
}
