"""Which metrics a lane admits, by what the registry says of them."""

import pytest

from screentest.errors import ProtocolError, TrajectoryPerturbingError
from screentest.metrics import registry
from screentest.protocol import (
    Lane,
    Purpose,
    admissible,
    require_admissible,
    require_reference_lane,
)

EVERY = tuple(spec.name for spec in registry.specs())
OF_ONE_TRAJECTORY = tuple(spec.name for spec in registry.reference_only())


def test_a_quality_question_of_a_population_admits_what_needs_no_common_trajectory():
    admitted, refused = admissible("population", EVERY)
    assert set(refused) == set(OF_ONE_TRAJECTORY)
    assert set(admitted) == set(EVERY) - set(OF_ONE_TRAJECTORY)
    # The registry marks some of either sort, or the two lines above say nothing.
    assert {"psnr", "ssim", "lpips", "vmaf"} <= set(refused)
    assert {"track_stability_ratio", "sharpness"} <= set(admitted)


@pytest.mark.parametrize(
    ("lane", "purpose"),
    [
        (Lane.SAME_TRAJECTORY, Purpose.QUALITY),
        (Lane.SAME_TRAJECTORY, Purpose.PAIRED_FIDELITY),
        (Lane.POPULATION, Purpose.PAIRED_FIDELITY),
    ],
)
def test_every_other_question_admits_every_metric(lane, purpose):
    assert admissible(lane, EVERY, purpose) == (EVERY, ())
    require_admissible(lane, *EVERY, purpose=purpose)


def test_unknown_names_pass_for_the_registry_to_refuse():
    assert admissible("population", ["of_nobody", "psnr"]) == (("of_nobody",), ("psnr",))


def test_refused_metrics_are_named():
    with pytest.raises(TrajectoryPerturbingError, match="lpips, vmaf") as refused:
        require_admissible("population", "lpips", "sharpness", "vmaf")
    assert refused.value.context["metrics"] == ["lpips", "vmaf"]
    assert refused.value.code == "trajectory_perturbed"
    assert isinstance(refused.value, ProtocolError)


def test_a_moved_trajectory_has_no_reference_lane_for_quality():
    with pytest.raises(TrajectoryPerturbingError, match="compile, seed moves") as refused:
        require_reference_lane("container-mux", "compile", "seed")
    assert refused.value.context["kinds"] == ["compile", "seed"]
    require_reference_lane("container-mux", "video-encoder")
    require_reference_lane("compile", "seed", purpose="paired-fidelity")


@pytest.mark.parametrize("purpose", ["quality", "paired-fidelity"])
def test_a_reference_lane_needs_known_changes(purpose):
    with pytest.raises(ProtocolError, match="no change was named"):
        require_reference_lane(purpose=purpose)
    with pytest.raises(ProtocolError, match="unknown"):
        require_reference_lane("vae", purpose=purpose)
    with pytest.raises(TypeError, match="one by one"):
        require_reference_lane(["compile"], purpose=purpose)


def test_unknown_lanes_and_purposes_are_refused():
    with pytest.raises(ProtocolError, match="lane 'reference' is unknown"):
        admissible("reference", ["psnr"])
    with pytest.raises(ProtocolError, match="purpose 'fidelity' is unknown"):
        require_admissible("population", "psnr", purpose="fidelity")
    with pytest.raises(ProtocolError, match="purpose 'fidelity' is unknown"):
        require_reference_lane("video-encoder", purpose="fidelity")
