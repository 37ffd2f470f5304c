"""Charts and pictures, against the numbers and pixels that they are made from."""

import base64
import io
import json
import re

import numpy as np
import pytest

from screentest.reports.html.charts import HIGH, WIDE, histogram, series_chart
from screentest.reports.html.filmstrip import frame_panels
from screentest.reports.html.images import indexed_png_url, jpeg_url, png_url, reduced, reduced_map
from screentest.reports.html.text import number, ranges, tick_labels
from tests.reports.pages import picture, worst_frame


def points(path):
    return np.array([[float(v) for v in p] for p in re.findall(r"[ML]([\d.]+),([\d.]+)", path)])


def test_the_line_is_the_values_on_the_scale_that_the_ticks_state():
    values = np.array([30.0, 42.0, 35.0, 38.5])
    chart = series_chart("psnr", "dB", np.arange(4), values)
    top, bottom = float(chart.ticks[0]), float(chart.ticks[-1])
    at = points(chart.line)
    assert at[:, 0] == pytest.approx((np.arange(4) + 0.5) * WIDE / 4)
    assert top - at[:, 1] / HIGH * (top - bottom) == pytest.approx(values, abs=0.02)
    assert chart.worst == f"M{WIDE / 8:.1f},{at[0, 1]:.1f}h0"
    assert json.loads(chart.data)["v"] == ["30.00", "42.00", "35.00", "38.50"]


def test_identical_frames_are_a_block_and_missing_ones_a_gap():
    values = np.array([30.0, np.inf, np.inf, np.nan, 40.0])
    chart = series_chart("psnr", "dB", np.arange(5), values)
    assert chart.identical == f"M{WIDE / 5:.1f},0H{3 * WIDE / 5:.1f}V{HIGH}H{WIDE / 5:.1f}z"
    assert chart.line.count("M") == 2
    assert json.loads(chart.data)["v"] == ["30.00", "identical", "identical", None, "40.00"]


def test_a_single_bad_frame_among_100000_is_in_the_band_and_marked():
    values = np.full(100_000, 41.0)
    values[54_321] = 12.0
    chart = series_chart("psnr", "dB", np.arange(100_000), values)
    assert len(chart.line) + len(chart.band) + len(chart.data) < 60_000
    top, bottom = float(chart.ticks[0]), float(chart.ticks[-1])
    lowest = points(chart.band)[:, 1].max()
    assert top - lowest / HIGH * (top - bottom) == pytest.approx(12.0, abs=0.05)
    assert "worst at frame 54321" in chart.summary


def test_the_worst_of_a_distance_is_its_largest():
    chart = series_chart("lpips", "", np.arange(3), np.array([0.1, 0.5, 0.2]), direction="down")
    assert "worst at frame 1" in chart.summary


def test_no_number_is_no_chart():
    assert series_chart("psnr", "dB", np.arange(2), np.array([np.nan, np.nan])) is None
    assert series_chart("psnr", "dB", np.arange(0), np.array([])) is None
    assert series_chart("psnr", "dB", np.arange(2), np.array([np.inf, np.inf])) is not None


@pytest.mark.parametrize("values", [[0.5, 0.5], [1e-9, 2e-9], [-3.0, 1e7], [0.99, 1.0]])
def test_every_value_is_between_the_outer_ticks(values):
    chart = series_chart("x", "", np.arange(2), np.array(values))
    y = points(chart.line)[:, 1]
    assert ((y >= 0) & (y <= HIGH)).all()
    assert len(set(chart.ticks)) == len(chart.ticks) == 5


def test_a_score_up_to_1_has_no_tick_above_it():
    chart = series_chart("ssim", "", np.arange(2), np.array([0.972, 0.9999]))
    assert float(chart.ticks[0]) == 1.0


def test_histogram_bars_count_every_sample():
    values = np.random.default_rng(1).normal(30, 2, 500)
    chart = histogram(values, "dB", float(values.mean()), [29.9, 30.1])
    heights = [float(h) for h in re.findall(r"v-([\d.]+)h", chart.bars)]
    assert sum(round(h * chart.most / HIGH) for h in heights) == 500
    assert histogram([3.0], "dB", 3.0, None) is None
    assert histogram([3.0, 3.0], "dB", 3.0, None).most == 2


def decoded(url, mode=None):
    image = pytest.importorskip("PIL.Image", reason="pip install pillow")
    kind, data = url.split(",", 1)
    assert kind in ("data:image/png;base64", "data:image/jpeg;base64")
    opened = image.open(io.BytesIO(base64.b64decode(data)))
    return np.asarray(opened.convert(mode) if mode else opened)


