"""Comparing two files, and folders of them, beside decoding alone. The answer is asserted first."""

import tempfile
import threading
from pathlib import Path

import av
import imageio_ffmpeg
import pytest
from ffmpeg_quality_metrics import FfmpegQualityMetrics

import screentest
from benches import material
from screentest.evaluations import evaluate_videos

COMPARE_PSNR = "compare: two 1280x720 h264 files, psnr of the planes"
COMPARE_ALL = "compare: two 1280x720 h264 files, psnr, ssim_y and ms_ssim_y"
EVAL = "eval videos: psnr of 200 pairs"
EVAL_RIVAL = "eval videos: psnr of 40 pairs, against ffmpeg-quality-metrics"
PLANES = ("psnr_y", "psnr_cb", "psnr_cr")


def decode(path, threads, done):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = threads
        done.append(sum(1 for _ in container.decode(stream)))


def decode_together(paths, threads):
    """Both files at once, the budget shared: how a comparison has to read them."""
    frames = []
    share = max(1, threads // len(paths))
    workers = [threading.Thread(target=decode, args=(path, share, frames)) for path in paths]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(frames)


def decode_in_turn(paths, threads):
    frames = []
    for path in paths:
        decode(path, threads, frames)
    return sum(frames)


@pytest.fixture(scope="module")
def pair():
    """Ten seconds at 720p, and the same encoded again at CRF 30."""
    reference = material.file_720p(10)
    return reference, material.encoded_again(reference, 30)


def compared(pair, metrics, threads):
    return screentest.compare(*map(str, pair), metrics=metrics, threads=threads)


def compare_case(timed, pair, metrics, threads):
    result = compared(pair, metrics, threads)
    assert result.aligned
    assert result.complete
    assert len(result.facts.pairs) == 250
    assert 30 < result["psnr_y"].value < 45
    against = lambda: decode_together(pair, threads)  # noqa: E731
    timed(lambda: compared(pair, metrics, threads), 7, against=against)


@pytest.mark.benchmark(group=COMPARE_PSNR)
def bench_compare_psnr_screentest(timed, pair, threads):
    compare_case(timed, pair, PLANES, threads)


@pytest.mark.benchmark(group=COMPARE_PSNR)
def bench_compare_psnr_decode_both_at_once(timed, pair, threads):
    assert decode_together(pair, threads) == 500
    timed(lambda: decode_together(pair, threads), 7)


@pytest.mark.benchmark(group=COMPARE_PSNR)
def bench_compare_psnr_decode_one_after_the_other(timed, pair, threads):
    assert decode_in_turn(pair, threads) == 500
    timed(lambda: decode_in_turn(pair, threads), 7)


@pytest.mark.benchmark(group=COMPARE_ALL)
def bench_compare_all_screentest(timed, pair, threads):
    compare_case(timed, pair, (*PLANES, "ssim_y", "ms_ssim_y"), threads)


@pytest.mark.benchmark(group=COMPARE_ALL)
def bench_compare_all_decode_both_at_once(timed, pair, threads):
    assert decode_together(pair, threads) == 500
    timed(lambda: decode_together(pair, threads), 7)


# ------------------------------------------------------------------------------------ folders


@pytest.fixture(scope="module")
def folders():
    return material.folders_of_pairs(200)


def evaluated(folders, threads, samples=None):
    """A fresh output folder each time: nothing is resumed."""
    with tempfile.TemporaryDirectory() as out:
        return evaluate_videos(
            predictions_dir=folders[0],
            gt_dir=folders[1],
            out=Path(out),
            num_samples=samples,
            threads=threads,
        )


def decode_folders(folders, threads):
    """Every file of both folders, as many at a time as there are threads."""
    paths = sorted(folders[0].rglob("*.mp4")) + sorted(folders[1].rglob("*.mp4"))
    frames, left = [], iter(paths)
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                path = next(left, None)
            if path is None:
                return
            decode(path, 1, frames)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(frames)


@pytest.mark.benchmark(group=EVAL)
def bench_eval_screentest(timed, folders, threads):
    found = evaluated(folders, threads).aggregate["default"]["psnr"]
    assert found["count"] == 200
    assert 25 < found["mean"] < 45
    against = lambda: decode_folders(folders, threads)  # noqa: E731
    timed(lambda: evaluated(folders, threads), 3, against=against)


@pytest.mark.benchmark(group=EVAL)
def bench_eval_decode_only(timed, folders, threads):
    assert decode_folders(folders, threads) == 2 * 200 * material.FRAMES_OF_A_PAIR
    timed(lambda: decode_folders(folders, threads), 3)


def by_ffmpeg_quality_metrics(folders, samples):
    means = []
    for prediction in sorted(folders[0].rglob("*.mp4"))[:samples]:
        truth = folders[1] / f"{prediction.parent.parent.name}.mp4"
        # The ffmpeg of Debian 12 is too old for the filters that it asks for.
        program = imageio_ffmpeg.get_ffmpeg_exe()
        rival = FfmpegQualityMetrics(str(truth), str(prediction), threads=2, ffmpeg_path=program)
        frames = rival.calculate(["psnr"])["psnr"]
        means.append(sum(frame["psnr_y"] for frame in frames) / len(frames))
    return means


@pytest.mark.benchmark(group=EVAL_RIVAL)
def bench_eval_40_screentest(timed, folders, threads):
    found = evaluated(folders, threads, 40).aggregate["default"]["psnr"]
    assert found["count"] == 40
    against = lambda: by_ffmpeg_quality_metrics(folders, 40)  # noqa: E731
    timed(lambda: evaluated(folders, threads, 40), 3, against=against, turns=2)


@pytest.mark.benchmark(group=EVAL_RIVAL)
def bench_eval_40_ffmpeg_quality_metrics(timed, folders):
    means = by_ffmpeg_quality_metrics(folders, 40)
    assert len(means) == 40
    assert all(25 < mean < 45 for mean in means)
    timed(lambda: by_ffmpeg_quality_metrics(folders, 40), 2)
