"""Opening and decoding clips; nothing here knows a metric.

>>> from screentest import media
>>> sorted(name for name in dir(media) if not name.startswith("_"))[:2]
['AudioInfo', 'Clip']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from screentest.media.clip import Clip, Frame
    from screentest.media.flags import FLAGS
    from screentest.media.info import (
        AudioInfo,
        ClipInfo,
        ColourResolved,
        ColourTags,
        Damage,
        SoundInfo,
    )
    from screentest.media.open import open_clip
    from screentest.media.probing import probe
    from screentest.media.sound import Sound, read_audio

__all__ = [
    "FLAGS",
    "AudioInfo",
    "Clip",
    "ClipInfo",
    "ColourResolved",
    "ColourTags",
    "Damage",
    "Frame",
    "Sound",
    "SoundInfo",
    "open_clip",
    "probe",
    "read_audio",
]

# Loaded when first used, so that importing the package costs neither numpy nor av.
_HOMES = {
    "FLAGS": "flags",
    "AudioInfo": "info",
    "Clip": "clip",
    "ClipInfo": "info",
    "ColourResolved": "info",
    "ColourTags": "info",
    "Damage": "info",
    "Frame": "clip",
    "Sound": "sound",
    "SoundInfo": "info",
    "open_clip": "open",
    "probe": "probing",
    "read_audio": "sound",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
