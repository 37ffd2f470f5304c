use numpy::{IntoPyArray, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use screentest_kernels::audio::{self, Sums, mean_of_channels};

use crate::errors::{no_threads, raise};
use crate::pool::in_pool;
use crate::simd::level_of;
use crate::sound::{Open, block_of, block_with};

/// The search for the lag between two sounds.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct LagSearch {
    search: Open<audio::LagSearch>,
    threads: usize,
}

#[pymethods]
impl LagSearch {
    #[new]
    #[pyo3(signature = (sample_rate, *, threads=1, simd=None))]
    fn new(py: Python<'_>, sample_rate: u32, threads: usize, simd: Option<&str>) -> PyResult<Self> {
        let search = audio::LagSearch::new(sample_rate, level_of(py, simd)?);
        Ok(Self { search: Open::new(search.map_err(|e| raise(py, &e))?), threads })
    }

    fn push(
        &self,
        py: Python<'_>,
        reference: PyReadonlyArray2<'_, f32>,
        candidate: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<()> {
        let (reference, candidate) = (block_of(py, &reference)?, block_of(py, &candidate)?);
        let threads = self.threads;
        let pushed = self.search.with(py, |search| {
            in_pool(threads, || {
                let mixed = |(samples, channels)| mean_of_channels(samples, channels).collect();
                let (reference, candidate): (Vec<f64>, Vec<f64>) =
                    rayon::join(|| mixed(reference), || mixed(candidate));
                search.push(&reference, &candidate);
            })
        })?;
        pushed.map_err(|e| no_threads(py, threads, &e))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Option<(i64, f64, i64)>> {
        let search = self.search.take(py)?;
        let threads = self.threads;
        let best = py.detach(|| in_pool(threads, || search.finish()));
        let best = best.map_err(|e| no_threads(py, threads, &e))?;
        Ok(best.map(|best| (best.lag, best.correlation, best.bound)))
    }
}

/// The comparison of two sounds, second by second.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct AudioPair {
    pair: Open<audio::AudioPair>,
    channels: [usize; 2],
    threads: usize,
}

#[pymethods]
impl AudioPair {
    #[new]
    #[pyo3(signature = (channels, sample_rate, *, lag=0, by_channel=false, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        channels: (usize, usize),
        sample_rate: u32,
        lag: i64,
        by_channel: bool,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let level = level_of(py, simd)?;
        let channels = channels.into();
        let pair = audio::AudioPair::new(channels, sample_rate, lag, by_channel, level)
            .map_err(|e| raise(py, &e))?;
        Ok(Self { pair: Open::new(pair), channels, threads })
    }

    fn push(
        &self,
        py: Python<'_>,
        reference: Option<PyReadonlyArray2<'_, f32>>,
        candidate: Option<PyReadonlyArray2<'_, f32>>,
    ) -> PyResult<()> {
        let [first, second] = self.channels;
        let reference = reference.as_ref().map(|block| block_with(py, block, first)).transpose()?;
        let candidate =
            candidate.as_ref().map(|block| block_with(py, block, second)).transpose()?;
        let (reference, candidate) = (reference.unwrap_or_default(), candidate.unwrap_or_default());
        let threads = self.threads;
        let pushed =
            self.pair.with(py, |pair| in_pool(threads, || pair.push(reference, candidate)))?;
        pushed.map_err(|e| no_threads(py, threads, &e))?.map_err(|e| raise(py, &e))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let tracks = self.pair.take(py)?;
        let tracks = py.detach(|| tracks.finish());
        let shape = [tracks.len(), tracks.first().map_or(0, Vec::len), 10];
        let numbers: Vec<f64> = tracks.iter().flatten().flat_map(columns).collect();
        numbers.into_pyarray(py).reshape(shape)
    }
}

fn columns(sums: &Sums) -> [f64; 10] {
    [
        sums.samples,
        sums.reference,
        sums.candidate,
        sums.reference_squares,
        sums.candidate_squares,
        sums.products,
        sums.differences,
        sums.frames,
        sums.level_squares,
        sums.mel,
    ]
}
