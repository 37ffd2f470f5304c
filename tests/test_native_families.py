"""The boundary of the signal, track and detail kernels: any planes, any strides, any thread."""

import multiprocessing
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest import _native
from screentest.errors import InputError
from tests.oracles import clips
from tests.test_native import DTYPES, described, rgb, strided, views

HEIGHT, WIDTH = 60, 84


def signal(format, frames, threads=1):
    accumulator = _native.SignalAccumulator(format, threads=threads)
    for i in range(0, len(frames), 2):
        accumulator.push_many(frames[i : i + 2])
    assert accumulator.frames == len(frames)
    return accumulator.series()


def tracks(format, frames, threads=1):
    accumulator = _native.TrackAccumulator(format, frames=len(frames), threads=threads)
    for i in range(0, len(frames), 2):
        accumulator.push_many([(i + k, planes) for k, planes in enumerate(frames[i : i + 2])])
    return accumulator.finish(trajectories=True)


def detail(format, frames, threads=1):
    kernel = _native.DetailKernel(format, threads=threads)
    return [kernel.measure(planes) for planes in frames]


FAMILIES = (signal, tracks, detail)


def as_bytes(found):
    """The same with the bits of every array, in which a NaN equals itself."""
    if isinstance(found, dict):
        return {name: as_bytes(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [as_bytes(value) for value in found]
    return found.tobytes() if isinstance(found, np.ndarray) else repr(found)


def moving(seed):
    return [(frame,) for frame in clips.pan(5, HEIGHT, WIDTH, seed, vx=384, vy=-200)]


def everything(seed, threads):
    frames = moving(seed)
    return [as_bytes(family(rgb(HEIGHT, WIDTH), frames, threads)) for family in FAMILIES]


@given(
    planes=st.lists(views(), min_size=0, max_size=4),
    width=st.integers(1, 33),
    height=st.integers(1, 33),
    dtype=st.sampled_from(DTYPES[:4]),
    grey=st.booleans(),
)
def test_any_planes_are_measured_or_refused(planes, width, height, dtype, grey):
    format = described(width, height, dtype, grey)
    codes = []
    for family in FAMILIES:
        try:
            assert len(family(format, [planes] * 3))
        except InputError as error:
            codes.append(error.code)
    assert "bad_input" not in codes, "a refusal has a code of its own"


@given(
    data=st.data(),
    width=st.integers(1, 33),
    height=st.integers(1, 33),
    dtype=st.sampled_from(("uint8", "uint16", "float16", "float32")),
    layout=st.sampled_from(("packed", "planar", "grey")),
)
def test_planes_with_any_strides_read_as_their_packed_copies(data, width, height, dtype, layout):
    shape = (height, width, 3) if layout == "packed" else (height, width)
    planes = [data.draw(strided(dtype, shape)) for _ in range(3 if layout == "planar" else 1)]
    for plane in planes:
        if dtype == "uint16":
            plane &= 0xFFF
        elif dtype != "uint8":
            plane[...] = np.nan_to_num(plane, nan=0.5, posinf=1, neginf=0).clip(0, 1)
    format = described(width, height, dtype, layout == "grey")
    packed = [np.ascontiguousarray(plane) for plane in planes]
    for family in FAMILIES:
        assert as_bytes(family(format, [planes] * 3)) == as_bytes(family(format, [packed] * 3))


def test_a_clip_whose_frames_change_element_type_and_layout_reads_as_one_of_them():
    frames = moving(3)
    mixed = [
        (frames[0][0].astype(np.uint16),),
        tuple(np.ascontiguousarray(frames[1][0][..., c]) for c in range(3)),
        *frames[2:],
    ]
    for family in (signal, tracks):
        format = rgb(HEIGHT, WIDTH)
        assert as_bytes(family(format, mixed)) == as_bytes(family(format, frames))


def test_a_refused_batch_keeps_nothing_and_the_next_is_measured():
    format = _native.FrameFormat.rgb(width=WIDTH, height=HEIGHT, dtype="float32")
    frames = [(planes[0].astype(np.float32) / 255,) for planes in moving(2)]
    accumulator = _native.SignalAccumulator(format)
    accumulator.push_many(frames[:2])
    for value, code in ((np.nan, "non_finite"), (-np.inf, "non_finite"), (2.0, "out_of_range")):
        bad = frames[3][0].copy()
        bad[7, 9, 1] = value
        with pytest.raises(InputError, match="frame 3 holds") as caught:
            accumulator.push_many([frames[2], (bad,)])
        assert caught.value.code == code
        assert accumulator.frames == 2
    accumulator.push_many(frames[2:])
    assert as_bytes(accumulator.series()) == as_bytes(signal(format, frames))


def test_eight_threads_at_once_get_the_bits_of_one():
    expected = [everything(seed, 1) for seed in range(8)]
    got = [None] * 8

    def work(seed):
        got[seed] = everything(seed, (1, 2, 8)[seed % 3])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == expected


def test_accumulators_shared_by_eight_threads_lose_no_frame_and_wait_for_no_other():
    """Kernels work on the pool: a worker of one push must not wait for another push."""
    frames = moving(1)
    accumulator = _native.SignalAccumulator(rgb(HEIGHT, WIDTH), threads=2)
    follower = _native.TrackAccumulator(rgb(HEIGHT, WIDTH), frames=len(frames), threads=2)
    kernel = _native.DetailKernel(rgb(HEIGHT, WIDTH), threads=2)
    expected = as_bytes(kernel.measure(frames[0]))
    refused, differing = [], []

    def push():
        for index, planes in enumerate(frames):
            accumulator.push_many([planes])
            assert accumulator.frames >= 1
            try:
                follower.push_many([(index, planes)])
            except InputError as error:
                refused.append(error.code)
            if as_bytes(kernel.measure(frames[0])) != expected:
                differing.append(index)

    threads = [threading.Thread(target=push, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads)
    assert accumulator.frames == 8 * len(frames)
    # A frame that another thread was first with is refused, and changes nothing.
    assert set(refused) == {"not_adjacent"}
    assert not differing
    assert as_bytes(follower.finish(trajectories=True)) == as_bytes(
        tracks(rgb(HEIGHT, WIDTH), frames)
    )


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on: threads exist
def test_a_forked_child_measures_after_its_parent_did():
    """A server that forks its workers: the child must not wait for threads it does not have."""
    expected = everything(0, 2)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(everything(0, 2) == expected))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get()
