"""What can be asked of a pair, by name: each kind of metric is one entry of :data:`KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from screentest.errors import InputError
from screentest.metrics import instruments, registry
from screentest.metrics.detail import names as detail
from screentest.metrics.facts import Score
from screentest.metrics.fidelity import FIDELITY, unmeasured_score
from screentest.metrics.flow import names as flow
from screentest.metrics.flow import opencv
from screentest.metrics.identity import score
from screentest.metrics.instruments import INSTRUMENT_NAMES, REQUESTS, TRAITS
from screentest.metrics.tracks import names as tracks

if TYPE_CHECKING:
    from screentest._native import FrameFormat
    from screentest.media.info import ClipInfo
    from screentest.metrics.instruments import Instrument

__all__ = [
    "KINDS",
    "PAIRED_METRICS",
    "Kind",
    "Setting",
    "asks",
    "check_metrics",
    "kind_of",
    "metric_impls",
]


@dataclass(frozen=True, slots=True)
class Setting:
    """The pair that metrics are made for. ``pairs`` is how many pairs of frames will come, ``None``
    where that is not known."""

    infos: tuple[ClipInfo, ClipInfo]
    formats: tuple[FrameFormat, FrameFormat]
    pairs: int | None
    threads: int
    device: str


Made: TypeAlias = "tuple[list[Instrument], list[Score]]"
"""What runs, and an unmeasured score for each that cannot."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Metrics that are made and fed alike.

    Attributes:
        says: the name that asks -> what it is.
        gives: the names of the scores that a request gives.
        impl: which version of it this installation computes.
        sees: whether it reads red, green and blue, or their luma, which need a common scale in both
            clips; an instrument decides that for itself, and says why not.
        unmeasured: the score of a name that gives no number, for this reason.
        create: makes those asked for; ``None`` for the kernels, which check every frame whatever is
            asked for.
    """

    says: Mapping[str, str]
    gives: Callable[[str], tuple[str, ...]]
    impl: Callable[[str], str]
    sees: Callable[[str], bool]
    unmeasured: Callable[[str, str], Score]
    create: Callable[[Sequence[str], Setting], Made] | None = None


def _instruments(names: Sequence[str], pair: Setting) -> Made:
    (a, b), (a_format, b_format) = pair.infos, pair.formats
    return instruments.create(
        names, a, a_format, b, b_format, threads=pair.threads, device=pair.device
    )


def _flow(names: Sequence[str], pair: Setting) -> Made:
    reason = opencv.missing()
    if reason is not None:
        return [], [score(name, None, reason=reason) for name in names]
    from screentest.metrics.flow.paired import PairedFlow

    return [PairedFlow(names, pair.formats, pairs=pair.pairs, threads=pair.threads)], []


def _flow_impl(name: str) -> str:
    from screentest.metrics.flow.paired import impl

    return impl(name)


def _detail(names: Sequence[str], pair: Setting) -> Made:
    from screentest.metrics.detail.paired import PairedDetail

    return [PairedDetail(names, pair.formats, pairs=pair.pairs, threads=pair.threads)], []


def _tracks(_names: Sequence[str], pair: Setting) -> Made:
    from screentest.metrics.tracks.paired import PairedTracks

    return [PairedTracks(pair.infos, pair.formats, threads=pair.threads)], []


KINDS: tuple[Kind, ...] = (
    Kind(
        says={name: metric.says for name, metric in FIDELITY.items()},
        gives=lambda name: (name, f"{name}_pooled", f"{name}_worst"),
        impl=lambda name: FIDELITY[name].impl,
        sees=lambda name: FIDELITY[name].domain != "planes",
        unmeasured=unmeasured_score,
    ),
    Kind(
        says=INSTRUMENT_NAMES,
        gives=REQUESTS.__getitem__,
        impl=lambda name: TRAITS[REQUESTS[name][0]].impl,
        sees=lambda _: False,
        unmeasured=instruments.unmeasured,
        create=_instruments,
    ),
    Kind(
        says={name: spec.says for name, spec in flow.PAIRED.items()},
        gives=lambda name: (name,),
        impl=_flow_impl,
        sees=lambda _: True,
        unmeasured=lambda name, reason: score(name, None, reason=reason),
        create=_flow,
    ),
    Kind(
        says={name: spec.says for name, spec in detail.PAIRED.items()},
        gives=lambda name: (name,),
        impl=lambda name: detail.PAIRED[name].impl,
        sees=lambda _: True,
        unmeasured=lambda name, reason: score(name, None, reason=reason),
        create=_detail,
    ),
    Kind(
        says={tracks.RATIO: registry.spec(tracks.RATIO).says},
        gives=lambda name: (name,),
        impl=lambda name: registry.spec(name).impl,
        sees=lambda _: True,
        unmeasured=lambda name, reason: score(name, None, reason=reason),
        create=_tracks,
    ),
)
"""Every kind of paired metric, in the order of a listing."""

PAIRED_METRICS: dict[str, str] = {name: says for kind in KINDS for name, says in kind.says.items()}
"""Every paired metric by the name that asks for it, and what it is."""


def kind_of(name: str) -> Kind:
    """The kind of a metric that is known."""
    return next(kind for kind in KINDS if name in kind.says)


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """The names in their order, each once.

    Raises:
        InputError: one is unknown, or there is none.
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in PAIRED_METRICS:
            raise InputError(
                f"metric {name!r} {_why_not(name)}; the paired metrics are "
                f"{', '.join(PAIRED_METRICS)}",
                code="unknown_metric",
                metric=name,
            )
    if not wanted:
        raise InputError(
            f"no metric was asked for; the paired metrics are {', '.join(PAIRED_METRICS)}",
            code="no_metrics",
        )
    return wanted


def _why_not(name: str) -> str:
    """Why a name cannot be asked of a pair."""
    known = next((spec for spec in registry.specs() if spec.name == name), None)
    if known is None:
        return "is unknown"
    if known.status == "planned":
        return "is planned, and nothing measures it yet"
    if not known.paired:
        return "is a number of one clip: screentest measure gives it"
    return f"comes with {registry.request_of(name)}: ask for that"


def metric_impls(names: Sequence[str]) -> dict[str, str]:
    """Which version of each metric this installation computes. The two numbers of a name with
    different versions do not compare."""
    return {name: kind_of(name).impl(name) for name in check_metrics(names)}


def asks(request: str, score: str) -> bool:
    """Whether a request gives a score of this name: ``psnr_y`` gives ``psnr_y_worst``."""
    return score in kind_of(request).gives(request)
