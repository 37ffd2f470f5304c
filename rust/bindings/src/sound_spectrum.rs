use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use screentest_kernels::audio::{self, mean_of_channels};

use crate::simd::level_of;
use crate::sound::{Open, block_of};

type Columns<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Spectral flux of the mean of the channels.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct OnsetEnvelope(Open<audio::Onsets>);

#[pymethods]
impl OnsetEnvelope {
    #[new]
    #[pyo3(signature = (sample_rate, *, simd=None))]
    fn new(py: Python<'_>, sample_rate: u32, simd: Option<&str>) -> PyResult<Self> {
        Ok(Self(Open::new(audio::Onsets::new(sample_rate, level_of(py, simd)?))))
    }

    fn push(&self, py: Python<'_>, block: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let (samples, channels) = block_of(py, &block)?;
        self.0.with(py, |onsets| {
            onsets.push(&mean_of_channels(samples, channels).collect::<Vec<f64>>());
        })
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Columns<'py>> {
        let onsets = self.0.take(py)?;
        let (times, flux) = py.detach(|| onsets.finish());
        Ok((times.into_pyarray(py), flux.into_pyarray(py)))
    }
}

/// Mean power spectra of the mean of the channels, column by column.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct Spectrogram(Open<audio::Spectrogram>);

#[pymethods]
impl Spectrogram {
    #[new]
    #[pyo3(signature = (frames_per_column, *, simd=None))]
    fn new(py: Python<'_>, frames_per_column: usize, simd: Option<&str>) -> PyResult<Self> {
        Ok(Self(Open::new(audio::Spectrogram::new(frames_per_column, level_of(py, simd)?))))
    }

    fn push(&self, py: Python<'_>, block: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let (samples, channels) = block_of(py, &block)?;
        self.0.with(py, |columns| {
            columns.push(&mean_of_channels(samples, channels).collect::<Vec<f64>>());
        })
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = self.0.take(py)?;
        let powers = py.detach(|| columns.finish());
        let bins = audio::Spectrogram::BINS;
        let count = powers.len() / bins;
        powers.into_pyarray(py).reshape([count, bins])
    }
}
