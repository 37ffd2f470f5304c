"""What happens when ffmpeg is missing, fails, is killed, or hangs: a reason of one line."""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from screentest.media import open_clip
from screentest.metrics import ffmpeg as finding
from screentest.metrics import instruments
from screentest.metrics.instruments import piped
from tests.instruments.conftest import measure, textured, worsened

STAND_IN = """#!{python}
import os, re, sys, time
arguments = sys.argv[1:]
if arguments == ["-version"]:
    print("ffmpeg version 0.stand-in")
elif arguments[-1] == "-filters":
    print(" ... libvmaf  VV->V  x\\n T.. xpsnr  VV->V  x")
else:
    def read_all():
        for pipe in re.findall(r"pipe:([0-9]+)", " ".join(arguments)):
            while os.read(int(pipe), 1 << 20):
                pass
    {body}
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder that temporary ones are made in; empty, and to be left so."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """``stand_in(statements)``: an ffmpeg that lists the filters, and does as told when run."""

    def make(body):
        program = tmp_path / "stand in"
        program.write_text(STAND_IN.format(python=sys.executable, body=body))
        program.chmod(0o755)
        monkeypatch.setenv(finding.ENVIRONMENT_VARIABLE, str(program))

    return make


def wait_for_the_end_of(pid):
    """Signals a process until there is none; a zombie counts as none."""
    for _ in range(200):
        os.kill(pid, 0)
        if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            raise ProcessLookupError
        time.sleep(0.02)


def pair(frames=3):
    return textured(frames), worsened(textured(frames))


def test_a_program_that_fails_is_a_reason_with_its_first_words(stand_in, temporary):
    stand_in("sys.exit(print('no such model', 'then more', sep='\\n', file=sys.stderr) or 7)")
    result = measure(*pair(), ["vmaf", "vmaf_neg"])
    for name in ("vmaf", "vmaf_neg"):
        score = result[name]
        assert (score.state, score.value) == ("unmeasured", None)
        assert score.reason.startswith("ffmpeg failed: exit status 7 after ")
        assert score.reason.endswith(": no such model")
    assert result.series == {}
    assert list(temporary.iterdir()) == []


def test_a_program_that_leaves_at_once_does_not_stop_the_frames(stand_in, temporary):
    stand_in("sys.exit(1)")
    before = threading.active_count()
    result = measure(*pair(30), ["vmaf"])
    assert "exit status 1" in result["vmaf"].reason
    assert threading.active_count() <= before
    assert list(temporary.iterdir()) == []


def test_a_program_that_succeeds_without_a_log_is_not_believed(stand_in, temporary):
    stand_in("pass")
    reason = measure(*pair(), ["vmaf"])["vmaf"].reason
    assert "log of VMAF cannot be read" in reason or "exit status 0 after" in reason
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ('{"version": "1", "frames": [], "pooled_metrics": {"vmaf": {"mean": 1, '
         '"harmonic_mean": 1, "min": 1}}}', "holds 0 frames of 3"),
        ("{", "cannot be read"),
        ("", "cannot be read"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("temporary")
def test_a_log_that_is_not_whole_is_not_believed(log, reason, stand_in):
    stand_in(f"read_all(); open('vmaf.json', 'w').write({log!r})")
    assert reason in measure(*pair(), ["vmaf"])["vmaf"].reason


def test_a_program_that_hangs_is_ended(stand_in, temporary, monkeypatch):
    monkeypatch.setattr(piped, "_STALL_S", 1.0)
    stand_in("time.sleep(1000)")
    result = measure(*pair(40), ["vmaf"])
    assert result["vmaf"].reason == "ffmpeg failed: it took no frame for 1 s and was ended"
    assert list(temporary.iterdir()) == []


def test_what_a_script_around_the_program_started_is_ended_with_it(
    stand_in, temporary, monkeypatch, tmp_path
):
    """It holds the pipes open: ending the script alone would leave whoever writes waiting."""
    monkeypatch.setattr(piped, "_STALL_S", 1.0)
    note = tmp_path / "pid"
    stand_in(
        "import subprocess; child = subprocess.Popen(['sleep', '1000'], close_fds=False); "
        f"open({str(note)!r}, 'w').write(str(child.pid)); child.wait()"
    )
    result = measure(*pair(60), ["vmaf"])
    assert "was ended" in result["vmaf"].reason
    with pytest.raises(ProcessLookupError):
        wait_for_the_end_of(int(note.read_text()))
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("temporary")
def test_a_program_that_hangs_at_the_end_is_ended(stand_in, monkeypatch):
    monkeypatch.setattr(piped, "_STALL_S", 1.0)
    stand_in("time.sleep(1000)")
    assert "was ended" in measure(*pair(1), ["vmaf"])["vmaf"].reason


def started(frames=2):
    a, b = (open_clip(clip) for clip in pair(frames))
    (instrument,), _ = instruments.create(["vmaf"], a.info, a.format, b.info, b.format)
    frames = list(zip(a.frames(), b.frames(), strict=True))
    instrument.push(*frames[0])
    return instrument, frames


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_a_killed_ffmpeg_is_a_reason(temporary):
    instrument, frames = started()
    instrument._piped._process.kill()
    instrument._piped._process.wait()
    for _ in range(20):
        instrument.push(*frames[1])
    (score,), series = instrument.finish()
    assert score.state == "unmeasured"
    assert "ended by signal 9" in score.reason
    assert series == {}
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_closing_early_ends_the_program_and_its_folder(temporary):
    instrument, _ = started()
    process = instrument._piped._process
    before = threading.active_count()
    assert process.poll() is None
    instrument.close()
    instrument.close()
    assert process.poll() is not None
    assert threading.active_count() == before - 2
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_an_instrument_that_is_dropped_ends_its_program(temporary):
    instrument, frames = started()
    process = instrument._piped._process
    del instrument, frames
    process.wait(10)
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("vmaf_ffmpeg")
def test_no_pair_at_all_is_a_reason(temporary):
    with open_clip(textured(1)) as a:
        (instrument,), _ = instruments.create(["vmaf"], a.info, a.format, a.info, a.format)
        (score,), _ = instrument.finish()
    assert score.reason == "there is no pair of frames"
    assert list(temporary.iterdir()) == []


def test_without_any_ffmpeg_the_reason_names_every_place(monkeypatch):
    monkeypatch.delenv(finding.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    result = measure(*pair(), ["vmaf", "xpsnr"], options={"frame_rate": 25})
    assert result["vmaf"].reason == (
        "no ffmpeg with the filter libvmaf: SCREENTEST_FFMPEG is not set; imageio-ffmpeg is not "
        "installed; no ffmpeg on PATH; pip install 'screentest[vmaf]'"
    )
    assert {result[f"xpsnr_{c}"].state for c in ("y", "cb", "cr")} == {"unmeasured"}


def test_an_ffmpeg_without_the_filter_is_passed_over(monkeypatch, tmp_path):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'ffmpeg version 1.2'\n")
    program.chmod(0o755)
    monkeypatch.setenv(finding.ENVIRONMENT_VARIABLE, str(program))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv(
        "PATH",
        "/nonexistent:/bin:/usr/bin" if not Path("/usr/bin/ffmpeg").exists() else "/nonexistent",
    )
    reason = finding.find("libvmaf")
    assert "the program that SCREENTEST_FFMPEG names" in reason


def test_the_variable_comes_before_the_bundled_program(stand_in):
    stand_in("sys.exit(1)")
    assert finding.find("libvmaf").version == "0.stand-in"


def test_a_bundled_ffmpeg_is_under_the_licence_that_provenance_names():
    import subprocess

    from tests.house import provenance

    bundled = pytest.importorskip("imageio_ffmpeg", reason="pip install 'screentest[vmaf]'")
    told = subprocess.run([bundled.get_ffmpeg_exe(), "-hide_banner", "-L"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    words = " ".join(told.split())
    assert "GNU General Public License" in words
    assert "either version 3 of the License, or (at your option) any later version" in words
    assert "under the GPL, version 3 or later" in " ".join(
        provenance.PROVENANCE.read_text().split()
    )
