"""The help of every command, on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from screentest.cli.main import app


def _commands() -> Iterator[tuple[str, ...]]:
    root = typer.main.get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        yield (name,)
        yield from ((name, below) for below in getattr(command, "commands", {}))


@pytest.mark.parametrize("command", [*_commands()], ids=" ".join)
def test_at_80_columns_no_name_of_an_option_is_cut(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = CliRunner().invoke(app, [*command, "--help"])
    assert told.exit_code == 0
    assert "Usage" in told.stdout
    assert "…" not in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_a_paragraph_is_filled_and_not_broken_where_its_source_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = CliRunner().invoke(app, ["report", "inspect", "--help"]).stdout
    assert "no name, prompt, reason, note or measured value." in told
