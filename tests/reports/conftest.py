"""What tests of the pages share."""

import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def browse(tmp_path_factory):
    """``browse(path)``: the page's DOM after its script ran, and what the console said."""
    pytest.importorskip("jinja2", reason="pip install 'screentest[report]'")
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("pages are tried in a browser: apt-get install chromium")
    profile = tmp_path_factory.mktemp("profile")

    def run(path):
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--dump-dom",
                   "--enable-logging=stderr", "--window-size=1280,900",
                   "--allow-file-access-from-files", "--virtual-time-budget=2000"]  # fmt: skip
        done = subprocess.run([*command, path.as_uri()], capture_output=True, text=True,
                              check=True, timeout=100)  # fmt: skip
        said = re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)
        return done.stdout, said

    return run
