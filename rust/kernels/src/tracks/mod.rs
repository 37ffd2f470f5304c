//! Do things move as things do: corners followed through windows of frames.
//!
//! A [`Tracks`] accumulator is fed the frames of its windows in display order. It keeps the pyramids
//! of a few frames and the positions of the corners, never a frame.

mod area;
mod corners;
mod grey;
mod lanes;
mod lucas_kanade;
mod patch;
mod pyramid;
mod sampling;
mod shape;

use rayon::prelude::*;

pub use lucas_kanade::Point;
pub use sampling::{HEIGHT, window_starts, working_size};
pub use shape::{Shape, TrackShape};

use crate::scan::{Scan, scan};
use crate::simd::Level;
use crate::{Error, Format, Frame, Result};
use grey::{Plan, Room};
use lanes::{Job, Lanes, dispatch};
use lucas_kanade::{Scratch, Templates, Track};
use pyramid::Pyramid;

/// Windows of a clip.
pub const WINDOWS: usize = 4;
/// Frames of a window.
pub const LENGTH: usize = 24;
/// A window with fewer corners is not tracked; one with fewer survivors has no shape.
pub const LEAST_TRACKS: usize = 8;
/// Frames that a clip needs: a track's unsteadiness is a second difference.
pub const LEAST_FRAMES: usize = 3;

/// Frames that are gathered before they are tracked through. The template of a point is taken once
/// for the steps to both of its neighbours, but for the first and last of them.
const GATHERED: usize = 8;
/// Tracks of one parallel task.
const CHUNK: usize = 16;
/// Height of the stripes that tracks are worked in, in pixels.
const STRIPE: usize = 48;

/// What one window of frames shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Display index of its first frame.
    pub start: usize,
    /// How many frames it has.
    pub frames: usize,
    /// Whether all of them came.
    pub complete: bool,
    /// Corners of its first frame; of a window with too few to be tracked as well.
    pub seeded: usize,
    /// Tracks that live in its last frame.
    pub alive: usize,
    /// How steadily they move; `None` for fewer than [`LEAST_TRACKS`].
    pub shape: Option<Shape>,
    /// Mean grey level of each frame, 0 to 255.
    pub brightness: Vec<f64>,
    /// Each track's positions, for as many frames as it lived.
    pub tracks: Vec<Vec<Point>>,
    /// Of each track, whether it was lost at the picture's edge, where things leave.
    pub left: Vec<bool>,
}

/// A frame that was taken in.
#[derive(Default)]
struct Held {
    index: usize,
    pyramid: Pyramid,
    grey: Vec<u8>,
    room: Room,
    brightness: f64,
    corners: Option<Vec<Point>>,
}

struct Open {
    start: usize,
    frames: usize,
    /// Last frame that it was tracked to.
    at: Option<usize>,
    tracks: Vec<Track>,
    brightness: Vec<f64>,
}

impl Open {
    fn last(&self) -> usize {
        self.start + self.frames - 1
    }

    fn is_complete(&self) -> bool {
        self.at == Some(self.last())
    }

    fn finish(&mut self, size: (usize, usize)) -> Window {
        self.tracks.sort_unstable_by_key(|track| track.rank);
        let complete = self.is_complete();
        let tracked = complete && self.tracks.len() >= LEAST_TRACKS;
        let alive: Vec<&[Point]> =
            self.tracks.iter().filter(|t| t.alive && tracked).map(|t| &t.points[..]).collect();
        Window {
            start: self.start,
            frames: self.frames,
            complete,
            seeded: self.tracks.len(),
            alive: alive.len(),
            shape: (alive.len() >= LEAST_TRACKS).then(|| shape::shape(&alive)),
            brightness: self.brightness.clone(),
            tracks: self.tracks.iter().map(|t| t.points.clone()).collect(),
            left: self.tracks.iter().map(|t| t.has_left(size)).collect(),
        }
    }
}

/// Tracks of the frames pushed so far.
pub struct Tracks {
    plan: Plan,
    format: Format,
    level: Level,
    parallel: bool,
    windows: Vec<Open>,
    held: Vec<Held>,
    spare: Vec<Held>,
    last: Option<usize>,
    scan: Scan,
}

impl Tracks {
    /// An accumulator for a clip of `frames` frames, followed in up to `windows` windows.
    ///
    /// # Errors
    /// A clip of fewer than [`LEAST_FRAMES`] frames.
    pub fn new(format: &Format, frames: usize, windows: usize, level: Level) -> Result<Self> {
        if frames < LEAST_FRAMES {
            return Err(Error::TooFewFrames { needed: LEAST_FRAMES, given: frames });
        }
        let span = LENGTH.min(frames);
        let open = |start| Open {
            start,
            frames: span,
            at: None,
            tracks: Vec::new(),
            brightness: Vec::new(),
        };
        Ok(Self {
            plan: Plan::new(format),
            format: format.clone(),
            level,
            parallel: false,
            windows: window_starts(frames, windows, LENGTH).into_iter().map(open).collect(),
            held: Vec::new(),
            spare: Vec::new(),
            last: None,
            scan: Scan::default(),
        })
    }

