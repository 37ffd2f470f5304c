"""``screentest audio``: is the sound whole, and where should a person listen?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli import exit_codes, options, output
from screentest.cli.drawings import check_drawing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from screentest.listening import Listening
    from screentest.media.info import SoundInfo
    from screentest.verdicts.judgement import Defect, Note

__all__ = ["EXIT_STATUS", "command", "report_lines"]

EXIT_STATUS = (
    "Exit status: 0 passed; 1 rejected; 2 the request or an input is wrong, or FILE holds no sound "
    "where none is expected; 3 not judged (unmeasured); 130 interrupted."
)

_STATUS = {
    "pass": exit_codes.DONE,
    "reject": exit_codes.NOT_PASSED,
    "unmeasured": exit_codes.NOT_JUDGED,
}

_NUMBERS = (
    ("audio_lufs", "loudness", "LUFS", 1),
    ("loudness_range_lu", "loudness range", "LU", 1),
    ("audio_true_peak_dbtp", "true peak", "dBTP", 1),
    ("audio_rms_dbfs", "level", "dBFS", 1),
    ("audio_clip_fraction", "clipped", "% of samples", 3),
    ("audio_silence_fraction", "silent", "% of the time", 1),
    ("audio_max_silence_run", "longest silence", "% of the time", 1),
    ("audio_dc_offset", "offset from 0", "of full scale", 4),
    ("audio_stereo_separation_db", "separation", "dB", 1),
    ("audio_channel_correlation", "correlation", "", 2),
)
_PERCENT = ("audio_clip_fraction", "audio_silence_fraction", "audio_max_silence_run")

_OF_CHANNELS = frozenset({"true_peak", "clipped", "dc_offset", "dead_channel", "silent_channel"})
"""Defects that a table of the channels explains."""


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The sound, or a video with one.")],
    reference: Annotated[
        str | None,
        typer.Argument(metavar="REFERENCE", help="What it ought to sound like."),
    ] = None,
    png: Annotated[
        str | None,
        typer.Option(metavar="OUT.png", help="Draw waveform, spectrogram, loudness and defects."),
    ] = None,
    checklist: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What ought to be heard, as TOML or JSON."),
    ] = None,
    transcriber: Annotated[
        str | None,
        typer.Option(metavar="pocketsphinx", help="Who writes down what is said."),
    ] = None,
    stream: Annotated[
        str | None,
        typer.Option(metavar="N|LANG", help="Which audio stream: its number, or its language."),
    ] = None,
    no_sync: Annotated[
        bool, typer.Option("--no-sync", help="Do not look at the picture; a long film is faster.")
    ] = False,
    expect_sound: Annotated[
        bool,
        typer.Option("--expect-sound", help="Reject a file without a soundtrack."),
    ] = False,
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="An axis that must be measured; may be repeated."),
    ] = None,
    as_json: options.JsonObject = False,
    policy: options.PolicyFile = None,
    threads: options.Threads = None,
) -> int:
    """Say whether a sound is whole: silent, clipped, cut off, one channel dead, out of phase.

    Against a REFERENCE also how far it is from it, and in which second to listen; a file without
    a soundtrack is rejected where the reference has one. Such distances reject only where a policy
    sets a budget for them.

    Of a video the sudden sounds are compared with sudden changes of the picture: event sync, not
    lip sync.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest import listening
    from screentest.errors import ScreentestError
    from screentest.reports import canonical
    from screentest.reports.audio import error_record

    inputs = [file] if reference is None else [file, reference]
    if png is not None:
        check_drawing("--png", png, "png", inputs)
    reading: dict[str, Any] = {} if stream is None else {"stream": _stream(stream)}
    try:
        result = listening.audio_verdict(
            file,
            reference,
            checklist=checklist,
            transcriber=_transcriber(transcriber, checklist),
            policy=policy,
            require=tuple(require or ()),
            expect_sound=expect_sound,
            sync=not no_sync,
            threads=threads,
            **reading,
        )
        drawn = png is not None and result.facts is not None
        if png is not None and drawn:
            listening.draw_sound(result, file, png, reference=reference, **reading)
    except (ScreentestError, OSError) as error:
        if as_json:
            output.result_bytes(canonical.dumps(error_record(file, reference, error)))
        raise
    if png is not None:
        told = f"wrote {output.shown(png)}" if drawn else "there is no sound to draw"
        output.note(told)
    if as_json:
        output.result_bytes(result.to_json())
    else:
        for line in report_lines(result):
            output.result(line)
    return _STATUS[result.verdict]


def _stream(said: str) -> int | str:
    return int(said) if said.isdecimal() else said


def _transcriber(name: str | None, checklist: str | None) -> Any:
    from screentest.errors import InputError

    if name is None:
        return None
    if checklist is None:
        raise InputError("--transcriber listens for a checklist's words: give --checklist as well")
    from screentest.metrics.audio_content import transcriber_named

    return transcriber_named(name)


def report_lines(result: Listening) -> list[str]:
    """What a person reads: the verdict, what is wrong and where, the worst seconds, the numbers."""
    against = ""
    if result.reference_source is not None:
        against = f" against {output.shown(result.reference_source)}"
    about = "no sound" if result.facts is None else _about(result.facts.sound, result.facts.samples)
    word = output.styled(f"{result.verdict:<10}")
    lines = [f"{word}  {output.shown(result.source)}{against}  ({about})"]
    lines += [f"  {d.severity:<6}  {_told(d)}" for d in result.defects]
    lines += [f"  note    {note.code}: {_said(note)}" for note in result.notes]
    lines += _gaps(result)
    lines += _worst(result)
    if result.facts is not None and not result.facts.non_finite:
        lines += _numbers(result)
        if any(defect.code in _OF_CHANNELS for defect in result.defects):
            lines += _channels(result)
    return lines


