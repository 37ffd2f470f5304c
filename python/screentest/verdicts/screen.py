"""One verdict on a clip from both screens: is it a render at all, and what does it do over time?

Pure, as both are. The integrity screen decides whether there is anything to judge; the temporal
screens are asked for on top, so what they could not measure is listed and decides only by request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from screentest.errors import ScreentestError
from screentest.metrics.facts import Unmeasured
from screentest.metrics.temporal.facts import AXES, TemporalFacts
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.judgement import Judgement, fold
from screentest.verdicts.temporal import judge_temporal

if TYPE_CHECKING:
    from screentest.metrics.integrity import IntegrityFacts
    from screentest.verdicts.delivery import Delivery
    from screentest.verdicts.policy import Policy
    from screentest.verdicts.temporal_policy import TemporalPolicy

__all__ = ["judge_both"]


def judge_both(
    facts: IntegrityFacts,
    temporal: TemporalFacts | ScreentestError,
    policy: Policy | None = None,
    temporal_policy: TemporalPolicy | None = None,
    spec: Delivery | None = None,
    require: Iterable[str] = (),
) -> Judgement:
    """Judge the facts of one clip by the integrity screen and by the temporal screens.

    A reject of either rejects. ``temporal`` may be the error that kept the temporal family from
    measuring (NaN samples): its axes are then unmeasured for that reason. ``require`` may name axes
    of both; a temporal axis that it does not name never makes the verdict ``unmeasured``, whatever
    the ``required`` of ``temporal_policy``.

    Raises :class:`~screentest.errors.PolicyError` for an unknown axis in ``require``.
    """
    insisted = frozenset(require)
    screened = judge_integrity(facts, policy, spec, insisted - set(AXES))
    if isinstance(temporal, TemporalFacts):
        timed = judge_temporal(temporal, policy=temporal_policy)
    else:
        reason = " ".join(temporal.message.split())
        gaps = tuple(Unmeasured(axis, reason) for axis in AXES)
        timed = Judgement(verdict="unmeasured", unmeasured=gaps)
    verdicts = {
        screened.verdict,
        fold(timed.defects, timed.unmeasured, required=(), insisted=insisted),
    }
    defects = (*screened.defects, *timed.defects)
    return Judgement(
        verdict=next(word for word in ("reject", "unmeasured", "pass") if word in verdicts),
        defects=tuple(sorted(defects, key=lambda defect: defect.severity != "reject")),
        unmeasured=(*screened.unmeasured, *timed.unmeasured),
        notes=timed.notes,
    )
