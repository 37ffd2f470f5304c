"""``screentest metrics``: what can be measured, and what would be with an extra."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli import exit_codes, options, output

if TYPE_CHECKING:
    from screentest.metrics.spec import MetricSpec

__all__ = ["EXIT_STATUS", "command"]

EXIT_STATUS = "Exit status: 0 done; 2 a name or a word is unknown; 130 interrupted."

# Where no terminal sets the width, lines must not break.
_PLAIN_WIDTH = 200
# From here on what a metric is has a column of its own.
_WIDE = 110

_ASKS = {
    "similarity": "how near to its reference",
    "adherence": "does it show what was asked for",
    "preference": "which of two does one prefer",
    "quality": "is it a good picture, a good sound",
    "temporal": "does it hold together over time",
    "distributional": "does a set of clips differ from another set",
}
_COSTS = {
    "cheap-deterministic": "a closed form: the same bits for any number of threads",
    "small-model": "a model that runs on a CPU",
    "model-backed": "a model that you bring",
}


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Show all about these.")
    ] = None,
    dimension: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="Only these: similarity, adherence, preference, quality, temporal or "
            "distributional.",
        ),
    ] = None,
    modality: Annotated[
        str | None,
        typer.Option(metavar="M", help="Only what is measured on image, video, audio or av."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also what is planned and nothing here measures yet.")
    ] = False,
    as_json: options.JsonObject = False,
) -> int:
    """List the metrics: what each is, which way is better, in which unit, and what it needs.

    What needs an extra is listed with it; below the table stands what is missing here. A name
    shows everything that is known of one metric.
    """
    from screentest.errors import InputError
    from screentest.metrics import availability, registry

    if names and (dimension is not None or modality is not None or every):
        raise InputError("say names, or --dimension, --modality and --all", code="bad_input")
    found = _named(names) if names else _filtered(dimension, modality)
    planned = [] if names or every else [spec for spec in found if spec.status == "planned"]
    chosen = [spec for spec in found if spec not in planned]
    missing = {spec.name: availability.missing(spec) for spec in chosen}
    if as_json:
        from screentest.reports.canonical import dumps

        document = registry.as_json()
        document["metrics"] = [
            {**row, "missing": missing[row["name"]]}
            for row in document["metrics"]
            if row["name"] in missing
        ]
        output.result_bytes(dumps(document))
        return exit_codes.DONE
    if names:
        lines = [line for spec in chosen for line in ("", *_all_about(spec, missing[spec.name]))]
        lines = lines[1:]
    else:
        lines = [*_table(chosen), *_footer(chosen, missing)] if chosen else ["nothing measures it"]
        if planned:
            lines.append(f"{len(planned)} more are planned and not measured yet: --all lists them")
    for line in lines:
        output.result(line)
    return exit_codes.DONE


def _named(names: Sequence[str]) -> list[MetricSpec]:
    """The metrics of these names; what a name gives that is asked for and is no metric itself."""
    from screentest.metrics import registry

    found: dict[str, MetricSpec] = {}
    for name in names:
        given = [spec for spec in registry.specs() if spec.request == name]
        known = any(spec.name == name for spec in registry.specs())
        for spec in [registry.spec(name)] if known or not given else given:
            found[spec.name] = spec
    return list(found.values())


def _filtered(dimension: str | None, modality: str | None) -> list[MetricSpec]:
    from screentest.errors import InputError
    from screentest.metrics import registry
    from screentest.metrics.spec import WORDS

    for field, word in (("dimension", dimension), ("modality", modality)):
        if word is not None and word not in WORDS[field]:
            raise InputError(
                f"--{field} {word}: expected one of {', '.join(WORDS[field])}", code="unknown_word"
            )
    return [
        spec
        for spec in registry.specs()
        if dimension in (None, spec.dimension)
        and (modality is None or registry.is_measured_on(spec, modality))
    ]


def _beside(name: str) -> list[str]:
    """The metrics that one gives besides itself."""
    from screentest.metrics import registry

    return [spec.name for spec in registry.specs() if spec.request == name]


def _table(specs: Sequence[MetricSpec]) -> list[str]:
    """A table grouped by dimension; in short lines, what a metric is stands below its name."""
    from rich import box
    from rich.console import Console, Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    on_terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=on_terminal,
        color_system="standard" if on_terminal else None,
        width=shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns,
        markup=False,
        emoji=False,
        highlight=False,
    )
    wide = console.width >= _WIDE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("metric", no_wrap=wide, ratio=None if wide else 1)
    for title in ("better", "of", "needs"):
        table.add_column(title, no_wrap=True)
    if wide:
        table.add_column("what it is", ratio=1)
    listed = {spec.name for spec in specs}
    for dimension, asks in _ASKS.items():
        rows = [s for s in specs if s.dimension == dimension and s.request not in listed]
        if rows:
            cells = [dimension, "", "", "", asks] if wide else [f"{dimension}: {asks}", "", "", ""]
            table.add_row(*cells, style="bold")
        for spec in rows:
            more = len(_beside(spec.name))
            name = f"  {spec.name}{' *' * spec.headline}{f' +{more}' if more else ''}"
            about = (_better(spec, unit=True), spec.modality, _needs(spec))
            if wide:
                table.add_row(name, *about, spec.says)
            else:
                says = Padding(Text(spec.says, style="dim"), (0, 0, 0, 4))
                table.add_row(Group(name, says), *about)
    console.print(table)
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return [line for line in lines if line.strip()]


def _footer(specs: Sequence[MetricSpec], missing: dict[str, str | None]) -> list[str]:
    lines = []
    if any(spec.headline for spec in specs):
        lines.append("*: the one to look at first for its question")
    if any(_beside(spec.name) for spec in specs):
        lines.append(
            "+2: as many more numbers stand beside it, `screentest metrics NAME` names them"
        )
    needs = " ".join(map(_needs, specs))
    told = ["ref: needs a reference"] if "ref" in needs.split() else []
    lines += [*told, "+NAME: needs that extra"] if "+" in needs else told
    reasons: dict[str, list[str]] = {}
    for spec in specs:
        reason = missing[spec.name]
        if reason is not None and spec.status == "measured":
            reasons.setdefault(reason, []).append(spec.name)
    lines += [f"not here: {', '.join(names)}: {why}" for why, names in reasons.items()]
    return [output.shown(line) for line in lines]


def _better(spec: MetricSpec, *, unit: bool = False) -> str:
    if spec.direction == "target":
        way = "two-sided" if spec.target is None else f"near {spec.target:g}"
    else:
        way = {"up": "higher", "down": "lower"}[spec.direction]
    return f"{way}, {spec.unit}" if unit and spec.unit != "1" else way


def _needs(spec: MetricSpec) -> str:
    needs = ["ref"] if spec.paired else []
    if spec.status == "planned":
        needs.append("planned")
    elif spec.extra:
        needs.append(f"+{spec.extra}")
    return " ".join(needs)


def _all_about(spec: MetricSpec, missing: str | None) -> list[str]:
    """Everything about one metric, a line for each thing."""
    low, high = (None if end is None else f"{end:g}" for end in spec.bounds)
    if low is None and high is None:
        span = "no limits"
    else:
        span = f"{low or 'no limit'} to {high or 'no limit'}"
    reference = "none"
    if spec.paired:
        reference = "the same take" if spec.reference_only else "a reference of any take"
    rows: dict[str, Any] = {
        "question": f"{spec.dimension}: {_ASKS[spec.dimension]}",
        "of": "images and video" if spec.modality == "any" else spec.modality,
        "better": _better(spec),
        "unit": f"{'none' if spec.unit == '1' else spec.unit}, {span}",
        "reference": reference,
        "clip": f"{spec.pool.replace('_', ' ')} of the frames",
        "headline": "the one to look at first for its question" if spec.headline else "",
        "gate": "a gate may decide on it" if spec.gated else "",
        "fallback": spec.fallback_for and f"only where {spec.fallback_for} is unmeasured",
        "options": ", ".join(spec.options),
        "asked by": spec.request,
        "beside it": ", ".join(_beside(spec.name)),
        "cost": _COSTS[spec.cost],
        "extra": spec.extra and f"pip install 'screentest[{spec.extra}]'",
        "model": spec.model_ref or spec.seam,
        "family": f"screentest.metrics.{spec.family}" if spec.status == "measured" else "",
        "impl": spec.impl,
        "source": spec.source,
        "note": spec.note,
        "here": missing or "can be measured",
    }
    lines = [f"{spec.name}: {spec.says}"]
    lines += [f"  {label:<9}  {value}" for label, value in rows.items() if value]
    return [output.shown(line) for line in lines]
