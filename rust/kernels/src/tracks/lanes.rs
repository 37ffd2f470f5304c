//! Rows of a tracking window in vector registers: 32 lanes of 16 bits, products in 16 of 32 bits.
//!
//! The one operation that decides the speed of tracking multiplies 16-bit lanes and adds the products
//! of neighbours. Compilers do not find it in plain loops, so each level names it; [`Plain`] is the
//! same arithmetic in loops, for other CPUs and for the others to be compared with. All of it is
//! integer, so every level gives the same bits.

use crate::simd::Level;

/// Lanes of a row: the 21 columns of a window, and what fills the registers.
pub(super) const LANES: usize = 32;

/// One row of 16-bit lanes in memory.
pub(super) type Row = [i16; LANES];

/// Registers of one instruction set.
pub(super) trait Lanes: Copy {
    /// 32 lanes of 16 bits.
    type Short: Copy;
    /// 16 lanes of 32 bits.
    type Long: Copy;

    fn load(self, row: &Row) -> Self::Short;
    /// 32 bytes as numbers from 0 to 255.
    fn widen(self, bytes: &[u8; LANES]) -> Self::Short;
    fn store(self, row: Self::Short, out: &mut Row);
    /// `even` in every even lane, `odd` in every odd one.
    fn alternate(self, even: i16, odd: i16) -> Self::Short;
    fn splat(self, value: i32) -> Self::Long;
    /// Sums of the products of lanes 2j and 2j + 1.
    fn multiply_pairs(self, a: Self::Short, b: Self::Short) -> Self::Long;
    fn add(self, a: Self::Long, b: Self::Long) -> Self::Long;
    fn plus(self, a: Self::Short, b: Self::Short) -> Self::Short;
    fn times(self, a: Self::Short, b: Self::Short) -> Self::Short;
    fn subtract(self, a: Self::Short, b: Self::Short) -> Self::Short;
    fn and(self, a: Self::Short, b: Self::Short) -> Self::Short;
    /// Lanes 2j from `even`, 2j + 1 from `odd`, both shifted right by 9 bits.
    fn weave_9(self, even: Self::Long, odd: Self::Long) -> Self::Short;
    /// The same by 14 bits.
    fn weave_14(self, even: Self::Long, odd: Self::Long) -> Self::Short;
    /// The sum of all lanes.
    fn sum(self, a: Self::Long) -> i64;
}

/// Work that is compiled once for each instruction set.
pub(super) trait Job {
    fn run<L: Lanes>(self, lanes: L);
}

