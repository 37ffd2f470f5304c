"""Rendering the templates and writing the file."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from screentest._native import BUILD_PROFILE, VERSION
from screentest.errors import MissingBackendError
from screentest.files import write_atomically
from screentest.reports.html.comparison import comparison_context
from screentest.reports.html.evaluation import evaluation_context
from screentest.reports.html.model import Comparison, EvaluationView, WorstFrame

__all__ = ["comparison_page", "evaluation_page", "render", "require_report_extra", "write_page"]


def require_report_extra() -> None:
    """Whether pages can be made; for a caller that has long work to do before it has one.

    Raises:
        MissingBackendError: jinja2 is not installed (``pip install 'screentest[report]'``).
    """
    _environment()


def comparison_page(
    comparison: Comparison, path: str | os.PathLike[str], worst: Sequence[WorstFrame] = ()
) -> None:
    """Write the page of one comparison; an existing file is replaced whole or not at all.

    Raises:
        MissingBackendError: jinja2 is not installed (``pip install 'screentest[report]'``).
        OSError: the file cannot be written.
    """
    require_report_extra()
    write_page(path, render("comparison.html", comparison_context(comparison, worst)))


def evaluation_page(evaluation: EvaluationView, path: str | os.PathLike[str]) -> None:
    """Write the page of an evaluation; an existing file is replaced whole or not at all.

    Raises:
        MissingBackendError: jinja2 is not installed (``pip install 'screentest[report]'``).
        OSError: the file cannot be written.
    """
    require_report_extra()
    write_page(path, render("evaluation.html", evaluation_context(evaluation)))


def render(name: str, context: dict[str, Any], *, own: str = "") -> str:
    """The page of a template; with ``own`` its own style and script follow those of all pages."""
    from markupsafe import Markup

    style, script = (
        _asset(f"page.{kind}") + (_asset(f"{own}.{kind}") if own else "") for kind in ("css", "js")
    )
    text: str = (
        _environment()
        .get_template(name)
        .render(
            style=Markup(style),
            script=Markup(script),
            # What runs and what paints is these two texts; nothing is fetched from anywhere.
            policy="; ".join(
                (
                    "default-src 'none'",
                    "img-src data:",
                    f"style-src '{_digest(style)}'",
                    f"script-src '{_digest(script)}'",
                    "base-uri 'none'",
                    "form-action 'none'",
                )
            ),
            tool=f"screentest {VERSION}"
            + ("" if BUILD_PROFILE == "release" else f" ({BUILD_PROFILE})"),
            **context,
        )
    )
    return text


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise MissingBackendError(
            "an HTML page needs jinja2: pip install 'screentest[report]'", extra="report"
        ) from None
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _asset(name: str) -> str:
    folder = resources.files("screentest.reports.html") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write the file; an existing one is replaced whole or not at all."""
    # A lone surrogate out of a file name has no place in UTF-8.
    write_atomically(Path(path), text.encode("utf-8", "backslashreplace"))
