"""LPIPS and DISTS against lpips and torchmetrics, with the same tensors in both.

The files of AlexNet and VGG-16 are not shipped by any package and are never downloaded here, so
these tests put made, seeded weights of the same layout in their place. The linear layers of LPIPS
and the channel weights of DISTS are the real ones, from torchmetrics.
"""

import operator
import warnings

import numpy as np
import pytest

from screentest.media import open_clip
from screentest.metrics import instruments
from screentest.metrics.instruments import backbones, learned, torch_scope
from tests.instruments.conftest import measure, textured, worsened
from tests.making import src

torch = pytest.importorskip("torch", reason="pip install 'screentest[reference]'")
pytest.importorskip("torchmetrics", reason="pip install 'screentest[reference]'")

BOTH = ("lpips", "dists")


def batch(clip):
    return torch.from_numpy(clip.copy()).permute(0, 3, 1, 2).float() / 255


def install(features, state):
    for index, layer in features.named_children():
        if hasattr(layer, "weight"):
            layer.weight.data = state[f"features.{index}.weight"]
            layer.bias.data = state[f"features.{index}.bias"]


@pytest.fixture(scope="module")
def rival_lpips(made_states):
    """The authors' package: its own linear layers, our made features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torchvision, about how lpips 0.1.4 calls it
        lpips = pytest.importorskip("lpips", reason="install lpips")
        net = lpips.LPIPS(net="alex", pnet_rand=True, verbose=False)
    for k in range(1, 6):
        install(getattr(net.net, f"slice{k}"), made_states["alexnet"])
    return lambda a, b: net(batch(a), batch(b), normalize=True).detach().flatten().numpy()


@pytest.fixture(scope="module")
def torchmetrics_lpips(made_states):
    from torchmetrics.functional.image import lpips

    net = lpips._LPIPS(net="alex", pnet_rand=True)
    for k in range(1, 6):
        install(getattr(net.net, f"slice{k}"), made_states["alexnet"])
    return lambda a, b: net(batch(a), batch(b), normalize=True).detach().flatten().numpy()


@pytest.fixture(scope="module")
def rival_dists(made_states):
    from torchmetrics.functional.image import dists
    from torchvision.models import vgg16

    network = vgg16(weights=None)
    install(network.features, made_states["vgg16"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dists, "vgg16", lambda **_: network)
        net = dists.DISTSNetwork()
    return lambda a, b: net(batch(a), batch(b)).detach().flatten().numpy()


@pytest.mark.usefixtures("made_weights")
def test_lpips_equals_the_authors_package(rival_lpips, torchmetrics_lpips):
    reference = textured(3, 70, 97)
    candidate = worsened(reference, amount=40)
    series = measure(reference, candidate, ["lpips"]).series["lpips"]
    assert series == pytest.approx(rival_lpips(reference, candidate), rel=1e-5)
    # It adds 1e-8 under the root, where the authors add 1e-10 outside.
    assert series == pytest.approx(torchmetrics_lpips(reference, candidate), rel=1e-4)
    assert series.min() > 0.01


@pytest.mark.usefixtures("made_weights")
def test_dists_equals_torchmetrics(rival_dists):
    reference = textured(3, 70, 97)
    candidate = worsened(reference, amount=40)
    series = measure(reference, candidate, ["dists"]).series["dists"]
    assert series == pytest.approx(rival_dists(reference, candidate), abs=2e-6)
    assert series.min() > 0.005


@pytest.mark.usefixtures("made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_equal_frames_are_zero_and_equal_clips_identical(name):
    clip = textured(3)
    changed = clip.copy()
    changed[1] = worsened(changed[1:2], amount=60)[0]
    result = measure(clip, changed, [name])
    values = result.series[name]
    assert values[0] == values[2] == 0.0 < values[1]
    score = result[name]
    assert (score.state, score.worst_frame, score.identical_frames) == ("measured", 1, 2)
    assert score.value == pytest.approx(values[1] / 3)
    assert score.worst == values[1]
    same = measure(clip, clip, [name])[name]
    assert (same.state, same.value, same.identical_frames) == ("identical", 0.0, 3)


@pytest.mark.usefixtures("made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_a_network_gives_equal_pictures_nearly_zero(name):
    """The shortcut for equal frames says what the network would."""
    device = torch.device("cpu")
    picture = batch(textured(1))
    with torch_scope.plain_float32(device, 2):
        distance = learned.NETWORKS[name].load(device).distance(picture, picture)
    assert abs(float(distance)) < 1e-6


@pytest.mark.usefixtures("made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_the_batch_changes_nothing(name, monkeypatch):
    reference, candidate = textured(5), worsened(textured(5), amount=30)
    whole = measure(reference, candidate, [name]).series[name]
    network = learned.NETWORKS[name]
    for pictures in (1, 2):
        pixels = pictures * reference.shape[1] * reference.shape[2]
        small = learned.Network(network.load, network.weights, network.least_side, pixels,
                                network.input_range)  # fmt: skip
        monkeypatch.setitem(learned.NETWORKS, name, small)
        parts = measure(reference, candidate, [name]).series[name]
        assert parts == pytest.approx(whole, abs=1e-6)


@pytest.mark.usefixtures("made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_the_declared_range_of_the_samples_changes_nothing(name):
    clips = [textured(2), worsened(textured(2), amount=30)]
    expected = measure(*clips, [name]).series[name]
    signed = [clip.astype(np.float32) / 127.5 - 1 for clip in clips]
    ranged = measure(*signed, [name], options={"value_range": (-1, 1)}).series[name]
    assert ranged == pytest.approx(expected, abs=1e-5)
    deep = [clip.astype(np.uint16) * 257 for clip in clips]
    sixteen = measure(*deep, [name], options={"bit_depth": 16}).series[name]
    assert sixteen == pytest.approx(expected, abs=1e-5)


@pytest.mark.usefixtures("made_weights")
def test_the_record_names_range_weights_and_pooling(made_weights):
    assert set(made_weights) == {"alexnet", "vgg16"}
    details = measure(textured(1), worsened(textured(1)), ["lpips"])["lpips"].details
    assert details["input"] == "RGB in [0, 1], scaled to [-1, 1] inside"
    assert set(details["weights"]) == {"alexnet", "lpips-alex"}
    assert details["weights"]["lpips-alex"].startswith("df73285e35b2")


@pytest.mark.usefixtures("made_weights")
def test_the_callers_torch_settings_neither_matter_nor_change():
    clips = [textured(2), worsened(textured(2), amount=30)]
    expected = {name: measure(*clips, [name]).series[name] for name in BOTH}
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for name in BOTH:
                again = measure(*clips, [name], threads=1).series[name]
                assert again == pytest.approx(expected[name], abs=1e-6)
            assert torch.is_autocast_enabled("cpu")
        assert torch.get_default_dtype() == torch.float64
        assert torch.get_num_threads() == threads
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("made_weights")
def test_a_video_is_read_as_its_rgb(studio, rival_lpips):
    """Planes of 4:4:4 in the BT.709 formulas, limited range, against FFmpeg's own RGB of them."""
    made = ("-c:v", "ffv1", "-pix_fmt", "yuv444p", "-colorspace", "bt709", "-color_range", "tv")
    pair = [
        studio(f"{n}.mkv", *src(0.2, size="96x72", rate=20), "-vf", filters, *made)
        for n, filters in enumerate(("format=yuv444p", "format=yuv444p,gblur=1.5"))
    ]
    series = measure(*map(str, pair), ["lpips"]).series["lpips"]
    rgb = [
        studio.pixels(path, "rgb24", 96, 72, "-vf", "scale=in_color_matrix=bt709") for path in pair
    ]
    assert series == pytest.approx(rival_lpips(*rgb), rel=0.02)


