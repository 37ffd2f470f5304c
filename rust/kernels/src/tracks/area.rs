//! Resizing by the mean over areas, in exact integers: an output sample is the mean of what it covers.

use crate::simd::Level;

/// A float of this size has no fraction: adding it rounds, and its bits count on from there. Casts
/// of floats to integers do not vectorise.
pub(super) const LARGE: f32 = 8_388_608.0;

/// Overlaps of the source with each output sample along one axis, as integers: an output sample
/// covers `whole` units, a source sample as many as their greatest common divisor leaves.
#[derive(Debug)]
pub(super) struct Axis {
    /// Source samples that an output sample may touch.
    pub(super) taps: usize,
    /// First of them, for each output sample.
    pub(super) first: Vec<usize>,
    /// `taps` weights of each output sample; they sum to `whole`.
    pub(super) weights: Vec<u32>,
    pub(super) whole: u32,
}

impl Axis {
    pub(super) fn new(size: usize, out: usize) -> Self {
        let (mut a, mut b) = (size, out);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let (whole, unit) = (size / a, out / a);
        let span = |i: usize| ((i * whole) / unit, ((i + 1) * whole).div_ceil(unit));
        let taps = (0..out).map(|i| span(i).1 - span(i).0).max().unwrap_or(1);
        let mut first = Vec::with_capacity(out);
        let mut weights = Vec::with_capacity(out * taps);
        for i in 0..out {
            let start = span(i).0.min(size - taps);
            first.push(start);
            for k in start..start + taps {
                let from = (i * whole).max(k * unit);
                let to = ((i + 1) * whole).min((k + 1) * unit);
                weights.push(to.saturating_sub(from) as u32);
            }
        }
        Self { taps, first, weights, whole: whole as u32 }
    }

    pub(super) fn weights(&self, i: usize) -> &[u32] {
        &self.weights[i * self.taps..(i + 1) * self.taps]
    }
}

#[inline(always)]
pub(super) fn add_row(sums: &mut [u32], samples: &[u16], weight: u32) {
    for (sum, &v) in sums.iter_mut().zip(samples) {
        *sum += weight * u32::from(v);
    }
}

/// Weighted sums along a row whose pixels are `CHANNELS` apart, `LANES` of each.
pub(super) fn sum_columns<const CHANNELS: usize, const LANES: usize>(
    level: Level,
    axis: &Axis,
    sums: &[u32],
    out: &mut [u32],
) {
    let out = out.as_chunks_mut::<LANES>().0;
    level.run(
        #[inline(always)]
        || match (CHANNELS, axis.taps) {
            (3, 2) => sum_taps::<CHANNELS, LANES, 2, 7>(axis, sums, out),
            (3, 3) => sum_taps::<CHANNELS, LANES, 3, 10>(axis, sums, out),
            (3, 4) => sum_taps::<CHANNELS, LANES, 4, 13>(axis, sums, out),
            (1, 2) => sum_taps::<CHANNELS, LANES, 2, 2>(axis, sums, out),
            (1, 3) => sum_taps::<CHANNELS, LANES, 3, 3>(axis, sums, out),
            (1, 4) => sum_taps::<CHANNELS, LANES, 4, 4>(axis, sums, out),
            _ => {
                let weights = axis.weights.chunks_exact(axis.taps);
                for ((out, &first), weights) in out.iter_mut().zip(&axis.first).zip(weights) {
                    *out = [0; LANES];
                    for (k, &weight) in weights.iter().enumerate() {
                        let pixel = sums[(first + k) * CHANNELS..].first_chunk::<LANES>();
                        add_pixel(out, pixel.unwrap_or(&[0; LANES]), weight);
                    }
                }
            }
        },
    );
}

/// [`sum_columns`] of `TAPS` pixels, which lie on `REACH` samples.
#[inline(always)]
fn sum_taps<const CHANNELS: usize, const LANES: usize, const TAPS: usize, const REACH: usize>(
    axis: &Axis,
    sums: &[u32],
    out: &mut [[u32; LANES]],
) {
    let weights = axis.weights.as_chunks::<TAPS>().0;
    for ((out, &first), weights) in out.iter_mut().zip(&axis.first).zip(weights) {
        let at = first * CHANNELS;
        let Some(pixels) = sums.get(at..at + REACH).and_then(<[u32]>::first_chunk::<REACH>) else {
            return;
        };
        let mut mixed = [0; LANES];
        for k in 0..TAPS {
            if let Some(pixel) = pixels[k * CHANNELS..].first_chunk::<LANES>() {
                add_pixel(&mut mixed, pixel, weights[k]);
            }
        }
        *out = mixed;
    }
}

#[inline(always)]
fn add_pixel<const LANES: usize>(out: &mut [u32; LANES], pixel: &[u32; LANES], weight: u32) {
    for (out, &v) in out.iter_mut().zip(pixel) {
        // The fourth lane of a packed pixel may hold anything.
        *out = out.wrapping_add(weight.wrapping_mul(v));
    }
}

/// Divides by `whole`, to the nearest, ties to even or up. `sums` are below 2^31 and make levels
/// below 2^22; other ones come out as anything.
#[inline(always)]
pub(super) fn round(sums: &[u32], whole: i32, ties_up: bool, out: &mut [i32]) {
    let (half, inverse) = (whole / 2, 1.0 / whole as f32);
    let to_even = i32::from(whole % 2 == 0 && !ties_up);
    for (out, &sum) in out.iter_mut().zip(sums) {
        let sum = (sum as i32).wrapping_add(half);
        let guess = (sum as f32 * inverse + LARGE).to_bits() as i32 - LARGE.to_bits() as i32;
        // The guess is off by at most one, as the remainder shows.
        let rest = sum.wrapping_sub(guess.wrapping_mul(whole));
        let found = guess + i32::from(rest >= whole) - i32::from(rest < 0);
        let tie = i32::from(rest == 0) | i32::from(rest == whole);
        *out = found - (tie & to_even & found);
    }
}

/// [`sum_columns`] and [`round`] where 32 bits do not hold the sums.
pub(super) fn wide_columns<const CHANNELS: usize, const LANES: usize>(
    axis: &Axis,
    sums: &[u32],
    whole: u64,
    out: &mut [i32],
) {
    for (i, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        for (lane, out) in out.iter_mut().enumerate().take(CHANNELS) {
            let mut sum = whole / 2;
            for (k, &weight) in axis.weights(i).iter().enumerate() {
                sum += u64::from(weight) * u64::from(sums[(axis.first[i] + k) * CHANNELS + lane]);
            }
            let found = (sum / whole) as i32;
            let tie = whole.is_multiple_of(2) && sum.is_multiple_of(whole);
            *out = found - i32::from(tie) * (found & 1);
        }
    }
}
