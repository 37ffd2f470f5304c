"""Tensors on a CUDA device measure as they do on the CPU, and a flag says where they lay."""

import msgspec
import numpy as np
import pytest

import screentest
from screentest.metrics.audio import measure_audio
from screentest.metrics.audio_pair import measure_audio_pair
from screentest.metrics.sync import measure_sync
from tests.metrics.claps import claps, flashes

torch = pytest.importorskip("torch", reason='pip install "screentest[torch]"')

RATE = 48_000
FRAMES = (24, 41, 77)
LATE_S = 0.1


def copied(value):
    """Whether any flags in it say ``cuda_copied``."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        return any(map(copied, value.values()))
    if isinstance(value, (list, tuple)):
        return "cuda_copied" in value or any(map(copied, value))
    return False


def at_home(value):
    """The same without that flag."""
    if isinstance(value, msgspec.Struct):
        return type(value)(**{k: at_home(v) for k, v in msgspec.structs.asdict(value).items()})
    if isinstance(value, dict):
        return {k: at_home(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(
            at_home(v) for v in value if not isinstance(v, str) or v != "cuda_copied"
        )
    return value


def agree(there, here):
    assert copied(there) and not copied(here)
    assert at_home(there) == here


@pytest.fixture(scope="module")
def wave():
    """Stereo noise of three and a bit seconds that fades, with a click."""
    random = np.random.default_rng(5)
    noise = (
        random.uniform(-0.5, 0.5, (RATE * 3 + 77, 2)) * np.linspace(1, 0.01, RATE * 3 + 77)[:, None]
    )
    noise[RATE] = 0.999
    return torch.from_numpy(noise.astype(np.float32))


@pytest.fixture(scope="module")
def flashing():
    return torch.from_numpy(flashes(24, 4, FRAMES))


@pytest.fixture(scope="module")
def clapping():
    times = [frame / 24 + LATE_S for frame in FRAMES]
    return torch.from_numpy(claps(RATE, 4, times, kind="clap"))


DTYPES = ["float32", "float16", "bfloat16", "float64"]


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_cuda_sound_measures_as_that_of_the_cpu(wave, dtype):
    wave = wave.to(getattr(torch, dtype))
    there, here = (measure_audio(w, sample_rate=RATE) for w in (wave.cuda(), wave))
    agree(there, here)
    assert here.audio_lufs is not None and here.series is not None


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pair_of_cuda_sounds_measures_as_that_of_the_cpu(wave, dtype):
    reference = wave.to(getattr(torch, dtype))
    candidate = torch.roll(wave, 48, 0).mul(0.9).to(getattr(torch, dtype))
    here = measure_audio_pair(reference, candidate, sample_rate=RATE)
    agree(measure_audio_pair(reference.cuda(), candidate.cuda(), sample_rate=RATE), here)
    agree(measure_audio_pair(reference, candidate.cuda(), sample_rate=RATE), here)
    assert here.audio_align_lag_ms == 1.0


@pytest.mark.usefixtures("cuda")
def test_cuda_frames_and_sound_are_as_far_apart_as_those_of_the_cpu(flashing, clapping):
    options = {"frame_rate": 24, "sample_rate": RATE}
    here = measure_sync(flashing, clapping, **options)
    agree(measure_sync(flashing.cuda(), clapping.cuda(), **options), here)
    agree(measure_sync(flashing.cuda(), clapping, **options), here)
    agree(measure_sync(flashing, clapping.cuda(), **options), here)
    assert here.av_sync_offset_ms == pytest.approx(1000 * LATE_S, abs=25)


@pytest.mark.usefixtures("cuda")
def test_the_verdict_on_a_cuda_sound_with_its_picture_and_reference(flashing, clapping):
    def verdict(reference, candidate, frames):
        return screentest.audio_verdict(candidate, reference, frames, 24, sample_rate=RATE)

    quiet = clapping * 0.8
    here = verdict(clapping, quiet, flashing)
    there = verdict(clapping.cuda(), quiet.cuda(), flashing.cuda())
    agree(there, here)
    assert here.pair is not None and here.sync is not None
    assert here.sync.av_sync_offset_ms is not None
    assert "cuda_copied" in there.to_dict()["input"]["flags"]


@pytest.mark.usefixtures("cuda")
def test_nan_on_the_device_is_counted_like_any(wave):
    broken = wave.clone()
    broken[123, 1] = torch.nan
    there, here = (screentest.audio_verdict(w, sample_rate=RATE) for w in (broken.cuda(), broken))
    agree(there, here)
    assert here.facts.non_finite == 1


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32"])
def test_cuda_frames_screen_measure_and_compare_as_those_of_the_cpu(flashing, dtype):
    frames = flashing if dtype == "uint8" else (flashing / 255).to(getattr(torch, dtype))
    worse = torch.roll(frames, 1, 2)
    agree(
        *(
            screentest.screen(f, frame_rate=24, temporal=True).to_dict()
            for f in (frames.cuda(), frames)
        )
    )
    agree(*(screentest.measure(f, frame_rate=24).to_dict() for f in (frames.cuda(), frames)))
    agree(
        *(
            screentest.compare(*pair).to_dict()
            for pair in ((frames.cuda(), worse.cuda()), (frames, worse))
        )
    )


@pytest.mark.usefixtures("cuda")
def test_frames_pushed_from_the_device_screen_as_those_of_the_cpu(flashing):
    results = []
    for clip in (flashing.cuda(), flashing):
        screener = screentest.Screener(source="pushed")
        for frame in clip:
            screener.push(frame)
        results.append(screener.finish().to_dict())
    agree(*results)
