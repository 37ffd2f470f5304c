"""Fidelity by hand: values worked out on paper or by plain numpy, and what bad input gets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest import _native, compare
from screentest.errors import InputError, MediaError, ProtocolError
from screentest.media import open_clip
from screentest.metrics.fidelity import (
    FIDELITY,
    FidelityAccumulator,
    fidelity,
    frame_maps,
    mae,
    ms_ssim,
    mse,
    psnr,
    ssim,
)
from tests.oracles import clips


def scores(facts):
    return {score.name: score for score in facts.scores}


def picture(height=64, width=80, seed=1):
    return clips.pan(1, height, width, seed)[0]


def numpy_psnr(a, b, peak):
    return 10 * math.log10(peak**2 / np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2))


# ------------------------------------------------------------------------------------ by hand


def test_mean_of_dB_pooled_error_and_worst_frame_are_three_numbers():
    """Nine frames at 40 dB, one at 10 dB: mean (9 * 40 + 10) / 10 = 37; pooled error
    (9e-4 + 0.1) / 10 = 0.01009, that is 19.961 dB."""
    black = np.zeros((10, 16, 16, 3), np.float32)
    other = np.full_like(black, 0.01)
    other[6] = math.sqrt(0.1)
    found = scores(fidelity(black, other, ("psnr",)))
    assert found["psnr"].value == pytest.approx(37.0, abs=1e-5)
    assert found["psnr_pooled"].value == pytest.approx(-10 * math.log10(0.01009), abs=1e-5)
    assert found["psnr_worst"].value == pytest.approx(10.0, abs=1e-5)
    assert {score.worst_frame for score in found.values()} == {6}


def test_identical_frames_are_a_state_and_leave_the_mean():
    clip = np.stack([picture()] * 3)
    other = clip.copy()
    other[1] ^= 1  # every sample one level off: 20 log10(255)
    found = scores(fidelity(clip, other, ("psnr", "ssim", "mse")))
    assert found["psnr"].value == pytest.approx(20 * math.log10(255))
    assert (found["psnr"].identical_frames, found["psnr"].frames) == (2, 3)
    assert found["ssim"].identical_frames == 2
    same = scores(fidelity(clip, clip, ("psnr", "ssim", "ms_ssim", "mse", "mae")))
    assert {score.state for score in same.values()} == {"identical"}
    assert [same[n].value for n in ("psnr", "psnr_pooled", "psnr_worst")] == [None] * 3
    assert [same[n].value for n in ("ssim", "ms_ssim", "mse", "mae")] == [1.0, 1.0, 0.0, 0.0]
    assert all(score.worst_frame is None for score in same.values())


def test_floats_as_far_beyond_white_and_black_as_is_let_in_still_have_numbers():
    far = 1.9 / 1000
    black, white = (np.full((2, 16, 16, 3), v, np.float32) for v in (-far, 1 + far))
    found = {s.name: s.value for s in compare(black, white, metrics=["psnr", "mse", "mae"]).scores}
    error = 1 + 2 * far
    assert found["mae"] == pytest.approx(error, rel=1e-6)
    assert found["mse"] == pytest.approx(error**2, rel=1e-6)
    assert found["psnr"] == found["psnr_worst"] == pytest.approx(-20 * np.log10(error), rel=1e-4)


def test_black_against_white():
    black, white = np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 255, np.uint8)
    assert psnr(black, white).value == 0.0
    assert mse(black, white).value == mae(black, white).value == 1.0
    assert ssim(black, white).value == pytest.approx(1e-4 / (1 + 1e-4), rel=1e-12)


def test_uint8_differences_do_not_wrap():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 256, (64, 64, 3), np.uint8) for _ in range(2))
    # Two independent uniform samples: 10 log10(6 / (1 - 1/255^2...)) = 7.7 dB or so.
    assert psnr(a, b).value == pytest.approx(numpy_psnr(a, b, 255), abs=1e-9)
    assert 7.4 < psnr(a, b).value < 8.0


@pytest.mark.parametrize(("dtype", "options"), [(np.uint8, {}), (np.uint16, {"bit_depth": 16})])
def test_sums_over_8k_do_not_overflow(dtype, options):
    white = np.iinfo(dtype).max
    black, full = (np.broadcast_to(dtype(v), (4320, 7680)) for v in (0, white))
    found = scores(fidelity(black, full, ("psnr", "mae"), layout="HW", **options))
    assert (found["psnr"].value, found["mae"].value) == (0.0, 1.0)


def test_anti_correlated_pictures_have_a_negative_ssim_and_a_defined_ms_ssim():
    image = np.random.default_rng(1).integers(0, 256, (192, 192, 3), np.uint8)
    found = ssim(image, 255 - image)
    # Covariance is minus the variance, and luminance close to 1.
    assert -1 <= found.value < -0.9
    multiple = ms_ssim(image, 255 - image)
    assert 0 <= multiple.value < 1e-3
    assert multiple.details["clipped_scales"] >= 1


@pytest.mark.parametrize(
    ("side", "scales"), [(11, 1), (21, 1), (22, 2), (87, 3), (88, 4), (175, 4), (176, 5)]
)
def test_scales_end_where_the_window_no_longer_fits(side, scales):
    image = picture(side, side + 3)
    found = ms_ssim(image, np.clip(image + 3, 0, 255))
    assert found.details["scales"] == scales


def test_change_of_brightness_shows_at_every_size():
    """Contrast and structure are blind to it; the last scale done carries the luminance."""
    for side in (40, 100, 200):
        image = picture(side, side) // 2
        found = ms_ssim(image, image + 60)
        assert found.value < 0.995


def test_one_scale_is_ssim_itself():
    image = picture(20, 20)
    other = image // 2
    assert ms_ssim(image, other).value == pytest.approx(ssim(image, other).value, rel=1e-12)


# ------------------------------------------------------------------- one picture, many forms


def as_forms(image):
    """The same picture as 8 and 16 bits, halves and floats, and with other strides."""
    wide = np.repeat(image, 2, axis=1)
    return {
        "uint8": (image, {}),
        "uint16": (image.astype(np.uint16) * 257, {"bit_depth": 16}),
        "float32": (image.astype(np.float32) / 255, {}),
        "float32 to 255": (image.astype(np.float32), {"value_range": (0, 255)}),
        "minus one to one": (image.astype(np.float32) / 127.5 - 1, {"value_range": (-1, 1)}),
        "every second column": (wide[:, ::2], {}),
        "turned twice": (image[::-1, ::-1].copy()[::-1, ::-1], {}),
        "planes first": (np.ascontiguousarray(image.transpose(2, 0, 1)), {"layout": "CHW"}),
        "read-only": (np.broadcast_to(image, image.shape), {}),
    }


@pytest.mark.parametrize("form", as_forms(picture()))
def test_every_form_of_a_picture_has_the_same_numbers(form):
    a, b = picture(), clips.blur(picture()[None])[0]
    (left, options), (right, _) = as_forms(a)[form], as_forms(b)[form]
    names = ("psnr", "mae", "ssim", "ms_ssim")
    found = scores(fidelity(left, right, names, **options))
    plain = scores(fidelity(a, b, names))
    for name, score in plain.items():
        # Luma of floats and of 16 bits is rounded to 2^-20.
        assert found[name].value == pytest.approx(score.value, abs=1e-6), name


def test_half_floats_and_mixed_types_compare():
    a, b = picture(), clips.blur(picture()[None])[0]
    halves = b.astype(np.float16) / np.float16(255)
    with open_clip(a) as one, open_clip(halves) as other:
        pairs = FidelityAccumulator(one.format, other.format, ("psnr", "ssim"))
        pairs.push(next(iter(one.frames())), next(iter(other.frames())))
    found = scores(pairs.finish())
    # A half in [0, 1] is rounded to 2^-11: 0.06 levels.
    assert found["psnr"].value == pytest.approx(psnr(a, b).value, abs=0.02)
    assert found["ssim"].value == pytest.approx(ssim(a, b).value, abs=1e-3)


def test_the_input_is_left_as_it_was():
    a, b = picture(), clips.blur(picture()[None])[0]
    before = a.copy(), b.copy()
    fidelity(a, b, tuple(name for name in FIDELITY if not name.endswith(("_cb", "_cr"))))
    assert (a == before[0]).all()
    assert (b == before[1]).all()


# ---------------------------------------------------------------------------- decoder planes


def yuv_format(width, height, depth=8, *, limited=True, kr=0.2126, kb=0.0722, chroma=(1, 1)):
    return _native.FrameFormat.yuv(
        width=width, height=height, bit_depth=depth, kr=kr, kb=kb, limited=limited,
        chroma_shift=chroma,
    )  # fmt: skip


def random_planes(seed, width, height, depth, chroma):
    rng = np.random.default_rng(seed)
    top = 1 << depth
    dtype = np.uint8 if depth == 8 else np.uint16
    half = (-(-height >> chroma[1]), -(-width >> chroma[0]))
    return [rng.integers(0, top, shape, dtype) for shape in ((height, width), half, half)]


def numpy_rgb(planes, depth, limited, kr, kb, chroma):
    """Codes of R, G and B in float64: the matrix, chroma repeated, rounded and clipped."""
    y, cb, cr = (p.astype(np.float64) for p in planes)
    height, width = y.shape
    cb, cr = (
        np.repeat(np.repeat(p, 1 << chroma[1], 0), 1 << chroma[0], 1)[:height, :width]
        for p in (cb, cr)
    )
    white, unit = (1 << depth) - 1, 1 << (depth - 8)
    black, span, chroma_span = (16 * unit, 219 * unit, 224 * unit) if limited else (0, white, white)
    y, cb, cr = (
        (y - black) / span,
        (cb - (128 * unit)) / chroma_span,
        (cr - 128 * unit) / chroma_span,
    )
    red = y + 2 * (1 - kr) * cr
    blue = y + 2 * (1 - kb) * cb
    green = (y - kr * red - kb * blue) / (1 - kr - kb)
    return np.rint(np.clip(np.stack([red, green, blue], -1), 0, 1) * white)


@pytest.mark.parametrize("depth", [8, 10, 12, 16])
@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("matrix", [(0.299, 0.114), (0.2126, 0.0722), (0.2627, 0.0593)])
@pytest.mark.parametrize("chroma", [(1, 1), (1, 0), (0, 0), (2, 0)])
def test_rgb_of_planes_is_the_matrix_in_float64(depth, limited, matrix, chroma):
    width, height = 37, 23
    options = {"depth": depth, "limited": limited, "chroma": chroma}
    format = yuv_format(width, height, kr=matrix[0], kb=matrix[1], **options)
    a, b = (random_planes(seed, width, height, depth, chroma) for seed in (1, 2))
    values, *_ = _native.FidelityKernel(format, format, rgb=True).measure(a, b)
    left, right = (numpy_rgb(p, depth, limited, *matrix, chroma) for p in (a, b))
    white = (1 << depth) - 1
    expected = np.mean((left - right) ** 2) / white**2
    # A value on the edge between two codes may round to either.
    assert values["mse"] == pytest.approx(expected, rel=2e-5)
    shown = _native.rgb8(format, a)
    assert np.abs(shown.astype(int) - np.rint(left / white * 255)).max() <= 1


def test_native_planes_by_numpy():
    a, b = (random_planes(seed, 38, 22, 10, (1, 1)) for seed in (3, 4))
    format = yuv_format(38, 22, 10)
    values, *_ = _native.FidelityKernel(format, format, planes=True).measure(a, b)
    for name, x, y in zip(("mse_y", "mse_cb", "mse_cr"), a, b, strict=True):
        expected = np.mean((x.astype(np.int64) - y) ** 2) / 1023**2
        assert values[name] == pytest.approx(expected, rel=1e-14)


def test_luma_of_planes_ignores_what_the_range_cuts():
    """Limited range: luma is clip((Y - 16) / 219), and ssim_y reads the codes as they are."""
    rng = np.random.default_rng(6)
    y = rng.integers(16, 236, (32, 32), np.uint8)
    other = np.clip(y.astype(int) + rng.integers(-9, 10, y.shape), 16, 235).astype(np.uint8)
    grey = np.full((16, 16), 128, np.uint8)
    format = yuv_format(32, 32, kr=0.299, kb=0.114)
    kernel = _native.FidelityKernel(format, format, ssim=True, ssim_y=True)
    values, *_ = kernel.measure([y, grey, grey], [other, grey, grey])
    full = [((p.astype(np.float32) - 16) / 219) for p in (y, other)]
    assert values["ssim"] == pytest.approx(ssim(*full, layout="HW").value, abs=1e-6)
    assert values["ssim_y"] == pytest.approx(ssim(y, other, layout="HW").value, rel=1e-12)


def test_formats_without_common_planes_leave_native_metrics_unmeasured():
    a = yuv_format(32, 32, 8)
    for b, said in (
        (yuv_format(32, 32, 10), "8-bit YUV with chroma 1/2 x 1/2, the candidate 10-bit"),
        (yuv_format(32, 32, 8, chroma=(0, 0)), "the candidate 8-bit YUV with chroma 1/1 x 1/1"),
        (
            _native.FrameFormat.rgb(width=32, height=32, dtype="uint8"),
            "8-bit RGB, not Y, Cb and Cr",
        ),
    ):
        pairs = FidelityAccumulator(a, b, ("psnr_y", "psnr"))
        assert set(pairs.unmeasured) == {"psnr_y"}
        assert said in pairs.unmeasured["psnr_y"]


# -------------------------------------------------------------------- the same bits everywhere


def kernel_values(threads, simd, formats, planes, border="valid"):
    kernel = _native.FidelityKernel(
        *formats, rgb=True, planes=True, ssim=True, ms_ssim=True, ssim_y=True, ms_ssim_y=True,
        border=border, threads=threads, simd=simd,
    )  # fmt: skip
    return kernel.measure(*planes)[0]


@pytest.mark.parametrize("depth", [8, 10])
@pytest.mark.parametrize("border", ["valid", "reflect"])
def test_threads_and_levels_change_no_bit(depth, border):
    width, height = 205, 187
    formats = [yuv_format(width, height, depth)] * 2
    planes = [random_planes(seed, width, height, depth, (1, 1)) for seed in (1, 2)]
    expected = kernel_values(1, "baseline", formats, planes, border)
    assert len(expected) == 13
    for simd in _native.simd_levels():
        for threads in (1, 2, 8):
            assert kernel_values(threads, simd, formats, planes, border) == expected


def test_float_errors_have_the_same_bits_on_every_level():
    rng = np.random.default_rng(2)
    format = _native.FrameFormat.rgb(width=61, height=77, dtype="float32")
    a, b = (rng.random((77, 61, 3), np.float32) for _ in range(2))
    found = set()
    for simd in _native.simd_levels():
        for threads in (1, 2, 8):
            kernel = _native.FidelityKernel(
                format, format, rgb=True, ssim=True, threads=threads, simd=simd
            )
            found.add(tuple(kernel.measure([a], [b])[0].items()))
    assert len(found) == 1
    assert dict(found.pop())["mse"] == pytest.approx(
        np.mean((a.astype(np.float64) - b) ** 2), rel=1e-12
    )


# ------------------------------------------------------------------------------------- merge


@given(cut=st.integers(1, 8), swapped=st.booleans())
def test_halves_merge_into_exactly_the_whole(cut, swapped):
    rng = np.random.default_rng(9)
    a = rng.integers(0, 256, (9, 24, 24, 3), np.uint8)
    b = np.clip(a + rng.integers(-3, 4, a.shape), 0, 255).astype(np.uint8)
    names = ("psnr", "mse", "ssim", "ms_ssim")
    with open_clip(a) as one, open_clip(b) as other:
        frames = list(zip(one.frames(), other.frames(), strict=True))
        parts = [FidelityAccumulator(one.format, other.format, names) for _ in range(3)]
    for i, (left, right) in enumerate(frames):
        parts[0].push(left, right)
        parts[1 if i < cut else 2].push(left, right)
    first, second = parts[1:][::-1] if swapped else parts[1:]
    first.merge(second)
    whole, merged = parts[0].finish(), first.finish()
    assert merged.scores == whole.scores
    assert (merged.frames == whole.frames).all()
    for name in names:
        assert (merged.series[name] == whole.series[name]).all()


def test_function_and_accumulator_agree():
    a, b = clips.pan(3, 32, 32, 1), clips.pan(3, 32, 32, 2)
    with open_clip(a) as one, open_clip(b) as other:
        pairs = FidelityAccumulator(one.format, other.format, ("ssim",))
        for left, right in zip(one.frames(), other.frames(), strict=True):
            pairs.push(left, right)
    assert pairs.finish().scores[0] == ssim(a, b)


# --------------------------------------------------------------------------------------- maps


def test_maps_lie_where_the_difference_is():
    a = picture(48, 64)
    b = a.copy()
    b[30:34, 40:44] ^= 128
    with open_clip(a) as one, open_clip(b) as other:
        frames = next(iter(one.frames())), next(iter(other.frames()))
        maps = frame_maps(*frames, one.format, other.format)
    expected = np.abs(a.astype(np.float64) - b).mean(-1) / 255
    assert maps.error_map == pytest.approx(expected, abs=1e-7)
    assert maps.ssim_map.shape == (38, 54)
    # A window is centred five pixels in; those that do not touch the spot read exactly 1.
    touched = np.ones((38, 54), bool)
    touched[30 - 10 : 34, 40 - 10 : 44] = False
    assert (maps.ssim_map[touched] == 1).all()
    assert maps.ssim_map[27, 37] < 0.9
    assert float(maps.ssim_map.mean()) == pytest.approx(ssim(a, b).value, abs=1e-7)
    assert (maps.reference_rgb == a).all()


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_samples_are_refused_by_frame(value):
    a = np.zeros((3, 16, 16, 3), np.float32)
    b = a.copy()
    b[2, 5, 5, 1] = value
    with pytest.raises(MediaError, match="candidate frame 2 holds 1 NaN or infinite sample:") as e:
        psnr(a, b)
    assert e.value.code == "non_finite_samples"
    with pytest.raises(MediaError, match="reference frame 2 holds"):
        ssim(b, a)


def test_floats_to_255_without_a_range_are_refused():
    image = picture().astype(np.float32)
    with pytest.raises(MediaError, match="say the range they are in with value_range"):
        ssim(image, image)


def test_unit_floats_said_to_span_255_are_refused():
    image = picture().astype(np.float32) / 255
    with pytest.raises(
        MediaError, match=r"lie in \[0, 1\], but value_range=\(0.0, 255.0\) was said"
    ):
        ssim(image, image, value_range=(0, 255))


@pytest.mark.parametrize("side", [1, 5, 7, 10])
def test_tiny_pictures_have_a_psnr_and_a_reason(side):
    a, b = np.zeros((side, side), np.uint8), np.full((side, side), 51, np.uint8)
    found = scores(fidelity(a, b, ("psnr", "ssim", "ms_ssim"), layout="HW"))
    assert found["psnr"].value == pytest.approx(20 * math.log10(5))
    for name in ("ssim", "ms_ssim"):
        assert (found[name].state, found[name].value) == ("unmeasured", None)
        assert found[name].reason == f"{side}x{side} pixels: the window needs 11 on each side"


def test_sizes_and_lengths_that_differ_are_refused():
    a = np.zeros((4, 16, 16, 3), np.uint8)
    with pytest.raises(ProtocolError, match="reference is 16x16, the candidate 18x16") as size:
        psnr(a, np.zeros((4, 16, 18, 3), np.uint8))
    assert size.value.code == "size_mismatch"
    with pytest.raises(ProtocolError, match="reference has 4 frames, the candidate 3") as length:
        psnr(a, a[:3])
    assert length.value.code == "length_mismatch"


def test_unknown_metric_and_border_are_named():
    a = np.zeros((16, 16, 3), np.uint8)
    with pytest.raises(
        InputError, match="metric 'pnsr' is unknown; the fidelity metrics are psnr,"
    ):
        fidelity(a, a, ("pnsr",))
    with pytest.raises(InputError, match='border "same": expected "valid" or "reflect"'):
        ssim(a, a, border="same")


def test_kernel_refuses_what_does_not_fit():
    grey = _native.FrameFormat.grey(width=16, height=16, dtype="uint8")
    other = _native.FrameFormat.grey(width=17, height=16, dtype="uint8")
    with pytest.raises(InputError, match="reference is 16x16, the candidate 17x16") as error:
        _native.FidelityKernel(grey, other)
    assert error.value.code == "size_mismatch"
    small = _native.FrameFormat.grey(width=10, height=16, dtype="uint8")
    with pytest.raises(InputError, match="10x16: expected at least 11 on each side") as error:
        _native.FidelityKernel(small, small, ssim=True)
    assert error.value.code == "too_small"
    rgb = _native.FrameFormat.rgb(width=16, height=16, dtype="uint8")
    with pytest.raises(InputError, match="native planes were asked for") as error:
        _native.FidelityKernel(rgb, rgb, planes=True)
    assert error.value.code == "no_common_planes"
    kernel = _native.FidelityKernel(grey, grey, planes=True)
    plane = np.zeros((16, 16), np.uint8)
    with pytest.raises(InputError, match="plane 0 has 16 rows of 15 samples"):
        kernel.measure([plane], [plane[:, 1:]])
