"""One pair of 1080p frames in memory: ours and the field's. Each case asserts its answer first."""

import numpy as np
import pytest
import torch
from skimage.metrics import structural_similarity
from torchmetrics.functional.image import (
    multiscale_structural_similarity_index_measure,
    structural_similarity_index_measure,
)

from benches import material
from screentest import _native

SSIM = "ssim: 1080p u8 luma, against scikit-image"
SSIM_TORCH = "ssim: 1080p u8 luma, against torchmetrics"
MS_SSIM = "ms_ssim: 1080p u8 luma, against torchmetrics"
PSNR = "psnr: 1080p u8 rgb, against numpy"

torch.set_num_threads(2)


@pytest.fixture(scope="module")
def frames():
    """A frame of the real clip at 1080p, and the same with noise."""
    picture = material.frame_1080p()
    noise = np.random.default_rng(3).normal(0, 6, picture.shape)
    return picture, np.clip(picture + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def luma(frames):
    return [np.ascontiguousarray(frame[..., 1]) for frame in frames]


@pytest.fixture(scope="module")
def tensors(luma):
    return [torch.from_numpy(plane.astype(np.float32) / 255)[None, None] for plane in luma]


def kernel(threads, **wants):
    format = _native.FrameFormat.grey(width=1920, height=1080, dtype="uint8")
    return _native.FidelityKernel(format, format, threads=threads, **wants)


def measured(kernel, luma, name):
    values, *_ = kernel.measure([luma[0]], [luma[1]])
    return values[name]


def scikit_image(luma):
    return structural_similarity(
        *luma, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255
    )


@pytest.mark.benchmark(group=SSIM)
def bench_ssim_screentest(timed, luma, threads):
    ours = kernel(threads, ssim_y=True)
    assert measured(ours, luma, "ssim_y") == pytest.approx(scikit_image(luma), abs=1e-9)
    timed(lambda: measured(ours, luma, "ssim_y"), 100, against=lambda: scikit_image(luma), turns=8)


@pytest.mark.benchmark(group=SSIM)
def bench_ssim_scikit_image(timed, luma):
    assert 0 < scikit_image(luma) < 1
    timed(lambda: scikit_image(luma), 8)


def torchmetrics_ssim(tensors):
    return float(structural_similarity_index_measure(*tensors, data_range=1.0))


@pytest.mark.benchmark(group=SSIM_TORCH)
def bench_ssim_screentest_beside_torchmetrics(timed, luma, tensors, threads):
    ours = kernel(threads, ssim_y=True, border="reflect")
    expected = torchmetrics_ssim(tensors)
    assert measured(ours, luma, "ssim_y") == pytest.approx(expected, abs=1e-4)
    against = lambda: torchmetrics_ssim(tensors)  # noqa: E731
    timed(lambda: measured(ours, luma, "ssim_y"), 100, against=against, turns=8)


@pytest.mark.benchmark(group=SSIM_TORCH)
def bench_ssim_torchmetrics(timed, tensors):
    assert 0 < torchmetrics_ssim(tensors) < 1
    timed(lambda: torchmetrics_ssim(tensors), 8)


def torchmetrics_ms_ssim(tensors):
    return float(multiscale_structural_similarity_index_measure(*tensors, data_range=1.0))


@pytest.mark.benchmark(group=MS_SSIM)
def bench_ms_ssim_screentest(timed, luma, tensors, threads):
    ours = kernel(threads, ms_ssim_y=True)
    expected = torchmetrics_ms_ssim(tensors)
    assert measured(ours, luma, "ms_ssim_y") == pytest.approx(expected, abs=1e-3)
    against = lambda: torchmetrics_ms_ssim(tensors)  # noqa: E731
    timed(lambda: measured(ours, luma, "ms_ssim_y"), 100, against=against, turns=8)


@pytest.mark.benchmark(group=MS_SSIM)
def bench_ms_ssim_torchmetrics(timed, tensors):
    assert 0 < torchmetrics_ms_ssim(tensors) < 1
    timed(lambda: torchmetrics_ms_ssim(tensors), 8)


def numpy_psnr(frames):
    a, b = frames
    return 10 * np.log10(255**2 / np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2))


@pytest.mark.benchmark(group=PSNR)
def bench_psnr_screentest(timed, frames, threads):
    format = _native.FrameFormat.rgb(width=1920, height=1080, dtype="uint8")
    ours = _native.FidelityKernel(format, format, rgb=True, threads=threads)

    def psnr():
        values, *_ = ours.measure([frames[0]], [frames[1]])
        return -10 * np.log10(values["mse"])

    assert psnr() == pytest.approx(numpy_psnr(frames), abs=1e-9)
    timed(psnr, 200, against=lambda: numpy_psnr(frames), turns=20)


@pytest.mark.benchmark(group=PSNR)
def bench_psnr_numpy(timed, frames):
    assert 20 < numpy_psnr(frames) < 60
    timed(lambda: numpy_psnr(frames), 20)
