"""Names of colour tags, and the one rule for a stream that does not say how it is to be read.

The rule for a YUV stream without a matrix tag is **BT.601, whatever its size**, and without a
range tag **limited** (full for the ``yuvj`` formats, whose name says so, and for grey, as in still
images). The reason is who writes such files: the video writers of the Python world (PyAV, imageio,
OpenCV, diffusers' exporters) hand RGB to swscale, which encodes with BT.601 and sets no tag, at
1080p as at 240p; and the readers that models are trained and judged with decode an untagged file
the same way. A player on a screen may show an untagged HD file as BT.709 instead, so such a clip is
flagged ``untagged_hd``: its author should tag it. The choice is visible in ``ClipInfo.colour`` as
``matrix_from="rule"``.
"""

from __future__ import annotations

from typing import Literal

from screentest.errors import MediaError
from screentest.media.info import ColourResolved, ColourTags

__all__ = ["is_hd", "luma_weights", "resolve", "tags", "transfer_kind"]

# Code points of ITU-T H.273, which FFmpeg's enumerations follow; 2 means "unspecified" in each.
_MATRIX = {
    0: "rgb",
    1: "bt709",
    4: "fcc",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "ycgco",
    9: "bt2020nc",
    10: "bt2020c",
    11: "smpte2085",
    12: "chroma_derived_nc",
    13: "chroma_derived_c",
    14: "ictcp",
    15: "ipt_c2",
    16: "ycgco_re",
    17: "ycgco_ro",
}
_PRIMARIES = {
    1: "bt709",
    4: "bt470m",
    5: "bt470bg",
    6: "smpte170m",
    7: "smpte240m",
    8: "film",
    9: "bt2020",
    10: "smpte428",
    11: "smpte431",
    12: "smpte432",
    22: "ebu3213",
}
_TRANSFER = {
    1: "bt709",
    4: "gamma22",
    5: "gamma28",
    6: "smpte170m",
    7: "smpte240m",
    8: "linear",
    9: "log100",
    10: "log316",
    11: "iec61966_2_4",
    12: "bt1361",
    13: "srgb",
    14: "bt2020_10",
    15: "bt2020_12",
    16: "smpte2084",
    17: "smpte428",
    18: "arib_std_b67",
}
_RANGE: dict[int, Literal["limited", "full"]] = {1: "limited", 2: "full"}

# (Kr, Kb) of Y = Kr R + (1 - Kr - Kb) G + Kb B, from H.273 table 4.
_WEIGHTS = {
    "bt709": (0.2126, 0.0722),
    "fcc": (0.30, 0.11),
    "bt470bg": (0.299, 0.114),
    "smpte170m": (0.299, 0.114),
    "smpte240m": (0.212, 0.087),
    "bt2020nc": (0.2627, 0.0593),
}

_UNTAGGED_MATRIX = "smpte170m"


def tags(matrix: int, range_: int, primaries: int, transfer: int) -> ColourTags:
    """The tags as names, ``None`` for unspecified; an unknown code point reads ``"code_N"``."""

    def name(table: dict[int, str], code: int) -> str | None:
        # 2 is "unspecified" and 3 "reserved" in every table.
        return None if code in (2, 3) else table.get(code, f"code_{code}")

    return ColourTags(
        matrix=name(_MATRIX, matrix),
        range=_RANGE.get(range_),
        primaries=name(_PRIMARIES, primaries) if primaries else None,
        transfer=name(_TRANSFER, transfer) if transfer else None,
    )


def resolve(tagged: ColourTags, *, kind: str, full_by_name: bool = False) -> ColourResolved:
    """The matrix and range that the kernels use; the module's docstring states the rule.

    ``kind`` is ``"yuv"``, ``"grey"`` or ``"rgb"``; ``full_by_name`` marks the ``yuvj`` formats.

    Raises:
        MediaError: the tagged matrix is not of the form Kr, Kb (ICtCp, YCgCo, constant luminance),
            so no luma can be had from its planes.
    """
    if kind == "rgb":
        return ColourResolved(matrix="rgb", range="full", matrix_from="tag", range_from="tag")
    tagged_range = _as_range(tagged.range)
    if kind == "grey":
        return ColourResolved(
            matrix="rgb",
            range=tagged_range or "full",
            matrix_from="tag",
            range_from="tag" if tagged_range else "rule",
        )
    if full_by_name:
        tagged_range = "full"
    # "rgb" on a YUV pixel format is a contradiction that encoders leave behind by writing zeros.
    matrix = None if tagged.matrix == "rgb" else tagged.matrix
    if matrix is not None and matrix not in _WEIGHTS:
        raise MediaError(
            f"the colour matrix {matrix} is not one that luma can be read from; expected one of "
            f"{', '.join(_WEIGHTS)}: convert the file to one of these first",
            code="unsupported_matrix",
            matrix=matrix,
        )
    return ColourResolved(
        matrix=matrix or _UNTAGGED_MATRIX,
        range=tagged_range or "limited",
        matrix_from="tag" if matrix else "rule",
        range_from="tag" if tagged_range else "rule",
    )


def luma_weights(matrix: str) -> tuple[float, float]:
    """(Kr, Kb) of a resolved YUV matrix."""
    return _WEIGHTS[matrix]


def transfer_kind(tagged: ColourTags) -> Literal["pq", "hlg"] | None:
    """``"pq"`` or ``"hlg"`` for the two HDR transfers, ``None`` for anything else."""
    if tagged.transfer == "smpte2084":
        return "pq"
    return "hlg" if tagged.transfer == "arib_std_b67" else None


def is_hd(width: int, height: int) -> bool:
    """True from 1280 wide or 720 high, where players switch an untagged file to BT.709."""
    return width >= 1280 or height >= 720


def _as_range(name: str | None) -> Literal["limited", "full"] | None:
    if name == "limited":
        return "limited"
    return "full" if name == "full" else None
