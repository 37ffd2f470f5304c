"""Families of the tests' own: small enough that their facts are worked out beside them."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError, MediaError
from screentest.media.clip import Frame
from screentest.media.info import ClipInfo, Damage
from screentest.metrics.facts import Score
from screentest.metrics.family import Begin, Family

BATCHES: dict[str, list[list[int]]] = {}
"""What each family was given, batch by batch, since :func:`forget`."""


def forget() -> None:
    BATCHES.clear()


@dataclass(frozen=True, eq=False)
class Sums:
    """Sum of the codes of the first plane of each frame read."""

    index: NDArray[np.int64]
    time_s: NDArray[np.float64] | None
    total: NDArray[np.int64]
    quarters: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sums) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


class SumFacts(msgspec.Struct, frozen=True, kw_only=True):
    impl: str
    clip: ClipInfo
    damage: tuple[Damage, ...] = ()
    mean_total: float | None = None
    series: Sums


class SumAccumulator:
    def __init__(
        self, name: str, begin: Begin, refuse_at: int | None = None, impl: str = "sums/1"
    ) -> None:
        self._begin = begin
        self._impl = impl
        self._refuse_at = refuse_at
        self._rows: list[tuple[int, float | None, int, list[float]]] = []
        self._batches = BATCHES.setdefault(name, [])

    def push_many(self, frames: Sequence[Frame], /) -> None:
        self._batches.append([frame.index for frame in frames])
        for frame in frames:
            if frame.index == self._refuse_at:
                raise MediaError(f"frame {frame.index} holds NaN", code="non_finite")
            plane = np.nan_to_num(frame.planes[0])
            quarters = [float(part.sum()) for part in np.array_split(plane, 4)]
            self._rows.append((frame.index, frame.time_s, int(plane.sum()), quarters))

    def finish(self, clip: ClipInfo, damage: Sequence[Damage] = ()) -> SumFacts:
        index, times, totals, quarters = zip(*self._rows, strict=True)
        return SumFacts(
            impl=self._impl,
            clip=clip,
            damage=tuple(damage),
            mean_total=None if len(totals) < 2 else sum(totals) / len(totals),
            series=Sums(
                index=np.array(index, np.int64),
                time_s=None if None in times else np.array(times, np.float64),
                total=np.array(totals, np.int64),
                quarters=np.array(quarters).reshape(-1, 2, 2),
            ),
        )


def sums(
    name: str = "sums", *, refuse_at: int | None = None, impl: str = "sums/1", **more: Any
) -> Family[SumFacts]:
    """A family that reads every frame, and one frame has no number for."""
    return Family(
        name=name,
        says="sums of codes",
        impl=impl,
        facts=SumFacts,
        begin=lambda begin: SumAccumulator(name, begin, refuse_at, impl),
        values=lambda facts: {f"{name}_mean": facts.mean_total},
        reasons=lambda _: {f"{name}_mean": "needs 2 frames; this is one"},
        **more,
    )


def _every(frames: int, options: Mapping[str, Any]) -> list[int]:
    step = options["every"]
    if not isinstance(step, int) or step < 1:
        raise InputError(f"every={step!r}: expected a whole number of at least 1")
    return list(range(0, frames, step))


def sampling(name: str = "sampled", every: int = 10) -> Family[SumFacts]:
    """The same of every so many frames."""
    return sums(name, wanted=_every, options={"every": every})


def stand_in_for_unknown_metrics(monkeypatch: Any) -> None:
    """Lets metrics have scores that no registry knows: those of the families made here."""
    try:
        from screentest.metrics import identity
    except ImportError:
        identity = types.ModuleType("screentest.metrics.identity")  # type: ignore[assignment]
        monkeypatch.setitem(sys.modules, identity.__name__, identity)
    known = getattr(identity, "score", None)

    def score(name: str, value: float | None, *, impl_suffix: str = "", **said: Any) -> Score:
        if known is not None and not name.endswith("_mean"):
            return known(name, value, impl_suffix=impl_suffix, **said)  # type: ignore[no-any-return]
        return Score(
            name=name,
            value=value,
            state="unmeasured" if value is None else "measured",
            unit="1",
            impl=f"made/1{impl_suffix}",
            direction="up",
            **said,
        )

    monkeypatch.setattr(identity, "score", score, raising=False)
