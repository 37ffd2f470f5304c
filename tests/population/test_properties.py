"""What holds of any two arms."""

import math

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from screentest.metrics.population import inconsistencies, measure_population
from screentest.metrics.signal.facts import FEATURES
from tests.population.made import FIELDS, clip, unlike, values

pytest.importorskip("scipy", reason="pip install 'screentest[gate]'")

slow = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

numbers = st.one_of(
    st.just(0.0), st.floats(0, 1), st.floats(0, 1e6), st.sampled_from([1e-300, 1e-12, 1e9])
)
NAMES = [name for name in FIELDS if name not in ("width", "height")]


@st.composite
def any_clip(draw, n_frames):
    fields = {name: draw(numbers) for name in NAMES}
    fields["contrast"] = max(fields["contrast"], 1e-4)
    features = draw(
        st.lists(
            st.lists(st.floats(-1e6, 1e6), min_size=len(FEATURES), max_size=len(FEATURES)),
            min_size=n_frames, max_size=n_frames,
        )
    )  # fmt: skip
    stability = st.one_of(st.none(), st.floats(0, 1))
    tracks = {
        "tracks_seen": draw(st.booleans()),
        "corners": draw(st.one_of(st.none(), st.integers(0, 400))),
        "track_stability": draw(stability),
        "stability_inside": draw(stability),
        "grid_peak_ratio": draw(st.one_of(st.none(), numbers)),
    }
    motion = draw(st.one_of(st.none(), numbers))
    return clip(tracks, n_frames=n_frames, motion=motion, features=features, **fields)


@st.composite
def any_arms(draw):
    n_frames = draw(st.integers(1, 4))
    n = draw(st.integers(1, 8))
    return [(draw(any_clip(n_frames)), draw(any_clip(n_frames))) for _ in range(n)]


def numbers_in(facts):
    plain = msgspec.to_builtins(facts)
    pending = [plain]
    while pending:
        at = pending.pop()
        if isinstance(at, dict):
            pending += at.values()
        elif isinstance(at, list | tuple):
            pending += at
        elif isinstance(at, float):
            yield at


@slow
@given(any_arms())
def test_any_finite_clips_give_finite_statistics_that_can_be_derived_again(pairs):
    facts = measure_population(pairs, [str(at) for at in range(len(pairs))])
    assert all(map(math.isfinite, numbers_in(facts)))
    assert list(inconsistencies(facts)) == []
    for benchmark in facts.benchmarks.values():
        kept = [*benchmark.values, *benchmark.unmeasured, *benchmark.inapplicable]
        assert len(kept) == len(set(kept)), "a statistic stands in one place"


@slow
@given(st.permutations(range(8)), st.lists(st.floats(0.5, 2), min_size=8, max_size=8))
def test_the_order_of_the_prompts_changes_no_statistic(order, factors):
    pairs = [
        (clip(**fields), clip(**{**fields, "sharpness": fields["sharpness"] * factor,
                                 "jerk_ratio": 0.8 * factor}))
        for fields, factor in zip(unlike(8), factors, strict=True)
    ]  # fmt: skip
    prompts = [f"prompt {at}" for at in range(8)]
    straight = measure_population(pairs, prompts)
    shuffled = measure_population([pairs[at] for at in order], [prompts[at] for at in order])
    assert values(shuffled) == pytest.approx(values(straight), rel=1e-12)
    by_prompt = {prompt.prompt: prompt for prompt in shuffled.prompts}
    for prompt in straight.prompts:
        assert by_prompt[prompt.prompt].values == pytest.approx(prompt.values, rel=1e-12)


@slow
@given(any_arms())
def test_equal_clips_give_equal_facts(pairs):
    prompts = [str(at) for at in range(len(pairs))]
    once, again = (measure_population(pairs, prompts) for _ in range(2))
    assert msgspec.json.encode(once) == msgspec.json.encode(again)
