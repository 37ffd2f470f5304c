"""Bounds placed from labelled populations, each worked out by hand on made numbers."""

import math

import msgspec
import pytest

from screentest.errors import InputError, PolicyError
from screentest.gates.budget import Budget, BudgetTable, load_budgets, parse_budgets
from screentest.gates.calibration.bound import Reading, sides_of
from screentest.gates.calibration.budget_file import (
    BudgetFile,
    changes_between,
    read_budget_file,
    require_reason,
)
from screentest.gates.calibration.calibrate import Population, place_budgets
from screentest.gates.calibration.placing import place_bound
from screentest.gates.calibration.resampling import pooled_of, redrawn
from screentest.gates.reference_facts import aggregate
from screentest.gates.report import ReferenceFacts, ReferenceRow
from screentest.metrics.population.derive import derive
from screentest.metrics.population.facts import PopulationFacts, PromptFacts
from screentest.metrics.population.names import IMPL
from screentest.metrics.population.ratios import Pair
from tests.gates.made_reports import CLIP

COUNTS = ("n_frames", "width", "height", "flat_frames")
FEATURES = ("log_sharpness", "log_hf_ratio", "entropy", "contrast", "saturation",
            "log_local_contrast")  # fmt: skip


pytest.importorskip("tomlkit", reason="pip install 'screentest[gate]'")


def readings(*values, draws=()):
    return [Reading(chr(65 + at), value, draws) for at, value in enumerate(values)]


def bad(**values):
    return [Reading(name, value) for name, value in values.items()]


def facts(*factors, n=8):
    """n pairs; each candidate is its reference times the factors of its prompt, by statistic."""
    pairs = []
    for at in range(n):
        own = factors[at % len(factors)]
        reference = {k: v if k in COUNTS else v * (1 + at / 8) for k, v in CLIP.items()}
        reference |= {"tracks_seen": 1.0, "corners": 200.0, "track_stability": 0.5,
                      "stability_inside": 0.6, "grid_peak_ratio": 2.0, "frozen_share": 0.0,
                      "motion_energy": 5.0}  # fmt: skip
        for name in FEATURES:
            reference |= {f"mean_{name}": float(at), f"var_{name}": 0.01}
        candidate = {k: v * own.get(k, 1.0) for k, v in reference.items()}
        candidate["frozen_share"] = own.get("frozen_share", 0.0)
        pairs.append(Pair(f"prompt {at}", reference, candidate))
    found = derive(pairs, lambda _logs: 1.0, lambda _scale: [0.0] * n)
    return PopulationFacts(
        impl=IMPL,
        prompts=tuple(
            PromptFacts(prompt=p.prompt, reference=p.reference, candidate=p.candidate, values=v,
                        sources=(f"r{at}.mp4", f"c{at}.mp4"), contents=(f"{at:064x}", None))
            for at, (p, v) in enumerate(zip(pairs, found.values, strict=True))
        ),
        benchmarks=found.benchmarks,
    )  # fmt: skip


def clean(name, *factors):
    return Population(name=name, degraded=False, facts=facts(*factors))


def degraded(name, *factors):
    return Population(name=name, degraded=True, facts=facts(*factors))


def reference(name, *psnr, worse=False):
    rows = tuple(
        ReferenceRow(prompt=f"prompt {at}", frames=6,
                     values={"psnr_mean": value, "psnr_worst": value - 2})
        for at, value in enumerate(psnr)
    )  # fmt: skip
    values, _ = aggregate(rows, ("psnr",))
    return Population(name=name, degraded=worse, facts=ReferenceFacts(rows=rows, values=values))


def keeps(table, population):
    values = (
        population.facts.values
        if isinstance(population.facts, ReferenceFacts)
        else {n: v for b in population.facts.benchmarks.values() for n, v in b.values.items()}
    )
    return all(b.check(values[b.name]) for b in table.budgets if b.name in values)


# ------------------------------------------------------------------------------------- one bound


