//! An order statistic of the slopes, exactly: a histogram finds its bucket, a selection its value.

use super::slope::Sums;
use super::{BAND, Detail};
use crate::simd::Level;

/// Bits of a float that are left out of its bucket: 32 buckets to a doubling.
const COARSE: u32 = 18;

/// Buckets of the floats from 0 to infinity.
pub(super) const BUCKETS: usize = (f32::INFINITY.to_bits() >> COARSE) as usize + 1;

/// The bucket of a float of at least 0. The bits of such floats ascend with their values.
#[inline(always)]
pub(super) fn bucket(value: f32) -> usize {
    ((value.to_bits() >> COARSE) as usize).min(BUCKETS - 1)
}

/// A quantile of the slopes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantile {
    /// Linear between the two nearest order statistics.
    pub(super) value: f64,
    /// The square of a slope that reaches it is at least this: no slope lies between two
    /// neighbouring order statistics.
    pub(super) least_square: f32,
}

/// The quantile `share` of the slopes whose squares are given.
pub(super) fn quantile(detail: &Detail, squares: &[f32], sums: &Sums, share: f64) -> Quantile {
    let position = share * (squares.len() - 1) as f64;
    let (rank, fraction) = (position as usize, position.fract());
    let (before, first) = holding(&sums.histogram, rank);
    let (_, last) = holding(&sums.histogram, (rank + 1).min(squares.len() - 1));
    let piece = BAND * detail.format.width;
    let mut inside: Vec<u32> = detail
        .each(squares.len().div_ceil(piece), |i| {
            let values = &squares[i * piece..squares.len().min((i + 1) * piece)];
            collect(detail.level, values, first, last)
        })
        .concat();
    let (_, low, above) = inside.select_nth_unstable(rank - before);
    let low = *low;
    let high = above.iter().copied().min().unwrap_or(low);
    let [lower, upper] = [low, high].map(|bits| f64::from(f32::from_bits(bits)).sqrt());
    Quantile {
        value: lower + (upper - lower) * fraction,
        least_square: f32::from_bits(if fraction > 0.0 { high } else { low }),
    }
}

/// The bucket that holds the value of this rank, and how many values lie in the buckets before it.
fn holding(histogram: &[u32], rank: usize) -> (usize, usize) {
    let mut before = 0;
    for (bucket, &count) in histogram.iter().enumerate() {
        if before + count as usize > rank {
            return (before, bucket);
        }
        before += count as usize;
    }
    (before, histogram.len() - 1)
}

/// The bits of the values in buckets `first` to `last`. Runs that have none are passed over.
fn collect(level: Level, values: &[f32], first: usize, last: usize) -> Vec<u32> {
    const RUN: usize = 64;
    let least = (first as u32) << COARSE;
    let span = ((last - first + 1) as u32) << COARSE;
    let mut inside = Vec::new();
    level.run(
        #[inline(always)]
        || {
            for run in values.chunks(RUN) {
                // Counted rather than searched: a search ends early, and cannot be vectorised.
                let holds = |bits: u32| bits.wrapping_sub(least) < span;
                let count: u32 = run.iter().map(|v| u32::from(holds(v.to_bits()))).sum();
                if count > 0 {
                    inside.extend(run.iter().map(|v| v.to_bits()).filter(|&bits| holds(bits)));
                }
            }
        },
    );
    inside
}
