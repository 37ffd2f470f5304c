"""Drawings of tracks: where they land, what their colours say; files are whole or absent."""

import dataclasses
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction

import av
import msgspec
import numpy as np
import pytest
from PIL import Image

from screentest.errors import InputError, MediaError, MissingBackendError
from screentest.media import open_clip
from screentest.metrics.signal import measure_signal
from screentest.metrics.tracks import Trajectories, measure_tracks
from screentest.reports import overlay
from screentest.reports.overlay import series as series_module
from screentest.reports.overlay import video as video_module
from screentest.reports.overlay.canvas import display_size
from screentest.reports.overlay.colours import coherence_colours
from screentest.reports.overlay.legend import STRIP
from screentest.reports.overlay.worst import held_still, worst_tracks

# Of 320x200 working pixels, drawn at 640x400 unless a test says otherwise.
WORKING = (320, 200)


def made(paths, coherence, lived=None):
    """Trajectories of tracks with these positions, ``(frames, tracks, 2)``."""
    positions = np.array(paths, np.float32)
    frames, count = positions.shape[:2]
    lived = np.full(count, frames) if lived is None else np.array(lived)
    positions[np.arange(frames)[:, None] >= lived] = np.nan
    values = np.array(coherence, np.float64)
    return Trajectories(
        start=0,
        positions=positions,
        alive_frames=lived.astype(np.int32),
        left_picture=np.zeros(len(lived), bool),
        coherence=values,
        jitter=np.where(np.isnan(values), np.nan, 0.1),
        rigidity=np.where(np.isnan(values), np.nan, 0.2),
    )


def moving(*starts, frames=12, step=(3.0, 1.0), **said):
    """Tracks that go straight on from these points."""
    way = np.arange(frames)[:, None, None] * np.array(step)
    return made(np.array(starts, np.float64)[None] + way, **said)


def grey(width=640, height=400, level=120):
    return np.full((height, width, 3), level, np.uint8)


def redness(picture):
    return picture[..., 0].astype(int) - picture[..., 2].astype(int)


@pytest.fixture(scope="module")
def odd(oracle_clip):
    """The clip of odd sides, opened at a rate of its own."""
    with open_clip(oracle_clip("odd_321x243"), frame_rate=12.5) as clip:
        yield clip


@pytest.fixture(scope="module")
def odd_facts(odd):
    return measure_tracks(odd, windows=2, trajectories=True)


