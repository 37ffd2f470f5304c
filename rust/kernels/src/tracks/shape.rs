//! How steadily the tracks of a window move: camera removed, against themselves and their neighbours.

use super::lucas_kanade::Point;

/// A speed below this, in pixels a frame, counts as this.
const SLOWEST: f64 = 0.25;
/// Jitter, relative to the speed, that halves a track's weight.
const JITTER_KNEE: f64 = 0.10;
/// Change of the distances to the neighbours, in percent, that halves a track's weight.
const RIGIDITY_KNEE: f64 = 0.8;
const NEIGHBOURS: usize = 6;
/// Neighbours nearer than this, in pixels, are measured as if they were so far away.
const NEAREST: f64 = 2.0;
/// Rounds of reweighting in the fit of a step's camera movement.
const ROUNDS: usize = 3;
/// Least spread of the residuals of that fit, in pixels.
const LEAST_SIGMA: f64 = 0.05;

/// What one surviving track shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackShape {
    /// Mean length of its second difference, over its speed.
    pub jitter: f64,
    /// Mean second difference of the distances to its neighbours, in percent of them.
    pub rigidity: f64,
    /// 1 for a track that moves steadily with its neighbours, near 0 for one that does neither.
    pub coherence: f64,
}

/// What the surviving tracks of a window show.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Median over the steps of the mean length of a step, in pixels a frame.
    pub motion: f64,
    /// Median over the tracks.
    pub jitter: f64,
    /// Median over the tracks, in percent.
    pub rigidity: f64,
    /// Sum over the tracks.
    pub coherent: f64,
    /// One entry per surviving track.
    pub tracks: Vec<TrackShape>,
}

/// The shape of surviving tracks, each a point per frame. At least two tracks and two frames.
pub(super) fn shape(tracks: &[&[Point]]) -> Shape {
    let frames = tracks.iter().map(|t| t.len()).min().unwrap_or(0);
    // Frame by frame.
    let placed: Vec<Vec<[f64; 2]>> =
        (0..frames).map(|i| tracks.iter().map(|track| track[i].map(f64::from)).collect()).collect();
    let mut lengths = vec![Vec::with_capacity(frames); tracks.len()];
    let mut means = Vec::with_capacity(frames);
    for step in placed.windows(2) {
        let mut sum = 0.0;
        for ((a, b), lengths) in step[0].iter().zip(&step[1]).zip(&mut lengths) {
            let length = norm([b[0] - a[0], b[1] - a[1]]);
            sum += length;
            lengths.push(length);
        }
        means.push(sum / tracks.len() as f64);
    }
    let speeds = lengths.iter_mut().map(|l| median(l).max(SLOWEST));
    let still = without_camera(&placed);
    let rigidity = rigidities(&placed);
    let shapes: Vec<TrackShape> = speeds
        .zip(rigidity)
        .enumerate()
        .map(|(k, (speed, rigidity))| {
            let mut sum = 0.0;
            for three in still.windows(3) {
                let [a, b, c] = [three[0][k], three[1][k], three[2][k]];
                sum += norm([c[0] - 2.0 * b[0] + a[0], c[1] - 2.0 * b[1] + a[1]]) / speed;
            }
            let jitter = sum / (frames - 2).max(1) as f64;
            let (j, r) = (jitter / JITTER_KNEE, rigidity / RIGIDITY_KNEE);
            let coherence = 1.0 / (1.0 + j * j) * (1.0 / (1.0 + r * r));
            TrackShape { jitter, rigidity, coherence }
        })
        .collect();
    let middle =
        |pick: fn(&TrackShape) -> f64| median(&mut shapes.iter().map(pick).collect::<Vec<_>>());
    Shape {
        motion: median(&mut means),
        jitter: middle(|t| t.jitter),
        rigidity: middle(|t| t.rigidity),
        coherent: shapes.iter().map(|t| t.coherence).sum(),
        tracks: shapes,
    }
}

