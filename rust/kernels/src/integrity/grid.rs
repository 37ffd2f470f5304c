//! Periodic lattices: the spectrum of the mean gradient along each axis.

use std::f64::consts::PI;

use rayon::prelude::*;

use crate::format::Format;
use crate::frame::{Pixels, Rows, Sample};
use crate::luma::luma_row;
use crate::simd::Level;

/// An axis shorter than this many pixels is not scored: below it, accepted and rejected renders
/// overlap.
pub const MIN_EXTENT: usize = 512;

/// Periods that are searched, in pixels.
const SHORTEST_PERIOD: usize = 8;
const LONGEST_PERIOD: usize = 128;

/// Neighbours whose median a bin is compared with: 3 to 24 bins away on each side.
const INNER: usize = 3;
const OUTER: usize = 24;

/// A bin with fewer neighbours than this is skipped.
const MIN_NEIGHBOURS: usize = 8;

/// The axis along which a lattice repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Columns: vertical lines.
    X,
    /// Rows: horizontal lines.
    Y,
}

/// The strongest periodic components of a set of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// The strongest of all periods searched.
    pub peak: Line,
    /// The strongest of those that fit their axis at least [`MIN_REPEATS`] times: a picture's own
    /// layout repeats a few times, a lattice over all of it.
    pub repeated: Line,
}

/// One line of the spectrum of the mean gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its magnitude over the median of its neighbours'; 0 if no bin qualifies.
    pub ratio: f64,
    /// Its period in pixels; 0 if no bin qualifies.
    pub period_px: f64,
    /// Where the lattice's lines lie: the first one's centre, in pixels from the left or top edge.
    pub phase_px: f64,
    /// How far the mean gradient swings with it, in 8-bit levels.
    pub amplitude_levels: f64,
    /// Along which axis.
    pub axis: Axis,
}

/// How often a period must fit its axis to count as repeated.
pub const MIN_REPEATS: usize = 8;

/// Sums of absolute luma differences between neighbouring columns, and rows, of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profiles {
    x: Vec<u64>,
    y: Vec<u64>,
}

/// Rows of one parallel task. 64 differences of luma of up to 2^20 sum in 32 bits.
const BAND: usize = 64;

/// Columns whose differences of up to 2^20 sum in 32 bits.
const SPAN: usize = 2048;

impl Profiles {
    pub(crate) fn of<T: Sample>(level: Level, format: &Format, pixels: &Pixels<'_, T>) -> Self {
        let (width, height) = (format.width, format.height);
        let bands: Vec<(Vec<u32>, Vec<u64>)> = (0..height.div_ceil(BAND))
            .into_par_iter()
            .map(|band| {
                let first = band * BAND;
                // A band's last row is differenced with the row after it.
                let last = height.min(first + BAND);
                band_profiles(level, format, pixels, first, last)
            })
            .collect();
        let mut x = vec![0_u64; width - 1];
        let mut y = Vec::with_capacity(height);
        for (band_x, band_y) in bands {
            for (total, part) in x.iter_mut().zip(band_x) {
                *total += u64::from(part);
            }
            y.extend(band_y);
        }
        Self { x, y }
    }
}

fn band_profiles<T: Sample>(
    level: Level,
    format: &Format,
    pixels: &Pixels<'_, T>,
    first: usize,
    last: usize,
) -> (Vec<u32>, Vec<u64>) {
    let width = format.width;
    let mut rows = Rows::new(pixels);
    let [mut current, mut next, mut after] = std::array::from_fn(|_| vec![0_i32; width]);
    let mut x = vec![0_u32; width - 1];
    let mut y = Vec::with_capacity(last - first);
    level.run(
        #[inline(always)]
        || luma_row(&mut rows, format, first, &mut current),
    );
    let mut row = first;
    while row < last {
        // The profile along x is read and written once for two rows, where there are two.
        if row + 1 < last && row + 2 < format.height {
            let down = level.run(
                #[inline(always)]
                || {
                    luma_row(&mut rows, format, row + 1, &mut next);
                    luma_row(&mut rows, format, row + 2, &mut after);
                    add_two_rows(&current, &next, &after, &mut x)
                },
            );
            y.extend(down);
            std::mem::swap(&mut current, &mut after);
            row += 2;
            continue;
        }
        let below = row + 1 < format.height;
        let down = level.run(
            #[inline(always)]
            || {
                add_across(&current, &mut x);
                if !below {
                    return 0;
                }
                luma_row(&mut rows, format, row + 1, &mut next);
                sum_of_differences(&current, &next)
            },
        );
        if below {
            y.push(down);
            std::mem::swap(&mut current, &mut next);
        }
        row += 1;
    }
    (x, y)
}

