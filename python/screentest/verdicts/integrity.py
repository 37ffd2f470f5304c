"""The integrity verdict: facts and a policy in, defects that say what, where and how bad out.

Pure: the same facts under the same policy give the same judgement, and nothing is read or measured.
This is not a quality gate. It says whether a clip is a render at all; a melted render can score
higher on every axis than a clean one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from screentest import _native
from screentest.errors import PolicyError
from screentest.metrics.facts import Unmeasured
from screentest.verdicts.applicability import gaps_of, is_complete
from screentest.verdicts.delivery import DeliveryLike, as_delivery
from screentest.verdicts.judgement import Defect, Judgement, Severity, fold
from screentest.verdicts.ordered import Sights, judge_delivery
from screentest.verdicts.policy import AXES, CALIBRATED_AXES, Policy, PolicyLike, as_policy
from screentest.verdicts.stillness import Hold, Stillness
from screentest.verdicts.timeline import Timeline, listed, percent, plural, runs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from screentest.metrics.integrity import IntegrityFacts

__all__ = ["SCOPE_NOTE", "judge_integrity"]

SCOPE_NOTE = (
    "An integrity screen, not a quality gate: it says whether a clip is a render at all. "
    "A melted render can score higher on every axis than a clean one."
)

CODER_BLOCKS = (8.0, 16.0)
"""Sides in px of the blocks that video coders work in."""

MIN_SAMPLED_PAIRS = 3
"""A median of one or two pairs is at the mercy of one cut; below this every pair read is asked."""

NEAR_WHITE_LUMA = 0.9

NEUTRAL_SPREAD = 0.04
"""Channels within 10 levels of each other look grey."""


def judge_integrity(
    facts: IntegrityFacts,
    policy: PolicyLike = None,
    spec: DeliveryLike = None,
    require: Iterable[str] = (),
) -> Judgement:
    """Judge the facts of one clip: ``pass``, ``reject`` or ``unmeasured``, with every reason.

    A reject outweighs an unmeasured axis, which outweighs a pass. ``require`` names axes that must
    have been measured whatever the policy says and even where they do not apply to the clip. On a
    sampled screen the policy's own requirement is limited to the calibrated axes.

    ``policy`` and ``spec`` may be the paths of their TOML files.

    Raises :class:`~screentest.errors.PolicyError` for an unknown axis in ``require``, and for a
    policy or spec that contradicts itself.
    """
    policy, spec = as_policy(policy), as_delivery(spec)
    insisted = frozenset(require)
    for axis in sorted(insisted):
        if axis not in AXES:
            raise PolicyError(
                f"require names {axis!r}, which is no axis; the axes are {', '.join(AXES)}",
                code="unknown_axis",
                axis=axis,
            )
    judge = _Judge(facts, policy)
    defects = [*judge.damaged(), *judge.non_finite(), *judge.blank_and_stretches()]
    defects += [*judge.grid(), *judge.frozen_and_duplicate()]
    defects += judge.noise()  # last: whether it can be told depends on what is flat or frozen
    gaps = [judge.gaps[axis] for axis in AXES if axis in judge.gaps]
    required = set(policy.required)
    if facts.depth == "sampled":
        required &= set(CALIBRATED_AXES)
    if spec is not None:
        ordered = judge_delivery(facts, spec, judge.sights())
        defects = _with_breaches(defects, ordered.defects)
        gaps += ordered.gaps
        required |= {gap.axis for gap in ordered.gaps}
    return Judgement(
        verdict=fold(defects, gaps, required=required, insisted=insisted),
        defects=tuple(sorted(defects, key=lambda defect: defect.severity != "reject")),
        unmeasured=tuple(gaps),
    )


def _with_breaches(defects: list[Defect], breaches: list[Defect]) -> list[Defect]:
    """A breach of the spec replaces the warning about the same thing."""
    replaced = {breach.code for breach in breaches}
    kept = [
        defect for defect in defects if defect.severity == "reject" or defect.code not in replaced
    ]
    return kept + breaches


class _Judge:
    """The axes of one clip. ``gaps`` gains what turns out not to be measurable on the way."""

    def __init__(self, facts: IntegrityFacts, policy: Policy) -> None:
        self.facts = facts
        self.policy = policy
        self.limits = policy.limits
        self.timeline = Timeline(facts)
        self.gaps = gaps_of(facts)
        self.index: npt.NDArray[np.int64] = np.asarray(facts.series.index, dtype=np.int64)
        self.is_blank = False
        self.is_one_frame = False

    @cached_property
    def flat(self) -> npt.NDArray[np.bool_]:
        """Per frame: nothing to see. All false where flatness has no calibrated meaning."""
        std = np.asarray(self.facts.series.luma_std, dtype=np.float64)
        if "blank" in self.gaps:
            return np.zeros(len(std), dtype=np.bool_)
        return std < self.limits.blank_std.value

    @cached_property
    def dark(self) -> npt.NDArray[np.bool_]:
        """Per frame: flat, and dark enough to be called black."""
        mean = np.asarray(self.facts.series.luma_mean, dtype=np.float64)
        return self.flat & (mean < self.limits.black_luma.value)

    @cached_property
    def still(self) -> Stillness:
        return Stillness(self.facts.series, self.limits, self.timeline)

    def sights(self) -> Sights:
        """What the delivery spec counts, ``None`` where the axis gave no number."""
        return Sights(
            timeline=self.timeline,
            dark=None if "black" in self.gaps else self.dark,
            still=None if "frozen" in self.gaps else self.still,
            duplicates=None if "duplicate" in self.gaps else self._duplicates,
            index=self.index,
            gaps=self.gaps,
        )

    def damaged(self) -> Iterator[Defect]:
        facts = self.facts
        places = list(facts.damage)
        texts = [_place(damage.frame, damage.detail) for damage in places]
        missing = facts.frames - facts.frames_read
        if not places and facts.depth == "full" and missing > 0:
            # Nobody reported why, which is no reason to judge the rest as if it were the clip.
            texts = [f"{plural(missing, 'frame')} of {facts.frames} could not be read"]
        if not texts:
            return
        known = [damage.frame for damage in places if damage.frame is not None]
        frames = (min(known), max(known)) if known else None
        yield Defect(
            severity="reject",
            code="damaged",
            value=float(len(texts)),
            limit=0.0,
            unit="places",
            frames=frames,
            seconds=self.timeline.span(*frames) if frames else None,
            message=f"the file is damaged in {plural(len(texts), 'place')}: "
            f"{listed(texts, most=4)}",
        )

    def non_finite(self) -> Iterator[Defect]:
        facts = self.facts
        if not facts.non_finite_samples:
            return
        runs = facts.non_finite_frames
        frames = (runs[0][0], runs[-1][1]) if runs else None
        named = listed([str(a) if a == b else f"{a}-{b}" for a, b in runs])
        message = f"{plural(facts.non_finite_samples, 'sample')} NaN or infinite in frames {named}"
        if facts.non_finite_first is not None:
            frame, row, column = facts.non_finite_first
            message += f"; the first in frame {frame} at row {row}, column {column}"
        yield Defect(
            severity="reject",
            code="non_finite",
            value=float(facts.non_finite_samples),
            limit=0.0,
            unit="samples",
            frames=frames,
            seconds=self.timeline.span(*frames) if frames else None,
            message=message,
        )

    def blank_and_stretches(self) -> Iterator[Defect]:
        if "blank" in self.gaps or not len(self.flat):
            return
        limit = self.limits.blank_share.value
        count = int(self.flat.sum())
        share = count / len(self.flat)
        if share >= limit:
            self.is_blank = True
            span = (int(self.index[0]), int(self.index[-1]))
            yield Defect(
                severity=self.policy.severities.blank,
                code="blank",
                value=share,
                limit=limit,
                unit="share of frames",
                frames=span,
                seconds=self.timeline.span(*span),
                message=f"the clip is blank: {count} of {plural(len(self.flat), 'frame')} "
                f"{'is' if count == 1 else 'are'} flat {self._colour(self.flat)}",
            )
            return
        severities = self.policy.severities
        # A fade may touch black and another colour: each word gets its own stretches.
        yield from self._stretches(self.dark, "black", severities.black, limit)
        yield from self._stretches(self.flat & ~self.dark, "blank", severities.flat, limit)

    def _stretches(
        self, mask: npt.NDArray[np.bool_], code: str, severity: Severity, limit: float
    ) -> Iterator[Defect]:
        for first, last in runs_of(mask, self.index):
            frames = (int(self.index[first]), int(self.index[last]))
            count = last - first + 1
            share = count / len(mask)
            stretch = np.zeros_like(mask)
            stretch[first : last + 1] = True
            yield Defect(
                severity=severity,
                code=code,
                value=share,
                limit=limit,
                unit="share of frames",
                frames=frames,
                seconds=self.timeline.span(*frames),
                message=f"{plural(count, 'flat frame')} of {self._colour(stretch)}, "
                f"{percent(share)} of those read: {self.timeline.where(*frames)}",
            )

    def _colour(self, mask: npt.NDArray[np.bool_]) -> str:
        series = self.facts.series
        rgb = np.stack([np.asarray(c)[mask] for c in (series.red, series.green, series.blue)])
        luma = float(np.median(np.asarray(series.luma_mean)[mask]))
        if not (np.isfinite(luma) and np.isfinite(rgb).all()):
            return "one colour"
        if bool((rgb.max(axis=1) - rgb.min(axis=1) > 0.1).any()):
            return "fields of changing colour"
        red, green, blue = (float(np.median(channel)) for channel in rgb)
        if luma < self.limits.black_luma.value:
            return "black"
        if max(red, green, blue) - min(red, green, blue) <= NEUTRAL_SPREAD:
            return "white" if luma > NEAR_WHITE_LUMA else "grey"
        levels = [min(255, max(0, round(255 * channel))) for channel in (red, green, blue)]
        return "#{:02X}{:02X}{:02X}".format(*levels)

    def grid(self) -> Iterator[Defect]:
        facts, line = self.facts, self.facts.grid_line
        limit, least = self.limits.grid_ratio.value, self.limits.grid_levels.value
        if "grid" in self.gaps or line is None:
            return
        if line.ratio <= limit or line.amplitude_levels < least:
            return
        frames = (min(facts.grid_frames), max(facts.grid_frames)) if facts.grid_frames else None
        coder = ""
        if facts.clip.kind == "video" and any(abs(line.period_px - n) < 0.5 for n in CODER_BLOCKS):
            coder = "; a coder's own blocks have this size, so look at the bit rate as well"
        yield Defect(
            severity=self.policy.severities.grid,
            code="grid",
            value=line.ratio,
            limit=limit,
            unit="ratio",
            frames=frames,
            seconds=self.timeline.span(*frames) if frames else None,
            message=f"a lattice every {line.period_px:.1f} px along {line.axis} (first line at "
            f"{line.phase_px:.1f} px, {line.amplitude_levels:.1f} levels) stands {line.ratio:.1f} "
            f"times above its surroundings in the spectrum; up to {limit:g} is picture content"
            f"{coder}",
        )

    @cached_property
    def _shown_holds(self) -> list[Hold]:
        """Frozen stretches worth naming: one that is flat throughout is named by its colour."""
        return [h for h in self.still.frozen if not self.flat[h.first : h.last + 1].all()]

    @cached_property
    def _duplicates(self) -> npt.NDArray[np.int64]:
        """Positions of repeats outside frozen stretches; a held flat colour is no duplicate."""
        positions = self.still.duplicates()
        return positions[~(self.flat[positions] & self.flat[positions - 1])]

    def frozen_and_duplicate(self) -> Iterator[Defect]:
        if "frozen" not in self.gaps:
            yield from self._frozen()
        # A clip of one frame has said it all.
        if "duplicate" not in self.gaps and not self.is_one_frame:
            yield from self._duplicate()

    @property
    def _moves_slowly(self) -> bool:
        """Whether the clip leaves its first frame although no two neighbours differ."""
        moved = self.facts.first_frame_change
        return moved is not None and moved > self.limits.frozen_ends.value

    def _frozen(self) -> Iterator[Defect]:
        whole = _whole_hold(self.still, self.facts)
        if whole is not None and self._moves_slowly:
            return
        if whole is not None and not self.flat.all():
            self.is_one_frame = True
            yield self._hold_defect(
                whole,
                "reject",
                f"the whole clip is one frame: its {self.facts.frames} frames show the same "
                "picture",
            )
            return
        holds = self._shown_holds
        if not holds:
            return
        longest = max(holds, key=lambda hold: hold.repeats)
        yield self._hold_defect(
            longest,
            self.policy.severities.frozen,
            self._frozen_sentence(longest, holds),
        )

    def _frozen_sentence(self, longest: Hold, holds: list[Hold]) -> str:
        first, last = self.still.frames_of(longest)
        duration = self.timeline.duration(first, last)
        held = plural(last - first + 1, "frame") if duration is None else f"{duration:.2f} s"
        share = percent((last - first + 1) / max(1, self.facts.frames))
        text = f"the picture stands still for {held}, {share} of the clip: "
        text += self.timeline.where(first, last)
        if len(holds) > 1:
            total = sum(hold.repeats + 1 for hold in holds)
            text += f"; the longest of {len(holds)} stretches, {total} frames in all"
        return text

    def _hold_defect(self, hold: Hold, severity: Severity, message: str) -> Defect:
        frames = self.still.frames_of(hold)
        duration = self.timeline.duration(*frames)
        timed = duration is not None
        return Defect(
            severity=severity,
            code="frozen",
            value=duration if duration is not None else float(hold.repeats + 1),
            limit=(self.limits.frozen_min_s if timed else self.limits.frozen_min_frames).value,
            unit="s" if timed else "frames",
            frames=frames,
            seconds=self.timeline.span(*frames),
            message=message,
        )

    def _duplicate(self) -> Iterator[Defect]:
        frames = self.index[self._duplicates].tolist()
        if not frames:
            return
        count = len(frames)
        if count == 1:
            message = f"{self.timeline.where(frames[0], frames[0])} repeats the one before"
        else:
            share = percent(count / max(1, self.facts.frames))
            message = f"{count} frames ({share}) repeat the one before: {listed(frames)}"
        span = (frames[0], frames[-1])
        yield Defect(
            severity=self.policy.severities.duplicate,
            code="duplicate",
            value=float(count),
            limit=0.0,
            unit="frames",
            frames=span,
            seconds=self.timeline.span(*span),
            message=message,
        )

    def noise(self) -> list[Defect]:
        """Reject only where the plain and the shift-tolerant correlation both lie under the floor.

        The evidence is the sampled pairs in which something changes and neither frame is flat: a
        repeat correlates perfectly and a flat frame not at all, whatever the clip is.
        """
        if "noise" in self.gaps:
            return []
        series, floor = self.facts.series, self.limits.noise_floor.value
        corr = np.asarray(series.corr, dtype=np.float64)
        # The shift is searched for on few pairs; one that already agrees has none to find.
        searched = np.asarray(series.corr_aligned, dtype=np.float64)
        aligned = np.where(
            np.isnan(searched) & (corr >= _native.INTEGRITY_ALIGN_BELOW), corr, searched
        )
        seen = ~self.flat
        seen[1:] &= ~self.flat[:-1]
        seen &= np.isfinite(corr)
        telling = seen & ~self.still.repeats & ~self.still.indistinct
        ends = np.asarray(self.facts.corr_starts, dtype=np.int64) + 1
        # The index ascends, so this is the cheap way to say isin.
        at = np.searchsorted(self.index, ends)
        sampled = np.zeros_like(telling)
        sampled[at] = telling[at]
        evidence = sampled if int(sampled.sum()) >= MIN_SAMPLED_PAIRS else telling
        count = int(evidence.sum())
        if not count:
            self.gaps["noise"] = self._no_evidence()
            return []
        plain = statistics.median(corr[evidence].tolist())
        if plain >= floor:
            return []
        shifted = evidence & np.isfinite(aligned)
        if not shifted.any():
            self.gaps["noise"] = Unmeasured(
                "noise",
                f"neighbouring frames correlate {plain:.2f}, and no shift was searched for that "
                "would tell noise from motion",
            )
            return []
        best = statistics.median(aligned[shifted].tolist())
        if best >= floor:
            return []
        changing, pairs = int(telling.sum()), int(seen.sum())
        if changing <= self.limits.noise_min_share.value * pairs:
            self.gaps["noise"] = Unmeasured(
                "noise",
                f"the picture changes in only {changing} of {plural(pairs, 'pair')}, too few to "
                "tell noise from cuts between stills",
            )
            return []
        starts = self.index[evidence] - 1
        frames = (int(starts.min()), int(starts.max()) + 1)
        return [
            Defect(
                severity=self.policy.severities.noise,
                code="noise",
                value=max(plain, best),
                limit=floor,
                unit="correlation",
                frames=frames,
                seconds=self.timeline.span(*frames),
                message=f"neighbouring frames have nothing in common: they correlate {plain:.2f}, "
                f"and {best:.2f} at the best small shift, where {floor:g} is the floor for a "
                f"render (median of {plural(count, 'pair')})",
            )
        ]

    def _no_evidence(self) -> Unmeasured:
        if self.is_blank:
            return Unmeasured("noise", "the clip is blank, so nothing can correlate", applies=False)
        if self.is_one_frame:
            return Unmeasured(
                "noise", "the whole clip is one frame, so no two frames differ", applies=False
            )
        if self._moves_slowly:
            return Unmeasured("noise", "neighbouring frames hardly differ", applies=False)
        pairs = int(np.isfinite(np.asarray(self.facts.series.corr, dtype=np.float64)).sum())
        if not pairs:
            return Unmeasured("noise", "no two neighbouring frames were read")
        return Unmeasured(
            "noise",
            f"in each of the {plural(pairs, 'pair')} read, the frames are the same or one of them "
            "is flat",
        )


def _place(frame: int | None, detail: str) -> str:
    return detail if frame is None else f"{detail} (frame {frame})"


def _whole_hold(still: Stillness, facts: IntegrityFacts) -> Hold | None:
    """The hold that spans the clip, if one does: by repeats alone, or rejoined at key frames."""
    last = len(facts.series.index) - 1
    if last < 1 or not is_complete(facts):
        return None
    for hold in [*still.holds, *still.frozen]:
        if hold.first == 0 and hold.last == last:
            return hold
    return None
