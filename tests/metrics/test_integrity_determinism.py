"""The same input gives the same bytes, whatever the threads and the instruction set."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import screentest
from screentest import _native, compute
from screentest.media.clip import Frame
from screentest.metrics.integrity import IntegrityAccumulator, measure_integrity

SCREEN = "import sys, screentest; sys.stdout.buffer.write(screentest.screen(sys.argv[1]).to_json())"


def screened_in_a_process(path, **environment):
    done = subprocess.run(
        [sys.executable, "-c", SCREEN, str(path)],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", ["bikes", "carphone_pristine"])
def test_every_dispatch_level_screens_a_file_to_the_same_bytes(name, real_clip):
    path = real_clip(name)
    expected = screentest.screen(path).to_json()
    assert "baseline" in _native.simd_levels()
    for level in _native.simd_levels():
        assert screened_in_a_process(path, **{compute.SIMD_VARIABLE: level}) == expected


@pytest.mark.parametrize("name", ["bigbuckbunny", "bikes"])
def test_one_two_and_eight_threads_screen_a_file_to_the_same_bytes(name, real_clip, monkeypatch):
    monkeypatch.setattr(compute, "usable_cpus", lambda: 8)
    one, two, eight = (screentest.screen(real_clip(name), threads=n).to_json() for n in (1, 2, 8))
    assert one == two == eight


@pytest.mark.parametrize("name", ["lattice16", "noise", "odd_321x243", "portrait_512x768"])
def test_one_two_and_eight_threads_measure_an_array_to_the_same_bits(
    name, oracle_clip, monkeypatch
):
    monkeypatch.setattr(compute, "usable_cpus", lambda: 8)
    clip = oracle_clip(name)
    one, two, eight = (measure_integrity(clip, threads=n) for n in (1, 2, 8))
    assert one == two == eight


def test_an_unknown_level_in_the_environment_is_one_line(real_clip):
    done = subprocess.run(
        [sys.executable, "-m", "screentest", "screen", str(real_clip("bikes"))],
        env={**os.environ, compute.SIMD_VARIABLE: "mmx"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "baseline" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def stream(clip, frames=None, indices=None):
    """The facts of an array pushed frame by frame."""
    format = _native.FrameFormat.rgb(width=clip.shape[2], height=clip.shape[1], dtype="uint8")
    accumulator = IntegrityAccumulator(format, frames=frames)
    for index in range(len(clip)) if indices is None else indices:
        accumulator.push(Frame(index, None, (clip[index],)))
    return accumulator


@pytest.mark.parametrize("name", ["pan", "hard_cut", "two_frames"])
def test_frames_pushed_one_by_one_give_the_facts_of_the_whole(name, oracle_clip):
    clip = oracle_clip(name)
    whole = measure_integrity(clip)
    pushed = stream(clip, frames=len(clip)).finish(whole.clip)
    assert pushed.series.corr.tobytes() == whole.series.corr.tobytes()
    assert (pushed.corr_series, pushed.grid_peak_ratio) == (
        whole.corr_series,
        whole.grid_peak_ratio,
    )


def test_without_a_length_the_sampled_pairs_are_near_those_of_the_definition(oracle_clip):
    clip = np.concatenate([oracle_clip("hard_cut")] * 4)
    info = measure_integrity(clip).clip
    facts = stream(clip).finish(info)
    ideal = _native.pair_starts(len(clip), _native.INTEGRITY_PAIRS)
    # 160 frames are thinned to every eighth: half of that away, and at the end less than all of it.
    assert len(facts.corr_starts) == 5
    assert max(abs(a - b) for a, b in zip(facts.corr_starts, ideal, strict=True)) < 8
    short = stream(clip[:20]).finish(info)
    assert list(short.corr_starts) == _native.pair_starts(20, _native.INTEGRITY_PAIRS)


def test_a_gap_in_the_frames_is_compared_with_nothing(oracle_clip):
    clip = oracle_clip("pan")
    info = measure_integrity(clip).clip
    facts = stream(clip, frames=len(clip), indices=[0, 1, 4, 5]).finish(info)
    assert np.isnan(facts.series.corr).tolist() == [True, False, True, False]
    assert facts.corr_starts == (0,)


def test_a_buffer_that_is_overwritten_is_copied_once_that_shows(oracle_clip):
    clip = oracle_clip("pan")
    info = measure_integrity(clip).clip
    format = _native.FrameFormat.rgb(width=512, height=288, dtype="uint8")
    accumulator = IntegrityAccumulator(format, frames=len(clip), reused_buffers=True)
    buffer = np.empty_like(clip[0])
    for index, frame in enumerate(clip):
        np.copyto(buffer, frame)
        accumulator.push(Frame(index, None, (buffer,)))
    reused = accumulator.finish(info).series
    whole = measure_integrity(clip).series
    assert reused.change.tolist()[1:] == whole.change.tolist()[1:]
    assert reused.corr.tolist()[1:] == whole.corr.tolist()[1:]
    assert np.isnan(reused.change[0])


def test_the_record_is_valid_json_without_nan(oracle_clip):
    text = screentest.screen(oracle_clip("two_frames")).to_json().decode()
    assert "NaN" not in text
    assert json.loads(text)["facts"]["grid_peak_ratio"] is None
