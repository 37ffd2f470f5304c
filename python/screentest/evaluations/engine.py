"""The run over a plan's share: several samples at a time, each record written once it is known."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any, TypeAlias

from screentest import compute
from screentest.errors import InputError, MediaError, ScreentestError
from screentest.evaluations.collect import aggregate_until_settled, evaluation_of
from screentest.evaluations.evaluation import Counts, Evaluation
from screentest.evaluations.plan import VIDEO_MODES, Request, Subject, make_plan
from screentest.evaluations.records import BENCHMARK, Record, write_record
from screentest.evaluations.renderers import Rendered, Sample, as_rendered, renderer_identity
from screentest.evaluations.scorer import PairedScorer, Scorer
from screentest.evaluations.scoring import Known, Scoring
from screentest.evaluations.selection import share
from screentest.files import remove_leftovers, write_atomically

__all__ = ["Outcome", "Progress", "run"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One sample is done. ``record`` is ``None`` where metrics were not to be computed."""

    place: str
    record: Record | None
    reused: bool
    render_s: float | None
    score_s: float | None


Progress: TypeAlias = Callable[[int, Outcome | None], None]
"""Called with (samples in this share, ``None``) at the start, then with each outcome in order."""


def run(request: Request, scorer: Scorer | None = None, progress: Progress | None = None
        ) -> Evaluation:  # fmt: skip
    """Score a request's share of samples, then write the aggregate over all records."""
    scorer = scorer or PairedScorer()
    begun = time.perf_counter()
    budget, workers = _workers(request)
    plan = make_plan(request)
    mine = share(plan.subjects, request.shard)
    scoring = _scoring(request, scorer, max(1, budget // workers))
    request.out.mkdir(parents=True, exist_ok=True)
    remove_leftovers(request.out)
    for subject in mine:
        remove_leftovers(request.out / subject.place.folder)
    if progress is not None:
        progress(len(mine), None)
    timings: list[dict[str, Any]] = []
    scored = skipped = reused = trimmed = 0
    with closing(_outcomes(request, scoring, mine, workers)) as outcomes:
        for outcome in outcomes:
            if outcome.record is not None:
                scored += outcome.record.state == "scored"
                skipped += bool(outcome.record.gaps)
                reused += outcome.reused
                trimmed += any((outcome.record.trim or {}).values())
            if request.benchmark:
                timings.append(_timing(outcome))
            if progress is not None:
                progress(len(mine), outcome)
    table, records = aggregate_until_settled(request, plan)
    if request.benchmark:
        _write_benchmark(request, timings, time.perf_counter() - begun, budget, workers)
    places = {subject.place.folder for subject in plan.subjects}
    counts = Counts(
        found=plan.found,
        chosen=len(plan.subjects),
        share=len(mine),
        scored=scored,
        skipped=skipped,
        reused=reused,
        others=sum(place not in places for place in records),
        trimmed=trimmed,
        unpredicted=len(plan.unpredicted),
    )
    return evaluation_of(request, mine, counts, table, records, plan.unpredicted)


def _workers(request: Request) -> tuple[int, int]:
    """(threads in all, samples at a time). One thread for each of several samples keeps every CPU
    busy where one sample's decoder would wait for its own frames."""
    budget = compute.threads(request.threads)
    workers = request.workers
    if workers is None:
        return budget, budget
    if type(workers) is not int or workers < 1:
        raise InputError(f"workers={workers!r}: a whole number of at least 1 was expected")
    return budget, workers


def _scoring(request: Request, scorer: Scorer, threads: int) -> Scoring:
    from screentest.media.video import decoder_name

    videos = request.mode in VIDEO_MODES or request.mode == "joint"
    impls = scorer.impls(request.metrics) if videos and request.compute_metrics else {}
    renderer = None if request.renderer is None else renderer_identity(request.renderer)
    return Scoring(request, scorer, impls, decoder_name(), renderer, threads)


def _outcomes(
    request: Request, scoring: Scoring, subjects: list[Subject], workers: int
) -> Generator[Outcome, None, None]:
    """The outcomes in the order of the subjects. A renderer runs here, the scoring in the pool."""

    def one(subject: Subject, known: Known | None, rendered: Any, render_s: float | None
            ) -> Outcome:  # fmt: skip
        begun = time.perf_counter()
        with computing:
            known = known or scoring.look_up(subject)
            record, reused = known.record, known.record is not None
            if record is None:
                record = scoring.score(subject, known, rendered)
        if not reused:
            write_record(request.out, subject.place.folder, record)
        spent = time.perf_counter() - begun
        return Outcome(subject.place.folder, record, reused, render_s, spent)

    # A write waits for the disk, not for a CPU: meanwhile one more sample may be worked on.
    computing = BoundedSemaphore(workers)
    pool = ThreadPoolExecutor(workers + 1, thread_name_prefix="screentest-eval")
    ahead: deque[Future[Outcome] | Outcome] = deque()
    try:
        for subject in subjects:
            known, rendered, render_s = None, None, None
            if request.renderer is not None:
                known = scoring.look_up(subject) if request.compute_metrics else None
                if known is None or known.record is None:
                    begun = time.perf_counter()
                    rendered = _render(request, subject)
                    render_s = time.perf_counter() - begun
            if request.compute_metrics:
                ahead.append(pool.submit(one, subject, known, rendered, render_s))
            else:
                ahead.append(Outcome(subject.place.folder, None, False, render_s, None))
            # What is rendered waits in memory, so little of it is made ahead.
            while len(ahead) > (workers if request.renderer else 2 * workers):
                yield _result(ahead.popleft())
        while ahead:
            yield _result(ahead.popleft())
    finally:
        # What has begun is not waited for: an interrupt must not last as long as a long clip.
        pool.shutdown(wait=False, cancel_futures=True)


def _result(outcome: Future[Outcome] | Outcome) -> Outcome:
    return outcome.result() if isinstance(outcome, Future) else outcome


def _render(request: Request, subject: Subject) -> Rendered | ScreentestError:
    assert request.renderer is not None
    action = subject.ground_truth_action
    sample = Sample(
        key=subject.place.key,
        group=subject.place.group,
        mode=subject.mode,
        ground_truth=subject.ground_truth if subject.ground_truth.exists() else None,
        ground_truth_action=action if action is not None and action.exists() else None,
        folder=request.out / subject.place.folder,
    )
    sample.folder.mkdir(parents=True, exist_ok=True)
    try:
        return as_rendered(request.renderer(sample), subject.mode)
    except MediaError as error:
        return error
    except Exception as error:
        # A renderer is the caller's code: what it raises is one sample's failure, told by name.
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return MediaError(f"the renderer failed: {why}", code="renderer_failed")


def _timing(outcome: Outcome) -> dict[str, Any]:
    record = outcome.record
    frames = None if record is None or record.frames is None else record.frames["compared"]
    return {
        "place": outcome.place,
        "reused": outcome.reused,
        "render_s": outcome.render_s,
        "score_s": outcome.score_s,
        "frames": frames,
    }


def _write_benchmark(
    request: Request, timings: list[dict[str, Any]], total_s: float, budget: int, workers: int
) -> None:
    """``benchmark.json``; a shard writes its own, named by its index."""
    import msgspec

    from screentest.reports.canonical import printable

    fresh = [one for one in timings if not one["reused"]]
    frames = sum(one["frames"] or 0 for one in fresh)
    for one in timings:
        one["place"] = printable(one["place"])
    document = {
        "schema": "screentest/eval-benchmark@1",
        "total_s": total_s,
        "samples": len(timings),
        "scored": len(fresh),
        "frames": frames,
        "frames_per_s": frames / total_s if total_s > 0 else None,
        "render_s": sum(one["render_s"] or 0.0 for one in timings),
        "score_s": sum(one["score_s"] or 0.0 for one in fresh),
        "threads": budget,
        "workers": workers,
        "timings": timings,
    }
    name = BENCHMARK
    if request.shard is not None and request.shard[1] > 1:
        name = f"benchmark.{request.shard[0]}-of-{request.shard[1]}.json"
    write_atomically(request.out / name, msgspec.json.encode(document))
