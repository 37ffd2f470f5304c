//! Rows and decimated planes of luma in fixed point.

use crate::format::{Format, LUMA_WEIGHTS, LumaForm, Model};
use crate::frame::{Code, Coding, Row, Rows, Sample};
use crate::simd::Level;

/// Fills `out` with the luma of row `y`.
#[inline(always)]
pub(crate) fn luma_row<T: Sample>(
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    y: usize,
    out: &mut [i32],
) {
    let chroma_shift = format.model.chroma_shift().0;
    row_luma(&rows.row(format, y), format, chroma_shift, out);
}

/// Fills `out` with the luma of a row whose chroma is subsampled by `2^chroma_shift` along it.
#[inline(always)]
fn row_luma<C: Code>(row: &Row<'_, C>, format: &Format, chroma_shift: u32, out: &mut [i32]) {
    let form = format.luma;
    let coding = Coding::of(format.range);
    match *row {
        Row::First(plane) => {
            for (o, &v) in out.iter_mut().zip(plane) {
                *o = (v.code(coding) + form.offset).clamp(0, form.white);
            }
        }
        Row::Packed(samples) => {
            let (pixels, _) = samples.as_chunks::<3>();
            // By index, not by `map`: the compiler then sees one strided load instead of a copy per
            // pixel.
            let codes = |p: &[C; 3]| [p[0].code(coding), p[1].code(coding), p[2].code(coding)];
            if form.shift == 0 {
                for (o, p) in out.iter_mut().zip(pixels) {
                    let [r, g, b] = codes(p);
                    *o = LUMA_WEIGHTS[0] * r + LUMA_WEIGHTS[1] * g + LUMA_WEIGHTS[2] * b;
                }
            } else {
                for (o, p) in out.iter_mut().zip(pixels) {
                    *o = rgb_luma(codes(p), form);
                }
            }
        }
        Row::Planar([first, second, third]) => match format.model {
            Model::Yuv { .. } => match chroma_shift {
                0 => yuv_luma::<_, 1>([first, second, third], form, coding, out),
                1 => yuv_luma::<_, 2>([first, second, third], form, coding, out),
                _ => yuv_luma::<_, 4>([first, second, third], form, coding, out),
            },
            _ => {
                for (((o, &r), &g), &b) in out.iter_mut().zip(first).zip(second).zip(third) {
                    *o = rgb_luma([r.code(coding), g.code(coding), b.code(coding)], form);
                }
            }
        },
    }
}

#[inline(always)]
fn rgb_luma([r, g, b]: [i32; 3], form: LumaForm) -> i32 {
    let [wr, wg, wb] = LUMA_WEIGHTS;
    (wr * r + wg * g + wb * b + form.offset) >> form.shift
}

/// Luma of a row of which every `N` pixels share one sample of chroma.
#[inline(always)]
fn yuv_luma<C: Code, const N: usize>(
    [y, cb, cr]: [&[C]; 3],
    form: LumaForm,
    coding: Coding,
    out: &mut [i32],
) {
    let [wy, wcb, wcr] = form.weights;
    let chroma = |cb: C, cr: C| wcb * cb.code(coding) + wcr * cr.code(coding) + form.offset;
    let luma =
        |y: C, chroma: i32| ((wy * y.code(coding) + chroma) >> form.shift).clamp(0, form.white);
    let (groups, rest) = y.as_chunks::<N>();
    let (out_groups, out_rest) = out.as_chunks_mut::<N>();
    for (((out, y), &cb), &cr) in out_groups.iter_mut().zip(groups).zip(cb).zip(cr) {
        let chroma = chroma(cb, cr);
        for i in 0..N {
            out[i] = luma(y[i], chroma);
        }
    }
    // The last pixels of a width that is no multiple of `N` have a chroma sample as well.
    if let (Some(&cb), Some(&cr)) = (cb.get(groups.len()), cr.get(groups.len())) {
        for (out, &y) in out_rest.iter_mut().zip(rest) {
            *out = luma(y, chroma(cb, cr));
        }
    }
}

/// A plane of every `step`-th row and column, with the mean of its channels.
pub(crate) struct Decimated {
    /// Luma, row by row.
    pub(crate) luma: Vec<i32>,
    /// Mean codes of R, G, B or Y, Cb, Cr; chroma on every `step`-th sample of its own planes.
    pub(crate) channel_means: [f64; 3],
}

