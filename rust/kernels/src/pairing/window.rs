//! The last signatures of two clips, and how unlike each candidate frame is to the reference frames
//! around its index.

use std::collections::VecDeque;

use super::signature::Signature;
use super::{OFFSETS, REACH};
use crate::simd::Level;

/// Half an 8-bit level of contrast, squared, a block: below it a picture counts as flat.
const FLAT: f64 = 64.0;

/// Variance of a block's rounding, a few times over: what two equal pictures may differ by.
const ROUNDING: f64 = 0.5;

/// A candidate frame whose own motion is below this share of the reference's repeats the one before.
const STILL: f64 = 0.1;

/// Two small changes in a row that add up to more than this many of one are motion.
const CREEPS: f64 = 2.5;

/// And below this share it is a copy of it.
const COPY: f64 = 0.02;

/// The same where a coder still refines what it repeats.
const STILL_CODED: f64 = 0.4;

/// The same where both clips hold noise of their own: the noise of two frames, and a margin.
const STILL_NOISE: (f64, f64) = (1.0, 2.4);

/// A run of still frames goes on while noise is not above this many times its first.
const STILL_ON: f64 = 1.3;

/// Unlikeness up to which a candidate counts as the reference with noise on it.
const NOISY: f64 = 0.05;

/// Along the reference's own change, a frame in step has moved by 1 and a repeat by 0.
const STILL_ALONG: f64 = 0.3;

/// Reference frames on either side over which its motion is averaged.
const AROUND: usize = 4;

/// How unlike two pictures are: 1 - r of their block means, from 0 for equal ones (whatever their
/// brightness and contrast) to 1 for unrelated ones. Two flat pictures are equal.
fn unlikeness(a: &Signature, b: &Signature, dot: i64, blocks: usize) -> f64 {
    let flat = FLAT * blocks as f64;
    let energy = (a.energy as f64 + flat) * (b.energy as f64 + flat);
    (1.0 - (dot as f64 + flat) / energy.sqrt()).max(0.0)
}

/// One candidate frame against the reference.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Index of the candidate frame.
    pub(super) frame: usize,
    /// Unlikeness to reference frame `frame + o - REACH`; NaN where there is none.
    pub(super) cost: [f32; OFFSETS],
    /// Mean unlikeness of neighbouring reference frames around `frame`.
    pub(super) motion: f32,
    /// Whether it shows the candidate frame before again.
    pub(super) still: bool,
    /// Whether it is the candidate frame before, bit for bit or nearly so.
    pub(super) copy: bool,
    /// Unlikeness that rounding explains.
    pub(super) rounding: f32,
}

/// Unlikeness of one reference frame to those before it.
#[derive(Debug, Clone)]
pub(super) struct Past {
    /// Entry `k` is against the frame `k` earlier; NaN where there is none.
    pub(super) cost: [f32; OFFSETS],
}

/// Signatures that are still needed, by frame.
#[derive(Debug, Default)]
struct Ring {
    kept: VecDeque<Signature>,
    /// Frames pushed.
    count: usize,
}

impl Ring {
    fn push(&mut self, one: Signature) {
        if self.kept.len() > OFFSETS + REACH {
            self.kept.pop_front();
        }
        self.kept.push_back(one);
        self.count += 1;
    }

    fn get(&self, frame: usize) -> Option<&Signature> {
        let first = self.count - self.kept.len();
        frame.checked_sub(first).and_then(|at| self.kept.get(at))
    }
}

#[derive(Debug)]
pub(super) struct Window {
    level: Level,
    blocks: usize,
    reference: Ring,
    candidate: Ring,
    /// Own change of each reference frame, and products with its past, from `past_from` on.
    past: VecDeque<Past>,
    past_from: usize,
    /// Products of the last candidate frame with the reference.
    dots: [Option<i64>; OFFSETS],
    /// Candidate frames whose row has been given.
    rows: usize,
    /// Own change of the first of a run of still frames of a noisy candidate.
    still_noise: Option<f64>,
    /// Whether the last candidate frame changed far less than the reference moves.
    slow: bool,
}

impl Window {
    pub(super) fn new(level: Level, blocks: usize) -> Self {
        Self {
            level,
            blocks,
            reference: Ring::default(),
            candidate: Ring::default(),
            past: VecDeque::new(),
            past_from: 0,
            dots: [None; OFFSETS],
            rows: 0,
            still_noise: None,
            slow: false,
        }
    }

    pub(super) fn push_reference(&mut self, one: Signature) {
        let frame = self.reference.count;
        self.reference.push(one);
        let mut cost = [f32::NAN; OFFSETS];
        cost[0] = 0.0;
        if let Some(one) = self.reference.get(frame) {
            for (k, cost) in cost.iter_mut().enumerate().skip(1) {
                let Some(other) = frame.checked_sub(k).and_then(|f| self.reference.get(f)) else {
                    break;
                };
                let dot = one.dot(self.level, other);
                *cost = unlikeness(one, other, dot, self.blocks) as f32;
            }
        }
        self.past.push_back(Past { cost });
    }

    pub(super) fn push_candidate(&mut self, one: Signature) {
        self.candidate.push(one);
    }

    /// Unlikeness of two reference frames; NaN if they are too far apart or no longer known.
    pub(super) fn between(&self, a: usize, b: usize) -> f32 {
        let (early, late) = (a.min(b), a.max(b));
        let past = late.checked_sub(self.past_from).and_then(|at| self.past.get(at));
        past.and_then(|p| p.cost.get(late - early)).copied().unwrap_or(f32::NAN)
    }

