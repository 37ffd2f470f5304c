//! What a clip's pictures are like, and how they change: statistics of every frame and of its
//! difference from the two before it.
//!
//! All but the spectrum are sums of integers. The bands of a picture are worked on side by side, each
//! through all frames of a batch; then each frame's spectrum.

mod band;
mod rows;
mod spectrum;

use rayon::prelude::*;

pub use band::CELLS;

use crate::read::read;
use crate::scan::{Scan, scan};
use crate::simd::Level;
use crate::{Error, Format, Frame, Result};
use band::{Band, Line, Shape, Sums};
use spectrum::{Scratch, Spectrum};

/// Bytes of a band's luma that should lie in a core's cache.
const BAND_BYTES: usize = 384 << 10;

/// The numbers of one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameSignal {
    /// Mean luma, in [0, 1].
    pub luma_mean: f64,
    /// Population standard deviation of luma, in [0, 0.5].
    pub luma_std: f64,
    /// Mean luma of the cells of the picture cut in [`CELLS`] x [`CELLS`]; NaN for a cell without a
    /// pixel. Single precision, as there are many.
    pub cells: [[f32; CELLS]; CELLS],
    /// Mean `|Y_t - Y_(t-1)|`, in [0, 1]; `None` for the first frame.
    pub motion: Option<f64>,
    /// Mean `|Y_t - 2 Y_(t-1) + Y_(t-2)|`, in [0, 2]; `None` for the first two.
    pub acceleration: Option<f64>,
    /// What the full pass adds.
    pub features: Option<Features>,
}

/// What the full pass says of one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features {
    /// Variance of the Laplacian of luma in 8-bit levels; `None` below 3x3 pixels.
    pub laplacian_variance: Option<f64>,
    /// Share of the spectrum's energy above a quarter cycle per pixel, in [0, 1].
    pub hf_ratio: f64,
    /// Entropy of luma in 64 bins, in bits.
    pub entropy: f64,
    /// Mean of the largest less the smallest of red, green and blue, in [0, 1].
    pub saturation: f64,
    /// Mean `|hp|`, where `hp` is luma less its 3x3 mean, the edge repeated; in [0, 1].
    pub highpass: f64,
    /// Mean `|hp_t - hp_(t-1)|`; `None` for the first frame.
    pub shimmer: Option<f64>,
}

/// Measures the frames of a clip in display order.
#[derive(Debug)]
pub struct Signal {
    format: Format,
    level: Level,
    shape: Shape,
    bands: Vec<Band>,
    spectrum: Option<Spectrum>,
    scratch: Vec<Scratch>,
    frames: Vec<FrameSignal>,
    scan: Scan,
}

impl Signal {
    /// An empty accumulator for frames of this format. With `features` it takes the full pass,
    /// without them luma and its changes alone.
    pub fn new(format: Format, level: Level, features: bool) -> Self {
        let shape = Shape {
            width: format.width,
            height: format.height,
            white: format.luma.white,
            detail: features,
        };
        let row_bytes = shape.width * size_of::<i32>() * if features { 5 } else { 3 };
        let rows = (BAND_BYTES / row_bytes).clamp(4, 64);
        let bands = (0..shape.height)
            .step_by(rows)
            .map(|first| Band::new(shape, first, rows.min(shape.height - first)))
            .collect();
        let spectrum = features.then(|| Spectrum::new(shape.width, shape.height));
        Self {
            format,
            level,
            shape,
            bands,
            spectrum,
            scratch: Vec::new(),
            frames: Vec::new(),
            scan: Scan::default(),
        }
    }

    /// Measures the next frames. How a clip is cut into batches changes no bit. `threads` is the size
    /// of the rayon pool that the caller is in; with 1 everything runs on the calling thread.
    ///
    /// # Errors
    /// A frame that does not fit the format, holds a NaN or an infinity ([`Error::NonFinite`]), or a
    /// value outside its range ([`Error::OutOfRange`]); both count over all frames pushed. Nothing is
    /// kept of any of the frames.
    pub fn push_many(&mut self, frames: &[Frame<'_>], threads: usize) -> Result<()> {
        let parallel = threads > 1;
        let mut scanned = self.scan;
        for (i, frame) in frames.iter().enumerate() {
            frame.check(&self.format)?;
            let found = scan(self.level, &self.format, frame, parallel);
            if let Some((row, column)) = found.first_non_finite {
                return Err(Error::NonFinite { frame: self.frames.len() + i, row, column });
            }
            if found.out_of_range > 0 {
                let (low, high) = found.extremes.unwrap_or_default();
                return Err(Error::OutOfRange { frame: self.frames.len() + i, low, high });
            }
            scanned = scanned.merge(found);
        }
        self.scan = scanned;
        let sums = self.sums(frames, parallel);
        let shares = self.high_shares(frames, &sums, threads);
        for (i, sums) in sums.iter().enumerate() {
            self.frames.push(self.numbers(self.frames.len(), sums, shares.get(i).copied()));
        }
        Ok(())
    }

    /// The numbers of each frame pushed so far.
    pub fn frames(&self) -> &[FrameSignal] {
        &self.frames
    }

    /// Smallest and largest sample over all frames; `None` where the samples were not read.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        self.scan.extremes
    }

