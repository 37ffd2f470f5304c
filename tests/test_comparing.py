"""compare(): the pairing is proved before any score is given."""

import json

import av
import numpy as np
import pytest

import screentest
from screentest.comparing import compare, worst_pairs
from screentest.errors import InputError, MediaError, ProtocolError
from screentest.metrics.fidelity import fidelity
from screentest.metrics.paired import PAIRED_METRICS, check_metrics, measure_pair, metric_impls
from tests.making import src
from tests.oracles import clips

PLANES = ("psnr_y", "psnr_cb", "psnr_cr")


@pytest.fixture(scope="module")
def moving():
    """A pan with squares that move, 40 frames of 96x128."""
    return clips.with_squares(clips.pan(40, 96, 128, 3), 4, 4, 20)


@pytest.fixture(scope="module")
def noisy(moving):
    noise = np.random.default_rng(0).normal(0, 3, moving.shape)
    return np.clip(moving + noise, 0, 255).astype(np.uint8)


# ------------------------------------------------------------------------------------ pairing


def test_an_aligned_pair_is_scored(moving, noisy):
    result = compare(moving, noisy)
    assert result.aligned
    assert result.complete
    assert [s.name for s in result.scores] == [
        "psnr", "psnr_pooled", "psnr_worst", "ssim", "ms_ssim",
    ]  # fmt: skip
    mse = np.mean((moving.astype(np.float64) - noisy) ** 2, axis=(1, 2, 3)) / 255**2
    assert result["psnr"].value == pytest.approx(-10 * np.log10(mse).mean(), abs=1e-9)
    assert result["psnr_pooled"].value == pytest.approx(-10 * np.log10(mse.mean()), abs=1e-9)
    assert result["psnr"].worst_frame == int(np.argmax(mse))
    assert (result.facts.pairs == np.arange(40)[:, None]).all()


def test_the_top_level_names_are_these(moving):
    assert screentest.compare is compare
    assert isinstance(compare(moving[:2], moving[:2]), screentest.Comparison)


def test_identical_clips_say_so(moving):
    result = compare(moving, moving)
    assert result.findings == ("all 40 frames are identical",)
    record = json.loads(result.to_json())
    assert record["metrics"]["psnr"]["value"] is None
    assert record["metrics"]["psnr"]["state"] == "identical"
    assert record["metrics"]["ssim"]["value"] == 1
    assert record["unmeasured"] == []


def test_a_misaligned_pair_has_no_score_until_the_caller_says_how(moving, noisy):
    late = noisy[3:]
    result = compare(moving, late)
    assert not result.aligned
    assert not result.scored
    assert not result.complete
    assert {(s.state, s.value, s.worst) for s in result.scores} == {("unmeasured", None, None)}
    assert result.facts.pairing.lag == 3
    record = result.to_dict()
    assert record["status"] == "not_scored"
    assert record["pairing"]["pairs_compared"] == 0
    assert {gap["name"] for gap in record["unmeasured"]} == set(record["metrics"])
    expected = compare(moving[3:], late)["psnr"].value
    found = compare(moving, late, align="auto")
    assert found["psnr"].value == pytest.approx(expected, abs=1e-12)
    assert (found.facts.pairs[0] == [3, 0]).all()
    assert not found.aligned
    assert found.complete
    assert any("as the pictures go together: 37 pairs" in line for line in found.findings)


def test_align_by_index_trims_to_the_shorter(moving, noisy):
    found = compare(moving, noisy[:25], align="index", metrics=["psnr"])
    assert len(found.facts.pairs) == 25
    assert found["psnr"].value == compare(moving[:25], noisy[:25], metrics=["psnr"])["psnr"].value
    assert "up to the shorter clip's end: 25 pairs of 40 reference and 25" in found.findings[-1]


def test_align_by_timestamps_pairs_what_is_shown_at_one_time(moving):
    # Every second frame at half the rate.
    found = measure_pair(
        screentest.open_clip(moving, frame_rate=24),
        screentest.open_clip(moving[::2], frame_rate=12),
        pairs="timestamps",
    )
    assert (found.pairs == np.stack([np.arange(0, 40, 2), np.arange(20)], axis=1)).all()
    assert found.scores[0].state == "identical"


def test_a_frame_that_is_held_goes_with_every_frame_of_its_time(studio):
    a = studio.a_mp4()
    held = studio(
        "held.mp4", "-i", a, "-vf", "select='not(between(n,20,39))'", "-fps_mode", "passthrough",
        "-c:v", "libx264", "-pix_fmt", "yuv420p",
    )  # fmt: skip
    found = measure_pair(held, a, pairs="timestamps")
    # Frame 19 stays for the 20 frames that were taken out.
    shown = [*range(20), *[19] * 20, *range(20, 40)]
    assert found.pairs.tolist() == [[i, j] for j, i in enumerate(shown)]