@pytest.mark.usefixtures("made_weights")
def test_pictures_too_small_for_the_network_are_a_reason():
    small = textured(1, 30, 64)
    result = measure(small, worsened(small), ["lpips", "dists"])
    assert result["lpips"].reason == "pictures of 30 pixels: lpips needs 31"
    assert result["dists"].state == "unmeasured"
    least = textured(1, 31, 31)
    assert measure(least, worsened(least), ["lpips"])["lpips"].state == "measured"


@pytest.mark.usefixtures("made_weights")
def test_closing_frees_what_the_device_holds():
    with open_clip(textured(2)) as a:
        (instrument,), _ = instruments.create(["lpips"], a.info, a.format, a.info, a.format)
        held = instrument._network._linear[0]
        frames = list(a.frames())
        instrument.push(frames[0], frames[1])
        instrument.close()
        instrument.close()
        instrument.push(frames[0], frames[1])
    assert instrument._network is None and instrument._pending == []
    assert held is not None
    (score,), series = instrument.finish()
    assert (score.reason, series) == ("it was closed before the clips' end", {})


@pytest.mark.usefixtures("made_weights")
def test_a_failure_inside_torch_is_one_line(monkeypatch):
    def fail(*_):
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr(backbones, "alexnet_taps", fail)
    score = measure(textured(2), worsened(textured(2)), ["lpips"])["lpips"]
    assert score.reason == "torch failed: out of"


@pytest.mark.usefixtures("made_weights")
def test_a_full_device_is_given_half_the_batch(monkeypatch):
    reference, candidate = textured(5), worsened(textured(5), amount=30)
    expected = measure(reference, candidate, ["lpips"]).series["lpips"]
    taps, seen = backbones.alexnet_taps, []

    def tight(image, layers):
        seen.append(len(image))
        if len(image) > 2:
            raise torch.OutOfMemoryError("full")
        return taps(image, layers)

    monkeypatch.setattr(backbones, "alexnet_taps", tight)
    assert measure(reference, candidate, ["lpips"]).series["lpips"] == pytest.approx(
        expected, abs=1e-6
    )
    assert max(seen) == 5 and min(seen) <= 2


