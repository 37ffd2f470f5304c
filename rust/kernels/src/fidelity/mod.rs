//! How far did it move: full-reference comparison of one frame with another of its size.
//!
//! Nothing is kept between frames: a clip's numbers are made of its frames' numbers, so halves of a
//! clip merge into the whole exactly.

mod errors;
mod scales;
mod scratch;
mod window;

pub use errors::Errors;
pub use scales::{MultiScale, SCALE_WEIGHTS};
pub use window::TAPS;

use crate::format::{Format, Model, Range};
use crate::read::{Read, read};
use crate::scan::{Scan, scan};
use crate::simd::Level;
use crate::{Error, Frame, Result};
use errors::{Pair, plane_errors, rgb_errors};
use scales::multi_scale;
use scratch::Scratch;
use window::{Means, Planes, RADIUS, Similarity, similarity};

/// Which positions of the SSIM window are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Border {
    /// Those where the whole window lies in the picture: (H-10)(W-10) of them.
    #[default]
    Valid,
    /// All, on a picture mirrored about its edge samples (d c b | a b c d).
    Reflect,
}

/// What is measured of each pair of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// Errors over red, green and blue.
    pub rgb: bool,
    /// Errors of each native plane.
    pub planes: bool,
    /// SSIM of the luma of red, green and blue.
    pub ssim: bool,
    /// Multi-scale SSIM of the same.
    pub ms_ssim: bool,
    /// SSIM of the codes of the first native plane.
    pub ssim_y: bool,
    /// Multi-scale SSIM of the same.
    pub ms_ssim_y: bool,
}

/// SSIM at one scale and over the scales.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Structure {
    /// Mean SSIM, if it was asked for.
    pub ssim: Option<f64>,
    /// Multi-scale SSIM, if it was asked for.
    pub multi_scale: Option<MultiScale>,
}

/// What one pair of frames shows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameFidelity {
    /// Errors over red, green and blue in [0, 1].
    pub rgb: Option<Errors>,
    /// Errors of each native plane, relative to its largest code.
    pub planes: [Option<Errors>; 3],
    /// Structure of the luma of red, green and blue.
    pub luma: Structure,
    /// Structure of the first native plane.
    pub first_plane: Structure,
    /// What the samples of reference and candidate were checked for.
    pub scans: [Scan; 2],
}

/// Compares frames of one format with frames of another.
#[derive(Debug)]
pub struct Fidelity {
    formats: [Format; 2],
    level: Level,
    wants: Wants,
    border: Border,
    scratch: Scratch,
}

/// What a window slides over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Domain {
    Luma,
    FirstPlane,
}

impl Fidelity {
    /// A comparison of `reference` frames with `candidate` frames.
    ///
    /// # Errors
    /// Sizes that differ; native planes asked for of formats that have none in common; a side below
    /// [`TAPS`] where a window is asked for.
    pub fn new(
        reference: Format,
        candidate: Format,
        level: Level,
        wants: Wants,
        border: Border,
    ) -> Result<Self> {
        let size = |f: &Format| (f.width, f.height);
        if size(&reference) != size(&candidate) {
            return Err(Error::SizeMismatch {
                reference: size(&reference),
                candidate: size(&candidate),
            });
        }
        let native = wants.planes || wants.ssim_y || wants.ms_ssim_y;
        if native && !share_planes(&reference, &candidate) {
            return Err(Error::NoCommonPlanes);
        }
        let windowed = wants.ssim || wants.ms_ssim || wants.ssim_y || wants.ms_ssim_y;
        if windowed && reference.width.min(reference.height) < TAPS {
            return Err(Error::TooSmall {
                width: reference.width,
                height: reference.height,
                least: TAPS,
            });
        }
        let scratch = Scratch::default();
        Ok(Self { formats: [reference, candidate], level, wants, border, scratch })
    }

    /// Works on the parts of a frame side by side, on the rayon pool that the caller is in. Without
    /// it everything runs on the calling thread. No number depends on it.
    #[must_use]
    pub fn parallel(mut self, parallel: bool) -> Self {
        self.scratch.parallel = parallel;
        self
    }

