use pyo3::prelude::*;
use screentest_kernels::simd::Level;

use crate::errors::input_error;

/// The dispatch level of this name, or the best of this CPU.
pub(crate) fn level_of(py: Python<'_>, simd: Option<&str>) -> PyResult<Level> {
    let Some(name) = simd else { return Ok(Level::best()) };
    Level::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Level::available().iter().map(|l| l.name()).collect();
        let message = format!("simd level {name:?}: this CPU has {}", known.join(", "));
        input_error(py, &message, "bad_simd_level")
    })
}
