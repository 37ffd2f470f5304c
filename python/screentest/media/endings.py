"""Endings of file names that pictures usually bear: which files of a folder are looked at. A file
that is named is opened whatever its ending."""

from __future__ import annotations

import os

__all__ = ["IMAGES", "VIDEOS", "ending"]

VIDEOS = frozenset(
    (
        "3gp",
        "apng",
        "asf",
        "avi",
        "avif",
        "flv",
        "gif",
        "h264",
        "h265",
        "hevc",
        "ivf",
        "m2ts",
        "m4v",
        "mkv",
        "mov",
        "mp4",
        "mpeg",
        "mpg",
        "mts",
        "mxf",
        "nut",
        "obu",
        "ogv",
        "ts",
        "vob",
        "webm",
        "wmv",
        "y4m",
    )
)

IMAGES = frozenset(
    ("bmp", "dpx", "exr", "jpeg", "jpg", "pbm", "pgm", "png", "ppm", "qoi", "tif", "tiff", "webp")
)


def ending(name: str) -> str:
    """What follows the last dot of a file name, in lower case.

    >>> ending("a.MP4"), ending("notes")
    ('mp4', '')
    """
    return os.path.splitext(name)[1][1:].lower()
