"""Which frames the sampled pairs and the lattice are read from."""

from __future__ import annotations

from screentest import _native

__all__ = ["Known", "Thinned", "sampled_frames"]


def sampled_frames(frames: int) -> list[int]:
    """Display indices that the sampled axes read of a clip of so many frames, ascending."""
    starts = Known(frames).starts(frames)
    needed = {k for start in starts for k in (start, start + 1)}
    # Of a single picture there is one frame, whichever pairs are asked for.
    return sorted(index for index in needed if index < frames)


class Known:
    """Sampled pairs of a clip whose length is known: exactly those of the definition."""

    def __init__(self, frames: int) -> None:
        self._starts = _native.pair_starts(frames, _native.INTEGRITY_PAIRS)
        self._set = frozenset(self._starts)
        # The contrast and the lattice of a single picture are read from it.
        self._lone = frames == 1

    def keeps(self, index: int) -> bool:
        return index in self._set or self._lone

    def is_start(self, index: int) -> bool:
        return index in self._set

    def starts(self, frames: int) -> list[int]:
        return [0] if self._lone and frames == 1 else self._starts


class Thinned:
    """Candidates while the length is not known: every ``spacing``-th frame, which doubles when
    more than 32 are kept."""

    def __init__(self, native: _native.IntegrityAccumulator) -> None:
        self._native = native
        self._spacing = 1
        self._kept: list[int] = []

    def keeps(self, index: int) -> bool:
        if index % self._spacing:
            return False
        self._kept.append(index)
        if len(self._kept) > 32:
            self._spacing *= 2
            for dropped in (k for k in self._kept if k % self._spacing):
                self._native.forget_grid(dropped)
            self._kept = [k for k in self._kept if k % self._spacing == 0]
        return index % self._spacing == 0

    def is_start(self, index: int) -> bool:
        return index >= 0 and index % self._spacing == 0

    def starts(self, frames: int) -> list[int]:
        if frames == 1:
            return [0]
        usable = [k for k in self._kept if k + 1 < frames]
        if not usable:
            return []
        ideal = _native.pair_starts(frames, _native.INTEGRITY_PAIRS)
        return sorted({min(usable, key=lambda k: (abs(k - want), k)) for want in ideal})