class TestDrawTracks:
    @pytest.mark.parametrize(("width", "height"), [(640, 400), (960, 600), (320, 200), (500, 300)])
    def test_a_track_is_drawn_within_half_a_pixel_of_where_it_is(self, width, height):
        tracks = moving((101.3, 60.7), coherence=[0.0])
        drawn = overlay.draw_tracks(grey(width, height), tracks, 0, working_size=WORKING)
        ys, xs = np.nonzero(redness(drawn) > 60)
        # The middle of a working pixel is the middle of the pixels that it becomes.
        x, y = (101.3 + 0.5) * width / 320 - 0.5, (60.7 + 0.5) * height / 200 - 0.5
        assert abs(xs.mean() - x) < 0.4
        assert abs(ys.mean() - y) < 0.4

    def test_a_trail_passes_through_the_last_places_and_no_older_ones(self):
        tracks = moving((40.0, 50.0), frames=24, step=(9.0, 4.0), coherence=[0.0])
        drawn = overlay.draw_tracks(grey(), tracks, 20, working_size=WORKING, trail=6)
        warm = redness(drawn) > 25
        for frame in range(21):
            x, y = (40 + 9 * frame + 0.5) * 2 - 0.5, (50 + 4 * frame + 0.5) * 2 - 0.5
            around = warm[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2]
            assert around.any() == (frame >= 14), frame

    def test_a_steady_track_is_blue_and_a_warbling_one_orange_and_wider(self):
        tracks = moving((60.0, 60.0), (60.0, 120.0), coherence=[1.0, 0.0])
        drawn = redness(overlay.draw_tracks(grey(), tracks, 0, working_size=WORKING))
        assert drawn[121, 121] < -100
        assert drawn[241, 121] > 100
        assert np.count_nonzero(drawn > 60) > 1.2 * np.count_nonzero(drawn < -60)

    def test_a_track_that_will_be_lost_is_grey(self):
        tracks = moving((60.0, 60.0), coherence=[np.nan], lived=[5])
        drawn = overlay.draw_tracks(grey(level=60), tracks, 0, working_size=WORKING)
        assert drawn[121, 121].tolist() == [176, 176, 176]
        assert np.abs(redness(drawn)).max() < 10

    def test_a_lost_track_is_crossed_where_it_was_last_seen_and_for_a_while(self):
        tracks = moving((60.0, 60.0), coherence=[np.nan], lived=[3])
        ground = overlay.draw_tracks(
            grey(), moving((60.0, 60.0), coherence=[np.nan], lived=[1]), 11, working_size=WORKING
        )
        x, y = round((66 + 0.5) * 2 - 0.5), round((62 + 0.5) * 2 - 0.5)
        seen = {}
        for at in range(3, 12):
            drawn = overlay.draw_tracks(grey(), tracks, at, working_size=WORKING, marked=4)
            seen[at] = bool((drawn[y, x] > 180).all())
            changed = np.argwhere((drawn != ground).any(axis=2))
            assert (not len(changed)) or np.abs(changed - (y, x)).max() <= 7
        assert seen == {at: at <= 6 for at in range(3, 12)}

    def test_the_picture_below_is_dimmer_and_paler_and_else_as_it_was(self):
        picture = np.random.default_rng(3).integers(0, 256, (400, 640, 3)).astype(np.uint8)
        tracks = moving((160.0, 100.0), coherence=[1.0])
        drawn = overlay.draw_tracks(picture, tracks, 0, working_size=WORKING).astype(int)
        assert drawn.shape == picture.shape
        assert drawn.max(axis=2)[:150].max() <= 0.6 * 255 + 1
        assert np.ptp(drawn[:150], axis=2).mean() < 0.25 * np.ptp(picture[:150], axis=2).mean()
        before, after = picture[:150] @ (0.299, 0.587, 0.114), drawn[:150].mean(axis=2)
        assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.97

    def test_the_whole_way_is_drawn_over_the_first_frame(self):
        tracks = moving((40.0, 50.0), frames=24, step=(9.0, 4.0), coherence=[0.0])
        warm = redness(overlay.draw_paths(grey(), tracks, working_size=WORKING)) > 60
        for frame in range(24):
            x, y = (40 + 9 * frame + 0.5) * 2 - 0.5, (50 + 4 * frame + 0.5) * 2 - 0.5
            assert warm[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2].any(), frame

    @pytest.mark.parametrize("at", [-1, 12])
    def test_a_frame_outside_the_window_is_refused(self, at):
        tracks = moving((60.0, 60.0), coherence=[1.0])
        with pytest.raises(InputError, match="expected 0 to 11"):
            overlay.draw_tracks(grey(), tracks, at, working_size=WORKING)

    @pytest.mark.parametrize(
        "picture", [np.zeros((8, 8), np.uint8), np.zeros((8, 8, 3), np.float32)]
    )
    def test_what_is_no_rgb_picture_is_refused(self, picture):
        tracks = moving((60.0, 60.0), coherence=[1.0])
        with pytest.raises(InputError, match=r"expected \(H, W, 3\) and uint8"):
            overlay.draw_tracks(picture, tracks, 0, working_size=WORKING)


# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
DEFICIENCIES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


