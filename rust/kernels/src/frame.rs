use half::f16;
use half::slice::HalfFloatSliceExt;
use ndarray::{ArrayView2, ArrayView3};

use crate::format::FLOAT_BITS;
use crate::{Error, Format, Model, Range, Result};

/// The samples of one frame, borrowed with any strides.
#[derive(Debug, Clone)]
pub enum Pixels<'a, T> {
    /// Interleaved channels, `(H, W, 3)`.
    Packed(ArrayView3<'a, T>),
    /// One `(H, W)` plane per channel: R, G, B or Y, Cb, Cr.
    Planar([ArrayView2<'a, T>; 3]),
    /// A single `(H, W)` plane.
    Grey(ArrayView2<'a, T>),
}

/// One borrowed frame, by element type.
#[derive(Debug, Clone)]
pub enum Frame<'a> {
    /// 8-bit integers.
    U8(Pixels<'a, u8>),
    /// Integers of up to 16 bits.
    U16(Pixels<'a, u16>),
    /// Half precision.
    F16(Pixels<'a, f16>),
    /// Single precision.
    F32(Pixels<'a, f32>),
}

/// Runs `$body` with `$pixels` bound to the typed pixels of `$frame`.
macro_rules! with_pixels {
    ($frame:expr, $pixels:ident => $body:expr) => {
        match $frame {
            $crate::frame::Frame::U8($pixels) => $body,
            $crate::frame::Frame::U16($pixels) => $body,
            $crate::frame::Frame::F16($pixels) => $body,
            $crate::frame::Frame::F32($pixels) => $body,
        }
    };
}
pub(crate) use with_pixels;

impl<'a> Frame<'a> {
    /// Checks number, size and element type of the planes against `format`.
    pub fn check(&self, format: &Format) -> Result<()> {
        let wants_float = matches!(format.range, Range::Float { .. });
        let bytes = matches!(
            format.range,
            Range::Full { bit_depth: 8, shift: 0 } | Range::Limited { bit_depth: 8, shift: 0 }
        );
        let (given, fits) = match self {
            Frame::U8(_) => ("uint8", bytes),
            Frame::U16(_) => ("uint16", !wants_float),
            Frame::F16(_) => ("float16", wants_float),
            Frame::F32(_) => ("float32", wants_float),
        };
        if !fits {
            let expected = match (wants_float, bytes) {
                (true, _) => "float16 or float32",
                (false, true) => "uint8 or uint16",
                (false, false) => "uint16",
            };
            return Err(Error::WrongPlanes { expected, given });
        }
        with_pixels!(self, pixels => pixels.check(format))
    }
}

impl<'a, T> Pixels<'a, T> {
    fn check(&self, format: &Format) -> Result<()> {
        let sizes: Vec<(usize, usize)> = match (self, format.model) {
            (Self::Packed(a), Model::Rgb) => {
                let (rows, columns, channels) = a.dim();
                if channels != 3 {
                    return Err(Error::WrongPlanes {
                        expected: "3 channels",
                        given: "another number of channels",
                    });
                }
                vec![(rows, columns)]
            }
            (Self::Planar(planes), Model::Rgb | Model::Yuv { .. }) => {
                planes.iter().map(ArrayView2::dim).collect()
            }
            (Self::Grey(plane), Model::Grey) => vec![plane.dim()],
            _ => {
                let expected = match format.model {
                    Model::Rgb => "one (H, W, 3) array or three (H, W) planes",
                    Model::Grey => "one (H, W) plane",
                    Model::Yuv { .. } => "three planes: Y, Cb, Cr",
                };
                return Err(Error::WrongPlanes { expected, given: self.layout() });
            }
        };
        for (plane, given) in sizes.into_iter().enumerate() {
            let expected = format.plane_size(plane);
            if given != expected {
                return Err(Error::PlaneSize { plane, expected, given });
            }
        }
        Ok(())
    }

    pub(crate) fn layout(&self) -> &'static str {
        match self {
            Self::Packed(_) => "one (H, W, C) array",
            Self::Planar(_) => "three planes",
            Self::Grey(_) => "one (H, W) plane",
        }
    }

    /// The planes in which a run of samples along a row is a run of pixels: (samples per pixel,
    /// number of such planes).
    pub(crate) fn runs(&self) -> (usize, usize) {
        match self {
            Self::Packed(_) => (3, 1),
            Self::Planar(_) => (1, 3),
            Self::Grey(_) => (1, 1),
        }
    }

    /// Rows of plane `index`.
    pub(crate) fn plane_rows(&self, index: usize) -> usize {
        match self {
            Self::Packed(a) => a.dim().0,
            Self::Planar(planes) => planes[index].nrows(),
            Self::Grey(plane) => plane.nrows(),
        }
    }
}

/// An element type and the integer code its values are read as.
pub(crate) trait Sample: Copy + Default + Send + Sync + 'static {
    /// What a row is turned into before its codes are taken: `f32` for `f16`, else itself.
    type Row: Code;
    /// Borrows a contiguous row as `Row`, through `scratch` where it must be widened.
    fn widen<'s>(row: &'s [Self], scratch: &'s mut Vec<Self::Row>) -> &'s [Self::Row];
}

/// How a value becomes an integer code; constants of one format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coding {
    shift: u32,
    white: u16,
    low: f32,
    scale: f32,
}

impl Coding {
    pub(crate) fn of(range: Range) -> Self {
        match range {
            Range::Full { shift, .. } | Range::Limited { shift, .. } => {
                Self { shift, white: range.white_code() as u16, low: 0.0, scale: 1.0 }
            }
            Range::Float { low, high } => {
                let scale = (1_u32 << FLOAT_BITS) as f32 / (high - low);
                Self { shift: 0, white: u16::MAX, low, scale }
            }
        }
    }
}

pub(crate) trait Code: Copy + Default + Send + Sync + PartialEq + 'static {
    /// The integer code of this value; a NaN is 0, a value out of range the nearest end.
    fn code(self, coding: Coding) -> i32;
    /// The value as stored.
    fn value(self) -> f64;
}

impl Code for u8 {
    #[inline(always)]
    fn code(self, _: Coding) -> i32 {
        i32::from(self)
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.into()
    }
}

impl Code for u16 {
    #[inline(always)]
    fn code(self, coding: Coding) -> i32 {
        i32::from((self >> coding.shift).min(coding.white))
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.into()
    }
}

impl Code for f32 {
    #[inline(always)]
    fn code(self, coding: Coding) -> i32 {
        let white = (1_u32 << FLOAT_BITS) as f32;
        let scaled = (self - coding.low) * coding.scale + 0.5;
        // `max` drops a NaN, so the cast below never sees one.
        scaled.max(0.0).min(white) as i32
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.into()
    }
}

macro_rules! plain_sample {
    ($($t:ty),*) => {$(
        impl Sample for $t {
            type Row = $t;
            #[inline(always)]
            fn widen<'s>(row: &'s [$t], _: &'s mut Vec<$t>) -> &'s [$t] {
                row
            }
        }
    )*};
}
plain_sample!(u8, u16, f32);

impl Sample for f16 {
    type Row = f32;
    #[inline(always)]
    fn widen<'s>(row: &'s [f16], scratch: &'s mut Vec<f32>) -> &'s [f32] {
        scratch.resize(row.len(), 0.0);
        row.convert_to_f32_slice(scratch);
        scratch
    }
}

/// Reads rows of one frame: contiguous rows are borrowed, others gathered into reused scratch.
pub(crate) struct Rows<'f, 'a, T: Sample> {
    pixels: &'f Pixels<'a, T>,
    gather: [Vec<T>; 3],
    wide: [Vec<T::Row>; 3],
}

/// One row of a frame as codes can be taken from it.
pub(crate) enum Row<'s, R> {
    /// R, G, B interleaved.
    Packed(&'s [R]),
    /// One slice per plane; chroma rows are shorter where subsampled.
    Planar([&'s [R]; 3]),
    /// The only plane, or the first where luma needs no other.
    First(&'s [R]),
}

impl<'f, 'a, T: Sample> Rows<'f, 'a, T> {
    pub(crate) fn new(pixels: &'f Pixels<'a, T>) -> Self {
        Self { pixels, gather: Default::default(), wide: Default::default() }
    }

    /// Row `y` of plane `index` as a slice of samples.
    pub(crate) fn plane_row(&mut self, index: usize, y: usize) -> &[T::Row] {
        let slot = index.min(2);
        let gather = &mut self.gather[slot];
        let wide = &mut self.wide[slot];
        match self.pixels {
            Pixels::Packed(a) => packed_row(a, y, gather, wide),
            Pixels::Planar(planes) => plane_row(&planes[slot], y, gather, wide),
            Pixels::Grey(plane) => plane_row(plane, y, gather, wide),
        }
    }

    /// Rows `ys` of the three planes of a planar frame.
    pub(crate) fn three(&mut self, ys: [usize; 3]) -> Option<[&[T::Row]; 3]> {
        let Pixels::Planar([first, second, third]) = self.pixels else { return None };
        let [g0, g1, g2] = &mut self.gather;
        let [w0, w1, w2] = &mut self.wide;
        Some([
            plane_row(first, ys[0], g0, w0),
            plane_row(second, ys[1], g1, w1),
            plane_row(third, ys[2], g2, w2),
        ])
    }

    /// Row `y`, with chroma where `format` needs it for luma.
    pub(crate) fn row(&mut self, format: &Format, y: usize) -> Row<'_, T::Row> {
        let [g0, g1, g2] = &mut self.gather;
        let [w0, w1, w2] = &mut self.wide;
        match self.pixels {
            Pixels::Packed(a) => Row::Packed(packed_row(a, y, g0, w0)),
            Pixels::Grey(plane) => Row::First(plane_row(plane, y, g0, w0)),
            Pixels::Planar([first, second, third]) => {
                let top = plane_row(first, y, g0, w0);
                if format.luma.is_first_plane() {
                    return Row::First(top);
                }
                let chroma_y = y >> format.model.chroma_shift().1;
                Row::Planar([
                    top,
                    plane_row(second, chroma_y, g1, w1),
                    plane_row(third, chroma_y, g2, w2),
                ])
            }
        }
    }
}

fn packed_row<'s, T: Sample>(
    a: &'s ArrayView3<'_, T>,
    y: usize,
    gather: &'s mut Vec<T>,
    wide: &'s mut Vec<T::Row>,
) -> &'s [T::Row] {
    let (_, width, channels) = a.dim();
    let strides = a.strides();
    let contiguous = strides[2] == 1 && (strides[1] == channels as isize || width == 1);
    if contiguous && let Some(row) = a.index_axis(ndarray::Axis(0), y).to_slice() {
        return T::widen(row, wide);
    }
    gather.clear();
    gather.extend(a.index_axis(ndarray::Axis(0), y).iter().copied());
    T::widen(gather, wide)
}

fn plane_row<'s, T: Sample>(
    a: &'s ArrayView2<'_, T>,
    y: usize,
    gather: &'s mut Vec<T>,
    wide: &'s mut Vec<T::Row>,
) -> &'s [T::Row] {
    if let Some(row) = a.row(y).to_slice() {
        return T::widen(row, wide);
    }
    gather.clear();
    gather.extend(a.row(y).iter().copied());
    T::widen(gather, wide)
}
