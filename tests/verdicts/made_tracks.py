"""Track facts made by hand, with the fields that the verdict reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from screentest.metrics.facts import Unmeasured
from screentest.metrics.tracks import TrackFacts, TrackWindow
from tests.verdicts.made import clip_info


def window(
    start: int = 0,
    *,
    seeded: int = 400,
    survival: float = 0.9,
    stability: float = 0.8,
    motion: float | None = 1.3,
    brightness: Sequence[float] | float = 118.0,
    frames: int = 24,
    left: int = 0,
) -> TrackWindow:
    """One window; its shape is unknown without 8 corners."""
    bare = seeded < 8
    light = [brightness] * frames if isinstance(brightness, float) else list(brightness)
    return TrackWindow(
        start=start,
        frames=frames,
        seeded=seeded,
        alive=0 if bare else round(survival * seeded),
        left=left,
        coherent=None if bare else stability * seeded,
        jitter=None if bare else 0.02,
        rigidity_error=None if bare else 0.16,
        motion=None if bare else motion,
        brightness=tuple(light),
    )


def tracks(
    windows: Sequence[TrackWindow] | None = None,
    *,
    impl: str = "tracks/1",
    clip: dict[str, Any] | None = None,
    unmeasured: Sequence[Unmeasured] = (),
    **numbers: Any,
) -> TrackFacts:
    """Facts of a clip of four windows; ``numbers`` replace what follows from them."""
    shown = [window(8 * k) for k in range(4)] if windows is None else list(windows)
    told = [w for w in shown if w.seeded >= 8]
    seeded = sum(w.seeded for w in told)
    stayed = seeded - sum(w.left for w in told)
    motions = sorted(w.motion for w in told if w.motion is not None)
    known: dict[str, Any] = {
        "track_stability": sum(w.coherent or 0.0 for w in told) / seeded if seeded else None,
        "stability_inside": sum(w.coherent or 0.0 for w in told) / stayed if stayed else None,
        "track_survival": sum(w.alive for w in told) / seeded if seeded else None,
        "track_jitter": 0.02 if told else None,
        "track_rigidity_error": 0.16 if told else None,
        "motion_magnitude": motions[len(motions) // 2] if motions else None,
    }
    if "track_stability" in numbers:
        # As where none has left the picture.
        known["stability_inside"] = numbers["track_stability"]
    return TrackFacts(
        impl=impl,
        clip=clip_info(**(clip or {})),
        damage=(),
        working_width=512,
        working_height=288,
        windows=tuple(shown),
        frames_read=48,
        trajectories=None,
        unmeasured=tuple(unmeasured),
        **{**known, **numbers},
    )
