"""Gate reports without a single clip: facts written by hand, judged by the gates' own judge.

Each candidate's statistics are its reference's times one factor per statistic, so that every number
over the prompts follows from the factors.
"""

import math

from screentest.gates.budget import shipped
from screentest.gates.judge import judge_population, judge_reference
from screentest.gates.reference_facts import IMPL
from screentest.gates.report import NullControl, ReferenceFacts, ReferenceRow, RepeatControl
from screentest.metrics.population.facts import (
    BenchmarkFacts,
    Interval,
    PopulationFacts,
    Power,
    PromptFacts,
)
from screentest.protocol import Protocol

DETAIL = ("sharpness", "hf_ratio", "local_contrast")
TONE = ("contrast", "saturation", "detail_entropy")
CLIP = {
    "n_frames": 6, "width": 64, "height": 48, "flat_frames": 0,
    "sharpness": 578.0, "sharpness_p10": 567.0, "hf_ratio": 0.0175, "local_contrast": 0.023,
    "contrast": 0.168, "saturation": 0.23, "detail_entropy": 5.4, "brightness": 0.505,
    "flicker": 0.06, "jerk_ratio": 0.726, "shimmer": 0.265, "motion_energy": 22.5,
}  # fmt: skip


def prompts(n=8):
    """n prompts, each its own."""
    return tuple(f"prompt {at}" for at in range(n))


def made_protocol(n=8, **fields):
    """A stamp of the population lane; ``fields`` take the place of its own."""
    given = {
        "family": "ltx-2.3", "reference_arm": "bf16", "candidate_arm": "w8a8",
        "changes": ("weight-quantization",), "width": 64, "height": 48, "frames": 6, "steps": 8,
        "seeds": (0,), "prompts": prompts(n), "execution_lane": "compiled", "hardware": "H100",
    }  # fmt: skip
    return Protocol(**{**given, **fields})


def made_prompt(prompt, factors, at=0):
    """One pair whose candidate is the reference times the factors."""
    reference = {
        name: value if name in ("n_frames", "width", "height", "flat_frames")
        else value * (1 + at / 16)
        for name, value in CLIP.items()
    }  # fmt: skip
    candidate = {name: value * factors.get(name, 1.0) for name, value in reference.items()}
    ratios = {name: factors.get(name, 1.0) for name in (*DETAIL, *TONE)}
    values = {
        "imaging_index": _geo(ratios, DETAIL) ** (2 / 3) * _geo(ratios, TONE) ** (1 / 3),
        **{f"ratio_{name}": ratio for name, ratio in ratios.items()},
        "motion_ratio": factors.get("motion_energy", 1.0),
        "population_frechet": 0.01 * at,
    }
    return PromptFacts(
        prompt=prompt,
        reference=reference,
        candidate=candidate,
        values=values,
        sources=(f"reference/{at}.mp4", f"candidate/{at}.mp4"),
    )


