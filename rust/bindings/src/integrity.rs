use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use screentest_kernels::integrity::{self, Ask, Axis, Integrity, Line, Still};
use screentest_kernels::simd::Level;

use crate::errors::{input_error, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;

/// Facts of the frames pushed so far.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct IntegrityAccumulator {
    state: Mutex<Integrity>,
    threads: usize,
}

impl IntegrityAccumulator {
    fn state(&self) -> MutexGuard<'_, Integrity> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let level = match simd {
            None => Level::best(),
            Some(name) => Level::from_name(name).ok_or_else(|| {
                let known: Vec<_> = Level::available().iter().map(|l| l.name()).collect();
                let message = format!("simd level {name:?}: this CPU has {}", known.join(", "));
                input_error(py, &message, "bad_simd_level")
            })?,
        };
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
        let current = Planes::borrow(&planes)?;
        let previous = previous.map(|p| Planes::borrow(&p)).transpose()?;
        let (frame, before) = (current.frame(), previous.as_ref().map(Planes::frame));
        let ask = Ask { grid, align, change };
        let work = || self.state().push(index, &frame, before.as_ref(), ask);
        let parallel = grid || matches!(current, Planes::F16(_) | Planes::F32(_) | Planes::U16(_));
        let scan = py.detach(|| if parallel { in_pool(self.threads, work) } else { work() });
        let scan = scan.map_err(|e| raise(py, &e))?;
        Ok((scan.non_finite, scan.out_of_range))
    }

    fn forget_grid(&self, index: usize) {
        self.state().forget_grid(index);
    }

    fn grid(&self, py: Python<'_>, frames: Vec<usize>) -> PyResult<Option<(PyLine, PyLine)>> {
        let work = || self.state().grid(&frames);
        let grid = py.detach(|| in_pool(self.threads, work)).map_err(|e| raise(py, &e))?;
        Ok(grid.map(|g| (line(g.peak), line(g.repeated))))
    }

    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state();
        let stills = state.stills();
        let column = |pick: fn(&Still) -> f64| -> Vec<f64> { stills.iter().map(pick).collect() };
        let series = PyDict::new(py);
        let index: Vec<i64> = stills.iter().map(|s| s.index as i64).collect();
        series.set_item("index", index.into_pyarray(py))?;
        series.set_item("luma_mean", column(|s| s.luma_mean).into_pyarray(py))?;
        series.set_item("luma_std", column(|s| s.luma_std).into_pyarray(py))?;
        series.set_item("luma_min", column(|s| s.luma_min).into_pyarray(py))?;
        series.set_item("luma_max", column(|s| s.luma_max).into_pyarray(py))?;
        series.set_item("red", column(|s| s.rgb[0]).into_pyarray(py))?;
        series.set_item("green", column(|s| s.rgb[1]).into_pyarray(py))?;
        series.set_item("blue", column(|s| s.rgb[2]).into_pyarray(py))?;
        let steps = state.steps();
        // NaN stands for "not measured" in these three arrays; it leaves the library as null.
        let corr: Vec<f64> = steps.iter().map(|s| s.map_or(f64::NAN, |s| s.corr)).collect();
        let aligned: Vec<f64> =
            steps.iter().map(|s| s.and_then(|s| s.corr_aligned).unwrap_or(f64::NAN)).collect();
        let change: Vec<f64> =
            steps.iter().map(|s| s.and_then(|s| s.change).unwrap_or(f64::NAN)).collect();
        series.set_item("corr", corr.into_pyarray(py))?;
        series.set_item("corr_aligned", aligned.into_pyarray(py))?;
        series.set_item("change", change.into_pyarray(py))?;
        Ok(series)
    }

    #[getter]
    fn frames(&self) -> usize {
        self.state().stills().len()
    }

    #[getter]
    fn non_finite_samples(&self) -> u64 {
        self.state().scan().non_finite
    }

    #[getter]
    fn out_of_range_samples(&self) -> u64 {
        self.state().scan().out_of_range
    }

    #[getter]
    fn value_extremes(&self) -> Option<(f64, f64)> {
        self.state().scan().extremes
    }

    #[getter]
    fn first_non_finite(&self) -> Option<(usize, usize, usize)> {
        self.state().first_non_finite()
    }

    #[getter]
    fn non_finite_runs(&self) -> Vec<(usize, usize)> {
        self.state().non_finite_runs().to_vec()
    }
}

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