def test_three_spreads_beyond_the_worst_clean_value():
    """42 and 40 dB spread by 1.414; three of them below 40 is 35.757, a fiftieth of the way to 30
    is 0.2, so one decimal stays."""
    bound = place_bound("psnr_mean", "low", readings(42.0, 40.0), bad(coded=30.0))
    assert bound.spread == pytest.approx(math.sqrt(2))
    assert (bound.bound, bound.kind, bound.provisional) == (35.8, "placed", False)
    assert (bound.clean, bound.clean_of, bound.degraded_of) == (40.0, "B", "coded")
    assert bound.margin == pytest.approx(4.2)
    assert bound.margin_spreads == pytest.approx(4.2 / math.sqrt(2))


def test_a_quarter_of_the_way_at_least_where_clean_renders_hardly_vary():
    assert place_bound("psnr_mean", "low", readings(40.0, 40.0), bad(coded=32.0)).bound == 38.0


def test_half_of_the_way_at_most_and_said_to_be_thin():
    """From 40 to 35 half is 2.5, 1.77 spreads."""
    bound = place_bound("psnr_mean", "low", readings(42.0, 40.0), bad(coded=35.0))
    assert bound.bound == 37.5
    assert bound.provisional
    assert "1.8 spreads" in bound.reason


def test_ratios_are_placed_on_the_logarithmic_axis():
    """A quarter of the way from 1 to 0.6561 is 0.9, the arithmetic quarter would be 0.914."""
    bound = place_bound("imaging_index", "low", readings(1.0, 1.0), bad(soft=0.6561))
    assert bound.bound == 0.9


def test_an_excess_is_placed_as_the_ratio_that_it_is():
    """jerk_excess 0.21 is a ratio of 1.21, a quarter of the way is 1.21 ** 0.25 = 1.0488."""
    bound = place_bound("jerk_excess", "high", readings(0.0, 0.0), bad(jitter=0.21))
    assert bound.bound == 0.05


def test_a_frozen_population_leaves_room_for_clean_ones():
    """0 stands at a twentieth on the axis: a quarter of the way is 0.47."""
    bound = place_bound("motion_ratio", "low", readings(1.0, 1.0), bad(frozen=0.0))
    assert bound.bound == 0.47


@pytest.mark.parametrize(("value", "high"), [(1.0, 0.0), (3.0, 0.0), (4.0, 1.0)])
def test_a_count_gets_a_whole_number_between(value, high):
    bound = place_bound("significant_features", "high", readings(0.0, 0.0), bad(grey=value))
    assert bound.bound == high


def test_a_count_that_varies_between_clean_renders_is_bounded_by_the_next_one():
    bound = place_bound(
        "significant_features", "high", readings(0.0, 1.0), bad(grey=3.0), elsewhere={"grey"}
    )
    assert (bound.bound, bound.caught, bound.margin_spreads) == (1.0, ("grey",), None)


def test_overlap_gives_no_bound_and_says_with_what():
    bound = place_bound("psnr_mean", "low", readings(42.0, 40.0), bad(coded=39.0))
    assert (bound.bound, bound.kind) == (None, "none")
    assert "overlap" in bound.reason
    assert "coded" in bound.reason


def test_what_cannot_be_told_from_clean_does_not_pull_the_bound():
    """The bound is that of the clear one; the other is named."""
    two = place_bound("psnr_mean", "low", readings(42.0, 40.0), bad(coded=30.0, again=39.0))
    assert two.bound == 35.8
    assert two.unclear == ("again",)
    assert two.caught == ("coded",)


def test_what_another_bound_catches_pulls_this_one_only_with_room_for_the_whole_margin():
    """Spread 1.414: 35 is 3.5 spreads from 40 and 31 is 6.4."""
    clean_ones = readings(42.0, 40.0)
    alone = place_bound("psnr_mean", "low", clean_ones, bad(coded=35.0), elsewhere={"coded"})
    assert alone.kind == "backstop"
    assert "caught elsewhere" in alone.reason
    far = place_bound("psnr_mean", "low", clean_ones, bad(coded=31.0), elsewhere={"coded"})
    assert far.kind == "placed"
    assert far.bound == pytest.approx(40 - 3 * math.sqrt(2), abs=0.2)


def test_a_degraded_value_within_the_interval_of_the_worst_is_not_clear():
    args = ("psnr_mean", "low", readings(40.0, 40.0), bad(coded=38.0))
    assert place_bound(*args).bound == 39.5
    assert place_bound(*args, interval=(37.5, 40.0)).bound is None


