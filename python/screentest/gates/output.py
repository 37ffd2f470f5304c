"""One call for two arms of outputs: the gate that their change and their content ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from screentest.errors import ProtocolError
from screentest.gates.judge import require_repeat_fits, require_waivable
from screentest.gates.reference import run_reference_gate
from screentest.gates.reference_facts import check_metrics
from screentest.media import open_clip
from screentest.metrics.paired.frames import SIDES
from screentest.protocol import Lane, Protocol, Purpose, require_admissible
from screentest.side_by_side import check_sources

if TYPE_CHECKING:
    from screentest.gates.report import GateReport, NullControl, RepeatControl

__all__ = ["by_reference", "require_controls_fit", "run_output_gate"]


def run_output_gate(
    references: Sequence[Any],
    candidates: Sequence[Any],
    protocol: Protocol,
    budgets: Any = None,
    *,
    null_control: NullControl | None = None,
    repeat_control: RepeatControl | None = None,
    waive: Sequence[str] = (),
    metrics: Sequence[str] = (),
    threads: int | None = None,
    **open_options: Any,
) -> GateReport:
    """Judge two arms by the gate that the protocol asks for: frame by frame where both show one
    trajectory or the purpose is paired fidelity, else as populations, of stills where each clip is
    one frame.

    Args:
        references: the clips of the reference arm, whatever
            :func:`~screentest.media.open_clip` opens, in the order of the protocol's prompts.
        candidates: the clips of the candidate arm, in the same order.
        protocol: the conditions.
        budgets: a table, its TOML file, or budgets, for the gate that is chosen; by default its
            shipped table.
        null_control: of a population gate, the same weights under another seed.
        repeat_control: of paired fidelity, the same settings rendered again.
        waive: of a population gate, budgets that may stay unproven by the null control.
        metrics: of a reference gate, what to measure besides what the budgets need.
        threads: compute budget; it changes no bit.
        **open_options: passed to :func:`~screentest.media.open_clip` for every clip.

    Raises:
        TrajectoryPerturbingError: a reference metric was asked for between two takes.
        ProtocolError: a control or a waiver belongs to another gate, content and stamp disagree on
            whether these are stills, or what the gate itself refuses.
        PolicyError: the budgets contradict themselves or belong to another gate.
        InputError: a metric or an argument is unknown.
        MissingBackendError: the statistics of a population gate are not installed.
        MediaError: a clip cannot be read or is damaged.
        FileNotFoundError: there is no such file.
    """
    require_controls_fit(protocol, null_control, repeat_control, waive)
    check_metrics(metrics)
    if by_reference(protocol):
        return run_reference_gate(
            references,
            candidates,
            protocol,
            budgets,
            repeat_control,
            metrics=metrics or ("psnr",),
            threads=threads,
            **open_options,
        )
    require_admissible(protocol.lane, *metrics, purpose=protocol.purpose)
    from screentest.gates.population import population_table, run_gate_of_stamp
    from screentest.gates.scoring import score_pairs
    from screentest.metrics.population.significance import require_scipy

    # What is wrong with the request is said before anything is decoded.
    require_scipy()
    table = population_table(budgets, protocol)
    require_waivable(waive, table)
    check_sources(references)
    check_sources(candidates)
    arms = [*references], [*candidates]
    for arm, sources in zip(SIDES, arms, strict=True):
        for at, source in enumerate(sources):
            with open_clip(source, threads=threads, **open_options) as clip:
                if clip.info.frames is not None:
                    _require_agreed(clip.info.frames, f"{arm} {at + 1}", protocol)
    pairs = score_pairs(*arms, threads=threads, **open_options)
    for at, pair in enumerate(pairs):
        for arm, scored in zip(SIDES, pair, strict=True):
            _require_agreed(scored.score.n_frames, f"{arm} {at + 1}", protocol)
    return run_gate_of_stamp(pairs, protocol, table, null_control, waive=waive)


def by_reference(protocol: Protocol) -> bool:
    """Whether frame i of one arm is held against frame i of the other."""
    return protocol.lane is Lane.SAME_TRAJECTORY or protocol.purpose is Purpose.PAIRED_FIDELITY


def require_controls_fit(
    protocol: Protocol,
    null_control: NullControl | None,
    repeat_control: RepeatControl | None,
    waive: Sequence[str] = (),
) -> None:
    """Refuse a control that the protocol's gate has no question for.

    Raises:
        ProtocolError: a null control or a waiver of it where frames are compared, or a repeat
            control of quality.
    """
    require_repeat_fits(repeat_control, protocol)
    if (null_control is not None or waive) and by_reference(protocol):
        raise ProtocolError(
            "a null control says whether the budgets of a population transfer, and this protocol "
            "compares frame by frame: leave out the control and what it waives",
            code="null_of_reference",
        )


def _require_agreed(frames: int, which: str, protocol: Protocol) -> None:
    """Refuse a still where the stamp says a clip, or the reverse: the two have gates of their own.
    Another count of frames is for the gate to judge."""
    if (frames == 1) != (protocol.frames == 1):
        is_, says = ("a still", "clips") if frames == 1 else ("a clip", "stills")
        raise ProtocolError(
            f"{which} is {is_} of {frames} frame{'s' * (frames != 1)}; the protocol says {says} of "
            f"{protocol.frames}, and stills and clips have gates of their own",
            code="mixed_stills",
        )
