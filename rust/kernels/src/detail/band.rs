//! Edges, the band beside them, and the texture that is left: masks of a few rows at a time.

use std::ops::Range;

use crate::simd::Level;

/// Steps from an edge to the far side of its band.
const REACH: usize = 2;
/// Rows of the mask that one row of the band looks at.
const ROWS: usize = 2 * REACH + 1;

/// Pixels that are summed before the sum is widened.
const LANES: usize = 16;
const RUN: usize = 64 * LANES;

/// Sum of the residue and number of pixels, of the band and of the texture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Areas {
    pub(super) band: (f64, u64),
    pub(super) texture: (f64, u64),
}

impl Areas {
    pub(super) fn merge(self, other: Self) -> Self {
        let sum = |a: (f64, u64), b: (f64, u64)| (a.0 + b.0, a.1 + b.1);
        Self { band: sum(self.band, other.band), texture: sum(self.texture, other.texture) }
    }
}

/// What one band of rows is computed in.
#[derive(Debug, Default)]
pub(super) struct Masks {
    /// 1 for an edge, row `r` in slot `r % ROWS`, with [`REACH`] zeros at either end.
    edges: Vec<u8>,
    /// What a pixel is, see [`kinds`].
    kinds: Vec<u8>,
}

impl Masks {
    /// Residue of the band and of the texture in these rows. A pixel is an edge where its squared
    /// slope is at least `least`.
    pub(super) fn areas(
        &mut self,
        level: Level,
        (residue, steep): (&[f32], &[f32]),
        (width, height): (usize, usize),
        least: f32,
        rows: Range<usize>,
    ) -> Areas {
        let stride = width + 2 * REACH;
        self.edges.clear();
        self.edges.resize(ROWS * stride, 0);
        self.kinds.resize(width, 0);
        let mut total = Areas::default();
        let mut loaded = rows.start.saturating_sub(REACH);
        for y in rows {
            while loaded < y + REACH + 1 {
                let edges = &mut self.edges[loaded % ROWS * stride + REACH..][..width];
                // Beyond the last row lies no edge.
                if loaded < height {
                    let steep = &steep[loaded * width..(loaded + 1) * width];
                    level.run(
                        #[inline(always)]
                        || {
                            for (edge, &s) in edges.iter_mut().zip(steep) {
                                *edge = u8::from(s >= least);
                            }
                        },
                    );
                } else {
                    edges.fill(0);
                }
                loaded += 1;
            }
            let edges = &self.edges;
            // Above the first row lies none either: its slot is still that of an empty row.
            let around: [&[u8]; ROWS] = std::array::from_fn(|k| {
                let slot = (y + ROWS + k - REACH) % ROWS;
                &edges[slot * stride..(slot + 1) * stride]
            });
            let kinds = &mut self.kinds;
            let residue = &residue[y * width..(y + 1) * width];
            let found = level.run(
                #[inline(always)]
                || {
                    kinds_of(around, kinds);
                    sums(residue, kinds)
                },
            );
            total = total.merge(found);
        }
        total
    }
}

const BAND: u8 = 1;
const EDGE: u8 = 2;

/// 0 for texture, [`BAND`] within two steps of an edge, [`EDGE`] in one. Two steps along rows and
/// columns are the mask widened twice by the cross of four neighbours.
#[inline(always)]
fn kinds_of([a, b, c, d, e]: [&[u8]; ROWS], kinds: &mut [u8]) {
    let n = kinds.len();
    let [a, b, c, d, e] = [a, b, c, d, e].map(|row| &row[..n + 2 * REACH]);
    for x in 0..n {
        let one = (b[x + 1] | b[x + 2] | b[x + 3]) | (d[x + 1] | d[x + 2] | d[x + 3]);
        let own = (c[x] | c[x + 1]) | (c[x + 3] | c[x + 4]);
        let near = (a[x + 2] | e[x + 2]) | (one | own);
        kinds[x] = if c[x + 2] != 0 { EDGE } else { near };
    }
}

/// Sums over a row in fixed lanes, so that every instruction set adds in the same order.
#[inline(always)]
fn sums(residue: &[f32], kinds: &[u8]) -> Areas {
    let mut total = Areas::default();
    for (residue, kinds) in residue.chunks(RUN).zip(kinds.chunks(RUN)) {
        let mut lanes = [[0.0_f32; LANES]; 2];
        let (whole, rest) = residue.as_chunks::<LANES>();
        let (whole_kinds, rest_kinds) = kinds.as_chunks::<LANES>();
        for (residue, kinds) in whole.iter().zip(whole_kinds) {
            lanes = added(residue, kinds, lanes);
        }
        if !rest.is_empty() {
            let (mut last, mut last_kinds) = ([0.0; LANES], [EDGE; LANES]);
            last[..rest.len()].copy_from_slice(rest);
            last_kinds[..rest.len()].copy_from_slice(rest_kinds);
            lanes = added(&last, &last_kinds, lanes);
        }
        let [band, texture] = lanes.map(|lanes| lanes.iter().map(|&v| f64::from(v)).sum::<f64>());
        let count = |kind: u8| kinds.iter().map(|&k| u32::from(k == kind)).sum::<u32>();
        total.band.0 += band;
        total.band.1 += u64::from(count(BAND));
        total.texture.0 += texture;
        total.texture.1 += u64::from(count(0));
    }
    total
}

/// By value, and with masks in place of branches: the lanes stay in registers.
#[inline(always)]
fn added(
    residue: &[f32; LANES],
    kinds: &[u8; LANES],
    [mut band, mut texture]: [[f32; LANES]; 2],
) -> [[f32; LANES]; 2] {
    for i in 0..LANES {
        let bits = residue[i].to_bits();
        let kept = |kind: u8| f32::from_bits(bits & u32::from(kinds[i] == kind).wrapping_neg());
        band[i] += kept(BAND);
        texture[i] += kept(0);
    }
    [band, texture]
}
