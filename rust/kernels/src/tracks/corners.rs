//! Corners to track: Shi and Tomasi's, where the gradient matrix has two large eigenvalues.

use super::lucas_kanade::Point;
use super::pyramid::{Plane, mirrored};
use crate::simd::Level;

/// Corners of a picture at most.
const MOST: usize = 400;
/// A response that is not above this share of the largest is none.
const QUALITY: f32 = 0.01;
/// Least distance between two corners, in pixels.
const DISTANCE: i32 = 8;
/// Pixels from the middle of the box that gradients are summed over to its edge.
const REACH: usize = 3;

/// The corners of a picture, strongest first, at whole pixels.
pub(super) fn corners(level: Level, plane: &Plane) -> Vec<Point> {
    let (width, height) = (plane.width, plane.height);
    let responses = responses(level, plane);
    let most = responses.iter().copied().fold(0.0, f32::max);
    let least = QUALITY * most;
    let mut found: Vec<(f32, usize)> = Vec::new();
    for y in 1..height.saturating_sub(1) {
        let rows = [-1, 0, 1].map(|d| &responses[(y as isize + d) as usize * width..][..width]);
        for x in 1..width.saturating_sub(1) {
            let here = rows[1][x];
            if here > least && is_peak(rows, x) {
                found.push((here, y * width + x));
            }
        }
    }
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    apart(&found, width, height)
}

/// Whether no neighbour is larger.
#[inline(always)]
fn is_peak([above, here, below]: [&[f32]; 3], x: usize) -> bool {
    let most = |row: &[f32]| row[x - 1].max(row[x]).max(row[x + 1]);
    here[x] >= here[x - 1].max(here[x + 1]) && here[x] >= most(above).max(most(below))
}

/// Takes corners in order, leaving out those too near to one that was taken.
fn apart(found: &[(f32, usize)], width: usize, height: usize) -> Vec<Point> {
    let cells = |size: usize| size.div_ceil(DISTANCE as usize);
    let (across, down) = (cells(width), cells(height));
    let mut grid: Vec<Vec<(i32, i32)>> = vec![Vec::new(); across * down];
    let mut taken = Vec::new();
    for &(_, at) in found {
        let (x, y) = ((at % width) as i32, (at / width) as i32);
        let (cx, cy) = ((x / DISTANCE) as usize, (y / DISTANCE) as usize);
        let near = |&(px, py): &(i32, i32)| {
            (px - x) * (px - x) + (py - y) * (py - y) < DISTANCE * DISTANCE
        };
        let crowded = (cy.saturating_sub(1)..=(cy + 1).min(down - 1)).any(|row| {
            let first = row * across + cx.saturating_sub(1);
            let last = row * across + (cx + 1).min(across - 1);
            grid[first..=last].iter().flatten().any(near)
        });
        if !crowded {
            grid[cy * across + cx].push((x, y));
            taken.push([x as f32, y as f32]);
            if taken.len() == MOST {
                break;
            }
        }
    }
    taken
}

/// The smaller eigenvalue of the gradient matrix of every pixel: Sobel gradients, summed over 7x7
/// pixels as integers. It is exactly zero where all gradients are parallel.
fn responses(level: Level, plane: &Plane) -> Vec<f32> {
    let (width, height) = (plane.width, plane.height);
    let products = products(level, plane);
    let mut out = vec![0.0; width * height];
    let mut columns: [Vec<i32>; 3] = std::array::from_fn(|_| vec![0; width + 2 * REACH]);
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        for (product, sums) in products.iter().zip(&mut columns) {
            let rows: [&[i32]; 2 * REACH + 1] = std::array::from_fn(|k| {
                let y = mirrored(y as isize + k as isize - REACH as isize, height);
                &product[y * width..(y + 1) * width]
            });
            let (edge, inner) = sums.split_at_mut(REACH);
            level.run(
                #[inline(always)]
                || add_rows(rows, &mut inner[..width]),
            );
            for x in 1..=REACH {
                let at = |i: isize| mirrored(i, width);
                edge[REACH - x] = inner[at(-(x as isize))];
                inner[width - 1 + x] = inner[at((width - 1 + x) as isize)];
            }
        }
        let [xx, xy, yy] = &columns;
        level.run(
            #[inline(always)]
            || eigenvalues(xx, xy, yy, out),
        );
    }
    out
}

