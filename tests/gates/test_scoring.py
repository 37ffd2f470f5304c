"""Clips of an arm, measured once: the numbers are those of each family run alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from screentest import _native
from screentest.errors import InputError, MediaError
from screentest.gates import scoring
from screentest.gates.scoring import score_arm, score_pairs
from screentest.media.content import digest_path
from screentest.metrics.integrity import measure_integrity
from screentest.metrics.signal import measure_signal
from screentest.metrics.signal.clip_score import ClipScore
from screentest.metrics.tracks import measure_tracks
from tests import arms


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two clips of each arm."""
    root = tmp_path_factory.mktemp("arms")
    reference = arms.write_arm(root / "reference", prompts=2)
    candidate = arms.write_arm(root / "candidate", arms.blurred, prompts=2)
    return sorted(reference.iterdir()), sorted(candidate.iterdir())


def test_each_clip_reads_as_each_family_reads_it_alone(pair):
    for sources, arm in zip(pair, zip(*score_pairs(*pair), strict=True), strict=True):
        for source, clip in zip(sources, arm, strict=True):
            assert clip.source == source.name
            assert clip.content == digest_path(source)
            assert clip.score == ClipScore.of(measure_signal(source))
            tracks = measure_tracks(source)
            assert clip.track_stability == tracks.track_stability is not None
            assert clip.stability_inside == tracks.stability_inside
            assert clip.corners == sum(window.seeded for window in tracks.windows) > 0
            assert clip.grid_peak_ratio == measure_integrity(source).grid_peak_ratio


def test_a_lattice_is_read_of_a_clip_that_is_large_enough():
    clip = np.random.default_rng(3).integers(0, 256, (3, 96, 512, 3), np.uint8)
    [scored] = score_arm([clip])
    assert scored.grid_peak_ratio == measure_integrity(clip).grid_peak_ratio is not None


def test_each_clip_is_decoded_once(pair, monkeypatch):
    opened = []

    def spy(source, **options):
        opened.append(source)
        return open_clip(source, **options)

    open_clip = scoring.open_clip
    monkeypatch.setattr(scoring, "open_clip", spy)
    score_pairs(*pair, threads=1)
    assert opened == [*pair[0], *pair[1]]


def test_any_number_of_threads_gives_the_same_records(pair):
    sources = [*pair[0], *pair[1]]
    alone = score_arm(sources, threads=1)
    for threads in (2, 4):
        for one, other in zip(alone, score_arm(sources, threads=threads), strict=True):
            assert one.score == other.score
            assert one.track_stability == other.track_stability


def test_a_dispatch_level_changes_no_bit(pair):
    code = (
        "import sys, hashlib; from screentest.gates.scoring import score_arm\n"
        "for clip in score_arm(sys.argv[1:]):\n"
        "    print(hashlib.sha256(clip.score.features.tobytes()).hexdigest(), clip.score.metrics(),"
        " clip.corners, clip.track_stability, clip.stability_inside)"
    )
    levels = [
        subprocess.run(
            [sys.executable, "-c", code, *map(str, pair[1])],
            env={**os.environ, **({"SCREENTEST_SIMD": level} if level else {})},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for level in (None, "baseline")
    ]
    assert levels[0] == levels[1] != ""


def test_a_still_is_one_frame_without_tracks(tmp_path):
    Image.fromarray(arms.pan(0, 1)[0]).save(tmp_path / "still.png")
    [clip] = score_arm([tmp_path / "still.png"])
    assert (clip.score.n_frames, clip.tracks_seen, clip.corners) == (1, False, None)
    assert clip.track_stability is None


def test_two_frames_are_too_short_for_tracks_and_keep_their_score():
    [clip] = score_arm([arms.pan(0, 2)])
    assert (clip.score.n_frames, clip.tracks_seen, clip.corners) == (2, True, None)


def test_a_flat_clip_has_no_corners_and_is_degenerate():
    [clip] = score_arm([np.full((6, 48, 64, 3), 90, np.uint8)])
    assert (clip.corners, clip.track_stability, clip.score.is_degenerate) == (0, None, True)


def test_a_window_with_too_few_corners_counts_none():
    """The tracks family takes no number from a window below its least."""
    dot = np.full((6, 96, 128, 3), 90, np.uint8)
    dot[:, 40:50, 60:70] = 200
    seeded = [window.seeded for window in measure_tracks(dot).windows]
    assert 0 < max(seeded) < _native.TRACK_LEAST_TRACKS
    assert score_arm([dot])[0].corners == 0


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_a_truncated_file_is_refused_by_name(pair, tmp_path, share):
    cut = tmp_path / "cut.mp4"
    data = pair[0][1].read_bytes()
    cut.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(MediaError, match=r"cut\.mp4"):
        score_arm([pair[0][0], cut])


def test_a_pixel_that_is_nan_is_refused_with_its_frame():
    clip = arms.pan(0, 4).astype(np.float32) / 255
    clip[2, 10, 11, 0] = np.nan
    with pytest.raises(MediaError, match="frame 2") as refused:
        score_arm([clip])
    assert refused.value.code == "non_finite"


def test_transparent_pictures_are_refused_until_it_is_said_how_to_show_them(tmp_path):
    picture = np.dstack([arms.pan(0, 1)[0], np.full((arms.HEIGHT, arms.WIDTH), 40, np.uint8)])
    Image.fromarray(picture).save(tmp_path / "seen_through.png")
    with pytest.raises(MediaError, match=r"seen_through\.png: its pictures are transparent"):
        score_arm([tmp_path / "seen_through.png"])
    [clip] = score_arm([tmp_path / "seen_through.png"], alpha="drop")
    assert clip.score.n_frames == 1


def test_a_file_that_changes_while_it_is_read_is_refused(pair, tmp_path, monkeypatch):
    growing = tmp_path / "growing.mp4"
    growing.write_bytes(pair[0][0].read_bytes())

    def slow(*arguments):
        growing.write_bytes(pair[0][1].read_bytes())
        return run(*arguments)

    run = scoring.run
    monkeypatch.setattr(scoring, "run", slow)
    with pytest.raises(MediaError, match=r"growing\.mp4: changed while it was read"):
        score_arm([growing])


def test_a_missing_file_stays_file_not_found(pair, tmp_path):
    with pytest.raises(FileNotFoundError):
        score_arm([pair[0][0], tmp_path / "nothing.mp4"])


def test_arms_of_different_length_are_refused(pair):
    with pytest.raises(InputError, match="2 references and 1 candidates"):
        score_pairs(pair[0], pair[1][:1])


def test_one_path_where_a_list_was_meant_is_refused(pair):
    with pytest.raises(InputError, match="a list of sources was expected"):
        score_arm(pair[0][0])


def test_known_content_is_not_decoded_again(pair, tmp_path, monkeypatch):
    Image.fromarray(arms.pan(0, 1)[0]).save(tmp_path / "still.png")
    sources = [*pair[0], tmp_path / "still.png"]
    first = score_arm(sources, cache=tmp_path / "facts")
    monkeypatch.setattr(scoring, "open_clip", None)
    again = score_arm(sources, cache=tmp_path / "facts")
    for one, other in zip(first, again, strict=True):
        assert one.score == other.score
        assert (one.corners, one.track_stability) == (other.corners, other.track_stability)
        assert (one.source, one.content, one.tracks_seen) == (
            other.source,
            other.content,
            other.tracks_seen,
        )
