use half::f16;
use numpy::{
    Element, PyArray2, PyArray3, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use screentest_kernels::{Frame, Pixels};

use crate::errors::input_error;

/// Borrowed arrays of one frame; a [`Frame`] of views is made from them.
pub(crate) enum Planes<'py> {
    U8(Typed<'py, u8>),
    U16(Typed<'py, u16>),
    F16(Typed<'py, f16>),
    F32(Typed<'py, f32>),
}

pub(crate) enum Typed<'py, T: Element> {
    Packed(PyReadonlyArray3<'py, T>),
    Planar([PyReadonlyArray2<'py, T>; 3]),
    Grey(PyReadonlyArray2<'py, T>),
}

impl<'py> Planes<'py> {
    /// Borrows one `(H, W, 3)` array, one `(H, W)` array or three `(H, W)` arrays.
    pub(crate) fn borrow(py: Python<'py>, planes: &[Bound<'py, PyAny>]) -> PyResult<Self> {
        let Some(first) = planes.first() else {
            return Err(wrong_count(py, 0));
        };
        let array = first.cast::<PyUntypedArray>().map_err(|_| {
            let kind = first.get_type();
            input_error(py, &format!("a plane is {kind}: expected a numpy array"), "bad_plane")
        })?;
        let dtype = array.dtype();
        if dtype.is_equiv_to(&numpy::dtype::<u8>(py)) {
            Typed::borrow(py, planes).map(Self::U8)
        } else if dtype.is_equiv_to(&numpy::dtype::<u16>(py)) {
            Typed::borrow(py, planes).map(Self::U16)
        } else if dtype.is_equiv_to(&numpy::dtype::<f16>(py)) {
            Typed::borrow(py, planes).map(Self::F16)
        } else if dtype.is_equiv_to(&numpy::dtype::<f32>(py)) {
            Typed::borrow(py, planes).map(Self::F32)
        } else {
            let message = format!(
                "dtype {dtype}: expected uint8, uint16, float16 or float32 in native order"
            );
            Err(input_error(py, &message, "bad_dtype"))
        }
    }

    /// The views that the kernels take.
    pub(crate) fn frame(&self) -> Frame<'_> {
        match self {
            Self::U8(planes) => Frame::U8(planes.pixels()),
            Self::U16(planes) => Frame::U16(planes.pixels()),
            Self::F16(planes) => Frame::F16(planes.pixels()),
            Self::F32(planes) => Frame::F32(planes.pixels()),
        }
    }
}

impl<'py, T: Element> Typed<'py, T> {
    fn borrow(py: Python<'py>, planes: &[Bound<'py, PyAny>]) -> PyResult<Self> {
        match planes {
            [one] => {
                if let Ok(array) = one.cast::<PyArray3<T>>() {
                    return Ok(Self::Packed(aligned(array.as_untyped(), || {
                        array.try_readonly().ok()
                    })?));
                }
                Ok(Self::Grey(plane(one)?))
            }
            [a, b, c] => Ok(Self::Planar([plane(a)?, plane(b)?, plane(c)?])),
            _ => Err(wrong_count(py, planes.len())),
        }
    }

    fn pixels(&self) -> Pixels<'_, T> {
        match self {
            Self::Packed(array) => Pixels::Packed(array.as_array()),
            Self::Planar([a, b, c]) => Pixels::Planar([a.as_array(), b.as_array(), c.as_array()]),
            Self::Grey(array) => Pixels::Grey(array.as_array()),
        }
    }
}

fn plane<'py, T: Element>(plane: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, T>> {
    let array = plane.cast::<PyArray2<T>>().map_err(|_| {
        let message = "planes of one frame: expected (H, W) arrays, or one (H, W, 3), of one dtype";
        input_error(plane.py(), message, "bad_plane")
    })?;
    aligned(array.as_untyped(), || array.try_readonly().ok())
}

/// Refuses an array whose elements do not lie on multiples of their size, then borrows it.
fn aligned<'py, A>(
    array: &Bound<'py, PyUntypedArray>,
    borrow: impl FnOnce() -> Option<A>,
) -> PyResult<A> {
    let py = array.py();
    let size = array.dtype().itemsize().max(1);
    let strides_fit = array.strides().iter().all(|s| s.unsigned_abs() % size == 0);
    let aligned: bool = array.getattr("flags")?.getattr("aligned")?.extract()?;
    if !(strides_fit && aligned) {
        let message = "a plane is not aligned in memory: pass numpy.ascontiguousarray(plane)";
        return Err(input_error(py, message, "unaligned_plane"));
    }
    borrow().ok_or_else(|| {
        input_error(py, "a plane is being written by someone else: pass a copy", "plane_in_use")
    })
}

fn wrong_count(py: Python<'_>, planes: usize) -> PyErr {
    input_error(py, &format!("{planes} planes: expected 1 or 3"), "wrong_planes")
}
