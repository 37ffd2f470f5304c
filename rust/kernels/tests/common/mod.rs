//! Material that several tests make.
#![allow(dead_code, unreachable_pub)] // Each test is a crate of its own and takes what it needs.

use ndarray::{Array2, Array3};

/// xorshift64*: the same stream on every platform.
pub fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }
}

pub fn noise(width: usize, height: usize, seed: u64) -> Array2<u8> {
    let mut next = random(seed);
    Array2::from_shape_simple_fn((height, width), || next() as u8)
}

pub fn noise_rgb(width: usize, height: usize, seed: u64) -> Array3<u8> {
    let mut next = random(seed);
    Array3::from_shape_simple_fn((height, width, 3), || next() as u8)
}
