use crate::{Error, Result};

/// How the samples of a frame are read. Made once per clip; validated on construction.
#[derive(Debug, Clone, PartialEq)]
pub struct Format {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) model: Model,
    pub(crate) range: Range,
    pub(crate) luma: LumaForm,
}

/// What the planes mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    /// Red, green and blue: one packed `(H, W, 3)` plane or three `(H, W)` planes.
    Rgb,
    /// One `(H, W)` plane of luma.
    Grey,
    /// Y, Cb and Cr planes, the last two subsampled by `2^chroma_shift`.
    Yuv {
        /// Weight of red in the stream's luma (0.299 for BT.601, 0.2126 for BT.709).
        kr: f64,
        /// Weight of blue in the stream's luma.
        kb: f64,
        /// Base-two logarithm of the (horizontal, vertical) chroma step.
        chroma_shift: (u32, u32),
    },
}

impl Model {
    /// Base-two logarithm of the (horizontal, vertical) chroma step; zero where all planes have one
    /// size.
    pub(crate) fn chroma_shift(self) -> (u32, u32) {
        match self {
            Self::Yuv { chroma_shift, .. } => chroma_shift,
            Self::Rgb | Self::Grey => (0, 0),
        }
    }
}

/// Which sample values are black and white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Integers of `bit_depth` bits, stored `shift` bits up; black is 0, white the largest.
    Full {
        /// Significant bits.
        bit_depth: u32,
        /// Right shift that brings a container's value to `bit_depth` bits.
        shift: u32,
    },
    /// Integers of `bit_depth` bits; black is 16, white 235 (of 8 bits, scaled with the depth).
    Limited {
        /// Significant bits.
        bit_depth: u32,
        /// Right shift that brings a container's value to `bit_depth` bits.
        shift: u32,
    },
    /// Floating point from `low` (black) to `high` (white).
    Float {
        /// The value of black.
        low: f32,
        /// The value of white.
        high: f32,
    },
}

/// Bits of the codes that float samples are rounded to: 2^-20 of full scale.
pub(crate) const FLOAT_BITS: u32 = 20;

impl Range {
    fn validate(self) -> Result<()> {
        match self {
            Self::Full { bit_depth, shift } | Self::Limited { bit_depth, shift } => {
                let least = if matches!(self, Self::Limited { .. }) { 8 } else { 1 };
                let fits = bit_depth.checked_add(shift).is_some_and(|bits| bits <= 16);
                if bit_depth < least || !fits {
                    return Err(Error::BadDepth { bit_depth, shift });
                }
            }
            Self::Float { low, high } => {
                // Ends of opposite sign can be finite and their distance not.
                if !(low < high && (high - low).is_finite()) {
                    return Err(Error::BadRange { low: low.into(), high: high.into() });
                }
            }
        }
        Ok(())
    }

    /// Bits of a sample's integer code.
    pub(crate) fn code_bits(self) -> u32 {
        match self {
            Self::Full { bit_depth, .. } | Self::Limited { bit_depth, .. } => bit_depth,
            Self::Float { .. } => FLOAT_BITS,
        }
    }

    /// The code of white: the largest integer, or 2^20 for floats.
    pub(crate) fn white_code(self) -> u32 {
        match self {
            Self::Full { bit_depth, .. } | Self::Limited { bit_depth, .. } => (1 << bit_depth) - 1,
            Self::Float { .. } => 1 << FLOAT_BITS,
        }
    }

    /// How many codes make one 8-bit level.
    pub(crate) fn codes_per_level(self) -> f64 {
        match self {
            // A limited-range level is one step of an 8-bit decoder plane, whatever the depth.
            Self::Limited { bit_depth, .. } => f64::from(1_u32 << (bit_depth - 8)),
            _ => f64::from(self.white_code()) / 255.0,
        }
    }
}

/// Luma as a linear form of the codes: `clamp((y*Y + cb*Cb + cr*Cr + offset) >> shift, 0, white)`,
/// where (Y, Cb, Cr) stand for (R, G, B) in the RGB model. All integers, so exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LumaForm {
    pub(crate) weights: [i32; 3],
    pub(crate) offset: i32,
    pub(crate) shift: u32,
    pub(crate) white: i32,
}

/// Weights of R, G and B in luma, in thousandths.
pub(crate) const LUMA_WEIGHTS: [i32; 3] = [299, 587, 114];

/// Bits of the weights of Cb and Cr, at every depth.
const CHROMA_BITS: u32 = 12;

/// The largest sum of `kr` and `kb`. Every standard stays below 0.42; up to here the weights of
/// chroma in luma sum to less than 6, so that 16-bit codes times 12-bit weights fit 32 bits.
const MOST_RED_AND_BLUE: f64 = 0.9;

