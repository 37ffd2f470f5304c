"""Options that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "Decoder",
    "DecoderDevice",
    "JsonLines",
    "JsonObject",
    "Paths",
    "PolicyFile",
    "Sequence",
    "Threads",
    "ThreadsOfAll",
]

Paths = Annotated[list[str], typer.Argument(metavar="PATH", help="Files; a folder is walked.")]

JsonLines = Annotated[
    bool, typer.Option("--json", help="One JSON object per file and line, on stdout.")
]
JsonObject = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]

PolicyFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="TOML limits that override the default policy's."),
]

Sequence = Annotated[bool, typer.Option("--sequence", help="A folder of still images is one clip.")]

Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Threads for all parts (default: up to 4).")
]
ThreadsOfAll = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads for all files together (default: up to 4)."),
]

Decoder = Annotated[
    str | None, typer.Option(metavar="pyav|torchcodec", help="Which decoder reads the files.")
]
DecoderDevice = Annotated[
    str | None, typer.Option(metavar="cpu|cuda", help="Where torchcodec decodes.")
]