/// Runs `job`, compiled for `level`. Its body must be `#[inline(always)]`.
pub(super) fn dispatch(level: Level, job: impl Job) {
    #[cfg(target_arch = "x86_64")]
    match level {
        Level::Baseline => {
            if let Some(simd) = pulp::x86::V1::try_new() {
                return job.run(simd);
            }
        }
        Level::Avx2 => {
            if let Some(simd) = pulp::x86::V3::try_new() {
                return pulp::Simd::vectorize(
                    simd,
                    #[inline(always)]
                    || job.run(simd),
                );
            }
        }
        Level::Avx512 => {
            if let Some(simd) = pulp::x86::V4::try_new() {
                return pulp::Simd::vectorize(
                    simd,
                    #[inline(always)]
                    || job.run(simd),
                );
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = level;
    job.run(Plain);
}

/// Plain loops.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Plain {
    #[inline(always)]
    fn weave<const SHIFT: u32>(even: [i32; 16], odd: [i32; 16]) -> Row {
        let mut out = [0; LANES];
        for j in 0..16 {
            out[2 * j] = (even[j] >> SHIFT) as i16;
            out[2 * j + 1] = (odd[j] >> SHIFT) as i16;
        }
        out
    }
}

impl Lanes for Plain {
    type Short = Row;
    type Long = [i32; 16];

    #[inline(always)]
    fn load(self, row: &Row) -> Row {
        *row
    }
    #[inline(always)]
    fn widen(self, bytes: &[u8; LANES]) -> Row {
        bytes.map(i16::from)
    }
    #[inline(always)]
    fn store(self, row: Row, out: &mut Row) {
        *out = row;
    }
    #[inline(always)]
    fn alternate(self, even: i16, odd: i16) -> Row {
        std::array::from_fn(|i| if i % 2 == 0 { even } else { odd })
    }
    #[inline(always)]
    fn splat(self, value: i32) -> [i32; 16] {
        [value; 16]
    }
    #[inline(always)]
    fn multiply_pairs(self, a: Row, b: Row) -> [i32; 16] {
        let mut out = [0; 16];
        for j in 0..16 {
            let even = i32::from(a[2 * j]) * i32::from(b[2 * j]);
            out[j] = even + i32::from(a[2 * j + 1]) * i32::from(b[2 * j + 1]);
        }
        out
    }
    #[inline(always)]
    fn add(self, a: [i32; 16], b: [i32; 16]) -> [i32; 16] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn plus(self, a: Row, b: Row) -> Row {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn times(self, a: Row, b: Row) -> Row {
        std::array::from_fn(|i| a[i].wrapping_mul(b[i]))
    }
    #[inline(always)]
    fn subtract(self, a: Row, b: Row) -> Row {
        std::array::from_fn(|i| a[i].wrapping_sub(b[i]))
    }
    #[inline(always)]
    fn and(self, a: Row, b: Row) -> Row {
        std::array::from_fn(|i| a[i] & b[i])
    }
    #[inline(always)]
    fn weave_9(self, even: [i32; 16], odd: [i32; 16]) -> Row {
        Self::weave::<9>(even, odd)
    }
    #[inline(always)]
    fn weave_14(self, even: [i32; 16], odd: [i32; 16]) -> Row {
        Self::weave::<14>(even, odd)
    }
    #[inline(always)]
    fn sum(self, a: [i32; 16]) -> i64 {
        a.into_iter().map(i64::from).sum()
    }
}

/// Implements [`Lanes`] on as many registers of each kind as `$i` counts, with operations that a
/// token of pulp's proves to be there. The registers are named one by one: a closure, or an iterator,
/// would be compiled for the baseline and call what it uses.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    (
        $simd:ty, [$($i:literal)+], $short:ty, $long:ty, widen: $widen:ident,
        multiply_pairs: $multiply:ident, add: $add:ident, plus: $plus:ident, times: $times:ident,
        subtract: $subtract:ident, and: $and_short:ident, splat: $splat:ident,
        weave: $and:ident $or:ident $left:ident $right:ident
    ) => {
        impl Lanes for $simd {
            type Short = [$short; [$($i),+].len()];
            type Long = [$long; [$($i),+].len()];

            #[inline(always)]
            fn load(self, row: &Row) -> Self::Short {
                pulp::cast(*row)
            }
            #[inline(always)]
            fn widen(self, bytes: &[u8; LANES]) -> Self::Short {
                $widen(self, bytes)
            }
            #[inline(always)]
            fn store(self, row: Self::Short, out: &mut Row) {
                *out = pulp::cast(row);
            }
            #[inline(always)]
            fn alternate(self, even: i16, odd: i16) -> Self::Short {
                pulp::cast(self.splat(i32::from(even) & 0xffff | i32::from(odd) << 16))
            }
            #[inline(always)]
            fn splat(self, value: i32) -> Self::Long {
                let one = self.$splat(value);
                [one; [$($i),+].len()]
            }
            #[inline(always)]
            fn multiply_pairs(self, a: Self::Short, b: Self::Short) -> Self::Long {
                [$(self.$multiply(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn add(self, a: Self::Long, b: Self::Long) -> Self::Long {
                [$(self.$add(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn plus(self, a: Self::Short, b: Self::Short) -> Self::Short {
                [$(self.$plus(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn times(self, a: Self::Short, b: Self::Short) -> Self::Short {
                [$(self.$times(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn subtract(self, a: Self::Short, b: Self::Short) -> Self::Short {
                [$(self.$subtract(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn and(self, a: Self::Short, b: Self::Short) -> Self::Short {
                [$(self.$and_short(a[$i], b[$i])),+]
            }
            #[inline(always)]
            fn weave_9(self, even: Self::Long, odd: Self::Long) -> Self::Short {
                let low = self.$splat(0xffff);
                pulp::cast([$(self.$or(
                    self.$and(self.$right::<9>(even[$i]), low),
                    self.$left::<16>(self.$right::<9>(odd[$i])),
                )),+])
            }
            #[inline(always)]
            fn weave_14(self, even: Self::Long, odd: Self::Long) -> Self::Short {
                let low = self.$splat(0xffff);
                pulp::cast([$(self.$or(
                    self.$and(self.$right::<14>(even[$i]), low),
                    self.$left::<16>(self.$right::<14>(odd[$i])),
                )),+])
            }
            #[inline(always)]
            fn sum(self, a: Self::Long) -> i64 {
                Plain.sum(pulp::cast(a))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn widen_128(_: pulp::x86::V1, bytes: &[u8; LANES]) -> [pulp::i16x8; 4] {
    pulp::cast(Plain.widen(bytes))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn widen_256(simd: pulp::x86::V3, bytes: &[u8; LANES]) -> [pulp::i16x16; 2] {
    let [first, second]: [pulp::u8x16; 2] = pulp::cast(*bytes);
    [simd.convert_u8x16_to_i16x16(first), simd.convert_u8x16_to_i16x16(second)]
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn widen_512(simd: pulp::x86::V4, bytes: &[u8; LANES]) -> [pulp::i16x32; 1] {
    [simd.convert_u8x32_to_i16x32(pulp::cast(*bytes))]
}

#[cfg(target_arch = "x86_64")]
registers!(
    pulp::x86::V1, [0 1 2 3], pulp::i16x8, pulp::i32x4, widen: widen_128,
    multiply_pairs: multiply_wrapping_add_adjacent_i16x8, add: wrapping_add_i32x4,
    plus: wrapping_add_i16x8, times: wrapping_mul_i16x8, subtract: wrapping_sub_i16x8,
    and: and_i16x8, splat: splat_i32x4,
    weave: and_i32x4 or_i32x4 shl_const_i32x4 shr_const_i32x4
);
#[cfg(target_arch = "x86_64")]
registers!(
    pulp::x86::V3, [0 1], pulp::i16x16, pulp::i32x8, widen: widen_256,
    multiply_pairs: multiply_wrapping_add_adjacent_i16x16, add: wrapping_add_i32x8,
    plus: wrapping_add_i16x16, times: wrapping_mul_i16x16, subtract: wrapping_sub_i16x16,
    and: and_i16x16, splat: splat_i32x8,
    weave: and_i32x8 or_i32x8 shl_const_i32x8 shr_const_i32x8
);
#[cfg(target_arch = "x86_64")]
registers!(
    pulp::x86::V4, [0], pulp::i16x32, pulp::i32x16, widen: widen_512,
    multiply_pairs: multiply_wrapping_add_adjacent_i16x32, add: wrapping_add_i32x16,
    plus: wrapping_add_i16x32, times: wrapping_mul_i16x32, subtract: wrapping_sub_i16x32,
    and: and_i16x32, splat: splat_i32x16,
    weave: and_i32x16 or_i32x16 shl_const_i32x16 shr_const_i32x16
);

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every operation on rows of any numbers, as the plain loops have it.
    struct Compare<'t>(&'t [(Row, Row)]);

    impl Job for Compare<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            for &(a, b) in self.0 {
                let bytes = a.map(|v| v as u8);
                assert_eq!(
                    every_operation(lanes, a, b, bytes),
                    every_operation(Plain, a, b, bytes)
                );
            }
        }
    }

    #[inline(always)]
    fn every_operation<L: Lanes>(
        lanes: L,
        a: Row,
        b: Row,
        bytes: [u8; LANES],
    ) -> (Vec<Row>, Vec<i64>) {
        let (x, y) = (lanes.load(&a), lanes.load(&b));
        let product = lanes.multiply_pairs(x, y);
        let sum = lanes.add(product, lanes.splat(i32::from(b[1])));
        let rows = [
            lanes.plus(x, y),
            lanes.subtract(x, y),
            lanes.times(x, y),
            lanes.and(x, y),
            lanes.widen(&bytes),
            lanes.alternate(a[0], b[0]),
            lanes.weave_9(product, sum),
            lanes.weave_14(sum, product),
        ];
        let stored = rows.map(|row| {
            let mut out = [0; LANES];
            lanes.store(row, &mut out);
            out
        });
        (stored.to_vec(), vec![lanes.sum(product), lanes.sum(sum)])
    }

    #[test]
    fn every_level_does_what_the_plain_loops_do() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Any number but the one whose square and its like do not fit 32 bits.
            ((state >> 40) as i16).max(-i16::MAX)
        };
        let mut row = || std::array::from_fn(|_| next());
        let rows: Vec<(Row, Row)> = (0..500).map(|_| (row(), row())).collect();
        for &level in Level::available() {
            dispatch(level, Compare(&rows));
        }
    }
}
