//! The cheapest monotone way of pairing, frame by frame: Viterbi's algorithm over offsets.

use std::collections::VecDeque;

use super::window::Row;
use super::{OFFSETS, REACH};

/// Rows after which the older half of the way is settled. Two ways that part meet again within the
/// few frames that it takes to outweigh a jump.
const SETTLE_AT: usize = 512;

/// A jump is taken once it saves as much as this many frames that are one step of motion off.
const JUMP: f64 = 0.8;

/// And a little more for each frame that it leaps over.
const LEAP: f64 = 0.01;

/// A jump back by one at a frame that repeats the one before.
const REPEAT: f64 = 0.2;

/// What a frame may cost at most, in steps of motion: one damaged frame must not force a jump.
const MOST: f64 = 2.0;

/// What a frame costs whose reference frame would lie outside the clip.
const OUTSIDE: f64 = 0.5;

/// What a frame costs at most that no reference frame matches as others are matched.
const ALONE: f64 = 1.0;

/// Rows on either side in which the level of a good match is looked for.
const NEAR: usize = 64;

/// Share of the best pairing's unlikeness that counts as noise.
const NOISE: f64 = 0.2;

#[derive(Debug)]
pub(super) struct Trellis {
    /// What the cheapest way to each offset costs, above the cheapest of all.
    cost: [f64; OFFSETS],
    rows: VecDeque<Row>,
    /// For each row and offset, the offset of the row before.
    back: VecDeque<[u8; OFFSETS]>,
    /// Rows that wait for the level of a good match, and the best match of each row around them.
    waiting: VecDeque<Row>,
    matches: VecDeque<f32>,
    started: bool,
}

impl Trellis {
    pub(super) fn new() -> Self {
        Self {
            cost: [0.0; OFFSETS],
            rows: VecDeque::new(),
            back: VecDeque::new(),
            waiting: VecDeque::new(),
            matches: VecDeque::new(),
            started: false,
        }
    }

    /// Takes the next row; returns the rows that are settled by it, each with its offset.
    pub(super) fn push(&mut self, row: Row) -> Vec<(Row, usize)> {
        self.matches.push_back(best_match(&row));
        if self.matches.len() > 2 * NEAR + 1 {
            self.matches.pop_front();
        }
        self.waiting.push_back(row);
        if self.waiting.len() > NEAR { self.step() } else { Vec::new() }
    }

    /// The rows that are left, each with its offset.
    pub(super) fn finish(&mut self) -> Vec<(Row, usize)> {
        let mut settled = Vec::new();
        while !self.waiting.is_empty() {
            settled.extend(self.step());
        }
        settled.extend(self.settle(self.rows.len()));
        settled
    }

    /// Goes on by one row; returns the rows that are settled by it.
    fn step(&mut self) -> Vec<(Row, usize)> {
        let Some(row) = self.waiting.pop_front() else { return Vec::new() };
        let here = emissions(&row, self.level());
        let (mut next, back) = if self.started { self.go_on(row.still) } else { start() };
        self.started = true;
        for (next, here) in next.iter_mut().zip(here) {
            *next += here;
        }
        let least = next.iter().copied().fold(f64::INFINITY, f64::min);
        self.cost = next.map(|c| c - least);
        self.rows.push_back(row);
        self.back.push_back(back);
        if self.rows.len() >= SETTLE_AT { self.settle(SETTLE_AT / 2) } else { Vec::new() }
    }

    /// The cheapest way from the last row to each offset, and from where. Staying wins a tie.
    fn go_on(&self, still: bool) -> ([f64; OFFSETS], [u8; OFFSETS]) {
        let mut next = [f64::INFINITY; OFFSETS];
        let mut back = [0_u8; OFFSETS];
        // The cheapest of the offsets below, with its leap.
        let mut below = (f64::INFINITY, 0);
        for o in 0..OFFSETS {
            let mut best = (self.cost[o], o);
            if below.0 + JUMP < best.0 {
                best = (below.0 + JUMP, below.1);
            }
            if let Some(above) = self.cost.get(o + 1) {
                let repeat = above + if still { REPEAT } else { JUMP };
                if repeat < best.0 {
                    best = (repeat, o + 1);
                }
            }
            (next[o], back[o]) = (best.0, best.1 as u8);
            below.0 += LEAP;
            if self.cost[o] + LEAP < below.0 {
                below = (self.cost[o] + LEAP, o);
            }
        }
        (next, back)
    }

    /// What a good match reads around here: the lower quartile of the best matches.
    fn level(&self) -> f64 {
        let mut matches: Vec<f32> = self.matches.iter().copied().collect();
        let quarter = matches.len() / 4;
        if matches.is_empty() {
            return 0.0;
        }
        let (_, &mut level, _) = matches.select_nth_unstable_by(quarter, f32::total_cmp);
        level.into()
    }

    /// The first `count` rows of the cheapest way.
    fn settle(&mut self, count: usize) -> Vec<(Row, usize)> {
        let mut best = REACH;
        // Nearest to index pairing first: of two ways that cost the same it is the plain one.
        for distance in 1..=REACH {
            for o in [REACH - distance, REACH + distance] {
                if self.cost[o] < self.cost[best] {
                    best = o;
                }
            }
        }
        let mut way = vec![0; self.rows.len()];
        let mut at = best;
        for (row, back) in self.back.iter().enumerate().rev() {
            way[row] = at;
            at = usize::from(back[at]);
        }
        // What is settled cannot be left by a way that came from elsewhere.
        if (1..way.len()).contains(&count) {
            for end in 0..OFFSETS {
                let later = self.back.iter().skip(count).rev();
                let through = later.fold(end, |at, back| usize::from(back[at]));
                if through != way[count - 1] {
                    self.cost[end] = f64::INFINITY;
                }
            }
        }
        self.back.drain(..count);
        self.rows.drain(..count).zip(way).collect()
    }
}

/// What each offset costs before the first row.
fn start() -> ([f64; OFFSETS], [u8; OFFSETS]) {
    let cost = std::array::from_fn(|o| match o.abs_diff(REACH) {
        0 => 0.0,
        leap => JUMP + LEAP * leap as f64,
    });
    (cost, std::array::from_fn(|o| o as u8))
}

/// The smallest unlikeness of a row.
fn best_match(row: &Row) -> f32 {
    row.cost.iter().copied().filter(|c| c.is_finite()).fold(f32::INFINITY, f32::min)
}

/// What each offset costs at one row, in steps of the reference's motion; `level` is what a good
/// match reads.
fn emissions(row: &Row, level: f64) -> [f64; OFFSETS] {
    // A repeat says nothing about where the clip goes on.
    if row.still {
        return [0.0; OFFSETS];
    }
    let least = f64::from(best_match(row));
    let step = |noise: f64| f64::from(row.motion) + NOISE * noise + 2.0 * f64::from(row.rounding);
    // The same for every offset inside the clip, so it only speaks for a frame outside.
    let alone = ((least - level) / step(level)).clamp(0.0, ALONE);
    let step = step(least);
    row.cost.map(|cost| {
        if cost.is_finite() {
            alone + ((f64::from(cost) - least) / step).min(MOST)
        } else {
            OUTSIDE
        }
    })
}