impl LumaForm {
    fn of(model: Model, range: Range) -> Self {
        let bits = range.code_bits();
        let code = range.white_code() as i32;
        let (black, white) = match range {
            Range::Limited { bit_depth, .. } => (16 << (bit_depth - 8), 219 << (bit_depth - 8)),
            _ => (0, code),
        };
        let first_plane = Self { weights: [1, 0, 0], offset: -black, shift: 0, white };
        // The one rounding of luma: no result is above 2^20, which the sums in 32 bits count on.
        let half = |shift: u32| (1 << shift) >> 1;
        match model {
            Model::Rgb => {
                let shift = bits.saturating_sub(10);
                let offset = half(shift);
                let white = (1000 * code + offset) >> shift;
                Self { weights: LUMA_WEIGHTS, offset, shift, white }
            }
            Model::Grey => first_plane,
            Model::Yuv { kr, kb, .. } => {
                let (cb, cr) = chroma_in_luma(kr, kb);
                // Chroma spans 224 codes where luma spans 219, in limited range.
                let ratio = if black > 0 { 219.0 / 224.0 } else { 1.0 };
                let scale = 1 << CHROMA_BITS;
                let fixed = |c: f64| (c * ratio * f64::from(scale)).round() as i32;
                let (cb, cr) = (fixed(cb), fixed(cr));
                if (cb, cr) == (0, 0) {
                    return first_plane;
                }
                let shift = bits - 8;
                let neutral = 1 << (bits - 1);
                Self {
                    weights: [scale, cb, cr],
                    offset: half(shift) - (black * scale + neutral * (cb + cr)),
                    shift,
                    white: (white * scale) >> shift,
                }
            }
        }
    }

    /// Whether luma reads the first plane alone.
    pub(crate) fn is_first_plane(&self) -> bool {
        self.weights[1] == 0 && self.weights[2] == 0
    }
}

/// Weights of Cb and Cr in 0.299 R + 0.587 G + 0.114 B, for a stream whose luma weighs R by `kr` and
/// B by `kb`. Both are zero for BT.601, whose luma this is.
fn chroma_in_luma(kr: f64, kb: f64) -> (f64, f64) {
    let kg = 1.0 - kr - kb;
    let [r, g, b] = [0.299, 0.587, 0.114];
    let cr = 2.0 * (1.0 - kr) * (r - g * kr / kg);
    let cb = 2.0 * (1.0 - kb) * (b - g * kb / kg);
    (cb, cr)
}

impl Format {
    /// Checks the description and fixes the luma form.
    pub fn new(width: usize, height: usize, model: Model, range: Range) -> Result<Self> {
        if !(1..=65536).contains(&width) || !(1..=65536).contains(&height) {
            return Err(Error::BadGeometry { width, height });
        }
        range.validate()?;
        if let Model::Yuv { kr, kb, chroma_shift: (horizontal, vertical) } = model {
            let positive = |k: f64| k > 0.0 && k < 1.0;
            if !(positive(kr) && positive(kb) && kr + kb <= MOST_RED_AND_BLUE) {
                return Err(Error::BadMatrix { kr, kb });
            }
            if horizontal > 2 || vertical > 2 {
                return Err(Error::BadChroma { horizontal, vertical });
            }
            if matches!(range, Range::Float { .. }) || range.code_bits() < 8 {
                return Err(Error::BadDepth { bit_depth: range.code_bits(), shift: 0 });
            }
        }
        Ok(Self { width, height, model, range, luma: LumaForm::of(model, range) })
    }

    /// Width in pixels, as shown.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels, as shown.
    pub fn height(&self) -> usize {
        self.height
    }

    /// What the planes mean.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Which sample values are black and white.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The fixed-point luma of white.
    pub fn full_scale(&self) -> f64 {
        f64::from(self.luma.white)
    }

    /// (rows, columns) of plane `index`.
    pub(crate) fn plane_size(&self, index: usize) -> (usize, usize) {
        let (sx, sy) = if index > 0 { self.model.chroma_shift() } else { (0, 0) };
        (self.height.div_ceil(1 << sy), self.width.div_ceil(1 << sx))
    }

