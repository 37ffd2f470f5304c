use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use screentest_kernels::audio::{
    self, AudioFound, AudioMeter as Meter, LoudnessFound, Weight, magnitude_db, power_db,
};

use crate::errors::{input_error, no_threads, raise};
use crate::pool::in_pool;
use crate::simd::level_of;
use crate::sound::{Open, block_with};

/// Levels, loudness, true peak, silence and flatness of one sound.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct AudioMeter {
    state: Open<Meter>,
    channels: usize,
    sample_rate: u32,
    threads: usize,
}

#[pymethods]
impl AudioMeter {
    #[new]
    #[pyo3(signature = (channels, sample_rate, *, weights=None, front=None, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        channels: usize,
        sample_rate: u32,
        weights: Option<Vec<String>>,
        front: Option<(usize, usize)>,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let level = level_of(py, simd)?;
        let weigh = |names: Vec<String>| names.iter().map(|name| weight_of(py, name)).collect();
        let weights: Option<Vec<Weight>> = weights.map(weigh).transpose()?;
        let meter = Meter::new(channels, sample_rate, weights.as_deref(), front, level)
            .map_err(|e| raise(py, &e))?
            .parallel(threads > 1);
        Ok(Self { state: Open::new(meter), channels, sample_rate, threads })
    }

    fn push(&self, py: Python<'_>, block: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let samples = block_with(py, &block, self.channels)?;
        let threads = self.threads;
        let result = self.state.with(py, |meter| {
            if threads > 1 {
                in_pool(threads, || meter.push(samples))
            } else {
                Ok(meter.push(samples))
            }
        })?;
        result.map_err(|e| no_threads(py, threads, &e))?.map_err(|e| raise(py, &e))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let meter = self.state.take(py)?;
        let found = py.detach(|| meter.finish()).map_err(|e| raise(py, &e))?;
        facts_of(py, found, self.sample_rate)
    }
}

/// Integrated loudness alone.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct LoudnessMeter {
    state: Open<audio::Loudness>,
    channels: usize,
}

#[pymethods]
impl LoudnessMeter {
    #[new]
    fn new(py: Python<'_>, sample_rate: u32, weights: Vec<String>) -> PyResult<Self> {
        let weights =
            weights.iter().map(|name| weight_of(py, name)).collect::<PyResult<Vec<_>>>()?;
        let meter = audio::Loudness::new(sample_rate, &weights).map_err(|e| raise(py, &e))?;
        Ok(Self { state: Open::new(meter), channels: weights.len() })
    }

    fn push(&self, py: Python<'_>, block: PyReadonlyArray2<'_, f32>) -> PyResult<()> {
        let samples = block_with(py, &block, self.channels)?;
        self.state.with(py, |meter| meter.push(samples))?.map_err(|e| raise(py, &e))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.state.take(py)?.finish(0).integrated)
    }
}

fn weight_of(py: Python<'_>, name: &str) -> PyResult<Weight> {
    match name {
        "one" => Ok(Weight::One),
        "surround" => Ok(Weight::Surround),
        "zero" => Ok(Weight::Zero),
        _ => {
            let message = format!("weight {name:?}: expected one, surround or zero");
            Err(input_error(py, &message, "bad_weight"))
        }
    }
}

fn facts_of(py: Python<'_>, found: AudioFound, sample_rate: u32) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("samples", found.frames)?;
    facts.set_item("non_finite", found.non_finite)?;
    facts.set_item("first_non_finite", found.first_non_finite)?;
    facts.set_item("rms_dbfs", power_db(found.power()))?;
    let channels = found.channels.iter().zip(&found.true_peaks).map(|(channel, (peak, at))| {
        let facts = PyDict::new(py);
        facts.set_item("rms_dbfs", power_db(channel.power))?;
        facts.set_item("peak_dbfs", magnitude_db(channel.peak))?;
        facts.set_item("true_peak_dbtp", magnitude_db(*peak))?;
        facts.set_item("true_peak_at", at)?;
        facts.set_item("dc_offset", channel.mean)?;
        facts.set_item("clipped", channel.clipped)?;
        Ok(facts)
    });
    facts.set_item("channels", channels.collect::<PyResult<Vec<_>>>()?)?;
    facts.set_item("first_clip", found.first_clip)?;
    let stereo = found.stereo.map(|s| (power_db(s.power), power_db(s.side), s.correlation));
    facts.set_item("stereo", stereo)?;
    let silence = &found.silence;
    facts.set_item("silence_blocks", silence.blocks)?;
    facts.set_item("silent_blocks", silence.silent)?;
    facts.set_item("longest_silence", silence.longest)?;
    facts.set_item("longest_silence_from", silence.longest_from)?;
    let edge = silence.longest_edge.map(|(before, last)| (power_db(before), power_db(last)));
    facts.set_item("silence_edge_dbfs", edge)?;
    facts.set_item("block_samples", audio::silence_frames(sample_rate))?;
    facts.set_item("spectral_flatness", found.spectral_flatness)?;
    facts.set_item("oversampling", audio::oversampling(sample_rate))?;
    facts.set_item("loudness", found.loudness.map(|l| loudness_of(py, l)).transpose()?)?;
    facts.set_item("tenth_samples", found.tenth)?;
    let (powers, peaks): (Vec<f64>, Vec<f64>) =
        found.tenths.iter().map(|&(power, peak)| (power_db(power), magnitude_db(peak))).unzip();
    facts.set_item("tenth_rms_dbfs", powers.into_pyarray(py))?;
    facts.set_item("tenth_peak_dbfs", peaks.into_pyarray(py))?;
    Ok(facts)
}

fn loudness_of(py: Python<'_>, found: LoudnessFound) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("integrated", found.integrated)?;
    facts.set_item("ungated", found.ungated)?;
    facts.set_item("blocks", found.blocks)?;
    facts.set_item("momentary_max", found.momentary_max)?;
    facts.set_item("short_term_max", found.short_term_max)?;
    facts.set_item("range", found.range)?;
    facts.set_item("momentary", found.momentary.into_pyarray(py))?;
    facts.set_item("short_term", found.short_term.into_pyarray(py))?;
    Ok(facts)
}
