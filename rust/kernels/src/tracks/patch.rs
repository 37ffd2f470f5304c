//! What a tracking window sees: pixels between the pixels, in fixed point, and their gradients.

use super::lanes::{LANES, Lanes, Row};
use super::lucas_kanade::Point;
use super::pyramid::{Plane, WINDOW};

const WEIGHT_BITS: u32 = 14;

/// Where a window lies: the column and row of its first pixel, and the weights of the four pixels
/// that a sample is mixed from.
pub(super) struct Place {
    pub(super) corner: [isize; 2],
    pub(super) weights: [i16; 4],
}

impl Place {
    /// The place of the window whose first sample is at `corner`; `None` if it lies outside.
    #[inline(always)]
    pub(super) fn of(plane: &Plane, corner: Point) -> Option<Self> {
        let [x, y] = corner.map(f32::floor);
        let inside = |v: f32, size: usize| v >= -(WINDOW as f32) && v < size as f32;
        if !(inside(x, plane.width) && inside(y, plane.height)) {
            return None;
        }
        let (a, b) = (corner[0] - x, corner[1] - y);
        let one = (1_u32 << WEIGHT_BITS) as f32;
        let fixed = |w: f32| (w * one).round_ties_even() as i32;
        let w00 = fixed((1.0 - a) * (1.0 - b));
        let w01 = fixed(a * (1.0 - b));
        let w10 = fixed((1.0 - a) * b);
        let w11 = (1 << WEIGHT_BITS) - w00 - w01 - w10;
        let weights = [w00, w01, w10, w11].map(|w| w as i16);
        Some(Self { corner: [x as isize, y as isize], weights })
    }
}

/// Pixels of a row of the window, from one column before the window's on: at four offsets.
#[inline(always)]
pub(super) fn four<L: Lanes>(lanes: L, pixels: &[u8]) -> Option<[L::Short; 4]> {
    let pixels = pixels.first_chunk::<{ LANES + 3 }>()?;
    let [a, b] = [pixels[..LANES].first_chunk()?, pixels[1..].first_chunk()?];
    let [c, d] = [pixels[2..].first_chunk()?, pixels[3..].first_chunk()?];
    Some([lanes.widen(a), lanes.widen(b), lanes.widen(c), lanes.widen(d)])
}

/// Pixels of a row of the window and of the row shifted by one column.
#[inline(always)]
pub(super) fn two<L: Lanes>(lanes: L, pixels: &[u8]) -> Option<[L::Short; 2]> {
    let pixels = pixels.first_chunk::<{ LANES + 1 }>()?;
    let (first, second) = (pixels[..LANES].first_chunk()?, pixels[1..].first_chunk()?);
    Some([lanes.widen(first), lanes.widen(second)])
}

/// Mixes neighbouring rows by the weights of a place.
#[derive(Clone, Copy)]
pub(super) struct Mixer<L: Lanes> {
    lanes: L,
    top: L::Short,
    bottom: L::Short,
}

impl<L: Lanes> Mixer<L> {
    #[inline(always)]
    pub(super) fn new(lanes: L, place: &Place) -> Self {
        let [w00, w01, w10, w11] = place.weights;
        Self { lanes, top: lanes.alternate(w00, w01), bottom: lanes.alternate(w10, w11) }
    }

    /// Sums of the even and of the odd columns, and `half` to round by.
    #[inline(always)]
    pub(super) fn mix(
        self,
        above: [L::Short; 2],
        below: [L::Short; 2],
        half: L::Long,
    ) -> [L::Long; 2] {
        [self.sum(above[0], below[0], half), self.sum(above[1], below[1], half)]
    }

    #[inline(always)]
    fn sum(self, above: L::Short, below: L::Short, half: L::Long) -> L::Long {
        let lanes = self.lanes;
        let above = lanes.multiply_pairs(above, self.top);
        lanes.add(lanes.add(above, lanes.multiply_pairs(below, self.bottom)), half)
    }
}

/// Scharr's gradients: 32 times the difference from a pixel to the next.
#[derive(Clone, Copy)]
pub(super) struct Scharr<L: Lanes> {
    lanes: L,
    three: L::Short,
    ten: L::Short,
    /// What lies in the picture, of a row and of the row shifted by one column: past the edge there
    /// is no gradient.
    inside: [L::Short; 2],
}

impl<L: Lanes> Scharr<L> {
    #[inline(always)]
    pub(super) fn new(lanes: L, first: isize, width: usize) -> Self {
        let inside = [inside(first, width), inside(first + 1, width)];
        Self {
            lanes,
            three: lanes.alternate(3, 3),
            ten: lanes.alternate(10, 10),
            inside: [lanes.load(&inside[0]), lanes.load(&inside[1])],
        }
    }

    #[inline(always)]
    fn smooth(self, sides: L::Short, middle: L::Short) -> L::Short {
        let lanes = self.lanes;
        lanes.plus(lanes.times(sides, self.three), lanes.times(middle, self.ten))
    }

    /// Along the row, and down.
    #[inline(always)]
    pub(super) fn gradients(
        self,
        above: [L::Short; 4],
        here: [L::Short; 4],
        below: [L::Short; 4],
    ) -> [[L::Short; 2]; 2] {
        let lanes = self.lanes;
        let [a0, a1, a2, a3] = above;
        let [b0, b1, b2, b3] = below;
        let across = [
            self.smooth(lanes.plus(a0, b0), here[0]),
            self.smooth(lanes.plus(a1, b1), here[1]),
            self.smooth(lanes.plus(a2, b2), here[2]),
            self.smooth(lanes.plus(a3, b3), here[3]),
        ];
        let down = [
            lanes.subtract(b0, a0),
            lanes.subtract(b1, a1),
            lanes.subtract(b2, a2),
            lanes.subtract(b3, a3),
        ];
        let dx = [lanes.subtract(across[2], across[0]), lanes.subtract(across[3], across[1])];
        let dy = [
            self.smooth(lanes.plus(down[0], down[2]), down[1]),
            self.smooth(lanes.plus(down[1], down[3]), down[2]),
        ];
        [self.mask(dx), self.mask(dy)]
    }

    #[inline(always)]
    fn mask(self, [row, shifted]: [L::Short; 2]) -> [L::Short; 2] {
        let [inside, inside_shifted] = self.inside;
        [self.lanes.and(row, inside), self.lanes.and(shifted, inside_shifted)]
    }
}

/// All lanes whose column, counted from `first`, lies in a picture of this width.
#[inline(always)]
fn inside(first: isize, width: usize) -> Row {
    // No lane after the window's columns and the one beside them counts.
    if first >= 0 && first + (WINDOW as isize) < width as isize {
        return [-1; LANES];
    }
    let (low, high) = (-first, width as isize - first);
    std::array::from_fn(|i| if (low..high).contains(&(i as isize)) { -1 } else { 0 })
}
