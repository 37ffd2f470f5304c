"""Which populations the folders and reports on a command line are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from screentest.errors import InputError, SchemaError
from screentest.gates.calibration.calibrate import Population
from screentest.gating.arms import Arms, find_arms

if TYPE_CHECKING:
    from screentest.gates.report import GateReport

__all__ = ["Source", "find_sources"]

ARMS = ("reference", "candidate")


class Source(NamedTuple):
    """One population before it is measured.

    Attributes:
        name: what the evidence calls it.
        degraded: whether it ought to fail.
        arms: the pairs of its clips, ``None`` for a report.
        known: the population of a report.
    """

    name: str
    degraded: bool
    arms: Arms | None = None
    known: Population | None = None

    @property
    def clips(self) -> tuple[str, ...]:
        """The files that have to be measured for it."""
        return () if self.arms is None else (*self.arms.references, *self.arms.candidates)


class _Given(NamedTuple):
    """A path with the name that it goes by, and what lies there."""

    path: str
    name: str
    form: str


def find_sources(clean: Sequence[str], degraded: Sequence[str]) -> tuple[Source, ...]:
    """The populations behind the paths.

    A folder with the folders ``reference`` and ``candidate`` is a population. Flat folders of clean
    renders are repeated renders of the same prompts: each pair of them is a population, held both
    ways, since nothing makes one the reference of the other. A flat folder of degraded renders is
    held against each of them. A sealed gate report is a population, and a folder may hold several.

    Args:
        clean: paths of what ought to pass.
        degraded: paths of what ought to fail.

    Raises:
        FileNotFoundError: there is nothing at a path.
        InputError: a path is none of these, names do not go together, or one path stands twice.
        SchemaError: a file is not a sealed gate report.
    """
    names = _names([*clean, *degraded])
    good = [_look(path, names[path]) for path in clean]
    bad = [_look(path, names[path]) for path in degraded]
    flat = [given for given in good if given.form == "flat"]
    found = [
        *(source for given in good for source in _plain(given, False)),
        *_repeats(flat),
        *(source for given in bad for source in _plain(given, True)),
        *(source for given in bad if given.form == "flat" for source in _against(given, flat)),
    ]
    if not found:
        raise InputError(
            f"{flat[0].path} alone is held against nothing: give a second render of its prompts as "
            "clean, or renders that ought to fail as degraded"
            if flat
            else "no population: give folders or sealed reports as clean and as degraded",
            code="no_population",
        )
    return tuple(found)


def _names(paths: Sequence[str]) -> dict[str, str]:
    """The last part of each path, or the whole path where two would be called alike."""
    seen: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(
                f"{path} was given twice: a population counts once, as clean or as degraded",
                code="given_twice",
            )
        seen[real] = path
    short = {path: os.path.basename(os.path.abspath(path)) for path in paths}
    return {
        path: name if list(short.values()).count(name) == 1 else path
        for path, name in short.items()
    }


def _look(path: str, name: str) -> _Given:
    # Said before anything is opened, and with the name.
    os.stat(path)
    if not os.path.isdir(path):
        return _Given(path, name, "report")
    here = [entry for entry in sorted(os.listdir(path)) if not entry.startswith(".")]
    arms = [arm for arm in ARMS if os.path.isdir(os.path.join(path, arm))]
    if len(arms) == len(ARMS):
        return _Given(path, name, "pair")
    if arms:
        lacking = next(arm for arm in ARMS if arm not in arms)
        raise InputError(
            f"{path} has a folder {arms[0]!r} and none called {lacking!r}: a population has both",
            code="half_a_population",
        )
    if here and all(entry.endswith(".json") for entry in here):
        return _Given(path, name, "reports")
    if not here:
        raise InputError(f"{path}: an empty folder", code="no_media")
    return _Given(path, name, "flat")


def _plain(given: _Given, degraded: bool) -> Iterator[Source]:
    """The populations that need no other folder."""
    if given.form == "pair":
        arms = find_arms(*(os.path.join(given.path, arm) for arm in ARMS))
        yield Source(given.name, degraded, arms)
    elif given.form == "report":
        yield _of_report(given.path, given.name, degraded)
    elif given.form == "reports":
        for entry in sorted(os.listdir(given.path)):
            if not entry.startswith("."):
                name = f"{given.name}/{entry}"
                yield _of_report(os.path.join(given.path, entry), name, degraded)


def _repeats(flat: Sequence[_Given]) -> Iterator[Source]:
    for one in flat:
        for other in flat:
            if one is not other:
                yield _pair(one, other, False)


def _against(given: _Given, flat: Sequence[_Given]) -> Iterator[Source]:
    if not flat:
        raise InputError(
            f"{given.path} is a folder of renders with nothing to hold it against: give the clean "
            "renders of its prompts as a folder too, or put it as 'candidate' beside 'reference'",
            code="no_reference",
        )
    for reference in flat:
        yield _pair(reference, given, True)


def _pair(reference: _Given, candidate: _Given, degraded: bool) -> Source:
    name = f"{candidate.name} against {reference.name}"
    return Source(name, degraded, find_arms(reference.path, candidate.path))


def _of_report(path: str, name: str, degraded: bool) -> Source:
    from screentest.gates.report import GateReport
    from screentest.reports import sealed

    try:
        report: GateReport = sealed.load(Path(path).read_bytes(), GateReport).body
    except SchemaError as error:
        raise SchemaError(f"{path}: {error.message}", code=error.code, **error.context) from None
    facts = report.population if report.population is not None else report.reference
    if facts is None:
        raise InputError(f"{path}: a report without facts", code="no_facts")
    known = Population(name=name, degraded=degraded, facts=facts, hardware=report.protocol.hardware)
    return Source(name, degraded, known=known)


def hardware_of(sources: Sequence[Source], said: str) -> str:
    """What all renders ran on, empty where nobody says.

    Raises:
        InputError: two reports, or a report and the request, name different hardware.
    """
    named: Mapping[str, str] = {
        **({"the request": said} if said else {}),
        **{s.name: s.known.hardware for s in sources if s.known is not None and s.known.hardware},
    }
    for where, hardware in named.items():
        first = next(iter(named))
        if hardware != named[first]:
            raise InputError(
                f"{first} ran on {named[first]}, {where} on {hardware}: hardware moves these "
                "statistics by itself, so each gets budgets of its own",
                code="mixed_hardware",
            )
    return next(iter(named.values()), "")
