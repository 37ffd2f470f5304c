//! Which reference frame each candidate frame shows: lag, dropped and repeated frames.
//!
//! Both clips are read once, side by side. Of each frame a small [signature](signature) is kept for
//! as long as it can be compared; the cheapest monotone way through the comparisons is found as the
//! frames arrive, and each of its turns is tested against index pairing.

mod evidence;
mod path;
mod segments;
mod signature;
mod window;

pub use signature::STEPS_PER_LEVEL;

use crate::simd::Level;
use crate::{Error, Format, Frame, Result};
use path::Trellis;
use segments::Segments;
use signature::{Blocks, Signature};
use window::Window;

/// The largest shift that is searched, in frames: a second of film and a little more.
pub const REACH: usize = 32;

/// Shifts that are searched.
const OFFSETS: usize = 2 * REACH + 1;

/// How the frames of two clips go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Frames of the reference.
    pub reference: usize,
    /// Frames of the candidate.
    pub candidate: usize,
    /// At its start, candidate frame `j` shows reference frame `j + lag`.
    pub lag: i64,
    /// Whether another shift would have shown.
    pub evidence: bool,
    /// Reference frames that the candidate leaves out between two that it shows.
    pub dropped: Vec<usize>,
    /// Candidate frames that show the frame before again where the reference moves on.
    pub repeated: Vec<usize>,
    /// Reference frames after the last one shown.
    pub missing_at_end: usize,
    /// Candidate frames after the reference's last.
    pub extra_at_end: usize,
    /// First candidate frame of each stretch, and its offset into the reference.
    pub stretches: Vec<(usize, i64)>,
}

/// Pairs the frames pushed so far.
#[derive(Debug)]
pub struct Pairing {
    reference: Format,
    candidate: Format,
    level: Level,
    blocks: Blocks,
    window: Window,
    trellis: Trellis,
    segments: Segments,
    /// Frames pushed, and whether the clip has ended.
    frames: [usize; 2],
    ended: [bool; 2],
}

impl Pairing {
    /// An empty accumulator for two clips of one size; depth, range and model may differ.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn new(reference: Format, candidate: Format, level: Level) -> Result<Self> {
        let sizes = [&reference, &candidate].map(|f| (f.width(), f.height()));
        if sizes[0] != sizes[1] {
            return Err(Error::SizeMismatch { reference: sizes[0], candidate: sizes[1] });
        }
        let blocks = Blocks::of(&reference);
        let window = Window::new(level, blocks.count());
        Ok(Self {
            reference,
            candidate,
            level,
            blocks,
            window,
            trellis: Trellis::new(),
            segments: Segments::new(),
            frames: [0; 2],
            ended: [false; 2],
        })
    }

    /// Takes the next frame of each clip; `None` once a clip has ended. The clips may also be pushed
    /// in turns: one that is [`REACH`] frames behind the other is taken to have ended.
    ///
    /// # Errors
    /// A frame that does not fit its format, or one of a clip that has ended. Nothing is kept of
    /// either frame then.
    pub fn push<'a>(
        &mut self,
        reference: Option<&Frame<'a>>,
        candidate: Option<&Frame<'a>>,
    ) -> Result<()> {
        let given = [reference, candidate];
        for (side, format) in [&self.reference, &self.candidate].into_iter().enumerate() {
            if let Some(frame) = given[side] {
                frame.check(format)?;
                if self.ended[side] {
                    let [reference, candidate] = self.frames;
                    return Err(Error::OutOfStep { reference, candidate, most: REACH });
                }
            }
        }
        // A frame more than REACH after the other clip's last can show none of its frames.
        if let Some(frame) = reference {
            if !self.ended[1] {
                let one = Signature::of(self.level, &self.reference, &self.blocks, frame);
                self.window.push_reference(one);
            }
            self.frames[0] += 1;
        }
        if let Some(frame) = candidate {
            if self.frames[1] < self.frames[0] + REACH || !self.ended[0] {
                let one = Signature::of(self.level, &self.candidate, &self.blocks, frame);
                self.window.push_candidate(one);
            }
            self.frames[1] += 1;
        }
        self.ended[0] |= self.frames[1] > self.frames[0] + REACH;
        self.ended[1] |= self.frames[0] > self.frames[1] + REACH;
        self.advance();
        Ok(())
    }

    fn advance(&mut self) {
        while let Some(row) = self.window.next_row(self.ended[0]) {
            let settled = self.trellis.push(row);
            self.settle(&settled);
        }
    }

    fn settle(&mut self, settled: &[(window::Row, usize)]) {
        for (row, offset) in settled {
            self.segments.push(&self.window, row, *offset);
            // A turn looks back over the largest shift.
            self.window.forget(row.frame.saturating_sub(OFFSETS));
        }
    }

    /// How the frames pushed go together.
    pub fn finish(mut self) -> Found {
        self.ended = [true; 2];
        self.advance();
        let settled = self.trellis.finish();
        self.settle(&settled);
        let [reference, candidate] = self.frames;
        self.segments.finish(reference, candidate)
    }

    /// Frames pushed of the reference and of the candidate.
    pub fn frames(&self) -> (usize, usize) {
        (self.frames[0], self.frames[1])
    }
}

/// The signature of one frame: mean luma of each block in steps of 1/16 of an 8-bit level, row by
/// row, with (rows, columns).
///
/// # Errors
/// The frame does not fit the format.
pub fn signature(
    level: Level,
    format: &Format,
    frame: &Frame<'_>,
) -> Result<(Vec<u16>, (usize, usize))> {
    frame.check(format)?;
    let blocks = Blocks::of(format);
    Ok((signature::means(level, format, &blocks, frame), blocks.shape()))
}