@pytest.mark.parametrize("kind", DEFICIENCIES)
def test_steady_and_warbling_are_told_apart_by_every_kind_of_eye(kind):
    ends = (coherence_colours(np.array([0.0, 1.0])) / 255.0) ** 2.2
    seen = np.clip(ends @ np.array(DEFICIENCIES[kind]).T, 0, 1) ** (1 / 2.2)
    assert np.linalg.norm(seen[0] - seen[1]) > 0.5


class TestVideo:
    def test_sizes_are_even_and_every_frame_of_each_window_is_there(self, odd, odd_facts, tmp_path):
        overlay.write_tracks_video(odd, odd_facts, tmp_path / "a.mp4")
        with av.open(str(tmp_path / "a.mp4")) as written:
            stream = written.streams.video[0]
            frames = list(written.decode(stream))
            # 321x243 is enlarged to 640 wide: 484.5 high, of which the nearest even number is 484.
            assert (stream.width, stream.height) == (640, 484 + STRIP)
            assert stream.average_rate == Fraction(25, 2)
            assert stream.pix_fmt == "yuv420p"
        # Windows of 24 of 26 frames, at either end.
        assert [(w.start, w.frames) for w in odd_facts.windows] == [(0, 24), (2, 24)]
        assert len(frames) == 48
        assert [frame.pts for frame in frames] == sorted({frame.pts for frame in frames})
        assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]

    def test_what_is_played_is_what_was_drawn(self, odd, odd_facts, tmp_path):
        overlay.write_tracks_video(odd, odd_facts, tmp_path / "a.mp4")
        size = display_size(odd.info)
        with av.open(str(tmp_path / "a.mp4")) as written:
            played = next(iter(written.decode(video=0)))
            assert (played.colorspace, played.color_range) == (1, 1)
            luma = played.to_ndarray()[: size[1]].astype(float)
        first = Image.fromarray(np.ascontiguousarray(odd.array[0])).resize(
            size, Image.Resampling.BICUBIC
        )
        drawn = overlay.draw_tracks(
            np.asarray(first), odd_facts.trajectories[0], 0,
            working_size=(odd_facts.working_width, odd_facts.working_height),
        )  # fmt: skip
        # BT.709 in limited range, as the file is tagged; BT.601 would put blue 3 levels lower.
        error = luma - (16 + drawn @ np.array([0.2126, 0.7152, 0.0722]) * 219 / 255)
        blue = redness(drawn) < -120
        assert blue.sum() > 500
        assert abs(error[blue].mean()) < 1.5
        assert abs(error.mean()) < 0.5
        assert np.abs(error).mean() < 3

    def test_a_tall_clip_stands_between_margins_wide_enough_for_the_legend(self, tmp_path):
        texture = np.random.default_rng(1).integers(0, 256, (40, 24, 3), np.uint8)
        still = np.repeat(np.kron(texture, np.ones((48, 20, 1), np.uint8))[None], 3, axis=0)
        with open_clip(still) as clip:
            facts = measure_tracks(clip, trajectories=True)
            overlay.write_tracks_video(clip, facts, tmp_path / "a.mp4")
        with av.open(str(tmp_path / "a.mp4")) as written:
            picture = next(iter(written.decode(video=0))).to_ndarray(format="rgb24")
            assert written.streams.video[0].average_rate == 25
        # 480x1920 goes to 270x1080.
        assert picture.shape == (1080 + STRIP, 640, 3)
        assert picture[:1080, :180].max() < 60
        assert picture[:1080, 190:450].max() > 100

    def test_pixels_that_are_not_square_are_drawn_square(self, odd):
        info = msgspec.structs.replace(odd.info, width=720, height=576, sample_aspect_ratio="64:45")
        assert display_size(info) == (1024, 576)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, MediaError("broken", code="x")])
    def test_an_interrupted_video_leaves_what_was_there(
        self, odd, odd_facts, tmp_path, monkeypatch, error
    ):
        drawn = []

        def fails(*arguments, **said):
            drawn.append(arguments)
            if len(drawn) == 9:
                raise error
            return overlay.draw_tracks(*arguments, **said)

        monkeypatch.setattr(video_module, "draw_tracks", fails)
        kept = tmp_path / "kept.mp4"
        kept.write_bytes(b"before")
        for path in (kept, tmp_path / "new.mp4"):
            drawn.clear()
            with pytest.raises((KeyboardInterrupt, MediaError)):
                overlay.write_tracks_video(odd, odd_facts, path)
        assert len(drawn) == 9
        assert [path.name for path in tmp_path.iterdir()] == ["kept.mp4"]
        assert kept.read_bytes() == b"before"

    def test_a_full_disk_is_an_error_of_the_system(self, odd, odd_facts):
        with pytest.raises(OSError, match="No space left"):
            overlay.write_tracks_video(odd, odd_facts, "/dev/full")

    def test_facts_without_trajectories_are_refused_before_a_file_is_opened(
        self, odd, odd_facts, tmp_path
    ):
        bare = msgspec.structs.replace(odd_facts, trajectories=None)
        for write in (overlay.write_tracks_video, overlay.write_tracks_png):
            with pytest.raises(InputError, match="trajectories=True"):
                write(odd, bare, tmp_path / "a.mp4")
        assert not list(tmp_path.iterdir())


