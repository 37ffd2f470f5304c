"""One metric over many clips or frames, for callers who hold the loop.

Streamed, merged from parts or taken up again after a stop, the numbers are bit for bit those of
:func:`~screentest.metrics.pooling.pool` over all values at once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from screentest.errors import InputError, ProtocolError, SchemaError
from screentest.metrics import registry
from screentest.metrics.facts import Direction
from screentest.metrics.identity import checked_value
from screentest.metrics.pooling import KEEP_VALUES, Tally
from screentest.metrics.spec import Dimension, MetricSpec, Pool

__all__ = ["MetricAccumulator", "SuiteAccumulator", "Summary"]

STATE_SCHEMA = "screentest/accumulator@1"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric over many values.

    Attributes:
        metric, impl, dimension, direction, unit, pool: of the registry.
        value: the values as one; ``None`` where there is none, with the ``reason``.
        n: values taken in.
        unmeasured: how many were not measured; they are in no number.
        worst: the first of the values farthest in the bad direction, or from the target; ``None``
            where nothing says which way is bad.
        worst_unit: what the caller called it: a clip, a prompt, a frame.
        worst_index: its index.
        least: smallest value.
        most: largest value.
        deviation: standard deviation (n - 1), ``None`` below two values.
        reason: why there is no value.
    """

    metric: str
    impl: str
    dimension: Dimension
    direction: Direction
    unit: str
    pool: Pool
    value: float | None
    n: int
    unmeasured: int
    worst: float | None = None
    worst_unit: str = ""
    worst_index: int | None = None
    least: float | None = None
    most: float | None = None
    deviation: float | None = None
    reason: str | None = None


class _Worst(msgspec.Struct, forbid_unknown_fields=True):
    """A value, what it was called, where it stood among all, and the index that it was given."""

    value: float
    unit: str
    position: int
    index: int | None

    @property
    def where(self) -> int:
        return self.position if self.index is None else self.index


