//! Is one offset clearly better than others? Sums of unlikeness over frames.

use super::window::Row;
use super::{OFFSETS, REACH};

/// A shift explains at least this share of the distance that the reference itself has over it.
pub(super) const EXPLAINED: f64 = 0.5;

/// And it saves at least this share of what is left after it: a distortion that merely happens to
/// resemble the motion explains a few percent.
pub(super) const BEYOND_NOISE: f64 = 0.1;

/// A shift that the frame counts do not bear out saves at least this share of what is left after
/// it: a coder that skips what hardly moves shows the picture late.
const AGAINST_COUNTS: f64 = 0.5;

/// And this share of what is left over the whole clip.
const OF_ALL: f64 = 0.1;

/// Frames speak where the reference moves by more than this many times the rounding.
pub(super) const SPEAKS: f32 = 4.0;

/// Share of the frames that an offset must have been compared on to be called worse.
const COMPARED: f64 = 1.0 / 3.0;

/// Frames that move which a lag takes to be told: one picture alone has no direction in time.
const LEAST: usize = 2;

/// Of that distance, what the frames right beside a jump show of it.
const SHARP: f64 = 0.6;

/// Frames on either side of a jump that must show it.
pub(super) const EDGE: usize = 3;

/// Sums over frames of the unlikeness at one offset each, and beside it.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    frames: usize,
    rounding: f64,
    /// By distance from the offset: frames, unlikeness there, unlikeness at the offset.
    sums: [(usize, f64, f64); OFFSETS],
    /// Where the offset is not 0: unlikeness by index, and at the offset.
    by_index: (f64, f64),
}

impl Beside {
    pub(super) fn new() -> Self {
        Self { frames: 0, rounding: 0.0, sums: [(0, 0.0, 0.0); OFFSETS], by_index: (0.0, 0.0) }
    }

    pub(super) fn add(&mut self, row: &Row, offset: usize) {
        let here = row.cost[offset];
        if !here.is_finite() {
            return;
        }
        self.frames += 1;
        self.rounding += f64::from(row.rounding);
        for (k, sum) in self.sums.iter_mut().enumerate() {
            let there = (offset + k).checked_sub(REACH).and_then(|o| row.cost.get(o));
            if let Some(&there) = there.filter(|c| c.is_finite()) {
                sum.0 += 1;
                sum.1 += f64::from(there);
                sum.2 += f64::from(here);
            }
        }
        let index = row.cost[REACH];
        if offset != REACH && index.is_finite() {
            self.by_index.0 += f64::from(index);
            self.by_index.1 += f64::from(here);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        self.rounding += other.rounding;
        for (a, b) in self.sums.iter_mut().zip(&other.sums) {
            *a = (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        }
        self.by_index.0 += other.by_index.0;
        self.by_index.1 += other.by_index.1;
    }

    /// Whether every other offset is clearly worse.
    pub(super) fn is_clear(&self) -> bool {
        let least = ((self.frames as f64 * COMPARED).ceil() as usize).max(1);
        let mut near = false;
        if self.frames < LEAST {
            return false;
        }
        for (k, &(frames, there, here)) in self.sums.iter().enumerate() {
            if k == REACH || frames < least {
                continue;
            }
            near |= k.abs_diff(REACH) == 1;
            let rounding = self.rounding * frames as f64 / self.frames as f64;
            if there - here <= BEYOND_NOISE * here + f64::from(SPEAKS) * rounding {
                return false;
            }
        }
        near
    }

    /// Whether the offsets are so much better than index pairing that counts need not agree.
    pub(super) fn outweighs_counts(&self) -> bool {
        let (index, way) = self.by_index;
        let all = self.sums[REACH].1;
        index - way >= AGAINST_COUNTS * way && index - way >= OF_ALL * all
    }
}

/// A stretch at another offset that has not been decided on.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) start: usize,
    pub(super) offset: usize,
    /// Frames that repeat, right before it.
    pub(super) repeats: Vec<usize>,
    frames: usize,
    /// Sums of unlikeness: as before, at the new offset, and of the reference over the shift.
    stay: f64,
    go: f64,
    apart: f64,
    rounding: f64,
    /// The same over frames that have a partner at one of the two offsets alone: sum and frames.
    stay_alone: (f64, usize),
    go_alone: (f64, usize),
    motion: f64,
    /// Around its first frame: what the shift saves, of how much; and frames yet to come.
    edge: (f64, f64),
    edge_left: usize,
    pub(super) beside_stay: Beside,
    pub(super) beside_go: Beside,
}

impl Turn {
    /// `edge` is what the shift would cost the frames before it, and of how much.
    pub(super) fn new(start: usize, offset: usize, repeats: Vec<usize>, edge: (f64, f64)) -> Self {
        Self {
            start,
            offset,
            repeats,
            frames: 0,
            stay: 0.0,
            go: 0.0,
            apart: 0.0,
            rounding: 0.0,
            stay_alone: (0.0, 0),
            go_alone: (0.0, 0),
            motion: 0.0,
            edge,
            edge_left: EDGE,
            beside_stay: Beside::new(),
            beside_go: Beside::new(),
        }
    }

    /// Takes a frame; `stay` is the offset before the turn, `apart` how unlike the reference frames
    /// at the two offsets are (NaN if one is not there).
    pub(super) fn add(&mut self, row: &Row, stay: usize, apart: f32) {
        self.beside_stay.add(row, stay);
        self.beside_go.add(row, self.offset);
        let (old, new) = (row.cost[stay], row.cost[self.offset]);
        if (old - new).is_finite() && apart.is_finite() {
            self.frames += 1;
            self.stay += f64::from(old);
            self.go += f64::from(new);
            self.apart += f64::from(apart);
            self.rounding += f64::from(row.rounding);
            if self.edge_left > 0 && apart > SPEAKS * row.rounding {
                self.edge_left -= 1;
                self.edge.0 += f64::from(old - new);
                self.edge.1 += f64::from(apart);
            }
        } else if old.is_finite() {
            self.motion += f64::from(row.motion);
            self.stay_alone = (self.stay_alone.0 + f64::from(old), self.stay_alone.1 + 1);
        } else if new.is_finite() {
            self.go_alone = (self.go_alone.0 + f64::from(new), self.go_alone.1 + 1);
        }
    }

    /// Whether going is so much better than staying that the turn is real. `inserted` frames came
    /// in at it.
    pub(super) fn is_real(&self, inserted: usize) -> bool {
        let at_start = self.start == self.repeats.len();
        // An inserted frame stands still; one that does not is told by what follows it.
        if !at_start && inserted > self.repeats.len() && self.frames < EDGE {
            return false;
        }
        if at_start && self.frames + self.go_alone.1 < LEAST {
            return false;
        }
        if self.frames > 0 {
            let saved = self.stay - self.go;
            // A slower take of the same scene drifts from one offset to the next: a cut in time
            // shows in the frames right beside it.
            let sharp = at_start || self.edge.0 >= SHARP * self.edge.1;
            let noise = BEYOND_NOISE * self.go + f64::from(SPEAKS) * self.rounding;
            return saved >= EXPLAINED * self.apart && saved > noise && sharp;
        }
        // The two offsets share no frame: half a clip or more of lag.
        let mean = |(sum, frames): (f64, usize)| (frames > 0).then(|| sum / frames as f64);
        let (Some(stay), Some(go)) = (mean(self.stay_alone), mean(self.go_alone)) else {
            return false;
        };
        let motion = self.motion / self.stay_alone.1 as f64;
        at_start && stay - go > EXPLAINED * motion + BEYOND_NOISE * go
    }
}
