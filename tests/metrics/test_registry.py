"""The registry against the published table, and what it refuses."""

import importlib
import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from screentest.errors import InputError
from screentest.metrics import registry
from screentest.metrics.catalogue import PLANNED
from screentest.metrics.spec import WORDS, MetricSpec, check_spec

PUBLISHED = json.loads(
    (Path(__file__).resolve().parents[1] / "oracles" / "registry.json").read_text()
)

# What was put right against the published table; docs/decisions/0009-registry.md says why.
DIRECTIONS = {"audio_side_dbfs": "target", "element_recall_drop": "target"}
MODALITIES = {"ssim": "any", "ms_ssim": "any"}
POOLS = {"vmaf": "mean"}
HEADLINES = {"audio_event_recall", "audio_max_silence_run"}
CORRESPOND = {"ssim", "ms_ssim", "audio_si_sdr", "audio_snr_db", "audio_lsd_db", "audio_mel_l1",
              "audio_align_lag_ms"}  # fmt: skip


def made(**fields):
    return MetricSpec(
        **{
            "name": "mylab_wobble", "says": "how much it wobbles", "dimension": "temporal",
            "modality": "video", "unit": "px", "direction": "down", "impl": "mylab_wobble@1",
            "family": "mylab",
        }
        | fields
    )  # fmt: skip


@pytest.fixture
def added():
    """Registers, and takes out again what is left of it."""
    names = []

    def add(**fields):
        spec = made(**fields)
        registry.register(spec)
        names.append(spec.name)
        return spec

    yield add
    for name in reversed(names):
        if any(spec.name == name for spec in registry.specs()):
            registry.unregister(name)


class TestTable:
    def test_the_published_table_has_its_published_counts(self):
        assert len(PUBLISHED) == 82
        costs = Counter(row["cost"] for row in PUBLISHED.values())
        assert costs == {"cheap-deterministic": 42, "small-model": 16, "model-backed": 24}
        assert sum("G" in row["flags"] for row in PUBLISHED.values()) == 12

    @pytest.mark.parametrize("name", PUBLISHED)
    def test_every_published_metric_is_there_as_published_or_as_put_right(self, name):
        row, spec = PUBLISHED[name], registry.spec(name)
        assert (spec.dimension, spec.cost, spec.seam) == (
            row["dimension"], row["cost"], row["seam"])  # fmt: skip
        assert spec.direction == DIRECTIONS.get(name, row["direction"])
        assert spec.modality == MODALITIES.get(name, row["modality"])
        assert spec.pool == POOLS.get(name, row["pool"])
        assert spec.gated == ("G" in row["flags"])
        assert spec.headline == ("H" in row["flags"] or name in HEADLINES)
        assert spec.paired == ("P" in row["flags"])
        assert spec.reference_only == ("R" in row["flags"] or name in CORRESPOND)

    def test_no_name_stands_in_two_families(self):
        tables = [importlib.import_module(f"screentest.metrics.{name}.names")
                  for name in registry.FAMILIES]  # fmt: skip
        names = Counter(spec.name for table in tables for spec in table.METRICS)
        names.update(spec.name for spec in PLANNED if spec.name not in names)
        assert [name for name, count in names.items() if count > 1] == []
        assert len(Counter(s.name for s in PLANNED)) == len(PLANNED)

    def test_what_a_family_measures_is_not_planned_any_more(self):
        measured = {s.name for s in registry.specs() if s.status == "measured"}
        both = measured & {s.name for s in PLANNED}
        assert not both, f"take these rows out of screentest/metrics/catalogue: {sorted(both)}"

    def test_only_planned_metrics_have_an_impl_that_no_number_has(self):
        for spec in registry.specs():
            assert spec.impl.endswith("@0") == (spec.status == "planned"), spec.name

    def test_every_row_keeps_the_rules(self):
        for spec in registry.specs():
            check_spec(spec)
            assert spec.says[0].isupper() or spec.says[0].islower()
            assert not spec.says.endswith(".")

    def test_a_difference_or_ratio_to_the_reference_is_better_near_a_number(self):
        signed = [s for s in registry.specs() if s.name.endswith(("_delta", "_ratio", "_excess"))]
        preferred = {"clip_delta", "pref_delta", "detail_pref_delta"}  # no plus is too much
        own = {"grid_peak_ratio", "hf_ratio", "jerk_ratio"}  # of one clip
        for spec in signed:
            if spec.name not in preferred | own:
                assert spec.direction == "target", spec.name
                assert spec.target == (1.0 if spec.name.endswith("_ratio") else 0.0), spec.name

    def test_pair_and_population_loudness_have_two_names(self):
        pair = registry.spec("audio_lufs_delta")
        population = registry.spec("audio_lufs_population_delta")
        assert pair.dimension == "similarity"
        assert population.dimension == "distributional"

    def test_a_late_candidate_has_a_positive_lag(self):
        spec = registry.spec("audio_align_lag_ms")
        assert (spec.direction, spec.target) == ("target", 0.0)
        assert "positive where the candidate is late" in spec.note

    def test_clip_delta_stands_in_for_element_recall_alone(self):
        assert registry.spec("clip_delta").fallback_for == "element_recall"
        assert [s.name for s in registry.specs() if s.fallback_for] == ["clip_delta"]


