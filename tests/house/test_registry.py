"""One name per metric, all the way down: the registry is walked, and a missing piece is named."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from screentest.metrics import availability, registry

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ROOT / "python" / "screentest" / "metrics"
MEASURED = [spec for spec in registry.builtin().values() if spec.status == "measured"]

# These have rows of the registry and no numbers.
_ABOUT_NAMES = {"test_registry.py", "test_identity.py", "test_pooling.py", "test_metrics.py"}
# Another program or library does the work, and its speed is not ours to keep.
_FOREIGN = {"instruments", "audio_content"}


def text_of(folder, pattern="*.py", without=frozenset()):
    files = [path for path in sorted(folder.rglob(pattern)) if path.name not in without]
    return "\n".join(path.read_text() for path in files)


TESTS = text_of(ROOT / "tests", without=_ABOUT_NAMES)
BENCHES = text_of(ROOT / "benches")


def names(text, name):
    return re.search(rf"(?<![a-z0-9_]){name}(?![a-z0-9_])", text) is not None


@pytest.mark.parametrize("spec", MEASURED, ids=lambda spec: spec.name)
def test_a_metric_has_a_family_that_makes_it_and_a_test(spec):
    assert importlib.util.find_spec(f"screentest.metrics.{spec.family}") is not None
    # A number beside another's is made with it, from its name and an ending.
    base = registry.stands_beside(spec.name) or spec.name
    made = text_of(FAMILIES / spec.family, without={"names.py"})
    assert names(made, base), f"nothing in screentest.metrics.{spec.family} makes {base}"
    assert names(TESTS, base), f"no test names {base}"


@pytest.mark.parametrize("family", sorted({spec.family for spec in MEASURED} - _FOREIGN))
def test_a_family_has_a_bench(family):
    measured = [spec.name for spec in MEASURED if spec.family == family]
    assert any(names(BENCHES, name) for name in measured), f"no bench names any of {measured}"


def test_extras_of_the_metrics_are_those_that_can_be_installed():
    manifest = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = set(manifest["project"]["optional-dependencies"])
    assert {spec.extra for spec in MEASURED} - {""} <= extras
    assert {spec.extra for spec in registry.specs()} - {""} <= set(availability.EXTRAS)
    assert set(availability.EXTRAS) - {"flow"} <= extras
