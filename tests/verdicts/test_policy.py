"""Policies and delivery specs: closed documents that say why, or are refused in one line."""

from __future__ import annotations

import pickle
from pathlib import Path

import msgspec
import pytest

from screentest.errors import PolicyError
from screentest.verdicts.delivery import as_delivery, load_delivery, parse_delivery
from screentest.verdicts.integrity import judge_integrity
from screentest.verdicts.policy import AXES, Policy, as_policy, default_policy, parse_policy
from tests.verdicts import made


def test_every_shipped_limit_has_a_unit_and_a_provenance() -> None:
    limits = default_policy().limits
    for key in type(limits).__struct_fields__:
        limit = getattr(limits, key)
        assert limit.unit, key
        assert len(limit.provenance) > 40, key


def test_the_calibrated_limits_are_those_of_the_specification_and_not_provisional() -> None:
    limits = default_policy().limits
    shipped = {
        "noise_floor": (0.6, False),
        "blank_std": (0.01, False),
        "grid_ratio": (6.0, False),
        "blank_share": (0.9, True),
    }
    assert {
        key: (getattr(limits, key).value, getattr(limits, key).provisional) for key in shipped
    } == shipped


def test_a_document_that_changes_nothing_is_the_default_policy() -> None:
    assert parse_policy("") == default_policy()
    assert as_policy(None) is default_policy()


def test_an_override_replaces_one_limit_and_leaves_the_rest() -> None:
    policy = parse_policy(
        'name = "mine"\n[limits.grid_ratio]\nvalue = 8\nprovenance = "40 brick walls under 7.5"'
    )
    assert policy.limits.grid_ratio.value == 8.0
    assert policy.limits.grid_ratio.unit == "ratio"
    assert policy.limits.grid_ratio.provisional
    assert policy.limits.noise_floor == default_policy().limits.noise_floor
    assert policy.sha256 != default_policy().sha256


