use pyo3::prelude::*;
use screentest_kernels::simd::Level;
use screentest_kernels::{Scan, scan_frame};

use crate::errors::raise;
use crate::format::FrameFormat;
use crate::frames::Planes;

/// (non-finite samples, samples out of range, smallest and largest finite sample).
pub(crate) type PyScan = (u64, u64, Option<(f64, f64)>);

pub(crate) fn scan_of(scan: Scan) -> PyScan {
    (scan.non_finite, scan.out_of_range, scan.extremes)
}

#[pyfunction]
pub(crate) fn scan_samples<'py>(
    py: Python<'py>,
    format: &FrameFormat,
    planes: Vec<Bound<'py, PyAny>>,
) -> PyResult<PyScan> {
    let planes = Planes::borrow(py, &planes)?;
    let frame = planes.frame();
    let found = py.detach(|| scan_frame(&format.inner, &frame, Level::best()));
    found.map(scan_of).map_err(|e| raise(py, &e))
}
