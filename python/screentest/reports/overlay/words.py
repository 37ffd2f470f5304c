"""The numbers of a window and of a clip in words, for captions and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.tracks.facts import TrackFacts, TrackWindow

__all__ = ["clip_line", "clip_numbers", "when", "window_numbers", "window_span"]


def window_span(facts: TrackFacts, at: int) -> str:
    """Which frames a window has: ``window 2 of 4 · frames 36-59 · 1.44-2.40 s``."""
    window, clip = facts.windows[at], facts.clip
    said = f"window {at + 1} of {len(facts.windows)}"
    said += f" · frames {window.start}-{window.start + window.frames - 1}"
    if clip.frame_rate and clip.constant_frame_rate:
        start, end = (n / clip.frame_rate for n in (window.start, window.start + window.frames))
        said += f" · {start:.2f}-{end:.2f} s"
    return said


def window_numbers(window: TrackWindow) -> str:
    """What was measured in a window, with units; or why nothing was."""
    if not window.seeded:
        return "no corner to follow"
    said = f"{window.alive} of {window.seeded} tracks live"
    if window.coherent is None:
        return f"{said} · too few to measure"
    parts = [said, f"coherent {window.coherent:.1f}"]
    if window.jitter is not None:
        parts.append(f"jitter {window.jitter:.3f}")
    if window.rigidity_error is not None:
        parts.append(f"rigidity error {window.rigidity_error:.3f} %")
    if window.motion is not None:
        parts.append(f"motion {window.motion:.2f} px/frame")
    return " · ".join(parts)


def clip_numbers(facts: TrackFacts) -> str:
    """The clip's own numbers; what could not be measured says so."""
    parts = []
    for name, value, form in (
        ("stability", facts.track_stability, ".3f"),
        ("survival", facts.track_survival, ".3f"),
        ("jitter", facts.track_jitter, ".3f"),
        ("rigidity error", facts.track_rigidity_error, ".3f"),
        ("motion", facts.motion_magnitude, ".2f"),
    ):
        unit = {"rigidity error": " %", "motion": " px/frame"}.get(name, "")
        parts.append(f"{name} not measured" if value is None else f"{name} {value:{form}}{unit}")
    return " · ".join(parts)


def clip_line(facts: TrackFacts) -> str:
    """Size, length, and the size at which tracks were followed."""
    clip = facts.clip
    about = f"{clip.width}x{clip.height}"
    if clip.frames is not None:
        about += f", {clip.frames} frame{'s' * (clip.frames != 1)}"
    if clip.duration_s is not None:
        about += f", {clip.duration_s:.2f} s"
    return f"{about}; followed at {facts.working_width}x{facts.working_height}"


def when(clip: ClipInfo, index: int, time_s: float | None) -> str:
    """A frame and its time from the clip's first: ``frame 41 · 1.64 s``."""
    if time_s is None:
        return f"frame {index}"
    return f"frame {index} · {time_s - (clip.start_s or 0.0):.2f} s"