def test_a_statistic_that_nothing_moves_keeps_a_backstop():
    """Six spreads of 1.414 below 40."""
    bound = place_bound("psnr_mean", "low", readings(42.0, 40.0), bad(tinted=43.0))
    assert bound.kind == "backstop"
    assert bound.provisional
    assert bound.bound == pytest.approx(40 - 6 * math.sqrt(2), abs=0.35)


def test_no_backstop_where_clean_renders_do_not_vary_or_moving_is_no_damage():
    still = place_bound("psnr_mean", "low", readings(40.0, 40.0), bad(tinted=43.0))
    more = place_bound("motion_ratio", "high", readings(1.0, 1.1), bad(slow=0.5))
    assert still.bound is more.bound is None
    assert "do not vary" in still.reason
    assert "no damage" in more.reason


def test_no_backstop_where_clean_renders_differ_so_much_that_it_would_stop_nothing():
    """ln 0.1 and ln 8 have a spread of 3.1: six of them beyond 8 are a factor of 10**8."""
    apart = place_bound("population_frechet", "high", readings(0.1, 8.0), [])
    near = place_bound("population_frechet", "high", readings(0.10, 0.12), [])
    assert apart.bound is None
    assert "would stop nothing" in apart.reason
    assert near.bound == pytest.approx(0.12 * 1.2 ** (6 / math.sqrt(2)), rel=0.05)


def test_the_spread_counts_prompts_drawn_anew_within_and_populations_between():
    """Draws of 1 and 3 have variance 1 about 2; two populations with means 2 and 2 add none."""
    one = Reading("A", 2.0, (1.0, 3.0))
    bound = place_bound("frozen_share_excess", "high", [one, one._replace(population="B")], [])
    assert bound.spread == pytest.approx(1.0)


def test_sides():
    assert sides_of("jerk_excess") == ("low", "high")
    assert sides_of("imaging_worst_prompt") == sides_of("vmaf_min") == ("low",)
    assert sides_of("population_frechet") == sides_of("lpips_mean") == ("high",)


# ------------------------------------------------------------------------------------- prompts


def test_drawn_anew_each_statistic_is_pooled_as_the_facts_pool_it():
    population = facts({"sharpness": 0.9, "flicker": 1.2}, {"sharpness": 1.1, "frozen_share": 0.5})
    values = {n: v for b in population.benchmarks.values() for n, v in b.values.items()}
    pools = pooled_of(population)
    assert {"imaging_index", "flicker_ratio", "track_stability_worst", "population_frechet",
            "frozen_share_excess", "jerk_excess", "grid_ratio"} <= set(pools)  # fmt: skip
    for name, pool in pools.items():
        assert pool.pool(range(8)) == pytest.approx(values[name], abs=1e-12), name
    assert "significant_features" not in pools


def test_draws_are_of_the_prompts_and_the_same_each_time():
    """The worst of prompts at 0.9 and 1.1 is one of the two, and mostly the lower."""
    pool = pooled_of(reference("x", 30.0, 32.0, 40.0).facts)["psnr_worst"]
    drawn = redrawn(pool)
    assert set(drawn) == {28.0, 30.0, 38.0}
    assert drawn == redrawn(pool)
    # One of three prompts is missed by three draws with a chance of (2/3)^3.
    assert drawn.count(28.0) / len(drawn) == pytest.approx(1 - (2 / 3) ** 3, abs=0.05)


# ------------------------------------------------------------------------------------- tables

JITTER = (
    {"jerk_ratio": 1.01, "sharpness": 0.99, "flicker": 1.05, "motion_energy": 0.97},
    {"jerk_ratio": 0.99, "sharpness": 1.01, "flicker": 0.95, "motion_energy": 1.03},
)
SOFT = ({"sharpness": 0.4, "hf_ratio": 0.4, "local_contrast": 0.5},)
SLOW = ({"motion_energy": 0.3, "jerk_ratio": 1.3},)


def made():
    return [clean("again", *JITTER), clean("once more", *reversed(JITTER)),
            degraded("soft", *SOFT), degraded("slow", *SLOW)]  # fmt: skip


def test_clean_populations_pass_the_table_that_they_made_and_degraded_ones_fail_it():
    populations = made()
    placed = place_budgets(populations, name="mine")
    assert placed.table.name == "mine"
    assert [keeps(placed.table, each) for each in populations] == [True, True, False, False]
    assert placed.missed == ()
    names = {budget.name for budget in placed.table.budgets}
    assert {"imaging_index", "imaging_worst_prompt", "motion_ratio", "jerk_excess"} <= names


