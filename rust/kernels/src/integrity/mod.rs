//! Is this a render at all? Reference-free facts of a clip, frame by frame.
//!
//! An [`Integrity`] accumulator is fed each frame once, in display order, or only the frames that the
//! calibrated axes read. It keeps one small luma plane and a few numbers per frame, never a frame.

mod alignment;
mod change;
mod correlation;
mod grid;
mod sampling;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rayon::prelude::*;

pub use grid::{Axis, Grid, Line, MIN_EXTENT, MIN_REPEATS};
pub use sampling::pair_starts;

use crate::frame::{Pixels, Rows, Sample, with_pixels};
use crate::luma::{Decimated, decimate};
use crate::scan::{Scan, scan};
use crate::simd::Level;
use crate::{Error, Format, Frame, Result};
pub(crate) use correlation::Moments;
use grid::{Plan, Spectra};

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
    /// Keep the spectra of the frame's gradients for [`Integrity::grid`].
    pub grid: bool,
    /// Search the best shift against the previous frame.
    pub align: bool,
    /// Measure the change against the previous frame.
    pub change: bool,
}

/// One frame of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Item<'f, 'a> {
    /// Display index.
    pub index: usize,
    /// Its samples.
    pub frame: &'f Frame<'a>,
    /// What is asked of it.
    pub ask: Ask,
}

/// What was read of one frame, before it is compared with its neighbour.
struct Look {
    scan: Scan,
    luma: Vec<i32>,
    moments: Moments,
    still: Still,
    spectra: Option<Spectra>,
}

/// `work` of 0 to `count`, in order; side by side from two on.
fn each<R: Send>(count: usize, work: impl Fn(usize) -> R + Send + Sync) -> Vec<R> {
    match count {
        0 | 1 => (0..count).map(&work).collect(),
        _ => (0..count).into_par_iter().map(&work).collect(),
    }
}

