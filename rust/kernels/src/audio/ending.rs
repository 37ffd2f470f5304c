//! How a sound goes over into silence: at once, or dying away.

use std::collections::VecDeque;

use super::SILENCE_POWER;

/// Milliseconds that are remembered: half a second of sound, the block of 50 ms that is silent, and
/// the rest of the one before it.
const KEPT: usize = 650;
/// Milliseconds of sound that the end is compared with, in fifths that all must sound.
const BEFORE: usize = 500;
/// The milliseconds that are the end.
const LAST: usize = 5;
/// Below this share of the power before it an end is a coder's ringing: -30 dB.
const RINGING: f64 = 1e-3;

/// The power of the last milliseconds, over all channels.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    size: usize,
    channels: usize,
    filled: usize,
    squares: Vec<f64>,
    powers: VecDeque<f64>,
}

impl Ending {
    pub(super) fn new(channels: usize, rate: u32) -> Self {
        Self {
            size: (rate as usize / 1000).max(1),
            channels,
            filled: 0,
            squares: vec![0.0; channels],
            powers: VecDeque::with_capacity(KEPT),
        }
    }

    /// Adds `count` samples of each plane from `at` on. Each channel is summed in its own order, so
    /// that it does not matter how the samples were cut up.
    pub(super) fn push(&mut self, planes: &[f32], stride: usize, at: usize, count: usize) {
        let (mut from, end) = (at, at + count);
        while from < end {
            let to = end.min(from + self.size - self.filled);
            for (sum, plane) in self.squares.iter_mut().zip(planes.chunks_exact(stride)) {
                for &x in &plane[from..to] {
                    *sum += f64::from(x) * f64::from(x);
                }
            }
            self.filled += to - from;
            from = to;
            if self.filled == self.size {
                let power = self.squares.iter().sum::<f64>() / (self.size * self.channels) as f64;
                if self.powers.len() == KEPT {
                    self.powers.pop_front();
                }
                self.powers.push_back(power);
                self.squares.fill(0.0);
                self.filled = 0;
            }
        }
    }

    /// The power of half a second of sound, and of the last milliseconds of it; `None` without.
    pub(super) fn edge(&self) -> Option<(f64, f64)> {
        let powers: Vec<f64> = self.powers.iter().copied().collect();
        let end = |floor: f64| powers.iter().rposition(|&power| power >= floor).map(|at| at + 1);
        let last = end(SILENCE_POWER)?;
        let before = &powers[last.checked_sub(BEFORE)?..last];
        if before.chunks_exact(BEFORE / 5).any(|fifth| mean(fifth) < SILENCE_POWER) {
            return None;
        }
        let level = mean(before);
        let stop = end((level * RINGING).max(SILENCE_POWER))?;
        Some((level, mean(&powers[stop.saturating_sub(LAST)..stop])))
    }
}

fn mean(powers: &[f64]) -> f64 {
    powers.iter().sum::<f64>() / powers.len() as f64
}