    /// Works on the rayon pool that the caller is in.
    #[must_use]
    pub fn parallel(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// (width, height) of the pictures that are tracked in.
    pub fn working_size(&self) -> (usize, usize) {
        self.plan.size()
    }

    /// Takes frames in display order; those outside all windows are passed over. How the frames are
    /// cut into calls changes no bit of the result.
    ///
    /// # Errors
    /// A frame that does not fit the format, does not come after the last one, or holds a sample that
    /// is no number or out of range; nothing is kept of any of the frames.
    pub fn push_many(&mut self, items: &[(usize, &Frame<'_>)]) -> Result<()> {
        let mut last = self.last;
        for &(index, frame) in items {
            frame.check(&self.format)?;
            if last.is_some_and(|last| index <= last) {
                return Err(Error::NotAdjacent { last, given: index });
            }
            last = Some(index);
        }
        let mut scanned = self.scan;
        for &(frame, pixels) in items {
            let found = scan(self.level, &self.format, pixels, self.parallel);
            if let Some((row, column)) = found.first_non_finite {
                return Err(Error::NonFinite { frame, row, column });
            }
            if found.out_of_range > 0 {
                let (low, high) = found.extremes.unwrap_or_default();
                return Err(Error::OutOfRange { frame, low, high });
            }
            scanned = scanned.merge(found);
        }
        self.scan = scanned;
        let mut rest = items;
        while !rest.is_empty() {
            let room = GATHERED + 1 - self.held.len();
            let (now, later) = rest.split_at(rest.len().min(room));
            self.gather(now);
            rest = later;
        }
        self.last = last;
        Ok(())
    }

    /// The extremes over all frames taken.
    pub fn scan(&self) -> Scan {
        self.scan
    }

    /// Takes in a few frames, side by side, and tracks through them when enough have come.
    fn gather(&mut self, items: &[(usize, &Frame<'_>)]) {
        let mut fresh: Vec<Held> = Vec::with_capacity(items.len());
        fresh.resize_with(items.len(), || self.spare.pop().unwrap_or_default());
        let this = &*self;
        let look = |(held, &(index, frame)): (&mut Held, &(usize, &Frame<'_>))| {
            held.index = index;
            if this.windows.iter().any(|w| (w.start..=w.last()).contains(&index)) {
                this.take(held, frame);
            }
        };
        if self.parallel && items.len() > 1 {
            fresh.par_iter_mut().zip(items).for_each(look);
        } else {
            fresh.iter_mut().zip(items).for_each(look);
        }
        for held in fresh {
            if self.held.last().is_some_and(|last| last.index + 1 != held.index) {
                self.track();
                self.spare.append(&mut self.held);
            }
            if self.windows.iter().any(|w| (w.start..=w.last()).contains(&held.index)) {
                self.held.push(held);
            } else {
                self.spare.push(held);
            }
        }
        if self.held.len() > GATHERED {
            self.track();
        }
    }

    /// Grey, pyramid and, where a window starts, corners of a frame.
    fn take(&self, held: &mut Held, frame: &Frame<'_>) {
        let (width, height) = self.plan.size();
        self.plan.grey(self.level, frame, &mut held.room, &mut held.grey);
        let sum: u64 = held.grey.chunks(1 << 16).map(|c| u64::from(sum_of(self.level, c))).sum();
        held.brightness = sum as f64 / (width * height) as f64;
        held.pyramid.build(self.level, &held.grey, width, height);
        let starts = self.windows.iter().any(|w| w.start == held.index);
        let finest = held.pyramid.planes().first().filter(|_| starts);
        held.corners = finest.map(|plane| corners::corners(self.level, plane));
    }

    /// Tracks through the frames held, of which the last stays for the next steps.
    fn track(&mut self) {
        let Self { held, windows, level, parallel, .. } = self;
        let (Some(first), Some(last)) = (held.first(), held.last()) else { return };
        let (first, last) = (first.index, last.index);
        let pyramids: Vec<&Pyramid> = held.iter().map(|h| &h.pyramid).collect();
        let mut tasks: Vec<(&[&Pyramid], &mut [Track])> = Vec::new();
        for window in windows.iter_mut() {
            let end = window.last().min(last);
            let begin = match window.at {
                None if (first..=last).contains(&window.start) => {
                    let corners = held[window.start - first].corners.iter().flatten();
                    let track = |(rank, &p)| Track { rank, points: vec![p], alive: true };
                    window.tracks.extend(corners.enumerate().map(track));
                    // Neighbours read the same pixels: one after the other they find them near.
                    window.tracks.sort_unstable_by_key(|track| {
                        let [x, y] = track.points[0].map(|v| v as usize);
                        (y / STRIPE, x, y)
                    });
                    window.brightness.push(held[window.start - first].brightness);
                    window.start
                }
                Some(at) if at == first && end > first => first,
                _ => continue,
            };
            window.at = Some(end);
            let inside = begin - first..end - first + 1;
            window.brightness.extend(held[inside.clone()].iter().skip(1).map(|h| h.brightness));
            if window.tracks.len() >= LEAST_TRACKS {
                let chunks = window.tracks.chunks_mut(CHUNK);
                tasks.extend(chunks.map(|tracks| (&pyramids[inside.clone()], tracks)));
            }
        }
        let follow = |room: &mut Box<Scratch>, (pyramids, tracks): (&[&Pyramid], &mut [Track])| {
            dispatch(*level, Follow { pyramids, tracks, room });
        };
        if *parallel {
            tasks.into_par_iter().for_each_init(Box::default, follow);
        } else {
            let mut room = Box::default();
            tasks.into_iter().for_each(|task| follow(&mut room, task));
        }
        let done = held.len() - 1;
        self.spare.extend(held.drain(..done));
    }

    /// What the windows show, in order. Call it after the last frame.
    pub fn finish(&mut self) -> Vec<Window> {
        self.track();
        let size = self.working_size();
        let finish = |window: &mut Open| window.finish(size);
        if self.parallel {
            self.windows.par_iter_mut().map(finish).collect()
        } else {
            self.windows.iter_mut().map(finish).collect()
        }
    }
}

fn sum_of(level: Level, grey: &[u8]) -> u32 {
    level.run(
        #[inline(always)]
        || grey.iter().map(|&v| u32::from(v)).sum(),
    )
}

struct Follow<'t> {
    pyramids: &'t [&'t Pyramid],
    tracks: &'t mut [Track],
    room: &'t mut Scratch,
}

impl Job for Follow<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for track in self.tracks {
            track.follow(lanes, self.pyramids, self.room);
        }
    }
}

/// A frame's grey levels at the working size, row by row.
///
/// # Errors
/// A frame that does not fit the format.
pub fn grey8(frame: &Frame<'_>, format: &Format, level: Level) -> Result<Vec<u8>> {
    frame.check(format)?;
    let mut out = Vec::new();
    Plan::new(format).grey(level, frame, &mut Room::default(), &mut out);
    Ok(out)
}

/// Up to 400 corners of a grey picture, strongest first.
///
/// # Errors
/// A picture that has not `width * height` levels, or none.
pub fn corners_of(grey: &[u8], width: usize, height: usize, level: Level) -> Result<Vec<Point>> {
    let pyramid = pyramid_of(grey, width, height, level)?;
    Ok(pyramid.planes().first().map(|plane| corners::corners(level, plane)).unwrap_or_default())
}

/// Where points of one grey picture lie in another of its size: one run, in one direction. `None`
/// for a point that has left the picture or shows no corner.
///
/// # Errors
/// Pictures that have not `width * height` levels, or none.
pub fn find_points(
    [from, to]: [&[u8]; 2],
    (width, height): (usize, usize),
    points: &[Point],
    level: Level,
) -> Result<Vec<Option<Point>>> {
    let (from, to) =
        (pyramid_of(from, width, height, level)?, pyramid_of(to, width, height, level)?);
    let mut found = vec![None; points.len()];
    dispatch(level, Find { from: &from, to: &to, points, found: &mut found });
    Ok(found)
}

struct Find<'t> {
    from: &'t Pyramid,
    to: &'t Pyramid,
    points: &'t [Point],
    found: &'t mut [Option<Point>],
}

impl Job for Find<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut templates = Box::<Templates>::default();
        for (found, &point) in self.found.iter_mut().zip(self.points) {
            templates.take(lanes, self.from, point);
            *found = templates.find(lanes, self.to, point);
        }
    }
}

fn pyramid_of(grey: &[u8], width: usize, height: usize, level: Level) -> Result<Pyramid> {
    if width == 0 || height == 0 {
        return Err(Error::BadGeometry { width, height });
    }
    if grey.len() != width * height {
        let (expected, given) = ((height, width), (grey.len() / width, width));
        return Err(Error::PlaneSize { plane: 0, expected, given });
    }
    let mut pyramid = Pyramid::default();
    pyramid.build(level, grey, width, height);
    Ok(pyramid)
}