/// Facts of the frames pushed so far.
#[derive(Debug)]
pub struct Integrity {
    format: Format,
    level: Level,
    step: usize,
    last: Option<(usize, Vec<i32>, Moments)>,
    plan: OnceLock<Plan>,
    spectra: BTreeMap<usize, Spectra>,
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
            plan: OnceLock::new(),
            spectra: BTreeMap::new(),
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
    /// A frame that does not fit the format, or whose `previous` is not the last frame pushed or has
    /// another element type or layout. Nothing is kept of a frame that is refused.
    pub fn push<'a>(
        &mut self,
        index: usize,
        frame: &Frame<'a>,
        previous: Option<&Frame<'a>>,
        ask: Ask,
    ) -> Result<Scan> {
        let scans = self.push_many(&[Item { index, frame, ask }], previous)?;
        Ok(scans.into_iter().fold(Scan::default(), Scan::merge))
    }

    /// Measures frames in display order, side by side; one alone is measured on the calling thread.
    /// Each is compared with the one before it where their indices follow each other, the first with
    /// `previous`. The facts are those of pushing one by one.
    ///
    /// # Errors
    /// As [`push`](Self::push); nothing is kept of any of the frames.
    pub fn push_many<'a>(
        &mut self,
        items: &[Item<'_, 'a>],
        previous: Option<&Frame<'a>>,
    ) -> Result<Vec<Scan>> {
        let Some(first) = items.first() else { return Ok(Vec::new()) };
        for item in items {
            item.frame.check(&self.format)?;
        }
        if let Some(previous) = previous {
            previous.check(&self.format)?;
            let last = self.last.as_ref().map(|l| l.0);
            if last.and_then(|l| l.checked_add(1)) != Some(first.index) {
                return Err(Error::NotAdjacent { last, given: first.index });
            }
        }
        let looks = each(items.len(), |i| {
            let item = &items[i];
            with_pixels!(item.frame, pixels => self.look(item, pixels))
        });
        let steps = each(items.len(), |i| {
            let item = &items[i];
            let (before, luma, moments) = if i == 0 {
                match (previous, &self.last) {
                    (Some(previous), Some((_, luma, moments))) => (previous, luma, moments),
                    _ => return Ok(None),
                }
            } else {
                let (last, look) = (&items[i - 1], &looks[i - 1]);
                if last.index.checked_add(1) != Some(item.index) {
                    return Ok(None);
                }
                (last.frame, &look.luma, &look.moments)
            };
            with_pixels!(item.frame, pixels => {
                self.compare(before, (luma, moments), pixels, &looks[i], item.ask).map(Some)
            })
        })
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
        self.steps.extend(steps);
        let mut scans = Vec::with_capacity(items.len());
        for (item, look) in items.iter().zip(looks) {
            self.note(item.index, &look.scan);
            self.stills.push(look.still);
            if let Some(spectra) = look.spectra {
                self.spectra.insert(item.index, spectra);
            }
            scans.push(look.scan);
            self.last = Some((item.index, look.luma, look.moments));
        }
        Ok(scans)
    }

    /// What a frame shows by itself.
    fn look<T: Sample>(&self, item: &Item<'_, '_>, pixels: &Pixels<'_, T>) -> Look {
        let Decimated { luma, channel_means } =
            decimate(self.level, &mut Rows::new(pixels), &self.format, self.step);
        let moments = Moments::of(self.level, &luma);
        let full_scale = self.format.full_scale();
        let (least, most) = self.level.run(
            #[inline(always)]
            || luma.iter().fold((i32::MAX, i32::MIN), |(a, b), &v| (a.min(v), b.max(v))),
        );
        let still = Still {
            index: item.index,
            luma_mean: moments.mean() / full_scale,
            luma_std: moments.std() / full_scale,
            luma_min: f64::from(least) / full_scale,
            luma_max: f64::from(most) / full_scale,
            rgb: self.format.rgb_of_codes(channel_means),
        };
        let wide = self.format.width.max(self.format.height) >= MIN_EXTENT;
        let spectra = (item.ask.grid && wide).then(|| {
            let plan = self.plan.get_or_init(|| Plan::new(&self.format));
            Spectra::of(self.level, &self.format, plan, pixels)
        });
        let scan = scan(self.level, &self.format, item.frame, true);
        Look { scan, luma, moments, still, spectra }
    }

    /// What a frame shows against the one before it.
    fn compare<T: Sample + FromFrame>(
        &self,
        before: &Frame<'_>,
        (last_luma, last_moments): (&[i32], &Moments),
        pixels: &Pixels<'_, T>,
        look: &Look,
        ask: Ask,
    ) -> Result<Step> {
        let before = T::pixels(before)?;
        if before.layout() != pixels.layout() {
            return Err(Error::WrongPlanes {
                expected: "one layout for a frame and the frame before it",
                given: "of two layouts",
            });
        }
        let corr = correlation::correlation(
            self.level,
            (last_luma, last_moments),
            (&look.luma, &look.moments),
            self.format.full_scale(),
        );
        let corr_aligned = if corr >= ALIGN_BELOW {
            Some(corr)
        } else {
            ask.align.then(|| self.aligned(before, pixels).max(corr))
        };
        let change = ask.change.then(|| self.change(before, pixels));
        Ok(Step { corr, corr_aligned, change })
    }

    fn aligned<T: Sample>(&self, a: &Pixels<'_, T>, b: &Pixels<'_, T>) -> f64 {
        let (mut a, mut b) = (Rows::new(a), Rows::new(b));
        alignment::aligned_correlation(self.level, &self.format, &mut a, &mut b, self.step)
    }

    fn change<T: Sample>(&self, a: &Pixels<'_, T>, b: &Pixels<'_, T>) -> f64 {
        let sampled = change::largest_change(self.level, &self.format, a, b, self.step);
        // At step 1 nothing was left out.
        if sampled >= CONFIRM_BELOW || self.step == 1 {
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
                Some(run) if run.1.checked_add(1) == Some(index) => run.1 = index,
                _ => self.non_finite_runs.push((index, index)),
            }
        }
        self.scan = self.scan.merge(Scan { first_non_finite: None, ..*scan });
    }

    /// Forgets the gradient spectra of a frame, for callers who thin them out as frames arrive.
    pub fn forget_grid(&mut self, index: usize) {
        self.spectra.remove(&index);
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
        let spectra = frames
            .iter()
            .map(|&frame| self.spectra.get(&frame).ok_or(Error::NoProfile { frame }))
            .collect::<Result<Vec<_>>>()?;
        Ok(grid::grid(&self.format, &spectra))
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

/// Picks the pixels of one element type out of a frame.
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
                        expected: "one element type for a frame and the frame before it",
                        given: "of two element types",
                    }),
                }
            }
        }
    )*};
}
from_frame!(u8 => U8, u16 => U16, half::f16 => F16, f32 => F32);