    /// Compares one frame with another. Identical frames, and no others, have errors of exactly 0 and
    /// an SSIM of exactly 1; a NaN sample is counted in `scans`, and the numbers are then of no use.
    ///
    /// # Errors
    /// A frame that does not fit its format.
    pub fn measure<'a>(
        &self,
        reference: &Frame<'a>,
        candidate: &Frame<'a>,
    ) -> Result<FrameFidelity> {
        let pair = self.pair(reference, candidate)?;
        let wants = self.wants;
        let mut found = FrameFidelity {
            scans: [0, 1]
                .map(|i| scan(self.level, pair.formats[i], pair.frames[i], self.scratch.parallel)),
            ..FrameFidelity::default()
        };
        if wants.rgb {
            found.rgb = Some(rgb_errors(pair));
        }
        if wants.planes {
            let planes = if matches!(self.formats[0].model, Model::Yuv { .. }) { 3 } else { 1 };
            for (plane, errors) in found.planes[..planes].iter_mut().enumerate() {
                *errors = Some(plane_errors(pair, plane));
            }
        }
        found.luma = self.structure(pair, Domain::Luma, wants.ssim, wants.ms_ssim);
        found.first_plane = self.structure(pair, Domain::FirstPlane, wants.ssim_y, wants.ms_ssim_y);
        Ok(found)
    }

    /// SSIM of each position of the window over luma, row by row: (H-10) x (W-10) values, or
    /// H x W with [`Border::Reflect`].
    ///
    /// # Errors
    /// As [`measure`](Self::measure), and a side below [`TAPS`].
    pub fn ssim_map<'a>(&self, reference: &Frame<'a>, candidate: &Frame<'a>) -> Result<Vec<f32>> {
        let pair = self.pair(reference, candidate)?;
        let Format { width, height, .. } = *pair.formats[0];
        if width.min(height) < TAPS {
            return Err(Error::TooSmall { width, height, least: TAPS });
        }
        Ok(self.window(pair, Domain::Luma, true).map)
    }

    /// Mean absolute difference of red, green and blue at each pixel, in [0, 1], row by row.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn error_map<'a>(&self, reference: &Frame<'a>, candidate: &Frame<'a>) -> Result<Vec<f32>> {
        let pair = self.pair(reference, candidate)?;
        let Format { width, height, .. } = *pair.formats[0];
        let mut map = vec![0.0_f32; width * height];
        self.scratch.pieces(&mut map, width * 32, |band, out| {
            let [mut a, mut b] = pair.readers();
            let (mut first, mut second) = (vec![0.0; 3 * width], vec![0.0; 3 * width]);
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                a.rgb_values(band * 32 + i, &mut first);
                b.rgb_values(band * 32 + i, &mut second);
                for (x, out) in out.iter_mut().enumerate() {
                    let sum: f64 =
                        (0..3).map(|c| c * width + x).map(|k| (first[k] - second[k]).abs()).sum();
                    *out = (sum / 3.0) as f32;
                }
            }
        });
        Ok(map)
    }

    fn pair<'p, 'a>(
        &'p self,
        reference: &'p Frame<'a>,
        candidate: &'p Frame<'a>,
    ) -> Result<Pair<'p, 'a>> {
        reference.check(&self.formats[0])?;
        candidate.check(&self.formats[1])?;
        Ok(Pair {
            level: self.level,
            frames: [reference, candidate],
            formats: [&self.formats[0], &self.formats[1]],
            scratch: &self.scratch,
        })
    }

    fn structure(
        &self,
        pair: Pair<'_, '_>,
        domain: Domain,
        ssim: bool,
        multiple: bool,
    ) -> Structure {
        let mut found = Structure::default();
        let valid = ssim && self.border == Border::Valid;
        if multiple {
            let Format { width, height, .. } = self.formats[0];
            let scale = full_scale(pair.formats[0], domain);
            let open = || open(pair, domain);
            let (scales, finest) =
                multi_scale(self.level, (height, width), scale, &open, valid, &self.scratch);
            found.multi_scale = Some(scales);
            found.ssim = valid.then_some(finest);
        }
        if ssim && found.ssim.is_none() {
            found.ssim = Some(self.window(pair, domain, false).ssim);
        }
        found
    }

    fn window(&self, pair: Pair<'_, '_>, domain: Domain, map: bool) -> Similarity {
        let Format { width, height, .. } = *pair.formats[0];
        let scale = full_scale(pair.formats[0], domain);
        match self.border {
            Border::Valid => {
                let open = || open(pair, domain);
                similarity(
                    self.level,
                    (height, width),
                    scale,
                    &open,
                    Means::Ssim,
                    map,
                    &self.scratch,
                )
            }
            Border::Reflect => {
                let size = (height + 2 * RADIUS, width + 2 * RADIUS);
                let open = || -> Box<dyn Planes + '_> {
                    Box::new(Mirrored { planes: open(pair, domain), height })
                };
                similarity(self.level, size, scale, &open, Means::Ssim, map, &self.scratch)
            }
        }
    }
}

