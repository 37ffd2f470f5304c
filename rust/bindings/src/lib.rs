//! The boundary between Python and the kernels: borrow, check, compute without the GIL, map errors.

mod audio;
mod detail;
mod errors;
mod fidelity;
mod format;
mod frames;
mod integrity;
mod pairing;
mod pool;
mod scan;
mod signal;
mod simd;
mod sound;
mod sound_pair;
mod sound_spectrum;
mod tracks;

use pyo3::prelude::*;

/// The compiled core of screentest; `_native.pyi` documents it.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::audio::{AudioMeter, LoudnessMeter};
    #[pymodule_export]
    use crate::detail::DetailKernel;
    #[pymodule_export]
    use crate::fidelity::{FidelityKernel, rgb8};
    #[pymodule_export]
    use crate::format::FrameFormat;
    #[pymodule_export]
    use crate::integrity::{IntegrityAccumulator, pair_starts};
    #[pymodule_export]
    use crate::pairing::{PairingAccumulator, pairing_signature};
    #[pymodule_export]
    use crate::scan::scan_samples;
    #[pymodule_export]
    use crate::signal::SignalAccumulator;
    #[pymodule_export]
    use crate::sound_pair::{AudioPair, LagSearch};
    #[pymodule_export]
    use crate::sound_spectrum::{OnsetEnvelope, Spectrogram};
    #[pymodule_export]
    use crate::tracks::{
        TrackAccumulator, grey8, track_corners, track_points, window_starts, working_size,
    };

    use pyo3::prelude::*;
    use screentest_kernels::{fidelity, integrity, pairing, simd::Level, tracks};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("BUILD_PROFILE", env!("SCREENTEST_PROFILE"))?;
        module.add("FIDELITY_TAPS", fidelity::TAPS)?;
        module.add("PAIRING_REACH", pairing::REACH)?;
        module.add("TRACK_WINDOWS", tracks::WINDOWS)?;
        module.add("TRACK_WINDOW_LENGTH", tracks::LENGTH)?;
        module.add("TRACK_LEAST_TRACKS", tracks::LEAST_TRACKS)?;
        module.add("INTEGRITY_PAIRS", integrity::PAIRS)?;
        module.add("INTEGRITY_ALIGN_BELOW", integrity::ALIGN_BELOW)?;
        module.add("INTEGRITY_CONFIRM_BELOW", integrity::CONFIRM_BELOW)?;
        module.add("INTEGRITY_GRID_MIN_EXTENT", integrity::MIN_EXTENT)
    }

    /// The dispatch levels that this CPU runs, slowest first.
    #[pyfunction]
    fn simd_levels() -> Vec<&'static str> {
        Level::available().iter().map(|level| level.name()).collect()
    }
}
