use std::fmt;

/// Why a kernel refused its input. Every variant carries the numbers that were wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A format with no pixels, or with more than the kernels index.
    BadGeometry {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// A bit depth outside 1 to 16 (8 to 16 for limited range and for Y, Cb, Cr), or a shift that
    /// leaves the container.
    BadDepth {
        /// Significant bits.
        bit_depth: u32,
        /// Right shift that brings a container's value to `bit_depth` bits.
        shift: u32,
    },
    /// A value range that is not two increasing numbers a finite distance apart.
    BadRange {
        /// The value of black.
        low: f64,
        /// The value of white.
        high: f64,
    },
    /// Luma weights that are not positive numbers with a sum of at most 0.9.
    BadMatrix {
        /// Weight of red in luma.
        kr: f64,
        /// Weight of blue in luma.
        kb: f64,
    },
    /// Chroma subsampling that no format uses.
    BadChroma {
        /// Base-two logarithm of the horizontal step.
        horizontal: u32,
        /// Base-two logarithm of the vertical step.
        vertical: u32,
    },
    /// Planes of another number or element type than the format says.
    WrongPlanes {
        /// What the format wants.
        expected: &'static str,
        /// What was given.
        given: &'static str,
    },
    /// A plane of another size than the format says.
    PlaneSize {
        /// Index of the plane.
        plane: usize,
        /// Expected (rows, columns).
        expected: (usize, usize),
        /// Given (rows, columns).
        given: (usize, usize),
    },
    /// Two frames of different size were compared.
    SizeMismatch {
        /// Width and height of the reference.
        reference: (usize, usize),
        /// Width and height of the candidate.
        candidate: (usize, usize),
    },
    /// Native planes were asked for of formats that do not share depth, chroma size and integers.
    NoCommonPlanes,
    /// A frame smaller than the window that slides over it.
    TooSmall {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// Least pixels on each side.
        least: usize,
    },
    /// A clip shorter than what is measured of it.
    TooFewFrames {
        /// Frames that it takes.
        needed: usize,
        /// Frames of the clip.
        given: usize,
    },
    /// A frame was asked to be the previous frame of one that is not its successor.
    NotAdjacent {
        /// Index of the last frame seen, if there was one.
        last: Option<usize>,
        /// Index of the frame given.
        given: usize,
    },
    /// A frame of a clip that was taken to have ended.
    OutOfStep {
        /// Frames pushed of the reference.
        reference: usize,
        /// Frames pushed of the candidate.
        candidate: usize,
        /// How many frames one clip may be ahead of the other.
        most: usize,
    },
    /// A NaN or an infinity in a frame of a family that has no meaning for it.
    NonFinite {
        /// Index of the frame.
        frame: usize,
        /// Row of the sample.
        row: usize,
        /// Column of the sample.
        column: usize,
    },
    /// A sample outside the format's range, in a frame of a family that has no meaning for it.
    OutOfRange {
        /// Index of the frame.
        frame: usize,
        /// Its smallest sample.
        low: f64,
        /// Its largest sample.
        high: f64,
    },
    /// The grid profiles of a frame that did not ask for them.
    NoProfile {
        /// Index of the frame.
        frame: usize,
    },
    /// A sound with no channel or too many, at a rate that no meter takes, or whose channels are
    /// given another number of weights.
    BadSound {
        /// Channels.
        channels: usize,
        /// Samples per second.
        rate: u32,
    },
    /// A block that does not hold whole frames.
    BadBlock {
        /// Samples of the block.
        samples: usize,
        /// Samples of a frame.
        channels: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadGeometry { width, height } => {
                write!(f, "a frame of {width}x{height} pixels: expected 1 to 65536 on each side")
            }
            Self::BadDepth { bit_depth, shift } => write!(
                f,
                "bit_depth {bit_depth} with shift {shift}: expected 1 to 16 bits that fit a 16-bit sample, at least 8 for limited range and for YUV"
            ),
            Self::BadRange { low, high } => write!(
                f,
                "value_range ({low}, {high}): expected two finite numbers of finite distance, the first below the second"
            ),
            Self::BadMatrix { kr, kb } => write!(
                f,
                "luma weights kr {kr}, kb {kb}: expected positive numbers whose sum is at most 0.9"
            ),
            Self::BadChroma { horizontal, vertical } => write!(
                f,
                "chroma shift ({horizontal}, {vertical}): expected 0 to 2 in each direction"
            ),
            Self::WrongPlanes { expected, given } => {
                write!(f, "planes are {given}: expected {expected}")
            }
            Self::PlaneSize { plane, expected, given } => write!(
                f,
                "plane {plane} has {} rows of {} samples: expected {} rows of {}",
                given.0, given.1, expected.0, expected.1
            ),
            Self::SizeMismatch { reference: (rw, rh), candidate: (cw, ch) } => write!(
                f,
                "the reference is {rw}x{rh}, the candidate {cw}x{ch}: expected one size; nothing is resized"
            ),
            Self::NoCommonPlanes => write!(
                f,
                "native planes were asked for: expected two YUV or two grey formats of integers with one bit depth and one chroma size"
            ),
            Self::TooSmall { width, height, least } => {
                write!(f, "a frame of {width}x{height}: expected at least {least} on each side")
            }
            Self::TooFewFrames { needed, given } => {
                write!(f, "a clip of {given} frames: expected at least {needed}")
            }
            Self::NotAdjacent { last: Some(last), given } => write!(
                f,
                "frame {given} cannot be paired with the last frame seen, {last}: expected frame {}",
                last.saturating_add(1)
            ),
            Self::NotAdjacent { last: None, given } => {
                write!(
                    f,
                    "frame {given} cannot be paired with the frame before it: none was pushed"
                )
            }
            Self::OutOfStep { reference, candidate, most } => write!(
                f,
                "one more frame after {reference} of the reference and {candidate} of the candidate: push the two clips side by side, neither more than {most} frames ahead"
            ),
            Self::NonFinite { frame, row, column } => write!(
                f,
                "frame {frame} holds a NaN or an infinity at row {row}, column {column}: expected finite samples"
            ),
            Self::OutOfRange { frame, low, high } => write!(
                f,
                "frame {frame} holds values from {low} to {high}: expected none outside the format's range"
            ),
            Self::NoProfile { frame } => {
                write!(f, "frame {frame} has no grid profile: push it with grid=True first")
            }
            Self::BadSound { channels, rate } => write!(
                f,
                "a sound of {channels} channels at {rate} Hz: expected 1 to 64 channels, a weight for each, at 16 to 2822400 Hz"
            ),
            Self::BadBlock { samples, channels } => write!(
                f,
                "a block of {samples} samples: expected a multiple of the {channels} channels"
            ),
        }
    }
}

impl std::error::Error for Error {}