/// Adds |right - left| of each neighbouring pair to `x`.
#[inline(always)]
fn add_across(row: &[i32], x: &mut [u32]) {
    for ((sum, &a), &b) in x.iter_mut().zip(row).zip(&row[1..]) {
        *sum += a.abs_diff(b);
    }
}

#[inline(always)]
fn sum_of_differences(row: &[i32], below: &[i32]) -> u64 {
    row.chunks(SPAN)
        .zip(below.chunks(SPAN))
        .map(|(a, b)| u64::from(a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).sum::<u32>()))
        .sum()
}

/// [`add_across`] of two rows, and the sums of |below - above| between the three, in one pass.
#[inline(always)]
fn add_two_rows(first: &[i32], second: &[i32], third: &[i32], x: &mut [u32]) -> [u64; 2] {
    let pairs = x.len();
    let mut totals = [0_u64; 2];
    for start in (0..pairs).step_by(SPAN) {
        let end = pairs.min(start + SPAN);
        let (a, a_right) = (&first[start..end], &first[start + 1..end + 1]);
        let (b, b_right) = (&second[start..end], &second[start + 1..end + 1]);
        let (c, x) = (&third[start..end], &mut x[start..end]);
        let (mut upper, mut lower) = (0_u32, 0_u32);
        for i in 0..x.len() {
            x[i] += (a_right[i] - a[i]).unsigned_abs() + (b_right[i] - b[i]).unsigned_abs();
            upper += (b[i] - a[i]).unsigned_abs();
            lower += (c[i] - b[i]).unsigned_abs();
        }
        totals[0] += u64::from(upper);
        totals[1] += u64::from(lower);
    }
    totals[0] += u64::from(first[pairs].abs_diff(second[pairs]));
    totals[1] += u64::from(second[pairs].abs_diff(third[pairs]));
    totals
}

/// What every frame's transform along one axis shares: its window and its bins.
#[derive(Debug)]
struct Transform {
    window: Vec<f64>,
    /// 2 cos, cos and sin of each bin's angle, in blocks of [`BINS`].
    turns: Vec<[[f64; BINS]; 3]>,
    /// The last bin that is read.
    last: usize,
}

/// The transforms of one format; `None` for an axis that is too short to be scored.
#[derive(Debug)]
pub(crate) struct Plan {
    x: Option<Transform>,
    y: Option<Transform>,
}

impl Plan {
    pub(crate) fn new(format: &Format) -> Self {
        let transform = |extent: usize| (extent >= MIN_EXTENT).then(|| Transform::new(extent - 1));
        Self { x: transform(format.width), y: transform(format.height) }
    }
}

impl Transform {
    fn new(n: usize) -> Self {
        let mut window = vec![0.0; n];
        for i in 0..n.div_ceil(2) {
            let hann = 0.5 - 0.5 * libm::cos(2.0 * PI * i as f64 / (n - 1) as f64);
            (window[i], window[n - 1 - i]) = (hann, hann);
        }
        let last = (n / SHORTEST_PERIOD + OUTER).min(n / 2);
        let turns = (0..=last)
            .step_by(BINS)
            .map(|first| {
                let turns: [(f64, f64); BINS] =
                    std::array::from_fn(|j| libm::sincos(2.0 * PI * (first + j) as f64 / n as f64));
                [turns.map(|t| 2.0 * t.1), turns.map(|t| t.1), turns.map(|t| t.0)]
            })
            .collect();
        Self { window, turns, last }
    }

