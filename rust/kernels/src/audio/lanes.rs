//! Sums of many samples side by side: which lane a sample goes to depends on its index alone, so that
//! they vectorise and come out the same however the samples were cut up.

use super::CLIP_LEVEL;

pub(super) const LANES: usize = 8;

/// Lanes of one channel in the segment that is being filled.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    pub(super) sum: [f64; LANES],
    pub(super) squares: [f64; LANES],
    pub(super) low: [f32; LANES],
    pub(super) high: [f32; LANES],
    pub(super) clipped: [u32; LANES],
}

impl Lanes {
    pub(super) const EMPTY: Self = Self {
        sum: [0.0; LANES],
        squares: [0.0; LANES],
        low: [f32::INFINITY; LANES],
        high: [f32::NEG_INFINITY; LANES],
        clipped: [0; LANES],
    };

    #[inline(always)]
    pub(super) fn add(&mut self, lane: usize, x: f32) {
        let wide = f64::from(x);
        self.sum[lane] += wide;
        self.squares[lane] += wide * wide;
        self.low[lane] = if x < self.low[lane] { x } else { self.low[lane] };
        self.high[lane] = if x > self.high[lane] { x } else { self.high[lane] };
        self.clipped[lane] += u32::from(x.abs() >= CLIP_LEVEL);
    }

    pub(super) fn low(&self) -> f32 {
        self.low.iter().copied().fold(f32::INFINITY, f32::min)
    }

    pub(super) fn high(&self) -> f32 {
        self.high.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }

    pub(super) fn peak(&self) -> f64 {
        f64::from(self.high().max(-self.low()).max(0.0))
    }

    pub(super) fn clipped(&self) -> u64 {
        self.clipped.iter().map(|&count| u64::from(count)).sum()
    }
}

/// Lanes of what left and right have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct PairLanes {
    pub(super) side: [f64; LANES],
    pub(super) product: [f64; LANES],
}

impl PairLanes {
    #[inline(always)]
    pub(super) fn add(&mut self, lane: usize, left: f32, right: f32) {
        let (left, right) = (f64::from(left), f64::from(right));
        let half = 0.5 * (left - right);
        self.side[lane] += half * half;
        self.product[lane] += left * right;
    }
}

pub(super) fn total(lanes: &[f64; LANES]) -> f64 {
    lanes.iter().sum()
}

/// Feeds whole groups of [`LANES`] samples and the ragged ends on either side of them.
#[inline(always)]
pub(super) fn in_lanes(from: usize, count: usize, mut add: impl FnMut(usize, usize)) {
    let head = ((LANES - from % LANES) % LANES).min(count);
    for i in 0..head {
        add((from + i) % LANES, i);
    }
    let groups = (count - head) / LANES;
    for group in 0..groups {
        let start = head + group * LANES;
        for lane in 0..LANES {
            add(lane, start + lane);
        }
    }
    for (lane, i) in (head + groups * LANES..count).enumerate() {
        add(lane, i);
    }
}
