use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use screentest_kernels::Frame;
use screentest_kernels::fidelity::{
    self, Border, Errors, Fidelity, FrameFidelity, Structure, TAPS, Wants,
};
use screentest_kernels::simd::Level;

use crate::errors::{input_error, no_threads, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;
use crate::scan::{PyScan, scan_of};
use crate::simd::level_of;

/// Compares frames of one format with frames of another; keeps nothing between them.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct FidelityKernel {
    inner: Fidelity,
    threads: usize,
    size: (usize, usize),
    border: Border,
}

impl FidelityKernel {
    fn run<'py, R: Send>(
        &self,
        py: Python<'py>,
        reference: &[Bound<'py, PyAny>],
        candidate: &[Bound<'py, PyAny>],
        work: impl for<'a> FnOnce(&Frame<'a>, &Frame<'a>) -> screentest_kernels::Result<R> + Send,
    ) -> PyResult<R> {
        let (a, b) = (Planes::borrow(py, reference)?, Planes::borrow(py, candidate)?);
        let (a, b) = (a.frame(), b.frame());
        let alone = self.threads <= 1;
        let result = py.detach(|| {
            if alone { Ok(work(&a, &b)) } else { in_pool(self.threads, || work(&a, &b)) }
        });
        result.map_err(|e| no_threads(py, self.threads, &e))?.map_err(|e| raise(py, &e))
    }
}

#[pymethods]
impl FidelityKernel {
    #[new]
    #[pyo3(signature = (
        reference, candidate, *, rgb=false, planes=false, ssim=false, ms_ssim=false, ssim_y=false,
        ms_ssim_y=false, border="valid", threads=1, simd=None
    ))]
    #[allow(clippy::too_many_arguments)] // Keyword-only flags in Python.
    fn new(
        py: Python<'_>,
        reference: &FrameFormat,
        candidate: &FrameFormat,
        rgb: bool,
        planes: bool,
        ssim: bool,
        ms_ssim: bool,
        ssim_y: bool,
        ms_ssim_y: bool,
        border: &str,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let border = match border {
            "valid" => Border::Valid,
            "reflect" => Border::Reflect,
            _ => {
                let message = format!("border {border:?}: expected \"valid\" or \"reflect\"");
                return Err(input_error(py, &message, "bad_border"));
            }
        };
        let wants = Wants { rgb, planes, ssim, ms_ssim, ssim_y, ms_ssim_y };
        let size = (reference.inner.height(), reference.inner.width());
        let formats = [&reference.inner, &candidate.inner].map(Clone::clone);
        let [a, b] = formats;
        let inner = Fidelity::new(a, b, level_of(py, simd)?, wants, border)
            .map_err(|e| raise(py, &e))?
            .parallel(threads > 1);
        Ok(Self { inner, threads, size, border })
    }

    fn measure<'py>(
        &self,
        py: Python<'py>,
        reference: Vec<Bound<'py, PyAny>>,
        candidate: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, PyScan, PyScan)> {
        let found = self.run(py, &reference, &candidate, |a, b| self.inner.measure(a, b))?;
        let values = PyDict::new(py);
        for (name, value) in values_of(&found) {
            values.set_item(name, value)?;
        }
        let [a, b] = found.scans.map(scan_of);
        Ok((values, a, b))
    }

    fn ssim_map<'py>(
        &self,
        py: Python<'py>,
        reference: Vec<Bound<'py, PyAny>>,
        candidate: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let map = self.run(py, &reference, &candidate, |a, b| self.inner.ssim_map(a, b))?;
        let less = if self.border == Border::Valid { TAPS - 1 } else { 0 };
        let (height, width) = self.size;
        PyArray1::from_vec(py, map).reshape([height - less, width - less])
    }

    fn error_map<'py>(
        &self,
        py: Python<'py>,
        reference: Vec<Bound<'py, PyAny>>,
        candidate: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let map = self.run(py, &reference, &candidate, |a, b| self.inner.error_map(a, b))?;
        let (height, width) = self.size;
        PyArray1::from_vec(py, map).reshape([height, width])
    }
}

#[pyfunction]
#[pyo3(signature = (format, planes, *, threads=1))]
pub(crate) fn rgb8<'py>(
    py: Python<'py>,
    format: &FrameFormat,
    planes: Vec<Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let planes = Planes::borrow(py, &planes)?;
    let frame = planes.frame();
    let result = py.detach(|| {
        in_pool(threads, || fidelity::rgb8(&frame, &format.inner, Level::best(), threads > 1))
    });
    let rgb = result.map_err(|e| no_threads(py, threads, &e))?.map_err(|e| raise(py, &e))?;
    let (height, width) = (format.inner.height(), format.inner.width());
    PyArray1::from_vec(py, rgb).reshape([height, width, 3])
}

/// The numbers that were asked for, by name.
fn values_of(found: &FrameFidelity) -> impl Iterator<Item = (&'static str, f64)> {
    let [y, cb, cr] = found.planes;
    let squared = |errors: Option<Errors>| errors.map(|e| e.squared);
    let structure = |names: [&'static str; 4], s: Structure| {
        let multiple = s.multi_scale;
        [
            (names[0], s.ssim),
            (names[1], multiple.map(|m| m.value)),
            (names[2], multiple.map(|m| m.scales as f64)),
            (names[3], multiple.map(|m| m.clipped as f64)),
        ]
    };
    let errors = [
        ("mse", squared(found.rgb)),
        ("mae", found.rgb.map(|e| e.absolute)),
        ("mse_y", squared(y)),
        ("mse_cb", squared(cb)),
        ("mse_cr", squared(cr)),
    ];
    let luma = structure(["ssim", "ms_ssim", "ms_ssim_scales", "ms_ssim_clipped"], found.luma);
    let first = structure(
        ["ssim_y", "ms_ssim_y", "ms_ssim_y_scales", "ms_ssim_y_clipped"],
        found.first_plane,
    );
    errors
        .into_iter()
        .chain(luma)
        .chain(first)
        .filter_map(|(name, value)| value.map(|value| (name, value)))
}
