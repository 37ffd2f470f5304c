"""Whether sound and picture happen together: how late the sound is, with an interval.

Sudden sounds are compared with sudden changes of the picture, both at their own times: sample
positions and frames' time stamps, whatever their rates. Cuts are no events, a flash begins and does
not end, and what moves steadily is none either. A number comes with the interval that its events
and frames allow; where the clip holds no shared event, or the events repeat, there is none. Lip
sync is not measured.

To read on: ``measure`` opens both; ``sound`` and ``picture`` (with ``cuts``) reduce each to one
series; ``from_onsets`` decides whether there is an offset, with the thresholds of that, by way of
``onsets`` (what stands out of a series), ``curve`` (their correlation) and ``pairs`` (which sound
goes with which change, and chance). Where the rule departs from the published one, and why, stands
in ``docs/decisions/0014-sync.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.lazy import lazily

if TYPE_CHECKING:
    from screentest.metrics.sync.facts import SCOPE_NOTE, SyncEvent, SyncFacts, sync_drift_ms
    from screentest.metrics.sync.measure import measure_sync
    from screentest.metrics.sync.names import IMPL, METRICS

__all__ = [
    "IMPL",
    "METRICS",
    "SCOPE_NOTE",
    "SyncEvent",
    "SyncFacts",
    "measure_sync",
    "sync_drift_ms",
]

__getattr__, __dir__ = lazily(__name__, __all__, ("names", "facts", "measure"))
