use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use screentest_kernels::tracks::{self, Point, TrackShape, Tracks, Window};
use screentest_kernels::{Error, Frame};

use crate::errors::{input_error, no_threads, raise};
use crate::format::FrameFormat;
use crate::frames::Planes;
use crate::pool::in_pool;
use crate::simd::level_of;

/// Corners of a clip's windows, followed from frame to frame.
#[pyclass(frozen, module = "screentest._native")]
pub(crate) struct TrackAccumulator {
    state: Mutex<Tracks>,
    threads: usize,
}

impl TrackAccumulator {
    /// Works on the state without the GIL. The lock is taken before the pool is entered, as its
    /// workers must never wait for it.
    fn work<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Tracks) -> screentest_kernels::Result<R> + Send,
    ) -> PyResult<R> {
        let result = py.detach(|| {
            let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let state = &mut *guard;
            if self.threads > 1 { in_pool(self.threads, || work(state)) } else { Ok(work(state)) }
        });
        result.map_err(|e| no_threads(py, self.threads, &e))?.map_err(|e| raise(py, &e))
    }
}

#[pymethods]
impl TrackAccumulator {
    #[new]
    #[pyo3(signature = (format, *, frames, windows=tracks::WINDOWS, threads=1, simd=None))]
    fn new(
        py: Python<'_>,
        format: &FrameFormat,
        frames: usize,
        windows: usize,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let state = Tracks::new(&format.inner, frames, windows, level_of(py, simd)?)
            .map_err(|e| raise(py, &e))?
            .parallel(threads > 1);
        Ok(Self { state: Mutex::new(state), threads })
    }

    fn push_many<'py>(
        &self,
        py: Python<'py>,
        batch: Vec<(usize, Vec<Bound<'py, PyAny>>)>,
    ) -> PyResult<()> {
        let borrowed: Vec<Planes<'_>> =
            batch.iter().map(|(_, p)| Planes::borrow(py, p)).collect::<PyResult<_>>()?;
        let frames: Vec<Frame<'_>> = borrowed.iter().map(Planes::frame).collect();
        let items: Vec<_> = batch.iter().zip(&frames).map(|((i, _), frame)| (*i, frame)).collect();
        self.work(py, |state| state.push_many(&items))
    }

    #[getter]
    fn value_extremes(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        self.work(py, |state| Ok(state.scan().extremes))
    }

    #[pyo3(signature = (*, trajectories=false))]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        trajectories: bool,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let windows = self.work(py, |state| Ok(state.finish()))?;
        windows.iter().map(|window| facts_of(py, window, trajectories)).collect()
    }
}

/// A window's facts by name; `None` for a shape that it does not have.
fn facts_of<'py>(
    py: Python<'py>,
    window: &Window,
    trajectories: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("start", window.start)?;
    facts.set_item("frames", window.frames)?;
    facts.set_item("complete", window.complete)?;
    facts.set_item("seeded", window.seeded)?;
    facts.set_item("alive", window.alive)?;
    facts.set_item("left", window.left.iter().filter(|&&left| left).count())?;
    facts.set_item("brightness", &window.brightness)?;
    let shape = window.shape.as_ref();
    facts.set_item("coherent", shape.map(|s| s.coherent))?;
    facts.set_item("jitter", shape.map(|s| s.jitter))?;
    facts.set_item("rigidity_error", shape.map(|s| s.rigidity))?;
    facts.set_item("motion", shape.map(|s| s.motion))?;
    if trajectories {
        let (positions, alive_frames) = positions_of(window);
        let shape = [window.frames, window.seeded, 2];
        facts.set_item("positions", PyArray1::from_vec(py, positions).reshape(shape)?)?;
        facts.set_item("alive_frames", PyArray1::from_vec(py, alive_frames))?;
        facts.set_item("left_picture", PyArray1::from_vec(py, window.left.clone()))?;
        for (name, values) in track_columns(window) {
            facts.set_item(name, PyArray1::from_vec(py, values))?;
        }
    }
    Ok(facts)
}