    /// The spectrum of sums over `lines` lines, as (re, im) of bins 0 to `last`.
    ///
    /// Goertzel's recurrence, many bins side by side. Only the lowest quarter of the bins is ever
    /// read, so this is faster than a transform of an arbitrary length, and its operations come in
    /// one order, so every dispatch level gives the same bits.
    fn spectrum(&self, level: Level, sums: &[u64], scale: f64) -> Vec<[f64; 2]> {
        let mut curve: Vec<f64> = sums.iter().map(|&sum| sum as f64 / scale).collect();
        let mean = curve.iter().sum::<f64>() / curve.len() as f64;
        for (v, hann) in curve.iter_mut().zip(&self.window) {
            *v = (*v - mean) * hann;
        }
        let mut bins = Vec::with_capacity(self.turns.len() * BINS);
        for [turn, cos, sin] in &self.turns {
            let (one, two) = level.run(
                #[inline(always)]
                || {
                    let (mut one, mut two) = ([0.0_f64; BINS], [0.0_f64; BINS]);
                    for &v in &curve {
                        for j in 0..BINS {
                            let next = (v - two[j]) + turn[j] * one[j];
                            two[j] = one[j];
                            one[j] = next;
                        }
                    }
                    (one, two)
                },
            );
            // one - e^(-i angle) two is the transform up to the phase of one sample.
            bins.extend((0..BINS).map(|j| [one[j] * cos[j] - two[j], one[j] * sin[j]]));
        }
        bins.truncate(self.last + 1);
        bins
    }
}

/// Spectra of one frame's gradient along each axis that is scored.
#[derive(Debug)]
pub(crate) struct Spectra {
    x: Option<Vec<[f64; 2]>>,
    y: Option<Vec<[f64; 2]>>,
}

impl Spectra {
    pub(crate) fn of<T: Sample>(
        level: Level,
        format: &Format,
        plan: &Plan,
        pixels: &Pixels<'_, T>,
    ) -> Self {
        let profiles = Profiles::of(level, format, pixels);
        let spectrum = |transform: &Option<Transform>, sums: &[u64], lines: usize| {
            let scale = lines as f64 * format.full_scale();
            transform.as_ref().map(|t| t.spectrum(level, sums, scale))
        };
        Self {
            x: spectrum(&plan.x, &profiles.x, format.height),
            y: spectrum(&plan.y, &profiles.y, format.width),
        }
    }
}

/// Bins that one pass over the curve works on: their states fill the vector registers.
const BINS: usize = 32;

/// Scores the frames whose spectra are given; `None` if neither axis is long enough.
///
/// Magnitudes are averaged, not complex spectra, so a moving periodic texture counts as well.
pub(crate) fn grid(format: &Format, frames: &[&Spectra]) -> Option<Grid> {
    let score = |axis, extent: usize, pick: fn(&Spectra) -> &Option<Vec<[f64; 2]>>| {
        let spectra: Vec<&[[f64; 2]]> = frames.iter().filter_map(|f| pick(f).as_deref()).collect();
        (!spectra.is_empty()).then(|| score_axis(axis, extent - 1, &spectra))
    };
    let x = score(Axis::X, format.width, |s| &s.x);
    let y = score(Axis::Y, format.height, |s| &s.y);
    let (x, y) = match (x, y) {
        (Some(x), Some(y)) => (x, y),
        (x, y) => return x.or(y),
    };
    let stronger = |x: Line, y: Line| if y.ratio > x.ratio { y } else { x };
    Some(Grid { peak: stronger(x.peak, y.peak), repeated: stronger(x.repeated, y.repeated) })
}

