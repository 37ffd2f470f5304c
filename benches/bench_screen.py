"""Screens in memory and of files, start-up. Each case asserts its answer before it is timed."""

import functools
import subprocess
import sys
from pathlib import Path

import av
import cozy_eval
import pytest

import screentest
from benches import material

IN_MEMORY_SAMPLED = "screen: 121x768x1344 u8 rgb in memory, sampled"
IN_MEMORY_FULL = "screen: 121x768x1344 u8 rgb in memory, every frame"
FILE_720P = "screen: 1280x720 h264 file, every frame"
FILE_720P_HEARD = "screen: 1280x720 h264 file with AAC 5.1, every frame and the sound"
FILE_1080P = "screen: 1920x1080 h264 file of 10 s, every frame"
FILE_LONG = "screen: 1280x720 h264 file of 10 min, sampled"
HELP = "start: --help"
IMPORT = "start: import"


# ---------------------------------------------------------------------------------- in memory


@pytest.fixture(scope="module")
def clip():
    return material.generated_clip()


@pytest.fixture(scope="module")
def reference(clip):
    return cozy_eval.output_integrity(clip)


def assert_same_answer(screening, reference):
    facts = screening.facts
    assert screening.verdict == reference.verdict == "pass"
    assert facts.adjacent_frame_corr == pytest.approx(reference.adjacent_frame_corr, abs=1e-6)
    assert facts.frame_std_min == pytest.approx(reference.frame_std_min, abs=1e-6)
    assert facts.grid_peak_ratio == pytest.approx(reference.grid_peak_ratio, rel=1e-5)


@pytest.mark.benchmark(group=IN_MEMORY_SAMPLED)
def bench_in_memory_sampled_screentest(timed, clip, reference, threads):
    def screen():
        return screentest.screen(clip, depth="sampled", threads=threads)

    assert_same_answer(screen(), reference)
    timed(screen, 60, against=lambda: cozy_eval.output_integrity(clip))


@pytest.mark.benchmark(group=IN_MEMORY_SAMPLED)
def bench_in_memory_sampled_cozy_eval(timed, clip, reference):
    assert reference.verdict == "pass"
    timed(lambda: cozy_eval.output_integrity(clip), 60)


@pytest.mark.benchmark(group=IN_MEMORY_FULL)
def bench_in_memory_full_screentest(timed, clip, reference, threads):
    def screen():
        return screentest.screen(clip, depth="full", threads=threads)

    answer = screen()
    assert answer.frames_read == len(clip)
    assert_same_answer(answer, reference)
    timed(screen, 60, against=lambda: cozy_eval.output_integrity(clip))


@pytest.mark.benchmark(group=IN_MEMORY_FULL)
def bench_in_memory_full_cozy_eval_reading_ten_frames(timed, clip, reference):
    assert reference.verdict == "pass"
    timed(lambda: cozy_eval.output_integrity(clip), 60)


# -------------------------------------------------------------------------------------- files


def decode_luma(path, threads):
    """A bare PyAV loop over the luma planes: what no reader of every frame can undercut."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = threads
        frames = 0
        for frame in container.decode(stream):
            plane = memoryview(frame.planes[0])
            assert plane.nbytes >= frame.height * frame.width
            frames += 1
    return frames


def decode_luma_and_sound(path, threads):
    """The same, and every sample of the sound."""
    with av.open(str(path)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    return decode_luma(path, threads), samples


def screen_file(path, depth, threads, audio=False):
    """The picture alone, as the bare loop reads it."""
    return screentest.screen(str(path), depth=depth, audio=audio, threads=threads)


def full_screen_case(timed, path, frames, threads):
    answer = screen_file(path, "full", threads)
    assert answer.verdict == "pass"
    assert answer.frames_read == frames
    against = functools.partial(decode_luma, path, threads)
    timed(lambda: screen_file(path, "full", threads), 15, against=against)


def decode_case(timed, path, frames, threads):
    assert decode_luma(path, threads) == frames
    timed(lambda: decode_luma(path, threads), 15)


@pytest.mark.benchmark(group=FILE_720P)
def bench_file_720p_screentest(timed, threads):
    full_screen_case(timed, material.real_720p(), 132, threads)


@pytest.mark.benchmark(group=FILE_720P)
def bench_file_720p_decode_luma(timed, threads):
    decode_case(timed, material.real_720p(), 132, threads)


@pytest.mark.benchmark(group=FILE_720P_HEARD)
def bench_file_720p_heard_screentest(timed, threads):
    path = material.real_720p()

    def screen():
        return screen_file(path, "full", threads, audio=True)

    answer = screen()
    assert answer.verdict == "pass"
    assert answer.audio.audio_lufs == pytest.approx(-34.0, abs=0.1)
    timed(screen, 15, against=lambda: decode_luma_and_sound(path, threads))


@pytest.mark.benchmark(group=FILE_720P_HEARD)
def bench_file_720p_heard_decode(timed, threads):
    frames, samples = decode_luma_and_sound(material.real_720p(), threads)
    assert frames == 132
    assert samples > 5 * 48000
    timed(lambda: decode_luma_and_sound(material.real_720p(), threads), 15)


@pytest.mark.benchmark(group=FILE_1080P)
def bench_file_1080p_screentest(timed, threads):
    full_screen_case(timed, material.file_1080p(10), 250, threads)


@pytest.mark.benchmark(group=FILE_1080P)
def bench_file_1080p_decode_luma(timed, threads):
    decode_case(timed, material.file_1080p(10), 250, threads)


@pytest.mark.benchmark(group=FILE_LONG)
def bench_file_long_screentest(timed, threads):
    path = material.file_720p(600)
    answer = screen_file(path, "sampled", threads)
    assert answer.verdict == "pass"
    assert answer.frames_read <= 10
    against = functools.partial(decode_luma, path, threads)
    timed(lambda: screen_file(path, "sampled", threads), 10, against=against, turns=2)


@pytest.mark.benchmark(group=FILE_LONG)
def bench_file_long_decode_luma(timed, threads):
    path = material.file_720p(600)
    timed(lambda: decode_luma(path, threads), 3)


# ----------------------------------------------------------------------------------- start-up

EMPTY_APP = """
import typer

app = typer.Typer()


@app.command()
def main(path: str) -> None:
    "An app without anything in it."


app()
"""


def output_of(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def empty_app(tmp_path):
    (tmp_path / "empty.py").write_text(EMPTY_APP)
    return [sys.executable, tmp_path / "empty.py", "--help"]


@pytest.mark.benchmark(group=HELP)
def bench_help_screentest(timed, empty_app):
    command = [Path(sys.executable).with_name("screentest"), "--help"]
    assert "screen" in output_of(command)
    timed(lambda: output_of(command), 30, against=lambda: output_of(empty_app))


@pytest.mark.benchmark(group=HELP)
def bench_help_empty_typer_app(timed, empty_app):
    assert "An app without anything in it." in output_of(empty_app)
    timed(lambda: output_of(empty_app), 30)


@pytest.mark.benchmark(group=IMPORT)
@pytest.mark.parametrize("statement", ["import screentest", "import cozy_eval", "pass"])
def bench_import(timed, statement):
    timed(lambda: output_of([sys.executable, "-c", statement]), 30)
