"""Feeds mutated files to the sound reader, and arrays of any shape, stride and dtype."""

import sys

import atheris
import numpy as np

with atheris.instrument_imports(include=["screentest"]):
    # By name, since the package loads its parts on first use, and what loads later is not traced.
    import screentest.media.sound
    import screentest.media.sound.arrays
    import screentest.media.sound.files
    from screentest.errors import ScreentestError

DTYPES = ["u1", "i2", ">i2", "u4", "i8", "f2", "f4", "f8", "?", "c8"]


def one_line(error: ScreentestError) -> None:
    """A message that a log holds in one line."""
    assert "\n" not in error.message


def one_input(data: bytes) -> None:
    """Reads ``data[1:]`` as the bytes of a file, or if the first byte is odd, as an array."""
    if len(data) < 2:
        return
    source, options = data[1:], {}
    if data[0] & 1:
        given = atheris.FuzzedDataProvider(source)
        dtype = np.dtype(given.PickValueInList(DTYPES))
        channels, step = given.ConsumeIntInRange(1, 9), given.PickValueInList([1, 2, -1, -3])
        options = {
            "sample_rate": given.ConsumeIntInRange(900, 2000),
            "layout": given.PickValueInList([None, "NC", "CN"]),
            "channel_layout": given.PickValueInList([None, "5.1", "stereo", "?"]),
        }
        raw = given.ConsumeBytes(given.remaining_bytes())
        size = dtype.itemsize * channels
        array = np.frombuffer(raw[: len(raw) // size * size], dtype)
        source = array.reshape(-1, channels)[::step]
    try:
        with screentest.media.sound.read_audio(source, **options) as sound:
            rate, channels = sound.info.sample_rate_hz, sound.info.channels
            for block in sound.blocks():
                assert 1 <= len(block) <= rate
                assert block.shape[1] == channels
                assert block.dtype == np.float32
                assert block.flags.c_contiguous
            assert all("\n" not in damage.detail for damage in sound.damage)
    except ScreentestError as error:
        one_line(error)


if __name__ == "__main__":
    atheris.Setup([*sys.argv, "-timeout=10"], one_input)
    atheris.Fuzz()
