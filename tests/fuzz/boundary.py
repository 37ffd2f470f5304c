"""Feeds arrays of any shape, stride and dtype to the public entry points."""

import sys

import atheris
import numpy as np

with atheris.instrument_imports(include=["screentest"]):
    # By name, since the package loads its parts on first use, and what loads later is not traced.
    import screentest.media.images
    import screentest.media.open
    import screentest.media.video
    import screentest.screening
    from screentest.errors import ScreentestError

DTYPES = ["u1", "u2", ">u2", "f2", "f4", "f8", "i1", "i4", "?", "c8"]
LAYOUTS = [None, "THWC", "TCHW", "HWC", "CHW", "THW", "HW"]
STEPS = [1, 2, -1, -3]


def one_line(error: ScreentestError) -> None:
    """A message that a log holds in one line."""
    assert "\n" not in error.message


def one_input(data: bytes) -> None:
    """Screens one array built from the bytes, whole and frame by frame."""
    given = atheris.FuzzedDataProvider(data)
    shape = [given.ConsumeIntInRange(0, 33) for _ in range(given.ConsumeIntInRange(0, 5))]
    dtype = np.dtype(given.PickValueInList(DTYPES))
    count = int(np.prod(shape, dtype=np.int64))
    if count > 1 << 20:
        return
    raw = given.ConsumeBytes(count * dtype.itemsize)
    raw = raw.ljust(count * dtype.itemsize, b"\x5a")
    array = np.frombuffer(raw, dtype, count).reshape(shape)
    array = array[tuple(slice(None, None, given.PickValueInList(STEPS)) for _ in shape)]
    options = {
        "layout": given.PickValueInList(LAYOUTS),
        "bit_depth": given.PickValueInList([None, 0, 8, 10, 16, 17]),
        "value_range": given.PickValueInList([None, (0, 1), (-1, 1), (0, 255), (1, 0)]),
        "alpha": given.PickValueInList([None, "drop", (0, 0, 0)]),
    }
    options = {name: value for name, value in options.items() if value is not None}
    try:
        assert screentest.screen(array, threads=1, **options).to_json()
    except ScreentestError as error:
        one_line(error)
    screener = screentest.Screener(threads=1, **options)
    try:
        for frame in array if array.ndim else [array]:
            screener.push(frame)
        assert screener.finish().to_json()
    except ScreentestError as error:
        one_line(error)


if __name__ == "__main__":
    atheris.Setup([*sys.argv, "-timeout=10"], one_input)
    atheris.Fuzz()
