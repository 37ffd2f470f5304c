"""What changed between two arms, and under which conditions they were compared.

>>> from screentest.protocol import classify_change
>>> classify_change("weight-quantization").value
'population'
"""

from __future__ import annotations

from screentest.protocol.kinds import ChangeKind, Lane, Purpose, as_change, classify_change
from screentest.protocol.lanes import admissible, require_admissible, require_reference_lane
from screentest.protocol.stamp import ArmLanes, ExecutionLane, Protocol

__all__ = [
    "ArmLanes",
    "ChangeKind",
    "ExecutionLane",
    "Lane",
    "Protocol",
    "Purpose",
    "admissible",
    "as_change",
    "classify_change",
    "require_admissible",
    "require_reference_lane",
]
