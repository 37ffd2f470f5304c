//! Rows of a frame as luma, as samples of a plane, or as red, green and blue.

use crate::format::{Format, Model, Range};
use crate::frame::{Code, Coding, Frame, Pixels, Rows, Sample, with_pixels};
use crate::luma::luma_row;
use crate::simd::Level;

/// Reads one frame row by row, whatever its element type and layout. One reader serves one thread.
pub(crate) trait Read {
    /// Luma of row `y`, in the format's fixed point.
    fn luma(&mut self, y: usize, out: &mut [f32]);
    /// The same as integers.
    fn luma_codes(&mut self, y: usize, out: &mut [i32]);
    /// Codes of row `y` of the first plane.
    fn first_plane(&mut self, y: usize, out: &mut [f32]);
    /// Codes of row `y` of plane `plane`.
    fn plane(&mut self, plane: usize, y: usize, out: &mut [i32]);
    /// Codes of red, then green, then blue of row `y`; white is the format's largest code.
    fn rgb(&mut self, y: usize, out: &mut [i32]);
    /// The same in [0, 1]. Float samples keep every bit, and are not clipped.
    fn rgb_values(&mut self, y: usize, out: &mut [f64]);
}

/// A reader of `frame`.
pub(crate) fn read<'f>(
    frame: &'f Frame<'_>,
    format: &'f Format,
    level: Level,
) -> Box<dyn Read + 'f> {
    with_pixels!(frame, pixels => Box::new(Reader::new(pixels, format, level)))
}

pub(crate) struct Reader<'f, 'a, T: Sample> {
    pixels: &'f Pixels<'a, T>,
    rows: Rows<'f, 'a, T>,
    format: &'f Format,
    level: Level,
    to_rgb: RgbForm,
    codes: Vec<i32>,
    chroma: [Vec<i32>; 3],
    chroma_row: Option<usize>,
}

impl<'f, 'a, T: Sample> Reader<'f, 'a, T> {
    pub(crate) fn new(pixels: &'f Pixels<'a, T>, format: &'f Format, level: Level) -> Self {
        Self {
            pixels,
            rows: Rows::new(pixels),
            format,
            level,
            to_rgb: RgbForm::of(format),
            codes: Vec::new(),
            chroma: Default::default(),
            chroma_row: None,
        }
    }

    /// Luma of row `y` of Y, Cb, Cr, and what chroma adds to red, green and blue; the latter is worked
    /// out once for the rows that share it.
    pub(crate) fn yuv(&mut self, y: usize) -> Option<YuvRow<'_, T::Row>> {
        let (sx, sy) = self.format.model.chroma_shift();
        let (coding, form, width) = (Coding::of(self.format.range), self.to_rgb, self.format.width);
        let chroma_y = y >> sy;
        let [luma, cb, cr] = self.rows.three([y, chroma_y, chroma_y])?;
        if self.chroma_row != Some(chroma_y) {
            self.chroma_row = Some(chroma_y);
            let [red, green, blue] = &mut self.chroma;
            for part in [&mut *red, &mut *green, &mut *blue] {
                part.resize(width.next_multiple_of(4), 0);
            }
            self.level.run(
                #[inline(always)]
                || match sx {
                    0 => chroma_terms::<_, 1>([cb, cr], form, coding, [red, green, blue]),
                    1 => chroma_terms::<_, 2>([cb, cr], form, coding, [red, green, blue]),
                    _ => chroma_terms::<_, 4>([cb, cr], form, coding, [red, green, blue]),
                },
            );
        }
        let chroma = self.chroma.each_ref().map(|part| &part[..width]);
        Some(YuvRow { luma, chroma, form, coding })
    }

    fn yuv_to_rgb(&mut self, y: usize, out: &mut [i32]) {
        let (level, width) = (self.level, self.format.width);
        let Some(row) = self.yuv(y) else { return };
        level.run(
            #[inline(always)]
            || {
                for (channel, out) in out.chunks_exact_mut(width).enumerate() {
                    row.channel(channel, out);
                }
            },
        );
    }

    /// One value per channel from the samples of RGB or grey; `value` takes a sample.
    #[inline(always)]
    fn spread<V: Copy>(&mut self, y: usize, out: &mut [V], value: impl Fn(T::Row) -> V + Copy) {
        let width = self.format.width;
        let level = self.level;
        match self.pixels {
            Pixels::Packed(_) => {
                let row = self.rows.plane_row(0, y);
                level.run(
                    #[inline(always)]
                    || {
                        let (red, rest) = out.split_at_mut(width);
                        let (green, blue) = rest.split_at_mut(width);
                        let (pixels, _) = row.as_chunks::<3>();
                        for (((r, g), b), p) in red.iter_mut().zip(green).zip(blue).zip(pixels) {
                            (*r, *g, *b) = (value(p[0]), value(p[1]), value(p[2]));
                        }
                    },
                );
            }
            Pixels::Planar(_) => {
                for (plane, out) in out.chunks_exact_mut(width).enumerate() {
                    let row = self.rows.plane_row(plane, y);
                    level.run(
                        #[inline(always)]
                        || fill(row, out, value),
                    );
                }
            }
            Pixels::Grey(_) => {
                let row = self.rows.plane_row(0, y);
                level.run(
                    #[inline(always)]
                    || {
                        for out in out.chunks_exact_mut(width) {
                            fill(row, out, value);
                        }
                    },
                );
            }
        }
    }
}

