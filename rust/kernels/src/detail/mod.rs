//! Edges, what lies beside them, and texture: the detail of one frame by itself.
//!
//! Luma is blurred by a Gaussian of 1.2 pixels; `residue` is what the blur takes away, `gradient`
//! the slope of what it leaves. The steepest twentieth of the pixels are the edges, the band is
//! what lies within two steps of one and is none, and the rest is texture. A frame that rings has
//! residue in the band. Nothing is kept between frames.
//!
//! Everything is in the format's luma codes until the last step, so samples of 8 bits are exact.

mod band;
mod select;
mod slope;

use rayon::prelude::*;

use crate::frame::{Pixels, Sample, with_pixels};
use crate::scan::{Scan, scan};
use crate::simd::Level;
use crate::spare::Spare;
use crate::{Format, Frame, Result};
use band::{Areas, Masks};
use select::{Quantile, quantile};
use slope::{Slopes, Sums};

/// Share of the pixels that are no edges.
pub const EDGE_QUANTILE: f64 = 0.95;

/// A blurred slope of at least this much luma per pixel counts for the density of edges: a step of
/// 15 levels of 255 reaches it.
pub const DENSITY_SLOPE: f64 = 0.02;

/// Rows of one parallel task. Fixed, so that sums do not depend on the number of threads; at 720p,
/// 1080p and 4K their number is even, so that two threads end together.
const BAND: usize = 90;

/// The detail of one frame; luma is in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameDetail {
    /// Mean residue of the band over the standard deviation of luma (at least 1e-6); 0 without a
    /// band.
    pub overshoot: f64,
    /// The slope that the steepest twentieth reaches, in luma per pixel.
    pub edge_strength: f64,
    /// Share of pixels whose slope is at least [`DENSITY_SLOPE`].
    pub edge_density: f64,
    /// Mean residue of what is neither edge nor band; `None` where there is no such pixel.
    pub texture_residual: Option<f64>,
    /// Pixels of the band.
    pub band_pixels: u64,
    /// Population standard deviation of luma.
    pub luma_std: f64,
    /// What the samples were checked for.
    pub scan: Scan,
}

/// Measures frames of one format.
#[derive(Debug)]
pub struct Detail {
    format: Format,
    level: Level,
    parallel: bool,
    planes: Spare<Planes>,
    slopes: Spare<Slopes>,
    masks: Spare<Masks>,
}

/// Residue, and the square of the slope, of every pixel.
#[derive(Debug, Default)]
struct Planes {
    residue: Vec<f32>,
    steep: Vec<f32>,
}

impl Detail {
    /// A kernel for frames of this format.
    pub fn new(format: Format, level: Level) -> Self {
        Self {
            format,
            level,
            parallel: false,
            planes: Spare::default(),
            slopes: Spare::default(),
            masks: Spare::default(),
        }
    }

    /// Whether the parts of a frame are worked on side by side, on the pool that the caller entered.
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// The detail of a frame. NaN and infinite samples read as black or white; the scan counts them.
    ///
    /// # Errors
    /// A frame that does not fit the format.
    pub fn measure(&self, frame: &Frame<'_>) -> Result<FrameDetail> {
        frame.check(&self.format)?;
        let scan = scan(self.level, &self.format, frame, self.parallel);
        let (width, height) = (self.format.width, self.format.height);
        let count = width * height;
        let mut planes = self.planes.take();
        planes.residue.resize(count, 0.0);
        planes.steep.resize(count, 0.0);
        let sums = with_pixels!(frame, pixels => self.slopes(pixels, &mut planes));
        let quantile = quantile(self, &planes.steep, &sums, EDGE_QUANTILE);
        let areas = self.areas(&planes, quantile);
        self.planes.give(planes);
        let full_scale = self.format.full_scale();
        let luma_std = sums.moments.std() / full_scale;
        let mean = |sum: f64, pixels: u64| sum / full_scale / pixels as f64;
        let band = if areas.band.1 == 0 { 0.0 } else { mean(areas.band.0, areas.band.1) };
        let texture = (areas.texture.1 > 0).then(|| mean(areas.texture.0, areas.texture.1));
        Ok(FrameDetail {
            overshoot: band / luma_std.max(1e-6),
            edge_strength: quantile.value / full_scale,
            edge_density: sums.dense as f64 / count as f64,
            texture_residual: texture,
            band_pixels: areas.band.1,
            luma_std,
            scan,
        })
    }

    /// Fills the planes, and sums up what the bands counted on the way.
    fn slopes<T: Sample>(&self, pixels: &Pixels<'_, T>, planes: &mut Planes) -> Sums {
        let piece = BAND * self.format.width;
        let Planes { residue, steep } = planes;
        let part = |(i, (residue, steep)): (usize, (&mut [f32], &mut [f32]))| {
            let mut slopes = self.slopes.take();
            let sums = slopes.band(self.level, &self.format, pixels, i * BAND, (residue, steep));
            self.slopes.give(slopes);
            sums
        };
        let sums: Vec<Sums> = if self.parallel {
            let pieces = (residue.par_chunks_mut(piece), steep.par_chunks_mut(piece));
            pieces.into_par_iter().enumerate().map(part).collect()
        } else {
            residue.chunks_mut(piece).zip(steep.chunks_mut(piece)).enumerate().map(part).collect()
        };
        sums.into_iter().fold(Sums::default(), Sums::merge)
    }

    /// Residue of band and texture.
    fn areas(&self, planes: &Planes, edge: Quantile) -> Areas {
        let (width, height) = (self.format.width, self.format.height);
        let found = self.each(height.div_ceil(BAND), |i| {
            let mut masks = self.masks.take();
            let rows = i * BAND..height.min((i + 1) * BAND);
            let areas = masks.areas(
                self.level,
                (&planes.residue, &planes.steep),
                (width, height),
                edge.least_square,
                rows,
            );
            self.masks.give(masks);
            areas
        });
        found.into_iter().fold(Areas::default(), Areas::merge)
    }

    /// The results of parts 0 to `count`, in order.
    fn each<R: Send>(&self, count: usize, part: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
        if self.parallel && count > 1 {
            (0..count).into_par_iter().map(part).collect()
        } else {
            (0..count).map(part).collect()
        }
    }
}