class TestSheet:
    def test_a_warble_is_mostly_orange_and_a_pan_mostly_blue(self, oracle_clip):
        share = {}
        for name in ("pan", "warble"):
            with open_clip(oracle_clip(name)) as clip:
                facts = measure_tracks(clip, trajectories=True)
                # The tiles alone: the enlarged tracks below them keep their picture's colours.
                tiles = np.asarray(overlay.draw_sheet(clip, facts))[82:800]
            warm, cool = (redness(tiles) > 90).sum(), (redness(tiles) < -90).sum()
            share[name] = warm / (warm + cool)
        assert share["pan"] < 0.2
        assert share["warble"] > 0.9

    def test_it_holds_every_window_and_is_written_whole(self, odd, odd_facts, tmp_path):
        overlay.write_tracks_png(odd, odd_facts, tmp_path / "a.png")
        assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
        with Image.open(tmp_path / "a.png") as written:
            assert written.format == "PNG"
            one = written.size
        more = measure_tracks(odd, windows=3, trajectories=True)
        assert len(more.windows) == 3
        with_third = overlay.draw_sheet(odd, more)
        # Two side by side, the third in a row of its own.
        assert one[0] == with_third.size[0] == 1296
        assert with_third.size[1] > one[1] + 400

    def test_a_clip_without_a_corner_is_drawn_and_says_so(self):
        with open_clip(np.full((5, 64, 96, 3), 90, np.uint8)) as clip:
            facts = measure_tracks(clip, trajectories=True)
            sheet = overlay.draw_sheet(clip, facts)
        assert facts.track_stability is None
        # The head, a tile as high as may be, its caption, and no enlarged tracks below.
        assert sheet.size[1] == 82 + 560 + 6 + 2 * 20 + 12 + 16

    def test_the_worst_tracks_are_the_least_coherent_and_lie_apart(self):
        one = moving((60.0, 60.0), (62.0, 61.0), (200.0, 60.0), coherence=[0.1, 0.2, 0.9])
        two = moving((60.0, 60.0), (90.0, 150.0), coherence=[0.3, np.nan])
        # The windows begin at one frame, so the second's own first track is the first's again.
        assert worst_tracks([one, two]) == [(0, 0), (0, 2)]
        later = dataclasses.replace(two, start=12)
        assert worst_tracks([one, later]) == [(0, 0), (1, 0), (0, 2)]
        assert worst_tracks([one, later], most=1) == [(0, 0)]

    def test_a_track_is_held_still_by_its_neighbours_and_not_by_itself(self):
        tracks = moving(*[(20.0 * i, 40.0) for i in range(6)], step=(2.0, 1.0), coherence=[0.5] * 6)
        tracks.positions[3, 2] += 7
        centres = held_still(tracks, 2)
        expected = np.array([40.0, 40.0]) + np.arange(12)[:, None] * (2.0, 1.0)
        assert np.allclose(centres, expected)


