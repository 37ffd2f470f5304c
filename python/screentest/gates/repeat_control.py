"""The repeat control: the same settings rendered again, which is what numeric noise looks like.

It answers how large noise is, for paired fidelity; whether a budget transfers to a model is the
null control's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from screentest.errors import ProtocolError
from screentest.gates.reference import measure_reference, missing_metrics
from screentest.gates.reference_facts import check_metrics
from screentest.gates.report import RepeatControl, require_repeat
from screentest.protocol import Protocol

__all__ = ["measure_repeat_control", "require_faultless"]


def measure_repeat_control(
    references: Sequence[Any],
    repeats: Sequence[Any],
    protocol: Protocol,
    *,
    metrics: Sequence[str] = ("psnr",),
    threads: int | None = None,
    on_pair: Callable[[], None] = lambda: None,
    **open_options: Any,
) -> RepeatControl:
    """How far two renders of the same settings lie apart.

    Args:
        references: the clips of the reference arm, in the order of the protocol's prompts.
        repeats: the same arm rendered again, in the same order.
        protocol: its stamp: the only change is ``repeat``, both arms have one name, the purpose is
            paired fidelity; the rest is that of the runs that it is for.
        metrics: what to measure; the metric of every budget that a run is to be held against.
        threads: compute budget; it changes no bit.
        on_pair: called after each pair.
        **open_options: passed to :func:`~screentest.media.open_clip` for every clip.

    Raises:
        ProtocolError: the stamp is not that of a repeat or has a fault, a pair is not aligned, a
            metric gave no number, or what
            :func:`~screentest.gates.reference.measure_reference` refuses.

    >>> import numpy as np
    >>> protocol = Protocol(family="f", reference_arm="a", candidate_arm="a", changes=("repeat",),
    ...     width=32, height=24, frames=2, steps=8, seeds=(0,), prompts=("a cat",),
    ...     execution_lane="compiled", hardware="H100", purpose="paired-fidelity")
    >>> clip = np.random.default_rng(0).integers(0, 250, (2, 24, 32, 3), np.uint8)
    >>> measure_repeat_control([clip], [clip], protocol).values
    {'psnr_mean': 99.0, 'psnr_worst': 99.0}
    """
    require_repeat(protocol)
    require_faultless(protocol, len(references))
    _require_measured(missing_metrics(check_metrics(metrics)))
    facts = measure_reference(
        references,
        repeats,
        protocol,
        metrics=metrics,
        threads=threads,
        on_pair=on_pair,
        **open_options,
    )
    for row in facts.rows:
        if row.misaligned:
            raise ProtocolError(
                f"the repeat of {row.prompt!r} is not aligned with its reference: "
                f"{'; '.join(row.misaligned)}",
                code="misaligned",
                pair=row.prompt,
            )
    _require_measured(facts.unmeasured)
    return RepeatControl(protocol=protocol, values=facts.values, impls=facts.impls, impl=facts.impl)


def require_faultless(protocol: Protocol, pairs: int) -> None:
    """Refuse to measure noise under conditions that move the outputs by themselves.

    Raises:
        ProtocolError: the stamp has a fault, or another number of prompts.
    """
    faults = [*protocol.faults()]
    if pairs != protocol.n:
        faults.append(f"{pairs} pairs; the protocol names {protocol.n} prompts")
    if faults:
        raise ProtocolError(
            f"a repeat control under these conditions says nothing: {'; '.join(faults)}",
            code="faulty_control",
            faults=faults,
        )


def _require_measured(lacking: Mapping[str, str]) -> None:
    for name, why in lacking.items():
        raise ProtocolError(
            f"the repeat control has no {name}: {why}; a run whose budgets need it could not pass, "
            "so install what is missing or ask for other metrics",
            code="unmeasured",
            metric=name,
        )
