"""One measured clip: its facts, what the shipped policy says, and what it should have said."""

import math

from screentest.metrics.integrity import measure_integrity
from screentest.verdicts.integrity import judge_integrity

__all__ = ["judged", "rounded", "tally"]


def rounded(value, digits=3):
    """Short enough to come out the same on every machine; what is not finite is absent."""
    if isinstance(value, float):
        return round(value, digits) if math.isfinite(value) else None
    return value


def judged(axis, group, clip, source, *, bad, depth="full", numbers=None):
    """Measures a source and judges it on one axis.

    ``bad`` says whether it ought to be rejected there. ``numbers(facts)`` gives further values.
    """
    facts = measure_integrity(source, depth=depth)
    judgement, line = judge_integrity(facts), facts.grid_line
    rejected = any(d.code == axis and d.severity == "reject" for d in judgement.defects)
    warned = any(d.code == axis for d in judgement.defects)
    unmeasured = any(gap.axis == axis for gap in judgement.unmeasured)
    values = {
        "corr": facts.adjacent_frame_corr,
        "aligned": facts.adjacent_frame_corr_aligned,
        "std_min": facts.frame_std_min,
        "grid": facts.grid_peak_ratio,
        "period_px": facts.grid_period_px,
        "line": line.ratio if line else None,
        "line_levels": line.amplitude_levels if line else None,
        **(numbers(facts) if numbers else {}),
    }
    return {
        "axis": axis,
        "group": group,
        "clip": clip,
        "bad": bad,
        "said": "reject" if rejected else "warn" if warned else "none" if unmeasured else "pass",
        "verdict": judgement.verdict,
        "codes": sorted({d.code for d in judgement.defects}),
        "values": {name: rounded(value) for name, value in values.items()},
    }


def tally(rows):
    """Per axis and group: how many clips, and how many of them the policy judged wrongly."""
    table = {}
    for row in rows:
        entry = table.setdefault(
            f"{row['axis']}: {row['group']}",
            {"clips": 0, "bad": 0, "false_rejects": [], "false_passes": [], "not_judged": []},
        )
        entry["clips"] += 1
        entry["bad"] += row["bad"]
        if row["said"] == "none":
            entry["not_judged"].append(row["clip"])
        elif row["bad"] and row["said"] == "pass":
            entry["false_passes"].append(row["clip"])
        elif not row["bad"] and row["said"] != "pass":
            entry["false_rejects"].append(row["clip"])
    return table