    /// Forgets what is known of reference frames before `frame`.
    pub(super) fn forget(&mut self, frame: usize) {
        while self.past_from < frame && self.past.pop_front().is_some() {
            self.past_from += 1;
        }
    }

    /// The next candidate frame's row, once the reference frames it is compared with are there.
    pub(super) fn next_row(&mut self, reference_ended: bool) -> Option<Row> {
        let frame = self.rows;
        let reference = self.reference.count;
        let ready = reference_ended || frame + REACH < reference;
        if !ready || frame >= self.candidate.count || frame >= reference + REACH {
            return None;
        }
        let one = self.candidate.get(frame)?;
        let mut cost = [f32::NAN; OFFSETS];
        let mut dots = [None; OFFSETS];
        for o in 0..OFFSETS {
            let Some(other) = (frame + o).checked_sub(REACH).and_then(|f| self.reference.get(f))
            else {
                continue;
            };
            let dot = one.dot(self.level, other);
            dots[o] = Some(dot);
            cost[o] = unlikeness(one, other, dot, self.blocks) as f32;
        }
        let rounding =
            ROUNDING * self.blocks as f64 / (one.energy as f64 + FLAT * self.blocks as f64);
        let motion = self.motion_around(frame);
        let own = frame
            .checked_sub(1)
            .and_then(|f| self.candidate.get(f))
            .map(|before| unlikeness(one, before, one.dot(self.level, before), self.blocks));
        let still = own.is_some_and(|own| {
            let along = self.along(frame, &dots, &cost);
            let two = self.own_over_two(frame);
            self.is_still(own, two, motion, rounding, along)
        });
        self.dots = dots;
        self.rows += 1;
        let copy = own.is_some_and(|own| own <= rounding || own <= COPY * motion);
        Some(Row { frame, cost, motion: motion as f32, still, copy, rounding: rounding as f32 })
    }

    fn motion_around(&self, frame: usize) -> f64 {
        let around = (frame.max(AROUND + 1) - AROUND)..=(frame + AROUND);
        let (mut sum, mut count, mut most) = (0.0, 0.0, 0.0_f64);
        for i in around {
            let step = self.between(i - 1, i);
            if step.is_finite() {
                sum += f64::from(step);
                most = most.max(step.into());
                count += 1.0;
            }
        }
        // Without the largest: a cut is no motion.
        if count > 1.0 { (sum - most) / (count - 1.0) } else { sum }
    }

    /// The smallest unlikeness of a row, and how far the candidate moved along the reference's own
    /// change there: 1 in step, 0 for a repeat, whatever noise lies on it.
    fn along(
        &self,
        frame: usize,
        dots: &[Option<i64>; OFFSETS],
        cost: &[f32; OFFSETS],
    ) -> (f64, f64) {
        let mut best = (0, f32::INFINITY);
        for (o, &c) in cost.iter().enumerate() {
            if c < best.1 {
                best = (o, c);
            }
        }
        let step = |o: usize| -> Option<f64> {
            // Products of this and the last frame with reference frames `i` and `i - 1`.
            let now = (*dots.get(o)?)? - (*dots.get(o.checked_sub(1)?)?)?;
            let last = (*self.dots.get(o + 1)?)? - (*self.dots.get(o)?)?;
            let i = (frame + o).checked_sub(REACH)?;
            let (a, b) = (self.reference.get(i)?, self.reference.get(i.checked_sub(1)?)?);
            let energy = a.energy + b.energy - 2 * a.dot(self.level, b);
            (energy > 0).then(|| (now - last) as f64 / energy as f64)
        };
        // A repeat is most like the frame before the one it should be.
        let moved = [step(best.0), step(best.0 + 1)].into_iter().flatten().fold(0.0, f64::max);
        (f64::from(best.1), moved)
    }

    /// Unlikeness to the candidate frame two before.
    fn own_over_two(&self, frame: usize) -> f64 {
        let pair = frame.checked_sub(2).and_then(|f| self.candidate.get(f));
        match (self.candidate.get(frame), pair) {
            (Some(a), Some(b)) => unlikeness(a, b, a.dot(self.level, b), self.blocks),
            _ => f64::INFINITY,
        }
    }

    fn is_still(
        &mut self,
        own: f64,
        two: f64,
        motion: f64,
        rounding: f64,
        along: (f64, f64),
    ) -> bool {
        let slow = own <= STILL * motion;
        let was_slow = std::mem::replace(&mut self.slow, slow);
        if slow || own <= rounding {
            self.still_noise = None;
            // A take that moves slowly where the reference is quick stands not still.
            let copy = own <= rounding || own <= COPY * motion;
            return copy || !was_slow || two <= CREEPS * own;
        }
        let (floor, moved) = along;
        let of_noise =
            own >= STILL_NOISE.0 * floor && own <= STILL_NOISE.1 * floor + STILL * motion;
        let plain = floor <= NOISY && (of_noise || own <= STILL_CODED * motion);
        // What moves is further from the frame two before than from the last one.
        let goes_on = self.still_noise.is_some_and(|noise| own.max(two) <= STILL_ON * noise);
        let still = moved < STILL_ALONG && (plain || goes_on);
        self.still_noise = still.then(|| self.still_noise.unwrap_or(own));
        still
    }
}
