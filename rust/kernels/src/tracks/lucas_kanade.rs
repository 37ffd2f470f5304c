//! Pyramidal Lucas-Kanade: where a point of one picture lies in the next, to a fraction of a pixel.
//!
//! Patches are sampled in fixed point (14-bit weights, 5 fractional bits) and all sums over a window
//! are integers, so a track has the same bits on every machine. The patch of a point with its
//! gradients serves the run back to the picture before and the run on to the picture after.

use super::lanes::{LANES, Lanes, Row};
use super::patch::{Mixer, Place, Scharr, four, two};
use super::pyramid::{MAX_LEVELS, Plane, Pyramid, WINDOW};

/// A position in pixels, x then y.
pub type Point = [f32; 2];

/// A track whose way back ends this far from where it began, or further, is lost.
const FORWARD_BACKWARD_PX: f64 = 1.0;
const ITERATIONS: usize = 30;
/// Steps below this length end the search; so do two steps that undo each other to within it.
const STEP_PX: f32 = 0.01;
/// Windows whose smaller eigenvalue of the gradient matrix, by pixel, is below it show no corner.
const LEAST_EIGENVALUE: f64 = 1e-4;
const LEAST_DETERMINANT: f64 = f32::EPSILON as f64;
/// Brings sums of products of 5-bit fractions and gradients to the scale of the two limits.
const SUM_SCALE: f64 = 1.0 / (1 << 20) as f64;

const HALF: f32 = (WINDOW / 2) as f32;

/// All lanes of the window's columns, none of what lies beyond them.
const COLUMNS: Row = {
    let mut mask = [0; LANES];
    let mut i = 0;
    while i < WINDOW {
        mask[i] = -1;
        i += 1;
    }
    mask
};

/// What is searched for at one scale. Sums over a window fit 32 bits a lane: two columns times 21
/// rows of at most 8160 (a patch's difference) times 4080 (a gradient).
#[repr(align(64))]
struct Template {
    /// Patch, horizontal and vertical gradient, row by row.
    rows: [[Row; 3]; WINDOW],
    /// The gradient matrix: xx, xy, yy.
    matrix: [f32; 3],
    determinant: f32,
    found: bool,
}

/// The template of a point at every scale.
pub(super) struct Templates([Template; MAX_LEVELS]);

impl Default for Templates {
    fn default() -> Self {
        Self(
            [const {
                Template {
                    rows: [[[0; LANES]; 3]; WINDOW],
                    matrix: [0.0; 3],
                    determinant: 0.0,
                    found: false,
                }
            }; MAX_LEVELS],
        )
    }
}

/// A sum over a window, exact until it is rounded once.
#[inline(always)]
fn scaled<L: Lanes>(lanes: L, sum: L::Long) -> f32 {
    (lanes.sum(sum) as f64 * SUM_SCALE) as f32
}

