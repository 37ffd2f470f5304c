"""The boundary: whatever is passed, the answer is a number or an InputError, from any thread."""

import multiprocessing
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from screentest import _native
from screentest.errors import InputError

DTYPES = ("uint8", "uint16", "float16", "float32", "float64", "int8", "bool", "complex64")


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def rgb(height, width):
    return _native.FrameFormat.rgb(width=width, height=height, dtype="uint8")


@st.composite
def views(draw):
    """An array of any small shape and dtype, cut with any strides."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=33))
    array = draw(npst.arrays(dtype, shape, fill=st.just(np.ones((), dtype)[()])))
    index = tuple(
        slice(None, None, draw(st.sampled_from((1, 2, 3, -1, -2)))) for _ in range(array.ndim)
    )
    array = array[index]
    return array.transpose(draw(st.permutations(range(array.ndim))))


@st.composite
def strided(draw, dtype, shape):
    """An array of this shape and dtype, with any strides and any values."""
    steps = [draw(st.sampled_from((1, 2, 3, -1, -2))) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    stored = tuple(shape[axis] * abs(steps[axis]) for axis in order)
    array = draw(npst.arrays(dtype, stored, fill=st.just(np.ones((), dtype)[()])))
    return array.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]


def described(width, height, dtype, grey):
    make = _native.FrameFormat.grey if grey else _native.FrameFormat.rgb
    return make(
        width=width, height=height, dtype=dtype, bit_depth=12 if dtype == "uint16" else None
    )


@given(
    planes=st.lists(views(), min_size=0, max_size=4),
    width=st.integers(1, 33),
    height=st.integers(1, 33),
    dtype=st.sampled_from(DTYPES[:4]),
    grey=st.booleans(),
)
def test_any_planes_are_measured_or_refused(planes, width, height, dtype, grey):
    accumulator = _native.IntegrityAccumulator(described(width, height, dtype, grey))
    try:
        accumulator.push(0, planes, grid=True)
    except InputError:
        assert accumulator.frames == 0
    else:
        assert accumulator.frames == 1


@given(
    data=st.data(),
    width=st.integers(1, 33),
    height=st.integers(1, 33),
    dtype=st.sampled_from(DTYPES[:4]),
    layout=st.sampled_from(("packed", "planar", "grey")),
)
def test_fitting_planes_with_any_strides_and_values_are_measured(
    data, width, height, dtype, layout
):
    shape = (height, width, 3) if layout == "packed" else (height, width)
    count = 3 if layout == "planar" else 1
    planes = [data.draw(strided(dtype, shape)) for _ in range(count)]
    accumulator = _native.IntegrityAccumulator(described(width, height, dtype, layout == "grey"))
    accumulator.push(0, planes, grid=True)
    accumulator.push(1, planes, planes, grid=True, align=True, change=True)
    series = accumulator.series()
    for name in ("luma_mean", "luma_min", "luma_max", "red", "green", "blue"):
        assert ((series[name] >= 0) & (series[name] <= 1)).all()
    assert -1 <= series["corr"][1] <= series["corr_aligned"][1] <= 1
    # The same frame twice: it changes by nothing, whatever it holds.
    assert series["change"][1] == 0


@given(
    array=npst.arrays(
        np.float32,
        npst.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=33),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    )
)
def test_every_non_finite_sample_is_counted_and_the_first_is_named(array):
    height, width = array.shape
    accumulator = _native.IntegrityAccumulator(
        _native.FrameFormat.grey(width=width, height=height, dtype="float32")
    )
    counted, outside = accumulator.push(0, (array,))
    bad = ~np.isfinite(array)
    assert counted == bad.sum()
    first = tuple(np.argwhere(bad)[0]) if bad.any() else None
    assert accumulator.first_non_finite == (None if first is None else (0, *first))
    # Half an 8-bit level is allowed on both sides: the rounding of half precision.
    slack = np.float32(1) / np.float32(512)
    with np.errstate(invalid="ignore"):
        expected = (array < -slack) | (array > 1 + slack)
    assert outside == (expected & ~bad).sum()


@pytest.mark.parametrize(
    ("view", "packed"),
    [
        (lambda a: a[::2, ::-1], lambda a: np.ascontiguousarray(a[::2, ::-1])),
        (lambda a: a.swapaxes(0, 1), lambda a: a.swapaxes(0, 1).copy()),
        (lambda a: np.broadcast_to(a[:1], a.shape), lambda a: np.repeat(a[:1], len(a), 0)),
        (lambda a: a[..., ::-1], lambda a: a[..., ::-1].copy()),
        (lambda a: np.asfortranarray(a), lambda a: a.copy()),
    ],
    ids=["sliced", "transposed", "broadcast", "channels-reversed", "fortran-order"],
)
def test_strided_views_read_as_their_packed_copies_and_stay_unchanged(view, packed):
    source = noise(64, 48)
    before = source.copy()
    strided, copy = view(source), packed(source)
    strided.flags.writeable = False
    assert strided.shape == copy.shape
    results = []
    for frame in (strided, copy):
        accumulator = _native.IntegrityAccumulator(rgb(*frame.shape[:2]))
        accumulator.push(0, (frame,))
        accumulator.push(1, (frame,), (frame,), align=True, change=True)
        results.append({name: values.tolist() for name, values in accumulator.series().items()})
    np.testing.assert_equal(*results)
    assert np.array_equal(source, before)


def test_unaligned_memory_is_refused():
    raw = np.zeros(2 * 16 * 16 + 1, np.uint8)
    frame = raw[1:].view(np.uint16).reshape(16, 16)
    format = _native.FrameFormat.grey(width=16, height=16, dtype="uint16", bit_depth=10)
    with pytest.raises(InputError, match="ascontiguousarray") as caught:
        _native.IntegrityAccumulator(format).push(0, (frame,))
    assert caught.value.code == "unaligned_plane"


def test_big_endian_samples_are_refused():
    frame = np.zeros((4, 4), ">u2")
    format = _native.FrameFormat.grey(width=4, height=4, dtype="uint16", bit_depth=10)
    with pytest.raises(InputError, match="native order"):
        _native.IntegrityAccumulator(format).push(0, (frame,))


@pytest.mark.parametrize(
    ("samples", "code"),
    [
        ({"dtype": "uint8", "bit_depth": 12}, "bad_bit_depth"),
        ({"dtype": "uint8", "value_range": (0.0, 1.0)}, "bad_value_range"),
        ({"dtype": "uint16"}, "bit_depth_missing"),
        ({"dtype": "uint16", "bit_depth": 17}, "bad_bit_depth"),
        ({"dtype": "float32", "bit_depth": 16}, "bad_bit_depth"),
        ({"dtype": "float32", "value_range": (-3e38, 3e38)}, "bad_value_range"),
        ({"dtype": "float64"}, "bad_dtype"),
    ],
)
def test_a_description_that_contradicts_itself_is_refused_by_code(samples, code):
    with pytest.raises(InputError) as caught:
        _native.FrameFormat.rgb(width=4, height=4, **samples)
    assert caught.value.code == code


def test_a_bit_depth_past_32_bits_is_refused():
    with pytest.raises(InputError) as caught:
        _native.FrameFormat.yuv(
            width=4,
            height=4,
            bit_depth=2**32 - 1,
            shift=1,
            kr=0.2126,
            kb=0.0722,
            limited=False,
            chroma_shift=(1, 1),
        )
    assert caught.value.code == "bad_bit_depth"


def test_a_pair_that_is_not_adjacent_is_refused_by_code():
    frame = noise(8, 8)
    accumulator = _native.IntegrityAccumulator(rgb(8, 8))
    accumulator.push(0, (frame,))
    with pytest.raises(InputError) as caught:
        accumulator.push(2, (frame,), (frame,))
    assert caught.value.code == "not_adjacent"


def test_an_unknown_dispatch_level_is_refused_with_those_that_exist():
    with pytest.raises(InputError, match="baseline"):
        _native.IntegrityAccumulator(rgb(8, 8), simd="mmx")


def facts(seed, threads=2):
    """Everything of a noisy pair that crosses the boundary, as bytes."""
    a, b = noise(530, 600, seed), noise(530, 600, seed + 1)
    accumulator = _native.IntegrityAccumulator(rgb(530, 600), threads=threads)
    accumulator.push(0, (a,), grid=True)
    accumulator.push(1, (b,), (a,), grid=True, align=True, change=True)
    columns = [column.tobytes() for column in accumulator.series().values()]
    return columns, accumulator.grid([0, 1])


def test_eight_threads_at_once_get_the_bits_of_one():
    expected = [facts(seed) for seed in range(8)]
    got = [None] * 8

    def work(seed):
        got[seed] = facts(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == expected


def test_one_accumulator_shared_by_eight_threads_loses_no_frame_and_waits_for_no_other():
    """Gradients are summed on the pool: a worker of one push must not wait for another push."""
    accumulator = _native.IntegrityAccumulator(rgb(768, 640), threads=2)
    frame = noise(768, 640)

    def push(first):
        for index in range(first, first + 16):
            accumulator.push(index, (frame,), grid=True)
            assert accumulator.frames >= 1

    threads = [
        threading.Thread(target=push, args=(16 * worker,), daemon=True) for worker in range(8)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(accumulator.series()["index"]) == list(range(128))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the address space: Linux")
def test_a_system_that_gives_no_threads_is_an_input_error():
    program = """
import resource
import numpy as np
from screentest import _native
from screentest.errors import InputError

format = _native.FrameFormat.grey(width=8, height=8, dtype="float32")
accumulator = _native.IntegrityAccumulator(format)
frame = np.zeros((8, 8), np.float32)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**20  # less than the stack of a thread
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    accumulator.push(0, (frame,))
except InputError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "no_threads\n", done.stderr


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on: threads exist
def test_a_forked_child_measures_after_its_parent_did():
    """A server that forks its workers: the child must not wait for threads it does not have."""
    expected = facts(0)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(facts(0)))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == expected
