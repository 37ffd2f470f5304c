"""Tracks in memory and of a file. Each case asserts its answer before it is timed."""

import functools

import numpy as np
import pytest
from cozy_eval.metrics import tracks

from benches import material
from screentest.media import open_clip
from screentest.metrics.tracks import measure_tracks

IN_MEMORY = "tracks: 132x720x1280 u8 rgb in memory, against the reference system"
FILE_720P = "tracks: 1280x720 h264 file, against reading the planes of its windows"


@pytest.fixture(scope="module")
def clip():
    import av

    with av.open(str(material.real_720p())) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


@pytest.fixture(scope="module")
def reference(clip):
    return tracks.track_stats(clip)


def assert_same_answer(facts, reference):
    assert facts.track_stability == pytest.approx(reference.track_stability, abs=0.004)
    assert facts.track_survival == pytest.approx(reference.track_survival, abs=0.004)
    assert facts.track_jitter == pytest.approx(reference.track_jitter, rel=0.015)
    assert facts.track_rigidity_error == pytest.approx(reference.track_rigidity_error, rel=0.03)
    assert facts.motion_magnitude == pytest.approx(reference.motion_magnitude, rel=0.005)


@pytest.mark.benchmark(group=IN_MEMORY)
def bench_in_memory_screentest(timed, clip, reference, threads):
    def measure():
        return measure_tracks(clip, threads=threads)

    assert_same_answer(measure(), reference)
    timed(measure, 20, against=lambda: tracks.track_stats(clip), turns=10)


@pytest.mark.benchmark(group=IN_MEMORY)
def bench_in_memory_cozy_eval(timed, clip, reference):
    assert reference.n_windows == 4
    timed(lambda: tracks.track_stats(clip), 10)


# -------------------------------------------------------------------------------------- files


def read_planes(path, wanted, threads):
    """The frames of the windows, decoded and let go: what no tracker of a file can undercut."""
    with open_clip(str(path), threads=threads) as clip:
        return sum(1 for _ in clip.frames_at(wanted))


@pytest.mark.benchmark(group=FILE_720P)
def bench_file_720p_screentest(timed, reference, threads):
    path = material.real_720p()
    facts = measure_tracks(str(path), threads=threads)
    assert facts.track_stability == pytest.approx(reference.track_stability, abs=0.004)
    wanted = [k for w in facts.windows for k in range(w.start, w.start + w.frames)]
    against = functools.partial(read_planes, path, wanted, threads)
    timed(lambda: measure_tracks(str(path), threads=threads), 15, against=against)


@pytest.mark.benchmark(group=FILE_720P)
def bench_file_720p_read_planes(timed, reference, threads):
    path = material.real_720p()
    wanted = [k for start in (0, 36, 72, 108) for k in range(start, start + 24)]
    assert read_planes(path, wanted, threads) == len(wanted) == 24 * reference.n_windows
    timed(lambda: read_planes(path, wanted, threads), 15)