def limit(key: str, value: str) -> str:
    return f'name = "mine"\n[limits.{key}]\nvalue = {value}\nprovenance = "because"'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("treshold = 1", "unknown key 'treshold'"),
        ('name = "x"\n[limits.noise_flor]\nvalue = 1', "did you mean 'noise_floor'"),
        ('name = "x"\n[limits.noise_floor]\nvalue = 0.5', "needs a provenance"),
        ('name = "x"\n[limits.noise_floor]\nvalue = 0.5\nprovenance = " "', "needs a provenance"),
        ('name = "x"\n[limits.noise_floor]\nprovenance = "because"', "has no value"),
        (limit("noise_floor", "nan"), "finite"),
        (limit("grid_ratio", "inf"), "finite"),
        (limit("noise_floor", "0.95"), "limits.noise_floor is 0.95"),
        (limit("frozen_change", "8.5"), "exact only up to 8 levels"),
        (limit("blank_share", "0"), "limits.blank_share is 0"),
        (limit("blank_share", "-0.1"), "limits.blank_share"),
        (limit("frozen_min_frames", "2.5"), "counts frames"),
        (limit("frozen_min_s", '"half"'), "limits.frozen_min_s.value"),
        (limit("frozen_min_s", "true"), "limits.frozen_min_s.value"),
        (limit("frozen_drift", "0.5"), "below"),
        (limit("grid_ratio", "7") + '\nunit = "dB"', "in 'dB'"),
        (limit("grid_ratio", "7") + "\nwhy = 1", "unknown key 'limits.grid_ratio.why'"),
        ('name = "x"\nlimits.grid_ratio = 7', "table was expected"),
        ('[severities]\nfrozen = "reject"', "needs a name"),
        ('name = "x"\n[severities]\nfrozen = "fatal"', "severities.frozen"),
        ('name = "x"\n[severities]\ndamaged = "warn"', "unknown key 'severities.damaged'"),
        ('name = " "\nrequired = ["noise"]', "name is empty"),
        ('name = "x"\nrequired = []', "required is empty"),
        ('name = "x"\nrequired = ["noise", "noise"]', "twice"),
        ('name = "x"\nrequired = ["sharpness"]', "'sharpness'"),
        ('schema = "screentest/integrity-policy@9"', "schema is"),
        ("name = ", "not valid TOML"),
    ],
)
def test_a_bad_policy_is_refused_in_one_line_that_names_the_key(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_policy(text, source="mine.toml")
    message = str(refusal.value)
    assert message.startswith("mine.toml: ")
    assert says in message
    assert "\n" not in message


def test_a_policy_built_by_hand_is_checked_when_it_is_used() -> None:
    broken = msgspec.structs.replace(default_policy(), required=())
    assert isinstance(broken, Policy)
    with pytest.raises(PolicyError, match="required is empty"):
        as_policy(broken)


def test_the_default_policy_requires_known_axes_only() -> None:
    assert set(default_policy().required) <= set(AXES)


def test_a_missing_policy_file_stays_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        as_policy(tmp_path / "none.toml")
    with pytest.raises(FileNotFoundError):
        load_delivery(tmp_path / "none.toml")


def test_a_policy_file_that_is_no_text_or_a_folder_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="not UTF-8"):
        as_policy(binary)
    with pytest.raises(PolicyError, match="a folder"):
        as_policy(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "asks for nothing"),
        ("fps = 24", "unknown key 'fps'"),
        ("duration = 5", "did you mean 'duration_s'"),
        ("duration_s = nan", "finite"),
        ("duration_s = 0", "above 0"),
        ("longest_freeze_s = -1", "0 or more"),
        ("frames = 12.5", "frames"),
        ("audio = 1", "audio"),
        ("duration_tolerance_s = 0.1", "without duration_s"),
        ("frame_rate_tolerance = 0.1", "without frame_rate"),
        ("duration_s = 5.0\nframe_rate = 24\nframes = 48", "no clip can meet both"),
        ("width = ", "not valid TOML"),
    ],
)
def test_a_bad_spec_is_refused_in_one_line_that_names_the_key(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_delivery(text, source="spec.toml")
    assert str(refusal.value).startswith("spec.toml: ")
    assert says in str(refusal.value)


def test_a_spec_with_frames_rate_and_duration_that_agree_is_read() -> None:
    spec = parse_delivery("duration_s = 5.04\nframe_rate = 24\nframes = 121")
    assert spec.asked_for() == {"duration_s": 5.04, "frame_rate": 24.0, "frames": 121}


def test_a_spec_may_be_a_mapping() -> None:
    spec = as_delivery({"frames": 3, "longest_freeze_s": 0})
    assert spec is not None
    assert (spec.frames, spec.longest_freeze_s) == (3, 0.0)
    assert as_delivery(None) is None


def test_a_refusal_survives_pickling_with_code_and_context() -> None:
    error = PolicyError("no", code="unknown_axis", axis="gird")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.context) == ("no", "unknown_axis", {"axis": "gird"})
    assert isinstance(again, ValueError)


def test_a_changed_policy_may_not_keep_the_default_policys_name() -> None:
    name = default_policy().name
    with pytest.raises(PolicyError, match="a name of its own"):
        parse_policy(f'name = "{name}"\nseverities.grid = "warn"')
    assert parse_policy(f'name = "{name}"') == default_policy()


def test_a_limit_that_is_no_table_is_refused_with_its_shape() -> None:
    with pytest.raises(PolicyError, match=r"grid_ratio = \{ value = \.\.\., provenance"):
        parse_policy('name = "mine"\nlimits.grid_ratio = 100')


def test_a_wrong_type_is_named_in_tomls_words() -> None:
    with pytest.raises(PolicyError, match=r"required: expected a list, got text$"):
        parse_policy('name = "mine"\nrequired = "grid"')
    with pytest.raises(PolicyError, match="'off' is none of reject, warn"):
        parse_policy('name = "mine"\nseverities.grid = "off"')


def test_judge_integrity_takes_the_paths_of_a_policy_and_a_spec(tmp_path):
    facts = made.facts(48)
    (tmp_path / "policy.toml").write_text('name = "ours"\nseverities.duplicate = "reject"\n')
    (tmp_path / "spec.toml").write_text("frames = 50\n")
    judged = judge_integrity(facts, str(tmp_path / "policy.toml"), tmp_path / "spec.toml")
    assert [defect.code for defect in judged.defects] == ["spec_frames"]
