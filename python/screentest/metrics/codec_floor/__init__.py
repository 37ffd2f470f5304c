"""The codec floor: the part of a distance that comes from writing the file.

The reference goes through the candidate's own encoder with the candidate's own settings, where the
file tells them. What then lies between the reference and its own encode is the floor: no change
to the model can be seen below it.
"""

from __future__ import annotations

from screentest.metrics.codec_floor.floor import CodecFloor, codec_floor_clip
from screentest.metrics.codec_floor.settings import (
    CodecFloorUnknown,
    EncoderSettings,
    parse_settings,
    read_settings,
)

__all__ = [
    "CodecFloor",
    "CodecFloorUnknown",
    "EncoderSettings",
    "codec_floor_clip",
    "parse_settings",
    "read_settings",
]
