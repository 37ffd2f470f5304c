"""Follow things through a clip: do they hold their shape, and as well as in a control?

:func:`tracks` measures one clip, and judges it where a reference is given; :func:`draw` shows what
it followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from screentest import compute
from screentest.errors import InputError
from screentest.reports import canonical
from screentest.reports.tracks import tracks_record
from screentest.verdicts.tracks import track_verdict
from screentest.verdicts.tracks_policy import as_track_policy

if TYPE_CHECKING:
    from screentest.media.clip import Clip
    from screentest.metrics.tracks.facts import TrackFacts
    from screentest.verdicts.tracks import TrackVerdict
    from screentest.verdicts.tracks_policy import TrackPolicyLike

__all__ = ["Tracking", "draw", "tracks"]


@dataclass(frozen=True, slots=True, eq=False)
class Tracking:
    """The facts of a clip, and where a reference was given its facts and the verdict.

    ``windows`` is what was asked for; a short clip has fewer.
    """

    facts: TrackFacts
    reference: TrackFacts | None = None
    verdict: TrackVerdict | None = None
    windows: int = 4

    @property
    def passed(self) -> bool:
        """True for the verdict ``pass`` alone: what has no reference is not judged."""
        return self.verdict is not None and self.verdict.passed

    def to_dict(self) -> dict[str, Any]:
        """The record that ``screentest tracks --json`` prints, as plain data."""
        return tracks_record(self)

    def to_json(self) -> bytes:
        """The record as canonical JSON (RFC 8785): equal measurements are equal bytes."""
        return canonical.dumps(self.to_dict())


def tracks(
    source: Any,
    reference: Any = None,
    *,
    windows: int = 4,
    trajectories: bool = False,
    policy: TrackPolicyLike = None,
    threads: int | None = None,
    **open_options: Any,
) -> Tracking:
    """Follow a clip's corners through windows of it, and judge it against a reference if given.

    Args:
        source: the clip in question: whatever :func:`~screentest.media.open_clip` opens.
        reference: its control, another take of the same scene, of any size and length. With it both
            clips are read whole, for flicker and standstill, which mislead a tracker.
        windows: windows of up to 24 frames, spread over the clip.
        trajectories: keep where each track of ``source`` went, for drawing.
        policy: limits of the verdict, or the path of a TOML file with them.
        threads: compute budget of decoder and kernels together; default ``min(4, CPUs)``.
        **open_options: passed to :func:`~screentest.media.open_clip` for both clips.

    Returns:
        Facts, and with a reference the verdict: a failed one is a result.

    Raises:
        MediaError: a clip cannot be read, or has fewer than 3 frames.
        InputError: an argument is wrong.
        PolicyError: the policy contradicts itself.
        FileNotFoundError: there is no such file.

    Example:
        >>> import numpy as np
        >>> flat = np.full((4, 64, 64, 3), 90, np.uint8)
        >>> result = tracks(flat)
        >>> result.facts.track_stability, result.verdict, result.passed
        (None, None, False)
    """
    checked = as_track_policy(policy)
    budget = compute.threads(threads)
    judged = reference is not None
    with _opened(source, budget, open_options) as clip:
        ours = _measured(clip, windows, budget, judged, trajectories)
    facts: TrackFacts = ours["tracks"]
    if not judged:
        return Tracking(facts=facts, windows=windows)
    with _opened(reference, budget, open_options) as clip:
        theirs = _measured(clip, windows, budget, judged)
    verdict = track_verdict(
        facts,
        theirs["tracks"],
        policy=checked,
        candidate_temporal=ours.get("temporal"),
        reference_temporal=theirs.get("temporal"),
        candidate_integrity=ours.get("integrity"),
        reference_integrity=theirs.get("integrity"),
    )
    return Tracking(facts=facts, reference=theirs["tracks"], verdict=verdict, windows=windows)


def draw(
    result: Tracking,
    source: Any,
    *,
    video: str | os.PathLike[str] | None = None,
    png: str | os.PathLike[str] | None = None,
    series: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    **open_options: Any,
) -> None:
    """Draw what :func:`tracks` followed; ``source`` is the clip that was measured.

    Args:
        result: measured with ``trajectories=True``.
        source: what was measured, read again.
        video: an mp4 of the windows with their tracks.
        png: a sheet of the windows, each with the way of every track, and the worst tracks.
        series: luma, motion, jerk, shimmer, sharpness and living tracks over time, .svg or .png.
        threads: compute budget of decoder and encoder together; default ``min(4, CPUs)``.
        **open_options: passed to :func:`~screentest.media.open_clip`.

    Each file is written whole or not at all. Raises
    :class:`~screentest.errors.MissingBackendError` without the ``report`` extra,
    :class:`~screentest.errors.InputError` where there are no trajectories, and what reading
    ``source`` raises.
    """
    if video is None and png is None and series is None:
        return
    from screentest.metrics.signal import measure_signal
    from screentest.reports import overlay

    budget = compute.threads(threads)
    with _opened(source, budget, open_options) as clip:
        if png is not None:
            overlay.write_tracks_png(clip, result.facts, png, threads=budget)
        if series is not None:
            overlay.write_series(measure_signal(clip, threads=budget), result.facts, series)
        if video is not None:
            overlay.write_tracks_video(clip, result.facts, video, threads=budget)


@contextmanager
def _opened(source: Any, threads: int, open_options: dict[str, Any]) -> Iterator[Clip]:
    from screentest.media import open_clip
    from screentest.media.clip import Clip

    if not isinstance(source, Clip):
        with open_clip(source, threads=threads, **open_options) as clip:
            yield clip
        return
    if open_options:
        raise InputError(
            f"an opened clip takes no {', '.join(sorted(open_options))}; "
            "give it to open_clip instead"
        )
    yield source


def _measured(
    clip: Clip, windows: int, threads: int, judged: bool, trajectories: bool = False
) -> dict[str, Any]:
    """Facts by family, from one decode; for a verdict with those of what a tracker mistakes for
    warble, or for calm."""
    from screentest.metrics.families import choose, resolve_options
    from screentest.metrics.one_pass import run

    chosen = choose("integrity,temporal,tracks" if judged else "tracks")
    given = {"tracks": {"trajectories": trajectories}}
    options = resolve_options(chosen, given, windows=windows)
    found = run(clip, chosen, options, threads)
    if "tracks" in found.refused:
        refused = found.refused["tracks"]
        # Two clips are read; which of them is too short?
        message = f"{canonical.printable(clip.info.source)}: {refused.message}"
        raise type(refused)(message, code=refused.code, **refused.context)
    return found.facts