def _said(note: Note) -> str:
    if note.code == "not_gated":
        return "the distances below decide nothing, since the policy has no budget for them"
    return output.shown(note.message)


def _gaps(result: Listening) -> Iterator[str]:
    """What was asked for or is shown, and has no number; axes of one reason together."""
    if result.facts is None or result.facts.non_finite:
        # Such a sound has no numbers at all, and the defect says so.
        return
    from screentest.verdicts.audio_defects import ALONE
    from screentest.verdicts.audio_policy import AXES
    from screentest.verdicts.audio_tiers import FIGURES

    told = {*AXES, *FIGURES, *(name for name, *_ in _NUMBERS)}
    axes: dict[str, list[str]] = {}
    for gap in result.unmeasured:
        if gap.applies and gap.axis in told:
            axes.setdefault(gap.reason, []).append(gap.axis)
    for reason, named in axes.items():
        # A tier as a whole says what its metrics would say again.
        named = [name for name in named if name in AXES] or named
        words = "the sound by itself" if set(ALONE) <= set(named) else ", ".join(named)
        yield f"  not measured  {words}: {output.shown(reason)}"


def _about(sound: SoundInfo, samples: int) -> str:
    parts = [sound.codec or sound.sample_format or sound.kind, f"{sound.sample_rate_hz} Hz"]
    layout = sound.layout
    if sound.channels > 2 or layout == "unknown":
        layout += f" ({sound.channels} channel{'s' * (sound.channels != 1)})"
    parts += [layout, f"{samples / sound.sample_rate_hz:.2f} s"]
    if sound.streams > 1:
        language = "" if sound.language is None else f", {sound.language}"
        parts.append(f"stream {sound.stream} of {sound.streams}{language}")
    return ", ".join(parts)


def _told(defect: Defect) -> str:
    told = f"{defect.code}: {output.shown(defect.message)}"
    if defect.seconds is None or defect.code in ("silent", "quiet"):
        return told
    return f"{told} [listen at {_clock(*defect.seconds)}]"


def _clock(start: float, end: float) -> str:
    """A place to listen, in whole seconds as players show them: ``0:12-0:14``.

    >>> _clock(12.3, 13.2), _clock(59.9, 60.0)
    ('0:12-0:14', '0:59-1:00')
    """
    first, last = int(start), max(int(start) + 1, -int(-end // 1))
    return "-".join(f"{at // 60}:{at % 60:02d}" for at in (first, last))


def _numbers(result: Listening) -> list[str]:
    facts, reference, pair = result.facts, result.reference, result.pair
    if facts is None:
        return []
    paired = reference is not None
    rows: list[tuple[str, ...]] = [("", "sound", "reference", "change", "")] if paired else []
    for name, words, unit, decimals in _NUMBERS:
        ours, theirs = _value(facts, name), _value(reference, name)
        if ours is None and theirs is None:
            continue
        row = [words, _figure(ours, decimals)]
        if paired:
            change = None if ours is None or theirs is None else ours - theirs
            row += [_figure(theirs, decimals), _figure(change, decimals, "+")]
        rows.append((*row, unit))
    if not rows:
        return []
    lines = output.table(rows, left=(0, len(rows[0]) - 1))
    if pair is not None:
        lines += output.table(list(_fidelity(pair)), left=(0, 2))
    return lines


def _value(facts: Any, name: str) -> float | None:
    value: float | None = getattr(facts, name, None)
    return 100.0 * value if value is not None and name in _PERCENT else value


def _fidelity(pair: Any) -> Iterator[tuple[str, str, str]]:
    from screentest.verdicts.audio_fidelity import lag_ms
    from screentest.verdicts.audio_tiers import FIGURES

    for name in ("audio_si_sdr", "audio_snr_db", "audio_lsd_db", "audio_mel_l1"):
        words, unit, decimals = FIGURES[name]
        yield words, _figure(getattr(pair, name), decimals), unit
    yield "lag", _figure(lag_ms(pair), 1, "+"), "ms, positive is late"


def _channels(result: Listening) -> list[str]:
    facts = result.facts
    if facts is None or len(facts.channels) < 2:
        return []
    rows: list[tuple[str, ...]] = [
        ("channel", "level dBFS", "peak dBFS", "true peak dBTP", "offset", "clipped %")
    ]
    rows += [
        (
            channel.position,
            f"{channel.rms_dbfs:.1f}",
            f"{channel.peak_dbfs:.1f}",
            f"{channel.true_peak_dbtp:.1f}",
            f"{channel.dc_offset:+.4f}",
            f"{100 * channel.clip_fraction:.3f}",
        )
        for channel in facts.channels
    ]
    return output.table(rows)


def _worst(result: Listening) -> list[str]:
    """Where to listen: the worst second of each distance, those of one second together."""
    from screentest.verdicts.audio_fidelity import audible_worst
    from screentest.verdicts.audio_tiers import figure

    if result.pair is None:
        return []
    places: dict[str, list[str]] = {}
    for second in audible_worst(result.pair):
        # The two are apart by a lag that no player's clock shows.
        start = min(second.seconds[0], second.reference_seconds[0])
        where = _clock(start, start + second.seconds[1] - second.seconds[0])
        told = figure(second.metric, second.value)
        if second.position is not None:
            told += f" in {second.position}"
        places.setdefault(where, []).append(told)
    return [
        f"  listen at {where}, the worst second: {', '.join(told)}"
        for where, told in places.items()
    ]


def _figure(value: float | None, decimals: int, sign: str = "") -> str:
    if value is None:
        return "-"
    # What rounds to nothing has no sign.
    return f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"
