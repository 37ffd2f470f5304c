"""Made material for the page of a gate: facts by hand, the verdict by the pure judge."""

import numpy as np

from screentest.gates.budget import Budget, BudgetTable, shipped
from screentest.gates.judge import judge_population, judge_reference
from screentest.gates.report import NullControl, ReferenceFacts, ReferenceRow, RepeatControl
from screentest.metrics.population.facts import (
    BenchmarkFacts,
    Interval,
    PopulationFacts,
    Power,
    PromptFacts,
)
from screentest.protocol import Protocol
from screentest.reports.html import ArmSeries, GateEvidence, GateFrame, PromptEvidence
from tests.reports.pages import picture

PROMPTS = (
    "a red fox runs over fresh snow at dawn, shallow depth of field, slow dolly to the left",
    "two chess players in a rainy park, close-up of hands moving a knight",
    "an old tram climbs a steep street in Lisbon, afternoon sun, hand-held",
    "a glass of water falls from a table in slow motion and shatters",
    "drone shot over a pine forest in fog, the camera rises above the tree line",
    "a street musician plays the violin under neon signs, people pass in front",
    "macro of a bee on a lavender flower, wind moves the stem",
    "a child opens a paper umbrella in a bamboo garden, rain begins",
)
SCALARS = {
    "n_frames": 121.0, "width": 1280.0, "height": 704.0, "flat_frames": 0.0, "sharpness": 412.0,
    "sharpness_p10": 380.0, "hf_ratio": 0.021, "local_contrast": 0.0271, "contrast": 0.181,
    "saturation": 0.243, "detail_entropy": 5.31, "brightness": 0.447, "flicker": 0.61,
    "jerk_ratio": 0.83, "shimmer": 0.31, "motion_energy": 6.4, "frozen_share": 0.0,
    "track_stability": 0.93, "grid_peak_ratio": 1.21,
}  # fmt: skip


def protocol(prompts=PROMPTS, **other):
    facts = {
        "family": "ltx-2.3-distilled",
        "reference_arm": "bf16",
        "candidate_arm": "w8a8-fp8",
        "changes": ("weight-quantization", "activation-quantization"),
        "width": 1280, "height": 704, "frames": 121, "fps": 24.0, "steps": 8, "guidance": 3.5,
        "seeds": (42,),
        "prompts": prompts,
        "execution_lane": "compiled",
        "hardware": "H100 80 GB",
        "extra": {"scheduler": "euler", "vae": "tiled 512"},
    }  # fmt: skip
    return Protocol(**(facts | other))


def prompt_facts(prompt, index, *, blur=1.0, seed=0):
    """One pair whose detail is ``blur`` of the reference's."""
    rng = np.random.default_rng([seed, index])
    ratio = {
        name: float(np.exp(rng.normal(0, 0.02)) * (blur if name in DETAIL else 1))
        for name in (*DETAIL, "contrast", "saturation", "detail_entropy")
    }
    imaging = blur ** (2 / 3) * float(np.exp(rng.normal(0, 0.015)))
    values = {
        "imaging_index": imaging,
        **{f"ratio_{name}": value for name, value in ratio.items()},
        "jerk_excess": float(rng.normal(0.013, 0.014)),
        "flicker_ratio": float(np.exp(rng.normal(0.04, 0.18))),
        "motion_ratio": float(np.exp(rng.normal(0, 0.1))),
        "frozen_share_excess": 0.0,
        "track_stability_ratio": float(np.exp(rng.normal(-0.01, 0.02))),
        "grid_ratio": float(np.exp(rng.normal(0, 0.05))),
        "population_frechet": float(0.07 * np.exp(rng.normal(0, 0.3)) + (1 - blur) * 1.2),
    }
    reference = {name: value * float(np.exp(rng.normal(0, 0.2))) for name, value in SCALARS.items()}
    reference |= {name: SCALARS[name] for name in ("n_frames", "width", "height", "flat_frames")}
    candidate = {name: value * ratio.get(name, 1.0) for name, value in reference.items()}
    return PromptFacts(prompt=prompt, reference=reference, candidate=candidate, values=values,
                       sources=(f"bf16/{index:03d}.mp4", f"fp8/{index:03d}.mp4"),
                       contents=("b3:" + f"{index:02x}" * 16, None))  # fmt: skip


