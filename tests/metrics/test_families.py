"""The table of families: each name leads to a family that keeps what it promises."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import msgspec
import pytest

from screentest.errors import InputError
from screentest.metrics import families, registry
from tests.made_families import sampling, sums

each = pytest.mark.parametrize("name", families.FAMILIES)


@each
def test_a_family_of_the_table_is_what_its_package_says(name: str) -> None:
    family = families.family(name)
    assert family.name == name
    # A library that the numbers come from may add its own version.
    assert family.impl.startswith(import_module(f"screentest.metrics.{name}.names").IMPL)
    assert issubclass(family.facts, msgspec.Struct)
    assert {"impl", "clip", "damage"} <= set(family.facts.__struct_fields__)
    assert family.says
    assert family.missing() is None or "screentest[" in family.missing()
    if family.derive is not None:
        assert family.derived_from in families.FAMILIES


@each
def test_metrics_of_a_family_are_listed_without_numpy_and_kernels(name: str) -> None:
    specs = families.metric_specs(name)
    assert specs
    assert all(spec.family == name and not spec.paired for spec in specs)
    code = (
        f"import sys\nfrom screentest.metrics.families import metric_specs\n"
        f"metric_specs({name!r})\n"
        "print('numpy' in sys.modules, 'screentest._native' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_the_registry_knows_every_family_of_the_table() -> None:
    assert set(families.FAMILIES) <= set(registry.FAMILIES)


def test_the_default_is_part_of_the_table() -> None:
    assert set(families.DEFAULT) <= set(families.FAMILIES)


def test_names_come_in_the_order_of_the_table_each_once() -> None:
    made = sums("zebra"), sampling("ant")
    chosen = families.choose([*made, "integrity", "integrity", made[0]])
    assert [one.name for one in chosen] == ["integrity", "zebra", "ant"]
    assert [one.name for one in families.choose("integrity, integrity,")] == ["integrity"]


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(InputError, match=r"'integrty' is unknown; the families are integrity, "):
        families.choose("integrty")


@pytest.mark.parametrize("wanted", [3, [3], b"integrity", [["integrity"]]])
def test_what_is_no_name_is_refused(wanted: object) -> None:
    with pytest.raises(InputError) as caught:
        families.choose(wanted)  # type: ignore[arg-type]
    assert caught.value.code == "unknown_family"


@pytest.mark.parametrize("nothing", ["", " , ", (), []])
def test_nothing_asked_for_is_refused(nothing: object) -> None:
    with pytest.raises(InputError, match="no family was asked for"):
        families.choose(nothing)  # type: ignore[arg-type]


def test_two_families_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two families are called 'sums'"):
        families.choose([sums(), sums()])


class TestOptions:
    def resolve(self, options: object, *made: object, windows: object = 4) -> object:
        chosen = families.choose(["integrity", *made])  # type: ignore[list-item]
        return families.resolve_options(chosen, options, windows=windows)  # type: ignore[arg-type]

    def test_defaults_are_filled_in(self) -> None:
        assert self.resolve(None, sampling()) == {
            "integrity": {"depth": "full"},
            "sampled": {"every": 10},
        }

    def test_windows_reach_the_families_that_have_such_and_yield_to_what_is_said(self) -> None:
        made = sums("w", options={"windows": 9})
        assert self.resolve(None, made, windows=2)["w"] == {"windows": 2}  # type: ignore[index]
        said = {"w": {"windows": 3}}
        assert self.resolve(said, made, windows=2)["w"] == {"windows": 3}  # type: ignore[index]

    @pytest.mark.parametrize(
        ("options", "windows", "message"),
        [
            ({"integrity": {"dept": "full"}}, 4, "integrity has no option 'dept'; it has depth"),
            ({"integrity": {"depth": "half"}}, 4, "depth='half'"),
            ({"sampled": {"every": 0}}, 4, "every=0"),
            ({"tracks": {}}, 4, "options for tracks, which was not asked for"),
            (None, 0, "windows=0"),
            (None, True, "windows=True"),
            (None, 2.0, "windows=2.0"),
            (None, 10**30, "windows=1000"),
            ({"sampled": {"every": 10**30}}, 4, "a smaller number was expected"),
            ([1], 4, "options are"),
            ({"integrity": 3}, 4, "the options of integrity are 3"),
        ],
    )
    def test_what_is_wrong_is_told_before_anything_is_opened(
        self, options: object, windows: object, message: str
    ) -> None:
        with pytest.raises(InputError, match=message):
            self.resolve(options, sampling(), windows=windows)


def test_all_is_the_whole_table():
    assert [one.name for one in families.choose("all")] == list(families.FAMILIES)