#[inline(always)]
fn fill<C: Copy, V>(row: &[C], out: &mut [V], value: impl Fn(C) -> V) {
    for (out, &v) in out.iter_mut().zip(row) {
        *out = value(v);
    }
}

impl<T: Sample> Read for Reader<'_, '_, T> {
    fn luma(&mut self, y: usize, out: &mut [f32]) {
        self.codes.resize(out.len(), 0);
        let (rows, codes, format) = (&mut self.rows, &mut self.codes, self.format);
        self.level.run(
            #[inline(always)]
            || {
                luma_row(rows, format, y, codes);
                fill(codes, out, |v| v as f32);
            },
        );
    }

    fn luma_codes(&mut self, y: usize, out: &mut [i32]) {
        let (rows, format) = (&mut self.rows, self.format);
        self.level.run(
            #[inline(always)]
            || luma_row(rows, format, y, out),
        );
    }

    fn first_plane(&mut self, y: usize, out: &mut [f32]) {
        let coding = Coding::of(self.format.range);
        let row = self.rows.plane_row(0, y);
        self.level.run(
            #[inline(always)]
            || fill(row, out, |v| v.code(coding) as f32),
        );
    }

    fn plane(&mut self, plane: usize, y: usize, out: &mut [i32]) {
        let coding = Coding::of(self.format.range);
        let row = self.rows.plane_row(plane, y);
        self.level.run(
            #[inline(always)]
            || fill(row, out, |v| v.code(coding)),
        );
    }

    fn rgb(&mut self, y: usize, out: &mut [i32]) {
        let coding = Coding::of(self.format.range);
        let form = self.to_rgb;
        match (self.format.model, self.format.range) {
            (Model::Yuv { .. }, _) => self.yuv_to_rgb(y, out),
            (Model::Grey, Range::Limited { .. }) => {
                let grey = |v: T::Row| {
                    ((v.code(coding) * form.luma + form.offset) >> form.shift).clamp(0, form.white)
                };
                self.spread(y, out, grey);
            }
            _ => self.spread(y, out, |v| v.code(coding)),
        }
    }

    fn rgb_values(&mut self, y: usize, out: &mut [f64]) {
        if let Range::Float { low, high } = self.format.range {
            let (low, span) = (f64::from(low), f64::from(high) - f64::from(low));
            self.spread(y, out, |v| (v.value() - low) / span);
            return;
        }
        let white = f64::from(self.format.range.white_code());
        let mut codes = std::mem::take(&mut self.codes);
        codes.resize(out.len(), 0);
        self.rgb(y, &mut codes);
        fill(&codes, out, |v| f64::from(v) / white);
        self.codes = codes;
    }
}

/// Red, green and blue as fixed-point linear forms of the codes of Y, Cb and Cr, each rounded to
/// the nearest code and clipped.
#[derive(Debug, Clone, Copy)]
struct RgbForm {
    luma: i32,
    /// Weights of Cb and Cr in red, green and blue.
    chroma: [[i32; 2]; 3],
    neutral: i32,
    /// What black and the rounding add.
    offset: i32,
    shift: u32,
    white: i32,
}

impl RgbForm {
    /// The nearest code of a sum in fixed point.
    #[inline(always)]
    fn clip(self, sum: i32) -> i32 {
        (sum >> self.shift).max(0).min(self.white)
    }

