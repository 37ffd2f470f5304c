//! A grey picture at up to four scales, laid out for windows that reach over the edge.

use crate::simd::Level;

/// Rows and columns of the tracking window.
pub(super) const WINDOW: usize = 21;
/// Scales of a pyramid at most.
pub(super) const MAX_LEVELS: usize = 4;

/// Columns around a plane. A row of a window starts at column -21 at the least and at the last
/// column at the most; its gradients read from one column before to 33 after.
const SIDE: usize = 36;
/// Rows above and below: a window starts at row -21 at the least and at the last row at the most; its
/// gradients read from one row before to 22 after.
const ABOVE: usize = 22;

/// One scale. Pixels continue past the edge, mirrored about the edge pixel.
#[derive(Debug, Default)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) stride: usize,
    /// Grey, 0 to 255.
    pub(super) pixels: Vec<u8>,
}

impl Plane {
    fn resize(&mut self, width: usize, height: usize) {
        if (self.width, self.height) != (width, height) {
            (self.width, self.height, self.stride) = (width, height, width + 2 * SIDE);
            self.pixels.clear();
            self.pixels.resize(self.stride * (height + 2 * ABOVE), 0);
        }
    }

    /// Where the pixel of row `y` and column `x` lies; both may be negative within the border.
    #[inline(always)]
    pub(super) fn at(&self, x: isize, y: isize) -> usize {
        let row = (y + ABOVE as isize) as usize;
        row * self.stride + (x + SIDE as isize) as usize
    }

    /// Fills the border from the inside.
    fn mirror(&mut self) {
        let (width, height, stride) = (self.width, self.height, self.stride);
        for row in self.pixels.chunks_exact_mut(stride).skip(ABOVE).take(height) {
            if width > SIDE {
                let (left, rest) = row.split_at_mut(SIDE);
                left.iter_mut().rev().zip(&rest[1..]).for_each(|(out, &v)| *out = v);
                let (rest, right) = rest.split_at_mut(width);
                right.iter_mut().zip(rest.iter().rev().skip(1)).for_each(|(out, &v)| *out = v);
            } else {
                for x in (0..SIDE).chain(SIDE + width..stride) {
                    row[x] = row[SIDE + mirrored(x as isize - SIDE as isize, width)];
                }
            }
        }
        for y in 1..=ABOVE {
            let below = (height - 1 + y) as isize;
            for y in [-(y as isize), below] {
                let from = (mirrored(y, height) + ABOVE) * stride;
                let to = (y + ABOVE as isize) as usize * stride;
                self.pixels.copy_within(from..from + stride, to);
            }
        }
    }

    /// The next scale: a 5x5 binomial mean at every second row and column.
    fn halve(&self, level: Level, out: &mut Self, columns: &mut Vec<u16>) {
        out.resize(self.width.div_ceil(2), self.height.div_ceil(2));
        let (stride, width) = (self.stride, out.width);
        columns.resize(2 * width + 4, 0);
        for y in 0..out.height {
            let start = self.at(-2, 2 * y as isize - 2);
            let row = |k: usize| &self.pixels[start + k * stride..][..2 * width + 3];
            let rows = [row(0), row(1), row(2), row(3), row(4)];
            let to = out.at(0, y as isize);
            let out = &mut out.pixels[to..to + width];
            level.run(
                #[inline(always)]
                || binomial(rows, columns, out),
            );
        }
    }
}

/// Index of the pixel that stands at `i`, mirrored about the edge pixels as often as it takes.
pub(super) fn mirrored(i: isize, size: usize) -> usize {
    let period = 2 * (size as isize - 1);
    if period == 0 {
        return 0;
    }
    let i = i.rem_euclid(period);
    i.min(period - i) as usize
}