class _State(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What :meth:`MetricAccumulator.state` gives."""

    schema: str
    metric: str
    impl: str
    n: int
    unmeasured: int
    total: str
    squares: str
    least: float | None
    most: float | None
    worst: _Worst | None
    values: list[float] | None


class MetricAccumulator:
    """Takes values of one metric as they come, in constant memory.

    The median and the harmonic mean keep their values, eight bytes and an object for each.

    >>> corpus = MetricAccumulator("psnr")
    >>> corpus.update(38.0, "a.mp4")
    >>> corpus.update(None, "b.mp4")
    >>> corpus.update(31.0, "c.mp4")
    >>> found = corpus.compute()
    >>> found.value, found.n, found.unmeasured, found.worst_unit, found.worst_index
    (34.5, 2, 1, 'c.mp4', 2)

    Raises:
        InputError: no metric has this name (``unknown_metric``).
    """

    def __init__(self, metric: str) -> None:
        self.spec = registry.spec(metric)
        self.reset()

    def reset(self) -> None:
        """Forget every value."""
        self._tally = Tally(keep=self.spec.pool in KEEP_VALUES)
        self._unmeasured = 0
        self._worst: _Worst | None = None

    def update(self, value: float | None, unit: str = "", index: int | None = None) -> None:
        """Take in one value.

        Args:
            value: finite and within the metric's bounds; ``None`` for what was not measured, which
                is counted and is in no number.
            unit: what it is the value of, for the summary's ``worst_unit``.
            index: its index, by default how many came before it, measured or not.

        Raises:
            InputError: the metric cannot have this value, or ``unit`` is no text or ``index`` no
                whole number (``bad_place``); nothing is taken in.
        """
        index = _checked_place(unit, index)
        if value is None:
            self._unmeasured += 1
            return
        number = checked_value(self.spec, value)
        if self._is_worse(number):
            self._worst = _Worst(number, unit, self._seen, index)
        self._tally.add(number)

    def update_many(self, values: Iterable[float | None], units: Iterable[str] = ()) -> None:
        """Take in several values, with what each of them is of or without."""
        told = iter(units)
        for value in values:
            self.update(value, next(told, ""))

    def compute(self) -> Summary:
        """The numbers of all values so far; more may follow."""
        spec, tally, worst = self.spec, self._tally, self._worst
        reason = None
        if not tally.count:
            many = f"none of {self._unmeasured} was measured" if self._unmeasured else "none came"
            reason = f"no value: {many}"
        return Summary(
            metric=spec.name,
            impl=spec.impl,
            dimension=spec.dimension,
            direction=spec.direction,
            unit=spec.unit,
            pool=spec.pool,
            value=tally.pooled(spec.pool) if tally.count else None,
            n=tally.count,
            unmeasured=self._unmeasured,
            worst=None if worst is None else worst.value,
            worst_unit="" if worst is None else worst.unit,
            worst_index=None if worst is None else worst.where,
            least=tally.least,
            most=tally.most,
            deviation=tally.deviation(),
            reason=reason,
        )

    def merge(self, other: MetricAccumulator) -> None:
        """Take in the values of another accumulator, as if they had come after one's own.

        Raises:
            InputError: it is of another metric (``different_metric``).
            ProtocolError: it is of another ``impl`` (``different_impl``).
        """
        self._require_own(other.spec.name, other.spec.impl)
        worst = other._worst
        if worst is not None and self._is_worse(worst.value):
            self._worst = msgspec.structs.replace(worst, position=worst.position + self._seen)
        self._tally.merge(other._tally)
        self._unmeasured += other._unmeasured

    def state(self) -> dict[str, Any]:
        """Everything, as plain JSON, for :meth:`load_state`."""
        tally = self._tally
        state = _State(
            schema=STATE_SCHEMA,
            metric=self.spec.name,
            impl=self.spec.impl,
            n=tally.count,
            unmeasured=self._unmeasured,
            total=tally.total.text(),
            squares=tally.squares.text(),
            least=tally.least,
            most=tally.most,
            worst=self._worst,
            values=tally.values,
        )
        plain: dict[str, Any] = msgspec.to_builtins(state)
        return plain

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` gave, in place of what was here.

        Raises:
            InputError: it is of another metric (``different_metric``).
            ProtocolError: it is of another ``impl`` (``different_impl``).
            SchemaError: it is no such state, or contradicts itself; nothing is changed.
        """
        try:
            found = msgspec.convert(dict(state), _State)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise _bad_state(str(error)) from None
        if found.schema != STATE_SCHEMA:
            raise _bad_state(f"schema {found.schema!r} is not {STATE_SCHEMA}")
        self._require_own(found.metric, found.impl)
        tally = self._restored(found)
        self._tally, self._unmeasured, self._worst = tally, found.unmeasured, found.worst

    def _restored(self, found: _State) -> Tally:
        keep = self.spec.pool in KEEP_VALUES
        tally = Tally(keep=keep)
        if found.n < 0 or found.unmeasured < 0 or (found.values is not None) != keep:
            raise _bad_state("its counts or values are not those of this metric")
        try:
            if found.values is not None:
                for value in found.values:
                    tally.add(checked_value(self.spec, value))
            else:
                tally.count = found.n
                tally.total.restore(found.total)
                tally.squares.restore(found.squares)
                for end in (found.least, found.most):
                    if end is not None:
                        checked_value(self.spec, end)
                tally.least, tally.most = found.least, found.most
        except ValueError as error:
            raise _bad_state(str(error)) from None
        if not _agree(tally, found, self.spec):
            raise _bad_state("its numbers contradict each other")
        return tally

    @property
    def _seen(self) -> int:
        """How many values came, measured or not."""
        return self._tally.count + self._unmeasured

    def _is_worse(self, value: float) -> bool:
        """Whether a value is farther in the bad direction than all before it."""
        bad = self.spec.badness(value)
        if bad is None:
            return False
        worst = self._worst
        if worst is None:
            return True
        return bad > (self.spec.badness(worst.value) or 0.0)

    def _require_own(self, metric: str, impl: str) -> None:
        if metric != self.spec.name:
            raise InputError(
                f"{metric} and {self.spec.name} are two metrics: their values do not go together",
                code="different_metric",
                metrics=(metric, self.spec.name),
            )
        if impl != self.spec.impl:
            raise ProtocolError(
                f"{metric} by {impl} and by {self.spec.impl} are two numbers that do not go "
                "together: measure both with one version",
                code="different_impl",
                impls=(impl, self.spec.impl),
            )


def _agree(tally: Tally, found: _State, spec: MetricSpec) -> bool:
    """Whether the numbers of a state can come of one set of values."""
    kept = (tally.count, tally.least, tally.most, tally.total.text(), tally.squares.text())
    said = (found.n, found.least, found.most, found.total, found.squares)
    if kept != said or not tally.is_possible():
        return False
    ends = (tally.least, tally.most)
    bad = [spec.badness(end) for end in ends if end is not None]
    most_bad = max((b for b in bad if b is not None), default=None)
    if found.worst is None:
        return most_bad is None
    return (
        0 <= found.worst.position < found.n + found.unmeasured
        and most_bad is not None
        and spec.badness(found.worst.value) == most_bad
    )


def _checked_place(unit: object, index: Any) -> int | None:
    """The index as a plain int: a place that JSON cannot hold would make a state that it cannot."""
    if not isinstance(unit, str):
        raise InputError(f"unit={unit!r}: expected text", code="bad_place")
    try:
        return None if index is None else operator.index(index)
    except TypeError:
        raise InputError(f"index={index!r}: expected a whole number", code="bad_place") from None


def _bad_state(why: str) -> SchemaError:
    return SchemaError(f"not the state of an accumulator: {why}", code="bad_state")


class SuiteAccumulator:
    """Several metrics of the same clips, as they come.

    >>> suite = SuiteAccumulator(["psnr", "ssim"])
    >>> suite.update({"psnr": 38.0, "ssim": 0.97}, "a.mp4")
    >>> suite.update({"psnr": 36.0}, "b.mp4")
    >>> {name: (found.value, found.unmeasured) for name, found in suite.compute().items()}
    {'psnr': (37.0, 0), 'ssim': (0.97, 1)}

    Raises:
        InputError: a metric is unknown, or there is none.
    """

    def __init__(self, metrics: Iterable[str]) -> None:
        self._of = {name: MetricAccumulator(name) for name in dict.fromkeys(metrics)}
        if not self._of:
            raise InputError("no metric was named", code="no_metrics")

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order they were named."""
        return tuple(self._of)

    def impls(self) -> dict[str, str]:
        """``impl`` of every metric."""
        return {name: one.spec.impl for name, one in self._of.items()}

    def update(
        self, values: Mapping[str, float | None], unit: str = "", index: int | None = None
    ) -> None:
        """Take in one clip's values; a metric that has none here counts as not measured.

        Raises:
            InputError: a metric is not of this suite (``unknown_metric``), or cannot have its
                value. Nothing of the clip is taken in.
        """
        index = _checked_place(unit, index)
        for name, value in values.items():
            if name not in self._of:
                raise InputError(
                    f"metric {name!r} is not of this suite: {', '.join(self._of)}",
                    code="unknown_metric",
                    metric=name,
                )
            if value is not None:
                checked_value(self._of[name].spec, value)
        for name, one in self._of.items():
            one.update(values.get(name), unit, index)

    def compute(self) -> dict[str, Summary]:
        """The summary of every metric that has a value."""
        found = {name: one.compute() for name, one in self._of.items()}
        return {name: summary for name, summary in found.items() if summary.n}

    def unmeasured(self) -> dict[str, str]:
        """Why each metric without a value has none."""
        found = {name: one.compute().reason for name, one in self._of.items()}
        return {name: reason for name, reason in found.items() if reason is not None}

    def merge(self, other: SuiteAccumulator) -> None:
        """Take in another suite of the same metrics, as if its clips had come afterwards.

        Raises:
            InputError: its metrics are others. ProtocolError: a metric is of another ``impl``.
        """
        self._require_same(other.metrics)
        for name, one in self._of.items():
            one._require_own(name, other._of[name].spec.impl)
        for name, one in self._of.items():
            one.merge(other._of[name])

    def state(self) -> dict[str, Any]:
        """Everything, as plain JSON: {metric: state}."""
        return {name: one.state() for name, one in self._of.items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` gave. Raises as
        :meth:`MetricAccumulator.load_state`; nothing is changed then."""
        if not isinstance(state, Mapping):
            raise _bad_state(f"{type(state).__name__} where metrics and their states were expected")
        self._require_same(state)
        loaded = {name: MetricAccumulator(name) for name in self._of}
        for name, one in loaded.items():
            one.load_state(state[name])
        self._of = loaded

    def reset(self) -> None:
        """Forget every value."""
        for one in self._of.values():
            one.reset()

    def _require_same(self, metrics: Iterable[str]) -> None:
        if set(metrics) != set(self._of):
            raise InputError(
                f"metrics {', '.join(metrics)} and {', '.join(self._of)}: only suites of the same "
                "metrics go together",
                code="different_metric",
            )