def svg_of(path):
    return ET.fromstring(path.read_bytes())


def texts(root):
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


class TestSeries:
    @pytest.fixture
    def steps(self):
        """Grey frames at 10, 40, 50, 50 levels, half a second apart."""
        frames = np.repeat(np.array([10, 40, 50, 50], np.uint8), 24 * 32).reshape(4, 24, 32)
        return measure_signal(frames, layout="THW", frame_rate=2)

    def test_numbers_are_those_worked_out_by_hand(self, steps):
        panels = {panel.title.split(":")[0]: panel.lines[0][1] for panel in
                  series_module.panels(steps)}  # fmt: skip
        assert np.allclose(panels["luma, mean"], [10, 40, 50, 50])
        assert np.allclose(panels["motion"], [np.nan, 30, 10, 0], equal_nan=True)
        # |50 - 80 + 10| over half of 30 + 10; |50 - 100 + 40| over half of 10 + 0.
        assert np.allclose(panels["jerk"], [np.nan, np.nan, 1.0, 2.0], equal_nan=True)
        # No fine detail that could change: no ratio, so no panel.
        assert "shimmer" not in panels

    def test_living_tracks_are_the_share_of_those_begun(self, odd, odd_facts):
        shown = series_module.panels(measure_signal(odd), odd_facts)[-1]
        assert (shown.unit, len(shown.lines)) == ("%", 2)
        for (index, share), window in zip(shown.lines, odd_facts.windows, strict=True):
            assert index.tolist() == list(range(window.start, window.start + window.frames))
            assert share[0] == 100
            assert share[-1] == pytest.approx(100 * window.alive / window.seeded)

    def test_svg_is_well_formed_with_units_frames_and_seconds(self, steps, tmp_path):
        overlay.write_series(steps, None, tmp_path / "a.svg")
        words = texts(svg_of(tmp_path / "a.svg"))
        assert "motion: luma's mean change from the frame before (8-bit levels)" in words
        assert {"frame", "s", "3", "1.50"} <= set(words)
        assert f"motion_energy of the clip {steps.motion_energy:.4g} levels" in words

    def test_a_line_stands_at_its_frames_and_its_values(self, steps, tmp_path):
        overlay.write_series(steps, None, tmp_path / "a.svg")
        paths = [
            [tuple(map(float, point.split(","))) for point in path.get("d")[1:].split("L")]
            for path in svg_of(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}path")
            if path.get("stroke") == "#1b5eaa"
        ]
        luma, motion = paths[:2]
        # Columns of four frames over 904 units from 76 on.
        assert [x for x, _ in luma] == [76 + 904 * (i + 0.5) / 4 for i in range(4)]
        assert [x for x, _ in motion] == [76 + 904 * (i + 0.5) / 4 for i in range(1, 4)]
        # 30, 10 and 0 levels: down in proportion, and 0 on the panel's last line.
        drop = [y - motion[0][1] for _, y in motion]
        assert drop[1] == pytest.approx(drop[2] * 2 / 3, abs=0.02)

    def test_windows_are_shaded_in_every_panel(self, odd, odd_facts, tmp_path):
        signal = measure_signal(odd)
        overlay.write_series(signal, odd_facts, tmp_path / "a.svg")
        shades = [
            (float(r.get("x")), float(r.get("width")))
            for r in svg_of(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}rect")
            if r.get("fill-opacity") == "0.14"
        ]
        assert len(shades) == 2 * len(series_module.panels(signal, odd_facts)) == 12
        # Windows of 24 of 26 frames.
        assert shades[0] == (76.0, pytest.approx(904 * 24 / 26, abs=0.01))
        assert shades[1] == (pytest.approx(76 + 904 * 2 / 26, abs=0.01), shades[0][1])

    def test_of_more_frames_than_columns_the_range_is_shown(self, tmp_path):
        levels = np.zeros(4000, np.uint8)
        levels[1234] = 200
        frames = np.broadcast_to(levels[:, None, None], (4000, 8, 8))
        overlay.write_series(
            measure_signal(frames, layout="THW", features=False), None, tmp_path / "a.svg"
        )
        areas = [
            path.get("d")
            for path in svg_of(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}path")
            if path.get("fill-opacity")
        ]
        highest = [min(float(p.split(",")[1]) for p in d[1:-1].split("L")) for d in areas]
        # The one bright frame stands at 200 of 0 to 200 levels: at the top of the first panel.
        assert highest[0] == pytest.approx(64 + 26, abs=0.1)

    def test_a_hostile_name_is_shown_and_not_obeyed(self, steps, tmp_path):
        named = msgspec.structs.replace(
            steps, clip=msgspec.structs.replace(steps.clip, source="<b>&\x07\udcff.mp4")
        )
        overlay.write_series(named, None, tmp_path / "a.svg")
        assert r"<b>&\x07\xff.mp4" in texts(svg_of(tmp_path / "a.svg"))

    def test_png_shows_the_same_at_twice_the_size(self, steps, tmp_path):
        overlay.write_series(steps, None, tmp_path / "a.svg")
        overlay.write_series(steps, None, tmp_path / "a.PNG")
        root = svg_of(tmp_path / "a.svg")
        with Image.open(tmp_path / "a.PNG") as written:
            size = int(root.get("width")) * 2, int(root.get("height")) * 2
            assert (written.format, written.size) == ("PNG", size)
            blue = np.argwhere(redness(np.asarray(written.convert("RGB"))) < -100)
        # The first line's ends, as the other drawing has them.
        assert blue[:, 1].min() / 2 == pytest.approx(76 + 904 * 0.5 / 4, abs=1.5)
        assert blue[:, 1].max() / 2 == pytest.approx(76 + 904 * 3.5 / 4, abs=1.5)

    @pytest.mark.parametrize("name", ["a.gif", "a", "a.svg.txt"])
    def test_another_form_is_refused(self, steps, tmp_path, name):
        with pytest.raises(InputError, match=r"\.svg or \.png"):
            overlay.write_series(steps, None, tmp_path / name)
        assert not list(tmp_path.iterdir())


