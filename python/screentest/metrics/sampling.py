"""Which frames a metric reads that does not read all of them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Spread", "strip"]


def strip(frames: int, count: int) -> list[int]:
    """``count`` of ``frames`` indices, evenly spread, the first and the last among them.

    >>> strip(32, 3), strip(4, 16), strip(9, 1), strip(0, 16)
    ([0, 16, 31], [0, 1, 2, 3], [0], [])
    """
    if count >= frames:
        return list(range(frames))
    if count == 1:
        return [0]
    # Halves go to the even index; two that round to one count once.
    step = (frames - 1) / (count - 1)
    return sorted({round(i * step) for i in range(count)})


class Spread:
    """Indices that are kept of a sequence whose length shows only at its end.

    Every ``spacing``-th one, which doubles when more than twice ``count`` are kept: at the end
    :meth:`nearest` picks the ``count`` that lie best.

    >>> spread = Spread(2)
    >>> [i for i in range(9) if spread.keeps(i)], spread.kept, spread.nearest([0, 7])
    ([0, 1, 2, 3, 4, 6, 8], [0, 4, 8], [0, 8])
    """

    def __init__(self, count: int) -> None:
        self._most = 2 * count
        self._spacing = 1
        self.kept: list[int] = []

    def keeps(self, index: int) -> bool:
        """Whether this index is kept for now. Indices ascend."""
        if index % self._spacing:
            return False
        self.kept.append(index)
        while len(self.kept) > self._most:
            self._spacing *= 2
            self.kept = [k for k in self.kept if k % self._spacing == 0]
        return index % self._spacing == 0

    def nearest(self, ideal: Sequence[int], among: Sequence[int] | None = None) -> list[int]:
        """The kept ones (or those ``among`` them) that lie nearest to these."""
        usable = self.kept if among is None else [k for k in among if k in set(self.kept)]
        if not usable:
            return []
        return sorted({min(usable, key=lambda k: (abs(k - want), k)) for want in ideal})
