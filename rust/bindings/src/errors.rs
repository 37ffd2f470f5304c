use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use rayon::ThreadPoolBuildError;
use screentest_kernels::Error;

/// Raises a kernel's error as `screentest.errors.InputError` with a stable code.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let code = match error {
        Error::BadGeometry { .. } => "bad_geometry",
        Error::BadDepth { .. } => "bad_bit_depth",
        Error::BadRange { .. } => "bad_value_range",
        Error::BadMatrix { .. } => "bad_matrix",
        Error::BadChroma { .. } => "bad_chroma",
        Error::WrongPlanes { .. } => "wrong_planes",
        Error::PlaneSize { .. } => "plane_size",
        Error::SizeMismatch { .. } => "size_mismatch",
        Error::NoCommonPlanes => "no_common_planes",
        Error::TooSmall { .. } => "too_small",
        Error::TooFewFrames { .. } => "too_few_frames",
        Error::NotAdjacent { .. } => "not_adjacent",
        Error::OutOfStep { .. } => "out_of_step",
        Error::NonFinite { .. } => "non_finite",
        Error::OutOfRange { .. } => "out_of_range",
        Error::NoProfile { .. } => "no_profile",
        Error::BadSound { .. } => "bad_sound",
        Error::BadBlock { .. } => "bad_block",
        _ => "bad_input",
    };
    input_error(py, &error.to_string(), code)
}

/// The system refused the threads that were asked for.
pub(crate) fn no_threads(py: Python<'_>, threads: usize, error: &ThreadPoolBuildError) -> PyErr {
    let message =
        format!("threads={threads}: the system starts no such pool ({error}): ask for fewer");
    input_error(py, &message, "no_threads")
}

/// `screentest.errors.InputError(message, code=code)`; an error on the way is returned instead.
pub(crate) fn input_error(py: Python<'_>, message: &str, code: &str) -> PyErr {
    let build = || -> PyResult<Bound<'_, PyAny>> {
        let class = py.import("screentest.errors")?.getattr("InputError")?;
        let keywords: Bound<'_, PyDict> = [("code", code)].into_py_dict(py)?;
        class.call((message,), Some(&keywords))
    };
    match build() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