class TestWithoutPillow:
    @pytest.fixture(autouse=True)
    def _none(self, monkeypatch):
        for name in [name for name in sys.modules if name == "PIL" or name.startswith("PIL.")]:
            monkeypatch.setitem(sys.modules, name, None)

    def test_pictures_say_what_to_install(self, odd, odd_facts, tmp_path):
        tracks = moving((60.0, 60.0), coherence=[1.0])
        for draw in (
            overlay.require_pillow,
            lambda: overlay.draw_tracks(grey(), tracks, 0, working_size=WORKING),
            lambda: overlay.write_tracks_png(odd, odd_facts, tmp_path / "a.png"),
            lambda: overlay.write_tracks_video(odd, odd_facts, tmp_path / "a.mp4"),
            lambda: overlay.write_series(measure_signal(odd), None, tmp_path / "b.png"),
        ):
            with pytest.raises(MissingBackendError, match=r"screentest\[report\]") as caught:
                draw()
            assert caught.value.context["extra"] == "report"
        assert not list(tmp_path.iterdir())

    def test_series_are_drawn_as_svg(self, odd, odd_facts, tmp_path):
        overlay.write_series(measure_signal(odd), odd_facts, tmp_path / "a.svg")
        assert svg_of(tmp_path / "a.svg").tag.endswith("svg")
