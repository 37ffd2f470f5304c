//! Pearson correlation of two luma planes as they lie.

use crate::simd::Level;

/// Exact sums of one or two integer planes, from which every moment follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) sum: i64,
    pub(crate) sum_of_squares: i128,
}

impl Moments {
    pub(crate) fn of(level: Level, plane: &[i32]) -> Self {
        let mut total = Self { count: plane.len() as u64, ..Self::default() };
        for chunk in plane.chunks(CHUNK) {
            let (sum, squares) = level.run(
                #[inline(always)]
                || {
                    let mut sum = 0_i64;
                    let mut squares = 0_i64;
                    for &v in chunk {
                        sum += i64::from(v);
                        squares += i64::from(v) * i64::from(v);
                    }
                    (sum, squares)
                },
            );
            total.sum += sum;
            total.sum_of_squares += i128::from(squares);
        }
        total
    }

    /// What both planes sum to together.
    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            sum_of_squares: self.sum_of_squares + other.sum_of_squares,
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// `count^2` times the population variance; exact.
    fn scaled_variance(&self) -> i128 {
        i128::from(self.count) * self.sum_of_squares - i128::from(self.sum) * i128::from(self.sum)
    }

    /// Population standard deviation, in luma units.
    pub(crate) fn std(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.scaled_variance() as f64).sqrt() / self.count as f64
    }
}

/// Samples of 21 bits whose products sum in 64 bits.
const CHUNK: usize = 1 << 20;

fn cross(level: Level, a: &[i32], b: &[i32]) -> i128 {
    a.chunks(CHUNK)
        .zip(b.chunks(CHUNK))
        .map(|(a, b)| {
            i128::from(level.run(
                #[inline(always)]
                || a.iter().zip(b).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum::<i64>(),
            ))
        })
        .sum()
}

/// Below this standard deviation (of full scale) a plane has nothing to correlate: the value is 0.
const FLAT_STD: f64 = 1e-6;

/// Pearson correlation from the sums of two planes and of their products.
pub(crate) fn pearson(a: &Moments, b: &Moments, cross: i128, full_scale: f64) -> f64 {
    if a.std() / full_scale < FLAT_STD || b.std() / full_scale < FLAT_STD {
        return 0.0;
    }
    let covariance = i128::from(a.count) * cross - i128::from(a.sum) * i128::from(b.sum);
    // One root of the product: it is exact for a plane and itself, so those correlate at 1.
    let scale = (a.scaled_variance() as f64 * b.scaled_variance() as f64).sqrt();
    (covariance as f64 / scale).clamp(-1.0, 1.0)
}

/// Pearson correlation of two planes of one size whose own sums are known.
pub(crate) fn correlation(
    level: Level,
    (a, a_moments): (&[i32], &Moments),
    (b, b_moments): (&[i32], &Moments),
    full_scale: f64,
) -> f64 {
    pearson(a_moments, b_moments, cross(level, a, b), full_scale)
}
