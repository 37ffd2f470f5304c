//! Which turns of the way are real: each is tested against going on as before.

use std::collections::VecDeque;

use super::evidence::{Beside, EDGE, SPEAKS, Turn};
use super::window::{Row, Window};
use super::{Found, OFFSETS, REACH};

/// A reference frame that changes by less than this share of the motion around it is a pause.
const PAUSE: f32 = 0.25;

/// A repeat that is no plain copy is less like its own reference frame than like an earlier one by
/// this share of that and of the motion: what a coder leaves out of a quiet picture is no repeat.
const HELD: f64 = 0.15;

/// A frame that moved, before a possible turn.
#[derive(Debug)]
struct Edge {
    frame: usize,
    cost: [f32; OFFSETS],
}

/// What the settled way says.
#[derive(Debug)]
pub(super) struct Segments {
    offset: usize,
    turn: Option<Turn>,
    edges: VecDeque<Edge>,
    beside: Beside,
    /// Still frames since the last one that moved.
    repeats: Vec<usize>,
    lag: i64,
    dropped: Vec<usize>,
    /// Copies that lie in a stretch, and those that a turn is made of.
    repeated: Vec<usize>,
    inserted: Vec<usize>,
    /// First frame of each stretch and its offset.
    stretches: Vec<(usize, i64)>,
}

/// Offset as a number of frames.
fn signed(offset: usize) -> i64 {
    offset as i64 - REACH as i64
}

/// The reference frame that a candidate frame is compared with at an offset.
fn at(frame: usize, offset: usize) -> Option<usize> {
    (frame + offset).checked_sub(REACH)
}

/// How unlike the reference frames at two offsets from a frame are; NaN if one is not there.
fn apart(window: &Window, frame: usize, a: usize, b: usize) -> f32 {
    match (at(frame, a), at(frame, b)) {
        (Some(a), Some(b)) => window.between(a, b),
        _ => f32::NAN,
    }
}

impl Segments {
    pub(super) fn new() -> Self {
        Self {
            offset: REACH,
            turn: None,
            edges: VecDeque::new(),
            beside: Beside::new(),
            repeats: Vec::new(),
            lag: 0,
            dropped: Vec::new(),
            repeated: Vec::new(),
            inserted: Vec::new(),
            stretches: vec![(0, 0)],
        }
    }

    /// The offset of the way at the last frame.
    fn here(&self) -> usize {
        self.turn.as_ref().map_or(self.offset, |turn| turn.offset)
    }

    /// Takes the next settled row.
    pub(super) fn push(&mut self, window: &Window, row: &Row, offset: usize) {
        if row.still {
            self.repeats.push(row.frame);
            if self.moves_on(window, row) && (row.copy || self.is_held(row)) {
                self.repeated.push(row.frame);
            }
            return;
        }
        if offset != self.here() {
            self.decide();
            if offset != self.offset {
                let edge = self.edge_before(window, offset);
                self.turn = Some(Turn::new(row.frame, offset, self.repeats.clone(), edge));
            }
        }
        self.repeats.clear();
        let stay = self.offset;
        match &mut self.turn {
            None => self.beside.add(row, stay),
            Some(turn) => {
                let apart = apart(window, row.frame, stay, turn.offset);
                turn.add(row, stay, apart);
            }
        }
        self.remember(row);
    }

    /// Whether the reference moves on where the candidate repeats.
    fn moves_on(&self, window: &Window, row: &Row) -> bool {
        let Some(i) = at(row.frame, self.here()).filter(|&i| i > 0) else { return false };
        let step = window.between(i - 1, i);
        step.is_finite() && step > SPEAKS * row.rounding && step > PAUSE * row.motion
    }

    /// Whether a still frame is more like the reference where the stillness began than like its own
    /// frame, or goes on with one that is.
    fn is_held(&self, row: &Row) -> bool {
        let here = self.here();
        let run = self.repeats.len();
        let own = f64::from(row.cost[here]);
        if run > REACH || !own.is_finite() {
            return self.repeated.last().is_some_and(|&last| last + 1 == row.frame);
        }
        let earlier = row.cost[here.saturating_sub(run)..here].iter().copied();
        let best = f64::from(earlier.filter(|c| c.is_finite()).fold(f32::INFINITY, f32::min));
        own - best > HELD * (best + f64::from(row.motion))
    }

    /// What another offset would have cost the last frames that moved, and of how much.
    fn edge_before(&self, window: &Window, offset: usize) -> (f64, f64) {
        let mut edge = (0.0, 0.0);
        for before in &self.edges {
            let more = before.cost[offset] - before.cost[self.offset];
            let apart = apart(window, before.frame, self.offset, offset);
            if more.is_finite() && apart.is_finite() {
                edge.0 += f64::from(more);
                edge.1 += f64::from(apart);
            }
        }
        edge
    }

    fn remember(&mut self, row: &Row) {
        if row.motion <= SPEAKS * row.rounding || !row.cost[self.here()].is_finite() {
            return;
        }
        if self.edges.len() == EDGE {
            self.edges.pop_front();
        }
        self.edges.push_back(Edge { frame: row.frame, cost: row.cost });
    }

    /// Takes the turn that is open, or goes on as before.
    fn decide(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        if !turn.is_real(self.offset.saturating_sub(turn.offset)) {
            self.beside.merge(&turn.beside_stay);
            return;
        }
        self.beside.merge(&turn.beside_go);
        let (old, new) = (signed(self.offset), signed(turn.offset));
        if turn.start == 0 {
            self.lag = new;
            self.stretches.clear();
        } else if new > old {
            let first = turn.start as i64 + old;
            self.dropped.extend((first..first + new - old).filter_map(|i| usize::try_from(i).ok()));
        } else {
            // The copies are the frames that stand still before it; where noise hides them, the
            // first ones after it.
            let count = (old - new) as usize;
            let hidden = count.saturating_sub(turn.repeats.len());
            let from = turn.repeats.len().saturating_sub(count);
            self.inserted.extend(&turn.repeats[from..]);
            self.inserted.extend(turn.start..turn.start + hidden);
        }
        self.stretches.push((turn.start, new));
        self.offset = turn.offset;
    }

    pub(super) fn finish(mut self, reference: usize, candidate: usize) -> Found {
        self.decide();
        let mut evidence = self.beside.is_clear();
        let shown = candidate as i64 + signed(self.offset);
        let believed = evidence && self.beside.outweighs_counts();
        let turned = self.offset != REACH || self.stretches.len() > 1;
        if turned && shown != reference as i64 && !believed {
            evidence = false;
            self.offset = REACH;
            self.lag = 0;
            self.dropped.clear();
            self.inserted.clear();
            self.stretches = vec![(0, 0)];
        }
        let mut repeated = self.repeated;
        repeated.extend(self.inserted);
        repeated.sort_unstable();
        repeated.dedup();
        let over = candidate as i64 + signed(self.offset) - reference as i64;
        Found {
            reference,
            candidate,
            lag: self.lag,
            evidence,
            dropped: self.dropped,
            repeated,
            missing_at_end: (-over).max(0) as usize,
            extra_at_end: over.max(0) as usize,
            stretches: self.stretches,
        }
    }
}
