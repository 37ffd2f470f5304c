//! Is this a render at all? Reference-free facts of a clip, frame by frame.
//!
//! An [`Integrity`] accumulator is fed each frame once, in display order, or only the frames that the
//! calibrated axes read. It keeps one small luma plane and a few numbers per frame, never a frame.

mod alignment;
mod change;
mod correlation;
mod grid;
mod sampling;
mod scan;

use std::collections::BTreeMap;

pub use grid::{Axis, Grid, Line, MIN_EXTENT, MIN_REPEATS};
pub use sampling::pair_starts;
pub use scan::Scan;

use crate::frame::{Pixels, Rows, Sample, with_pixels};
use crate::luma::{Decimated, decimate};
use crate::simd::Level;
use crate::{Error, Format, Frame, Result};
use correlation::Moments;
use grid::Profiles;

/// Pairs that the calibrated axes read.
pub const PAIRS: usize = 5;

/// Height that decimation aims at.
const DECIMATED_ROWS: usize = 96;

/// A pair that correlates at least this well as it lies is not searched for a shift: its aligned
/// correlation is its plain one. A search ends at a shift that reaches it.
pub const ALIGN_BELOW: f64 = 0.9;

/// A change that reads below this many 8-bit levels on the fixed rows is measured on every row, so
/// that [`Step::change`] is exact below it and a lower bound from it on.
pub const CONFIRM_BELOW: f64 = 8.0;

/// Every how many rows and columns are picked for the temporal axes.
pub fn decimation(height: usize) -> usize {
    (height / DECIMATED_ROWS).max(1)
}

/// What one frame shows by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Still {
    /// Display index.
    pub index: usize,
    /// Mean luma of the decimated plane, in [0, 1].
    pub luma_mean: f64,
    /// Population standard deviation of the same, in [0, 0.5].
    pub luma_std: f64,
    /// Smallest luma.
    pub luma_min: f64,
    /// Largest luma.
    pub luma_max: f64,
    /// Mean red, green and blue, in [0, 1].
    pub rgb: [f64; 3],
}

/// What one frame shows against the frame before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Pearson correlation of the decimated luma; 0 if either is flat.
    pub corr: f64,
    /// The same after averaging and the best small shift; `None` where it was not asked for and
    /// `corr` is below [`ALIGN_BELOW`].
    pub corr_aligned: Option<f64>,
    /// Largest mean absolute difference over a run of 16 pixels of a row, in 8-bit levels.
    pub change: Option<f64>,
}

/// What is asked of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// Keep the frame's gradient profiles for [`Integrity::grid`].
    pub grid: bool,
    /// Search the best shift against the previous frame.
    pub align: bool,
    /// Measure the change against the previous frame.
    pub change: bool,
}

/// Facts of the frames pushed so far.
#[derive(Debug)]
pub struct Integrity {
    format: Format,
    level: Level,
    step: usize,
    last: Option<(usize, Vec<i32>, Moments)>,
    profiles: BTreeMap<usize, Profiles>,
    stills: Vec<Still>,
    steps: Vec<Option<Step>>,
    scan: Scan,
    first_non_finite: Option<(usize, usize, usize)>,
    non_finite_runs: Vec<(usize, usize)>,
}

impl Integrity {
    /// An empty accumulator for frames of this format.
    pub fn new(format: Format, level: Level) -> Self {
        let step = decimation(format.height);
        Self {
            format,
            level,
            step,
            last: None,
            profiles: BTreeMap::new(),
            stills: Vec::new(),
            steps: Vec::new(),
            scan: Scan::default(),
            first_non_finite: None,
            non_finite_runs: Vec::new(),
        }
    }

    /// Measures one frame. `previous` is the frame before it in display order, and is compared with
    /// it; without it the frame starts a new run.
    ///
    /// # Errors
    /// A frame that does not fit the format, or whose `previous` is not the last frame pushed.
    pub fn push(
        &mut self,
        index: usize,
        frame: &Frame<'_>,
        previous: Option<&Frame<'_>>,
        ask: Ask,
    ) -> Result<Scan> {
        frame.check(&self.format)?;
        if let Some(previous) = previous {
            previous.check(&self.format)?;
            let last = self.last.as_ref().map(|l| l.0);
            if last.and_then(|l| l.checked_add(1)) != Some(index) {
                return Err(Error::NotAdjacent { last: last.unwrap_or(usize::MAX), given: index });
            }
        }
        let scan = scan::scan(self.level, &self.format, frame);
        with_pixels!(frame, pixels => self.measure(index, pixels, previous, ask))?;
        self.note(index, &scan);
        Ok(scan)
    }

