"""A record of two arms is derived again from the numbers of its clips; an edited one is found."""

import copy
import subprocess
import sys

import msgspec
import pytest

from screentest.metrics.population import PopulationFacts, inconsistencies
from screentest.metrics.population.verify import odd_values
from tests.population.made import clip, facts, unlike

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")


@pytest.fixture(scope="module")
def measured():
    return facts(
        [
            (clip(**fields), clip(**{**fields, "sharpness": 400.0, "jerk_ratio": 0.9}))
            for fields in unlike(8)
        ]
    )


@pytest.fixture(scope="module")
def plain(measured):
    return msgspec.to_builtins(measured)


def edited(plain, *path, to):
    """The record with one number in another's place."""
    made = copy.deepcopy(plain)
    at = made
    for key in path[:-1]:
        at = at[key]
    assert at[path[-1]] != to
    at[path[-1]] = to
    return msgspec.convert(made, PopulationFacts)


def test_what_was_measured_agrees_with_itself_and_through_json(measured):
    assert list(inconsistencies(measured)) == []
    again = msgspec.json.decode(msgspec.json.encode(measured), type=PopulationFacts)
    assert list(inconsistencies(again)) == []


@pytest.mark.parametrize(("path", "to", "named"), [
    (("benchmarks", "imaging", "values", "imaging_index"), 1.0, "imaging_index"),
    (("benchmarks", "imaging", "values", "imaging_worst_prompt"), 1.0, "imaging_worst_prompt"),
    (("benchmarks", "temporal", "values", "jerk_excess"), 0.0, "jerk_excess"),
    (("benchmarks", "structure", "values", "track_stability_worst"), 1.1, "track_stability_worst"),
    (("benchmarks", "distributional", "values", "significant_features"), 3.0, "significant_feat"),
    (("benchmarks", "distributional", "values", "population_frechet"), 0.0, "population_frechet"),
    (("benchmarks", "distributional", "values", "population_frechet_full"), 0.0, "frechet_full"),
    (("benchmarks", "distributional", "values", "holm_p_sharpness"), 0.9, "holm_p_sharpness"),
    (("prompts", 2, "values", "imaging_index"), 1.0, "prompt 2: imaging_index"),
    (("prompts", 2, "candidate", "sharpness"), 1e4, "prompt 2: ratio_sharpness"),
    (("prompts", 2, "candidate", "frozen_share"), 1.0, "frozen_share_excess"),
    (("scales", "saturation"), 50.0, "scales: saturation"),
    (("power", "imaging_index", "spread"), 0.0, "the spread of imaging_index"),
    (("degenerate_candidates",), (1,), "degenerate clips of the candidate"),
    (("benchmarks", "distributional", "unmeasured"), {"population_frechet": "no"}, "unmeasured"),
    (("benchmarks", "temporal", "inapplicable"), {"jerk_excess": "no"}, "inapplicable"),
    (("impl",), "population@0", "this version derives population@1"),
    (("prompts",), (), "no prompt"),
    (("power",), {}, "power"),
    (("benchmarks", "imaging", "intervals"), {}, "intervals"),
    (("benchmarks", "imaging", "intervals", "imaging_index"), (2.0, 1.0), "runs from 2.0"),
])  # fmt: skip
def test_an_edited_number_is_found(plain, path, to, named):
    said = list(inconsistencies(edited(plain, *path, to=to)))
    assert any(named in sentence for sentence in said), said


def test_a_benchmark_that_was_taken_out_is_missed(plain):
    made = copy.deepcopy(plain)
    del made["benchmarks"]["temporal"]
    said = list(inconsistencies(msgspec.convert(made, PopulationFacts)))
    assert any("expected imaging, temporal, structure" in sentence for sentence in said)


def test_a_number_that_was_taken_out_of_a_clip_is_missed(plain):
    made = copy.deepcopy(plain)
    del made["prompts"][0]["reference"]["contrast"]
    assert list(inconsistencies(msgspec.convert(made, PopulationFacts))) == [
        "a clip has no contrast"
    ]


def test_numbers_that_no_clip_has_are_an_answer(plain):
    for name, wrong in (("contrast", float("inf")), ("n_frames", 0.0), ("var_contrast", -1.0)):
        record = edited(plain, "prompts", 0, "reference", name, to=wrong)
        assert list(inconsistencies(record)) != []


def test_it_needs_no_scipy(measured, tmp_path):
    path = tmp_path / "facts.json"
    path.write_bytes(msgspec.json.encode(measured))
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import msgspec, pathlib\n"
        "from screentest.metrics.population import PopulationFacts, inconsistencies\n"
        "read = pathlib.Path(sys.argv[1]).read_bytes()\n"
        "print(list(inconsistencies(msgspec.json.decode(read, type=PopulationFacts))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("path", "to", "named"), [
    (("benchmarks", "imaging", "intervals", "imaging_index"), (0.5, 1.02), "low end"),
    (("benchmarks", "imaging", "intervals", "ratio_sharpness"), (0.8, 1.3), "high end"),
    (("benchmarks", "temporal", "intervals", "jerk_excess"), (-0.9, 0.9), "jerk_excess"),
    (("benchmarks", "temporal", "notes"), ("all is well",), "notes"),
    (("prompts", 2, "values", "population_frechet_full"), 0.0, "prompt 2: population_frechet_full"),
    (("prompts", 2, "values", "population_frechet_full"), 1e6, "prompt 2: population_frechet_full"),
    (("prompts", 2, "candidate", "n_frames"), 6.5, "n_frames 6.5"),
    (("prompts", 2, "candidate", "flat_frames"), 7.0, "flat_frames 7"),
    (("prompts", 2, "candidate", "frozen_share"), 1.5, "frozen_share 1.5"),
    (("prompts", 2, "candidate", "tracks_seen"), 2.0, "tracks_seen 2"),
])  # fmt: skip
def test_what_no_draw_of_the_prompts_gives_is_found(plain, path, to, named):
    said = list(inconsistencies(edited(plain, *path, to=to)))
    assert any(named in sentence for sentence in said), said


def test_a_clip_without_its_size_is_found(plain):
    made = copy.deepcopy(plain)
    del made["prompts"][1]["candidate"]["width"]
    said = list(inconsistencies(msgspec.convert(made, PopulationFacts)))
    assert said == ["the candidate of 'prompt 1' has no width, as every clip has"]


def test_intervals_of_any_number_of_prompts_are_found_true():
    for n in (2, 3, 5, 9, 40):
        made = facts(
            [(clip(**fields), clip(**{**fields, "sharpness": 300.0 + 17 * at}))
             for at, fields in enumerate(unlike(n))]
        )  # fmt: skip
        assert list(inconsistencies(made)) == []


class TestValuesAlone:
    @pytest.fixture
    def values(self, measured):
        return {k: v for each in measured.benchmarks.values() for k, v in each.values.items()}

    def test_those_of_a_record_go_together(self, values):
        assert list(odd_values(values)) == []

    @pytest.mark.parametrize(
        "name", ["imaging_index", "detail_retention", "ratio_contrast", "effect_saturation",
                 "rms_effect_size", "max_effect_size", "significant_features", "dz_contrast"],
    )  # fmt: skip
    def test_one_that_was_edited_is_found(self, values, name):
        assert list(odd_values({**values, name: values[name] + 1.0}))

    def test_one_that_was_left_out_is_found(self, values):
        del values["ratio_contrast"]
        assert list(odd_values(values)) == ["there is no ratio_contrast, which others are made of"]