#[inline(always)]
fn binomial(rows: [&[u8]; 5], columns: &mut [u16], out: &mut [u8]) {
    let reach = 2 * out.len() + 3;
    let [a, b, c, d, e] = rows.map(|row| &row[..reach]);
    let columns = &mut columns[..reach + 1];
    for x in 0..reach {
        let [a, b, c, d, e] = [a[x], b[x], c[x], d[x], e[x]].map(u16::from);
        columns[x] = a + e + 4 * (b + d) + 6 * c;
    }
    // At most 255 * 256 + 128, which 16 bits hold.
    let (pairs, _) = columns.as_chunks::<2>();
    for (x, out) in out.iter_mut().enumerate() {
        let [[a, b], [c, d], [e, _]] = [pairs[x], pairs[x + 1], pairs[x + 2]];
        *out = ((a + e + 4 * (b + d) + 6 * c + 128) >> 8) as u8;
    }
}

/// A picture and its scales, finest first.
#[derive(Debug, Default)]
pub(super) struct Pyramid {
    planes: Vec<Plane>,
    levels: usize,
    columns: Vec<u16>,
}

impl Pyramid {
    /// Takes a grey picture, row by row; memory of an earlier one is used again.
    pub(super) fn build(&mut self, level: Level, grey: &[u8], width: usize, height: usize) {
        self.levels = 1;
        let (mut w, mut h) = (width.div_ceil(2), height.div_ceil(2));
        while self.levels < MAX_LEVELS && w > WINDOW && h > WINDOW {
            self.levels += 1;
            (w, h) = (w.div_ceil(2), h.div_ceil(2));
        }
        self.planes.resize_with(self.levels, Plane::default);
        let finest = &mut self.planes[0];
        finest.resize(width, height);
        for (y, row) in grey.chunks_exact(width).enumerate() {
            let start = finest.at(0, y as isize);
            finest.pixels[start..start + width].copy_from_slice(row);
        }
        for scale in 0..self.levels {
            let (done, rest) = self.planes.split_at_mut(scale);
            if let Some(finer) = done.last() {
                finer.halve(level, &mut rest[0], &mut self.columns);
            }
            rest[0].mirror();
        }
    }

    /// The scales, finest first.
    pub(super) fn planes(&self) -> &[Plane] {
        &self.planes[..self.levels]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_indices_turn_at_both_edges() {
        let at = |size| (-5..=7).map(|i| mirrored(i, size)).collect::<Vec<_>>();
        assert_eq!(at(4), [1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!(at(2), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(at(1), [0; 13]);
    }

    #[test]
    fn half_of_a_ramp_is_a_ramp_that_bends_at_the_edge() {
        let grey: Vec<u8> = (0..50 * 60).map(|i| (3 * (i % 60)) as u8).collect();
        let mut pyramid = Pyramid::default();
        pyramid.build(Level::best(), &grey, 60, 50);
        assert_eq!(pyramid.planes().len(), 2, "60x50 and 30x25");
        let coarse = &pyramid.planes()[1];
        let at = |x| coarse.pixels[coarse.at(x, 9)];
        for x in 1..29 {
            assert_eq!(at(x), 6 * x as u8);
        }
        // At the edge the five weights lie on 0, 3 and 6: (6 * 0 + 8 * 3 + 2 * 6) / 16, rounded.
        assert_eq!(at(0), 2);
        assert_eq!((at(-1), at(-21)), (at(1), at(21)), "mirrored");
    }

    #[test]
    fn scales_end_before_a_side_is_no_larger_than_the_window() {
        let levels = |width: usize, height: usize| {
            let mut pyramid = Pyramid::default();
            pyramid.build(Level::best(), &vec![7; width * height], width, height);
            pyramid.planes().len()
        };
        assert_eq!(levels(682, 384), 4);
        assert_eq!(levels(12, 10), 1);
        assert_eq!(levels(42, 100), 1);
        assert_eq!(levels(43, 100), 2);
        assert_eq!(levels(85, 85), 3);
        assert_eq!(levels(1, 1), 1);
    }
}