    fn measure<T>(
        &mut self,
        index: usize,
        pixels: &Pixels<'_, T>,
        previous: Option<&Frame<'_>>,
        ask: Ask,
    ) -> Result<()>
    where
        T: Sample + FromFrame,
    {
        let Decimated { luma, channel_means } =
            decimate(self.level, &mut Rows::new(pixels), &self.format, self.step);
        let moments = Moments::of(self.level, &luma);
        let full_scale = self.format.full_scale();
        let (least, most) = self.level.run(
            #[inline(always)]
            || luma.iter().fold((i32::MAX, i32::MIN), |(a, b), &v| (a.min(v), b.max(v))),
        );
        self.stills.push(Still {
            index,
            luma_mean: moments.mean() / full_scale,
            luma_std: moments.std() / full_scale,
            luma_min: f64::from(least) / full_scale,
            luma_max: f64::from(most) / full_scale,
            rgb: self.format.rgb_of_codes(channel_means),
        });
        let step = match (previous, &self.last) {
            (Some(previous), Some((_, last_luma, last_moments))) => {
                let previous = T::pixels(previous)?;
                let corr = correlation::correlation(
                    self.level,
                    (last_luma, last_moments),
                    (&luma, &moments),
                    full_scale,
                );
                let corr_aligned = if corr >= ALIGN_BELOW {
                    Some(corr)
                } else {
                    ask.align.then(|| self.aligned(previous, pixels).max(corr))
                };
                let change = ask.change.then(|| self.change(previous, pixels));
                Some(Step { corr, corr_aligned, change })
            }
            _ => None,
        };
        self.steps.push(step);
        if ask.grid && self.format.width.max(self.format.height) >= MIN_EXTENT {
            self.profiles.insert(index, Profiles::of(self.level, &self.format, pixels));
        }
        self.last = Some((index, luma, moments));
        Ok(())
    }

    fn aligned<T: Sample>(&self, a: &Pixels<'_, T>, b: &Pixels<'_, T>) -> f64 {
        let (mut a, mut b) = (Rows::new(a), Rows::new(b));
        alignment::aligned_correlation(self.level, &self.format, &mut a, &mut b, self.step)
    }

    fn change<T: Sample>(&self, a: &Pixels<'_, T>, b: &Pixels<'_, T>) -> f64 {
        let sampled = change::largest_change(self.level, &self.format, a, b, self.step);
        if sampled >= CONFIRM_BELOW {
            return sampled;
        }
        change::largest_change(self.level, &self.format, a, b, 1)
    }

    fn note(&mut self, index: usize, scan: &Scan) {
        if scan.non_finite > 0 {
            if self.first_non_finite.is_none() {
                self.first_non_finite = scan.first_non_finite.map(|(y, x)| (index, y, x));
            }
            match self.non_finite_runs.last_mut() {
                Some(run) if run.1 + 1 == index => run.1 = index,
                _ => self.non_finite_runs.push((index, index)),
            }
        }
        self.scan = Scan {
            non_finite: self.scan.non_finite + scan.non_finite,
            first_non_finite: None,
            out_of_range: self.scan.out_of_range + scan.out_of_range,
            extremes: match (self.scan.extremes, scan.extremes) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                (a, b) => a.or(b),
            },
        };
    }

    /// Forgets the gradient profiles of a frame, for callers who thin them out as frames arrive.
    pub fn forget_grid(&mut self, index: usize) {
        self.profiles.remove(&index);
    }

    /// Scores the lattice of these frames, each pushed with `grid`. `None` if neither axis is
    /// [`MIN_EXTENT`] long or no frame is given.
    ///
    /// # Errors
    /// A frame that was not pushed with `grid`.
    pub fn grid(&self, frames: &[usize]) -> Result<Option<Grid>> {
        if self.format.width.max(self.format.height) < MIN_EXTENT {
            return Ok(None);
        }
        let profiles = frames
            .iter()
            .map(|&frame| self.profiles.get(&frame).ok_or(Error::NoProfile { frame }))
            .collect::<Result<Vec<_>>>()?;
        Ok(grid::grid(self.level, &self.format, &profiles))
    }

    /// One entry per frame, in the order pushed.
    pub fn stills(&self) -> &[Still] {
        &self.stills
    }

    /// One entry per frame: `None` for a frame that was compared with no other.
    pub fn steps(&self) -> &[Option<Step>] {
        &self.steps
    }

    /// Counts over all frames; `first_non_finite` is given by
    /// [`first_non_finite`](Self::first_non_finite) instead.
    pub fn scan(&self) -> Scan {
        self.scan
    }

    /// Frame, row and column of the first NaN or infinity.
    pub fn first_non_finite(&self) -> Option<(usize, usize, usize)> {
        self.first_non_finite
    }

    /// Runs of frames (first, last) that hold a NaN or an infinity.
    pub fn non_finite_runs(&self) -> &[(usize, usize)] {
        &self.non_finite_runs
    }
}

/// Picks the typed pixels out of a frame that [`Frame::check`] and a neighbour agree on.
trait FromFrame: Sized {
    fn pixels<'f, 'a>(frame: &'f Frame<'a>) -> Result<&'f Pixels<'a, Self>>;
}

macro_rules! from_frame {
    ($($t:ty => $variant:ident),*) => {$(
        impl FromFrame for $t {
            fn pixels<'f, 'a>(frame: &'f Frame<'a>) -> Result<&'f Pixels<'a, Self>> {
                match frame {
                    Frame::$variant(pixels) => Ok(pixels),
                    _ => Err(Error::WrongPlanes {
                        expected: "the element type of the frame before",
                        given: "another element type",
                    }),
                }
            }
        }
    )*};
}
from_frame!(u8 => U8, u16 => U16, half::f16 => F16, f32 => F32);

/// The median of a series: the mean of the two middle values for an even count, 0 for none.
pub fn median(values: &[f64]) -> f64 {
    grid::median(&mut values.to_vec())
}
