//! Fourier transforms of several sequences side by side.
//!
//! A lane is one sequence, so no step moves a value between lanes: the compiler vectorises the same
//! source for every instruction set, and the bits do not depend on which one runs. That, and the
//! speed of many short sequences done at once, is why this is not a library's. Pictures take sixteen
//! lanes in single precision, sound eight in double.

use std::f64::consts::TAU;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// What a transform is made of.
pub(crate) trait Real:
    Copy
    + Default
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// The closest to a number.
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
}

/// One complex number of each of `N` sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Cell<T, const N: usize> {
    pub(crate) re: [T; N],
    pub(crate) im: [T; N],
}

impl<T: Real, const N: usize> Default for Cell<T, N> {
    fn default() -> Self {
        Self { re: [T::default(); N], im: [T::default(); N] }
    }
}

/// A complex factor.
type Factor<T> = (T, T);

/// `exp(-2 pi i k / n)`.
fn unit<T: Real>(k: u64, n: u64) -> Factor<T> {
    let angle = -TAU * ((k % n) as f64 / n as f64);
    (T::of(libm::cos(angle)), T::of(libm::sin(angle)))
}

/// One pass of Stockham's algorithm: `count` groups of `radix` values that lie `stride * count`
/// apart.
#[derive(Debug)]
struct Stage<T> {
    radix: usize,
    count: usize,
    stride: usize,
    /// `radix - 1` factors for each group.
    factors: Vec<Factor<T>>,
}

/// How sequences of one length are transformed.
#[derive(Debug)]
pub(crate) struct Fft<T, const N: usize> {
    length: usize,
    stages: Vec<Stage<T>>,
    chirp: Option<Box<Chirp<T, N>>>,
}

/// Bluestein's way to a length with a large prime factor: a convolution with a chirp, which two
/// transforms of a friendlier length make.
#[derive(Debug)]
struct Chirp<T, const N: usize> {
    inner: Fft<T, N>,
    /// `exp(-pi i k^2 / n)`.
    chirp: Vec<Factor<T>>,
    /// The transform of its conjugate, divided by the inner length.
    filter: Vec<Factor<T>>,
}

/// Radices with a pass of their own, in the order they are taken out.
const RADICES: [usize; 7] = [4, 2, 3, 5, 7, 11, 13];

