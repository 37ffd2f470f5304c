use std::sync::{Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use screentest_kernels::Frame;
use screentest_kernels::pairing::{self, Pairing};

use crate::errors::{input_error, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::simd::level_of;

/// How the frames of two clips go together. `None` once it has finished.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct PairingAccumulator {
    state: Mutex<Option<Pairing>>,
}

#[pymethods]
impl PairingAccumulator {
    #[new]
    #[pyo3(signature = (reference, candidate, *, simd=None))]
    fn new(
        py: Python<'_>,
        reference: &FrameFormat,
        candidate: &FrameFormat,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let (reference, candidate) = (reference.inner.clone(), candidate.inner.clone());
        let state =
            Pairing::new(reference, candidate, level_of(py, simd)?).map_err(|e| raise(py, &e))?;
        Ok(Self { state: Mutex::new(Some(state)) })
    }

    #[pyo3(signature = (reference=None, candidate=None))]
    fn push<'py>(
        &self,
        py: Python<'py>,
        reference: Option<Vec<Bound<'py, PyAny>>>,
        candidate: Option<Vec<Bound<'py, PyAny>>>,
    ) -> PyResult<()> {
        let borrow = |planes: Option<Vec<_>>| planes.map(|p| Planes::borrow(py, &p)).transpose();
        let (reference, candidate) = (borrow(reference)?, borrow(candidate)?);
        let frames = [&reference, &candidate].map(|p| p.as_ref().map(Planes::frame));
        let pushed = py.detach(|| {
            let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let [reference, candidate]: [Option<&Frame<'_>>; 2] =
                frames.each_ref().map(Option::as_ref);
            guard.as_mut().map(|state| state.push(reference, candidate))
        });
        pushed.ok_or_else(|| finished(py))?.map_err(|e| raise(py, &e))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
        let found = state.map(|state| py.detach(|| state.finish())).ok_or_else(|| finished(py))?;
        let facts = PyDict::new(py);
        facts.set_item("frames_reference", found.reference)?;
        facts.set_item("frames_candidate", found.candidate)?;
        facts.set_item("lag", found.lag)?;
        facts.set_item("lag_evidence", found.evidence)?;
        facts.set_item("dropped", found.dropped)?;
        facts.set_item("repeated", found.repeated)?;
        facts.set_item("missing_at_end", found.missing_at_end)?;
        facts.set_item("extra_at_end", found.extra_at_end)?;
        facts.set_item("stretches", found.stretches)?;
        Ok(facts)
    }
}

fn finished(py: Python<'_>) -> PyErr {
    input_error(py, "the pairing has finished: make a new accumulator", "finished")
}

#[pyfunction]
#[pyo3(signature = (format, planes, *, simd=None))]
pub(crate) fn pairing_signature<'py>(
    py: Python<'py>,
    format: &FrameFormat,
    planes: Vec<Bound<'py, PyAny>>,
    simd: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u16>>> {
    let planes = Planes::borrow(py, &planes)?;
    let (frame, level) = (planes.frame(), level_of(py, simd)?);
    let (means, shape) = py
        .detach(|| pairing::signature(level, &format.inner, &frame))
        .map_err(|e| raise(py, &e))?;
    means.into_pyarray(py).reshape([shape.0, shape.1])
}