class TestHeadlines:
    def test_every_question_that_has_a_metric_has_one_headline(self):
        for spec in registry.specs():
            modalities = ("image", "video") if spec.modality == "any" else (spec.modality,)
            for modality in modalities:
                found = registry.headline(spec.dimension, modality)
                assert registry.is_measured_on(found, modality)
                assert found.dimension == spec.dimension
        cells = Counter((s.dimension, s.modality) for s in registry.specs() if s.headline)
        assert max(cells.values()) == 1

    @pytest.mark.parametrize(("dimension", "modality", "name"), [
        ("similarity", "image", "lpips"), ("similarity", "video", "track_stability_ratio"),
        ("similarity", "audio", "audio_si_sdr"), ("adherence", "video", "element_recall"),
        ("adherence", "audio", "audio_event_recall"), ("preference", "any", "pref_delta"),
        ("quality", "video", "arniqa"), ("quality", "audio", "audio_max_silence_run"),
        ("temporal", "video", "adjacent_frame_corr"), ("temporal", "av", "av_sync_drift_ms"),
        ("distributional", "video", "significant_features"),
    ])  # fmt: skip
    def test_a_question_has_this_headline(self, dimension, modality, name):
        assert registry.headline(dimension, modality).name == name

    @pytest.mark.parametrize(("dimension", "modality"), [
        ("temporal", "image"), ("temporal", "audio"), ("temporal", "any"),
        ("preference", "audio"), ("quality", "av"),
    ])  # fmt: skip
    def test_where_nothing_answers_there_is_none(self, dimension, modality):
        with pytest.raises(InputError, match="no metric has it") as caught:
            registry.headline(dimension, modality)
        assert caught.value.code == "no_headline"


