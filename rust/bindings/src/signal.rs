use std::sync::{Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use screentest_kernels::Frame;
use screentest_kernels::signal::{CELLS, Features, FrameSignal, Signal};

use crate::errors::{no_threads, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;
use crate::simd::level_of;

/// Statistics of the frames pushed so far.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct SignalAccumulator {
    state: Mutex<Signal>,
    threads: usize,
}

#[pymethods]
impl SignalAccumulator {
    #[new]
    #[pyo3(signature = (format, *, features=true, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        format: &FrameFormat,
        features: bool,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let signal = Signal::new(format.inner.clone(), level_of(py, simd)?, features);
        Ok(Self { state: Mutex::new(signal), threads })
    }

    /// The lock is taken before the pool is entered, so that no worker waits for it.
    fn push_many<'py>(&self, py: Python<'py>, frames: Vec<Vec<Bound<'py, PyAny>>>) -> PyResult<()> {
        let borrowed: Vec<Planes<'_>> =
            frames.iter().map(|planes| Planes::borrow(py, planes)).collect::<PyResult<_>>()?;
        let frames: Vec<Frame<'_>> = borrowed.iter().map(Planes::frame).collect();
        let threads = self.threads;
        let result = py.detach(|| {
            let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let state = &mut *guard;
            if threads > 1 {
                in_pool(threads, || state.push_many(&frames, threads))
            } else {
                Ok(state.push_many(&frames, 1))
            }
        });
        result.map_err(|e| no_threads(py, threads, &e))?.map_err(|e| raise(py, &e))
    }

    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.read(py, |state| state.frames().to_vec());
        let series = PyDict::new(py);
        for (name, pick) in COLUMNS {
            let column: Vec<f64> = rows.iter().map(|row| pick(row).unwrap_or(f64::NAN)).collect();
            series.set_item(name, column.into_pyarray(py))?;
        }
        let cells: Vec<f64> =
            rows.iter().flat_map(|row| row.cells.as_flattened()).map(|&v| f64::from(v)).collect();
        let cells = PyArray1::from_vec(py, cells).reshape([rows.len(), CELLS, CELLS])?;
        series.set_item("cells", cells)?;
        Ok(series)
    }

    #[getter]
    fn frames(&self, py: Python<'_>) -> usize {
        self.read(py, |state| state.frames().len())
    }

    #[getter]
    fn value_extremes(&self, py: Python<'_>) -> Option<(f64, f64)> {
        self.read(py, Signal::extremes)
    }
}

impl SignalAccumulator {
    /// Reads the state. No Python object is touched under the lock.
    fn read<R>(&self, py: Python<'_>, pick: impl FnOnce(&Signal) -> R) -> R {
        pick(&self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

type Column = (&'static str, fn(&FrameSignal) -> Option<f64>);

/// The numbers of a frame by name.
const COLUMNS: [Column; 10] = [
    ("luma_mean", |row| Some(row.luma_mean)),
    ("luma_std", |row| Some(row.luma_std)),
    ("motion", |row| row.motion),
    ("acceleration", |row| row.acceleration),
    ("laplacian_variance", |row| feature(row, |f| f.laplacian_variance)),
    ("hf_ratio", |row| feature(row, |f| Some(f.hf_ratio))),
    ("entropy", |row| feature(row, |f| Some(f.entropy))),
    ("saturation", |row| feature(row, |f| Some(f.saturation))),
    ("highpass", |row| feature(row, |f| Some(f.highpass))),
    ("shimmer", |row| feature(row, |f| f.shimmer)),
];

fn feature(row: &FrameSignal, pick: fn(&Features) -> Option<f64>) -> Option<f64> {
    row.features.as_ref().and_then(pick)
}
