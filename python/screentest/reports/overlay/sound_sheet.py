"""One picture of a sound over time, and of its reference: what is in it, and where it is wrong."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest.files import write_atomically
from screentest.reports.overlay import sound_panels as panels
from screentest.reports.overlay.canvas import (
    FAINT,
    GROUND,
    INK,
    require_pillow,
    text,
    text_width,
)
from screentest.reports.overlay.sound_view import HOP, SoundView, view
from screentest.verdicts.audio_defects import FULL_SCALE_DBFS
from screentest.verdicts.audio_fidelity import audible_worst, lag_ms
from screentest.verdicts.audio_tiers import figure

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from screentest.listening import Listening
    from screentest.media.sound import Sound
    from screentest.metrics.audio.facts import AudioFacts

__all__ = ["draw_sound_sheet", "write_sound_png"]

_WIDE, _LEFT, _RIGHT, _MARGIN = 1296, 84, 20, 16
_PLOT = _WIDE - _LEFT - _RIGHT
_HEAD, _LANE, _TITLE, _GAP = 92, 20, 24, 4
_WAVE, _SPECTRUM, _LOUDNESS, _CHANGE = 56, 148, 112, 116
_AXIS, _LEGEND = 30, 44
_SIZE = 13

_REJECT, _WARN, _WORST = (255, 132, 0), (255, 200, 90), (140, 190, 240)
_MOST_MARKS = 8

_SAME_LU = 0.5
"""Less than this is no change of level that hides others."""


def write_sound_png(
    result: Listening,
    sound: Sound,
    path: str | os.PathLike[str],
    reference: Sound | None = None,
) -> None:
    """Write one PNG of what was judged. An existing file is replaced whole or not at all.

    Raises:
        MissingBackendError: Pillow is not installed (``pip install 'screentest[report]'``).
        OSError: the file cannot be written.
    """
    sheet = draw_sound_sheet(result, sound, reference)
    written = io.BytesIO()
    sheet.save(written, "png")
    write_atomically(Path(path), written.getvalue())


def draw_sound_sheet(result: Listening, sound: Sound, reference: Sound | None = None) -> Image:
    """The picture that :func:`write_sound_png` writes.

    Channels one below the other, of more than two their mean; the reference on the candidate's
    time, so that what sounds together stands together.
    """
    require_pillow()
    facts = result.facts
    assert facts is not None
    shift = 0
    samples = facts.samples
    if reference is not None and result.reference is not None:
        if result.pair is not None and result.pair.audio_align_lag_ms is not None:
            shift = round(result.pair.audio_align_lag_ms * facts.sound.sample_rate_hz / 1000.0)
        samples = max(samples, result.reference.samples + shift)
    sides = [_Side("sound", facts, view(sound, _PLOT, samples), 0.0)]
    if reference is not None and result.reference is not None:
        seen = view(reference, _PLOT, samples, shift)
        start = shift / facts.sound.sample_rate_hz
        sides.append(_Side("reference", result.reference, seen, start))
    return _Sheet(result, sides, samples).draw()


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One sound; ``start_s`` is when its first sample stands on the axis."""

    name: str
    facts: AudioFacts
    view: SoundView
    start_s: float


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch that is pointed at."""

    seconds: tuple[float, float]
    words: str
    colour: tuple[int, int, int]


class _Sheet:
    def __init__(self, result: Listening, sides: list[_Side], samples: int) -> None:
        from PIL import Image, ImageDraw

        self.result, self.sides = result, sides
        self.rate = sides[0].facts.sound.sample_rate_hz
        self.seconds = samples / self.rate
        self.marks = list(_marks(result))[:_MOST_MARKS]
        rows = sum(len(side.view.names) for side in sides)
        high = _HEAD + len(self.marks) * _LANE + rows * (_WAVE + _SPECTRUM + 2 * _GAP)
        high += (len(sides) + 1) * _TITLE + _LOUDNESS + _AXIS + _LEGEND + _MARGIN
        if len(sides) == 2:
            high += _TITLE + _CHANGE + _GAP
        self.image = Image.new("RGB", (_WIDE, high), GROUND)
        self.pen: ImageDraw = ImageDraw.Draw(self.image)
        self.y = 0

    def draw(self) -> Image:
        """Everything, from top to bottom."""
        self._head()
        first = self.y
        self._lane()
        for side in self.sides:
            self._side(side)
        if len(self.sides) == 2:
            self._change(*self.sides)
        self._loudness()
        self._shade(first)
        self._axis()
        self._legend()
        return self.image

    def x(self, time_s: float) -> float:
        """Where a moment stands on the sheet."""
        return _LEFT + min(max(time_s / self.seconds, 0.0), 1.0) * _PLOT

    # ------------------------------------------------------------------ words

    def _head(self) -> None:
        result, facts = self.result, self.sides[0].facts
        room = _WIDE - 2 * _MARGIN
        text(self.pen, (_MARGIN, 22), os.path.basename(result.source) or result.source, 18,
             most=room)  # fmt: skip
        sound = facts.sound
        about = f"{self.rate} Hz · {sound.layout} · {facts.samples / self.rate:.2f} s"
        about = f"{sound.codec} · {about}" if sound.codec else about
        numbers = [
            (facts.audio_lufs, "{:.1f} LUFS"),
            (facts.loudness_range_lu, "range {:.1f} LU"),
            (facts.audio_true_peak_dbtp, "true peak {:.1f} dBTP"),
            (facts.audio_rms_dbfs, "level {:.1f} dBFS"),
        ]
        about += "".join(" · " + form.format(value) for value, form in numbers if value is not None)
        text(self.pen, (_MARGIN, 46), about, _SIZE, fill=FAINT, most=room)
        colour = _REJECT if result.verdict == "reject" else INK
        width = text(self.pen, (_MARGIN, 70), result.verdict, 14, fill=colour)
        rest = [d.message for d in result.defects if d.seconds is None]
        rest.append(_distances(result))
        told = " · ".join(part for part in rest if part)
        if told:
            text(self.pen, (_MARGIN + width + 14, 70), told, _SIZE, fill=FAINT,
                 most=room - width - 14)  # fmt: skip
        self.y = _HEAD

    def _lane(self) -> None:
        """What is pointed at, each on a line of its own above the place."""
        for mark in self.marks:
            left, right = (self.x(at) for at in mark.seconds)
            middle = self.y + _LANE / 2
            self.pen.rectangle((left, middle - 3, max(right, left + 3), middle + 2), mark.colour)
            room = _WIDE - _RIGHT - right - 8
            beside = text_width(mark.words, _SIZE)
            if max(room, left - _LEFT) < min(beside, _PLOT / 3):
                self._on_bar(mark, left, middle)
            elif room >= beside or room >= left - _LEFT:
                text(self.pen, (right + 8, middle), mark.words, _SIZE, fill=mark.colour, most=room)
            else:
                text(self.pen, (left - 8, middle), mark.words, _SIZE, fill=mark.colour,
                     anchor="rm", most=left - _LEFT)  # fmt: skip
            self.y += _LANE

    def _on_bar(self, mark: _Mark, left: float, middle: float) -> None:
        """Words within a bar that leaves no room beside it."""
        start, most = left + 24, int(_WIDE - _RIGHT - left - 48)
        wide = min(text_width(mark.words, _SIZE), most)
        self.pen.rectangle((start - 8, self.y, start + wide + 8, self.y + _LANE - 1), GROUND)
        text(self.pen, (start, middle), mark.words, _SIZE, fill=mark.colour, most=most)

    def _title(self, words: str, fill: tuple[int, int, int] = INK) -> None:
        text(self.pen, (_LEFT, self.y + _TITLE / 2), words, _SIZE, fill=fill, most=_PLOT)
        self.y += _TITLE

    # ------------------------------------------------------------------ panels

    def _side(self, side: _Side) -> None:
        alone = len(self.sides) == 1
        source = os.path.basename(side.facts.sound.source) or side.facts.sound.source
        self._title("samples and spectrum" if alone else f"{side.name}: {source}")
        seen, colour = side.view, panels.WAVE if side.name == "sound" else panels.THEIRS
        for at, name in enumerate(seen.names):
            full = 10.0 ** (FULL_SCALE_DBFS / 20.0)
            peaks = np.fmax(np.abs(seen.low[at]), np.abs(seen.high[at]))
            wave = panels.waveform_panel(
                seen.low[at], seen.high[at], peaks >= full, (_PLOT, _WAVE), colour, _REJECT
            )
            self.image.paste(wave, (_LEFT, self.y))
            shown = name if len(name) < 6 else "mean"
            text(self.pen, (_LEFT - 10, self.y + _WAVE / 2), shown, _SIZE, anchor="rm")
            self.y += _WAVE + _GAP
            rows = panels.spectrogram_rows(seen.power[at], self.rate, _SPECTRUM)
            self._spectrogram(panels.power_colours(rows), seen, _SPECTRUM)
            self.y += _SPECTRUM + _GAP

    def _spectrogram(self, rgb: NDArray[np.uint8], seen: SoundView, high: int) -> None:
        # A spectrum stands for the stretch that its frames begin in.
        wide = rgb.shape[1] * seen.spectrum_s / self.seconds * _PLOT
        lead = (1024 - HOP) / 2 / self.rate / self.seconds * _PLOT
        panel = panels.spectrogram_panel(rgb, (_PLOT, high), wide + 2 * lead)
        self.image.paste(panel, (_LEFT, self.y))
        for hertz in panels.hertz_ticks(self.rate):
            y = self.y + (1.0 - panels.height_of(hertz, self.rate)) * (high - 1)
            self.pen.line((_LEFT - 4, y, _LEFT - 1, y), FAINT)
            told = f"{hertz // 1000} kHz" if hertz >= 1000 else f"{hertz}"
            if hertz in (250, 1000, 4000, 16000, 64000):
                text(self.pen, (_LEFT - 8, y), told, 11, fill=FAINT, anchor="rm")

    def _change(self, ours: _Side, theirs: _Side) -> None:
        """The two spectra in one picture; one level for all would hide what changed besides."""
        louder = None if self.result.pair is None else self.result.pair.audio_lufs_delta
        beyond = ""
        if louder is not None and abs(louder) >= _SAME_LU:
            beyond = f" beyond that of its loudness ({louder:+.1f} LU)"
        self._title(f"change of the spectrum{beyond}: orange was added, blue is lost")
        one, two = (side.view.power.mean(axis=0) for side in (ours, theirs))
        count = min(len(one), len(two))
        rows = [panels.spectrogram_rows(power[:count], self.rate, _CHANGE) for power in (one, two)]
        # What lies under the floor in both has no change that anyone could hear.
        low = panels.POWER_DB[0]
        shift = louder if beyond and louder is not None else 0.0
        change = np.maximum(rows[0], low) - np.maximum(rows[1] + shift, low)
        self._spectrogram(panels.change_colours(change), ours.view, _CHANGE)
        self.y += _CHANGE + _GAP

    def _loudness(self) -> None:
        """Momentary loudness of each tenth of a second, and that of the whole."""
        lines, levels = [], []
        told = "loudness of the last 0.4 s (thin) and 3 s (thick), of the whole (dashed)"
        for side in reversed(self.sides):
            series, colour = side.facts.series, panels.WAVE
            if side.name == "reference":
                colour = panels.THEIRS
            if series is not None:
                x = (series.time_s + 0.1 + side.start_s) / self.seconds * _PLOT
                lines.append((x, series.momentary_lufs, colour, 2))
                lines.append((x, series.short_term_lufs, colour, 3))
            if side.facts.audio_lufs is not None:
                levels.append((side.facts.audio_lufs, colour))
        self._title(f"{told}, LUFS")
        panel = panels.loudness_panel(lines, levels, (_PLOT, _LOUDNESS))
        self.image.paste(panel, (_LEFT, self.y))
        low, high = panels.LOUDNESS
        for rule in (0, -20, -40, -60):
            y = self.y + (high - rule) / (high - low) * (_LOUDNESS - 1)
            text(self.pen, (_LEFT - 8, y), f"{rule}", 11, fill=FAINT, anchor="rm")
        self.y += _LOUDNESS

    def _shade(self, top: int) -> None:
        """Every stretch that is pointed at, through all panels."""
        from PIL import Image

        for mark in self.marks:
            left, right = (round(self.x(at)) for at in mark.seconds)
            box = (left, top, max(right, left + 2), self.y)
            tint = Image.new("RGB", (box[2] - box[0], box[3] - box[1]), mark.colour)
            self.image.paste(Image.blend(self.image.crop(box), tint, 0.07), box[:2])
            for edge in (box[0], box[2] - 1):
                side = (edge, box[1], edge + 1, box[3])
                line = tint.resize((1, box[3] - box[1]))
                self.image.paste(Image.blend(self.image.crop(side), line, 0.55), side[:2])

    def _axis(self) -> None:
        step = _step(self.seconds)
        for at in range(int(self.seconds / step + 1e-9) + 1):
            x = self.x(at * step)
            self.pen.line((x, self.y, x, self.y + 5), FAINT)
            text(self.pen, (x, self.y + 16), _clock(at * step, step), 11, fill=FAINT, anchor="mm")
        self.y += _AXIS

    def _legend(self) -> None:
        y, x = self.y + _LEGEND / 2, float(_LEFT)
        low, high = panels.POWER_DB
        x = self._scale(x, y, f"{low:g} dB", panels.power_colours(np.linspace(low, high, 120)),
                        f"{high:g} dB of a sine of full scale")  # fmt: skip
        if len(self.sides) == 2:
            most = panels.CHANGE_DB
            colours = panels.change_colours(np.linspace(-most, most, 120))
            x = self._scale(x, y, f"{-most:g} dB", colours, f"{most:+g} dB")
        for colour, words in ((_REJECT, "rejects, or at full scale"), (_WARN, "warns"),
                              (_WORST, "worst second")):  # fmt: skip
            if colour == _WORST and len(self.sides) < 2:
                continue
            self.pen.rectangle((x, y - 4, x + 14, y + 4), colour)
            x += 20
            x += 18 + text(self.pen, (x, y), words, 12, fill=FAINT)

    def _scale(self, x: float, y: float, low: str, colours: NDArray[np.uint8], high: str) -> float:
        x += 6 + text(self.pen, (x, y), low, 12, fill=FAINT)
        for column, colour in enumerate(colours.tolist()):
            self.pen.line((x + column, y - 5, x + column, y + 5), tuple(colour))
        x += len(colours) + 6
        return x + 24 + text(self.pen, (x, y), high, 12, fill=FAINT)


def _marks(result: Listening) -> list[_Mark]:
    """Defects that have a place, then the worst seconds, those of one second together."""
    found = [
        _Mark(defect.seconds, f"{defect.code}: {defect.message}",
              _REJECT if defect.severity == "reject" else _WARN)
        for defect in result.defects
        if defect.seconds is not None
    ]  # fmt: skip
    places: dict[tuple[float, float], list[str]] = {}
    for second in () if result.pair is None else audible_worst(result.pair):
        told = figure(second.metric, second.value)
        places.setdefault(second.seconds, []).append(told)
    return found + [
        _Mark(seconds, f"worst second: {', '.join(told)}", _WORST)
        for seconds, told in places.items()
    ]


def _distances(result: Listening) -> str:
    pair = result.pair
    if pair is None:
        return ""
    names = ("audio_si_sdr", "audio_snr_db", "audio_lsd_db")
    values = [(name, getattr(pair, name)) for name in names]
    values.append(("audio_align_lag_ms", lag_ms(pair)))
    return ", ".join(figure(name, value) for name, value in values if value is not None)


def _step(seconds: float) -> float:
    """The time between two ticks: at most fourteen of them."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800):
        if seconds / step <= 14:
            return step
    return 3600.0


def _clock(time_s: float, step: float) -> str:
    """A moment as players show it, with the decimals that the step needs.

    >>> _clock(75.0, 15.0), _clock(1.5, 0.5), _clock(0.02, 0.01)
    ('1:15', '0:01.5', '0:00.02')
    """
    decimals = 0 if step >= 1 else 1 if step >= 0.1 else 2
    minutes, rest = divmod(round(time_s, decimals), 60.0)
    width = 2 if not decimals else 3 + decimals
    return f"{int(minutes)}:{rest:0{width}.{decimals}f}"
