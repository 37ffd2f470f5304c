//! The arithmetic of screentest on borrowed planes: no Python, no I/O, no thresholds.
//!
//! A [`Frame`] borrows what a decoder or an array holds; a [`Format`] says how to read it. Every
//! statistic is taken from the frame's *luma in fixed point*: one integer per pixel whose full scale
//! is [`Format::full_scale`]. Sums of integers do not depend on their order, so the same input gives
//! the same bits whatever the number of threads and whatever the instruction set.

pub mod audio;
pub mod detail;
mod error;
mod fft;
pub mod fidelity;
mod format;
mod frame;
pub mod integrity;
mod luma;
pub mod pairing;
mod read;
mod scan;
pub mod signal;
pub mod simd;
mod spare;
pub mod tracks;

pub use error::Error;
pub use format::{Format, Model, Range};
pub use frame::{Frame, Pixels};
pub use scan::{Scan, scan_frame};

/// What a kernel returns.
pub type Result<T> = std::result::Result<T, Error>;
