"""Where on the clock the next samples belong, so that sample k sounds at start + k / rate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from screentest.media.info import Damage
from screentest.media.packets import count_of

__all__ = ["Timeline"]

# A stamp that is off by less than half of a packet, and by less than these seconds in any case, is
# jitter: sound is lost in packets, and Matroska and FLV round every stamp to a millisecond. The
# upper limit is what is heard as an echo or seen as out of step.
_JITTER_S = (0.005, 0.020)
# A stamp that goes back by more is no overlap of two packets, but a clock that starts again.
_OVERLAP_S = 1.0
# Values of float32 that one file's holes may add, 23 minutes of 48 kHz stereo. A hole beyond that
# is taken for a wrong stamp, so that a damaged file cannot ask for days of silence.
_HOLE_VALUES = 1 << 27


@dataclass(slots=True)
class Timeline:
    """The clock of one pass. All sums are whole numbers, so nothing drifts.

    ``base`` is the seconds of one tick of the stamps, ``None`` where they say nothing; a stamp of
    no frame is ``None`` as well. ``given`` counts the samples placed so far.
    """

    rate: int
    channels: int
    base: Fraction | None
    given: int = 0
    filled: int = 0
    _anchor: int | None = None
    # Samples of the frame before, and how far the next one may be off in units of _unit.
    _length: int = 0
    _jitter: int = 0

    def place(self, stamp: int | None, length: int) -> tuple[int, Damage | None]:
        """(samples, damage) for a frame of that stamp and length: how many samples of silence to
        put before it, or if negative, how many to leave out at its start."""
        base = self.base
        if stamp is None or base is None:
            self.given += length
            return 0, None
        # In units of 1 / base.denominator of a sample.
        unit = base.denominator
        now = stamp * base.numerator * self.rate
        if self._anchor is None:
            self._anchor = now - self.given * unit
        off = now - self._anchor - self.given * unit
        if abs(off) > self._jitter and self._length:
            return self._mend(round(off / unit), length, now, unit)
        if length != self._length:
            self._length = length
            low, high = (int(seconds * self.rate) for seconds in _JITTER_S)
            self._jitter = min(max(length // 2, low), high) * unit
        self.given += length
        return 0, None

    def time_s(self, sample: int) -> float | None:
        """When a sample sounds, by its number from the start; ``None`` without stamps."""
        if self._anchor is None or self.base is None:
            return None
        unit = self.base.denominator
        return (self._anchor + sample * unit) / (unit * self.rate)

    def _mend(self, missing: int, length: int, now: int, unit: int) -> tuple[int, Damage]:
        time_s = self.time_s(self.given)
        seconds = abs(missing) / self.rate
        lasts = f"{count_of(abs(missing), 'sample')} ({seconds:.3f} s)"
        kind: Literal["missing_samples", "repeated_samples"]
        kind = "missing_samples" if missing > 0 else "repeated_samples"
        if missing > 0 and (self.filled + missing) * self.channels <= _HOLE_VALUES:
            detail = f"{lasts} missing by the time stamps; silence stands in for them"
            self.filled += missing
        elif missing < 0 and seconds <= _OVERLAP_S:
            detail = f"{lasts} given twice by the time stamps; the first are kept"
            missing = max(missing, -length)
        else:
            turn = "leave a hole of" if missing > 0 else "go back by"
            detail = f"the time stamps {turn} {seconds:.3f} s; taken as if they did not"
            self._anchor = now - self.given * unit
            missing = 0
        self.given += missing + length
        return missing, Damage(kind=kind, detail=detail, time_s=time_s)