    /// The sums of each frame, over all bands.
    fn sums(&mut self, frames: &[Frame<'_>], parallel: bool) -> Vec<Sums> {
        // The full pass is bound by its arithmetic: a band takes all frames while its rows lie in the
        // cache. The light one is bound by reading the pictures, which long stretches do best.
        let at_once = if self.shape.detail { frames.len().max(1) } else { 1 };
        frames.chunks(at_once).flat_map(|frames| self.sums_at_once(frames, parallel)).collect()
    }

    fn sums_at_once(&mut self, frames: &[Frame<'_>], parallel: bool) -> Vec<Sums> {
        let (shape, level, format) = (self.shape, self.level, &self.format);
        let through = |line: &mut Line, band: &mut Band| -> Vec<Sums> {
            frames
                .iter()
                .map(|frame| band.take(shape, level, &mut *read(frame, format, level), line))
                .collect()
        };
        let parts: Vec<Vec<Sums>> = if parallel {
            self.bands.par_iter_mut().map_init(Line::default, through).collect()
        } else {
            let mut line = Line::default();
            self.bands.iter_mut().map(|band| through(&mut line, band)).collect()
        };
        let mut totals = vec![Sums::default(); frames.len()];
        for part in &parts {
            totals.iter_mut().zip(part).for_each(|(total, sums)| total.add(sums));
        }
        totals
    }

    /// The share of high frequencies of each frame; none without features.
    fn high_shares(&mut self, frames: &[Frame<'_>], sums: &[Sums], threads: usize) -> Vec<f64> {
        let Some(spectrum) = &self.spectrum else { return Vec::new() };
        let workers = threads.min(frames.len()).max(1);
        self.scratch.resize_with(self.scratch.len().max(workers), Scratch::default);
        let (shape, level, format) = (self.shape, self.level, &self.format);
        // Whole frames side by side where there are enough; else the parts of a frame.
        let inside = threads > workers;
        let one = |scratch: &mut Scratch, frame: &Frame<'_>, sums: &Sums| {
            let mean = shape.mean(sums.total()) as f32;
            let mut reader = read(frame, format, level);
            let plane = scratch.plane(shape.width * shape.height);
            for (y, row) in plane.chunks_exact_mut(shape.width).enumerate() {
                reader.luma(y, row);
                level.run(
                    #[inline(always)]
                    || centre(row, mean),
                );
            }
            spectrum.high_share(level, scratch, f64::from(shape.white), inside)
        };
        let each = frames.len().div_ceil(workers).max(1);
        let jobs = frames.chunks(each).zip(sums.chunks(each));
        let run = |scratch: &mut Scratch, (frames, sums): (&[Frame<'_>], &[Sums])| -> Vec<f64> {
            frames.iter().zip(sums).map(|(frame, sums)| one(scratch, frame, sums)).collect()
        };
        if workers == 1 {
            return run(&mut self.scratch[0], (frames, sums));
        }
        let jobs: Vec<_> = self.scratch.iter_mut().zip(jobs).collect();
        jobs.into_par_iter().flat_map_iter(|(scratch, job)| run(scratch, job)).collect()
    }

    fn numbers(&self, index: usize, sums: &Sums, high_share: Option<f64>) -> FrameSignal {
        let shape = self.shape;
        let pixels = shape.pixels();
        let white = f64::from(shape.white);
        let mean_of = |sum: u64| sum as f64 / pixels / white;
        let cell = |row: usize, column: usize| {
            let span = |k: usize, of: usize| (k + 1) * of / CELLS - k * of / CELLS;
            let pixels = span(row, shape.height) * span(column, shape.width);
            (sums.cells[row][column] as f64 / pixels as f64 / white) as f32
        };
        let features = sums.detail.as_deref().map(|detail| {
            let inner = shape.width.saturating_sub(2) * shape.height.saturating_sub(2);
            let variance = || {
                let n = inner as f64;
                // n sum(x^2) - sum(x)^2 in integers, so that a flat picture has exactly none.
                let spread = detail.laplacian_squares * inner as u128
                    - detail.laplacian.unsigned_abs() as u128
                        * detail.laplacian.unsigned_abs() as u128;
                spread as f64 / (n * n) * (255.0 / white).powi(2)
            };
            Features {
                laplacian_variance: (inner > 0).then(variance),
                hf_ratio: high_share.unwrap_or(0.0),
                entropy: entropy(&detail.counts, pixels),
                saturation: detail.saturation as f64 / pixels / self.rgb_white(),
                highpass: mean_of(detail.high_pass) / 9.0,
                shimmer: (index > 0).then(|| mean_of(detail.shimmer) / 9.0),
            }
        });
        let total = sums.total();
        let spread = sums.squares * (shape.width * shape.height) as u128
            - u128::from(total) * u128::from(total);
        FrameSignal {
            luma_mean: mean_of(total),
            luma_std: (spread as f64).sqrt() / pixels / white,
            cells: std::array::from_fn(|row| std::array::from_fn(|column| cell(row, column))),
            motion: (index > 0).then(|| mean_of(sums.change)),
            acceleration: (index > 1).then(|| mean_of(sums.bend)),
            features,
        }
    }

    /// The code of white that red, green and blue are read in.
    fn rgb_white(&self) -> f64 {
        f64::from(self.format.range.white_code())
    }
}

impl Shape {
    fn pixels(self) -> f64 {
        (self.width * self.height) as f64
    }

    /// Mean fixed-point luma.
    fn mean(self, total: u64) -> f64 {
        total as f64 / self.pixels()
    }
}

impl Sums {
    /// Sum of luma.
    fn total(&self) -> u64 {
        self.cells.as_flattened().iter().sum()
    }
}

#[inline(always)]
fn centre(row: &mut [f32], mean: f32) {
    for v in row {
        *v -= mean;
    }
}

/// Entropy in bits of the counts of `pixels` values.
fn entropy(counts: &rows::Counts, pixels: f64) -> f64 {
    (0..rows::BINS)
        .map(|bin| counts.iter().map(|counts| u64::from(counts[bin])).sum::<u64>())
        .filter(|&count| count > 0)
        .map(|count| {
            let share = count as f64 / pixels;
            -share * libm::log2(share)
        })
        .fold(0.0, |a, b| a + b)
        .max(0.0)
}
