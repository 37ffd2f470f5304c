"""``screentest tracks``: do things hold their shape, and where do they not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli import exit_codes, options, output
from screentest.cli.drawings import check_drawing

if TYPE_CHECKING:
    from screentest.metrics.facts import Unmeasured
    from screentest.metrics.tracks.facts import TrackFacts
    from screentest.tracking import Tracking
    from screentest.verdicts.judgement import Defect, Note

__all__ = ["EXIT_STATUS", "command", "report_lines"]

EXIT_STATUS = (
    "Exit status: 0 measured, or with a reference passed; 1 rejected; 2 the request or an input is "
    "wrong; 3 not judged against the reference (unmeasured); 130 interrupted."
)

_STATUS = {
    "pass": exit_codes.DONE,
    "reject": exit_codes.NOT_PASSED,
    "unmeasured": exit_codes.NOT_JUDGED,
}

_FORMS = {"--video": "mp4", "--png": "png"}


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The clip in question.")],
    reference: Annotated[
        str | None,
        typer.Argument(metavar="REFERENCE", help="Its control: another take of the same scene."),
    ] = None,
    video: Annotated[
        str | None,
        typer.Option(metavar="OUT.mp4", help="Draw FILE's tracks over its windows, as video."),
    ] = None,
    png: Annotated[
        str | None,
        typer.Option(metavar="OUT.png", help="Draw FILE's windows and worst tracks on one sheet."),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            metavar="OUT.svg|OUT.png", help="Draw FILE's luma, motion and tracks over time."
        ),
    ] = None,
    windows: Annotated[
        int, typer.Option(metavar="N", help="Windows of up to 24 frames, spread over the clip.")
    ] = 4,
    as_json: options.JsonObject = False,
    policy: options.PolicyFile = None,
    threads: options.Threads = None,
    decoder: options.Decoder = None,
    device: options.DecoderDevice = None,
) -> int:
    """Follow things through a clip and say whether they hold their shape as they move.

    Alone, the numbers say as much about the scene as about the render: facts, no verdict. Against a
    REFERENCE, another take of the same scene of any size and length, a clip whose things warble,
    stand still or have lost their texture is rejected.

    The drawings show what was followed, from blue (steady) to orange (unsteady): draw the reference
    as well before you call a scene bad.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest import tracking
    from screentest.errors import ScreentestError
    from screentest.reports import canonical
    from screentest.reports.tracks import error_record

    drawings = {"--video": video, "--png": png, "--series": series}
    asked = {option: path for option, path in drawings.items() if path is not None}
    _check_drawings(asked, [file] if reference is None else [file, reference])
    given = {"decoder": decoder, "device": device}
    opening = {key: value for key, value in given.items() if value is not None}
    try:
        result = tracking.tracks(
            file,
            reference,
            windows=windows,
            trajectories=bool(asked),
            policy=policy,
            threads=threads,
            **opening,
        )
        tracking.draw(result, file, video=video, png=png, series=series, threads=threads, **opening)
    except (ScreentestError, OSError) as error:
        if as_json:
            output.result_bytes(canonical.dumps(error_record(file, reference, error)))
        raise
    for path in asked.values():
        output.note(f"wrote {output.shown(path)}")
    if as_json:
        output.result_bytes(result.to_json())
    else:
        for line in report_lines(result):
            output.result(line)
    return exit_codes.DONE if result.verdict is None else _STATUS[result.verdict.verdict]


def report_lines(result: Tracking) -> list[str]:
    """What a person reads: the verdict, the numbers, what is wrong, and each window."""
    facts, reference, verdict = result.facts, result.reference, result.verdict
    word = "measured" if verdict is None else verdict.verdict
    against = "" if reference is None else f" against {output.shown(reference.clip.source)}"
    about = _about(facts)
    lines = [
        f"{output.styled(f'{word:<10}')}  {output.shown(facts.clip.source)}{against}  ({about})"
    ]
    if verdict is not None:
        lines += [f"  {found.severity:<6}  {_told(found)}" for found in verdict.defects]
        lines += [f"  note    {_told(note)}" for note in verdict.notes]
        lines += [_gap(gap) for gap in verdict.unmeasured]
    lines += _numbers(result)
    lines += [f"  not measured  {gap.axis}: {output.shown(gap.reason)}" for gap in facts.unmeasured]
    return [*lines, *_windows(facts)]


def _told(found: Defect | Note) -> str:
    return f"{found.code}: {output.shown(found.message)}"


def _gap(gap: Unmeasured) -> str:
    return f"  not measured  {gap.axis}: {output.shown(gap.reason)}"


def _about(facts: TrackFacts) -> str:
    from screentest.reports.overlay.words import clip_line

    return f"{clip_line(facts)}, {facts.frames_read} frames read"


def _numbers(result: Tracking) -> list[str]:
    from screentest.metrics.tracks.names import METRICS

    rows: list[tuple[str, ...]] = []
    if result.reference is not None:
        rows.append(("", "clip", "reference", ""))
    for spec in METRICS:
        if spec.paired:
            continue
        row = [spec.name, _figure(getattr(result.facts, spec.name), 4)]
        if result.reference is not None:
            row.append(_figure(getattr(result.reference, spec.name), 4))
        rows.append((*row, "" if spec.unit == "1" else spec.unit))
    if result.verdict is not None:
        rows.append(("track_stability_ratio", _figure(result.verdict.ratio, 4), "", ""))
    # The unit stands behind its number.
    return output.table(rows, left=(0, len(rows[0]) - 1))


def _windows(facts: TrackFacts) -> list[str]:
    rows: list[tuple[str, ...]] = [
        (
            "window",
            "frames",
            "seeded",
            "alive",
            "coherent",
            "jitter",
            "rigidity %",
            "motion px/frame",
        )
    ]
    for at, window in enumerate(facts.windows):
        rows.append(
            (
                str(at + 1),
                f"{window.start}-{window.start + window.frames - 1}",
                str(window.seeded),
                str(window.alive),
                _figure(window.coherent, 1),
                _figure(window.jitter, 4),
                _figure(window.rigidity_error, 4),
                _figure(window.motion, 2),
            )
        )
    return output.table(rows) if len(rows) > 1 else []


def _figure(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


def _check_drawings(asked: dict[str, str], inputs: list[str]) -> None:
    """Everything that can go wrong with the drawings before anything is decoded."""
    from screentest.errors import InputError
    from screentest.reports import overlay

    for option, path in asked.items():
        form = overlay.check_series_path(path) if option == "--series" else _FORMS[option]
        check_drawing(option, path, form, inputs)
    named: dict[str, str] = {}
    for option, path in asked.items():
        other = named.setdefault(os.path.abspath(path), option)
        if other != option:
            raise InputError(f"{other} and {option} name one file; give each its own")
