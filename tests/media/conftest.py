import pytest

from tests.media.making import Studio


@pytest.fixture(scope="session")
def studio(ffmpeg, tmp_path_factory):
    """Makes media with the installed ffmpeg; one folder for the session."""
    return Studio(ffmpeg, tmp_path_factory.mktemp("media"))
