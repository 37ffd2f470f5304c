//! What one frame's comparison is worked on in, and leaves for the next.

use rayon::prelude::*;

use super::window::Work;
use crate::spare::Spare;

/// How the parts of a frame are worked on, and in what.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Parts side by side, on the pool that the caller entered; else one after the other.
    pub(super) parallel: bool,
    pub(super) works: Spare<Work>,
    pub(super) planes: Spare<Vec<f32>>,
}

impl Scratch {
    /// The results of parts 0 to `count`, in order.
    pub(super) fn each<R: Send>(&self, count: usize, part: impl Fn(usize) -> R + Sync) -> Vec<R> {
        if self.parallel && count > 1 {
            (0..count).into_par_iter().map(&part).collect()
        } else {
            (0..count).map(&part).collect()
        }
    }

    /// Calls `part` on consecutive pieces of `out` of `size` items, with the number of each.
    pub(super) fn pieces<T: Send>(
        &self,
        out: &mut [T],
        size: usize,
        part: impl Fn(usize, &mut [T]) + Sync,
    ) {
        if self.parallel {
            out.par_chunks_mut(size).enumerate().for_each(|(i, piece)| part(i, piece));
        } else {
            out.chunks_mut(size).enumerate().for_each(|(i, piece)| part(i, piece));
        }
    }
}
