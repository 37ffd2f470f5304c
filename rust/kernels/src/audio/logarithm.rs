//! Logarithms of several numbers side by side, from additions and multiplications alone, so that
//! the compiler vectorises them and every instruction set gives the same bits.

const LN_2: f64 = std::f64::consts::LN_2;

/// Natural logarithms of normal positive numbers, within 1e-15 of their size or absolutely.
#[inline(always)]
pub(super) fn ln<const N: usize>(values: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for l in 0..N {
        out[l] = one(values[l]);
    }
    out
}

#[inline(always)]
fn one(value: f64) -> f64 {
    // The exponent such that the mantissa lies between the root of a half and that of two.
    let shifted = value.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = (shifted as i64) >> 52;
    let mantissa = f64::from_bits(value.to_bits().wrapping_sub((exponent << 52) as u64));
    // 2 artanh(s) = ln((1 + s) / (1 - s)), and |s| < 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let t = s * s;
    let mut sum = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = sum * t + 1.0 / odd;
    }
    exponent_as_f64(exponent) * LN_2 + (2.0 * s + 2.0 * s * (t * sum))
}

/// Bits of the root of a half.
const ROOT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

/// A small integer as a float: the conversion proper has no vector form before AVX-512.
#[inline(always)]
fn exponent_as_f64(exponent: i64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
    f64::from_bits(SHIFT.to_bits().wrapping_add(exponent as u64)) - SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_library_from_the_least_to_the_largest_number_that_occurs() {
        let mut value = 1e-300_f64;
        while value < 1e300 {
            let [found] = ln(&[value]);
            let known = value.ln();
            assert!((found - known).abs() <= 4e-16 * known.abs().max(0.25), "{value}: {found}");
            value *= 1.000_37;
        }
        for exact in [1.0, 2.0, 0.5] {
            assert_eq!(ln(&[exact]), [f64::ln(exact)]);
        }
    }
}