/// A frame as 8-bit red, green and blue, `(H, W, 3)` row by row: rounded, clipped, chroma repeated.
///
/// # Errors
/// A frame that does not fit its format.
pub fn rgb8(frame: &Frame<'_>, format: &Format, level: Level, parallel: bool) -> Result<Vec<u8>> {
    frame.check(format)?;
    let Format { width, height, .. } = *format;
    let mut out = vec![0_u8; 3 * width * height];
    let whole = Scratch { parallel, ..Scratch::default() };
    whole.pieces(&mut out, 3 * width * 32, |band, out| {
        let mut reader = read(frame, format, level);
        let mut row = vec![0.0; 3 * width];
        for (i, out) in out.chunks_exact_mut(3 * width).enumerate() {
            reader.rgb_values(band * 32 + i, &mut row);
            for (x, pixel) in out.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                *pixel = [0, 1, 2].map(|c| (row[c * width + x] * 255.0).round() as u8);
            }
        }
    });
    Ok(out)
}

/// Whether both have native planes of one depth and one chroma size, in integers.
fn share_planes(a: &Format, b: &Format) -> bool {
    let planes = |f: &Format| match f.model {
        Model::Yuv { chroma_shift, .. } => Some(Some(chroma_shift)),
        Model::Grey => Some(None),
        Model::Rgb => None,
    };
    let integers = |f: &Format| !matches!(f.range, Range::Float { .. });
    planes(a).is_some()
        && planes(a) == planes(b)
        && integers(a)
        && integers(b)
        && a.range.code_bits() == b.range.code_bits()
}

fn full_scale(format: &Format, domain: Domain) -> f64 {
    match domain {
        Domain::Luma => format.full_scale(),
        Domain::FirstPlane => f64::from(format.range.white_code()),
    }
}

fn open<'p>(pair: Pair<'p, '_>, domain: Domain) -> Box<dyn Planes + 'p> {
    let [a, b] = pair.formats.map(|f| full_scale(f, domain));
    Box::new(FramePlanes { readers: pair.readers(), domain, scale: (a / b) as f32 })
}

/// A plane of each frame, the second brought to the full scale of the first.
struct FramePlanes<'p> {
    readers: [Box<dyn Read + 'p>; 2],
    domain: Domain,
    scale: f32,
}

impl Planes for FramePlanes<'_> {
    fn rows(&mut self, y: usize, first: &mut [f32], second: &mut [f32]) {
        for (reader, out) in self.readers.iter_mut().zip([&mut *first, &mut *second]) {
            match self.domain {
                Domain::Luma => reader.luma(y, out),
                Domain::FirstPlane => reader.first_plane(y, out),
            }
        }
        if self.scale != 1.0 {
            for value in second {
                *value *= self.scale;
            }
        }
    }
}

/// Planes with a frame of their own samples, mirrored about the edge sample.
struct Mirrored<'p> {
    planes: Box<dyn Planes + 'p>,
    height: usize,
}

impl Planes for Mirrored<'_> {
    fn rows(&mut self, y: usize, first: &mut [f32], second: &mut [f32]) {
        let inside = y.abs_diff(RADIUS);
        let inside = inside.min(2 * (self.height - 1) - inside);
        let width = first.len() - 2 * RADIUS;
        let middle = RADIUS..RADIUS + width;
        self.planes.rows(inside, &mut first[middle.clone()], &mut second[middle]);
        for row in [first, second] {
            for k in 1..=RADIUS {
                row[RADIUS - k] = row[RADIUS + k];
                row[RADIUS + width - 1 + k] = row[RADIUS + width - 1 - k];
            }
        }
    }
}
