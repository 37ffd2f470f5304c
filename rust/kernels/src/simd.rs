//! Runtime dispatch: one source per kernel, compiled once for each instruction set.
//!
//! A kernel wraps its loops in [`Level::run`]; everything inside is `#[inline(always)]`, so the
//! compiler vectorises the same source for every level. A level changes speed alone: the arithmetic
//! is integer, or floating point in a stated order, and nothing is fused.

use std::sync::OnceLock;

/// An instruction set that a kernel can be compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// What every CPU of the target has: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// AVX2 with FMA and BMI (x86-64-v3). Multiplies and adds are still never fused.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The levels that this CPU runs, slowest first.
    pub fn available() -> &'static [Self] {
        static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
        LEVELS.get_or_init(|| {
            let mut levels = vec![Self::Baseline];
            #[cfg(target_arch = "x86_64")]
            {
                if pulp::x86::V3::try_new().is_some() {
                    levels.push(Self::Avx2);
                }
                if pulp::x86::V4::try_new().is_some() {
                    levels.push(Self::Avx512);
                }
            }
            levels
        })
    }

    /// The fastest level of this CPU.
    pub fn best() -> Self {
        *Self::available().last().unwrap_or(&Self::Baseline)
    }

    /// The level of this name, if this CPU runs it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::available().iter().copied().find(|level| level.name() == name)
    }

    /// `baseline`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }

    /// Runs `body`, compiled for this level. Pass an `#[inline(always)]` closure.
    #[inline(always)]
    pub fn run<R>(self, body: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Baseline => {}
            Self::Avx2 => {
                if let Some(simd) = pulp::x86::V3::try_new() {
                    return pulp::Simd::vectorize(simd, body);
                }
            }
            Self::Avx512 => {
                if let Some(simd) = pulp::x86::V4::try_new() {
                    return pulp::Simd::vectorize(simd, body);
                }
            }
        }
        body()
    }
}
