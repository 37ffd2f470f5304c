"""What a gate cannot see, said next to every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.protocol import Protocol, Purpose

if TYPE_CHECKING:
    from screentest.gates.report import NullControl, ReferenceFacts
    from screentest.metrics.population.facts import PopulationFacts

__all__ = ["blind_spots"]

CALIBRATED = ("ltx-2.3", "wan-2.2", "h3")
"""Families whose renders the shipped bounds were placed on."""

OF_A_POPULATION = (
    "duplicated subjects, dropped prompt content and gibberish text",
    "absolute quality and aesthetics: both arms may be bad alike",
    "sound",
)

OF_A_REFERENCE = (
    "whether the reference is any good",
    "sound",
)


def blind_spots(
    protocol: Protocol,
    facts: PopulationFacts | ReferenceFacts,
    null_control: NullControl | None,
) -> tuple[str, ...]:
    """Sentences; a function of the facts alone, like the verdict."""
    if not hasattr(facts, "prompts"):
        said = list(OF_A_REFERENCE)
        if protocol.purpose is Purpose.PAIRED_FIDELITY:
            said.insert(0, "quality: these are distances between matched outputs")
        return tuple(said)
    said = list(OF_A_POPULATION)
    if null_control is None and not any(
        protocol.family.lower().startswith(family) for family in CALIBRATED
    ):
        said.append(
            f"whether the bounds transfer to {protocol.family}: they were placed on other models; "
            "a null control (the same weights under another seed) tells"
        )
    return tuple(said)
