"""Why nothing can be compared, or no verdict follow from a comparison: what facts and stamp say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from screentest.gates.prompts import MOST, some, widest_need
from screentest.gates.verdict import MIN_PROMPTS

if TYPE_CHECKING:
    from screentest.gates.budget import BudgetTable
    from screentest.gates.report import ReferenceFacts
    from screentest.metrics.population.facts import PopulationFacts
    from screentest.protocol import Protocol

__all__ = ["count_fault", "degenerate_clips", "population_faults", "row_faults"]


def degenerate_clips(facts: PopulationFacts) -> Iterator[str]:
    """Clips with nothing to compare, an arm in a sentence."""
    for arm, indices in (
        ("candidate", facts.degenerate_candidates),
        ("reference", facts.degenerate_references),
    ):
        if indices:
            named = ", ".join(f"{at} ({facts.prompts[at].prompt})" for at in indices)
            yield (
                f"{len(indices)} of {facts.n} {arm} clips have nothing to compare (no contrast, or "
                f"half their frames flat): prompts {named}"
            )


def population_faults(
    facts: PopulationFacts, protocol: Protocol, table: BudgetTable
) -> Iterator[str]:
    """Why no verdict follows from a population: its number, its stamp, and clips that are not what
    the stamp says."""
    yield from count_fault(facts.n, protocol)
    yield from protocol.faults()
    if facts.n < MIN_PROMPTS:
        few = "1 prompt describes that draw" if facts.n == 1 else f"{facts.n} prompts are too few"
        yield f"{few}: a verdict needs {MIN_PROMPTS}, so {MIN_PROMPTS - facts.n} more"
        need = widest_need(facts, table)
        if need is not None and need[1] > MIN_PROMPTS:
            name, needed = need
            told = f"about {needed} would tell {name} from its bound, {needed - facts.n} more"
            if needed > MOST:
                told = f"no number below {MOST} would tell {name} from its bound"
            yield f"at the spread of these prompts {told}"
    yield from _repeated_references(facts)
    yield from _unlike_the_stamp(facts, protocol)


def _repeated_references(facts: PopulationFacts) -> Iterator[str]:
    """Two prompts do not render one clip: it would count as two draws where there was one."""
    prompts: dict[str, list[str]] = {}
    for prompt in facts.prompts:
        if prompt.contents[0] is not None:
            prompts.setdefault(prompt.contents[0], []).append(prompt.prompt)
    for named in prompts.values():
        if len(named) > 1:
            yield (
                f"the references of {some(named)} are one clip, which counts as {len(named)} "
                "prompts: give each prompt its own render"
            )


def _unlike_the_stamp(facts: PopulationFacts, protocol: Protocol) -> Iterator[str]:
    stamped = {"n_frames": protocol.frames, "width": protocol.width, "height": protocol.height}
    wrong: dict[tuple[str, str], list[str]] = {}
    for prompt in facts.prompts:
        for arm, clip in (("reference", prompt.reference), ("candidate", prompt.candidate)):
            read = [f"{clip[name]:g} {_WORDS[name]}" for name in stamped
                    if clip.get(name, stamped[name]) != stamped[name]]  # fmt: skip
            if read:
                wrong.setdefault((arm, ", ".join(read)), []).append(prompt.prompt)
    for (arm, said), named in wrong.items():
        yield (
            f"the {arm} of {some(named)} has {said}; the protocol says {protocol.resolution} and "
            f"{protocol.frames} frames"
        )


_WORDS = {"n_frames": "frames", "width": "pixels of width", "height": "pixels of height"}


def count_fault(n: int, protocol: Protocol) -> Iterator[str]:
    """Another number of pairs than of prompts."""
    if n != protocol.n:
        yield f"{n} pairs were measured; the protocol names {protocol.n} prompts"


def row_faults(facts: ReferenceFacts, protocol: Protocol) -> Iterator[str]:
    """Pairs that are not those of the stamp, or whose frames do not go together."""
    if facts.n == protocol.n and tuple(row.prompt for row in facts.rows) != protocol.prompts:
        yield "the pairs are of other prompts than the protocol names, or in another order"
    for row in facts.rows:
        if row.misaligned:
            yield f"the pair of {row.prompt!r} is not aligned: {'; '.join(row.misaligned)}"
        elif row.frames != protocol.frames:
            yield (
                f"the pair of {row.prompt!r} has {row.frames} frames; the protocol says "
                f"{protocol.frames}"
            )
