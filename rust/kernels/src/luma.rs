//! Rows and decimated planes of luma in fixed point.

use crate::format::{Format, LumaForm, Model};
use crate::frame::{Code, Coding, Row, Rows, Sample};

/// Fills `out` with the luma of row `y`.
#[inline(always)]
pub(crate) fn luma_row<T: Sample>(
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    y: usize,
    out: &mut [i32],
) {
    let form = format.luma;
    let coding = Coding::of(format.range);
    match rows.row(format, y, false) {
        Row::First(plane) => {
            for (o, &v) in out.iter_mut().zip(plane) {
                *o = (v.code(coding) + form.offset).clamp(0, form.white);
            }
        }
        Row::Packed(samples) => {
            let (pixels, _) = samples.as_chunks::<3>();
            for (o, p) in out.iter_mut().zip(pixels) {
                *o = rgb_luma(codes(p, coding), form);
            }
        }
        Row::Planar([first, second, third]) => match format.model {
            Model::Yuv {
                chroma_shift: (sx, _),
                ..
            } => {
                let w = form.weights;
                for (x, (o, &v)) in out.iter_mut().zip(first).enumerate() {
                    let (cb, cr) = (second[x >> sx], third[x >> sx]);
                    let sum = w[0] * v.code(coding)
                        + w[1] * cb.code(coding)
                        + w[2] * cr.code(coding)
                        + form.offset;
                    *o = sum.clamp(0, form.white);
                }
            }
            _ => {
                for (((o, &r), &g), &b) in out.iter_mut().zip(first).zip(second).zip(third) {
                    *o = rgb_luma([r.code(coding), g.code(coding), b.code(coding)], form);
                }
            }
        },
    }
}

/// By index, not by `map`: the compiler then sees one strided load instead of a copy per pixel.
#[inline(always)]
fn codes<C: Code>(pixel: &[C; 3], coding: Coding) -> [i32; 3] {
    [
        pixel[0].code(coding),
        pixel[1].code(coding),
        pixel[2].code(coding),
    ]
}

#[inline(always)]
fn rgb_luma([r, g, b]: [i32; 3], form: LumaForm) -> i32 {
    let [wr, wg, wb] = crate::format::LUMA_WEIGHTS;
    (wr * r + wg * g + wb * b + form.offset) >> form.shift
}

/// A plane of every `step`-th row and column, with the sums of its three channels' codes.
pub(crate) struct Decimated {
    /// Luma, row by row.
    pub(crate) luma: Vec<i32>,
    /// Sums of the codes of R, G, B or Y, Cb, Cr over the plane.
    pub(crate) channel_sums: [u64; 3],
}

/// Picks every `step`-th row and column, without a filter, and takes luma.
pub(crate) fn decimate<T: Sample>(
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    step: usize,
) -> Decimated {
    let (height, width) = (format.height.div_ceil(step), format.width.div_ceil(step));
    let coding = Coding::of(format.range);
    let form = format.luma;
    let mut luma = Vec::with_capacity(height * width);
    let mut channel_sums = [0_u64; 3];
    for y in (0..format.height).step_by(step) {
        // A row's sums fit: 65536 samples of 21 bits.
        let mut sums = [0_u64; 3];
        match rows.row(format, y, true) {
            Row::First(plane) => {
                for &v in plane.iter().step_by(step) {
                    let code = v.code(coding);
                    sums[0] += code as u64;
                    luma.push((code + form.offset).clamp(0, form.white));
                }
                sums = [sums[0]; 3];
            }
            Row::Packed(samples) => {
                let (pixels, _) = samples.as_chunks::<3>();
                for p in pixels.iter().step_by(step) {
                    let codes = codes(p, coding);
                    add(&mut sums, codes);
                    luma.push(rgb_luma(codes, form));
                }
            }
            Row::Planar([first, second, third]) => {
                let sx = match format.model {
                    Model::Yuv {
                        chroma_shift: (sx, _),
                        ..
                    } => sx,
                    _ => 0,
                };
                let yuv = matches!(format.model, Model::Yuv { .. });
                let w = form.weights;
                for x in (0..first.len()).step_by(step) {
                    let codes = [first[x], second[x >> sx], third[x >> sx]].map(|v| v.code(coding));
                    add(&mut sums, codes);
                    luma.push(if yuv {
                        let sum = w[0] * codes[0] + w[1] * codes[1] + w[2] * codes[2];
                        (sum + form.offset).clamp(0, form.white)
                    } else {
                        rgb_luma(codes, form)
                    });
                }
            }
        }
        for (total, sum) in channel_sums.iter_mut().zip(sums) {
            *total += sum;
        }
    }
    Decimated { luma, channel_sums }
}

#[inline(always)]
fn add(sums: &mut [u64; 3], codes: [i32; 3]) {
    for (sum, code) in sums.iter_mut().zip(codes) {
        *sum += code as u64;
    }
}