DETAIL = ("sharpness", "hf_ratio", "local_contrast")


def population_facts(prompts=PROMPTS, *, blur=1.0, bad=None, **other):
    """``bad`` is the index of one prompt that is blurred more than the rest."""
    pairs = tuple(
        prompt_facts(prompt, i, blur=0.62 if i == bad else blur) for i, prompt in enumerate(prompts)
    )

    def median(name):
        return float(np.median([pair.values[name] for pair in pairs]))

    def least(name):
        return min(pair.values[name] for pair in pairs)

    def around(name, half):
        value = median(name)
        return Interval(value - half, value + half)

    index = median("imaging_index")
    benchmarks = {
        "imaging": BenchmarkFacts(
            values={"imaging_index": index, "imaging_worst_prompt": least("imaging_index"),
                    "detail_retention": median("ratio_sharpness"),
                    **{f"ratio_{name}": median(f"ratio_{name}") for name in DETAIL}},
            intervals={"imaging_index": Interval(index * 0.985, index * 1.017)},
        ),
        "temporal": BenchmarkFacts(
            values={name: median(name) for name in ("jerk_excess", "flicker_ratio", "motion_ratio",
                                                    "frozen_share_excess")},
            intervals={"flicker_ratio": around("flicker_ratio", 0.09),
                       "motion_ratio": around("motion_ratio", 0.06)},
            notes=("shimmer moved by 13 %; softening does that as well",),
        ),
        "structure": BenchmarkFacts(
            values={"track_stability_ratio": median("track_stability_ratio"),
                    "grid_ratio": median("grid_ratio")},
            unmeasured={"track_stability_worst": "3 of 8 references have no corner to follow"},
        ),
        "distributional": BenchmarkFacts(
            values={"significant_features": 3.0 if blur < 0.9 else 0.0,
                    "population_frechet": median("population_frechet"),
                    "population_frechet_worst": max(
                        pair.values["population_frechet"] for pair in pairs),
                    "holm_p_sharpness": 0.003 if blur < 0.9 else 0.71},
        ),
    }  # fmt: skip
    facts = {
        "impl": "population@1",
        "prompts": pairs,
        "benchmarks": benchmarks,
        "power": {
            "imaging_index": Power(spread=0.0181, detectable=0.021, prompts_needed=3),
            "flicker_ratio": Power(spread=0.18, detectable=0.24, prompts_needed=31),
            "jerk_excess": Power(spread=0.0139, detectable=0.0162, prompts_needed=9),
            "motion_ratio": Power(spread=0.1, detectable=None, prompts_needed=None),
        },
        "scales": {"log_sharpness": 0.31, "entropy": 0.22},
    }
    return PopulationFacts(**(facts | other))


# A part of the shipped table whose budgets all have a value in the made facts.
def table(*leave_out):
    full = shipped("video")
    budgets = tuple(budget for budget in full.budgets if budget.name not in leave_out)
    return BudgetTable(name="video", kind="video", version=1, budgets=budgets)


MEASURED = table("track_stability_worst")


def control(prompts=PROMPTS, **values):
    read = {name: facts for benchmark in population_facts(prompts).benchmarks.values()
            for name, facts in benchmark.values.items()} | values  # fmt: skip
    stamp = protocol(prompts, changes=("seed",), candidate_arm="bf16 seed 43")
    kept = {b.name: b.check(read[b.name]) for b in MEASURED.budgets}
    broken = {name: "reads outside" for name, ok in kept.items() if not ok}
    return NullControl(
        protocol=stamp, values=read, transfers=kept, untrusted=broken, impl="population@1"
    )


def population(prompts=PROMPTS, *, budgets=MEASURED, null=None, stamp=None, waived=(), **other):
    facts = population_facts(prompts, **other)
    return judge_population(facts, stamp or protocol(prompts), budgets, null, waived=waived)


def passing():
    return population(null=control())


def failing():
    """Blurred, and one prompt more than the others."""
    return population(blur=0.8, bad=4, null=control())


