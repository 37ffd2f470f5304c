//! Grey8: the picture that tracks and flow are measured in. A frame is brought to the working size
//! by the mean over areas, rounded to 8 bits, then weighted to grey in integers.

use super::area::{Axis, LARGE, add_row, round, sum_columns, wide_columns};
use super::sampling::working_size;
use crate::format::{Format, Model, Range};
use crate::frame::{Code, Coding, Frame, Pixels, Row, Rows, Sample, with_pixels};
use crate::luma::luma_row;
use crate::simd::Level;

/// Bits below an 8-bit level that luma of a decoder's planes keeps until it has been resized.
const LUMA_BITS: u32 = 6;
/// Weights of red, green and blue in grey, of 2^15.
const WEIGHTS: [i32; 3] = [9798, 19235, 3735];

/// What the samples of a row are before they become grey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Red, green and blue in 8-bit levels, interleaved.
    Rgb,
    /// 8-bit levels of grey.
    Levels,
    /// Luma with [`LUMA_BITS`] more.
    Luma,
}

/// How frames of one format become grey.
#[derive(Debug)]
pub(super) struct Plan {
    format: Format,
    source: Source,
    width: usize,
    height: usize,
    /// `None` where the frame has the working size.
    axes: Option<[Axis; 2]>,
}

/// Memory of one frame's way to grey, to be used again.
#[derive(Debug, Default)]
pub(super) struct Room {
    samples: Vec<u16>,
    luma: Vec<i32>,
    /// Sums over rows.
    down: Vec<u32>,
    /// Sums over rows and columns.
    both: Vec<u32>,
    levels: Vec<i32>,
}

