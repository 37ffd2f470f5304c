"""VMAF and XPSNR against the same ffmpeg's filters called by hand on the files."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from screentest._native import FrameFormat
from screentest.media import open_clip
from screentest.media.clip import Frame
from screentest.metrics import instruments
from tests.instruments.conftest import measure, textured, worsened
from tests.making import src

VMAF = ("vmaf", "vmaf_neg", "vmaf_phone")
XPSNR = ("xpsnr_y", "xpsnr_cb", "xpsnr_cr")
ALL = [*VMAF, "xpsnr"]
MODEL = {
    "vmaf": "version=vmaf_v0.6.1",
    "vmaf_neg": "version=vmaf_v0.6.1neg",
    "vmaf_phone": "version=vmaf_v0.6.1\\:enable_transform=true",
}


def by_hand(ffmpeg, reference, candidate, folder, graph, *options):
    """One filter, one run, the two files themselves; paths are arguments, never in the graph."""
    subprocess.run(
        [ffmpeg, "-hide_banner", "-nostdin", "-loglevel", "error", *options, "-i", candidate,
         *options, "-i", reference, "-lavfi", graph, "-f", "null", "-"],
        cwd=folder, check=True, timeout=100,
    )  # fmt: skip


def vmaf_by_hand(ffmpeg, reference, candidate, folder, name, *options, prepare=""):
    graph = f"libvmaf=model='{MODEL[name]}':log_fmt=json:log_path=hand.json"
    by_hand(ffmpeg, reference, candidate, folder, prepare.format(graph) or graph, *options)
    log = json.loads((folder / "hand.json").read_text())
    values = np.array([frame["metrics"]["vmaf"] for frame in log["frames"]])
    return values, log["pooled_metrics"]["vmaf"], log["version"]


def xpsnr_by_hand(ffmpeg, reference, candidate, folder, *options, prepare=""):
    graph = "xpsnr=stats_file=hand.log"
    by_hand(ffmpeg, reference, candidate, folder, prepare.format(graph) or graph, *options)
    lines = (folder / "hand.log").read_text().splitlines()
    rows = [re.findall(r"[yuv]: *(\S+)", line) for line in lines if "XPSNR" in line]
    return np.array(rows[:-1], float), np.array(rows[-1], float)


@pytest.fixture(scope="module")
def carphone(real_clip):
    return str(real_clip("carphone_pristine")), str(real_clip("carphone_distorted"))


@pytest.fixture(scope="module")
def measured(carphone, vmaf_ffmpeg):
    assert vmaf_ffmpeg
    return measure(*carphone, ALL)


@pytest.mark.parametrize("name", VMAF)
def test_every_frame_of_a_real_pair_equals_the_filter(
    name, measured, carphone, vmaf_ffmpeg, tmp_path
):
    values, pooled, version = vmaf_by_hand(vmaf_ffmpeg, *carphone, tmp_path, name)
    assert len(values) == 120
    assert np.array_equal(measured.series[name], values)
    score = measured[name]
    assert score.state == "measured"
    assert score.value == pooled["mean"]
    assert score.details["harmonic_mean"] == pooled["harmonic_mean"]
    assert score.details["min"] == pooled["min"] == score.worst
    assert score.worst_frame == int(np.argmin(values))
    assert score.details["libvmaf"] == version
    assert version in score.impl and score.details["model"] in score.impl


def test_xpsnr_of_a_real_pair_equals_the_filter(measured, carphone, vmaf_ffmpeg, tmp_path):
    frames, clip = xpsnr_by_hand(vmaf_ffmpeg, *carphone, tmp_path)
    assert frames.shape == (120, 3)
    for channel, name in enumerate(XPSNR):
        assert np.array_equal(measured.series[name], frames[:, channel])
        assert measured[name].value == clip[channel]
        assert measured[name].worst == frames[:, channel].min()
    assert measured["xpsnr_y"].details["frame_rate"] == "30000/1001"


def test_a_real_pair_has_the_values_of_an_older_ffmpeg(measured):
    """From an ffmpeg and libvmaf of another release, on another machine."""
    vmaf = measured["vmaf"]
    assert vmaf.value == pytest.approx(34.685719, abs=1e-4)
    assert vmaf.details["min"] == pytest.approx(26.307903, abs=1e-4)
    assert vmaf.details["harmonic_mean"] == pytest.approx(34.497783, abs=1e-4)
    figures = [measured[name].value for name in XPSNR]
    assert figures == pytest.approx([16.1637, 26.4797, 26.3773], abs=2e-4)


def test_the_harmonic_mean_is_of_the_scores_plus_one(measured):
    values = measured.series["vmaf"]
    expected = len(values) / np.sum(1.0 / (values + 1.0)) - 1.0
    assert measured["vmaf"].details["harmonic_mean"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_another_container_and_time_base_changes_nothing(measured, carphone, studio):
    moved = studio("moved.mkv", "-itsoffset", 3, "-i", carphone[1], "-c", "copy")
    again = measure(carphone[0], str(moved), ALL)
    for name in (*VMAF, *XPSNR):
        assert again[name] == measured[name]
        assert np.array_equal(again.series[name], measured.series[name])


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_a_file_name_with_every_kind_of_sign_is_read(measured, carphone, tmp_path):
    folder = tmp_path / 'it\'s 50% : [a];b,c=\\ü "日本"'
    folder.mkdir()
    copies = [shutil.copy(path, folder / f"cl%03d:{n}.mp4") for n, path in enumerate(carphone)]
    assert measure(*map(str, copies), ["vmaf"])["vmaf"] == measured["vmaf"]


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_the_number_of_threads_changes_nothing(measured, carphone):
    assert measure(*carphone, ["vmaf"], threads=1)["vmaf"] == measured["vmaf"]


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_a_clip_and_itself_are_identical_whatever_vmaf_says(carphone):
    same = measure(carphone[0], carphone[0], ALL)
    for name in VMAF:
        assert same[name].state == "identical"
        assert same[name].identical_frames == same[name].frames == 120
    # VMAF of equal pictures is below 100 in the first frame, which has no motion.
    assert same.series["vmaf"][0] < 100.0 == same.series["vmaf"][1]
    for name in XPSNR:
        assert (same[name].state, same[name].value, same[name].worst_frame) == (
            "identical",
            None,
            None,
        )
        assert np.isposinf(same.series[name]).all()


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_one_changed_sample_is_not_identical():
    clip = textured(3)
    changed = clip.copy()
    changed[1, 5, 5, 0] ^= 64
    result = measure(clip, changed, ALL, options={"frame_rate": 25})
    for name in (*VMAF, *XPSNR):
        assert result[name].state == "measured", name
        assert result[name].identical_frames == 2
    assert result["xpsnr_y"].worst_frame == 1
    assert np.isfinite(result.series["xpsnr_y"]).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("pixels", "size"),
    [
        ("yuv420p", "65x47"),
        ("yuv422p", "64x48"),
        ("yuv444p", "65x47"),
        ("yuv420p10le", "47x87"),
        ("yuv422p10le", "64x48"),
        ("yuv444p12le", "65x47"),
    ],
)
def test_every_planar_layout_goes_as_stored(pixels, size, studio, vmaf_ffmpeg, tmp_path):
    """Lossless files, among them odd, small and upright ones, against the filter on raw video of
    the same samples. On the files themselves FFmpeg's xpsnr prints nonsense at more than 8 bits:
    it takes the padding that their decoder puts behind each row for samples."""
    made = ("-c:v", "ffv1", "-pix_fmt", pixels)
    sized = f"scale={size.replace('x', ':')},format={pixels}"
    reference, candidate = (
        studio(f"{pixels}.mkv", *src(0.4, size="128x96", rate=20), "-vf", filters, *made)
        for filters in (sized, f"{sized},noise=alls=20:allf=t:all_seed=4")
    )
    result = measure(str(reference), str(candidate), ["vmaf", "xpsnr"])
    assert result["vmaf"].details["input"] == f"{pixels} as stored"
    values, _, _ = vmaf_by_hand(vmaf_ffmpeg, reference, candidate, tmp_path, "vmaf")
    assert np.array_equal(result.series["vmaf"], values)
    files = [
        studio(f"{n}.yuv", "-i", path, "-f", "rawvideo")
        for n, path in enumerate((reference, candidate))
    ]
    raw = ("-f", "rawvideo", "-pix_fmt", pixels, "-s", size, "-r", "20")
    frames, clip = xpsnr_by_hand(vmaf_ffmpeg, *files, tmp_path, *raw)
    assert np.array_equal([result.series[name] for name in XPSNR], frames.T)
    assert [result[name].value for name in XPSNR] == clip.tolist()
    # XPSNR is a weighted PSNR; on small pictures with even noise the weights change little.
    codes = [np.fromfile(file, np.uint8 if pixels.endswith("p") else "<u2") for file in files]
    top = (1 << result["vmaf"].details["bits"]) - 1
    error = np.mean((codes[0].astype(float) - codes[1]) ** 2)
    assert clip.mean() == pytest.approx(10 * np.log10(top**2 / error), abs=3)
    same = measure(str(reference), str(reference), ["xpsnr"])
    assert {same[name].state for name in XPSNR} == {"identical"}
    assert all(np.isposinf(same.series[name]).all() for name in XPSNR)


def limited_709(rgb):
    """Y, Cb and Cr codes of 8-bit RGB by the formulas of ITU-R BT.709, in double precision."""
    red, green, blue = (rgb[..., k] / 255.0 for k in range(3))
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    cb, cr = (blue - luma) / 1.8556, (red - luma) / 1.5748
    planes = np.stack([16 + 219 * luma, 128 + 224 * cb, 128 + 224 * cr], 1)
    return np.rint(planes).astype(np.uint8)


def test_rgb_is_measured_as_709_limited_444(vmaf_ffmpeg, tmp_path):
    """Against the filters on raw YUV that the formulas of the standard give: the scaler and they
    round differently by a code now and then."""
    clips = [textured(4), worsened(textured(4))]
    files = [tmp_path / "a.yuv", tmp_path / "b.yuv"]
    for clip, file in zip(clips, files, strict=True):
        file.write_bytes(limited_709(clip).tobytes())
    raw = ("-f", "rawvideo", "-pix_fmt", "yuv444p", "-s", "96x72", "-r", "25")
    result = measure(*clips, ["vmaf", "xpsnr"], options={"frame_rate": 25})
    values, _, _ = vmaf_by_hand(vmaf_ffmpeg, *files, tmp_path, "vmaf", *raw)
    frames, _ = xpsnr_by_hand(vmaf_ffmpeg, *files, tmp_path, *raw)
    assert result.series["vmaf"] == pytest.approx(values, abs=0.3)
    for channel, name in enumerate(XPSNR):
        assert result.series[name] == pytest.approx(frames[:, channel], abs=0.1)
    assert "BT.709" in result["vmaf"].details["input"]


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_rgb_of_every_depth_and_float_gives_nearly_the_same():
    clips = [textured(3), worsened(textured(3))]
    eight = measure(*clips, ["vmaf"])["vmaf"].value
    for bits in (10, 12, 16):
        deep = [
            np.round(c.astype(np.float64) * ((1 << bits) - 1) / 255).astype("u2") for c in clips
        ]
        value = measure(*deep, ["vmaf"], options={"bit_depth": bits})["vmaf"].value
        assert value == pytest.approx(eight, abs=0.5), bits
    for dtype, options in ((np.float32, {}), (np.float32, {"value_range": (-1, 1)})):
        low, high = options.get("value_range", (0, 1))
        floats = [(low + (high - low) * (c / 255.0)).astype(dtype) for c in clips]
        assert measure(*floats, ["vmaf"], options=options)["vmaf"].value == pytest.approx(
            eight, abs=0.5
        )


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_semi_planar_and_shifted_samples_are_the_planar_ones(studio):
    """P010: the samples six bits up, Cb and Cr in turn in one plane."""
    planar = studio("deep.mkv", *src(0.3, size="64x48", rate=20), "-vf", "format=yuv420p10le",
                    "-c:v", "ffv1")  # fmt: skip
    noisy = studio("deep_noise.mkv", "-i", planar, "-vf", "noise=alls=20:allf=t:all_seed=4",
                   "-c:v", "ffv1", "-pix_fmt", "yuv420p10le")  # fmt: skip
    expected = measure(str(planar), str(noisy), ["vmaf", "xpsnr"])

    def p010(frame):
        luma, cb, cr = (plane << 6 for plane in frame.planes)
        both = np.stack([cb, cr], -1)
        return Frame(frame.index, frame.time_s, (luma, both[..., 0], both[..., 1]))

    shifted = FrameFormat.yuv(width=64, height=48, bit_depth=10, shift=6, kr=0.299, kb=0.114,
                              limited=True, chroma_shift=(1, 1))  # fmt: skip
    with open_clip(str(planar)) as a, open_clip(str(noisy)) as b:
        (instrument,), _ = instruments.create(["vmaf", "xpsnr"], a.info, shifted, b.info, shifted)
        for pair in zip(a.frames(), b.frames(), strict=True):
            instrument.push(*map(p010, pair))
        _, series = instrument.finish()
    for name in ("vmaf", *XPSNR):
        assert series[name].tolist() == expected.series[name].tolist()


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_grey_has_luma_alone():
    grey = [textured(3, channels=1)[..., 0]]
    grey.append(worsened(grey[0]))
    options = {"frame_rate": 25, "layout": "THW"}
    result = measure(*grey, ["vmaf", "xpsnr"], options=options)
    assert result["vmaf"].state == result["xpsnr_y"].state == "measured"
    assert result["xpsnr_cb"].state == "unmeasured"
    assert result["xpsnr_cb"].reason == "grey has no chroma"


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_a_444_reference_and_a_420_candidate_share_their_luma(studio):
    source = src(0.3, size="64x48", rate=20)
    full = studio("full.mkv", *source, "-c:v", "ffv1", "-pix_fmt", "yuv444p")
    half = studio(
        "half.mkv", "-i", full, "-vf", "noise=alls=20:all_seed=4,format=yuv420p", "-c:v", "ffv1"
    )
    result = measure(str(full), str(half), ["vmaf", "xpsnr"])
    luma = measure(
        str(full),
        str(studio("noisy.mkv", "-i", half, "-c:v", "ffv1", "-pix_fmt", "yuv444p")),
        ["vmaf"],
    )
    assert result.series["vmaf"].tolist() == luma.series["vmaf"].tolist()
    assert result["xpsnr_y"].state == "measured"
    assert result["xpsnr_cr"].reason == "the chroma layouts differ"


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_deep_rgb_whose_rows_would_be_padded_has_no_xpsnr():
    clips = [textured(2, width=96), worsened(textured(2, width=96))]
    floats = [clip.astype(np.float32) / 255 for clip in clips]
    result = measure(*floats, ["vmaf", "xpsnr"], options={"frame_rate": 25})
    assert result["vmaf"].state == "measured"
    assert "multiple of 64" in result["xpsnr_y"].reason
    wide = [textured(2, width=128), worsened(textured(2, width=128))]
    deep = measure(
        *[c.astype(np.float32) / 255 for c in wide], ["xpsnr"], options={"frame_rate": 25}
    )
    eight = measure(*wide, ["xpsnr"], options={"frame_rate": 25})
    for name in XPSNR:
        assert deep[name].value == pytest.approx(eight[name].value, abs=0.1)


@pytest.mark.parametrize(("height", "sound"), [(47, True), (48, True), (49, False), (50, True)])
def test_a_height_that_leaves_a_sliver_of_a_block_has_no_xpsnr(
    height, sound, vmaf_ffmpeg, tmp_path
):
    """The filter itself is run on both kinds: its figure is near the PSNR, or far off it."""
    clips = [textured(2, height, 64), worsened(textured(2, height, 64))]
    result = measure(*clips, ["xpsnr"], options={"frame_rate": 25})
    assert (result["xpsnr_y"].state == "measured") is sound
    planes = [limited_709(clip) for clip in clips]
    files = [tmp_path / "a.yuv", tmp_path / "b.yuv"]
    for file, plane in zip(files, planes, strict=True):
        file.write_bytes(plane.tobytes())
    raw = ("-f", "rawvideo", "-pix_fmt", "yuv444p", "-s", f"64x{height}", "-r", "25")
    _, clip = xpsnr_by_hand(vmaf_ffmpeg, *files, tmp_path, *raw)
    luma = [plane[:, 0].astype(float) for plane in planes]
    psnr = 10 * np.log10(255**2 / np.mean((luma[0] - luma[1]) ** 2))
    assert bool(abs(clip[0] - psnr) < 4) is sound


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_sixteen_bits_have_vmaf_and_no_xpsnr():
    deep = [c.astype(np.uint16) * 257 for c in (textured(2), worsened(textured(2)))]
    result = measure(*deep, ["vmaf", "xpsnr"], options={"frame_rate": 25, "bit_depth": 16})
    assert result["vmaf"].state == "measured"
    assert "at most 15 bits" in result["xpsnr_y"].reason


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_frames_that_were_paired_elsewhere_keep_the_candidates_index():
    """The pairs decide, not the times: frame 3 of one with frame 5 of the other."""
    reference, candidate = textured(4), worsened(textured(6))
    candidate[5] = worsened(candidate[5], amount=80)
    with open_clip(reference) as a, open_clip(candidate) as b:
        (instrument,), _ = instruments.create(["vmaf"], a.info, a.format, b.info, b.format)
        pairs = zip(a.frames_at([0, 1, 3]), b.frames_at([1, 2, 5]), strict=True)
        for pair in pairs:
            instrument.push(*pair)
        (score,), series = instrument.finish()
    assert (score.frames, score.worst_frame) == (3, 5)
    assert len(series["vmaf"]) == 3
