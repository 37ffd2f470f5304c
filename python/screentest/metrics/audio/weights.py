"""What each channel counts for in loudness, and which two of them are left and right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

__all__ = ["LOWEST_RATE_HZ", "Weight", "front_pair", "weights_of"]

Weight: TypeAlias = Literal["one", "surround", "zero"]

LOWEST_RATE_HZ = 8000
"""Below, the K weighting is another filter: half the rate comes near its shelf at 1.7 kHz."""

# ITU-R BS.1770-4 weighs a loudspeaker on ear level 1.41 at 60 to 120 degrees to a side and 1
# elsewhere, and leaves low-frequency effects out. FFmpeg's names, at the angles of ITU-R BS.2051.
_LOW = frozenset({"LFE", "LFE2"})
_SIDES = frozenset({"SL", "SR", "SSL", "SSR", "SDL", "SDR", "WL", "WR"})
_BACKS = frozenset({"BL", "BR"})
_FRONTS = frozenset({"FL", "FR"})
_OTHERS = frozenset({"FC", "FLC", "FRC", "BC", "DL", "DR", "TC", "TFL", "TFC", "TFR", "TBL",
                     "TBC", "TBR", "TSL", "TSR", "TTL", "TTR", "BFC", "BFL", "BFR"})  # fmt: skip


def weights_of(positions: Sequence[str], sample_rate_hz: int) -> list[Weight] | str:
    """The weight of each channel, or why there is no loudness."""
    if sample_rate_hz < LOWEST_RATE_HZ:
        return f"at {sample_rate_hz} Hz: loudness is defined from {LOWEST_RATE_HZ} Hz on"
    if not positions:
        return (
            "the places of the channels are unknown: say them with channel_layout=, such as "
            "channel_layout='5.1'"
        )
    known = _LOW | _SIDES | _BACKS | _FRONTS | _OTHERS
    strange = [position for position in positions if position not in known]
    if strange:
        return f"channel {strange[0]} has no weight in ITU-R BS.1770"
    # 5.1 has one pair of surrounds, at 110 degrees, and FFmpeg calls it back as often as side. In
    # 7.1 both pairs exist, and the backs stand at 135 degrees.
    surrounds = _SIDES if _SIDES.intersection(positions) else _BACKS
    # The front pair of 22.2 stands at 60 degrees, around a pair at 30.
    if {"LFE2", "FLC", "FRC"}.issubset(positions):
        surrounds = surrounds | _FRONTS
    return [_weight(position, surrounds) for position in positions]


def _weight(position: str, surrounds: frozenset[str]) -> Weight:
    if position in _LOW:
        return "zero"
    return "surround" if position in surrounds else "one"


def front_pair(positions: Sequence[str]) -> tuple[int, int] | None:
    """The indices of left and right, ``None`` where the layout has not both."""
    for left, right in (("FL", "FR"), ("DL", "DR")):
        if left in positions and right in positions:
            return positions.index(left), positions.index(right)
    return None