/// Products of the Sobel gradients: xx, xy, yy.
fn products(level: Level, plane: &Plane) -> [Vec<i32>; 3] {
    let (width, height) = (plane.width, plane.height);
    let mut out: [Vec<i32>; 3] = std::array::from_fn(|_| vec![0; width * height]);
    for y in 0..height {
        let row = |dy: isize| &plane.pixels[plane.at(-1, y as isize + dy)..][..width + 2];
        let rows = [row(-1), row(0), row(1)];
        let [xx, xy, yy] = out.each_mut().map(|plane| &mut plane[y * width..(y + 1) * width]);
        level.run(
            #[inline(always)]
            || sobel(rows, xx, xy, yy),
        );
    }
    out
}

#[inline(always)]
fn sobel(rows: [&[u8]; 3], xx: &mut [i32], xy: &mut [i32], yy: &mut [i32]) {
    let width = xx.len();
    let [above, here, below] = rows;
    let (above, here, below) = (&above[..width + 2], &here[..width + 2], &below[..width + 2]);
    let (xy, yy) = (&mut xy[..width], &mut yy[..width]);
    for x in 0..width {
        let (a, b, c) = (i32::from(above[x]), i32::from(above[x + 1]), i32::from(above[x + 2]));
        let (d, e) = (i32::from(here[x]), i32::from(here[x + 2]));
        let (f, g, h) = (i32::from(below[x]), i32::from(below[x + 1]), i32::from(below[x + 2]));
        let dx = (c - a) + 2 * (e - d) + (h - f);
        let dy = (f - a) + 2 * (g - b) + (h - c);
        (xx[x], xy[x], yy[x]) = (dx * dx, dx * dy, dy * dy);
    }
}

#[inline(always)]
fn add_rows(rows: [&[i32]; 2 * REACH + 1], out: &mut [i32]) {
    let width = out.len();
    let [a, b, c, d, e, f, g] = rows;
    let (a, b, c, d) = (&a[..width], &b[..width], &c[..width], &d[..width]);
    let (e, f, g) = (&e[..width], &f[..width], &g[..width]);
    for x in 0..width {
        out[x] = a[x] + b[x] + c[x] + d[x] + e[x] + f[x] + g[x];
    }
}

/// Sums of seven neighbours, as a float.
#[inline(always)]
fn box_sum(column: &[i32], x: usize) -> f64 {
    let [a, b, c] = [column[x], column[x + 1], column[x + 2]];
    let [d, e, f] = [column[x + 3], column[x + 4], column[x + 5]];
    f64::from(a + b + c + d + e + f + column[x + 6])
}

#[inline(always)]
fn eigenvalues(xx: &[i32], xy: &[i32], yy: &[i32], out: &mut [f32]) {
    let reach = out.len() + 2 * REACH;
    let (xx, xy, yy) = (&xx[..reach], &xy[..reach], &yy[..reach]);
    for (x, out) in out.iter_mut().enumerate() {
        let (xx, xy, yy) = (box_sum(xx, x), box_sum(xy, x), box_sum(yy, x));
        // Every product is below 2^53, so the determinant is exact.
        let determinant = xx * yy - xy * xy;
        let larger = xx + yy + ((xx - yy) * (xx - yy) + 4.0 * xy * xy).sqrt();
        // Where nothing changes, 0 over the least positive number.
        *out = (2.0 * determinant / larger.max(f64::MIN_POSITIVE)) as f32;
    }
}
