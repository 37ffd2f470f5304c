"""Nothing is depended upon whose licence nobody has read, and an import takes in little."""

import importlib.metadata
import json
import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

from tests.house import provenance

UPDATE = "read its licence and add it to PROVENANCE.md"
UPDATE_CRATES = "python tests/house/provenance.py --write"
KINDS = {"base", "extra", "build", "tooling", "crate", "data", "reference", "weights"}

# LGPL only as a library that stays replaceable; a copyleft alternative after OR does not bind.
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC-BY-3.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-CMU",
    "PSF-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
TOOLS_ONLY = {"MPL-2.0"}
FORBIDDEN = re.compile(r"non-?commercial|\bNC\b|CC-BY-NC|research only|AGPL|none stated", re.I)


def is_permissive(licence, allowed):
    """Whether an SPDX expression can be met with the allowed licences alone."""
    words = re.findall(r"[()]|[^()\s]+", re.sub(r" WITH [\w.-]+", "", licence))

    def either():
        met = both()
        while words and words[0] == "OR":
            words.pop(0)
            met = both() or met
        return met

    def both():
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met = one() and met
        return met

    def one():
        word = words.pop(0)
        if word != "(":
            return word in allowed
        met = either()
        assert words.pop(0) == ")", licence
        return met

    met = either()
    assert not words, f"not an SPDX expression: {licence}"
    return met


@pytest.mark.parametrize(
    ("licence", "verdict"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-or-later", False),
    ],
)
def test_licence_expressions_are_read(licence, verdict):
    assert is_permissive(licence, PERMISSIVE) is verdict


def test_every_base_dependency_has_a_row():
    listed = {name for name, kind in provenance.rows() if kind == "base"}
    missing = provenance.base_dependencies() - listed
    assert not missing, f"{sorted(missing)}: {UPDATE}"


def test_every_extra_build_and_test_dependency_has_a_row():
    listed = {name for name, _ in provenance.rows()}
    missing = provenance.declared_elsewhere() - listed
    assert not missing, f"{sorted(missing)}: {UPDATE}"


def test_every_crate_has_a_row_with_its_licence():
    crates = provenance.crates()
    if crates is None:
        pytest.skip("the list of crates comes from cargo: install Rust, and commit Cargo.lock")
    rows = provenance.rows()
    missing = {name for name, *_ in crates if (provenance.canonical(name), "crate") not in rows}
    assert not missing, f"{sorted(missing)}: {UPDATE_CRATES}"
    gone = {name for name, kind in rows if kind == "crate"} - {
        provenance.canonical(name) for name, *_ in crates
    }
    assert not gone, f"{sorted(gone)} left Cargo.lock: {UPDATE_CRATES}"
    for name, _, _, licence, _ in crates:
        assert rows[provenance.canonical(name), "crate"] == licence, f"{name}: {UPDATE_CRATES}"


def test_rows_are_of_a_known_kind_and_none_is_non_commercial():
    for (name, kind), licence in provenance.rows().items():
        assert kind in KINDS, name
        assert not FORBIDDEN.search(licence), f"{name}: {licence}"


def test_what_ships_or_is_pulled_in_is_permissive():
    for (name, kind), licence in provenance.rows().items():
        allowed = PERMISSIVE | (TOOLS_ONLY if kind == "tooling" else set())
        assert is_permissive(licence, allowed), f"{name}: {licence}"


def test_the_wheel_declares_the_base_dependencies_and_nothing_more():
    base = {
        requirement.name
        for text in importlib.metadata.requires("screentest") or []
        if not (requirement := Requirement(text)).marker
    }
    assert base == {"av", "msgspec", "numpy", "rfc8785", "rich", "typer"}


def test_the_bundled_ffmpeg_says_what_provenance_says():
    """PyAV's wheel carries FFmpeg. A build under the GPL would change what a bundle may do."""
    import ctypes

    import av  # noqa: F401  (loads the bundled libraries that libavutil needs)

    bundled = [f for f in importlib.metadata.files("av") or [] if "libavutil" in f.name]
    if not bundled:
        pytest.skip("this PyAV was built against the system's FFmpeg: install av's wheel")
    library = ctypes.CDLL(str(bundled[0].locate()))
    library.avutil_license.restype = ctypes.c_char_p
    licence = library.avutil_license().decode()
    assert licence.startswith("LGPL")
    assert licence in provenance.PROVENANCE.read_text()


def modules_after(statement):
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in json.loads(answer.stdout)}


def extra_modules():
    """Top-level modules of everything that only an extra brings."""
    extras, base = set(), provenance.base_dependencies()
    for texts in provenance.project()["project"]["optional-dependencies"].values():
        extras |= {provenance.canonical(Requirement(text).name) for text in texts}
    modules = {"opencv-python-headless": "cv2"}
    return {modules.get(name, name.replace("-", "_")) for name in extras - base - {"screentest"}}


def test_importing_screentest_loads_no_decoder_no_extra_and_no_cli():
    loaded = modules_after("import screentest")
    assert extra_modules() >= {"cv2", "torch", "torchcodec"}
    unwanted = extra_modules() | {"PIL", "av", "rich", "scipy", "typer"}
    assert not loaded & unwanted


def test_help_loads_no_decoder_and_no_extra():
    loaded = modules_after(
        "import contextlib, io\n"
        "from screentest.cli.main import main\n"
        "sys.argv = ['screentest', '--help']\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main()"
    )
    assert "typer" in loaded
    assert not loaded & (extra_modules() | {"PIL", "av", "numpy"})


def test_screening_an_array_loads_no_extra():
    loaded = modules_after(
        "import numpy, screentest\nscreentest.screen(numpy.zeros((3, 8, 8, 3), numpy.uint8))"
    )
    assert not loaded & extra_modules()