impl<T: Real, const N: usize> Fft<T, N> {
    pub(crate) fn new(length: usize) -> Self {
        let Some(radices) = factorise(length) else {
            return Self { length, stages: Vec::new(), chirp: Some(Box::new(Chirp::new(length))) };
        };
        let (mut left, mut stride) = (length, 1);
        let stages = radices
            .into_iter()
            .map(|radix| {
                let count = left / radix;
                let factors = (0..count)
                    .flat_map(|p| (1..radix).map(move |j| unit((p * j) as u64, left as u64)))
                    .collect();
                let stage = Stage { radix, count, stride, factors };
                left = count;
                stride *= radix;
                stage
            })
            .collect();
        Self { length, stages, chirp: None }
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Cells that [`run`](Self::run) works on beside the data, at least.
    pub(crate) fn scratch(&self) -> usize {
        self.chirp.as_ref().map_or(self.length, |chirp| 2 * chirp.inner.length)
    }

    /// Replaces `data` by its transform; what `scratch` holds afterwards means nothing.
    #[inline(always)]
    pub(crate) fn run(&self, data: &mut [Cell<T, N>], scratch: &mut [Cell<T, N>]) {
        match &self.chirp {
            None => self.passes(data, &mut scratch[..self.length]),
            Some(chirp) => chirp.run(data, scratch),
        }
    }

    #[inline(always)]
    fn passes(&self, data: &mut [Cell<T, N>], scratch: &mut [Cell<T, N>]) {
        let (mut from, mut to) = (data, scratch);
        for stage in &self.stages {
            match stage.radix {
                4 => pass4(stage, from, to),
                2 => pass2(stage, from, to),
                3 => pass3(stage, from, to),
                5 => pass5(stage, from, to),
                7 => pass_prime::<7, T, N>(stage, from, to),
                11 => pass_prime::<11, T, N>(stage, from, to),
                _ => pass_prime::<13, T, N>(stage, from, to),
            }
            (from, to) = (to, from);
        }
        if self.stages.len() % 2 == 1 {
            // The result lies in the scratch.
            to.copy_from_slice(from);
        }
    }
}

/// The radices of a length, or `None` if a prime factor has no pass.
fn factorise(length: usize) -> Option<Vec<usize>> {
    let mut left = length;
    let mut radices = Vec::new();
    for radix in RADICES {
        while left.is_multiple_of(radix) {
            radices.push(radix);
            left /= radix;
        }
    }
    (left == 1).then_some(radices)
}

impl<T: Real, const N: usize> Chirp<T, N> {
    fn new(length: usize) -> Self {
        let n = length as u64;
        let chirp: Vec<Factor<T>> = (0..n).map(|k| unit(k * k % (2 * n), 2 * n)).collect();
        let most = (2 * length).next_power_of_two();
        let inner_length = (2 * length - 1..=most)
            .find(|&m| factorise(m).is_some_and(|radices| radices.iter().all(|&r| r <= 5)))
            .unwrap_or(most);
        let inner = Fft::new(inner_length);
        let mut filter = vec![Cell::<T, N>::default(); inner_length];
        for (k, &(re, im)) in chirp.iter().enumerate() {
            for at in [k, (inner_length - k) % inner_length] {
                filter[at].re[0] = re;
                filter[at].im[0] = -im;
            }
        }
        inner.run(&mut filter, &mut vec![Cell::<T, N>::default(); inner_length]);
        let scale = T::of(1.0 / inner_length as f64);
        let filter = filter.iter().map(|c| (c.re[0] * scale, c.im[0] * scale)).collect();
        Self { inner, chirp, filter }
    }