def indeterminate():
    """Seven prompts, other pods, one budget without a number and one that the control breaks."""
    prompts = PROMPTS[:7]
    return population(prompts, blur=0.8, budgets=table(), null=control(prompts, flicker_ratio=1.4),
                      stamp=protocol(prompts, same_pod=False))  # fmt: skip


def degenerate():
    return population(benchmarks={}, power={}, degenerate_candidates=(2, 5))


def many(count=200):
    return population(tuple(f"prompt {i}: " + PROMPTS[i % 8] for i in range(count)), blur=0.97,
                      bad=17, null=None)  # fmt: skip


def reference(*, purpose="quality", repeat=False, **other):
    rng = np.random.default_rng(5)
    rows = tuple(
        ReferenceRow(
            prompt=prompt,
            frames=121,
            values={"psnr_mean": mean, "psnr_worst": mean - 4.1, "ssim_mean": 0.97 + i / 1000},
            worst_frame={"psnr_mean": 64 + i},
            sources=(f"crf0/{i}.mp4", f"crf28/{i}.mp4"),
        )
        for i, (prompt, mean) in enumerate(zip(PROMPTS, rng.normal(36.5, 1.6, 8), strict=True))
    )
    means = [row.values["psnr_mean"] for row in rows]
    facts = {
        "rows": rows,
        "values": {"psnr_mean": float(np.mean(means)), "psnr_worst": min(means) - 4.1,
                   "ssim_mean": 0.9735},
        "unmeasured": {"vmaf_mean": "no ffmpeg with libvmaf: pip install 'screentest[vmaf]'"},
        "impls": {"psnr": "psnr@2", "ssim": "ssim@1"},
    }  # fmt: skip
    change = "video-encoder" if purpose == "quality" else "compile"
    stamp = protocol(changes=(change,), purpose=purpose, reference_arm="crf0")
    again = None
    if repeat:
        same = protocol(changes=("repeat",), purpose="paired-fidelity", reference_arm="crf0",
                        candidate_arm="crf0")  # fmt: skip
        again = RepeatControl(protocol=same, values={"psnr_mean": 44.1, "psnr_worst": 39.0})
    return judge_reference(ReferenceFacts(**(facts | other)), stamp, shipped("reference"), again)


def hostile(name):
    """A report and its evidence whose every text is ``name``."""
    prompts = (name, *(f"{name} {i}" for i in range(1, 8)))
    budgets = tuple(
        Budget(name=b.name, low=b.low, high=b.high, provenance=name) for b in MEASURED.budgets
    )
    facts = population_facts(prompts, blur=0.8)
    facts.benchmarks["temporal"].unmeasured["motion_ratio"] = name
    facts.benchmarks["temporal"].values.pop("motion_ratio")
    stamp = protocol(prompts, family=name, reference_arm=name, candidate_arm=name, hardware=name,
                     notes=name, extra={name: name})  # fmt: skip
    named = BudgetTable(name=name, kind="video", budgets=budgets)
    return judge_population(facts, stamp, named), evidence(notes=(name,))


def evidence(*, prompts=(4, 2, 6), frames=2, length=121, **other):
    """Pictures and series of some prompts."""
    shown = []
    for prompt in prompts:
        rng = np.random.default_rng(prompt)
        t = np.arange(length)
        base = 1 + 0.2 * np.sin(t / 17 + prompt)
        motion = 6.4 * base + rng.normal(0, 0.3, length)
        motion[0] = np.nan
        series = {
            "sharpness": ArmSeries(400 * base, 300 * base + rng.normal(0, 9, length), "levels²"),
            "motion": ArmSeries(motion, motion * 0.94, "levels"),
            "brightness": ArmSeries(0.4 * base, 0.4 * base + 0.01),
            "saturation": ArmSeries(0.24 * base, 0.23 * base[: length - 3]),
        }
        pictures = []
        for at in np.linspace(0, length - 1, frames).astype(int):
            one, two = (
                picture(176, 320, at / 30 + prompt),
                picture(176, 320, at / 30 + prompt + 0.3),
            )
            difference = np.abs(one.astype(np.float32) - two).mean(axis=-1) / 255
            pictures.append(GateFrame(int(at), one, two, difference))
        shown.append(PromptEvidence(prompt, series, pictures))
    return GateEvidence(prompts=tuple(shown), **other)
