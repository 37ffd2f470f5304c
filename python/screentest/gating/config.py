"""``gate.toml``: what a run of the gate is told, as a closed document.

Every key is that of an option of ``screentest gate``, with underscores. Paths in it are relative to
the folder that it lies in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from screentest.errors import InputError, PolicyError, ProtocolError
from screentest.protocol import ArmLanes
from screentest.verdicts.document import parse_toml, plain_validation, read_toml, refuse_unknown

__all__ = ["GateConfig", "load_gate_config"]


class GateConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was said; ``None`` for what was not.

    ``budgets`` is the path of a table, or a table of budgets by name, which has to be whole:
    nothing is merged into it.
    """

    reference: str | list[str] | None = None
    candidate: str | list[str] | None = None
    change: str | list[str] | None = None
    family: str | None = None
    execution_lane: str | None = None
    reference_execution_lane: str | None = None
    candidate_execution_lane: str | None = None
    hardware: str | None = None
    steps: int | None = None
    seeds: int | str | list[int | str] | None = None
    prompts: str | list[str] | dict[str, str] | None = None
    reference_arm: str | None = None
    candidate_arm: str | None = None
    budgets: str | dict[str, Any] | None = None
    null_control: str | list[str] | None = None
    repeat_control: str | list[str] | None = None
    purpose: str | None = None
    cross_pod: bool | None = None
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    fps: float | None = None
    guidance: float | None = None
    metrics: str | list[str] | None = None
    waive: str | list[str] | None = None
    notes: str | None = None
    extra: dict[str, str] | None = None
    threads: int | None = None
    cache: str | None = None
    dry_run: bool | None = None
    json: bool | None = None
    output: str | None = None
    html: str | None = None

    def over(self, said: Mapping[str, Any]) -> GateConfig:
        """This with what was said instead; ``None`` says nothing."""
        lanes = ("execution_lane", "reference_execution_lane", "candidate_execution_lane")
        kept = self
        if any(said.get(name) is not None for name in lanes):
            # A mode for both arms must not be outvoted by one of the document for either.
            kept = msgspec.structs.replace(self, **dict.fromkeys(lanes))
        return msgspec.structs.replace(
            kept, **{name: value for name, value in said.items() if value is not None}
        )

    def arguments(self) -> dict[str, Any]:
        """What :func:`screentest.gate` is called with.

        Raises:
            InputError: what has no default was not said; the message names all of it.
        """
        needed = ("reference", "candidate", "change", "family", "hardware", "steps", "seeds")
        lacking = [name for name in needed if getattr(self, name) is None]
        lanes = [
            lane or self.execution_lane
            for lane in (self.reference_execution_lane, self.candidate_execution_lane)
        ]
        if None in lanes:
            lacking.append("execution_lane")
        if lacking:
            options = ", ".join(f"--{name}".replace("_", "-") for name in lacking)
            raise InputError(
                f"a gate needs {options} as well: on the command line, or in a gate.toml "
                "(--config)",
                code="incomplete_request",
                lacking=lacking,
            )
        arguments = {
            name: value for name in _ARGUMENTS if (value := getattr(self, name)) is not None
        }
        arguments["changes"] = _listed(self.change)
        arguments["seeds"] = _seeds(self.seeds)
        for name in ("metrics", "waive"):
            if name in arguments:
                arguments[name] = _listed(arguments[name])
        arguments["execution_lane"] = _lanes(*lanes)
        arguments["same_pod"] = not self.cross_pod
        return arguments


_ARGUMENTS = (
    "reference", "candidate", "family", "hardware", "steps", "prompts", "reference_arm",
    "candidate_arm", "budgets", "null_control", "repeat_control", "purpose", "width", "height",
    "frames", "fps", "guidance", "metrics", "waive", "notes", "extra", "threads", "cache",
)  # fmt: skip
"""Keys that the function has under the same name."""

_PATHS = (
    "reference", "candidate", "prompts", "budgets", "null_control", "repeat_control", "cache",
    "output", "html",
)  # fmt: skip


def load_gate_config(path: str | os.PathLike[str]) -> GateConfig:
    """The configuration in a TOML file.

    Raises:
        PolicyError: not TOML, an unknown key (the nearest is named), or a value of another kind.
        FileNotFoundError: there is no such file.
    """
    source = os.fsdecode(path)
    given = parse_toml(read_toml(source), source)
    refuse_unknown(given, GateConfig.__struct_fields__, source, "")
    try:
        read = msgspec.convert(given, GateConfig)
    except msgspec.ValidationError as error:
        raise PolicyError(f"{source}: {plain_validation(error)}") from None
    folder = os.path.dirname(source)
    found: dict[str, Any] = {}
    for key in _PATHS:
        value = getattr(read, key)
        if isinstance(value, str):
            found[key] = os.path.join(folder, value)
        elif isinstance(value, list) and key != "prompts":
            found[key] = [os.path.join(folder, each) for each in value]
    return msgspec.structs.replace(read, **found)


def _listed(given: Any) -> list[Any]:
    """Names one by one, in one text with commas between them, or both."""
    parts: list[Any] = []
    for each in [given] if isinstance(given, str | int) else given:
        parts += (
            [part.strip() for part in each.split(",") if part.strip()]
            if isinstance(each, str)
            else [each]
        )
    return parts


def _seeds(given: Any) -> list[int]:
    seeds = _listed(given)
    try:
        return [int(seed) for seed in seeds]
    except ValueError:
        said = ",".join(map(str, seeds))
        raise InputError(f"seeds {said}: expected whole numbers", code="bad_seeds") from None


def _lanes(reference: str | None, candidate: str | None) -> ArmLanes:
    for lane in (reference, candidate):
        if lane not in ("compiled", "eager"):
            raise ProtocolError(
                f"execution lane {lane!r}: expected compiled or eager", code="bad_field"
            )
    return msgspec.convert({"reference": reference, "candidate": candidate}, ArmLanes)
