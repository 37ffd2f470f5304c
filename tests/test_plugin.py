"""The pytest plugin: a clip that does not pass fails the test, with its defects as the text."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from screentest.pytest_plugin import assert_screens as function
from screentest.screening import Screening

NOISE = np.random.default_rng(3).integers(0, 256, (8, 96, 128, 3), np.uint8)

WIDE = np.random.default_rng(4).integers(0, 256, (24, 40, 3), np.uint8).repeat(8, 0).repeat(8, 1)

MOVING = np.stack([WIDE[:, t : t + 256] for t in range(8)])


INSTALLED = any(
    point.value == "screentest.pytest_plugin"
    for point in importlib.metadata.entry_points(group="pytest11")
)


def test_a_clip_that_passes_returns_its_screening() -> None:
    result = function(MOVING)
    assert isinstance(result, Screening)
    assert result.passed


def test_a_reject_fails_with_every_defect_in_the_text() -> None:
    with pytest.raises(AssertionError) as failure:
        function(NOISE, spec={"frames": 9, "width": 129})
    text = str(failure.value)
    assert text.startswith("reject: ")
    assert "reject noise: " in text
    assert "reject spec_frames: the clip has 8 frames; 9 were ordered" in text
    assert "reject spec_size: " in text


def test_a_clip_that_could_not_be_measured_fails_and_says_why() -> None:
    with pytest.raises(AssertionError) as failure:
        function(MOVING, require=["grid"])
    assert str(failure.value).startswith("unmeasured: ")
    assert "not measured, grid: " in str(failure.value)


def test_options_reach_the_screen(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "none"\nseverities.noise = "warn"')
    assert function(NOISE, policy=policy, frame_rate=24, depth="sampled").depth == "sampled"


def test_a_flicker_that_a_policy_rejects_fails_with_its_place(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "strict"\nseverities.flicker = "reject"')
    wide = np.concatenate([WIDE, WIDE], axis=1)
    frames = np.stack([wide[:, t : t + 256] // 2 + 8 * (t % 2) for t in range(24)])
    assert not function(frames).defects
    assert function(frames, temporal=True).passed
    with pytest.raises(AssertionError, match=r"reject flicker: .* every 2 frames: frames 1 to 22"):
        function(frames, temporal=True, temporal_policy=policy)


def test_a_test_that_uses_the_fixture_fails_with_the_defect(tmp_path: Path) -> None:
    (tmp_path / "test_clip.py").write_text(
        "import numpy as np\n"
        "def test_black(assert_screens):\n"
        "    assert_screens(np.zeros((4, 96, 128, 3), np.uint8))\n"
    )
    named = [] if INSTALLED else ["-p", "screentest.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *named, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the clip is blank: 4 of 4 frames are flat black" in done.stdout


def test_the_fixture_is_the_function(request: pytest.FixtureRequest) -> None:
    if not INSTALLED:
        pytest.skip("the plugin comes with the installed package: pip install .")
    assert request.getfixturevalue("assert_screens") is function


def test_loading_the_plugin_imports_neither_numpy_nor_the_decoder() -> None:
    code = (
        "import sys, screentest.pytest_plugin\n"
        "heavy = {'numpy', 'av', 'msgspec', 'rich', 'typer', 'screentest._native'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
