"""What every bench needs: a release build, and two threads for ours as for the rivals."""

import statistics
import time

import pytest

from screentest import _native

THREADS = 2


def pytest_configure():
    if _native.BUILD_PROFILE != "release":
        pytest.exit(f"a {_native.BUILD_PROFILE} build says nothing about speed", returncode=2)


@pytest.fixture(scope="session")
def threads():
    return THREADS


@pytest.fixture
def timed(benchmark):
    """``timed(function, rounds)``: one call to warm up, then that many, each timed alone.

    ``against`` is the rival that the group's target names. The cases of a group are timed one after
    the other, and the speed of a shared CPU drifts between them by more than some targets allow, so
    the ratio comes from rounds of its own in which the two take turns. ``clock`` times those; a
    case that is not timed by the wall names the same clock in its mark.
    """

    def run(function, rounds, *, against=None, turns=None, clock=time.perf_counter):
        benchmark.pedantic(function, rounds=rounds, iterations=1, warmup_rounds=1)
        if against is not None:
            pairs = [
                (seconds(function, clock), seconds(against, clock)) for _ in range(turns or rounds)
            ]
            ours, rival = (statistics.median(column) for column in zip(*pairs, strict=True))
            benchmark.extra_info["ours_over_rival"] = ours / rival

    return run


def seconds(function, clock):
    start = clock()
    function()
    return clock() - start
