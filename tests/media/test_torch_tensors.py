"""Torch tensors, which the media layer reads without importing torch itself."""

import numpy as np
import pytest

from screentest.errors import MediaError
from screentest.media import open_clip, read_audio

torch = pytest.importorskip("torch", reason='pip install "screentest[torch]"')


def shown(source, **options):
    with open_clip(source, **options) as clip:
        return clip.info, np.stack([frame.planes[0] for frame in clip.frames()])


def pictures():
    return torch.rand(3, 20, 30, 3, generator=torch.Generator().manual_seed(1))


def test_a_cpu_tensor_is_read_in_place():
    source = pictures()
    with open_clip(source) as clip:
        assert np.shares_memory(clip.array, source.numpy())


def test_a_tensor_that_needs_a_gradient_is_detached():
    source = pictures().requires_grad_()
    info, seen = shown(source)
    assert "detached" in info.flags
    assert np.array_equal(seen, source.detach().numpy())


def test_bfloat16_is_read_as_float32():
    source = pictures().to(torch.bfloat16)
    info, seen = shown(source)
    assert info.conversion == "bfloat16 to float32"
    assert np.array_equal(seen, source.float().numpy())


def test_a_sparse_batch_of_one_is_one_clip():
    source = pictures()[None]
    info, seen = shown(source.to_sparse())
    assert info.frames == 3
    assert np.array_equal(seen, source[0].numpy())


def test_channels_first_must_be_said():
    source = pictures().permute(0, 3, 1, 2)
    with pytest.raises(MediaError, match='layout="TCHW"'):
        open_clip(source)
    assert np.array_equal(shown(source, layout="TCHW")[1], pictures().numpy())


def test_half_uint8_and_bool_tensors_are_read():
    assert shown(pictures().half())[1].dtype == np.float16
    assert shown((pictures() * 255).byte())[1].dtype == np.uint8
    assert shown(pictures() > 0.5)[1].max() == 255


def test_a_list_of_tensors_is_a_clip():
    assert np.array_equal(shown(list(pictures()))[1], pictures().numpy())


def test_a_meta_tensor_has_no_samples():
    with pytest.raises(MediaError, match="meta"):
        open_clip(torch.empty(3, 20, 30, 3, device="meta"))


def test_a_waveform_with_its_channels_first_is_read_as_it_lies():
    waveform = torch.rand(2, 500, generator=torch.Generator().manual_seed(2)) - 0.5
    with read_audio(waveform, sample_rate=24000, layout="CN") as sound:
        assert (sound.info.channels, sound.info.flags) == (2, ())
        assert np.array_equal(sound.samples, waveform.numpy().T)
    with pytest.raises(MediaError, match="CN"):
        read_audio(waveform, sample_rate=24000)


def test_a_waveform_that_needs_a_gradient_is_detached_and_a_narrow_one_widened():
    waveform = torch.tensor([0.5, -0.25, 0.75])
    sound = read_audio(waveform.clone().requires_grad_(), sample_rate=8000)
    assert sound.info.flags == ("detached",)
    assert sound.samples[:, 0].tolist() == [0.5, -0.25, 0.75]
    narrow = read_audio(waveform.to(torch.bfloat16), sample_rate=8000)
    assert narrow.info.flags == ("converted",)
    assert narrow.samples[:, 0].tolist() == [0.5, -0.25, 0.75]


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", ["uint8", "bool", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("axes", ["THWC", "TCHW"])
def test_cuda_pictures_equal_those_of_the_cpu(dtype, axes):
    source = pictures() * 255 if dtype == "uint8" else pictures()
    source = (source > 0.5) if dtype == "bool" else source.to(getattr(torch, dtype))
    if axes == "TCHW":
        source = source.permute(0, 3, 1, 2)
    (there, seen), (here, expected) = (shown(s, layout=axes) for s in (source.cuda(), source))
    assert set(there.flags) == {*here.flags, "cuda_copied"}
    assert seen.dtype == expected.dtype and np.array_equal(seen, expected)


@pytest.mark.usefixtures("cuda")
def test_a_list_of_cuda_pictures_and_one_that_is_no_strided_tensor():
    source = pictures()
    info, seen = shown([frame.cuda().requires_grad_() for frame in source])
    assert {"cuda_copied", "detached"} <= set(info.flags)
    assert np.array_equal(seen, source.numpy())
    info, seen = shown(source[None].to_sparse().cuda())
    assert (info.conversion, "cuda_copied" in info.flags) == ("sparse to dense", True)
    assert np.array_equal(seen, source.numpy())


@pytest.mark.usefixtures("cuda")
def test_pinned_memory_is_read_in_place():
    source = pictures().pin_memory()
    assert source.is_pinned()
    with open_clip(source) as clip:
        assert "cuda_copied" not in clip.info.flags
        assert np.shares_memory(clip.array, source.numpy())


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "int32", "float16", "bfloat16", "float32", "float64"]
)
def test_a_cuda_waveform_equals_that_of_the_cpu(dtype):
    wave = torch.rand(2, 20_001, generator=torch.Generator().manual_seed(3)) * 2 - 1
    if not getattr(torch, dtype).is_floating_point:
        wave = wave * 100 + 100
    wave = wave.to(getattr(torch, dtype))
    flags = {"cuda_copied", "converted"} if dtype == "bfloat16" else {"cuda_copied"}
    for options, source in (({"layout": "CN"}, wave), ({}, wave.T), ({}, wave[0, ::3])):
        here = read_audio(source, sample_rate=8000, **options)
        there = read_audio(source.cuda(), sample_rate=8000, **options)
        assert set(there.info.flags) == flags
        assert np.array_equal(there.samples, here.samples)
        for ours, theirs in zip(there.blocks(), here.blocks(), strict=True):
            assert np.array_equal(ours, theirs)


def test_a_cuda_waveform_that_needs_a_gradient_is_detached(cuda):
    wave = torch.tensor([0.5, -0.25, 0.75], device="cuda", requires_grad=True)
    sound = read_audio(wave * 2, sample_rate=8000)
    assert sound.info.flags == ("cuda_copied", "detached")
    assert sound.samples[:, 0].tolist() == [1.0, -0.5, 1.5]
    assert cuda.is_grad_enabled() and wave.requires_grad and wave.grad is None


def test_an_open_sound_or_clip_holds_nothing_on_the_device(cuda):
    wave, frames = torch.rand(1_000_000), pictures()
    before = cuda.cuda.memory_allocated()
    sound = read_audio(wave.cuda(), sample_rate=48_000)
    with open_clip(frames.cuda()) as clip:
        assert cuda.cuda.memory_allocated() == before
        assert len(list(clip.frames())) == 3
    assert np.array_equal(sound.samples[:, 0], wave.numpy())
