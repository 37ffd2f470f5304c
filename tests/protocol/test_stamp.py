"""The stamp: what every field may be, and what a stamp says of itself."""

import math

import msgspec
import pytest

from screentest.errors import ProtocolError
from screentest.protocol import ArmLanes, ChangeKind, Lane, Protocol, Purpose
from tests.gates.stamps import OF_A_RUN, stamp

NAN, INF = math.nan, math.inf

REFUSED = [
    *((name, value) for name in ("family", "reference_arm", "candidate_arm", "hardware")
      for value in ("", "  ", None, 3, "\ud800")),
    *((name, value) for name in ("width", "height", "frames", "steps")
      for value in (0, -1, 1.0, NAN, True, "8", None, 2**53)),
    *((name, value) for name in ("fps", "guidance")
      for value in (NAN, INF, -INF, -1.0, True, "24", None, 2.0**54)),
    *(("same_pod", value) for value in (None, 1, "yes")),
    *(("purpose", value) for value in ("", "fidelity", None, 1)),
    *(("notes", value) for value in (None, 3, "\udfff")),
    *(("changes", value) for value in ("compile", None, {"compile"}, ("compile", "compile"))),
    *(("prompts", value) for value in ("a cat", None, (), ("",), ("a cat", " "), (3,))),
    *(("seeds", value) for value in ("0", None, (0.5,), (True,), ("0",), (2**53,), (-(2**53),))),
    *(("extra", value) for value in (None, [("a", "b")], {"": "b"}, {3: "b"}, {"a": 3},
                                     {"a": None}, {"a": "\ud800"})),
    *(("execution_lane", value) for value in ("graph", None, 3, ArmLanes(reference="graph"),
                                              ArmLanes(candidate="Eager"), ("eager", "eager"))),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), REFUSED)
def test_a_field_out_of_its_range_is_refused_by_name(field, value):
    with pytest.raises(ProtocolError) as refused:
        stamp(**{field: value})
    assert field in str(refused.value)
    assert refused.value.code == "bad_field"
    assert refused.value.context["field"].startswith(field)


def test_every_field_has_a_value_that_is_refused():
    assert {field for field, _ in REFUSED} == set(Protocol.__struct_fields__)


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({"changes": ()}, "no_change", "no change was named"),
        ({"changes": ("compiled",)}, "unknown_change", "did you mean 'compile'"),
        ({"changes": (None,)}, "unknown_change", "unknown"),
        ({"prompts": ("a", "b", "a")}, "duplicate_prompt", "'a' stands twice, at 0 and 2"),
        ({"seeds": ()}, "seed_count", "0 seeds for 2 prompts"),
        ({"seeds": (1, 2, 3)}, "seed_count", "3 seeds for 2 prompts"),
    ],
)
def test_fields_that_contradict_are_refused(changed, code, said):
    with pytest.raises(ProtocolError, match=said) as refused:
        stamp(**changed)
    assert refused.value.code == code


def test_an_unknown_field_is_refused():
    with pytest.raises(TypeError):
        stamp(seed=1)
    with pytest.raises(msgspec.ValidationError, match="seed"):
        msgspec.convert({**msgspec.to_builtins(stamp()), "seed": 1}, Protocol)


@pytest.mark.parametrize("field", OF_A_RUN)
def test_what_defines_a_run_has_no_default(field):
    given = {name: value for name, value in OF_A_RUN.items() if name != field}
    if field == "execution_lane":
        # A stamp may say that nobody observed it; then nothing passes.
        assert [*Protocol(**given).faults()]
    else:
        with pytest.raises(TypeError, match=field):
            Protocol(**given)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"seeds": (3, -4)},
        {"execution_lane": ArmLanes(reference="eager", candidate="compiled")},
        {"purpose": "paired-fidelity", "fps": 24, "guidance": 3.5, "extra": {"vae": "tiled"}},
        {"same_pod": False, "notes": "rendered twice", "frames": 1, "prompts": ("猫",)},
    ],
)
def test_a_stamp_survives_json(changed):
    made = stamp(**changed)
    again = msgspec.json.decode(msgspec.json.encode(made), type=Protocol)
    assert again == made
    assert again.line() == made.line()


def test_decoding_checks_what_construction_checks():
    broken = {**msgspec.to_builtins(stamp()), "prompts": ["a", "a"]}
    with pytest.raises(ProtocolError, match="stands twice"):
        msgspec.convert(broken, Protocol)


def test_names_are_taken_for_what_they_name():
    made = stamp(changes=["container-mux"], prompts=["a", "b"], seeds=[1, 2])
    assert made.changes == (ChangeKind.CONTAINER_MUX,)
    assert (made.prompts, made.seeds) == (("a", "b"), (1, 2))
    assert made.purpose is Purpose.QUALITY
    assert made.execution_lane == ArmLanes(reference="compiled", candidate="compiled")


def test_a_stamp_derives_its_lane_its_size_and_its_count():
    assert (stamp().n, stamp().resolution, stamp().lane) == (2, "64x48", Lane.SAME_TRAJECTORY)
    assert stamp(changes=("video-encoder", "compile")).lane is Lane.POPULATION


def test_the_line_of_a_stamp():
    assert stamp().line() == (
        "ltx-2.3: w8a8 against bf16, 64x48x6f, 8 steps, n=2, execution compiled, H100, same pod, "
        "same-trajectory lane, purpose quality"
    )
    apart = stamp(same_pod=False, execution_lane=ArmLanes(reference="eager"))
    assert "execution eager against not observed, H100, CROSS POD" in apart.line()


def test_a_stamp_without_fault_has_none():
    assert [*stamp().faults()] == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"same_pod": False}, ["different pods"]),
        ({"execution_lane": ""}, ["of the reference arm was not observed", "of the candidate arm"]),
        ({"execution_lane": ArmLanes(reference="eager")}, ["of the candidate arm"]),
        (
            {"execution_lane": ArmLanes(reference="eager", candidate="compiled")},
            ["eager in the reference, compiled in the candidate"],
        ),
        (
            {"same_pod": False, "execution_lane": ArmLanes(candidate="eager")},
            ["different pods", "of the reference arm"],
        ),
    ],
)
def test_faults_of_a_stamp_are_told_one_by_one(changed, said):
    faults = [*stamp(**changed).faults()]
    assert len(faults) == len(said)
    for fault, part in zip(faults, said, strict=True):
        assert part in fault
