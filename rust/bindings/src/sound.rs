use std::sync::{Mutex, PoisonError};

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::input_error;

/// The samples of a block `(n, C)` and its number of channels.
pub(crate) fn block_of<'a>(
    py: Python<'_>,
    block: &'a PyReadonlyArray2<'_, f32>,
) -> PyResult<(&'a [f32], usize)> {
    let shape = block.as_array().dim();
    match block.as_slice() {
        Ok(samples) if shape.1 > 0 => Ok((samples, shape.1)),
        _ => {
            let message =
                format!("a block of shape {shape:?}: expected C-contiguous (n, channels)");
            Err(input_error(py, &message, "bad_block"))
        }
    }
}

/// The samples of a block `(n, channels)`.
pub(crate) fn block_with<'a>(
    py: Python<'_>,
    block: &'a PyReadonlyArray2<'_, f32>,
    channels: usize,
) -> PyResult<&'a [f32]> {
    let (samples, found) = block_of(py, block)?;
    if found != channels {
        let message = format!("a block of {found} channels: expected {channels}");
        return Err(input_error(py, &message, "bad_block"));
    }
    Ok(samples)
}

/// What is under way until it is finished.
pub(crate) struct Open<T>(Mutex<Option<T>>);

impl<T: Send> Open<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self(Mutex::new(Some(inner)))
    }

    /// Runs `work` on it without the interpreter.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            guard.as_mut().map(work)
        })
        .ok_or_else(|| finished(py))
    }

    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<T> {
        let mut guard = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        guard.take().ok_or_else(|| finished(py))
    }
}

fn finished(py: Python<'_>) -> PyErr {
    input_error(py, "this sound is finished: begin another", "finished")
}