def test_twice_the_rate_goes_with_the_frame_shown_not_with_the_last_bit_of_a_stamp(moving):
    found = measure_pair(
        screentest.open_clip(moving[:20], frame_rate=30),
        screentest.open_clip(np.repeat(moving[:20], 2, axis=0), frame_rate=60),
        pairs="timestamps",
    )
    assert found.pairs.tolist() == [[j // 2, j] for j in range(40)]
    assert found.scores[0].state == "identical"


def test_auto_leaves_out_what_the_candidate_repeats(moving):
    stuck = np.concatenate([moving[:21], moving[20:]])
    found = compare(moving, stuck, align="auto", metrics=["psnr"])
    assert found.facts.pairing.repeated == (21,)
    assert len(found.facts.pairs) == 40
    assert found["psnr"].state == "identical"


# -------------------------------------------------------------------------------------- files


def test_a_remux_is_identical(studio):
    a = studio.a_mp4()
    result = compare(a, studio("a.mkv", "-i", a, "-c", "copy"))
    assert result.aligned
    assert {score.state for score in result.scores} == {"identical"}


@pytest.mark.parametrize(
    ("tag", "how", "psnr"),
    [
        ("range", "h264_metadata=video_full_range_flag=1", 24.6),
        ("matrix", "h264_metadata=matrix_coefficients=1", 24.5),
    ],
)
def test_a_tag_that_differs_is_the_finding_with_the_planes_beside_it(studio, tag, how, psnr):
    a = studio.a_mp4()
    other = studio(f"{tag}.mp4", "-i", a, "-c", "copy", "-bsf:v", how)
    result = compare(a, other, metrics=["psnr"])
    assert result.aligned
    assert any(
        line.startswith(f"the {tag} tag differs: ") and line.endswith("the planes are identical")
        for line in result.findings
    )
    # What the wrong tag costs in RGB, as ffmpeg's conversion also finds (within a dB).
    assert result["psnr"].value == pytest.approx(psnr, abs=1)
    assert {result[name].state for name in PLANES} == {"identical"}


def test_bit_depths_that_differ_leave_the_planes_unmeasured_and_compare_the_pictures(studio):
    source = (*src(1), "-c:v", "libx265", "-x265-params", "log-level=error:lossless=1")
    eight = studio("8.mp4", *source, "-pix_fmt", "yuv420p")
    ten = studio("10.mp4", *source, "-pix_fmt", "yuv420p10le")
    result = compare(eight, ten, metrics=["psnr", "psnr_y"])
    assert result["psnr_y"].state == "unmeasured"
    assert "the reference is 8-bit" in result["psnr_y"].reason
    assert not result.complete
    # The same pictures at two depths: what rounding to 8 bits costs.
    assert result["psnr"].value > 45


def test_planes_that_nobody_asked_for_leave_a_comparison_complete(studio):
    a = studio.a_mp4()
    ten = studio(
        "ten.mp4", "-i", a, "-c:v", "libx264", "-pix_fmt", "yuv420p10le", "-colorspace", "bt709"
    )
    result = compare(a, ten, metrics=["psnr"])
    assert any(line.startswith("the matrix tag differs") for line in result.findings)
    assert result.complete
    assert [score.name for score in result.scores] == ["psnr", "psnr_pooled", "psnr_worst"]


def test_hdr_has_no_rgb_score(studio):
    options = "log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
    pq = studio(
        "pq.mp4", *src(1), "-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", options
    )
    result = compare(pq, pq, metrics=["psnr", "ssim", "psnr_y"])
    assert {result[name].state for name in ("psnr", "ssim")} == {"unmeasured"}
    assert result["psnr"].reason.startswith("PQ picture: psnr is defined on SDR")
    assert result["psnr_y"].state == "identical"


def test_sizes_that_differ_are_refused_and_named(studio):
    a = studio.a_mp4()
    small = studio("small.mp4", "-i", a, "-vf", "scale=224:160")
    with pytest.raises(ProtocolError, match=r"is 224x160, its reference \S+ 320x240: expected one"):
        compare(a, small)


def test_damage_is_found_and_nothing_is_paired_with_the_missing(studio):
    fast = studio("fast.mp4", "-i", studio.a_mp4(), "-c", "copy", "-movflags", "+faststart")
    cut = studio.part("cut.mp4", fast, 0.6)
    result = compare(fast, cut)
    assert not result.aligned
    assert any(line.startswith("the candidate is damaged: ") for line in result.findings)
    trimmed = compare(fast, cut, align="index", metrics=["psnr_y"])
    assert 0 < len(trimmed.facts.pairs) < 60


@pytest.fixture(scope="module")
def zeroed(studio):
    """Makes a copy of a file in which the payload of some packets is zeros."""

    def make(name, of, first, last):
        data = bytearray(of.read_bytes())
        with av.open(str(of)) as container:
            packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
        for position, size in packets[first:last]:
            data[position : position + size] = bytes(size)
        path = studio.folder / name
        path.write_bytes(data)
        return path

    return make


@pytest.fixture(scope="module")
def keyed(studio):
    """60 frames, a key frame every six."""
    coding = ("-c:v", "libx264", "-g", "6", "-bf", "0", "-pix_fmt", "yuv420p")
    return studio("keyed.mp4", *src(2), *coding)


def test_more_frames_lost_in_one_piece_than_a_shift_is_searched_over(keyed, zeroed):
    """The counts tell; pairing by index or time still meets the frames that are left."""
    gap = zeroed("gap.mp4", keyed, 6, 48)
    result = compare(keyed, gap, metrics=["psnr"])
    assert not result.aligned
    assert result.reasons == ("the candidate has 18 frames, the reference 60",)
    left = [*range(6), *range(48, 60)]
    for align in ("index", "timestamps"):
        found = compare(keyed, gap, metrics=["psnr"], align=align)
        assert found.facts.pairs.tolist() == [[i, i] for i in left]
        assert found["psnr"].state == "identical"
    assert not compare(gap, keyed, metrics=["psnr"]).aligned
    with pytest.raises(MediaError, match="the pictures do not tell"):
        compare(keyed, gap, metrics=["psnr"], align="auto")


def test_a_frame_that_fidelity_cannot_pair_is_named(keyed, zeroed):
    for name, first, last in (("middle.mp4", 30, 36), ("end.mp4", 54, 60)):
        lost = zeroed(name, keyed, first, last)
        for pair in ((keyed, lost), (lost, keyed)):
            with pytest.raises(MediaError, match=f"frame {first} of one clip could not"):
                fidelity(*pair, ("psnr",))


def test_the_codec_floor_stands_beside_the_score(studio):
    source = studio("source.mkv", *src(1), "-c:v", "ffv1", "-pix_fmt", "yuv420p")
    coded = studio("coded.mp4", "-i", source, "-c:v", "libx264", "-crf", "28")
    result = compare(source, coded, metrics=["psnr_y"], codec_floor=True)
    floor = {score.name: score for score in result.codec_floor.scores}
    # Nothing but the encoding lies between the two, so the floor is the whole distance.
    assert floor["psnr_y"].value == pytest.approx(result["psnr_y"].value, abs=0.05)
    unknown = compare(coded, source, metrics=["psnr_y"], codec_floor=True)
    assert unknown.codec_floor.scores == ()
    assert "ffv1" in unknown.codec_floor.reason
    assert unknown.to_dict()["codec_floor"]["reason"] == unknown.codec_floor.reason


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        (["psnr_y", "ssim_y"], "all 60 frames are identical in what is read for psnr_y, ssim_y"),
        (["psnr_y", "psnr"], None),
        ([*PLANES], None),
    ],
)
def test_frames_are_identical_only_as_far_as_they_were_read(studio, metrics, said):
    a = studio("lossless.mkv", *src(2), "-c:v", "ffv1", "-pix_fmt", "yuv420p")
    # Another colour on the same luma.
    hue = studio("hue.mkv", "-i", a, "-vf", "hue=h=90", "-c:v", "ffv1")
    findings = compare(a, hue, metrics=metrics).findings
    assert [line for line in findings if "identical" in line] == ([said] if said else [])
    same = compare(a, a, metrics=PLANES).findings
    assert same == ("the planes of all 60 frames are identical",)


