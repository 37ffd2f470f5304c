"""Where each channel of a sound stands, in FFmpeg's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from screentest.errors import InputError

if TYPE_CHECKING:
    from av import AudioLayout

__all__ = ["UNKNOWN", "Placing", "named_layout", "placing_of", "usual_layout"]

# (name of the layout, short name of each channel's place).
Placing = tuple[str, tuple[str, ...]]
UNKNOWN: Placing = ("unknown", ())
_USUAL: dict[int, Placing] = {1: ("mono", ("FC",)), 2: ("stereo", ("FL", "FR"))}
# How FFmpeg calls a channel that no place is known of.
_PLACELESS = frozenset({"NONE", "UNK", "UNSD", "?"})


def usual_layout(channels: int) -> Placing:
    """One channel is mono and two are left and right; what more would be is not guessed."""
    return _USUAL.get(channels, UNKNOWN)


def placing_of(layout: AudioLayout) -> Placing:
    """The places that a layout names; where it is a bare count, those of the usual layout."""
    positions = tuple(channel.name for channel in layout.channels)
    if not positions or _PLACELESS.intersection(positions):
        return usual_layout(layout.nb_channels)
    return layout.name, positions


def named_layout(name: Any, channels: int) -> Placing:
    """The layout that a caller names for that many channels.

    Raises:
        InputError: FFmpeg knows no such layout, or it has another number of channels.
    """
    from av import AudioLayout

    try:
        layout = AudioLayout(name)
        places = tuple(channel.name for channel in layout.channels)
    except (TypeError, ValueError):
        places = ()
    if not places or _PLACELESS.intersection(places):
        raise InputError(
            f"channel_layout={name!r}: expected a layout that FFmpeg knows, such as mono, stereo, "
            "5.1, 5.1(side) or 7.1, or the places joined by +, such as FL+FR+LFE",
            code="bad_channel_layout",
        )
    if len(places) != channels:
        raise InputError(
            f"channel_layout={name!r} has {len(places)} channels, the sound has {channels}",
            code="bad_channel_layout",
            expected=len(places),
            channels=channels,
        )
    return layout.name, places