    fn of(format: &Format) -> Self {
        let bits = format.range.code_bits();
        let white = format.range.white_code() as i32;
        // 16 bits of fraction, or as many as leave the sums of 16-bit codes within 32 bits.
        let shift = 16.min(28_u32.saturating_sub(bits));
        let (black, luma, chroma) = match format.range {
            Range::Limited { bit_depth, .. } => {
                let unit = f64::from(1_u32 << (bit_depth - 8));
                (
                    16 << (bit_depth - 8),
                    f64::from(white) / (219.0 * unit),
                    f64::from(white) / (224.0 * unit),
                )
            }
            _ => (0, 1.0, 1.0),
        };
        let fixed = |c: f64| (c * f64::from(1_u32 << shift)).round() as i32;
        let weights = match format.model {
            Model::Yuv { kr, kb, .. } => {
                let kg = 1.0 - kr - kb;
                let (red, blue) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb));
                [[0.0, red], [-blue * kb / kg, -red * kr / kg], [blue, 0.0]]
            }
            _ => [[0.0; 2]; 3],
        };
        let luma = fixed(luma);
        Self {
            luma,
            chroma: weights.map(|w| w.map(|c| fixed(c * chroma))),
            neutral: 1 << bits.saturating_sub(1),
            // Wraps for floats alone, which have no integer form.
            offset: ((1_i32 << shift) >> 1).wrapping_sub(luma.wrapping_mul(black)),
            shift,
            white,
        }
    }
}

/// One row on its way to red, green and blue.
#[derive(Clone, Copy)]
pub(crate) struct YuvRow<'r, C> {
    luma: &'r [C],
    chroma: [&'r [i32]; 3],
    form: RgbForm,
    coding: Coding,
}

impl<C: Code> YuvRow<'_, C> {
    /// The codes of one channel.
    #[inline(always)]
    fn channel(&self, channel: usize, out: &mut [i32]) {
        // The form is taken out first: a store to `out` could change it where it lies, for all that
        // the compiler knows.
        let (form, coding) = (self.form, self.coding);
        for ((out, &y), &chroma) in out.iter_mut().zip(self.luma).zip(self.chroma[channel]) {
            *out = form.clip(y.code(coding) * form.luma + chroma);
        }
    }

    /// Sums of squared and absolute differences over all channels of two rows. The squares of
    /// `RUN` pixels fit 32 bits.
    #[inline(always)]
    pub(crate) fn differences<const RUN: usize>(&self, other: &Self) -> (u64, u64) {
        let ((form_a, coding_a), (form_b, coding_b)) =
            ((self.form, self.coding), (other.form, other.coding));
        let (mut squares, mut sizes) = (0_u64, 0_u64);
        for channel in 0..3 {
            let first = self.luma.chunks(RUN).zip(self.chroma[channel].chunks(RUN));
            let second = other.luma.chunks(RUN).zip(other.chroma[channel].chunks(RUN));
            for ((ya, ca), (yb, cb)) in first.zip(second) {
                let (mut squared, mut absolute) = (0_u32, 0_u32);
                for (((&ya, &ca), &yb), &cb) in ya.iter().zip(ca).zip(yb).zip(cb) {
                    let a = form_a.clip(ya.code(coding_a) * form_a.luma + ca);
                    let d = a - form_b.clip(yb.code(coding_b) * form_b.luma + cb);
                    squared += (d * d) as u32;
                    absolute += d.unsigned_abs();
                }
                squares += u64::from(squared);
                sizes += u64::from(absolute);
            }
        }
        (squares, sizes)
    }
}

/// What Cb and Cr add to red, green and blue, for rows of which `N` pixels share a sample.
#[inline(always)]
fn chroma_terms<C: Code, const N: usize>(
    [cb, cr]: [&[C]; 2],
    form: RgbForm,
    coding: Coding,
    out: [&mut Vec<i32>; 3],
) {
    for (out, [wb, wr]) in out.into_iter().zip(form.chroma) {
        let (groups, _) = out.as_chunks_mut::<N>();
        for ((group, &cb), &cr) in groups.iter_mut().zip(cb).zip(cr) {
            let (cb, cr) = (cb.code(coding) - form.neutral, cr.code(coding) - form.neutral);
            *group = [wb * cb + wr * cr + form.offset; N];
        }
    }
}