# ------------------------------------------------------------------------------------ pictures


def test_worst_pairs_are_the_frames_of_the_worst_scores(studio):
    a = studio.a_mp4()
    bad = studio("bad.mp4", "-i", a, "-c:v", "libx264", "-crf", "36")
    result = compare(a, bad, metrics=["psnr", "ssim"])
    pairs = list(worst_pairs(result, a, bad))
    assert {pair.candidate_index for pair in pairs} == {
        result["psnr"].worst_frame, result["ssim"].worst_frame,
    }  # fmt: skip
    for pair in pairs:
        assert pair.maps.reference_rgb.shape == (240, 320, 3)
        assert pair.maps.error_map.max() > 0
        assert pair.value == result[pair.metric].worst


# ------------------------------------------------------------------------------------ requests


def test_every_paired_metric_gives_a_score_by_name(moving):
    """A missing extra makes its metrics unmeasured by name, never absent."""
    result = compare(moving[:3], moving[:3], metrics=list(PAIRED_METRICS))
    names = {score.name for score in result.scores}
    for request in PAIRED_METRICS:
        assert any(name == request or name.startswith(f"{request}_") for name in names), request
    for score in result.unmeasured:
        assert score.reason
        assert score.value is None


def test_impls_are_known_before_anything_is_measured(moving):
    impls = metric_impls(["psnr", "ssim_y", "vmaf", "xpsnr"])
    assert impls["psnr"] == "psnr@1" == compare(moving[:2], moving[:2])["psnr"].impl
    assert set(impls) == {"psnr", "ssim_y", "vmaf", "xpsnr"}


