"""What is known about a file without measuring it."""

from __future__ import annotations

from typing import Any

from screentest.media.info import ClipInfo
from screentest.media.open import open_clip

__all__ = ["probe"]


def probe(source: Any, *, decoder: str = "pyav") -> ClipInfo:
    """Geometry, codec, colour, timing, streams and flags of a source; no frame is kept.

    Reads the packets of a video once and decodes its first frame. Takes what
    :func:`~screentest.media.open_clip` takes without further arguments, and raises what it raises.
    """
    with open_clip(source, decoder=decoder) as clip:
        return clip.info