/// Positions by frame, track and axis, NaN where the track is lost; and how many frames each lived.
fn positions_of(window: &Window) -> (Vec<f32>, Vec<i32>) {
    let at = |frame: usize, track: &Vec<Point>| track.get(frame).copied().unwrap_or([f32::NAN; 2]);
    let positions = (0..window.frames)
        .flat_map(|frame| window.tracks.iter().flat_map(move |track| at(frame, track)))
        .collect();
    (positions, window.tracks.iter().map(|track| track.len() as i32).collect())
}

/// The shape of each track by name; NaN for one that did not survive.
fn track_columns(window: &Window) -> [(&'static str, Vec<f64>); 3] {
    let pick = |pick: fn(&TrackShape) -> f64| -> Vec<f64> {
        let mut shapes = window.shape.iter().flat_map(|s| &s.tracks);
        let lives = |track: &Vec<Point>| window.shape.is_some() && track.len() == window.frames;
        let value = |alive| if alive { shapes.next().map(pick) } else { None };
        window.tracks.iter().map(lives).map(value).map(|v| v.unwrap_or(f64::NAN)).collect()
    };
    [
        ("coherence", pick(|t| t.coherence)),
        ("track_jitter", pick(|t| t.jitter)),
        ("track_rigidity", pick(|t| t.rigidity)),
    ]
}

#[pyfunction]
pub(crate) fn window_starts(frames: usize, windows: usize, length: usize) -> Vec<usize> {
    tracks::window_starts(frames, windows, length)
}

#[pyfunction]
pub(crate) fn working_size(width: usize, height: usize) -> (usize, usize) {
    tracks::working_size(width, height)
}

#[pyfunction]
#[pyo3(signature = (format, planes, *, simd=None))]
pub(crate) fn grey8<'py>(
    py: Python<'py>,
    format: &FrameFormat,
    planes: Vec<Bound<'py, PyAny>>,
    simd: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let level = level_of(py, simd)?;
    let planes = Planes::borrow(py, &planes)?;
    let frame = planes.frame();
    let grey = py.detach(|| tracks::grey8(&frame, &format.inner, level));
    let grey = grey.map_err(|e| raise(py, &e))?;
    let (width, height) = tracks::working_size(format.inner.width(), format.inner.height());
    PyArray1::from_vec(py, grey).reshape([height, width])
}

#[pyfunction]
#[pyo3(signature = (grey, *, simd=None))]
pub(crate) fn track_corners<'py>(
    py: Python<'py>,
    grey: PyReadonlyArray2<'py, u8>,
    simd: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let level = level_of(py, simd)?;
    let (grey, width, height) = levels(&grey);
    let corners = py.detach(|| tracks::corners_of(&grey, width, height, level));
    points(py, &corners.map_err(|e| raise(py, &e))?)
}

#[pyfunction]
#[pyo3(signature = (before, after, points, *, simd=None))]
pub(crate) fn track_points<'py>(
    py: Python<'py>,
    before: PyReadonlyArray2<'py, u8>,
    after: PyReadonlyArray2<'py, u8>,
    points: PyReadonlyArray2<'py, f32>,
    simd: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let level = level_of(py, simd)?;
    let points = points.as_array();
    if points.ncols() != 2 {
        return Err(input_error(py, "points: expected an (N, 2) array of x and y", "bad_points"));
    }
    let wanted: Vec<Point> = points.outer_iter().map(|p| [p[0], p[1]]).collect();
    let (before, width, height) = levels(&before);
    let (after, other_width, other_height) = levels(&after);
    let sizes = ((width, height), (other_width, other_height));
    let found = py.detach(|| {
        if sizes.0 != sizes.1 {
            return Err(Error::SizeMismatch { reference: sizes.0, candidate: sizes.1 });
        }
        tracks::find_points([&before, &after], sizes.0, &wanted, level)
    });
    let found = found.map_err(|e| raise(py, &e))?;
    self::points(py, &found.into_iter().map(|p| p.unwrap_or([f32::NAN; 2])).collect::<Vec<_>>())
}

fn levels(grey: &PyReadonlyArray2<'_, u8>) -> (Vec<u8>, usize, usize) {
    let grey = grey.as_array();
    (grey.iter().copied().collect(), grey.ncols(), grey.nrows())
}

fn points<'py>(py: Python<'py>, points: &[Point]) -> PyResult<Bound<'py, PyArray2<f32>>> {
    PyArray1::from_vec(py, points.concat()).reshape([points.len(), 2])
}
