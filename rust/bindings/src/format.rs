use pyo3::prelude::*;
use screentest_kernels::{Format, Model, Range};

use crate::errors::{input_error, raise};

/// How the planes of every frame of one clip are read.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct FrameFormat {
    pub(crate) inner: Format,
}

fn range_of(
    py: Python<'_>,
    dtype: &str,
    bit_depth: Option<u32>,
    value_range: Option<(f32, f32)>,
    limited: bool,
) -> PyResult<Range> {
    let integer = |bit_depth| {
        if limited {
            Range::Limited { bit_depth, shift: 0 }
        } else {
            Range::Full { bit_depth, shift: 0 }
        }
    };
    let error = |message: &str, code| Err(input_error(py, message, code));
    match (dtype, bit_depth, value_range) {
        ("uint8", None | Some(8), None) => Ok(integer(8)),
        ("uint16", Some(bit_depth), None) => Ok(integer(bit_depth)),
        ("uint16", None, None) => {
            error("uint16 samples: expected bit_depth=, got None", "bit_depth_missing")
        }
        ("float16" | "float32", None, value_range) => {
            let (low, high) = value_range.unwrap_or((0.0, 1.0));
            Ok(Range::Float { low, high })
        }
        ("float16" | "float32", Some(_), _) => {
            error(&format!("{dtype} samples have no bit_depth="), "bad_bit_depth")
        }
        ("uint8", Some(bits), None) => {
            error(&format!("uint8 samples of bit_depth={bits}: expected 8"), "bad_bit_depth")
        }
        ("uint8" | "uint16", _, Some(_)) => {
            error(&format!("{dtype} samples have no value_range="), "bad_value_range")
        }
        _ => error(
            &format!("dtype {dtype}: expected uint8, uint16, float16 or float32"),
            "bad_dtype",
        ),
    }
}

fn build(
    py: Python<'_>,
    width: usize,
    height: usize,
    model: Model,
    range: Range,
) -> PyResult<FrameFormat> {
    let inner = Format::new(width, height, model, range).map_err(|e| raise(py, &e))?;
    Ok(FrameFormat { inner })
}

#[pymethods]
impl FrameFormat {
    #[staticmethod]
    #[pyo3(signature = (*, width, height, dtype, bit_depth=None, value_range=None))]
    fn rgb(
        py: Python<'_>,
        width: usize,
        height: usize,
        dtype: &str,
        bit_depth: Option<u32>,
        value_range: Option<(f32, f32)>,
    ) -> PyResult<Self> {
        let range = range_of(py, dtype, bit_depth, value_range, false)?;
        build(py, width, height, Model::Rgb, range)
    }

    #[staticmethod]
    #[pyo3(signature = (*, width, height, dtype, bit_depth=None, value_range=None, limited=false))]
    fn grey(
        py: Python<'_>,
        width: usize,
        height: usize,
        dtype: &str,
        bit_depth: Option<u32>,
        value_range: Option<(f32, f32)>,
        limited: bool,
    ) -> PyResult<Self> {
        let range = range_of(py, dtype, bit_depth, value_range, limited)?;
        build(py, width, height, Model::Grey, range)
    }

    #[staticmethod]
    #[pyo3(signature = (*, width, height, bit_depth, shift=0, kr, kb, limited, chroma_shift))]
    #[allow(clippy::too_many_arguments)] // Keyword-only in Python: each is one tag of the stream.
    fn yuv(
        py: Python<'_>,
        width: usize,
        height: usize,
        bit_depth: u32,
        shift: u32,
        kr: f64,
        kb: f64,
        limited: bool,
        chroma_shift: (u32, u32),
    ) -> PyResult<Self> {
        let range = if limited {
            Range::Limited { bit_depth, shift }
        } else {
            Range::Full { bit_depth, shift }
        };
        build(py, width, height, Model::Yuv { kr, kb, chroma_shift }, range)
    }

    #[getter]
    fn width(&self) -> usize {
        self.inner.width()
    }

    #[getter]
    fn height(&self) -> usize {
        self.inner.height()
    }

    #[getter]
    fn model(&self) -> &'static str {
        match self.inner.model() {
            Model::Rgb => "rgb",
            Model::Grey => "grey",
            Model::Yuv { .. } => "yuv",
        }
    }

    #[getter]
    fn value_range(&self) -> Option<(f32, f32)> {
        match self.inner.range() {
            Range::Float { low, high } => Some((low, high)),
            _ => None,
        }
    }

    #[getter]
    fn bit_depth(&self) -> Option<u32> {
        match self.inner.range() {
            Range::Full { bit_depth, .. } | Range::Limited { bit_depth, .. } => Some(bit_depth),
            Range::Float { .. } => None,
        }
    }

    #[getter]
    fn shift(&self) -> u32 {
        match self.inner.range() {
            Range::Full { shift, .. } | Range::Limited { shift, .. } => shift,
            Range::Float { .. } => 0,
        }
    }

    #[getter]
    fn limited(&self) -> bool {
        matches!(self.inner.range(), Range::Limited { .. })
    }

    #[getter]
    fn chroma_shift(&self) -> (u32, u32) {
        match self.inner.model() {
            Model::Yuv { chroma_shift, .. } => chroma_shift,
            Model::Rgb | Model::Grey => (0, 0),
        }
    }

    #[getter]
    fn weights(&self) -> Option<(f64, f64)> {
        match self.inner.model() {
            Model::Yuv { kr, kb, .. } => Some((kr, kb)),
            Model::Rgb | Model::Grey => None,
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "FrameFormat({}, {}x{}, {:?})",
            self.model(),
            self.width(),
            self.height(),
            self.inner.range()
        )
    }
}
