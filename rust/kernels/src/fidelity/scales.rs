//! Multi-scale SSIM (Wang, Simoncelli, Bovik 2003): contrast and structure at five scales, luminance
//! at the last.

use super::scratch::Scratch;
use super::window::{Means, Open, Planes, TAPS, similarity, told_apart};
use crate::simd::Level;

/// The published weights, finest scale first.
pub const SCALE_WEIGHTS: [f64; 5] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

/// The least that a scale counts for: a structure that is the other way round has no logarithm.
const LEAST: f64 = 1e-12;

/// Multi-scale SSIM of a pair of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiScale {
    /// The product over the scales.
    pub value: f64,
    /// Scales that were large enough; below five the weights are renormalised.
    pub scales: usize,
    /// Scales whose structure is opposite, and which count as 1e-12.
    pub clipped: usize,
}

/// Output rows of one parallel task.
const BAND: usize = 32;

/// Half the size in both directions by the mean of 2x2; an odd last row or column is dropped.
struct Half {
    height: usize,
    width: usize,
    /// A row of the first plane, the same row of the second, the next row of the first...
    both: Vec<f32>,
}

impl Half {
    fn of(
        level: Level,
        (height, width): (usize, usize),
        open: &Open<'_>,
        scratch: &Scratch,
    ) -> Self {
        let (rows, columns) = (height / 2, width / 2);
        // Both planes in one piece, row by row in turn, so that one part of the work writes both.
        let mut both = scratch.planes.take();
        both.resize(2 * rows * columns, 0.0);
        scratch.pieces(&mut both, BAND * 2 * columns, |band, out| {
            let mut planes = open();
            let mut lines = scratch.planes.take();
            lines.resize(4 * width, 0.0);
            let (top, bottom) = lines.split_at_mut(2 * width);
            let ((a, b), (c, d)) = (top.split_at_mut(width), bottom.split_at_mut(width));
            for (i, out) in out.chunks_exact_mut(2 * columns).enumerate() {
                let at = 2 * (band * BAND + i);
                planes.rows(at, a, b);
                planes.rows(at + 1, c, d);
                let (x, y) = out.split_at_mut(columns);
                level.run(
                    #[inline(always)]
                    || {
                        halve_rows(a, c, x);
                        halve_rows(b, d, y);
                    },
                );
            }
            scratch.planes.give(lines);
        });
        Self { height: rows, width: columns, both }
    }

    fn rows(&self) -> Box<dyn Planes + '_> {
        Box::new(self)
    }
}

#[inline(always)]
fn halve_rows(top: &[f32], bottom: &[f32], out: &mut [f32]) {
    let (top, _) = top.as_chunks::<2>();
    let (bottom, _) = bottom.as_chunks::<2>();
    for ((out, t), b) in out.iter_mut().zip(top).zip(bottom) {
        *out = ((t[0] + t[1]) + (b[0] + b[1])) * 0.25;
    }
}

impl Planes for &Half {
    fn rows(&mut self, y: usize, first: &mut [f32], second: &mut [f32]) {
        let rows = &self.both[2 * y * self.width..][..2 * self.width];
        let (x, y) = rows.split_at(self.width);
        first.copy_from_slice(x);
        second.copy_from_slice(y);
    }
}

/// Multi-scale SSIM of the planes that `open` reads, and their SSIM at full size if `with_ssim`.
///
/// Where a side falls below 11 samples the scales end; the last one that was done carries the
/// luminance, so that a change of brightness is seen at every size.
pub(super) fn multi_scale(
    level: Level,
    (height, width): (usize, usize),
    full_scale: f64,
    open: &Open<'_>,
    with_ssim: bool,
    scratch: &Scratch,
) -> (MultiScale, f64) {
    let scales = SCALE_WEIGHTS.len().min(1 + (height.min(width) / TAPS).ilog2() as usize);
    let means = |scale: usize| match (scale + 1 == scales, scale == 0 && with_ssim) {
        (true, _) => Means::Ssim,
        (false, true) => Means::Both,
        (false, false) => Means::Contrast,
    };
    let finest = similarity(level, (height, width), full_scale, open, means(0), false, scratch);
    let (ssim, equal) = (finest.ssim, finest.equal);
    let mut done = vec![finest];
    let mut half: Option<Half> = None;
    let mut size = (height, width);
    for scale in 1..scales {
        let next = match &half {
            None => Half::of(level, size, open, scratch),
            Some(half) => Half::of(level, size, &|| half.rows(), scratch),
        };
        size = (next.height, next.width);
        let rows = || next.rows();
        done.push(similarity(level, size, full_scale, &rows, means(scale), false, scratch));
        if let Some(done) = half.replace(next) {
            scratch.planes.give(done.both);
        }
    }
    if let Some(last) = half {
        scratch.planes.give(last.both);
    }
    let weights = &SCALE_WEIGHTS[..done.len()];
    let total: f64 = weights.iter().sum();
    let last = done.len() - 1;
    let values = done.iter().enumerate().map(|(i, s)| if i == last { s.ssim } else { s.contrast });
    let (mut log, mut clipped) = (0.0, 0);
    for (value, weight) in values.zip(weights) {
        clipped += usize::from(value < LEAST);
        log += weight / total * libm::log(value.max(LEAST));
    }
    (MultiScale { value: told_apart(libm::exp(log), equal), scales, clipped }, ssim)
}
