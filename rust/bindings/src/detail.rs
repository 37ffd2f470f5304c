use pyo3::prelude::*;
use pyo3::types::PyDict;
use screentest_kernels::detail::{Detail, FrameDetail};

use crate::errors::{no_threads, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;
use crate::scan::{PyScan, scan_of};
use crate::simd::level_of;

/// Edges, what lies beside them, and texture of frames of one format; keeps nothing between them.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct DetailKernel {
    inner: Detail,
    threads: usize,
}

#[pymethods]
impl DetailKernel {
    #[new]
    #[pyo3(signature = (format, *, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        format: &FrameFormat,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let inner = Detail::new(format.inner.clone(), level_of(py, simd)?).parallel(threads > 1);
        Ok(Self { inner, threads })
    }

    fn measure<'py>(
        &self,
        py: Python<'py>,
        planes: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, PyScan)> {
        let planes = Planes::borrow(py, &planes)?;
        let frame = planes.frame();
        let result = py.detach(|| {
            if self.threads <= 1 {
                return Ok(self.inner.measure(&frame));
            }
            in_pool(self.threads, || self.inner.measure(&frame))
        });
        let found =
            result.map_err(|e| no_threads(py, self.threads, &e))?.map_err(|e| raise(py, &e))?;
        Ok((values_of(py, &found)?, scan_of(found.scan)))
    }
}

fn values_of<'py>(py: Python<'py>, found: &FrameDetail) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    values.set_item("edge_overshoot", found.overshoot)?;
    values.set_item("edge_strength", found.edge_strength)?;
    values.set_item("edge_density", found.edge_density)?;
    // NaN stands for "not measured"; it leaves the library as null.
    values.set_item("texture_residual", found.texture_residual.unwrap_or(f64::NAN))?;
    values.set_item("band_pixels", found.band_pixels)?;
    values.set_item("luma_std", found.luma_std)?;
    Ok(values)
}
