"""The temporal verdict: does the picture flicker, flash or judder? Fades and cuts are told apart.

Pure: the same facts under the same policy give the same judgement, and nothing is read or measured.
By default every finding warns. A strobe, a fire or a welder in the scene reads like a render whose
gain jitters, animation on twos like a render whose frames are held, and no number here can tell.
Frozen stretches and duplicated frames are the integrity screen's; its facts bring them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal.facts import AXES
from screentest.metrics.temporal.rhythm import dominant, hertz
from screentest.verdicts.applicability import why_not_levels, why_not_whole_frames
from screentest.verdicts.changes import Change, cuts, fades
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Defect, Judgement, Note, Severity, fold
from screentest.verdicts.swings import LEVELS, Swing, Swings
from screentest.verdicts.temporal_policy import TemporalPolicyLike, as_temporal_policy
from screentest.verdicts.timeline import Timeline, listed, percent, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.metrics.integrity import IntegrityFacts
    from screentest.metrics.temporal import TemporalFacts
    from screentest.verdicts.temporal_policy import TemporalPolicy

__all__ = ["SCOPE_NOTE", "judge_temporal"]

SCOPE_NOTE = (
    "A light that flashes in the scene reads like a render that flickers, and drawing on twos like "
    "held frames: look before you reject. What repeats more slowly than every eighth frame, and "
    "what lasts longer than four, is taken for the scene."
)

SHARED_CODES = ("frozen", "duplicate")
"""Findings of the integrity screen that speak of time."""

ACROSS = 0.5
"""Share of its height by which a flash beside a cut jumps at the side that is not the cut."""

ROWS = ("top", "upper middle", "lower middle", "bottom")
COLUMNS = ("left", "centre left", "centre right", "right")


def judge_temporal(
    facts: TemporalFacts,
    integrity_facts: IntegrityFacts | None = None,
    policy: TemporalPolicyLike = None,
) -> Judgement:
    """Judge the facts of one clip: ``pass``, ``reject`` or ``unmeasured``, with every reason.

    Defects are ``flicker`` (brightness that swings again and again, of the whole picture or of one
    of its sixteen parts), ``flash`` (a few frames brighter or darker than those around them) and
    ``judder`` (frames held in a rhythm); notes are ``cut`` and ``fade``. With ``integrity_facts``
    of the same clip the screen's own ``frozen`` and ``duplicate`` defects stand among them, as its
    default policy weighs them. A reject outweighs an unmeasured axis, which outweighs a pass.
    """
    policy = as_temporal_policy(policy)
    judge = _Judge(facts, policy)
    defects = [*judge.flicker(), *judge.region_flicker(), *judge.flash(), *judge.judder()]
    if integrity_facts is not None:
        screened = judge_integrity(integrity_facts).defects
        defects += [defect for defect in screened if defect.code in SHARED_CODES]
    gaps = tuple(judge.gaps[axis] for axis in AXES if axis in judge.gaps)
    return Judgement(
        verdict=fold(defects, gaps, required=policy.required),
        defects=tuple(sorted(defects, key=lambda defect: defect.severity != "reject")),
        unmeasured=gaps,
        notes=judge.notes(),
    )


class _Judge:
    def __init__(self, facts: TemporalFacts, policy: TemporalPolicy) -> None:
        self.facts = facts
        self.limits = policy.limits
        self.severities = policy.severities
        self.timeline = Timeline(facts)
        self.gaps = dict(_gaps(facts))
        self.series = facts.series
        self.index = np.asarray(self.series.index, dtype=np.int64)
        self.swings = Swings(facts, policy.limits, self.timeline)

    # ------------------------------------------------------------------ the whole picture

    def flicker(self) -> Iterator[Defect]:
        if "flicker" in self.gaps:
            return
        quick = [chain for chain in self.swings.flickers if self.swings.is_quick(chain)]
        if not quick:
            return
        worst = max(quick, key=len)
        heights = np.asarray(self.series.shared, dtype=np.float64)
        frames, strength, how = self._described(worst, heights)
        more = ""
        if len(quick) > 1:
            more = f"; the longest of {len(quick)} stretches, {sum(map(len, quick))} swings in all"
        yield self._defect(
            self.severities.flicker,
            "flicker",
            strength,
            self.limits.excursion_levels.value,
            "8-bit levels",
            frames,
            f"the picture's brightness flickers by {strength:.1f} levels, {how}: "
            f"{self.timeline.where(*frames)}{more}",
        )

    def _described(
        self, chain: list[Swing], heights: npt.NDArray[np.float64]
    ) -> tuple[tuple[int, int], float, str]:
        """Its frames, its median height, and its rhythm in words."""
        first, last = chain[0].first, max(swing.last for swing in chain)
        stretch = np.nan_to_num(heights[first : last + 1])
        strength = float(np.median([abs(swing.height) for swing in chain]))
        frequency, periodicity = dominant(stretch)
        times = self.series.time_s
        rate = hertz(frequency, stretch, None if times is None else times[first : last + 1])
        hz = "" if rate is None else f", {rate:.3g} Hz"
        if frequency > 0.0 and periodicity >= self.limits.flicker_periodic.value:
            how = f"every {1.0 / frequency:.3g} frames{hz}"
        else:
            how = f"without a rhythm, {plural(len(chain), 'swing')}"
        return (int(self.index[first]), int(self.index[last])), strength, how

    def flash(self) -> Iterator[Defect]:
        if "flash" in self.gaps:
            return
        flashes = [swing for swing in self.swings.flashes() if not self._seems(swing)]
        if not flashes:
            return
        worst = max(flashes, key=lambda swing: abs(swing.height))
        frames = self._frames(worst)
        lasts = plural(frames[1] - frames[0] + 1, "frame")
        how = "brighter" if worst.height > 0 else "darker"
        text = f"a flash: {lasts} {abs(worst.height):.1f} levels {how} than those around, "
        text += self.timeline.where(*frames)
        if len(flashes) > 1:
            others = [self._frames(swing)[0] for swing in flashes if swing is not worst]
            text += f"; the strongest of {len(flashes)}, others at {listed(others)}"
        yield self._defect(
            self.severities.flash,
            "flash",
            abs(worst.height),
            self.limits.flash_levels.value,
            "8-bit levels",
            frames,
            text,
        )

    def _frames(self, swing: Swing) -> tuple[int, int]:
        return int(self.index[swing.first]), int(self.index[swing.last])

    @cached_property
    def _cuts(self) -> list[Change]:
        return list(cuts(self.series, self.limits, self.swings.shared))

    def _seems(self, swing: Swing) -> bool:
        """Whether a swing only seems to be one, because a cut bars the view of one of its sides.

        What drifts up to a cut stands above the frames before and the scene after. A flash beside a
        cut jumps at its other side as well.
        """
        first, last = self._frames(swing)
        mean = LEVELS * np.asarray(self.series.luma_mean, dtype=np.float64)
        jumps = np.abs(np.diff(mean, prepend=mean[0], append=mean[-1]))
        least = ACROSS * abs(swing.height)
        at = {change.frames[0] for change in self._cuts}
        before, after = first in at, last + 1 in at
        return (before and (after or bool(jumps[swing.last + 1] < least))) or (
            after and bool(jumps[swing.first] < least)
        )

    # ------------------------------------------------------------------ one part of it

    def region_flicker(self) -> Iterator[Defect]:
        """The parts that flicker while the picture as a whole does not."""
        if "flicker" in self.gaps:
            return
        found = []
        for row in range(4):
            for column in range(4):
                heights = np.asarray(self.series.regions[:, row, column], dtype=np.float64)
                found += [(chain, heights, row, column) for chain in self._region_chains(heights)]
        if not found:
            return
        chain, heights, row, column = max(
            found, key=lambda entry: (len(entry[0]), abs(entry[0][0].height))
        )
        frames, strength, how = self._described(chain, heights)
        parts = len({(entry[2], entry[3]) for entry in found})
        more = f"; {parts} of 16 parts of the picture flicker" if parts > 1 else ""
        yield self._defect(
            self.severities.region_flicker,
            "flicker",
            strength,
            self.limits.region_levels.value,
            "8-bit levels",
            frames,
            f"the {ROWS[row]}, {COLUMNS[column]} part of the picture flickers by {strength:.1f} "
            f"levels, {how}: {self.timeline.where(*frames)}{more}",
        )

    def _region_chains(self, heights: npt.NDArray[np.float64]) -> Iterator[list[Swing]]:
        limits = self.limits
        whole = {
            p for chain in self.swings.flickers for s in chain for p in range(s.first, s.last + 1)
        }
        swings = [
            swing
            for swing in self.swings.of(heights, limits.region_levels.value)
            if swing.first not in whole
        ]
        for chain in self.swings.chains(swings):
            if len(chain) < limits.region_swings.value or not self.swings.is_quick(chain):
                continue
            first, last = chain[0].first, max(swing.last for swing in chain)
            stretch = np.nan_to_num(heights[first : last + 1])
            if dominant(stretch)[1] < limits.region_periodic.value:
                continue
            motion = LEVELS * np.nan_to_num(self.series.motion[first : last + 1]).mean()
            if np.abs(stretch).mean() >= limits.region_motion.value * 16.0 * motion:
                yield chain

    # ------------------------------------------------------------------ rhythm of motion

    def _is_light(self, moving: npt.NDArray[np.bool_]) -> bool:
        """Whether frames differ by their mean luma rather than by motion, in the median of the
        ``moving``; if so, that is why judder is not judged."""
        motion = np.asarray(self.series.motion, dtype=np.float64)
        mean = np.asarray(self.series.luma_mean, dtype=np.float64)
        change = np.abs(np.diff(mean, prepend=mean[0]))[moving]
        if float(np.median(change / motion[moving])) <= self.limits.judder_brightness.value:
            return False
        self.gaps["judder"] = Unmeasured(
            "judder",
            "frames differ by their brightness more than by motion, so motion shows no rhythm",
            applies=False,
        )
        return True

    def judder(self) -> Iterator[Defect]:
        cadence, limits = self.facts.cadence, self.limits
        if "judder" in self.gaps or cadence is None:
            return
        motion = LEVELS * np.nan_to_num(np.asarray(self.series.motion, dtype=np.float64))
        # What a coder refines in a held picture is no motion.
        moves = motion >= limits.judder_levels.value
        if not moves.any():
            self.gaps["judder"] = Unmeasured(
                "judder",
                f"no frame moves by {limits.judder_levels.value:g} levels, so there is no rhythm",
                applies=False,
            )
            return
        if self._is_light(moves) or cadence.explained < limits.judder_explained.value:
            return
        pattern = np.asarray(cadence.pattern)
        held = pattern <= limits.judder_held.value
        fresh = ~held[self.index % cadence.period] & np.isfinite(self.series.motion)
        count = int(held.sum())
        if not count or float(np.median(motion[fresh])) < limits.judder_levels.value:
            return
        if (cadence.period - count) / cadence.period < limits.judder_fresh.value:
            return
        # A strobe on a picture that moves a little: only the light comes in a rhythm.
        if self._is_light(fresh & moves):
            return
        frames = (int(self.index[0]), int(self.index[-1]))
        rate = ""
        duration = self.timeline.duration(*frames)
        if duration:
            new = (cadence.period - count) / cadence.period * len(self.index) / duration
            rate = f", so {new:.4g} of {len(self.index) / duration:.4g} frames a second are new"
        what = (
            "every other frame repeats"
            if cadence.period == 2
            else (
                f"in every {cadence.period} frames {count} {'repeats' if count == 1 else 'repeat'}"
            )
        )
        yield self._defect(
            self.severities.judder,
            "judder",
            cadence.explained,
            limits.judder_explained.value,
            "share of variation",
            frames,
            f"motion comes in a rhythm: {what} the one before{rate} "
            f"({_drawn(held)}, where x moves and - is held; the rhythm explains "
            f"{percent(cadence.explained)} of how motion varies)",
        )

    # ------------------------------------------------------------------ no defects

    def notes(self) -> tuple[Note, ...]:
        if "flicker" in self.gaps:
            return ()
        found = [
            *self._cuts,
            *fades(self.series, self.limits),
        ]
        return tuple(
            Note(
                code=change.code,
                value=change.value,
                unit="8-bit levels",
                message=f"{change.says} {self.timeline.where(*change.frames)}",
                frames=change.frames,
                seconds=self.timeline.span(*change.frames),
            )
            for change in sorted(found, key=lambda change: change.frames)
        )

    def _defect(
        self,
        severity: Severity,
        code: str,
        value: float,
        limit: float,
        unit: str,
        frames: tuple[int, int],
        message: str,
    ) -> Defect:
        return Defect(
            severity=severity,
            code=code,
            value=value,
            limit=limit,
            unit=unit,
            frames=frames,
            seconds=self.timeline.span(*frames),
            message=message,
        )


def _drawn(held: npt.NDArray[np.bool_]) -> str:
    return "".join("-" if h else "x" for h in held.tolist())


def _gaps(facts: TemporalFacts) -> Iterator[tuple[str, Unmeasured]]:
    """Per axis why it gives no verdict; the first reason given for an axis stands."""
    reasons: dict[str, Unmeasured] = {}

    def gap(axes: tuple[str, ...], reason: str | None) -> None:
        for axis in axes:
            if reason is not None:
                reasons.setdefault(axis, Unmeasured(axis, reason))

    gap(AXES, why_not_whole_frames(facts.clip))
    gap(("flicker", "flash"), why_not_levels(facts.clip))
    frames = facts.clip.frames
    if frames is not None and facts.frames_read < frames:
        gap(AXES, f"only {facts.frames_read} of {plural(frames, 'frame')} could be read")
    for found in facts.unmeasured:
        reasons.setdefault(found.axis, found)
    yield from reasons.items()