def test_provenance_is_written_from_the_numbers():
    budget = {b.name: b for b in place_budgets(made()).table.budgets}["motion_ratio"]
    for said in ("clean 0.9995", "failing 0.3 (slow)", "margin", "spreads", "95 %"):
        assert said in budget.provenance


def test_evidence_holds_every_value_per_population_and_prompt():
    evidence = place_budgets(made(), family="f", hardware="H100").evidence
    assert (evidence["family"], evidence["hardware"], evidence["draws"]) == ("f", "H100", 1000)
    soft = next(each for each in evidence["populations"] if each["name"] == "soft")
    assert soft["label"] == "degraded"
    assert soft["values"]["ratio_sharpness"] == pytest.approx(0.4)
    assert len(soft["prompts"]) == 8
    third = soft["prompts"][2]
    assert (third["clips"], third["contents"]) == (["r2.mp4", "c2.mp4"], [f"{2:064x}", ""])
    assert third["values"]["motion_ratio"] == pytest.approx(1.0)
    bound = next(e for e in evidence["bounds"] if e["statistic"] == "motion_ratio")
    assert bound["degraded"] == pytest.approx(0.3)
    assert bound["interval"][0] <= bound["clean"] <= bound["interval"][1]
    reasons = {(e["statistic"], e["side"]): e["reason"] for e in evidence["unplaced"]}
    assert "no degraded population moves it" in reasons["grid_ratio", "high"]


def test_without_a_clean_population_the_identity_is_clean_and_every_bound_says_so():
    """Midway from 99 to 35 dB."""
    placed = place_budgets([reference("coded", 34.0, 36.0, worse=True)], kind="reference")
    assert {b.name: b.low for b in placed.table.budgets}["psnr_mean"] == 67.0
    assert all("provisional" in budget.provenance for budget in placed.table.budgets)
    assert "every bound is provisional" in placed.notes[0]


def test_a_degraded_population_that_no_bound_catches_is_named():
    placed = place_budgets([*made(), degraded("hardly", {"sharpness": 0.995})])
    assert placed.missed == ("hardly",)
    assert "no bound catches hardly: it would pass" in placed.notes


def test_one_clean_population_is_told_to_say_little_of_worst_prompts():
    one, other, *bad = made()
    assert any("give two or more" in note for note in place_budgets([one, *bad]).notes)
    assert not any("give two or more" in note for note in place_budgets([one, other, *bad]).notes)


def test_a_population_that_little_tells_is_caught_by_the_statistic_that_tells_it_best():
    """Alone, faint motion gets a bound with a thin margin; beside soft pictures it need not."""
    faint = degraded("faint", {"motion_energy": 0.93})
    placed = place_budgets([*made(), faint])
    bounds = {(b.statistic, b.side): b for b in placed.bounds}
    assert bounds["motion_ratio", "low"].provisional
    assert "faint" in bounds["motion_ratio", "low"].caught
    both = degraded("both", {"motion_energy": 0.93, **SOFT[0]})
    relaxed = {(b.statistic, b.side): b for b in place_budgets([*made(), both]).bounds}
    assert "both" in relaxed["imaging_index", "low"].caught
    assert relaxed["motion_ratio", "low"].degraded_of == "slow"


def test_nothing_can_be_placed_where_nothing_is_moved_and_no_spread_is_known():
    placed = place_budgets([degraded("same", {})])
    assert placed.table is None
    assert all(bound.reason for bound in placed.bounds)


def test_a_degenerate_population_is_caught_without_a_bound_when_degraded_and_refused_when_clean():
    black = msgspec.structs.replace(facts({}), benchmarks={}, degenerate_candidates=(0,))
    bad_one = Population(name="black", degraded=True, facts=black)
    placed = place_budgets([*made(), bad_one])
    assert "black" not in placed.missed
    assert any("black has nothing to compare" in note for note in placed.notes)
    with pytest.raises(InputError, match="black: clips with nothing to compare"):
        place_budgets([msgspec.structs.replace(bad_one, degraded=False)])


