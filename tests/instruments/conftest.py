"""Pairs of clips put through instruments, and made weights where the real ones are not shipped."""

import hashlib

import msgspec
import numpy as np
import pytest

from screentest.media import open_clip
from screentest.metrics import ffmpeg as finding
from screentest.metrics import instruments
from screentest.metrics.instruments import weights


@pytest.fixture(scope="session")
def vmaf_ffmpeg():
    """The path of an ffmpeg with both filters, as the instrument finds it."""
    found = finding.find("libvmaf")
    if isinstance(found, str) or "xpsnr" not in found.filters:
        pytest.skip("needs an ffmpeg with libvmaf and xpsnr: pip install 'screentest[vmaf]'")
    return found.path


class Result:
    """What one run gave, by score name."""

    def __init__(self, scores, series):
        self.scores = {score.name: score for score in scores}
        self.series = series

    def __getitem__(self, name):
        return self.scores[name]


def measure(reference, candidate, names, *, options=None, **how):
    """Both clips read to the shorter one's end, paired by index."""
    options = options or {}
    with open_clip(reference, **options) as a, open_clip(candidate, **options) as b:
        made, scores = instruments.create(names, a.info, a.format, b.info, b.format, **how)
        series = {}
        try:
            for pair in zip(a.frames(), b.frames(), strict=False):
                for instrument in made:
                    instrument.push(*pair)
            for instrument in made:
                more, values = instrument.finish()
                assert tuple(score.name for score in more) == instrument.names
                scores += more
                series |= values
        finally:
            for instrument in made:
                instrument.close()
    return Result(scores, series)


def textured(frames=4, height=72, width=96, seed=0, channels=3):
    """A smooth picture that moves, uint8: what a metric made for pictures can read."""
    grid_y, grid_x = np.mgrid[0:height, 0:width]
    rng = np.random.default_rng(seed)
    clip = []
    for t in range(frames):
        layers = [
            128 + 60 * np.sin(grid_x / (5 + k) + t / 2 + k) + 40 * np.cos(grid_y / (7 - k) - t / 3)
            for k in range(channels)
        ]
        clip.append(np.stack(layers, -1))
    noise = rng.normal(0, 4, (frames, height, width, channels))
    return np.clip(np.array(clip) + noise, 0, 255).astype(np.uint8)


def worsened(clip, seed=1, amount=12):
    rng = np.random.default_rng(seed)
    noise = rng.integers(-amount, amount + 1, clip.shape)
    return np.clip(clip.astype(int) + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def made_states():
    """Seeded random state dicts in the layout of torchvision's alexnet and vgg16 files.

    The convolutions are scaled so that maps neither die nor explode on the way.
    """
    torch = pytest.importorskip("torch", reason="pip install 'screentest[reference]'")
    models = pytest.importorskip("torchvision", reason="install torchvision").models
    torch.manual_seed(7)
    states = {}
    for name in ("alexnet", "vgg16"):
        features = getattr(models, name)(weights=None).features
        for layer in features:
            if hasattr(layer, "weight"):
                torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
                torch.nn.init.normal_(layer.bias, 0.0, 0.05)
        states[name] = {f"features.{key}": t for key, t in features.state_dict().items()}
    return states


@pytest.fixture
def made_weights(made_states, tmp_path, monkeypatch):
    """A cache that holds the made weights, and a manifest with their hashes."""
    import torch

    monkeypatch.setenv(weights.ENVIRONMENT_VARIABLE, str(tmp_path))
    rows = dict(weights.manifest())
    for name, state in made_states.items():
        path = tmp_path / rows[name].file
        torch.save(state, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rows[name] = msgspec.structs.replace(rows[name], sha256=digest)
    monkeypatch.setattr(weights, "manifest", lambda: rows)
    return made_states