class TestLookups:
    def test_an_unknown_name_is_told_with_the_close_ones(self):
        with pytest.raises(InputError, match="did you mean adjacent_frame_corr") as caught:
            registry.spec("adjacent_frames_corr")
        assert caught.value.code == "unknown_metric"
        assert caught.value.context["close"][0] == "adjacent_frame_corr"
        with pytest.raises(InputError, match="no name is close"):
            registry.spec("qqqq")

    def test_lookups_part_the_whole(self):
        every = registry.specs()
        for field, by in (("dimension", registry.by_dimension), ("cost", registry.by_cost)):
            parts = [spec for word in WORDS[field] for spec in by(word)]
            assert sorted(parts, key=lambda s: s.name) == sorted(every, key=lambda s: s.name)
            with pytest.raises(InputError, match="expected one of"):
                by("flavour")
        assert {s.name for s in registry.by_family("integrity")} == {
            "adjacent_frame_corr", "frame_std_min", "grid_peak_ratio"}  # fmt: skip
        with pytest.raises(InputError, match="no metric is of family 'integrty'"):
            registry.by_family("integrty")
        assert set(registry.reference_only()).isdisjoint(registry.reference_free())

    def test_a_metric_of_images_and_video_has_no_sound(self):
        found = {word: registry.is_measured_on(registry.spec("lpips"), word)
                 for word in WORDS["modality"]}  # fmt: skip
        assert found == {"any": True, "image": True, "video": True, "audio": False, "av": False}

    def test_the_json_reads_back_as_the_specs(self):
        document = json.loads(json.dumps(registry.as_json()))
        assert document["schema"] == "screentest/metrics@1"
        assert msgspec.convert(document["metrics"], tuple[MetricSpec, ...]) == registry.specs()
        assert document["headlines"]["quality"] == {
            "any": "arniqa", "image": "arniqa", "video": "arniqa",
            "audio": "audio_max_silence_run"}  # fmt: skip

    def test_it_is_reached_from_the_package(self):
        code = "import screentest; print(screentest.metrics.registry.spec('psnr').unit)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout == b"dB\n"

    def test_reading_it_loads_no_kernel_and_no_extra(self):
        code = (
            "import sys\nfrom screentest.metrics import registry, identity, accumulator\n"
            "assert registry.specs() and registry.as_json()\n"
            "heavy = {'numpy', 'av', 'torch', 'cv2', 'screentest._native', 'screentest.media'}\n"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


class TestRefusals:
    @pytest.mark.parametrize(("fields", "code"), [
        ({"name": "Wobble"}, "bad_metric_name"),
        ({"name": "1wobble"}, "bad_metric_name"),
        ({"name": ""}, "bad_metric_name"),
        ({"name": "wobble-x"}, "bad_metric_name"),
        ({"dimension": "beauty"}, "unknown_word"),
        ({"modality": "smell"}, "unknown_word"),
        ({"direction": "sideways"}, "unknown_word"),
        ({"cost": "free"}, "unknown_word"),
        ({"pool": "sum"}, "unknown_word"),
        ({"status": "maybe"}, "unknown_word"),
        ({"impl": " "}, "empty_field"),
        ({"unit": ""}, "empty_field"),
        ({"says": "two\nlines"}, "bad_field"),
        ({"gated": 1}, "bad_field"),
        ({"options": ["border"]}, "bad_field"),
        ({"cost": "model-backed"}, "seam_missing"),
        ({"seam": "Judge"}, "seam_unused"),
        ({"cost": "model-backed", "seam": "two words"}, "bad_field"),
        ({"bounds": (1.0, 1.0)}, "bad_bounds"),
        ({"bounds": (2.0, 1.0)}, "bad_bounds"),
        ({"bounds": (0.0, float("inf"))}, "bad_bounds"),
        ({"bounds": (float("nan"), None)}, "bad_bounds"),
        ({"bounds": (0.0,)}, "bad_bounds"),
        ({"bounds": (False, True)}, "bad_bounds"),
        ({"target": 0.0}, "bad_target"),
        ({"direction": "target", "target": float("nan")}, "bad_target"),
        ({"direction": "target", "target": 2.0, "bounds": (0.0, 1.0)}, "bad_target"),
        ({"reference_only": True}, "contradiction"),
        ({"fallback_for": "mylab_wobble"}, "contradiction"),
        ({"request": "mylab_wobble"}, "contradiction"),
    ])  # fmt: skip
    def test_a_spec_that_contradicts_itself_cannot_be_made(self, fields, code):
        with pytest.raises(InputError) as caught:
            made(**fields)
        assert caught.value.code == code

    @pytest.mark.parametrize("address", [
        "http://a/b", "https://a/b", "ftp://a", "git+https://a", "git@host:x", "s3://a/b", "hf:a/b",
        "hf://a", "file:///a", "FILE:a", "gs://a", "www.a.b", "/models/a.pt", "~/a.pt", "./a.pt",
        "../a.pt", "C:\\a.pt", " https://a",
    ])  # fmt: skip
    def test_weights_are_named_and_not_addressed(self, address):
        with pytest.raises(InputError) as caught:
            made(cost="small-model", model_ref=address)
        assert caught.value.code == "model_ref_is_address"

    @pytest.mark.parametrize("name", ["lpips-alex", "org/model", "vmaf_v0.6.1", "filet", "gsm:8"])
    def test_a_name_of_weights_is_no_address(self, name):
        assert made(cost="small-model", model_ref=name).model_ref == name

    def test_a_replaced_field_is_checked_as_well(self):
        with pytest.raises(InputError, match="target"):
            msgspec.structs.replace(made(), target=1.0)


class TestRegister:
    def test_an_added_metric_is_found_and_leaves_again(self, added):
        spec = added()
        assert registry.spec("mylab_wobble") is spec
        assert spec in registry.by_dimension("temporal")
        registry.unregister("mylab_wobble")
        with pytest.raises(InputError, match="unknown"):
            registry.spec("mylab_wobble")

    def test_a_taken_name_needs_replace(self, added):
        added()
        other = made(impl="mylab_wobble@2")
        with pytest.raises(InputError, match="replace=True") as caught:
            registry.register(other)
        assert caught.value.code == "metric_exists"
        registry.register(other, replace=True)
        assert registry.spec("mylab_wobble").impl == "mylab_wobble@2"

    @pytest.mark.parametrize("name", ["psnr", "arniqa", "psnr_worst"])
    def test_what_comes_with_the_package_stays(self, name):
        for replace in (False, True):
            with pytest.raises(InputError) as caught:
                registry.register(made(name=name), replace=replace)
            assert caught.value.code == "builtin_metric"
        with pytest.raises(InputError) as caught:
            registry.unregister(name)
        assert caught.value.code == "builtin_metric"

    def test_a_second_headline_for_a_question_is_refused(self, added):
        with pytest.raises(InputError, match="adjacent_frame_corr") as caught:
            added(headline=True)
        assert caught.value.code == "headline_exists"
        added(headline=True, modality="image")
        assert registry.headline("temporal", "image").name == "mylab_wobble"
        registry.register(made(headline=True, modality="image", unit="cm"), replace=True)

    def test_a_fallback_must_exist_and_answer_the_same_question(self, added):
        with pytest.raises(InputError, match="did you mean jerk_ratio") as caught:
            added(fallback_for="jerk_rati")
        assert caught.value.code == "unknown_metric"
        with pytest.raises(InputError, match="another question"):
            added(fallback_for="psnr")
        added(name="mylab_first")
        added(fallback_for="mylab_first")
        with pytest.raises(InputError, match="mylab_wobble fall back") as caught:
            registry.unregister("mylab_first")
        assert caught.value.code == "metric_in_use"

    def test_what_takes_the_place_of_another_keeps_what_falls_back_for_it(self, added):
        added(name="mylab_first")
        added(name="mylab_second", fallback_for="mylab_first")
        added(name="mylab_third", fallback_for="mylab_second")
        for fields in ({"dimension": "quality"}, {"fallback_for": "mylab_third"}):
            with pytest.raises(InputError) as caught:
                registry.register(made(name="mylab_first", **fields), replace=True)
            assert caught.value.code == "contradiction"
        registry.register(made(name="mylab_first", unit="m"), replace=True)
        assert registry.spec("mylab_first").unit == "m"

    def test_something_else_is_no_spec(self):
        with pytest.raises(InputError, match="this is a dict"):
            registry.register({"name": "mylab_wobble"})

    def test_threads_register_and_read_at_once(self):
        names = [f"mylab_{i}_{k}" for i in range(8) for k in range(20)]
        whole = len(registry.specs())
        failures = []

        def work(i):
            try:
                for k in range(20):
                    registry.register(made(name=f"mylab_{i}_{k}"))
                    assert registry.spec(f"mylab_{i}_{k}")
                    assert len(registry.specs()) > whole
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = {s.name for s in registry.specs()}
        for name in names:
            registry.unregister(name)
        assert failures == []
        assert found.issuperset(names)
        assert len(registry.specs()) == whole


@pytest.mark.parametrize("name", [3, None, ["psnr"], ("psnr",)])
def test_what_is_no_name_is_of_no_metric(name):
    with pytest.raises(InputError) as caught:
        registry.spec(name)
    assert caught.value.code == "unknown_metric"
