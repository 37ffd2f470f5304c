"""Many made clips: what is shared is read right, what is not is not read at all."""

import msgspec
import numpy as np
import pytest

from screentest import _native
from screentest.metrics.sync import measure_sync
from tests.metrics.claps import claps, flashes, irregular

RATE = 48_000


def made(seed):
    """A clip with a few flashes, the time of each, and a random stream to go on with."""
    random = np.random.default_rng(seed)
    frame_rate, seconds = float(random.choice([24, 25, 30])), float(random.uniform(3, 8))
    times = irregular(seed, int(random.integers(2, 7)), seconds, apart=0.2)
    frames = np.round(times * frame_rate).astype(int)
    return flashes(frame_rate, seconds, frames), frames / frame_rate, frame_rate, seconds, random


def offset(clip, sound, frame_rate):
    facts = measure_sync(clip, sound, frame_rate=frame_rate, sample_rate=RATE)
    return facts.av_sync_offset_ms


@pytest.mark.parametrize("kind", ["click", "clap", "burst"])
def test_shared_events_are_read_within_a_hop_in_each_of_40_clips(kind):
    for seed in range(40):
        clip, times, frame_rate, seconds, random = made(seed)
        late_s = float(random.uniform(-0.35, 0.35))
        sound = claps(RATE, seconds, times + late_s, kind=kind, seed=seed)
        sound += random.normal(0, 1e-4, len(sound)).astype(np.float32)
        assert offset(clip, sound, frame_rate) == pytest.approx(1e3 * late_s, abs=5), seed


def test_shared_events_in_a_noise_30_db_below_them_are_read():
    for seed in range(20):
        clip, times, frame_rate, seconds, random = made(seed)
        sound = claps(RATE, seconds, times + 0.1, kind="clap", seed=seed)
        sound += random.normal(0, 0.015, len(sound)).astype(np.float32)
        assert offset(clip, sound, frame_rate) == pytest.approx(100, abs=8), seed


def test_half_of_the_sounds_and_pictures_may_be_without_a_partner():
    measured = []
    for seed in range(30):
        clip, times, frame_rate, seconds, random = made(seed)
        others = random.uniform(0.3, seconds - 0.3, len(times) // 2)
        sound = claps(RATE, seconds, [*times + 0.1, *others], kind="clap", seed=seed)
        measured.append(offset(clip, sound, frame_rate))
    read = [ms for ms in measured if ms is not None]
    assert read == pytest.approx([100] * len(read), abs=12)
    assert len(read) >= 24


@pytest.mark.parametrize("ambience", ["noise", "wind", "rustle"])
def test_ambience_is_never_measured_over_50_seeds(ambience):
    for seed in range(50):
        clip, _, frame_rate, seconds, random = made(seed)
        sound = random.normal(0, 0.1, round(seconds * RATE))
        if ambience != "noise":
            per_second = 6 if ambience == "wind" else 15
            knots = random.uniform(0, 1, round(seconds * per_second))
            at = np.linspace(0, len(knots) - 1, len(sound))
            sound *= np.interp(at, np.arange(len(knots)), knots)
        assert offset(clip, sound.astype(np.float32), frame_rate) is None, seed


def test_of_200_clips_with_events_that_are_not_shared_no_more_than_4_are_measured():
    wrong = 0
    for seed in range(200):
        clip, _, frame_rate, seconds, random = made(seed)
        times = irregular(seed + 10_000, int(random.integers(2, 7)), seconds, apart=0.2)
        sound = claps(RATE, seconds, times, kind="clap", seed=seed)
        wrong += offset(clip, sound, frame_rate) is not None
    assert wrong <= 4


def test_threads_and_dispatch_levels_change_no_bit(monkeypatch):
    clip, times, frame_rate, seconds, random = made(7)
    noise = random.normal(0, 0.02, (round(seconds * RATE), 2))
    sound = (claps(RATE, seconds, times + 0.1)[:, None] + noise).astype(np.float32)
    found = set()
    for level in _native.simd_levels():
        monkeypatch.setenv("SCREENTEST_SIMD", level)
        for threads in (1, 2):
            facts = measure_sync(
                clip, sound, frame_rate=frame_rate, sample_rate=RATE, threads=threads
            )
            found.add(msgspec.json.encode(facts))
    assert len(found) == 1
