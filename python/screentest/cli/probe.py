"""``screentest probe``: what is known about a file besides its pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli import exit_codes, options, output

if TYPE_CHECKING:
    from screentest.media.info import ClipInfo

__all__ = ["command"]

SCHEMA = "screentest/probe@1"


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Media files.")],
    as_json: options.JsonLines = False,
) -> int:
    """Print geometry, codec, colour as tagged and as resolved, timing, streams and every flag."""
    from screentest.errors import ScreentestError
    from screentest.media import probe
    from screentest.reports.canonical import dumps
    from screentest.reports.screening import describe_error

    codes = []
    for position, file in enumerate(files):
        try:
            info = probe(file)
        except (ScreentestError, OSError) as error:
            code, message = describe_error(error)
            if as_json:
                output.result_bytes(dumps(_error(file, code, message)))
            output.error(output.shown(message))
            codes.append(exit_codes.BAD_INPUT)
            continue
        if as_json:
            output.result_bytes(dumps(_record(info)))
        else:
            if position:
                output.result("")
            for line in _lines(info):
                output.result(line)
        codes.append(exit_codes.DONE)
    return exit_codes.worst(codes)


def _record(info: ClipInfo) -> dict[str, Any]:
    import msgspec

    from screentest.reports.canonical import printable

    record: dict[str, Any] = {"schema": SCHEMA, **msgspec.to_builtins(info)}
    record["source"] = printable(info.source)
    return record


def _error(file: str, code: str, message: str) -> dict[str, Any]:
    from screentest.reports.canonical import printable

    error = {"code": code, "message": printable(message)}
    return {"schema": SCHEMA, "source": printable(file), "error": error}


def _lines(info: ClipInfo) -> list[str]:
    from screentest.media.flags import FLAGS

    lines = [output.shown(info.source)]
    for name, value in _rows(info):
        lines.append(f"  {name:<12}  {value}")
    lines += [f"  {'flag':<12}  {flag}: {FLAGS.get(flag, '')}" for flag in info.flags]
    return lines


def _rows(info: ClipInfo) -> list[tuple[str, str]]:
    size = f"{info.width}x{info.height}"
    if (info.coded_width, info.coded_height) != (info.width, info.height):
        size += f" (coded {info.coded_width}x{info.coded_height})"
    if info.rotation_degrees:
        size += f", turned by {info.rotation_degrees} degrees"
    depth = "" if info.bit_depth is None else f", {info.bit_depth} bit"
    rows = [
        ("container", info.container or info.kind),
        ("codec", " ".join(part for part in (info.codec, info.profile) if part) or "none"),
        ("picture", size),
        ("pixels", info.pixel_format + depth),
        ("colour", _colour(info)),
        ("frames", _frames(info)),
        ("rate", _rate(info)),
        ("duration", "unknown" if info.duration_s is None else f"{info.duration_s:.3f} s"),
        ("streams", f"{info.video_streams} video, {len(info.audio)} audio"),
    ]
    rows += [
        (
            "audio",
            f"{audio.codec}, {audio.sample_rate_hz} Hz, {audio.layout} ({audio.channels} channels)",
        )
        for audio in info.audio
    ]
    for name, value in (
        ("pixel aspect", info.sample_aspect_ratio),
        ("field order", info.field_order),
        ("hdr", info.hdr),
        ("alpha", info.alpha),
        ("conversion", info.conversion),
    ):
        if value is not None:
            rows.append((name, value))
    rows.append(("decoder", info.decoder))
    return rows


def _colour(info: ClipInfo) -> str:
    tags = info.colour_tags
    tagged = ", ".join(
        f"{name} {value or 'untagged'}"
        for name, value in (
            ("matrix", tags.matrix),
            ("range", tags.range),
            ("primaries", tags.primaries),
            ("transfer", tags.transfer),
        )
    )
    used = info.colour
    if used is None:
        return tagged
    return (
        f"{tagged}; read as {used.matrix} (by {used.matrix_from}), {used.range} range "
        f"(by {used.range_from})"
    )


def _frames(info: ClipInfo) -> str:
    counted = "not counted" if info.frames is None else str(info.frames)
    if info.frames_declared is not None and info.frames_declared != info.frames:
        counted += f" (the header says {info.frames_declared})"
    return counted


def _rate(info: ClipInfo) -> str:
    if info.frame_rate is None:
        return "unknown"
    kind = {True: "constant", False: "varies", None: "not known to be constant"}
    text = f"{info.frame_rate:.3f} frames per second, {kind[info.constant_frame_rate]}"
    if info.frame_rate_declared is not None:
        text += f" (the header says {info.frame_rate_declared})"
    return text