    /// Red, green and blue in [0, 1] of mean codes, one per channel.
    pub(crate) fn rgb_of_codes(&self, codes: [f64; 3]) -> [f64; 3] {
        let white = f64::from(self.range.white_code());
        let (black, span, chroma_span) = match self.range {
            Range::Limited { bit_depth, .. } => {
                let unit = f64::from(1_u32 << (bit_depth - 8));
                (16.0 * unit, 219.0 * unit, 224.0 * unit)
            }
            _ => (0.0, white, white),
        };
        let y = (codes[0] - black) / span;
        let rgb = match self.model {
            Model::Rgb => codes.map(|c| c / white),
            Model::Grey => [y; 3],
            Model::Yuv { kr, kb, .. } => {
                let neutral = f64::from(1_u32 << (self.range.code_bits() - 1));
                let cb = (codes[1] - neutral) / chroma_span;
                let cr = (codes[2] - neutral) / chroma_span;
                let kg = 1.0 - kr - kb;
                let red = y + 2.0 * (1.0 - kr) * cr;
                let blue = y + 2.0 * (1.0 - kb) * cb;
                let green = y - 2.0 * (1.0 - kr) * kr / kg * cr - 2.0 * (1.0 - kb) * kb / kg * cb;
                [red, green, blue]
            }
        };
        rgb.map(|v| v.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };

    #[test]
    fn bt601_luma_needs_no_chroma() {
        let (cb, cr) = chroma_in_luma(0.299, 0.114);
        assert!(cb.abs() < 1e-15 && cr.abs() < 1e-15);
    }

    #[test]
    fn bt709_chroma_weights_equal_the_product_of_the_two_matrices() {
        // 0.299 (1.5748) - 0.587 (0.468124), and 0.114 (1.8556) - 0.587 (0.187324), ITU-R BT.709.
        let (cb, cr) = chroma_in_luma(0.2126, 0.0722);
        assert!((cr - (0.299 * 1.5748 - 0.587 * 0.468_124)).abs() < 1e-5);
        assert!((cb - (0.114 * 1.8556 - 0.587 * 0.187_324)).abs() < 1e-5);
    }

    #[test]
    fn neutral_grey_of_limited_709_is_its_luma() {
        let model = Model::Yuv { kr: 0.2126, kb: 0.0722, chroma_shift: (1, 1) };
        let range = Range::Limited { bit_depth: 8, shift: 0 };
        let format = Format::new(4, 4, model, range).unwrap();
        let form = format.luma;
        let luma = form.weights[0] * 126 + (form.weights[1] + form.weights[2]) * 128 + form.offset;
        assert_eq!(f64::from(luma) / format.full_scale(), 110.0 / 219.0);
    }

    #[test]
    fn bad_geometry() {
        for (width, height) in [(0, 1), (1, 0), (65537, 1)] {
            assert_eq!(
                Format::new(width, height, Model::Grey, FULL8),
                Err(Error::BadGeometry { width, height })
            );
        }
    }

    #[test]
    fn bad_depth() {
        let range = Range::Full { bit_depth: 12, shift: 6 };
        assert_eq!(
            Format::new(2, 2, Model::Grey, range),
            Err(Error::BadDepth { bit_depth: 12, shift: 6 })
        );
        let range = Range::Limited { bit_depth: 7, shift: 0 };
        assert_eq!(
            Format::new(2, 2, Model::Grey, range),
            Err(Error::BadDepth { bit_depth: 7, shift: 0 })
        );
        let range = Range::Full { bit_depth: u32::MAX, shift: 1 };
        assert_eq!(
            Format::new(2, 2, Model::Grey, range),
            Err(Error::BadDepth { bit_depth: u32::MAX, shift: 1 })
        );
    }

    #[test]
    fn bad_range() {
        let most = f32::MAX;
        let ranges = [(0.0, 0.0), (1.0, 0.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (-most, most)];
        for (low, high) in ranges {
            let got = Format::new(2, 2, Model::Rgb, Range::Float { low, high });
            assert!(matches!(got, Err(Error::BadRange { .. })), "{low} {high}");
        }
    }

    #[test]
    fn bad_matrix() {
        for (kr, kb) in [(0.6, 0.5), (0.5, 0.499_999), (0.0, 0.1), (0.3, f64::NAN)] {
            let model = Model::Yuv { kr, kb, chroma_shift: (0, 0) };
            let got = Format::new(2, 2, model, FULL8);
            assert!(matches!(got, Err(Error::BadMatrix { .. })), "{kr} {kb}");
        }
    }

    #[test]
    fn luma_of_any_codes_and_matrix_fits_32_bits() {
        for (kr, kb) in [(0.45, 0.45), (0.85, 0.05), (0.05, 0.85), (0.2126, 0.0722)] {
            for bit_depth in [8, 16] {
                let model = Model::Yuv { kr, kb, chroma_shift: (0, 0) };
                let range = Range::Full { bit_depth, shift: 0 };
                let form = Format::new(2, 2, model, range).unwrap().luma;
                let most = i64::from(range.white_code());
                let [y, cb, cr] = form.weights.map(|w| i64::from(w) * most);
                let sums = [y, cb, cr, i64::from(form.offset)];
                let positive: i64 = sums.iter().filter(|&&v| v > 0).sum();
                let negative: i64 = sums.iter().filter(|&&v| v < 0).sum();
                assert!(i32::try_from(positive).is_ok() && i32::try_from(negative).is_ok());
            }
        }
    }

    #[test]
    fn bad_chroma() {
        let model = Model::Yuv { kr: 0.299, kb: 0.114, chroma_shift: (3, 0) };
        assert_eq!(
            Format::new(2, 2, model, FULL8),
            Err(Error::BadChroma { horizontal: 3, vertical: 0 })
        );
    }
}
