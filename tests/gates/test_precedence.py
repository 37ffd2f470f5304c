"""One precedence everywhere: degenerate, faults, failed budgets, what is unproven, pass."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.gates.verdict import decide

SENTENCES = st.lists(st.text(min_size=1), max_size=3).map(tuple)


def expected(degenerate, faults, failed, unproven):
    if degenerate:
        return "degenerate"
    if faults:
        return "indeterminate"
    if failed:
        return "fail"
    return "indeterminate" if unproven else "pass"


@pytest.mark.parametrize("present", [*itertools.product([False, True], repeat=4)])
def test_each_combination_has_its_verdict(present):
    names = ("degenerate", "faults", "failed", "unproven")
    given_ = {name: [name] if there else [] for name, there in zip(names, present, strict=True)}
    decision = decide(**given_)
    assert decision.verdict == expected(*present)
    assert (decision.verdict == "pass") == (not any(present)) == (not decision.reasons)
    # A failure that a fault hides is still told.
    hidden = present[2] and present[1] and not present[0]
    assert decision.would_fail == (("failed",) if hidden else ())


@given(SENTENCES, SENTENCES, SENTENCES, SENTENCES, SENTENCES)
def test_the_verdict_hangs_on_what_is_there_and_never_on_how_much(
    degenerate, faults, failed, unproven, remarks
):
    decision = decide(
        degenerate=degenerate, faults=faults, failed=failed, unproven=unproven, remarks=remarks
    )
    assert decision.verdict == expected(degenerate, faults, failed, unproven)
    if decision.verdict in ("degenerate", "indeterminate"):
        for fault in faults:
            assert fault in decision.reasons
    if decision.verdict == "fail":
        assert decision.reasons[0] == f"failed: {', '.join(failed)}"
        assert decision.reasons[1:] == (*remarks, *unproven)
    if faults and not degenerate:
        assert decision.would_fail == failed


def test_remarks_decide_nothing():
    assert decide(remarks=["a regression"]) == decide()
    assert decide(faults=["x"], remarks=["a regression"]).reasons == ("x",)