@pytest.mark.parametrize("shape", [(241, 321, 3), (1, 1, 3), (17, 5, 3), (64, 64)])
def test_png_is_lossless(shape):
    rgb = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert (decoded(png_url(rgb)) == rgb).all()


def test_an_indexed_png_has_the_colours_of_its_table():
    indices = np.random.default_rng(0).integers(0, 64, (37, 51), dtype=np.uint8)
    colours = np.random.default_rng(1).integers(0, 256, (64, 3), dtype=np.uint8)
    assert (decoded(indexed_png_url(indices, colours), "RGB") == colours[indices]).all()


def test_jpeg_is_near_in_every_channel():
    rgb = picture(241, 321)
    error = np.abs(decoded(jpeg_url(rgb)).astype(int) - rgb)
    assert error.mean() < 2
    assert error.max() < 24


def test_a_picture_is_reduced_by_areas_and_a_map_by_its_largest():
    rgb = picture(400, 1200)
    small = reduced(rgb, 600)
    assert small.shape == (200, 600, 3)
    means = rgb.reshape(200, 2, 600, 2, 3).mean(axis=(1, 3))
    assert np.abs(small - means).max() < 2
    assert reduced(rgb, 1200) is rgb
    error = np.zeros((1080, 1920), np.float32)
    error[511, 777] = 1.0
    assert reduced_map(error, 640).max() == 1.0


def test_the_detail_has_the_fault_in_its_middle_and_its_own_pixels():
    frame = worst_frame(height=272, width=640)
    (panel,) = frame_panels([frame])
    detail = panel.detail
    rows, columns = np.nonzero(frame.error_map)
    assert abs(detail.y + detail.height / 2 - rows.mean()) < 12
    assert abs(detail.x + detail.width / 2 - columns.mean()) < 12
    part = frame.candidate_rgb[
        detail.y : detail.y + detail.height, detail.x : detail.x + detail.width
    ]
    assert (decoded(detail.candidate) == part).all()


def test_a_map_states_its_scale_and_is_bright_where_the_error_is():
    frame = worst_frame(height=272, width=640)
    (panel,) = frame_panels([frame])
    error = panel.pictures[2]
    top = float(error.scale.split()[0])
    assert frame.error_map.max() <= top <= 2 * frame.error_map.max()
    light = decoded(error.url, "RGB").sum(axis=-1)
    assert (light[frame.error_map == 0] == light.min()).all()
    assert light.flat[frame.error_map.argmax()] == light.max() > light.min()
    ssim = panel.pictures[3]
    assert (ssim.width, ssim.height) == (640, 272)


def test_one_bad_pixel_is_bright_and_does_not_darken_the_rest():
    frame = worst_frame(height=272, width=640)
    frame.error_map[:] = 0.01
    frame.error_map[100, 200] = 0.9
    (panel,) = frame_panels([frame])
    assert panel.pictures[2].scale == "0.01562 or more of full scale"
    light = decoded(panel.pictures[2].url, "RGB").sum(axis=-1)
    assert light.argmax() == 100 * 640 + 200
    assert light.min() > 100


def test_small_frames_need_no_detail_and_a_flat_pair_has_a_black_map():
    (panel,) = frame_panels([worst_frame(height=48, width=64, ssim_map=None)])
    assert panel.detail is None
    assert len(panel.pictures) == 3
    frame = worst_frame(height=300, width=400)
    frame.error_map[:] = 0
    (panel,) = frame_panels([frame])
    assert panel.detail is not None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (41.8761, "dB", "41.88"),
        (-0.00001, "", "-1.000e-05"),
        (0.0, "", "0.00000"),
        (float("inf"), "dB", "–"),
        (1.23456, "", "1.23456"),
        (93.4567, "", "93.46"),
    ],
)
def test_numbers_as_people_read_them(value, unit, text):
    assert number(value, unit) == text


def test_ranges_and_ticks():
    assert ranges([0, 1, 2, 7, 9, 10]) == "0–2, 7, 9–10"
    assert ranges(range(0, 200, 2), most=2) == "0, 2 and 98 more"
    assert tick_labels([0.2, 0.15, 0.1]) == ["0.20", "0.15", "0.10"]
    assert tick_labels([100, 75, 50]) == ["100", "75", "50"]