fn norm([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

/// Median, the mean of the middle two of an even number; 0 for none. The order of `values` is lost.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if !even {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * (lower + upper)
}

/// A similarity without reflection: `(c x - s y + tx, s x + c y + ty)`.
#[derive(Debug, Clone, Copy)]
struct Similarity {
    c: f64,
    s: f64,
    t: [f64; 2],
}

impl Similarity {
    const IDENTITY: Self = Self { c: 1.0, s: 0.0, t: [0.0; 2] };

    fn turn(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.c * x - self.s * y, self.s * x + self.c * y]
    }

    fn map(&self, p: [f64; 2]) -> [f64; 2] {
        let [x, y] = self.turn(p);
        [x + self.t[0], y + self.t[1]]
    }

    /// This after the inverse of `step`; itself where that has none.
    fn after_inverse(&self, step: &Self) -> Self {
        let scale = step.c * step.c + step.s * step.s;
        if scale == 0.0 {
            return *self;
        }
        // The inverse of a turn by (c, s) is one by (c, -s) over its squared length.
        let (c, s) = (step.c / scale, -step.s / scale);
        let turned = Self { c: self.c * c - self.s * s, s: self.s * c + self.c * s, t: [0.0; 2] };
        let back = turned.turn(step.t);
        Self { t: [self.t[0] - back[0], self.t[1] - back[1]], ..turned }
    }

    /// The similarity that brings `a` to `b`, tracks that move otherwise counting little.
    fn fit(a: &[[f64; 2]], b: &[[f64; 2]]) -> Self {
        let mut fit = Self::IDENTITY;
        let mut weights = vec![1.0; a.len()];
        let mut residuals = vec![0.0; a.len()];
        for _ in 0..ROUNDS {
            let total: f64 = weights.iter().sum();
            if total < 1e-9 {
                break;
            }
            let centre = |points: &[[f64; 2]]| {
                [0, 1].map(|i| {
                    points.iter().zip(&weights).map(|(p, w)| w * p[i]).sum::<f64>() / total
                })
            };
            let (ca, cb) = (centre(a), centre(b));
            let (mut dot, mut cross, mut square) = (0.0, 0.0, 0.0);
            for ((p, q), w) in a.iter().zip(b).zip(&weights) {
                let (p, q) = ([p[0] - ca[0], p[1] - ca[1]], [q[0] - cb[0], q[1] - cb[1]]);
                dot += w * (p[0] * q[0] + p[1] * q[1]);
                cross += w * (p[0] * q[1] - p[1] * q[0]);
                square += w * (p[0] * p[0] + p[1] * p[1]);
            }
            if square < 1e-9 {
                break;
            }
            fit = Self { c: dot / square, s: cross / square, t: [0.0; 2] };
            let moved = fit.turn(ca);
            fit.t = [cb[0] - moved[0], cb[1] - moved[1]];
            for ((p, q), r) in a.iter().zip(b).zip(&mut residuals) {
                let [x, y] = fit.map(*p);
                *r = norm([q[0] - x, q[1] - y]);
            }
            let sigma = median(&mut residuals.clone()).max(LEAST_SIGMA);
            for (w, r) in weights.iter_mut().zip(&residuals) {
                let far = r / (2.0 * sigma);
                *w = 1.0 / (1.0 + far * far);
            }
        }
        fit
    }
}

/// The tracks in the first frame's coordinates: what the camera does from step to step taken back.
fn without_camera(placed: &[Vec<[f64; 2]>]) -> Vec<Vec<[f64; 2]>> {
    let mut chain = Similarity::IDENTITY;
    let mut out = Vec::with_capacity(placed.len());
    out.extend(placed.first().cloned());
    for step in placed.windows(2) {
        chain = chain.after_inverse(&Similarity::fit(&step[0], &step[1]));
        out.push(step[1].iter().map(|&p| chain.map(p)).collect());
    }
    out
}

/// How much the distances of each track to its nearest neighbours change, in percent.
fn rigidities(placed: &[Vec<[f64; 2]>]) -> Vec<f64> {
    let Some(first) = placed.first() else { return Vec::new() };
    let count = NEIGHBOURS.min(first.len().saturating_sub(1));
    let pairs: Vec<(usize, usize)> = (0..first.len())
        .flat_map(|k| nearest(first, k, count).into_iter().map(move |n| (k, n)))
        .collect();
    let apart = |points: &[[f64; 2]]| -> Vec<f64> {
        pairs
            .iter()
            .map(|&(k, n)| norm([points[k][0] - points[n][0], points[k][1] - points[n][1]]))
            .collect()
    };
    let start = apart(first);
    let ratios: Vec<Vec<f64>> = placed
        .iter()
        .map(|points| {
            let mut ratios = apart(points);
            for (ratio, start) in ratios.iter_mut().zip(&start) {
                *ratio /= start.max(NEAREST);
            }
            // What all distances do together is zoom.
            let middle = median(&mut ratios.clone()).max(1e-6);
            ratios.iter_mut().for_each(|ratio| *ratio /= middle);
            ratios
        })
        .collect();
    let mut changes = vec![0.0; pairs.len()];
    for three in ratios.windows(3) {
        for (i, change) in changes.iter_mut().enumerate() {
            *change += (three[2][i] - 2.0 * three[1][i] + three[0][i]).abs();
        }
    }
    let steps = ratios.len().saturating_sub(2).max(1) as f64;
    changes
        .chunks(count.max(1))
        .map(|c| 100.0 * (c.iter().map(|v| v / steps).sum::<f64>() / c.len() as f64))
        .collect()
}

/// The `count` tracks nearest to track `k`; of equally near ones those that come first.
fn nearest(points: &[[f64; 2]], k: usize, count: usize) -> Vec<usize> {
    let mut found: Vec<(f64, usize)> = Vec::with_capacity(count + 1);
    for (n, p) in points.iter().enumerate() {
        let (x, y) = (p[0] - points[k][0], p[1] - points[k][1]);
        let square = x * x + y * y;
        if n == k || (found.len() == count && found.last().is_none_or(|f| square >= f.0)) {
            continue;
        }
        let at = found.partition_point(|f| f.0 <= square);
        found.insert(at, (square, n));
        found.truncate(count);
    }
    found.into_iter().map(|(_, n)| n).collect()
}