def test_metrics_are_checked_by_name():
    assert check_metrics("ssim, psnr,ssim") == ("ssim", "psnr")
    with pytest.raises(InputError, match="metric 'snr' is unknown; the paired metrics are psnr"):
        check_metrics(["psnr", "snr"])
    with pytest.raises(InputError, match="no metric was asked for"):
        check_metrics([])


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([[1, 0], [0, 1]], "must ascend"),
        ([[0, 40]], "below 40 reference and 40 candidate"),
        ([0, 1], "expected"),
    ],
)
def test_pairs_that_cannot_be_are_refused(moving, pairs, said):
    with pytest.raises(InputError, match=said):
        measure_pair(moving, moving, pairs=np.array(pairs))


def test_what_is_wrong_with_a_call_is_said(moving):
    with pytest.raises(InputError, match="align='best': expected one of auto, index, timestamps"):
        compare(moving, moving, align="best")
    with pytest.raises(InputError, match="the reference has no time stamps"):
        compare(moving, moving, align="timestamps")
    broken = moving.astype(np.float32) / 255
    broken[7, 0, 0, 0] = np.nan
    with pytest.raises(MediaError, match="candidate frame 7 holds 1 NaN"):
        compare(moving, broken)


def test_equal_comparisons_are_equal_bytes_for_any_number_of_threads(studio):
    a = studio.a_mp4()
    bad = studio("bad.mp4", "-i", a, "-c:v", "libx264", "-crf", "36")
    metrics = ["psnr", "ssim", "ms_ssim", *PLANES, "ssim_y"]
    found = {compare(a, bad, metrics=metrics, threads=n).to_json() for n in (1, 2, 4)}
    assert len(found) == 1


def test_pictures_that_do_not_tell_are_aligned_by_number_alone():
    still = np.repeat(clips.pan(1, 96, 128, 3), 6, axis=0)
    other = np.clip(still + np.random.default_rng(1).normal(0, 3, still.shape), 0, 255)
    result = compare(still, other.astype(np.uint8), metrics=["psnr"])
    assert result.aligned
    assert not result.facts.pairing.lag_evidence
    assert any(line.startswith("aligned by number and rate alone") for line in result.findings)
    assert not any("by number" in line for line in compare(still, still).findings)


def test_ms_ssim_of_a_small_picture_is_another_number(moving, noisy):
    assert compare(moving, noisy, metrics=["ms_ssim"])["ms_ssim"].impl == "ms_ssim@1+4scales"


def test_the_floor_of_a_pair_whose_tags_differ_is_of_the_picture_alone(studio):
    a = studio.a_mp4()
    how = "h264_metadata=matrix_coefficients=1"
    other = studio("matrix.mp4", "-i", a, "-c", "copy", "-bsf:v", how)
    result = compare(a, other, metrics=["psnr", "psnr_y"], codec_floor=True)
    assert {score.name for score in result.codec_floor.scores} == {
        "psnr", "psnr_pooled", "psnr_worst",
    }  # fmt: skip
    planes = compare(a, other, metrics=["psnr_y"], codec_floor=True)
    assert planes.codec_floor.reason.startswith("matrix or range differ")


def test_a_comparison_says_in_a_line_what_it_is(moving):
    result = compare(moving[:2], moving[:2], metrics=["psnr", "ssim"])
    assert repr(result).endswith("aligned; psnr=identical, psnr_pooled=identical, ssim=1>")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("psnr_pooled", "comes with psnr: ask for that"),
        ("xpsnr_y", "comes with xpsnr: ask for that"),
        ("jerk_ratio", "is a number of one clip: screentest measure gives it"),
        ("niqe", "is planned, and nothing measures it yet"),
        ("psnrr", "is unknown"),
    ],
)
def test_a_name_that_cannot_be_asked_of_a_pair_says_where_it_comes_from(name, says):
    clip = np.zeros((2, 32, 32, 3), np.uint8)
    with pytest.raises(InputError, match=f"metric '{name}' {says}"):
        screentest.compare(clip, clip, metrics=[name])
