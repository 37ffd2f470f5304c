"""What is asked for is either made or named with a reason, whatever is installed."""

import sys

import msgspec
import numpy as np
import pytest

from screentest.errors import InputError
from screentest.media import open_clip
from screentest.metrics import instruments
from screentest.metrics.facts import Score
from tests.instruments.conftest import measure, textured, worsened
from tests.making import src

EVERY = list(instruments.INSTRUMENT_NAMES)
SCORES = [score for name in EVERY for score in instruments.REQUESTS[name]]


def created(names, a, b, a_info=None, b_info=None):
    made, refused = instruments.create(
        names, a_info or a.info, a.format, b_info or b.info, b.format
    )
    for instrument in made:
        instrument.close()
    return made, {score.name: score for score in refused}


@pytest.fixture
def clip():
    with open_clip(textured(2), frame_rate=25) as opened:
        yield opened


def test_the_tables_name_the_same_scores():
    assert set(instruments.REQUESTS) == set(instruments.INSTRUMENT_NAMES)
    assert set(SCORES) == set(instruments.TRAITS)


def test_every_score_is_made_or_refused_exactly_once(clip):
    made, refused = created([*EVERY, "vmaf"], clip, clip)
    names = [name for instrument in made for name in instrument.names] + list(refused)
    assert sorted(names) == sorted(SCORES)
    for score in refused.values():
        assert score.state == "unmeasured" and score.value is None
        assert score.reason and "\n" not in score.reason
        assert score.unit == instruments.TRAITS[score.name].unit


def test_without_any_extra_everything_is_unmeasured_and_says_what_to_install(clip, monkeypatch):
    for module in ("torch", "imageio_ffmpeg", "pycvvdp"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("SCREENTEST_FFMPEG", raising=False)
    made, refused = created(EVERY, clip, clip)
    assert made == []
    for name, score in refused.items():
        extra = "reference" if name in ("lpips", "dists", "cvvdp") else "vmaf"
        assert f"pip install 'screentest[{extra}]'" in score.reason


def test_hdr_is_a_reason_for_every_instrument(clip):
    hdr = msgspec.structs.replace(clip.info, hdr="pq")
    made, refused = created(EVERY, clip, clip, b_info=hdr)
    assert made == []
    assert {score.reason for score in refused.values()} == {
        f"the clip is HDR (pq), and {name} is defined for SDR material" for name in SCORES
    }


def test_interlaced_is_a_reason_where_motion_or_the_eye_counts(studio):
    path = studio("fields.mkv", *src(0.2, size="64x48"), "-vf", "setfield=tff", "-c:v", "ffv1",
                  "-pix_fmt", "yuv420p", "-field_order", "tt")  # fmt: skip
    with open_clip(str(path)) as a:
        assert a.info.field_order == "tt"
        _, refused = created(["vmaf", "xpsnr", "cvvdp"], a, a)
    assert set(refused) == {"vmaf", "xpsnr_y", "xpsnr_cb", "xpsnr_cr", "cvvdp"}
    assert refused["vmaf"].reason == "the clip is interlaced, and vmaf reads progressive frames"


@pytest.mark.parametrize(
    ("reference", "candidate", "reason"),
    [
        ((textured(1), {}), (textured(1).astype(np.float32) / 255, {}),
         "the bit depths differ: 8 bit and float"),
        ((textured(1).astype(np.uint16) * 4, {"bit_depth": 10}), (textured(1), {}),
         "the bit depths differ: 10 bit and 8 bit"),
        ((textured(1).astype(np.uint16), {"bit_depth": 9}),) * 2
        + ("9-bit samples: VMAF takes 8, 10, 12, 16 bits",),
        ((textured(1), {}), (textured(1)[..., 0], {}), "one clip is RGB and the other grey"),
    ],
)  # fmt: skip
def test_what_the_filters_cannot_pair_is_a_reason(reference, candidate, reason):
    with open_clip(reference[0], **reference[1]) as a, open_clip(candidate[0], **candidate[1]) as b:
        _, refused = created(["vmaf"], a, b)
    assert refused["vmaf"].reason == reason


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_xpsnr_without_a_frame_rate_is_a_reason_and_vmaf_is_not():
    result = measure(textured(2), worsened(textured(2)), ["vmaf", "xpsnr"])
    assert result["vmaf"].state == "measured"
    assert "say frame_rate=" in result["xpsnr_y"].reason
    still = measure(textured(1), worsened(textured(1)), ["xpsnr"])
    assert still["xpsnr_y"].state == "measured"


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_pictures_too_small_for_vmaf_are_a_reason_and_xpsnr_goes_on():
    small, least = textured(2, 16, 40), textured(2, 17, 40)
    result = measure(small, worsened(small), ["vmaf", "xpsnr"], options={"frame_rate": 25})
    assert result["vmaf"].reason == "pictures of 16 pixels: VMAF needs 17"
    assert result["xpsnr_y"].state == "measured"
    assert measure(least, worsened(least), ["vmaf"])["vmaf"].state == "measured"


def test_an_unknown_name_and_unequal_sizes_are_the_callers_mistakes(clip):
    with pytest.raises(InputError, match="no instrument is called 'vmaff'") as caught:
        created(["vmaff"], clip, clip)
    assert caught.value.code == "unknown_metric"
    with open_clip(textured(2, 64, 64)) as other, pytest.raises(InputError, match="sizes differ"):
        created(["vmaf"], clip, other)


def test_nothing_asked_for_is_nothing_made(clip):
    assert created([], clip, clip) == ([], {})


def test_a_refusal_is_a_score_like_any_other():
    score = instruments.unmeasured("vmaf", "two\nlines")
    assert score == Score(
        name="vmaf",
        value=None,
        state="unmeasured",
        unit="VMAF",
        impl="vmaf@1+vmaf_v0.6.1",
        direction="up",
        reason="two lines",
    )
