use std::sync::{Mutex, PoisonError};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use screentest_kernels::Frame;
use screentest_kernels::integrity::{self, Ask, Axis, Integrity, Item, Line, Step, Still};

use crate::errors::{no_threads, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;
use crate::simd::level_of;

/// Facts of the frames pushed so far.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct IntegrityAccumulator {
    state: Mutex<Integrity>,
    threads: usize,
}

impl IntegrityAccumulator {
    /// Works on the state without the GIL, on the pool if `parallel`. The lock is taken before the
    /// pool is entered: a worker that held it could pick up another caller's job while it waits
    /// for its own, and that job would wait for the lock.
    fn work<R: Send>(
        &self,
        py: Python<'_>,
        parallel: bool,
        work: impl FnOnce(&mut Integrity) -> screentest_kernels::Result<R> + Send,
    ) -> PyResult<R> {
        let result = py.detach(|| {
            let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let state = &mut *guard;
            if parallel { in_pool(self.threads, || work(state)) } else { Ok(work(state)) }
        });
        result.map_err(|e| no_threads(py, self.threads, &e))?.map_err(|e| raise(py, &e))
    }

    /// Reads the state. No Python object is touched under the lock.
    fn read<R>(&self, py: Python<'_>, pick: impl FnOnce(&Integrity) -> R) -> R {
        pick(&self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl IntegrityAccumulator {
    #[new]
    #[pyo3(signature = (format, *, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        format: &FrameFormat,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let level = level_of(py, simd)?;
        let state = Mutex::new(Integrity::new(format.inner.clone(), level));
        Ok(Self { state, threads })
    }

    #[pyo3(signature = (index, planes, previous=None, *, grid=false, align=false, change=false))]
    #[allow(clippy::too_many_arguments)] // Keyword-only flags in Python.
    fn push<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        planes: Vec<Bound<'py, PyAny>>,
        previous: Option<Vec<Bound<'py, PyAny>>>,
        grid: bool,
        align: bool,
        change: bool,
    ) -> PyResult<(u64, u64)> {
        let batch = vec![(index, planes, grid, align, change)];
        Ok(self.push_many(py, batch, previous)?.into_iter().next().unwrap_or_default())
    }

    #[pyo3(signature = (batch, previous=None))]
    fn push_many<'py>(
        &self,
        py: Python<'py>,
        batch: Vec<Pushed<'py>>,
        previous: Option<Vec<Bound<'py, PyAny>>>,
    ) -> PyResult<Vec<(u64, u64)>> {
        let borrowed: Vec<Planes<'_>> = batch
            .iter()
            .map(|(_, planes, ..)| Planes::borrow(py, planes))
            .collect::<PyResult<_>>()?;
        let previous = previous.map(|p| Planes::borrow(py, &p)).transpose()?;
        let frames: Vec<Frame<'_>> = borrowed.iter().map(Planes::frame).collect();
        let before = previous.as_ref().map(Planes::frame);
        let items: Vec<Item<'_, '_>> = batch
            .iter()
            .zip(&frames)
            .map(|(&(index, _, grid, align, change), frame)| Item {
                index,
                frame,
                ask: Ask { grid, align, change },
            })
            .collect();
        let alone = items.len() == 1 && !items[0].ask.grid && matches!(frames[0], Frame::U8(_));
        let scans = self.work(py, !alone, |state| state.push_many(&items, before.as_ref()))?;
        Ok(scans.into_iter().map(|scan| (scan.non_finite, scan.out_of_range)).collect())
    }

    fn forget_grid(&self, py: Python<'_>, index: usize) -> PyResult<()> {
        self.work(py, false, |state| {
            state.forget_grid(index);
            Ok(())
        })
    }

    fn grid(&self, py: Python<'_>, frames: Vec<usize>) -> PyResult<Option<(PyLine, PyLine)>> {
        let grid = self.work(py, false, |state| state.grid(&frames))?;
        Ok(grid.map(|g| (line(g.peak), line(g.repeated))))
    }

    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (index, columns) = self.read(py, columns);
        let series = PyDict::new(py);
        series.set_item("index", index.into_pyarray(py))?;
        for (name, values) in columns {
            series.set_item(name, values.into_pyarray(py))?;
        }
        Ok(series)
    }

    #[getter]
    fn frames(&self, py: Python<'_>) -> usize {
        self.read(py, |state| state.stills().len())
    }

    #[getter]
    fn non_finite_samples(&self, py: Python<'_>) -> u64 {
        self.read(py, |state| state.scan().non_finite)
    }

    #[getter]
    fn out_of_range_samples(&self, py: Python<'_>) -> u64 {
        self.read(py, |state| state.scan().out_of_range)
    }

    #[getter]
    fn value_extremes(&self, py: Python<'_>) -> Option<(f64, f64)> {
        self.read(py, |state| state.scan().extremes)
    }

    #[getter]
    fn first_non_finite(&self, py: Python<'_>) -> Option<(usize, usize, usize)> {
        self.read(py, |state| state.first_non_finite())
    }

    #[getter]
    fn non_finite_runs(&self, py: Python<'_>) -> Vec<(usize, usize)> {
        self.read(py, |state| state.non_finite_runs().to_vec())
    }
}

/// The frames' indices, and the numbers of each frame by name.
fn columns(state: &Integrity) -> (Vec<i64>, [(&'static str, Vec<f64>); 10]) {
    let stills = state.stills();
    let still = |pick: fn(&Still) -> f64| -> Vec<f64> { stills.iter().map(pick).collect() };
    // NaN stands for "not measured"; it leaves the library as null.
    let step = |pick: fn(&Step) -> Option<f64>| -> Vec<f64> {
        state.steps().iter().map(|s| s.as_ref().and_then(pick).unwrap_or(f64::NAN)).collect()
    };
    let columns = [
        ("luma_mean", still(|s| s.luma_mean)),
        ("luma_std", still(|s| s.luma_std)),
        ("luma_min", still(|s| s.luma_min)),
        ("luma_max", still(|s| s.luma_max)),
        ("red", still(|s| s.rgb[0])),
        ("green", still(|s| s.rgb[1])),
        ("blue", still(|s| s.rgb[2])),
        ("corr", step(|s| Some(s.corr))),
        ("corr_aligned", step(|s| s.corr_aligned)),
        ("change", step(|s| s.change)),
    ];
    (stills.iter().map(|s| s.index as i64).collect(), columns)
}

/// (index, planes, grid, align, change).
type Pushed<'py> = (usize, Vec<Bound<'py, PyAny>>, bool, bool, bool);

/// (ratio, period, phase, amplitude, axis).
type PyLine = (f64, f64, f64, f64, &'static str);

fn line(line: Line) -> PyLine {
    let axis = match line.axis {
        Axis::X => "x",
        Axis::Y => "y",
    };
    (line.ratio, line.period_px, line.phase_px, line.amplitude_levels, axis)
}

#[pyfunction]
pub(crate) fn pair_starts(frames: usize, pairs: usize) -> Vec<usize> {
    integrity::pair_starts(frames, pairs)
}
