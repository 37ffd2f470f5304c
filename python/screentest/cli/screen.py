"""``screentest screen``: judge files and folders."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from screentest.cli import exit_codes, options, output
from screentest.cli.walk import inputs

if TYPE_CHECKING:
    from screentest.screening import Screening, ScreeningError

__all__ = ["command", "report_line", "report_lines"]

_STATUS = {
    "pass": exit_codes.DONE,
    "reject": exit_codes.NOT_PASSED,
    "unmeasured": exit_codes.NOT_JUDGED,
}

_MOST_NOTES = 8
"""A film has a thousand cuts; the record has them all."""


def command(
    paths: options.Paths,
    as_json: options.JsonLines = False,
    policy: options.PolicyFile = None,
    spec: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="TOML delivery spec: duration, rate, size, audio, ..."),
    ] = None,
    depth: Annotated[
        str,
        typer.Option(
            metavar="full|sampled",
            help="Look at every frame, or only at those that the calibrated axes read.",
        ),
    ] = "full",
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="An axis that must be measured; may be repeated."),
    ] = None,
    temporal: Annotated[
        bool,
        typer.Option(
            "--temporal",
            help="Look for flicker, flashes and judder too, in the same decode. That reads every "
            "pixel: a file takes about a third longer.",
        ),
    ] = False,
    temporal_policy: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="TOML limits that override the default temporal policy's."
        ),
    ] = None,
    no_audio: Annotated[bool, typer.Option("--no-audio", help="Leave the sound out.")] = False,
    audio_policy: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="TOML limits that override the default audio policy's."),
    ] = None,
    threads: options.ThreadsOfAll = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first file that does not pass.")
    ] = False,
    sequence: options.Sequence = False,
    decoder: options.Decoder = None,
    device: options.DecoderDevice = None,
) -> int:
    """Say of each file whether it is a render at all, and if not, what is wrong, where, how badly.

    A file is rejected for noise, a blank picture, a lattice, one frame throughout, NaN or infinite
    samples, or damage; a freeze, repeated frames and a black stretch are warned of, unless the spec
    forbids them. A file on which a required axis could not be measured is unmeasured, not passed.

    With --temporal, brightness that flickers, a flash and motion in a rhythm are warned of as well,
    unless the temporal policy rejects them, and cuts and fades are noted. A strobe in the scene
    reads like a render that flickers. Their axes are flicker, flash and judder: one that could not
    be measured is listed, and decides only where --require names it.

    A soundtrack is screened too: silent, clipped, cut off, a dead channel, damage. A file without
    one is judged by its picture; a spec with audio = true, or --require audio, asks for it. With
    --depth sampled the sound is not read.

    This is no quality gate: a melted render can score higher than a clean one.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest import screening

    files = inputs(paths, sequences=sequence, done="judged", threads=threads)
    reading = {"decoder": decoder, "device": device}
    results = screening.screen_many(
        files,
        policy=policy,
        spec=spec,
        depth=cast(Literal["full", "sampled"], depth),
        require=tuple(require or ()),
        temporal=temporal,
        temporal_policy=temporal_policy,
        audio=not no_audio,
        audio_policy=audio_policy,
        threads=threads,
        **{key: value for key, value in reading.items() if value is not None},
    )
    codes: list[int] = []
    counts: Counter[str] = Counter()
    with closing(results), output.progress(len(files), "screening") as bar:
        for result in results:
            failed = isinstance(result, screening.ScreeningError)
            word = "error" if isinstance(result, screening.ScreeningError) else result.verdict
            counts[word] += 1
            codes.append(_STATUS.get(word, exit_codes.BAD_INPUT))
            with bar.paused():
                _print(result, as_json)
            bar.step()
            if fail_fast and (failed or word != "pass"):
                break
    if not as_json:
        output.result(_summary(counts, len(files)))
    return exit_codes.worst(codes)


def _print(result: Screening | ScreeningError, as_json: bool) -> None:
    from screentest.screening import ScreeningError

    if as_json:
        output.result_bytes(result.to_json())
    if isinstance(result, ScreeningError):
        where, message = output.shown(result.source), output.shown(result.message)
        output.error(message if message.startswith(where) else f"{where}: {message}")
    elif not as_json:
        for line in report_lines(result):
            output.result(line)


def report_lines(result: Screening) -> list[str]:
    """The lines that a person reads of one screening: the file, then what is wrong with it, and
    what else was seen."""
    lines = [report_line(result)]
    lines += [f"  {d.severity:<6}  {d.code}: {d.message}" for d in result.defects]
    lines += [f"  note    {note.message}" for note in result.notes[:_MOST_NOTES]]
    if (more := len(result.notes) - _MOST_NOTES) > 0:
        lines.append(f"  note    and {more} more cuts and fades; --json lists them all")
    if result.verdict == "unmeasured":
        lines += [f"  not measured  {g.axis}: {g.reason}" for g in result.unmeasured]
    return lines


def report_line(result: Screening) -> str:
    """One line for one file: verdict, name, size, length, the calibrated numbers (``corr`` is
    adjacent_frame_corr, ``contrast`` frame_std_min, ``grid`` the ratio of grid_line, ``flicker``
    flicker_strength where it was asked for, ``LUFS`` the loudness), and the axes that gave none."""
    clip = result.facts.clip
    about = f"{clip.width}x{clip.height}, {result.frames} frame{'s' * (result.frames != 1)}"
    if clip.duration_s is not None and result.frames > 1:
        about += f", {clip.duration_s:.2f} s"
    if result.frames_read != result.frames:
        about += f", {result.frames_read} read"
    facts = result.facts
    numbers = (
        ("corr", facts.adjacent_frame_corr, ".3f"),
        ("contrast", facts.frame_std_min, ".3f"),
        ("grid", facts.grid_line and facts.grid_line.ratio, ".2f"),
        ("flicker", result.temporal and result.temporal.flicker_strength, ".2f"),
        ("LUFS", result.audio and result.audio.audio_lufs, ".1f"),
    )
    known = [f"{name} {value:{form}}" for name, value, form in numbers if value is not None]
    about += f"; {', '.join(known)}" if known else ""
    if result.unmeasured and result.verdict != "unmeasured":
        about += f"; not measured: {', '.join(gap.axis for gap in result.unmeasured)}"
    word = output.styled(f"{result.verdict:<10}")
    return f"{word}  {output.shown(result.source)}  ({about})"


def _summary(counts: Counter[str], total: int) -> str:
    judged = sum(counts.values())
    words = (("pass", "passed"), ("reject", "rejected"), ("unmeasured", "unmeasured"))
    parts = [f"{counts[key]} {word}" for key, word in words if counts[key]]
    if counts["error"]:
        parts.append(f"{counts['error']} could not be read")
    if judged < total:
        parts.append(f"{total - judged} not looked at")
    return f"{total} file{'s' * (total != 1)}: {', '.join(parts)}"
