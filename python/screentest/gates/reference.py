"""The reference gate: both arms show the same take, so frame i is held against frame i.

For changes after the latent (another decoder, another container), and for paired fidelity, which
asks how far matched outputs moved and claims nothing about quality. There is no rule for degenerate
clips here: PSNR against the same take measures a blackout.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from screentest import compute
from screentest.errors import InputError, MediaError, ProtocolError
from screentest.gates.budget import as_table
from screentest.gates.judge import judge_reference, require_repeat_fits
from screentest.gates.reference_facts import (
    IMPL,
    METRICS,
    aggregate,
    check_metrics,
    metrics_for,
)
from screentest.gates.reference_values import with_values
from screentest.gates.report import GateReport, ReferenceFacts, ReferenceRow, RepeatControl
from screentest.media import open_clip
from screentest.media.content import content_of_file
from screentest.media.open import is_in_memory
from screentest.metrics import availability, registry
from screentest.metrics.paired import measure_pair, open_both
from screentest.metrics.paired.frames import SIDES
from screentest.protocol import Protocol, Purpose, require_reference_lane
from screentest.side_by_side import check_sources
from screentest.verdicts.pairing import judge_pairing

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo
    from screentest.metrics.paired import PairFacts

__all__ = ["measure_reference", "missing_metrics", "run_reference_gate"]


def run_reference_gate(
    references: Sequence[Any],
    candidates: Sequence[Any],
    protocol: Protocol,
    budgets: Any = None,
    repeat_control: RepeatControl | None = None,
    *,
    metrics: Sequence[str] = ("psnr",),
    threads: int | None = None,
    on_pair: Callable[[], None] = lambda: None,
    **open_options: Any,
) -> GateReport:
    """Measure two arms frame by frame, and say whether the change may ship.

    Args:
        references: the clips of the reference arm, whatever
            :func:`~screentest.media.open_clip` opens, in the order of the protocol's prompts.
        candidates: the clips of the candidate arm, in the same order.
        protocol: the conditions. Its lane is that of one trajectory, or its purpose is
            paired fidelity.
        budgets: a table, its TOML file, or budgets; by default the shipped table. Paired fidelity
            has no default: distances without budgets are measured and not judged.
        repeat_control: of paired fidelity, the same settings rendered again; see
            :func:`~screentest.gates.repeat_control.measure_repeat_control`.
        metrics: what to measure besides what the budgets need; names of
            :data:`~screentest.gates.reference_facts.METRICS`.
        threads: compute budget; it changes no bit.
        on_pair: called after each pair.
        **open_options: passed to :func:`~screentest.media.open_clip` for every clip.

    Raises:
        TrajectoryPerturbingError: a change moves the trajectory and the purpose is quality.
        ProtocolError: the arms have no pairs, other sizes or another number of frames than the
            protocol says, or a repeat control came with purpose quality.
        PolicyError: the budgets contradict themselves or belong to another gate.
        MediaError: a clip cannot be read or is damaged.
        InputError: a metric or an argument is unknown.
        FileNotFoundError: there is no such file.
    """
    require_reference_lane(*protocol.changes, purpose=protocol.purpose)
    require_repeat_fits(repeat_control, protocol)
    paired = protocol.purpose is Purpose.PAIRED_FIDELITY
    table = None if paired and budgets is None else as_table(budgets, "reference")
    budgeted = () if table is None else tuple(budget.name for budget in table.budgets)
    facts = measure_reference(
        references,
        candidates,
        protocol,
        metrics=metrics_for(metrics, budgeted),
        threads=threads,
        on_pair=on_pair,
        **open_options,
    )
    return judge_reference(facts, protocol, table, repeat_control)


def measure_reference(
    references: Sequence[Any],
    candidates: Sequence[Any],
    protocol: Protocol,
    *,
    metrics: Sequence[str] = ("psnr",),
    threads: int | None = None,
    on_pair: Callable[[], None] = lambda: None,
    **open_options: Any,
) -> ReferenceFacts:
    """How far the candidates lie from their references, frame by frame; arguments and errors are
    those of :func:`run_reference_gate`.

    A pair whose frames do not go together has no numbers: its row says why. A metric that needs
    what is not installed is unmeasured with that reason. PSNR is that of R, G and B and reads
    99 dB for equal frames and at most; means are over all frames, those that are equal as well.

    >>> import numpy as np
    >>> protocol = Protocol(family="f", reference_arm="a", candidate_arm="b",
    ...     changes=("video-encoder",), width=32, height=24, frames=2, steps=8, seeds=(0,),
    ...     prompts=("a cat",), execution_lane="compiled", hardware="H100")
    >>> clip = np.random.default_rng(0).integers(0, 250, (2, 24, 32, 3), np.uint8)
    >>> facts = measure_reference([clip], [clip + 5], protocol)
    >>> {name: round(value, 2) for name, value in facts.values.items()}
    {'psnr_mean': 34.15, 'psnr_worst': 34.15}
    """
    require_reference_lane(*protocol.changes, purpose=protocol.purpose)
    wanted = tuple(name for name in METRICS if name in check_metrics(metrics))
    if not wanted:
        raise InputError(
            f"no metric was asked for; a reference gate measures {', '.join(METRICS)}",
            code="no_metrics",
        )
    budget = compute.threads(threads)
    arms = _listed(references), _listed(candidates)
    if len(arms[0]) != len(arms[1]):
        raise ProtocolError(
            f"{len(arms[0])} references and {len(arms[1])} candidates: expected a pair of clips "
            "for each prompt",
            code="unequal_arms",
        )
    if not arms[0]:
        raise ProtocolError("there is no pair of clips to compare", code="no_pairs")
    prompts = protocol.prompts
    if len(arms[0]) != protocol.n:
        # Nothing says which prompt is missing.
        prompts = tuple(f"pair {at + 1}" for at in range(len(arms[0])))
    lacking = missing_metrics(wanted)
    pairs = list(zip(prompts, *arms, strict=True))
    for prompt, *sources in pairs:
        # What is wrong with the last pair is said before the first is decoded.
        for side, source in zip(SIDES, sources, strict=True):
            with open_clip(source, threads=budget, **open_options) as clip:
                _check_clip(clip.info, side, prompt, protocol)
    rows: list[ReferenceRow] = []
    impls: dict[str, str] = {}
    for prompt, reference, candidate in pairs:
        row, found = _measured(
            prompt, (reference, candidate), protocol, wanted, lacking, budget, open_options
        )
        rows.append(row)
        impls |= found
        on_pair()
    values, unmeasured = aggregate(rows, wanted)
    return ReferenceFacts(
        rows=tuple(rows),
        values=values,
        unmeasured=unmeasured,
        impls=dict(sorted(impls.items())),
        impl=IMPL,
        metrics=wanted,
    )


def missing_metrics(metrics: Sequence[str]) -> dict[str, str]:
    """Which of these metrics give no number on this installation, and why."""
    found = {name: availability.missing(registry.spec(name)) for name in metrics}
    return {name: why for name, why in found.items() if why is not None}


def _listed(sources: Any) -> list[Any]:
    check_sources(sources)
    return list(sources)


def _check_clip(info: ClipInfo, side: str, prompt: str, protocol: Protocol) -> None:
    """What a clip says of itself before it is decoded."""
    if (info.width, info.height) != (protocol.width, protocol.height):
        raise ProtocolError(
            f"the {side} of {prompt!r}, {_name(info)}, is {info.width}x{info.height}; the protocol "
            f"says {protocol.resolution}. Nothing is resized here: render at one size, or scale "
            "the arm by a scaler of your choice and name output-resize among the changes",
            code="size_mismatch",
            pair=prompt,
        )
    if info.frames is not None:
        _check_frames(info.frames, info, side, prompt, protocol)


def _check_frames(frames: int, info: ClipInfo, side: str, prompt: str, protocol: Protocol) -> None:
    if frames != protocol.frames:
        raise ProtocolError(
            f"the {side} of {prompt!r}, {_name(info)}, has {frames} frames; the protocol says "
            f"{protocol.frames}",
            code="frame_count",
            pair=prompt,
        )


def _name(info: ClipInfo) -> str:
    # Where a file lies is no part of what was measured: a report moved stays the same bytes.
    return os.path.basename(info.source) or info.source


def _measured(
    prompt: str,
    sources: tuple[Any, Any],
    protocol: Protocol,
    metrics: Sequence[str],
    lacking: dict[str, str],
    threads: int,
    open_options: dict[str, Any],
) -> tuple[ReferenceRow, dict[str, str]]:
    """One pair, and the version of each metric that gave a number."""
    of_reference, of_candidate = (
        None if is_in_memory(source) else content_of_file(source, open_options)
        for source in sources
    )
    # The squared errors come with the PSNR of the same pass, and have no logarithm in them yet.
    asked = [name for name in metrics if name not in lacking] or ["psnr"]
    asked += ["mse"] if "psnr" in asked else []
    with ExitStack() as stack:
        clips = open_both(*sources, stack, threads=threads, **open_options)
        try:
            facts = measure_pair(*clips, metrics=asked, threads=threads)
        except MediaError as error:
            raise MediaError(
                f"the pair of {prompt!r}: {error.message}",
                code=error.code,
                **{"pair": prompt, **error.context},
            ) from error
    infos = (facts.reference, facts.candidate)
    for side, info, read in zip(SIDES, infos, facts.read, strict=True):
        _check_frames(len(read), info, side, prompt, protocol)
        _refuse_damage(facts, side, info)
    for content in (of_reference, of_candidate):
        if content is not None and not content.unchanged:
            raise MediaError(
                f"{content.source}: changed while it was read; run again when it is whole",
                code="changed",
                source=content.source,
            )
    row = ReferenceRow(
        prompt=prompt,
        frames=len(facts.pairs),
        misaligned=judge_pairing(facts.pairing).reasons,
        sources=(_name(facts.reference), _name(facts.candidate)),
        contents=(
            None if of_reference is None else of_reference.digest,
            None if of_candidate is None else of_candidate.digest,
        ),
    )
    return with_values(row, facts, metrics, lacking)


def _refuse_damage(facts: PairFacts, side: str, info: ClipInfo) -> None:
    if damage := facts.damage[side]:
        raise MediaError(
            f"{info.source}: damaged ({damage[0].kind}: {damage[0].detail}); a gate judges whole "
            "clips, so render or copy it again",
            code="damaged",
            source=info.source,
        )
