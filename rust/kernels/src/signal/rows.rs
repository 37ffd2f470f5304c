//! Sums over rows of fixed-point luma. All are of integers, so their order is free.

/// Pixels whose differences of luma sum up within 32 bits: luma has 20 bits.
const RUN: usize = 256;
/// The same for nine times luma less the sum of nine.
const SHORT_RUN: usize = 128;

#[inline(always)]
pub(super) fn sum(row: &[i32]) -> u64 {
    row.chunks(RUN).map(|run| u64::from(run.iter().map(|&v| v as u32).sum::<u32>())).sum()
}

#[inline(always)]
pub(super) fn sum_of_squares(row: &[i32]) -> u64 {
    let mut total = 0;
    for &v in row {
        let v = v as u32 as u64;
        total += v * v;
    }
    total
}

/// Sum of `|a - b|` of luma.
#[inline(always)]
pub(super) fn change(a: &[i32], b: &[i32]) -> u64 {
    distance::<RUN>(a, b)
}

/// Sum of `|a - b|` of high-passed luma.
#[inline(always)]
pub(super) fn high_pass_change(a: &[i32], b: &[i32]) -> u64 {
    distance::<SHORT_RUN>(a, b)
}

#[inline(always)]
fn distance<const LENGTH: usize>(a: &[i32], b: &[i32]) -> u64 {
    let mut total = 0;
    for (a, b) in a.chunks(LENGTH).zip(b.chunks(LENGTH)) {
        let mut run = 0_u32;
        for (&a, &b) in a.iter().zip(b) {
            run += (a - b).unsigned_abs();
        }
        total += u64::from(run);
    }
    total
}

/// Sums of `|a - b|` and of `|a - 2 b + c|`.
#[inline(always)]
pub(super) fn change_and_bend(a: &[i32], b: &[i32], c: &[i32]) -> (u64, u64) {
    let (mut changes, mut bends) = (0, 0);
    for ((a, b), c) in a.chunks(RUN).zip(b.chunks(RUN)).zip(c.chunks(RUN)) {
        let (mut change, mut bend) = (0_u32, 0_u32);
        for ((&a, &b), &c) in a.iter().zip(b).zip(c) {
            change += (a - b).unsigned_abs();
            bend += (a - b - b + c).unsigned_abs();
        }
        changes += u64::from(change);
        bends += u64::from(bend);
    }
    (changes, bends)
}

/// Sum and sum of squares of the four neighbours less four times the pixel, over the columns that
/// have both neighbours.
#[inline(always)]
pub(super) fn laplacian(above: &[i32], row: &[i32], below: &[i32]) -> (i64, u64) {
    let last = row.len().saturating_sub(1);
    let (mut sum, mut squares) = (0_i64, 0_u64);
    if last < 2 {
        return (0, 0);
    }
    let inner = above[1..last].iter().zip(&below[1..last]).zip(&row[1..last]);
    for (((&up, &down), &v), (&left, &right)) in inner.zip(row[..last - 1].iter().zip(&row[2..])) {
        let value = up + down + left + right - 4 * v;
        sum += i64::from(value);
        let size = value.unsigned_abs() as u64;
        squares += size * size;
    }
    (sum, squares)
}

/// Writes nine times each pixel less the sum of its 3x3 neighbourhood, of which `sums` holds the
/// columns, the first and the last of them repeated on either side.
#[inline(always)]
pub(super) fn high_pass(row: &[i32], sums: &[i32], out: &mut [i32]) {
    let (left, middle, right) = (sums, &sums[1..], &sums[2..]);
    for ((((out, &v), &a), &b), &c) in out.iter_mut().zip(row).zip(left).zip(middle).zip(right) {
        *out = 9 * v - (a + b + c);
    }
}

/// Sums three rows by columns, with the first and the last sum repeated on either side.
#[inline(always)]
pub(super) fn column_sums(above: &[i32], row: &[i32], below: &[i32], sums: &mut [i32]) {
    let width = row.len();
    let inner = &mut sums[1..=width];
    for (((out, &a), &b), &c) in inner.iter_mut().zip(above).zip(row).zip(below) {
        *out = a + b + c;
    }
    sums[0] = sums[1];
    sums[width + 1] = sums[width];
}

/// Sum of the sizes.
#[inline(always)]
pub(super) fn sizes(row: &[i32]) -> u64 {
    let mut total = 0;
    for run in row.chunks(SHORT_RUN) {
        total += u64::from(run.iter().map(|v| v.unsigned_abs()).sum::<u32>());
    }
    total
}

/// Sum over pixels of the largest less the smallest of red, green and blue.
#[inline(always)]
pub(super) fn saturation(red: &[i32], green: &[i32], blue: &[i32]) -> u64 {
    let mut total = 0;
    for ((r, g), b) in red.chunks(RUN).zip(green.chunks(RUN)).zip(blue.chunks(RUN)) {
        let mut run = 0_u32;
        for ((&r, &g), &b) in r.iter().zip(g).zip(b) {
            run += (r.max(g).max(b) - r.min(g).min(b)) as u32;
        }
        total += u64::from(run);
    }
    total
}

/// Equal parts of [0, 1] that luma is counted in.
pub(super) const BINS: usize = 64;

/// Counts of luma, four side by side so that equal neighbours do not wait for each other.
pub(super) type Counts = [[u32; BINS]; 4];

/// `BINS / white`, a little more, so that a value on the edge of two bins falls in the upper one
/// though the product is rounded; the next value below is far enough from the edge.
pub(super) fn bins_per_code(white: i32) -> f32 {
    (BINS as f32 / white as f32) * (1.0 + f32::EPSILON * 2.0)
}

/// Adds a row to the counts; `bins` is memory to work in.
#[inline(always)]
pub(super) fn count(row: &[i32], per_code: f32, bins: &mut [u8], counts: &mut Counts) {
    for (bin, &v) in bins.iter_mut().zip(row) {
        *bin = ((v as f32 * per_code) as i32).min(BINS as i32 - 1) as u8;
    }
    let (fours, rest) = bins[..row.len()].as_chunks::<4>();
    for four in fours {
        for (counts, &bin) in counts.iter_mut().zip(four) {
            counts[usize::from(bin) % BINS] += 1;
        }
    }
    for &bin in rest {
        counts[0][usize::from(bin) % BINS] += 1;
    }
}