impl Plan {
    pub(super) fn new(format: &Format) -> Self {
        let (width, height) = working_size(format.width, format.height);
        let source = match (format.model, format.range) {
            (Model::Rgb, _) => Source::Rgb,
            (Model::Grey, Range::Full { .. } | Range::Float { .. }) => Source::Levels,
            _ => Source::Luma,
        };
        let resized = (width, height) != (format.width, format.height);
        let axes =
            resized.then(|| [Axis::new(format.width, width), Axis::new(format.height, height)]);
        Self { format: format.clone(), source, width, height, axes }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Fills `out` with the frame's grey levels, row by row. The frame fits the format.
    pub(super) fn grey(&self, level: Level, frame: &Frame<'_>, room: &mut Room, out: &mut Vec<u8>) {
        out.resize(self.width * self.height, 0);
        with_pixels!(frame, pixels => self.fill(level, pixels, room, out));
    }

    fn fill<T: Sample>(
        &self,
        level: Level,
        pixels: &Pixels<'_, T>,
        room: &mut Room,
        out: &mut [u8],
    ) {
        let channels = if self.source == Source::Rgb { 3 } else { 1 };
        let mut rows = Rows::new(pixels);
        // Four lanes of a packed pixel are read, one of them the next pixel's.
        room.samples.resize(self.format.width * channels, 0);
        room.down.resize(self.format.width * channels + 1, 0);
        let [axis_x, axis_y] = match &self.axes {
            Some(axes) => axes,
            None => {
                for (y, out) in out.chunks_exact_mut(self.width).enumerate() {
                    self.read(level, &mut rows, y, room);
                    self.plain_row(level, room, out);
                }
                return;
            }
        };
        let mut read = None;
        for (i, out) in out.chunks_exact_mut(self.width).enumerate() {
            room.down.fill(0);
            for (k, &weight) in axis_y.weights(i).iter().enumerate() {
                let y = axis_y.first[i] + k;
                if weight == 0 {
                    continue;
                }
                if read != Some(y) {
                    self.read(level, &mut rows, y, room);
                    read = Some(y);
                }
                let (down, samples) = (&mut room.down, &room.samples);
                level.run(
                    #[inline(always)]
                    || add_row(down, samples, weight),
                );
            }
            self.resized_row(level, [axis_x, axis_y], room, out);
        }
    }

    /// Reads a row into `room.samples`.
    fn read<T: Sample>(&self, level: Level, rows: &mut Rows<'_, '_, T>, y: usize, room: &mut Room) {
        let Room { samples, luma, .. } = room;
        if self.source == Source::Luma {
            luma.resize(self.format.width, 0);
            let scale = (255 << LUMA_BITS) as f32 / self.format.luma.white as f32;
            level.run(
                #[inline(always)]
                || {
                    luma_row(rows, &self.format, y, luma);
                    for (o, &v) in samples.iter_mut().zip(&*luma) {
                        *o = (v as f32 * scale + LARGE).to_bits() as u16;
                    }
                },
            );
            return;
        }
        let white = self.format.range.white_code() as i32;
        let coding = Coding::of(self.format.range);
        match self.format.range {
            Range::Float { low, high } => {
                let scale = 255.0 / (high - low);
                // Half precision keeps 255 levels to a sixteenth of one: cutting off would lose one
                // of most values that came from 8 bits.
                let slack = if size_of::<T>() == 2 { 0.125 } else { 0.0 };
                spread(level, rows, &self.format, y, samples, |v: T::Row| {
                    ((v.value() as f32 - low) * scale + slack).clamp(0.0, 255.0) as i32 as u16
                });
            }
            _ if white == 255 => {
                spread(level, rows, &self.format, y, samples, |v: T::Row| v.code(coding) as u16);
            }
            _ => spread(level, rows, &self.format, y, samples, |v: T::Row| {
                (f64::from(255 * v.code(coding)) / f64::from(white)) as u16
            }),
        }
    }

    /// A row of a frame that has the working size.
    fn plain_row(&self, level: Level, room: &mut Room, out: &mut [u8]) {
        let samples = &room.samples;
        level.run(
            #[inline(always)]
            || match self.source {
                Source::Rgb => {
                    for (out, p) in out.iter_mut().zip(samples.as_chunks::<3>().0) {
                        *out = weighted(p.map(i32::from));
                    }
                }
                Source::Levels => {
                    for (out, &v) in out.iter_mut().zip(samples) {
                        *out = v as u8;
                    }
                }
                Source::Luma => {
                    for (out, &v) in out.iter_mut().zip(samples) {
                        *out = ((v + (1 << (LUMA_BITS - 1))) >> LUMA_BITS) as u8;
                    }
                }
            },
        );
    }

    /// An output row from the sums over its rows.
    fn resized_row(&self, level: Level, axes: [&Axis; 2], room: &mut Room, out: &mut [u8]) {
        let [across, down] = axes;
        let lanes = if self.source == Source::Rgb { 4 } else { 1 };
        let Room { down: sums, both, levels, .. } = room;
        let fraction = if self.source == Source::Luma { LUMA_BITS } else { 0 };
        let whole = (u64::from(across.whole) * u64::from(down.whole)) << fraction;
        // Halving is done by the shortcut that rounds ties up.
        let ties_up = whole == 4 && across.whole == 2;
        both.resize(self.width * lanes, 0);
        levels.resize(self.width * lanes, 0);
        // Narrow sums fit 31 bits.
        match (lanes, whole * 256 < 1 << 31) {
            (4, true) => sum_columns::<3, 4>(level, across, sums, both),
            (_, true) => sum_columns::<1, 1>(level, across, sums, both),
            (4, false) => wide_columns::<3, 4>(across, sums, whole, levels),
            (_, false) => wide_columns::<1, 1>(across, sums, whole, levels),
        }
        if whole * 256 < 1 << 31 {
            level.run(
                #[inline(always)]
                || round(both, whole as i32, ties_up, levels),
            );
        }
        level.run(
            #[inline(always)]
            || {
                if lanes == 4 {
                    for (out, &[r, g, b, _]) in out.iter_mut().zip(levels.as_chunks::<4>().0) {
                        *out = weighted([r, g, b]);
                    }
                } else {
                    for (out, &v) in out.iter_mut().zip(&*levels) {
                        *out = v as u8;
                    }
                }
            },
        );
    }
}

#[inline(always)]
fn weighted([r, g, b]: [i32; 3]) -> u8 {
    let [wr, wg, wb] = WEIGHTS;
    ((wr * r + wg * g + wb * b + (1 << 14)) >> 15) as u8
}

/// Takes `value` of every sample of a row, channels interleaved.
#[inline(always)]
fn spread<T: Sample>(
    level: Level,
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    y: usize,
    out: &mut [u16],
    value: impl Fn(T::Row) -> u16 + Copy,
) {
    match rows.row(format, y) {
        Row::Packed(row) | Row::First(row) => level.run(
            #[inline(always)]
            || {
                for (out, &v) in out.iter_mut().zip(row) {
                    *out = value(v);
                }
            },
        ),
        Row::Planar([red, green, blue]) => level.run(
            #[inline(always)]
            || {
                let pixels = out.as_chunks_mut::<3>().0;
                for (((out, &r), &g), &b) in pixels.iter_mut().zip(red).zip(green).zip(blue) {
                    *out = [value(r), value(g), value(b)];
                }
            },
        ),
    }
}
