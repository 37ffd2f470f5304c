"""The fidelity metrics against the reference system's banked values, and against scikit-image,
torchmetrics, piq and ffmpeg, each run inside the test."""

import functools
import json
import re
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.metrics.fidelity import fidelity, ms_ssim, psnr, ssim
from screentest.metrics.paired import measure_pair
from tests.oracles import clips

ORACLE = json.loads((Path(clips.__file__).parent / "fidelity.json").read_text())

# Banked values have ten digits; the reference computes SSIM in float64.
PSNR_DB = 1e-6
WEIGHTS_SUM = 0.0448 + 0.2856 + 0.3001 + 0.2363 + 0.1333
STRUCTURE = 1e-7


def decode_rgb(path, frames=None):
    with av.open(str(path)) as container:
        decoded = (f.to_ndarray(format="rgb24") for f in container.decode(video=0))
        return np.stack([next(decoded) for _ in range(frames)] if frames else list(decoded))


@functools.cache
def facts_of(reference, candidate):
    pair = clips.clip(reference), clips.clip(candidate)
    return fidelity(*pair, ("psnr", "ssim", "ms_ssim"))


def check(facts, expected):
    # The reference system says 99 where frames are equal.
    values = np.where(np.isinf(facts.series["psnr"]), 99.0, facts.series["psnr"])
    assert values.mean() == pytest.approx(expected["psnr"]["mean"], abs=PSNR_DB)
    assert values.min() == pytest.approx(expected["psnr"]["worst"], abs=PSNR_DB)
    assert values[:3] == pytest.approx(expected["psnr"]["first3"], abs=PSNR_DB)
    for name in ("ssim", "ms_ssim"):
        if name not in expected:
            continue
        seen = facts.series[name][:: expected[name]["stride"]]
        assert seen.mean() == pytest.approx(expected[name]["mean"], abs=STRUCTURE)
        assert seen[:3] == pytest.approx(expected[name]["first3"], abs=STRUCTURE)
    pooled = {score.name: score for score in facts.scores}["psnr_pooled"]
    if expected["psnr_pooled"] == "inf":
        assert (pooled.state, pooled.value) == ("identical", None)
    else:
        # torchmetrics sums in single precision: 5e-6 dB where the error is small.
        assert pooled.value == pytest.approx(expected["psnr_pooled"], abs=1e-4)


@pytest.mark.parametrize("pair", ORACLE["pairs"])
def test_synthetic_pair_equals_the_reference_system(pair):
    check(facts_of(*pair.split("|")), ORACLE["pairs"][pair])


@pytest.mark.parametrize("pair", ORACLE["pairs"])
def test_banked_ms_ssim_of_piq_and_torchmetrics_within_their_spread(pair):
    """piq works in single precision and with weights that sum to 1.0001: up to 4e-5. torchmetrics
    keeps the padded border of the last scale in its mean, which weighs by 0.1333: 3e-3 where that
    scale differs most (frozen)."""
    expected = ORACLE["pairs"][pair]
    value = {s.name: s for s in facts_of(*pair.split("|")).scores}["ms_ssim"].value
    assert value == pytest.approx(expected["piq_ms_ssim"], abs=4e-5)
    assert value == pytest.approx(expected["torchmetrics_ms_ssim"], abs=3.5e-3)


def test_real_pair_of_small_clips(real_clip):
    pair = [decode_rgb(real_clip(f"carphone_{kind}")) for kind in ("pristine", "distorted")]
    facts = fidelity(*pair, ("psnr", "ssim"))
    check(facts, ORACLE["real_pairs"]["carphone_pristine|carphone_distorted"])


def test_real_clip_against_its_blur(real_clip):
    clip = decode_rgb(real_clip("bikes"), 48)
    facts = fidelity(clip, clips.blur(clip), ("psnr", "ssim", "ms_ssim"))
    check(facts, ORACLE["real_pairs"]["bikes|bikes_blur25"])


# ------------------------------------------------------------------------- run inside the test