def made_population(n=8, **factors):
    """Facts of n pairs, e.g. ``made_population(sharpness=0.8, hf_ratio=0.8)``."""
    pairs = tuple(made_prompt(prompt, factors, at) for at, prompt in enumerate(prompts(n)))
    index = [pair.values["imaging_index"] for pair in pairs]
    frechet = sorted(pair.values["population_frechet"] for pair in pairs)
    return PopulationFacts(
        impl="population@1",
        prompts=pairs,
        benchmarks={
            "imaging": BenchmarkFacts(
                values={
                    "imaging_index": index[0],
                    "imaging_worst_prompt": min(index),
                    **{f"ratio_{name}": factors.get(name, 1.0) for name in (*DETAIL, *TONE)},
                },
                intervals={"imaging_index": Interval(index[0] - 0.01, index[0] + 0.01)},
            ),
            "temporal": BenchmarkFacts(
                values={
                    "jerk_ratio": factors.get("jerk_ratio", 1.0),
                    "jerk_excess": factors.get("jerk_ratio", 1.0) - 1,
                    "flicker_ratio": factors.get("flicker", 1.0),
                    "shimmer_ratio": factors.get("shimmer", 1.0),
                    "motion_ratio": factors.get("motion_energy", 1.0),
                    "frozen_share_excess": 0.0,
                },
            ),
            "structure": BenchmarkFacts(
                values={"grid_ratio": 1.0},
                inapplicable={
                    "track_stability_ratio": "no reference has corners to follow",
                    "track_stability_worst": "no reference has corners to follow",
                },
            ),
            "distributional": BenchmarkFacts(
                values={
                    "significant_features": float(sum(
                        abs(factors.get(name, 1.0) - 1) >= 0.02 for name in (*DETAIL, *TONE)
                    )),
                    "population_frechet": (frechet[(n - 1) // 2] + frechet[n // 2]) / 2,
                },
            ),
        },
        power={"imaging_index": Power(spread=0.01, detectable=0.012, prompts_needed=4)},
        scales={"saturation": 0.05},
    )  # fmt: skip


def population_report(n=8, *, null_control=None, protocol=None, table=None, **factors):
    """A report of the population gate; without factors it passes the budgets that ship."""
    return judge_population(
        made_population(n, **factors),
        protocol or made_protocol(n),
        table or shipped("video"),
        null_control,
    )


def made_rows(n=2, frames=6, mean=40.0, worst=36.0, *, names=None, **fields):
    """Pairs of one trajectory; ``fields`` are those of every row."""
    return tuple(
        ReferenceRow(
            prompt=prompt,
            frames=frames,
            values={"psnr_mean": mean + at, "psnr_worst": worst + at},
            worst_frame={"psnr": at},
            **{"sources": (f"reference/{at}.mp4", f"candidate/{at}.mp4"), **fields},
        )
        for at, prompt in enumerate(names or prompts(n))
    )


def made_reference(n=2, **rows):
    """Facts of n pairs frame by frame."""
    made = made_rows(n, **rows)
    return ReferenceFacts(
        rows=made,
        values={
            "psnr_mean": math.fsum(row.values["psnr_mean"] for row in made) / n,
            "psnr_worst": min(row.values["psnr_worst"] for row in made),
        },
        impls={"psnr": "psnr@1"},
        impl=IMPL,
        metrics=("psnr",),
    )


def reference_report(n=2, *, protocol=None, table=None, **rows):
    """A report of the reference gate; with the defaults it passes. ``protocol`` holds fields of the
    stamp, ``rows`` what :func:`made_rows` takes."""
    stamp = made_protocol(n, changes=("container-mux",), **(protocol or {}))
    return judge_reference(
        made_reference(n, names=stamp.prompts, **rows), stamp, table or shipped("reference")
    )


def fidelity_report(n=2, *, table="reference", repeat=True):
    """Distances of matched outputs, judged beside a repeat of the same settings."""
    protocol = made_protocol(n, purpose="paired-fidelity")
    return judge_reference(
        made_reference(n),
        protocol,
        shipped(table) if table else None,
        made_repeat_control(n) if repeat and table else None,
    )


def made_null_control(n=8, **values):
    """The same weights under another seed, which keeps every budget unless ``values`` say else."""
    facts = made_population(n)
    measured = {
        name: value for each in facts.benchmarks.values() for name, value in each.values.items()
    } | values
    keeps = {
        budget.name: budget.check(measured[budget.name])
        for budget in shipped("video").budgets
        if budget.name in measured
    }
    return NullControl(
        protocol=made_protocol(n, changes=("seed",), candidate_arm="bf16", seeds=(1,)),
        values=measured,
        transfers=keeps,
        untrusted={name: f"reads {measured[name]:g}" for name, kept in keeps.items() if not kept},
        unverified=("track_stability_ratio", "track_stability_worst"),
        impl=facts.impl,
    )


def made_repeat_control(n=2, **values):
    """The same settings once more."""
    return RepeatControl(
        protocol=made_protocol(
            n, changes=("repeat",), candidate_arm="bf16", purpose="paired-fidelity"
        ),
        values={"psnr_mean": 60.0, "psnr_worst": 55.0, **values},
        impls={"psnr": "psnr@1"},
        impl=IMPL,
    )


def _geo(ratios, names):
    return math.exp(math.fsum(math.log(ratios[name]) for name in names) / len(names))
