"""What changed between two arms, and the lane that it leaves."""

import itertools

import pytest

from screentest.errors import ProtocolError, TrajectoryPerturbingError
from screentest.protocol import ChangeKind, Lane, Purpose, as_change, classify_change
from screentest.protocol.kinds import as_lane, as_purpose, perturbing

AFTER_THE_LATENT = (
    "vae-decode-dtype",
    "vae-decode-tiling",
    "vae-decode-backend",
    "color-conversion",
    "output-resize",
    "video-encoder",
    "container-mux",
)

OF_THE_TRAJECTORY = (
    "repeat",
    "weight-quantization",
    "activation-quantization",
    "weight-storage-cast",
    "compile",
    "attention-backend",
    "scheduler",
    "step-count",
    "guidance",
    "lora-attach",
    "lora-fuse",
    "denoiser-dtype",
    "offload-placement",
    "hardware-sku",
    "model-weights",
    "seed",
)


def test_every_kind_is_on_one_of_the_two_lanes():
    assert {kind.value for kind in ChangeKind} == {*AFTER_THE_LATENT, *OF_THE_TRAJECTORY}


@pytest.mark.parametrize("kind", AFTER_THE_LATENT)
def test_a_change_after_the_latent_keeps_the_trajectory(kind):
    assert classify_change(kind) is Lane.SAME_TRAJECTORY
    assert classify_change(ChangeKind(kind)) is Lane.SAME_TRAJECTORY
    assert perturbing(kind) == ()


@pytest.mark.parametrize("kind", OF_THE_TRAJECTORY)
def test_a_change_of_the_sampling_path_is_a_population(kind):
    assert classify_change(kind) is Lane.POPULATION
    assert perturbing(kind) == (kind,)


def test_one_kind_of_the_sampling_path_taints_any_set():
    for clean, tainting in itertools.product(AFTER_THE_LATENT, OF_THE_TRAJECTORY):
        assert classify_change(clean, tainting) is Lane.POPULATION
        assert classify_change(tainting, clean) is Lane.POPULATION
    assert classify_change(*AFTER_THE_LATENT) is Lane.SAME_TRAJECTORY
    assert classify_change(*AFTER_THE_LATENT, "repeat") is Lane.POPULATION


def test_no_kind_has_no_lane():
    with pytest.raises(ProtocolError, match="--change") as refused:
        classify_change()
    assert refused.value.code == "no_change"


@pytest.mark.parametrize("given", ["vae-dtype", "", "VAE-DECODE-DTYPE", 3, None])
def test_an_unknown_kind_is_refused_and_never_the_lane_of_reference_metrics(given):
    with pytest.raises(ProtocolError, match="unknown") as refused:
        as_change(given)
    assert refused.value.code == "unknown_change"
    if isinstance(given, str):
        with pytest.raises(ProtocolError, match="unknown"):
            classify_change("container-mux", given)


def test_a_misspelt_kind_hears_the_nearest():
    with pytest.raises(ProtocolError, match="did you mean 'attention-backend'"):
        as_change("atention-backend")


@pytest.mark.parametrize("packed", [["compile"], ("compile", "seed"), {"compile"}])
def test_kinds_in_one_sequence_hear_the_right_call(packed):
    with pytest.raises(TypeError, match=r"classify_change\(\*kinds\)"):
        classify_change(packed)


def test_words_that_name_no_lane_and_no_purpose_are_refused():
    assert (as_lane("population"), as_purpose("quality")) == (Lane.POPULATION, Purpose.QUALITY)
    with pytest.raises(ProtocolError, match="expected same-trajectory or population") as lane:
        as_lane("reference")
    with pytest.raises(ProtocolError, match="expected quality or paired-fidelity") as purpose:
        as_purpose("fidelity")
    assert (lane.value.code, purpose.value.code) == ("unknown_lane", "unknown_purpose")
    assert not isinstance(lane.value, TrajectoryPerturbingError)
