"""Sync of flashes and clicks against the reference system's banked values."""

import hashlib
import json
from pathlib import Path

import pytest

from screentest.metrics.sync import measure_sync
from tests.oracles import clips, sounds

ORACLE = json.loads((Path(clips.__file__).parent / "sync.json").read_text())["pairs"]
HOP_MS = 5.0


def pair(name):
    frames, fps, samples, rate = sounds.av(name)
    banked = ORACLE[name]
    for array, key in ((frames, "frames_sha256"), (samples, "samples_sha256")):
        assert hashlib.sha256(array.tobytes()).hexdigest() == banked[key]
    return measure_sync(frames, samples, frame_rate=fps, sample_rate=rate), banked


@pytest.mark.parametrize(
    ("name", "truth_ms"),
    [("sync", 0.0), ("late_80ms", 80.0), ("early_120ms", -120.0), ("late_250ms", 250.0)],
)
def test_a_shift_is_read_within_a_hop_of_the_truth_and_of_the_reference(name, truth_ms):
    facts, banked = pair(name)
    assert facts.av_sync_offset_ms == pytest.approx(truth_ms, abs=HOP_MS)
    assert facts.av_sync_offset_ms == pytest.approx(banked["offset_ms"], abs=HOP_MS)
    assert facts.interval_ms[0] <= truth_ms <= facts.interval_ms[1]
    assert facts.picture_onsets == facts.sound_onsets == len(facts.events) == len(sounds.EVENTS)
    assert facts.av_sync_confidence > 0.6
    assert facts.prominence > 4.5
    assert facts.unmeasured == ()


def test_events_between_frames_read_early_and_the_interval_holds_the_truth():
    # At 25 fps the pictures come 20, 0, 25, 35, 20 and 30 ms after the sounds: 21.7 on average.
    facts, banked = pair("sync_25fps_32k")
    assert banked["offset_ms"] == -25.0
    assert facts.av_sync_offset_ms == pytest.approx(-21.7, abs=HOP_MS)
    late = [1e3 * (event.sound_s - event.picture_s) for event in facts.events]
    assert late == pytest.approx([-20, 0, -25, -35, -20, -30], abs=HOP_MS)
    assert facts.interval_ms[0] < -25.0 < 0.0 < facts.interval_ms[1]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tone", "no sudden sounds"),
        ("unrelated", "no sudden sounds"),
        ("silence", "silent"),
        ("static_shot", "no changes in the picture"),
        ("too_short", "too short"),
    ],
)
def test_what_the_reference_does_not_measure_is_unmeasured_for_its_own_reason(name, why):
    facts, banked = pair(name)
    assert not banked["measured"]
    assert facts.av_sync_offset_ms is None
    assert facts.interval_ms is None
    assert facts.events == ()
    assert facts.unmeasured[0].axis == "av_sync_offset_ms"
    assert facts.unmeasured[0].reason.startswith(why)
