"""Gate reports without a single clip: facts written by hand, judged by the gates' own judge.

Each candidate's numbers are its reference's times one factor each, so that every statistic over the
prompts follows from the factors: a ratio is its factor.
"""

import functools
import math
import statistics

import msgspec
import numpy as np

from screentest.gates.budget import shipped
from screentest.gates.judge import judge_population, judge_reference
from screentest.gates.reference_facts import IMPL
from screentest.gates.report import NullControl, ReferenceFacts, ReferenceRow, RepeatControl
from screentest.metrics.population.derive import derive
from screentest.metrics.population.facts import Interval, PopulationFacts, Power, PromptFacts
from screentest.metrics.population.frechet import diagonal_distance
from screentest.metrics.population.names import IMPL as POPULATION
from screentest.metrics.population.ratios import Pair
from screentest.metrics.population.samples import samples_of
from screentest.metrics.population.statistic import shown
from screentest.metrics.population.verify import t_test_p
from screentest.protocol import Protocol

CLIP = {
    "n_frames": 6.0, "width": 64.0, "height": 48.0, "flat_frames": 0.0,
    "sharpness": 578.0, "sharpness_p10": 567.0, "hf_ratio": 0.0175, "local_contrast": 0.023,
    "contrast": 0.168, "saturation": 0.23, "detail_entropy": 5.4, "brightness": 0.505,
    "flicker": 0.6, "jerk_ratio": 0.726, "shimmer": 0.265, "motion_energy": 22.5,
    "frozen_share": 0.0, "tracks_seen": 1.0, "corners": 0.0, "grid_peak_ratio": 1.2,
}  # fmt: skip
VARIES = ("sharpness", "sharpness_p10", "hf_ratio", "local_contrast", "contrast", "saturation")
"""What differs from prompt to prompt."""


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


def made_clip(at=0, factors=None):
    """Numbers of the clip of prompt ``at``, each times its factor."""
    factors = factors or {}
    clip = {
        name: value * factors.get(name, 1.0) * (1 + at / 16 if name in VARIES else 1)
        for name, value in CLIP.items()
    }
    for name, of, level in (
        ("log_sharpness", "sharpness", 6.0),
        ("log_hf_ratio", "hf_ratio", -4.0),
        ("entropy", "", 5.0),
        ("contrast", "", 0.1),
        ("saturation", "", 0.2),
        ("log_local_contrast", "local_contrast", -3.8),
    ):
        clip[f"mean_{name}"] = level + at / 8 + math.log(factors.get(of, 1.0))
        clip[f"var_{name}"] = 0.01
    return clip


def made_population(n=8, *, names=None, **factors):
    """Facts of n pairs whose candidates are their references times the factors, e.g.
    ``made_population(sharpness=0.8, hf_ratio=0.8)``."""
    pairs = [
        Pair(prompt, made_clip(at), made_clip(at, factors))
        for at, prompt in enumerate(names or prompts(n))
    ]
    # No covariances here: the distance is the diagonal one.
    found = derive(pairs, t_test_p, lambda scale: [diagonal_distance(p, scale) for p in pairs])
    return PopulationFacts(
        impl=POPULATION,
        prompts=tuple(
            PromptFacts(
                prompt=pair.prompt,
                reference=dict(pair.reference),
                candidate=dict(pair.candidate),
                values=values,
                sources=(f"reference/{at}.mp4", f"candidate/{at}.mp4"),
            )
            for at, (pair, values) in enumerate(zip(pairs, found.values, strict=True))
        ),
        benchmarks={
            name: msgspec.structs.replace(facts, intervals=_intervals(facts, found))
            for name, facts in found.benchmarks.items()
        },
        power={name: _power(logs) for name, logs in found.logs.items()},
        scales=found.scales,
    )


def _intervals(facts, found):
    """By resampling with another seed than a gate has."""
    ends = {}
    for name in facts.values:
        if len(found.logs.get(name, ())) > 1:
            rows, of, kind = samples_of(name, found)
            drawn = of(rows[_places(len(rows))])
            ends[name] = Interval(
                *(shown(kind, float(np.quantile(drawn, q))) for q in (0.025, 0.975))
            )
    return ends


@functools.cache
def _places(n):
    return np.random.default_rng(1).integers(0, n, (4999, n))


def _power(logs):
    n = len(logs)
    if n < 2:
        return Power()
    spread = statistics.stdev(logs)
    return Power(spread=spread, detectable=2.0 * spread, prompts_needed=20)


def population_report(n=8, *, null_control=None, protocol=None, table=None, **factors):
    """A report of the population gate; without factors it passes the budgets that ship."""
    stamp = protocol or made_protocol(n)
    facts = made_population(n, names=stamp.prompts if stamp.n == n else None, **factors)
    return judge_population(facts, stamp, table or shipped("video"), null_control)


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


def fidelity_report(n=2, *, table="reference", repeat=True, **rows):
    """Distances of matched outputs, judged beside a repeat of the same settings."""
    protocol = made_protocol(n, purpose="paired-fidelity")
    return judge_reference(
        made_reference(n, **rows),
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
        unverified=tuple(b.name for b in shipped("video").budgets if b.name not in measured),
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