impl Template {
    /// Takes the template at `point` of `plane`. It is not found where the window lies outside or
    /// shows no corner.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, lanes: L, plane: &Plane, point: Point) {
        self.found = self.try_take(lanes, plane, point).is_some();
    }

    #[inline(always)]
    fn try_take<L: Lanes>(&mut self, lanes: L, plane: &Plane, point: Point) -> Option<()> {
        let place = Place::of(plane, point.map(|v| v - HALF))?;
        let [x, y] = place.corner;
        let mixer = Mixer::new(lanes, &place);
        let (half_patch, half_gradient) = (lanes.splat(1 << 8), lanes.splat(1 << 13));
        let columns = lanes.load(&COLUMNS);
        let scharr = Scharr::new(lanes, x, plane.width);
        let rows_inside = 0..plane.height as isize;
        let nothing = [[lanes.alternate(0, 0); 2]; 2];
        let mut rows = plane.pixels.get(plane.at(x - 1, y - 1)..)?.chunks(plane.stride);
        let mut above = four(lanes, rows.next()?)?;
        let mut here = four(lanes, rows.next()?)?;
        let mut below = four(lanes, rows.next()?)?;
        let mut before = nothing;
        if rows_inside.contains(&y) {
            before = scharr.gradients(above, here, below);
        }
        let (mut xx, mut xy, mut yy) = (lanes.splat(0), lanes.splat(0), lanes.splat(0));
        for (row, [patch_row, dx_row, dy_row]) in (y + 1..).zip(&mut self.rows) {
            (above, here, below) = (here, below, four(lanes, rows.next()?)?);
            let mut after = nothing;
            if rows_inside.contains(&row) {
                after = scharr.gradients(above, here, below);
            }
            let [even, odd] = mixer.mix([above[1], above[2]], [here[1], here[2]], half_patch);
            lanes.store(lanes.weave_9(even, odd), patch_row);
            let [even, odd] = mixer.mix(before[0], after[0], half_gradient);
            let dx = lanes.and(lanes.weave_14(even, odd), columns);
            lanes.store(dx, dx_row);
            let [even, odd] = mixer.mix(before[1], after[1], half_gradient);
            let dy = lanes.and(lanes.weave_14(even, odd), columns);
            lanes.store(dy, dy_row);
            xx = lanes.add(xx, lanes.multiply_pairs(dx, dx));
            xy = lanes.add(xy, lanes.multiply_pairs(dx, dy));
            yy = lanes.add(yy, lanes.multiply_pairs(dy, dy));
            before = after;
        }
        let [xx, xy, yy] = [scaled(lanes, xx), scaled(lanes, xy), scaled(lanes, yy)];
        self.matrix = [xx, xy, yy];
        self.determinant = xx * yy - xy * xy;
        let spread = ((xx - yy) * (xx - yy) + 4.0 * xy * xy).sqrt();
        let least = (xx + yy - spread) / (2 * WINDOW * WINDOW) as f32;
        let good = least >= LEAST_EIGENVALUE as f32 && self.determinant >= LEAST_DETERMINANT as f32;
        self.determinant = 1.0 / self.determinant;
        good.then_some(())
    }

    /// The step that makes the picture at `corner` look like the template; `None` outside.
    #[inline(always)]
    fn step<L: Lanes>(&self, lanes: L, plane: &Plane, corner: Point) -> Option<Point> {
        let place = Place::of(plane, corner)?;
        let [x, y] = place.corner;
        let mixer = Mixer::new(lanes, &place);
        let half = lanes.splat(1 << 8);
        let mut rows = plane.pixels.get(plane.at(x, y)..)?.chunks(plane.stride);
        let mut above = two(lanes, rows.next()?)?;
        let (mut along, mut down) = (lanes.splat(0), lanes.splat(0));
        for [patch, dx, dy] in &self.rows {
            let below = two(lanes, rows.next()?)?;
            let [even, odd] = mixer.mix(above, below, half);
            above = below;
            let difference = lanes.subtract(lanes.weave_9(even, odd), lanes.load(patch));
            along = lanes.add(along, lanes.multiply_pairs(difference, lanes.load(dx)));
            down = lanes.add(down, lanes.multiply_pairs(difference, lanes.load(dy)));
        }
        let (b1, b2) = (scaled(lanes, along), scaled(lanes, down));
        let [xx, xy, yy] = self.matrix;
        let x = (xy * b2 - yy * b1) * self.determinant;
        let y = (xy * b1 - xx * b2) * self.determinant;
        Some([x, y])
    }

    /// Walks `point` to where the picture looks like the template; false if it leaves the picture.
    #[inline(always)]
    fn search<L: Lanes>(&self, lanes: L, plane: &Plane, point: &mut Point) -> bool {
        let mut before = [0.0_f32; 2];
        let mut corner = point.map(|v| v - HALF);
        for iteration in 0..ITERATIONS {
            let Some([x, y]) = self.step(lanes, plane, corner) else {
                return false;
            };
            corner = [corner[0] + x, corner[1] + y];
            *point = corner.map(|v| v + HALF);
            if f64::from(x) * f64::from(x) + f64::from(y) * f64::from(y) <= 1e-4 {
                break;
            }
            let undone = (x + before[0]).abs() < STEP_PX && (y + before[1]).abs() < STEP_PX;
            if iteration > 0 && undone {
                *point = [point[0] - 0.5 * x, point[1] - 0.5 * y];
                break;
            }
            before = [x, y];
        }
        true
    }
}