/// Picks every `step`-th row and column, without a filter, and takes luma.
pub(crate) fn decimate<T: Sample>(
    level: Level,
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    step: usize,
) -> Decimated {
    let (height, width) = (format.height.div_ceil(step), format.width.div_ceil(step));
    let coding = Coding::of(format.range);
    let chroma_shift = format.model.chroma_shift().0;
    let mut luma = vec![0_i32; height * width];
    let mut picked: [Vec<T::Row>; 3] = std::array::from_fn(|_| vec![T::Row::default(); width]);
    let mut sums = [0_u64; 3];
    for (y, out) in luma.chunks_mut(width).enumerate() {
        let row = rows.row(format, y * step);
        level.run(
            #[inline(always)]
            || {
                let channels = pick_row(&row, step, chroma_shift, &mut picked);
                for (sum, channel) in sums.iter_mut().zip(&picked[..channels]) {
                    *sum += channel.iter().map(|v| v.code(coding) as u64).sum::<u64>();
                }
                let [a, b, c] = &picked;
                match channels {
                    1 => row_luma(&Row::First(a), format, 0, out),
                    _ => row_luma(&Row::Planar([a, b, c]), format, 0, out),
                }
            },
        );
    }
    let count = luma.len() as f64;
    let mut channel_means = sums.map(|sum| sum as f64 / count);
    match format.model {
        Model::Rgb => {}
        Model::Grey => channel_means = [channel_means[0]; 3],
        Model::Yuv { .. } => {
            for plane in [1, 2] {
                channel_means[plane] = mean_code(level, rows, format, plane, step);
            }
        }
    }
    Decimated { luma, channel_means }
}

/// Copies every `step`-th pixel of a row, each channel to its own slice; returns how many channels.
#[inline(always)]
fn pick_row<C: Code>(
    row: &Row<'_, C>,
    step: usize,
    chroma_shift: u32,
    picked: &mut [Vec<C>; 3],
) -> usize {
    let [a, b, c] = picked;
    match *row {
        Row::First(plane) => {
            pick(plane, step, a);
            1
        }
        Row::Packed(samples) => {
            let (pixels, _) = samples.as_chunks::<3>();
            for (((a, b), c), pixel) in a.iter_mut().zip(b).zip(c).zip(pixels.chunks(step)) {
                [*a, *b, *c] = pixel[0];
            }
            3
        }
        Row::Planar([first, second, third]) => {
            pick(first, step, a);
            if chroma_shift == 0 {
                pick(second, step, b);
                pick(third, step, c);
            } else {
                for (x, (b, c)) in b.iter_mut().zip(c).enumerate() {
                    let at = (x * step) >> chroma_shift;
                    (*b, *c) = (second[at], third[at]);
                }
            }
            3
        }
    }
}

/// Copies every `step`-th sample. The steps of the usual frame heights are constants to the compiler.
#[inline(always)]
fn pick<C: Code>(plane: &[C], step: usize, out: &mut [C]) {
    match step {
        1 => out.copy_from_slice(plane),
        2 => pick_every::<C, 2>(plane, out),
        3 => pick_every::<C, 3>(plane, out),
        4 => pick_every::<C, 4>(plane, out),
        5 => pick_every::<C, 5>(plane, out),
        6 => pick_every::<C, 6>(plane, out),
        7 => pick_every::<C, 7>(plane, out),
        8 => pick_every::<C, 8>(plane, out),
        11 => pick_every::<C, 11>(plane, out),
        16 => pick_every::<C, 16>(plane, out),
        _ => {
            for (o, run) in out.iter_mut().zip(plane.chunks(step)) {
                *o = run[0];
            }
        }
    }
}

#[inline(always)]
fn pick_every<C: Code, const N: usize>(plane: &[C], out: &mut [C]) {
    let (runs, rest) = plane.as_chunks::<N>();
    for (o, run) in out.iter_mut().zip(runs) {
        *o = run[0];
    }
    if let (Some(o), Some(&last)) = (out.get_mut(runs.len()), rest.first()) {
        *o = last;
    }
}

/// Mean code over every `step`-th row and column of a plane.
fn mean_code<T: Sample>(
    level: Level,
    rows: &mut Rows<'_, '_, T>,
    format: &Format,
    plane: usize,
    step: usize,
) -> f64 {
    let coding = Coding::of(format.range);
    let (height, width) = format.plane_size(plane);
    let (height_left, width_left) = (height.div_ceil(step), width.div_ceil(step));
    let mut picked = vec![T::Row::default(); width_left];
    let mut sum = 0_u64;
    for y in (0..height).step_by(step) {
        let row = rows.plane_row(plane, y);
        sum += level.run(
            #[inline(always)]
            || {
                pick(row, step, &mut picked);
                picked.iter().map(|v| v.code(coding) as u64).sum::<u64>()
            },
        );
    }
    sum as f64 / (height_left * width_left) as f64
}