    #[inline(always)]
    fn run(&self, data: &mut [Cell<T, N>], scratch: &mut [Cell<T, N>]) {
        let (work, rest) = scratch.split_at_mut(self.inner.length);
        let (used, unused) = work.split_at_mut(data.len());
        for ((w, d), &factor) in used.iter_mut().zip(&*data).zip(&self.chirp) {
            times(d, factor, w);
        }
        unused.fill(Cell::default());
        self.inner.passes(work, &mut rest[..self.inner.length]);
        // The conjugate of a transform of conjugates is the transform back.
        for (w, &factor) in work.iter_mut().zip(&self.filter) {
            let value = *w;
            times(&value, factor, w);
            negate(&mut w.im);
        }
        self.inner.passes(work, &mut rest[..self.inner.length]);
        for ((d, w), &factor) in data.iter_mut().zip(work).zip(&self.chirp) {
            negate(&mut w.im);
            times(w, factor, d);
        }
    }
}

#[inline(always)]
fn negate<T: Real, const N: usize>(values: &mut [T; N]) {
    for v in values {
        *v = -*v;
    }
}

#[inline(always)]
fn times<T: Real, const N: usize>(a: &Cell<T, N>, (re, im): Factor<T>, out: &mut Cell<T, N>) {
    for l in 0..N {
        out.re[l] = a.re[l] * re - a.im[l] * im;
        out.im[l] = a.re[l] * im + a.im[l] * re;
    }
}

#[inline(always)]
fn turned<T: Real>((re, im): (T, T), factor: Factor<T>) -> (T, T) {
    (re * factor.0 - im * factor.1, re * factor.1 + im * factor.0)
}

#[inline(always)]
fn pass2<T: Real, const N: usize>(stage: &Stage<T>, from: &[Cell<T, N>], to: &mut [Cell<T, N>]) {
    let (s, m) = (stage.stride, stage.count);
    for (p, block) in to.chunks_exact_mut(2 * s).enumerate() {
        let factor = stage.factors[p];
        let a = &from[s * p..][..s];
        let b = &from[s * (p + m)..][..s];
        let (y0, y1) = block.split_at_mut(s);
        for (((a, b), y0), y1) in a.iter().zip(b).zip(y0).zip(y1) {
            step2(a, b, factor, y0, y1);
        }
    }
}

#[inline(always)]
fn step2<T: Real, const N: usize>(
    a: &Cell<T, N>,
    b: &Cell<T, N>,
    factor: Factor<T>,
    y0: &mut Cell<T, N>,
    y1: &mut Cell<T, N>,
) {
    for l in 0..N {
        (y0.re[l], y0.im[l]) = (a.re[l] + b.re[l], a.im[l] + b.im[l]);
        (y1.re[l], y1.im[l]) = turned((a.re[l] - b.re[l], a.im[l] - b.im[l]), factor);
    }
}

#[inline(always)]
fn pass3<T: Real, const N: usize>(stage: &Stage<T>, from: &[Cell<T, N>], to: &mut [Cell<T, N>]) {
    let (s, m) = (stage.stride, stage.count);
    for (p, block) in to.chunks_exact_mut(3 * s).enumerate() {
        let factors = [stage.factors[2 * p], stage.factors[2 * p + 1]];
        let a = &from[s * p..][..s];
        let b = &from[s * (p + m)..][..s];
        let c = &from[s * (p + 2 * m)..][..s];
        let (y0, rest) = block.split_at_mut(s);
        let (y1, y2) = rest.split_at_mut(s);
        for q in 0..s {
            step3([&a[q], &b[q], &c[q]], factors, &mut y0[q], &mut y1[q], &mut y2[q]);
        }
    }
}

#[inline(always)]
fn step3<T: Real, const N: usize>(
    [a, b, c]: [&Cell<T, N>; 3],
    factors: [Factor<T>; 2],
    y0: &mut Cell<T, N>,
    y1: &mut Cell<T, N>,
    y2: &mut Cell<T, N>,
) {
    let (half, sin) = (T::of(0.5), T::of(0.866_025_403_784_438_6)); // sin(pi / 3)
    for l in 0..N {
        let (sum_re, sum_im) = (b.re[l] + c.re[l], b.im[l] + c.im[l]);
        let (turn_re, turn_im) = (sin * (b.im[l] - c.im[l]), sin * (c.re[l] - b.re[l]));
        let (mid_re, mid_im) = (a.re[l] - half * sum_re, a.im[l] - half * sum_im);
        (y0.re[l], y0.im[l]) = (a.re[l] + sum_re, a.im[l] + sum_im);
        (y1.re[l], y1.im[l]) = turned((mid_re + turn_re, mid_im + turn_im), factors[0]);
        (y2.re[l], y2.im[l]) = turned((mid_re - turn_re, mid_im - turn_im), factors[1]);
    }
}

#[inline(always)]
fn pass4<T: Real, const N: usize>(stage: &Stage<T>, from: &[Cell<T, N>], to: &mut [Cell<T, N>]) {
    let (s, m) = (stage.stride, stage.count);
    for (p, block) in to.chunks_exact_mut(4 * s).enumerate() {
        let factors = [0, 1, 2].map(|j| stage.factors[3 * p + j]);
        let a = &from[s * p..][..s];
        let b = &from[s * (p + m)..][..s];
        let c = &from[s * (p + 2 * m)..][..s];
        let d = &from[s * (p + 3 * m)..][..s];
        let (y0, rest) = block.split_at_mut(s);
        let (y1, rest) = rest.split_at_mut(s);
        let (y2, y3) = rest.split_at_mut(s);
        for q in 0..s {
            let input = [&a[q], &b[q], &c[q], &d[q]];
            step4(input, factors, &mut y0[q], &mut y1[q], &mut y2[q], &mut y3[q]);
        }
    }
}

#[inline(always)]
fn step4<T: Real, const N: usize>(
    [a, b, c, d]: [&Cell<T, N>; 4],
    factors: [Factor<T>; 3],
    y0: &mut Cell<T, N>,
    y1: &mut Cell<T, N>,
    y2: &mut Cell<T, N>,
    y3: &mut Cell<T, N>,
) {
    for l in 0..N {
        let (p_re, p_im) = (a.re[l] + c.re[l], a.im[l] + c.im[l]);
        let (m_re, m_im) = (a.re[l] - c.re[l], a.im[l] - c.im[l]);
        let (q_re, q_im) = (b.re[l] + d.re[l], b.im[l] + d.im[l]);
        // -i (b - d)
        let (t_re, t_im) = (b.im[l] - d.im[l], d.re[l] - b.re[l]);
        (y0.re[l], y0.im[l]) = (p_re + q_re, p_im + q_im);
        (y1.re[l], y1.im[l]) = turned((m_re + t_re, m_im + t_im), factors[0]);
        (y2.re[l], y2.im[l]) = turned((p_re - q_re, p_im - q_im), factors[1]);
        (y3.re[l], y3.im[l]) = turned((m_re - t_re, m_im - t_im), factors[2]);
    }
}

#[inline(always)]
fn pass5<T: Real, const N: usize>(stage: &Stage<T>, from: &[Cell<T, N>], to: &mut [Cell<T, N>]) {
    let (s, m) = (stage.stride, stage.count);
    for (p, block) in to.chunks_exact_mut(5 * s).enumerate() {
        let factors = [0, 1, 2, 3].map(|j| stage.factors[4 * p + j]);
        let part = |k: usize| &from[s * (p + k * m)..][..s];
        let (a, b, c, d, e) = (part(0), part(1), part(2), part(3), part(4));
        let (y0, rest) = block.split_at_mut(s);
        let (y1, rest) = rest.split_at_mut(s);
        let (y2, rest) = rest.split_at_mut(s);
        let (y3, y4) = rest.split_at_mut(s);
        for q in 0..s {
            let input = [&a[q], &b[q], &c[q], &d[q], &e[q]];
            step5(input, factors, &mut y0[q], &mut y1[q], &mut y2[q], &mut y3[q], &mut y4[q]);
        }
    }
}

#[inline(always)]
fn step5<T: Real, const N: usize>(
    [a, b, c, d, e]: [&Cell<T, N>; 5],
    factors: [Factor<T>; 4],
    y0: &mut Cell<T, N>,
    y1: &mut Cell<T, N>,
    y2: &mut Cell<T, N>,
    y3: &mut Cell<T, N>,
    y4: &mut Cell<T, N>,
) {
    // Cosines and sines of 2 pi / 5 and 4 pi / 5.
    let (c1, c2) = (T::of(0.309_016_994_374_947_45), T::of(-0.809_016_994_374_947_5));
    let (s1, s2) = (T::of(0.951_056_516_295_153_5), T::of(0.587_785_252_292_473_1));
    for l in 0..N {
        let (s1_re, s1_im) = (b.re[l] + e.re[l], b.im[l] + e.im[l]);
        let (s2_re, s2_im) = (c.re[l] + d.re[l], c.im[l] + d.im[l]);
        let (d1_re, d1_im) = (b.re[l] - e.re[l], b.im[l] - e.im[l]);
        let (d2_re, d2_im) = (c.re[l] - d.re[l], c.im[l] - d.im[l]);
        let (u1_re, u1_im) =
            (a.re[l] + (c1 * s1_re + c2 * s2_re), a.im[l] + (c1 * s1_im + c2 * s2_im));
        let (u2_re, u2_im) =
            (a.re[l] + (c2 * s1_re + c1 * s2_re), a.im[l] + (c2 * s1_im + c1 * s2_im));
        // -i times the sines' part.
        let (v1_re, v1_im) = (s1 * d1_im + s2 * d2_im, -(s1 * d1_re + s2 * d2_re));
        let (v2_re, v2_im) = (s2 * d1_im - s1 * d2_im, s1 * d2_re - s2 * d1_re);
        (y0.re[l], y0.im[l]) = (a.re[l] + (s1_re + s2_re), a.im[l] + (s1_im + s2_im));
        (y1.re[l], y1.im[l]) = turned((u1_re + v1_re, u1_im + v1_im), factors[0]);
        (y2.re[l], y2.im[l]) = turned((u2_re + v2_re, u2_im + v2_im), factors[1]);
        (y3.re[l], y3.im[l]) = turned((u2_re - v2_re, u2_im - v2_im), factors[2]);
        (y4.re[l], y4.im[l]) = turned((u1_re - v1_re, u1_im - v1_im), factors[3]);
    }
}

/// A pass by the definition, for primes that are rare among the sizes of pictures.
#[inline(always)]
fn pass_prime<const R: usize, T: Real, const N: usize>(
    stage: &Stage<T>,
    from: &[Cell<T, N>],
    to: &mut [Cell<T, N>],
) {
    let (s, m) = (stage.stride, stage.count);
    let roots: [Factor<T>; R] = std::array::from_fn(|k| unit(k as u64, R as u64));
    for (p, block) in to.chunks_exact_mut(R * s).enumerate() {
        let factors = &stage.factors[(R - 1) * p..][..R - 1];
        for q in 0..s {
            let value = |k: usize| &from[q + s * (p + k * m)];
            for j in 0..R {
                let mut sum = *value(0);
                for k in 1..R {
                    add_turned(value(k), roots[j * k % R], &mut sum);
                }
                let out = &mut block[q + s * j];
                if j == 0 {
                    *out = sum;
                } else {
                    times(&sum, factors[j - 1], out);
                }
            }
        }
    }
}

#[inline(always)]
fn add_turned<T: Real, const N: usize>(a: &Cell<T, N>, factor: Factor<T>, sum: &mut Cell<T, N>) {
    for l in 0..N {
        let (re, im) = turned((a.re[l], a.im[l]), factor);
        sum.re[l] += re;
        sum.im[l] += im;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The transform by its definition, in double precision.
    fn defined<T: Real + Into<f64>>(data: &[Cell<T, 8>], lane: usize) -> Vec<(f64, f64)> {
        let n = data.len();
        (0..n)
            .map(|k| {
                data.iter().enumerate().fold((0.0, 0.0), |(re, im), (t, cell)| {
                    let angle = -TAU * ((k * t % n) as f64 / n as f64);
                    let (x, y): (f64, f64) = (cell.re[lane].into(), cell.im[lane].into());
                    (re + x * angle.cos() - y * angle.sin(), im + x * angle.sin() + y * angle.cos())
                })
            })
            .collect()
    }

    /// That the error's energy is below a share of the transform's.
    fn equals_the_definition<T: Real + Into<f64>>(length: usize, share: f64) {
        let mut state = 1_u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            T::of(f64::from(state >> 8) / f64::from(1 << 23) - 1.0)
        };
        let data: Vec<Cell<T, 8>> = (0..length)
            .map(|_| Cell {
                re: std::array::from_fn(|_| random()),
                im: std::array::from_fn(|_| random()),
            })
            .collect();
        let fft = Fft::<T, 8>::new(length);
        let mut found = data.clone();
        fft.run(&mut found, &mut vec![Cell::default(); fft.scratch()]);
        for lane in [0, 3, 7] {
            let (mut energy, mut error) = (0.0, 0.0);
            for ((re, im), cell) in defined(&data, lane).into_iter().zip(&found) {
                let (found_re, found_im): (f64, f64) = (cell.re[lane].into(), cell.im[lane].into());
                energy += re * re + im * im;
                error += (re - found_re).powi(2) + (im - found_im).powi(2);
            }
            assert!(error < share * energy, "length {length}: {}", (error / energy).sqrt());
        }
    }

    const LENGTHS: [usize; 11] = [77, 121, 127, 143, 169, 176, 241, 272, 320, 509, 641];

    #[test]
    fn every_length_equals_the_definition_in_single_precision() {
        for length in (1..=66).chain(LENGTHS) {
            equals_the_definition::<f32>(length, 1e-12);
        }
    }

    #[test]
    fn every_length_equals_the_definition_in_double_precision() {
        for length in (1..=66).chain(LENGTHS).chain([1024]) {
            equals_the_definition::<f64>(length, 1e-27);
        }
    }
}