def test_a_statistic_that_a_clean_population_lacks_has_no_bound():
    lacking = facts({})
    for name, each in lacking.benchmarks.items():
        if name == "structure":
            lacking.benchmarks[name] = msgspec.structs.replace(
                each, values={}, unmeasured={"grid_ratio": "nobody looked"}
            )
    placed = place_budgets([*made(), Population(name="bare", degraded=False, facts=lacking)])
    reasons = {b.statistic: b.reason for b in placed.bounds if b.bound is None}
    assert reasons["grid_ratio"] == "not measured in bare: nobody looked"


@pytest.mark.parametrize(
    ("populations", "kind", "said"),
    [
        ([], "video", "no population"),
        ([clean("a", {}), degraded("a", {})], "video", "two populations are called 'a'"),
        ([clean("a", {})], "reference", "for the reference gate"),
        ([clean("a", {})], "image", "--kind video"),
        ([clean("a", {})], "audio", "expected one of video, image, reference"),
    ],
)
def test_populations_that_do_not_go_together_are_refused(populations, kind, said):
    with pytest.raises(InputError, match=said):
        place_budgets(populations, kind=kind)


# ------------------------------------------------------------------------------------- the file


def table(**budgets):
    return BudgetTable(
        name="t",
        kind="reference",
        budgets=tuple(
            Budget(name=name, low=low, provenance="by hand") for name, low in budgets.items()
        ),
    )


def test_changes_say_which_bound_went_which_way():
    found = changes_between(
        table(psnr_mean=36.0, psnr_worst=32.0, ssim_mean=0.9),
        table(psnr_mean=35.0, psnr_worst=33.0, vmaf=90.0),
    )
    assert [each.describe() for each in found] == [
        "psnr_mean low 36 -> 35 (loosened)",
        "psnr_worst low 32 -> 33 (tightened)",
        "ssim_mean low 0.9 -> none (loosened)",
        "vmaf low none -> 90 (added)",
    ]


def test_a_high_bound_is_loosened_upwards():
    def high(value):
        return BudgetTable(name="t", kind="video", budgets=(
            Budget(name="jerk_excess", low=-0.1, high=value, provenance="by hand"),))  # fmt: skip

    assert [c.direction for c in changes_between(high(0.04), high(0.05))] == ["loosened"]
    assert [c.direction for c in changes_between(high(0.04), high(0.03))] == ["tightened"]
    assert [c.direction for c in changes_between(high(0.04), high(None))] == ["loosened"]
    assert changes_between(high(0.04), high(0.04)) == ()


def test_loosening_without_a_reason_is_refused_by_name_with_old_and_new():
    changes = changes_between(table(psnr_mean=36.0), table(psnr_mean=35.5))
    with pytest.raises(
        PolicyError, match=r"b\.toml: .*--reason.*: psnr_mean low 36 -> 35.5 "
    ) as told:
        require_reason(changes, "  ", "b.toml")
    assert told.value.code == "loosened"
    assert "\n" not in told.value.message
    require_reason(changes, "the decoder changed", "b.toml")
    require_reason(changes_between(table(psnr_mean=36.0), table(psnr_mean=37.0)), "", "b.toml")


def test_a_file_is_read_back_as_it_was_written(tmp_path):
    placed = place_budgets(made(), name="mine", hardware='H100 "80 GB"')
    file = BudgetFile(
        table=placed.table,
        evidence=placed.evidence,
        changes=({"budget": "jerk_excess", "reason": "why\nnot\x7f \udcff"},),
    )
    path = tmp_path / "b.toml"
    file.write(path)
    again = read_budget_file(path)
    assert again.table == placed.table == load_budgets(path)
    assert again.hardware == 'H100 "80 GB"'
    # A byte of a file name that is no text is written as what it is.
    assert again.changes[0]["reason"] == "why\nnot\x7f \\udcff"
    assert again.evidence["populations"][0]["prompts"][0]["clips"] == ["r0.mp4", "c0.mp4"]
    assert again.to_toml() == file.to_toml()
    assert parse_budgets(path.read_text()).sha256 == placed.table.sha256


def test_equal_populations_give_equal_bytes():
    one, other = (place_budgets(made(), name="mine") for _ in range(2))
    texts = [BudgetFile(table=p.table, evidence=p.evidence).to_toml() for p in (one, other)]
    assert texts[0] == texts[1]