def test_a_device_that_is_none_is_the_callers_mistake():
    from screentest.errors import InputError

    with pytest.raises(InputError, match='expected "cpu", "cuda"') as caught:
        measure(textured(1), textured(1), ["lpips"], device="toaster")
    assert caught.value.code == "bad_device"


def test_a_device_that_is_not_here_is_a_reason():
    name = "cuda" if not torch.cuda.is_available() else f"cuda:{torch.cuda.device_count()}"
    score = measure(textured(1), textured(1), ["lpips"], device=name)["lpips"]
    assert score.reason.startswith(f"device {name} is not available (")
    assert "\n" not in score.reason


# Ways to ask torch for less than float32, by its older names and by its newer ones.
SHORTER = {
    "legacy convolutions": ("cudnn", "allow_tf32", True),
    "legacy products": ("cuda.matmul", "allow_tf32", True),
    "everything": ("fp32_precision", "tf32"),
    "library": ("cudnn", "fp32_precision", "tf32"),
    "convolutions": ("cudnn.conv", "fp32_precision", "tf32"),
    "only recurrent": ("cudnn.conv", "fp32_precision", "ieee"),
    "bfloat16 products": ("mkldnn.matmul", "fp32_precision", "bf16"),
}
PLACES = ("cudnn", "cudnn.conv", "cudnn.rnn", "cuda.matmul", "mkldnn", "mkldnn.conv", "mkldnn.rnn",
          "mkldnn.matmul")  # fmt: skip


def backend(path):
    return operator.attrgetter(path)(torch.backends)


def precisions():
    return [place.fp32_precision for place in (torch.backends, *map(backend, PLACES))]


@pytest.fixture(params=SHORTER)
def shorter(request):
    """A caller's setting, put back afterwards."""
    if not hasattr(torch.backends, "fp32_precision"):
        pytest.xfail("these settings came with torch 2.9")
    *path, name, value = SHORTER[request.param]
    place = backend(path[0]) if path else torch.backends
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the older names
        before = getattr(place, name)
        setattr(place, name, value)
    yield
    setattr(place, name, before)


@pytest.mark.usefixtures("shorter")
def test_float32_is_whole_whatever_torch_was_told_and_that_stays_told():
    told = precisions()
    for _ in range(2):
        with torch_scope.plain_float32(torch.device("cpu"), 1):
            assert set(precisions()) == {"ieee"}
            assert torch.backends.cudnn.deterministic
        assert precisions() == told
    # What took after the setting above it still does.
    held = torch.backends.fp32_precision
    torch.backends.fp32_precision = "ieee"
    over = precisions()
    torch.backends.fp32_precision = held
    with torch_scope.plain_float32(torch.device("cpu"), 1):
        pass
    torch.backends.fp32_precision = "ieee"
    assert precisions() == over
    torch.backends.fp32_precision = held


@pytest.mark.usefixtures("cuda", "made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_cuda_agrees_with_the_cpu(name):
    clips = [textured(3), worsened(textured(3), amount=30)]
    result = measure(*clips, [name], device="cuda")
    assert result[name].details["device"] == "cuda"
    assert result.series[name] == pytest.approx(measure(*clips, [name]).series[name], abs=1e-5)


@pytest.mark.usefixtures("made_weights", "shorter")
@pytest.mark.parametrize("name", BOTH)
def test_cuda_agrees_with_the_cpu_whatever_torch_was_told(cuda, name):
    clips = [textured(3), worsened(textured(3), amount=30)]
    with cuda.autocast("cuda", dtype=torch.float16):
        there = measure(*clips, [name], device="cuda").series[name]
    assert there == pytest.approx(measure(*clips, [name]).series[name], abs=1e-5)


@pytest.mark.usefixtures("made_weights")
def test_a_default_device_of_the_callers_changes_nothing(cuda):
    clips = [textured(2), worsened(textured(2), amount=30)]
    expected = measure(*clips, ["lpips"]).series["lpips"]
    cuda.set_default_device("cuda")
    try:
        result = measure(*clips, ["lpips"])
    finally:
        cuda.set_default_device(None)
    assert result["lpips"].details["device"] == "cpu"
    assert np.array_equal(result.series["lpips"], expected)


@pytest.mark.usefixtures("made_weights")
@pytest.mark.parametrize("name", BOTH)
def test_nothing_stays_on_the_device_when_an_instrument_is_closed(cuda, name):
    before = cuda.cuda.memory_allocated()
    with open_clip(textured(2)) as a:
        (instrument,), _ = instruments.create(
            [name], a.info, a.format, a.info, a.format, device="cuda"
        )
        assert cuda.cuda.memory_allocated() > before
        frames = list(a.frames())
        instrument.push(frames[0], frames[1])
        instrument.close()
    assert cuda.cuda.memory_allocated() == before
