"""Do things hold their shape as they move: corners followed through windows of frames.

In up to four windows of 24 frames, up to 400 corners of the first frame are followed from frame to
frame by pyramidal Lucas-Kanade, forward and back; a track that does not come back to where it began
within a pixel, or leaves the picture, is lost. Camera movement is taken out by a robust fit of a
similarity to each step. What is left says how steadily each track moves (jitter) and how well it
keeps its distance to its neighbours (rigidity).

The numbers are those of the picture in 8-bit grey at a height of at most 384. They depend on what
is shown: a warble shows in the ratio to a control of the same prompt. A change of exposure reads as
unsteadiness too, which is why the brightness of each frame is among the facts; a frozen clip reads
as perfectly steady.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.tracks.accumulator import TrackAccumulator
    from screentest.metrics.tracks.facts import TrackFacts, TrackWindow, Trajectories, track_ratio
    from screentest.metrics.tracks.measure import measure_tracks
    from screentest.metrics.tracks.names import IMPL, METRICS

__all__ = [
    "IMPL",
    "METRICS",
    "TrackAccumulator",
    "TrackFacts",
    "TrackWindow",
    "Trajectories",
    "measure_tracks",
    "track_ratio",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "accumulator", "measure"))
