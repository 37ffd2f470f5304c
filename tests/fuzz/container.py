"""Feeds mutated files to the container reader, the decoder and the judge."""

import struct
import sys

import atheris

with atheris.instrument_imports(include=["screentest"]):
    # By name, since the package loads its parts on first use, and what loads later is not traced.
    import screentest.media.images
    import screentest.media.open
    import screentest.media.video
    import screentest.screening
    from screentest.errors import ScreentestError

# The first byte chooses how the rest is screened.
DEPTHS = ("full", "sampled")


def one_line(error: ScreentestError) -> None:
    """A message that a log holds in one line."""
    assert "\n" not in error.message


def one_input(data: bytes) -> None:
    """Screens ``data[1:]`` as the bytes of a file."""
    if len(data) < 2:
        return
    try:
        result = screentest.screen(data[1:], depth=DEPTHS[data[0] % 2], threads=1)
    except ScreentestError as error:
        one_line(error)
        return
    assert result.frames_read >= 1
    assert result.to_json()


def seeds() -> list[bytes]:
    """A minimal file of several kinds, for a start without a corpus."""
    gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01"
    bmp = b"BM" + struct.pack("<IHHIIiiHHIIiiII", 58, 0, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0)
    return [gif + b"\x00\x00\x02\x02D\x01\x00;", bmp + b"\xff\xff\xff\x00"]


if __name__ == "__main__":
    for seed in seeds():
        one_input(b"\x00" + seed)
    atheris.Setup([*sys.argv, "-timeout=10"], one_input)
    atheris.Fuzz()
