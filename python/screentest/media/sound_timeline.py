"""Where on the clock the next samples belong, so that sample k sounds at start + k / rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.media.info import Damage
from screentest.media.packets import count_of

if TYPE_CHECKING:
    from av import AudioFrame

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
    """The clock of one pass. All sums are whole numbers, so nothing drifts."""

    rate: int
    channels: int
    given: int = 0
    filled: int = 0
    _anchor: int | None = None
    _last: int = 0

    def place(self, frame: AudioFrame) -> tuple[int, Damage | None]:
        """(samples, damage): how many to put before this frame; to leave out of it if negative."""
        base = frame.time_base
        stamp = frame.pts
        length, self._last = self._last, frame.samples
        if stamp is None or not base:
            self._pass(frame.samples)
            return 0, None
        # In units of 1 / base.denominator of a sample.
        now = stamp * base.numerator * self.rate
        unit = base.denominator
        if self._anchor is None:
            self._anchor = now - self.given * unit
        off = now - self._anchor - self.given * unit
        low, high = (seconds * self.rate for seconds in _JITTER_S)
        if abs(off) <= min(max(length / 2, low), high) * unit:
            self._pass(frame.samples)
            return 0, None
        missing = round(off / unit)
        time_s = float((self._anchor + self.given * unit) / (unit * self.rate))
        return self._mend(missing, time_s, frame.samples, now, unit)

    def _mend(
        self, missing: int, time_s: float, length: int, now: int, unit: int
    ) -> tuple[int, Damage]:
        lasts = f"{count_of(abs(missing), 'sample')} ({abs(missing) / self.rate:.3f} s)"
        if missing > 0:
            if (self.filled + missing) * self.channels <= _HOLE_VALUES:
                self.filled += missing
                self._pass(missing + length)
                detail = f"{lasts} missing by the time stamps; silence stands in for them"
                return missing, Damage(kind="missing_samples", detail=detail, time_s=time_s)
            detail = f"{lasts} missing by the time stamps, too many to fill; times after it are off"
            self._anchor = now - self.given * unit
            self._pass(length)
            return 0, Damage(kind="missing_samples", detail=detail, time_s=time_s)
        if -missing <= _OVERLAP_S * self.rate:
            left_out = min(-missing, length)
            self._pass(length - left_out)
            detail = f"{lasts} given twice by the time stamps; the first are kept"
            return -left_out, Damage(kind="repeated_samples", detail=detail, time_s=time_s)
        detail = f"the time stamps go back by {-missing / self.rate:.3f} s; times after it are off"
        self._anchor = now - self.given * unit
        self._pass(length)
        return 0, Damage(kind="repeated_samples", detail=detail, time_s=time_s)

    def _pass(self, samples: int) -> None:
        self.given += samples