@pytest.fixture(scope="module")
def luma_pairs():
    """Pairs of grey images: a texture blurred, with noise, of odd size, inverted, and 16-bit."""
    rng = np.random.default_rng(5)
    picture = clips.pan(1, 243, 321, 19)[0][..., 1]
    noisy = np.clip(picture + rng.normal(0, 12, picture.shape), 0, 255).astype(np.uint8)
    small = clips.pan(1, 180, 200, 3)[0][..., 0]
    return {
        "noisy": (picture, noisy),
        "blurred": (small, clips.blur(np.repeat(small[None, ..., None], 3, -1))[0, ..., 0]),
        "inverted": (picture, 255 - picture),
        "brighter": (picture // 2, picture // 2 + 40),
        "16 bit": (picture.astype(np.uint16) * 257, noisy.astype(np.uint16) * 257),
    }


PAIRS = ("noisy", "blurred", "inverted", "brighter", "16 bit")


def grey(pair):
    options = {"layout": "HW"}
    if pair[0].dtype == np.uint16:
        options["bit_depth"] = 16
    return options


@pytest.mark.parametrize("name", PAIRS)
def test_ssim_equals_scikit_image_in_its_gaussian_form(luma_pairs, name):
    metrics = pytest.importorskip("skimage.metrics", reason="pip install scikit-image")
    a, b = luma_pairs[name]
    expected = metrics.structural_similarity(
        a.astype(np.float64),
        b.astype(np.float64),
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
        data_range=float(np.iinfo(a.dtype).max),
    )
    assert ssim(a, b, **grey((a, b))).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_ssim_with_reflected_border_equals_torchmetrics(luma_pairs, name):
    functional = pytest.importorskip(
        "torchmetrics.functional.image", reason="pip install torchmetrics"
    )
    torch = pytest.importorskip("torch", reason="pip install 'screentest[torch]'")
    a, b = luma_pairs[name]
    white = float(np.iinfo(a.dtype).max)
    left, right = (torch.from_numpy(x.astype(np.float64) / white)[None, None] for x in (a, b))
    expected = functional.structural_similarity_index_measure(left, right, data_range=1.0)
    found = ssim(a, b, border="reflect", **grey((a, b)))
    # torchmetrics makes its window in single precision: 1e-7 of the moments.
    assert found.value == pytest.approx(float(expected), abs=1e-5)
    assert found.impl == "ssim@1+reflect"


def test_ssim_map_equals_the_interior_of_torchmetrics_map(luma_pairs):
    functional = pytest.importorskip(
        "torchmetrics.functional.image", reason="pip install torchmetrics"
    )
    torch = pytest.importorskip("torch", reason="pip install 'screentest[torch]'")
    from screentest.media import open_clip
    from screentest.metrics.fidelity import frame_maps

    a, b = luma_pairs["noisy"]
    left, right = (torch.from_numpy(x.astype(np.float64) / 255)[None, None] for x in (a, b))
    _, whole = functional.structural_similarity_index_measure(
        left, right, data_range=1.0, return_full_image=True
    )
    clip, other = (open_clip(x, layout="HW") for x in (a, b))
    maps = frame_maps(next(clip.frames()), next(other.frames()), clip.format, other.format)
    assert maps.ssim_map == pytest.approx(whole[0, 0].numpy()[5:-5, 5:-5], abs=1e-5)


@pytest.mark.parametrize("name", ["noisy", "blurred", "brighter"])
def test_ms_ssim_equals_torchmetrics_but_for_the_border_of_its_last_scale(luma_pairs, name):
    """The same recursion, with two differences. torchmetrics keeps the padded border in the mean of
    the last scale, which counts 0.1333; and it takes the published weights as they are, whose sum
    is 1.0001, where the reference system and we divide by it. Put right, its numbers give ours."""
    functional = pytest.importorskip(
        "torchmetrics.functional.image", reason="pip install torchmetrics"
    )
    torch = pytest.importorskip("torch", reason="pip install 'screentest[torch]'")
    a, b = luma_pairs[name]
    left, right = (torch.from_numpy(x.astype(np.float64) / 255)[None, None] for x in (a, b))
    found = ms_ssim(a, b, layout="HW")
    theirs = functional.multiscale_structural_similarity_index_measure(left, right, data_range=1.0)
    assert found.value == pytest.approx(float(theirs), abs=3.5e-3)
    # Their last scale's mean, with and without the border.
    for _ in range(4):
        left, right = (torch.nn.functional.avg_pool2d(x, 2) for x in (left, right))
    whole, full = functional.structural_similarity_index_measure(
        left, right, data_range=1.0, return_full_image=True
    )
    inner = float(full[0, 0, 5:-5, 5:-5].mean())
    corrected = (float(theirs) * (inner / float(whole)) ** 0.1333) ** (1 / WEIGHTS_SUM)
    assert found.value == pytest.approx(corrected, abs=1e-6)
    assert found.details["scales"] == 5


@pytest.mark.parametrize("name", ["noisy", "blurred", "brighter"])
def test_ms_ssim_equals_piq_on_even_sizes(luma_pairs, name):
    """piq pads an odd side before it halves it, so it is compared where every scale is even; its
    weights sum to 1.0001 as published, ours to 1."""
    piq = pytest.importorskip("piq", reason="pip install piq")
    torch = pytest.importorskip("torch", reason="pip install 'screentest[torch]'")
    a, b = (x[:176, :192] for x in luma_pairs[name])
    left, right = (torch.from_numpy(x.astype(np.float64) / 255)[None, None] for x in (a, b))
    expected = float(piq.multi_scale_ssim(left, right, data_range=1.0))
    expected **= 1 / WEIGHTS_SUM
    assert ms_ssim(a, b, layout="HW").value == pytest.approx(expected, abs=1e-6)


def test_psnr_equals_scikit_image():
    metrics = pytest.importorskip("skimage.metrics", reason="pip install scikit-image")
    a, b = clips.pan(2, 64, 80, 1)
    expected = metrics.peak_signal_noise_ratio(a, b, data_range=255)
    assert psnr(a, b).value == pytest.approx(expected, abs=1e-10)


# ------------------------------------------------------------------------------------ ffmpeg


def psnr_log(studio, reference, candidate, name):
    """The psnr filter's own log, one dict per frame. Both inputs get the same stamps, so that the
    filter pairs frame by frame."""
    log = studio.folder / f"{name}.log"
    graph = f"[0:v]setpts=N[a];[1:v]setpts=N[b];[a][b]psnr=stats_file={log}"
    studio.run("-i", candidate, "-i", reference, "-lavfi", graph, "-f", "null", "-")
    fields = re.compile(r"(\w+):(\S+)")
    return [dict(fields.findall(line)) for line in log.read_text().splitlines()]


CODED = {
    "h264 420 8": ("libx264", "yuv420p", ()),
    "h264 422 10": ("libx264", "yuv422p10le", ()),
    "h264 444 8": ("libx264", "yuv444p", ()),
    "h265 420 10": ("libx265", "yuv420p10le", ("-x265-params", "log-level=error")),
    "h265 420 12": ("libx265", "yuv420p12le", ("-x265-params", "log-level=error")),
    "h264 grey": ("libx264", "gray", ()),
}


@pytest.mark.parametrize("name", CODED)
def test_psnr_of_each_plane_equals_the_log_of_the_psnr_filter(studio, name):
    codec, pixels, more = CODED[name]
    source = ("-f", "lavfi", "-i", "testsrc2=s=322x242:r=30:d=0.5")
    made = [
        studio(f"{crf}.mkv", *source, "-c:v", codec, "-pix_fmt", pixels, "-crf", crf, *more)
        for crf in (4, 34)
    ]
    log = psnr_log(studio, *made, re.sub(r"\W", "_", name))
    planes = ("y",) if pixels == "gray" else ("y", "u", "v")
    ours = dict(zip(("y", "u", "v"), ("psnr_y", "psnr_cb", "psnr_cr"), strict=True))
    wanted = [ours[plane] for plane in planes] + ["psnr_avg"]
    facts = measure_pair(*made, metrics=wanted)
    assert len(log) == len(facts.pairs) == 15
    for theirs, mine in [(f"psnr_{p}", ours[p]) for p in planes] + [("psnr_avg", "psnr_avg")]:
        for line, value in zip(log, facts.series[mine], strict=True):
            # Two decimals are printed; the last is rounded.
            assert float(line[theirs]) == pytest.approx(value, abs=0.005 + 1e-9), (theirs, line)


def test_psnr_of_a_real_pair_equals_the_log_of_the_psnr_filter(studio, real_clip):
    pair = [real_clip(f"carphone_{kind}") for kind in ("pristine", "distorted")]
    log = psnr_log(studio, *pair, "carphone")
    facts = measure_pair(*pair, metrics=("psnr_y", "psnr_cb", "psnr_cr"))
    assert len(log) == len(facts.pairs) == 120
    for theirs, mine in (("psnr_y", "psnr_y"), ("psnr_u", "psnr_cb"), ("psnr_v", "psnr_cr")):
        logged = [float(line[theirs]) for line in log]
        assert logged == pytest.approx(list(facts.series[mine]), abs=0.005 + 1e-9)
    pooled = {score.name: score.value for score in facts.scores}
    # The filter's summary line, banked in the oracle's table.
    assert pooled["psnr_y_pooled"] == pytest.approx(24.792713, abs=1e-6)
    assert pooled["psnr_cb_pooled"] == pytest.approx(36.659514, abs=1e-6)


def test_psnr_from_planes_is_that_of_the_rgb_frames_to_a_twentieth_of_a_db(real_clip):
    """The conversion is part of the number: ours repeats chroma and rounds to the nearest code, as
    the fast path of swscale does within a level."""
    pair = [real_clip(f"carphone_{kind}") for kind in ("pristine", "distorted")]
    facts = measure_pair(*pair, metrics=("psnr",))
    shown = fidelity(*[decode_rgb(path) for path in pair], ("psnr",))
    assert facts.scores[0].value == pytest.approx(shown.scores[0].value, abs=0.05)