impl Templates {
    /// Takes the templates of `point` at every scale of `pyramid`.
    #[inline(always)]
    pub(super) fn take<L: Lanes>(&mut self, lanes: L, pyramid: &Pyramid, point: Point) {
        let mut scaled = point;
        for (template, plane) in self.0.iter_mut().zip(pyramid.planes()) {
            template.take(lanes, plane, scaled);
            scaled = scaled.map(|v| v * 0.5);
        }
    }

    /// Where the point that the templates were taken at, `from`, lies in `pyramid`. `None` if it has
    /// left the picture, or shows no corner at the finest scale.
    #[inline(always)]
    pub(super) fn find<L: Lanes>(&self, lanes: L, pyramid: &Pyramid, from: Point) -> Option<Point> {
        let planes = pyramid.planes();
        let coarsest = planes.len() - 1;
        let scale = 1.0 / (1_u32 << coarsest) as f32;
        let mut point = from.map(|v| v * scale);
        for (level, (template, plane)) in self.0.iter().zip(planes).enumerate().rev() {
            if level < coarsest {
                point = point.map(|v| 2.0 * v);
            }
            let inside = template.found && template.search(lanes, plane, &mut point);
            if level == 0 && !inside {
                return None;
            }
        }
        Place::of(planes.first()?, point.map(|v| v - HALF)).map(|_| point)
    }
}

/// Room for the templates of two neighbouring pictures.
#[derive(Default)]
pub(super) struct Scratch([Templates; 2]);

/// One corner on its way through a window of frames.
#[derive(Debug, Clone)]
pub(super) struct Track {
    /// Its place among the corners of its window.
    pub(super) rank: usize,
    /// Where it was found in each frame, for as long as it lives.
    pub(super) points: Vec<Point>,
    pub(super) alive: bool,
}

impl Track {
    /// Whether it was lost where its window had reached over the picture's edge.
    pub(super) fn has_left(&self, (width, height): (usize, usize)) -> bool {
        let at_edge = |v: f32, size: usize| v < HALF + 1.0 || v > size as f32 - 2.0 - HALF;
        let last = self.points.last();
        !self.alive && last.is_some_and(|&[x, y]| at_edge(x, width) || at_edge(y, height))
    }

    /// Follows the track through `pyramids`, the first of which holds its last point. It is lost,
    /// for good, where either direction fails, the way back misses by a pixel, or the picture ends.
    #[inline(always)]
    pub(super) fn follow<L: Lanes>(&mut self, lanes: L, pyramids: &[&Pyramid], room: &mut Scratch) {
        let (Some(&last), true) = (self.points.last(), self.alive) else { return };
        let mut point = last;
        let [here, there] = &mut room.0;
        let (mut here, mut there) = (here, there);
        for (step, pair) in pyramids.windows(2).enumerate() {
            let &[from, to] = pair else { return };
            if step == 0 {
                here.take(lanes, from, point);
            }
            let Some(next) = self.step(lanes, [from, to], point, here, there) else {
                self.alive = false;
                return;
            };
            self.points.push(next);
            point = next;
            (here, there) = (there, here);
        }
    }

    /// One step forward and back; leaves the templates of the point found in `there`.
    #[inline(always)]
    fn step<L: Lanes>(
        &self,
        lanes: L,
        [from, to]: [&Pyramid; 2],
        point: Point,
        here: &Templates,
        there: &mut Templates,
    ) -> Option<Point> {
        let next = here.find(lanes, to, point)?;
        let finest = to.planes().first()?;
        let inside = |v: f32, size: usize| v >= 0.0 && v < size as f32 - 1.0;
        if !(inside(next[0], finest.width) && inside(next[1], finest.height)) {
            return None;
        }
        there.take(lanes, to, next);
        let back = there.find(lanes, from, next)?;
        let miss = [0, 1].map(|i| f64::from(back[i]) - f64::from(point[i]));
        let near = (miss[0] * miss[0] + miss[1] * miss[1]).sqrt() < FORWARD_BACKWARD_PX;
        near.then_some(next)
    }
}