fn score_axis(axis: Axis, n: usize, spectra: &[&[[f64; 2]]]) -> Grid {
    let count = spectra.len() as f64;
    let magnitude = |[re, im]: [f64; 2]| (re * re + im * im).sqrt();
    let bins = spectra.first().map_or(0, |s| s.len());
    let magnitudes: Vec<f64> =
        (0..bins).map(|k| spectra.iter().map(|s| magnitude(s[k])).sum::<f64>() / count).collect();
    let ratios = ratios(&magnitudes, n);
    let line = |lowest: usize| {
        let (bin, ratio) = strongest(&ratios, lowest);
        if bin == 0 {
            return Line { ratio, period_px: 0.0, phase_px: 0.0, amplitude_levels: 0.0, axis };
        }
        let sum = spectra.iter().fold([0.0, 0.0], |[re, im], s| [re + s[bin][0], im + s[bin][1]]);
        Line {
            ratio,
            period_px: n as f64 / bin as f64,
            phase_px: first_line(&magnitudes, sum, bin, n),
            // Under a Hann window a cosine of amplitude 1 has a magnitude of n / 4.
            amplitude_levels: 255.0 * 4.0 * magnitudes[bin] / n as f64,
            axis,
        }
    };
    Grid { peak: line(0), repeated: line(MIN_REPEATS) }
}

/// Where the first line of the lattice lies, from the phase at the middle of the axis, where it does
/// not depend on how far the true period is from the bin's.
fn first_line(magnitudes: &[f64], [re, im]: [f64; 2], bin: usize, n: usize) -> f64 {
    let n = n as f64;
    let (below, above) = (magnitudes[bin - 1], magnitudes.get(bin + 1).copied().unwrap_or(0.0));
    // The main lobe of a Hann window: the ratio of two neighbouring bins gives the offset.
    let offset = |neighbour: f64| {
        let ratio = neighbour / magnitudes[bin].max(f64::MIN_POSITIVE);
        ((2.0 * ratio - 1.0) / (1.0 + ratio)).clamp(0.0, 1.0)
    };
    let true_bin = bin as f64 + if above >= below { offset(above) } else { -offset(below) };
    let period_px = n / true_bin;
    let middle = (n - 1.0) / 2.0;
    let phase_at_middle = libm::atan2(im, re) + 2.0 * PI * bin as f64 * middle / n;
    let crest = middle - phase_at_middle / (2.0 * PI) * period_px;
    // Entry `i` of a profile lies between pixels `i` and `i + 1`, so a line of pixels lies half a
    // pixel after the crest.
    (crest + 0.5).rem_euclid(period_px)
}

/// Each bin that is searched, and how far it stands out from the median of its neighbours.
fn ratios(magnitudes: &[f64], n: usize) -> Vec<(usize, f64)> {
    let highest = n / 2;
    let mut neighbours = Vec::with_capacity(2 * OUTER);
    let mut ratios = Vec::new();
    for k in n.div_ceil(LONGEST_PERIOD).max(2)..=n / SHORTEST_PERIOD {
        neighbours.clear();
        if k > INNER {
            neighbours.extend(&magnitudes[k.saturating_sub(OUTER).max(1)..=k - INNER]);
        }
        if k + INNER <= highest {
            neighbours.extend(&magnitudes[k + INNER..=(k + OUTER).min(highest)]);
        }
        if neighbours.len() >= MIN_NEIGHBOURS {
            ratios.push((k, magnitudes[k] / median(&mut neighbours).max(1e-9)));
        }
    }
    ratios
}

/// The first of the largest ratios from bin `lowest` up; (0, 0) if there is none.
fn strongest(ratios: &[(usize, f64)], lowest: usize) -> (usize, f64) {
    ratios
        .iter()
        .filter(|(bin, _)| *bin >= lowest)
        .fold((0, 0.0), |best, &ratio| if ratio.1 > best.1 { ratio } else { best })
}

/// The middle value, or the mean of the two middle values. Reorders its input.
fn median(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    f64::midpoint(lower, upper)
}
