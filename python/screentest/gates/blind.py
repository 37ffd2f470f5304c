"""What a gate cannot see, said next to every verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.gates.budget import shipped
from screentest.metrics.population.facts import PopulationFacts
from screentest.protocol import Protocol, Purpose

if TYPE_CHECKING:
    from screentest.gates.budget import BudgetTable
    from screentest.gates.report import NullControl, ReferenceFacts

__all__ = ["blind_spots"]

CALIBRATED = ("ltx-2.3", "wan-2.2", "h3")
"""Families whose renders the shipped bounds of video were placed on."""

SHORT_SIDES = (704, 1088)
"""Of those renders, in pixels: 1280x704 to 1920x1088."""

STEPS = (4, 30)
"""Of their samplers."""

OF_A_POPULATION = (
    "duplicated subjects, dropped prompt content and gibberish text",
    "absolute quality and aesthetics: both arms may be bad alike",
    "sound",
)

SENSITIVITY = (
    "damage below what the bounds were placed to see: about a quarter of blur blended in, and less "
    "than 8 % of colour lost over 8 prompts"
)

SENSITIVITY_OF_OTHERS = (
    "damage that keeps every budget, and what has no budget: these are not the bounds that ship, "
    "and how little they see is not known"
)

SENSITIVITY_OVER_TIME = (
    "brightness that jitters by less than about 1.5 % from frame to frame, or by more where much "
    "moves; motion that is faster, or slower within its bound"
)

OF_FEW_PROMPTS = (
    "less colour, noise or a lattice in fewer than half of the prompts: medians decide on them"
)

OF_FEW_PROMPTS_OVER_TIME = (
    "less colour, a little noise, a faint lattice, flicker, slower motion or a standstill under "
    "grain in fewer than half of the prompts: medians decide on them"
)

OF_A_REFERENCE = (
    "whether the reference is any good",
    "sound",
)


def blind_spots(
    protocol: Protocol,
    facts: PopulationFacts | ReferenceFacts,
    null_control: NullControl | None,
    table: BudgetTable | None,
) -> tuple[str, ...]:
    """Sentences; a function of the facts, the budgets and the control alone, like the verdict."""
    if isinstance(facts, PopulationFacts):
        ours = table is not None and table.sha256 == shipped(table.kind).sha256
        return tuple(_of_a_population(protocol, facts, null_control, ours))
    said = list(OF_A_REFERENCE)
    if protocol.purpose is Purpose.PAIRED_FIDELITY:
        said.insert(0, "quality: these are distances between matched outputs")
    return tuple(said)


def _of_a_population(
    protocol: Protocol, facts: PopulationFacts, null_control: NullControl | None, ours: bool
) -> Iterator[str]:
    yield from OF_A_POPULATION
    yield SENSITIVITY if ours else SENSITIVITY_OF_OTHERS
    if ours and not facts.still:
        yield SENSITIVITY_OVER_TIME
    if facts.n > 1:
        yield OF_FEW_PROMPTS if facts.still else OF_FEW_PROMPTS_OVER_TIME
    yield from _inapplicable(facts)
    if null_control is not None:
        return
    if not ours:
        yield (
            f"whether the budgets fit {protocol.family}, {protocol.resolution}: a null control "
            "(the same weights under another seed) tells"
        )
        return
    elsewhere = [*_elsewhere(protocol, facts)]
    if elsewhere:
        yield (
            f"whether the bounds transfer to {', '.join(elsewhere)}: they were placed on other "
            "renders; a null control (the same weights under another seed) tells"
        )


def _inapplicable(facts: PopulationFacts) -> Iterator[str]:
    """What the reference has nothing of, in any prompt."""
    names: dict[str, list[str]] = {}
    for benchmark in facts.benchmarks.values():
        for name, reason in benchmark.inapplicable.items():
            names.setdefault(reason, []).append(name)
    for reason, held in sorted(names.items()):
        yield f"{' and '.join(sorted(held))}: {reason}"


def _elsewhere(protocol: Protocol, facts: PopulationFacts) -> Iterator[str]:
    """What of the conditions lies outside of those that the shipped bounds were placed on."""
    family = protocol.family.strip().lower()
    if facts.still or not any(
        family == known or family.startswith(f"{known}-") for known in CALIBRATED
    ):
        yield protocol.family
    short = min(protocol.width, protocol.height)
    if not SHORT_SIDES[0] <= short <= SHORT_SIDES[1]:
        yield protocol.resolution
    if not STEPS[0] <= protocol.steps <= STEPS[1]:
        yield f"{protocol.steps} steps"
