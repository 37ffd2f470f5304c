"""``screentest demo``: make a few small clips, say what is wrong with each, and screen them."""

from __future__ import annotations

import errno
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from screentest.cli import exit_codes, output

__all__ = ["command"]


def command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH...]", help="Files of your own to screen.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FOLDER", help="Keep the clips in this folder."),
    ] = None,
    arms: Annotated[
        bool,
        typer.Option("--arms", help="Also make eight prompts in three arms, to try the gate on."),
    ] = False,
) -> int:
    """Make small clips with known faults, screen them, then screen any file of your own.

    Exits with 0 if each clip got the verdict that its fault deserves and your own files passed.
    """
    from screentest.cli.demo_clips import CLIPS
    from screentest.cli.screen import report_lines
    from screentest.screening import ScreeningError, screen, screen_many

    if missing := [path for path in paths or () if not Path(path).exists()]:
        raise FileNotFoundError(errno.ENOENT, "no such file", missing[0])
    if folder is not None and folder.exists() and not folder.is_dir():
        raise typer.BadParameter(f"{folder} is a file; name a folder", param_hint="--keep")
    if arms and folder is None:
        raise typer.BadParameter("name a folder for the arms: --keep FOLDER", param_hint="--arms")
    codes = []
    kept = None if folder is None else folder
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
    context = tempfile.TemporaryDirectory() if kept is None else nullcontext(str(kept))
    with context as place:
        for clip in CLIPS:
            output.result(f"{clip.name}: {clip.story}")
            made = clip.make(Path(place) / clip.name)
            result = screen(made)
            for line in report_lines(result):
                output.result(f"  {line}")
            found = {defect.code for defect in result.defects}
            if result.verdict == clip.verdict and clip.codes <= found:
                codes.append(exit_codes.DONE)
            else:
                output.error(f"{clip.name} should be judged {clip.verdict}: {sorted(clip.codes)}")
                codes.append(exit_codes.NOT_PASSED)
    if kept is not None:
        output.result(f"the clips are in {output.shown(str(kept))}")
    if arms and kept is not None:
        from screentest.cli.demo_arms import ARMS, make_arms

        place_of_arms = output.shown(str(make_arms(kept / "arms")))
        output.result(f"three arms are in {place_of_arms}: {', '.join(ARMS)}")
    for own in screen_many(paths or ()):
        if isinstance(own, ScreeningError):
            output.error(output.shown(own.message))
            codes.append(exit_codes.BAD_INPUT)
            continue
        output.result("your file:")
        for line in report_lines(own):
            output.result(f"  {line}")
        codes.append(
            {"pass": exit_codes.DONE, "reject": exit_codes.NOT_PASSED}.get(
                own.verdict, exit_codes.NOT_JUDGED
            )
        )
    return exit_codes.worst(codes)
