"""``screentest metrics``: the table, one metric, and JSON."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from screentest.cli.main import app
from screentest.metrics import availability, registry
from screentest.metrics.ffmpeg import find


def run(*arguments, columns=120):
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["metrics", *arguments])


@pytest.fixture
def nothing_installed(monkeypatch):
    """No module of an extra and no ffmpeg."""
    monkeypatch.setattr(availability, "_is_installed", lambda _: False)
    monkeypatch.setattr(
        availability, "_program", lambda name: f"no ffmpeg with the filter {name}; pip install x"
    )


def rows(text):
    """The metric at the head of each row."""
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.usefixtures("nothing_installed")
def test_the_table_fits_and_has_every_metric_that_is_measured(columns):
    result = run(columns=columns)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    table = lines[: lines.index("*: the one to look at first for its question")]
    assert max(map(len, table)) <= columns
    listed = [s.name for s in registry.specs()
              if s.status == "measured" and not registry.stands_beside(s.name)]  # fmt: skip
    head = [line.split()[0] for line in table if line[:2] == "  " and line[2] != " "]
    assert sorted(head) == sorted(listed)
    assert head.index("psnr") < head.index("frame_std_min") < head.index("adjacent_frame_corr")


def test_a_row_says_which_way_is_better_the_unit_and_what_it_needs():
    lines = run("--dimension", "similarity").stdout.splitlines()
    psnr, lpips = (next(li for li in lines if li.startswith(f"  {n} ")) for n in ("psnr", "lpips"))
    assert psnr.split("  ")[1:2] == ["psnr +2"]
    assert "higher, dB" in psnr and " ref " in psnr
    assert "lpips *" in lpips and "lower, LPIPS" in lpips and "ref +reference" in lpips


@pytest.mark.usefixtures("nothing_installed")
def test_what_is_missing_here_stands_below_with_what_to_do():
    text = run().stdout
    assert "not here: cvvdp, lpips, dists: torch is not installed; pip install" in text
    assert "not here: vmaf, vmaf_neg, vmaf_phone: no ffmpeg with the filter libvmaf" in text
    assert "not here: xpsnr_y, xpsnr_cb, xpsnr_cr: no ffmpeg with the filter xpsnr" in text


def test_planned_metrics_are_counted_and_shown_only_with_all():
    text = run("--dimension", "preference").stdout
    assert (
        text == "nothing measures it\n5 more are planned and not measured yet: --all lists them\n"
    )
    every = run("--dimension", "preference", "--all").stdout
    assert rows(every)[0] == "pref_delta"
    assert every.count("planned") == 5


def test_a_modality_takes_what_is_measured_on_both_pictures_and_nothing_of_sound():
    found = set(rows(run("--modality", "image").stdout))
    assert "psnr" in found
    assert "vmaf" not in found
    sound = json.loads(run("--modality", "audio", "--all", "--json").stdout)["metrics"]
    assert {row["modality"] for row in sound} == {"audio"}


def test_one_metric_is_told_in_full():
    text = run("psnr").stdout
    for part in ("psnr: mean over frames", "higher", "dB, -0.04 to no limit", "psnr@1", "J.340",
                 "beside it  psnr_pooled, psnr_worst", "can be measured"):  # fmt: skip
        assert part in text
    assert "planned: nothing here measures it yet" in run("arniqa").stdout
    assert "only where element_recall is unmeasured" in run("clip_delta").stdout


def test_a_request_that_is_no_metric_shows_what_it_gives():
    heads = [line.split(":")[0] for line in run("xpsnr").stdout.splitlines() if line[:1] == "x"]
    assert heads == ["xpsnr_y", "xpsnr_cb", "xpsnr_cr"]


def test_an_unknown_name_exits_with_2_and_suggests():
    result = run("psrn")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "did you mean psnr" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [
    ("--dimension", "beauty"), ("--modality", "smell"), ("psnr", "--all"),
    ("psnr", "--dimension", "quality"),
])  # fmt: skip
def test_a_wrong_word_exits_with_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.usefixtures("nothing_installed")
def test_json_is_the_registry_with_what_is_missing():
    document = json.loads(run("--json", "--all").stdout)
    expected = registry.as_json()
    assert document["headlines"] == expected["headlines"]
    bare = [{k: v for k, v in row.items() if k != "missing"} for row in document["metrics"]]
    assert bare == json.loads(json.dumps(expected["metrics"]))
    missing = {row["name"]: row["missing"] for row in document["metrics"]}
    assert missing["psnr"] is None
    assert "torch is not installed" in missing["lpips"]
    (one,) = json.loads(run("--json", "ssim").stdout)["metrics"]
    assert one["name"] == "ssim"


def test_listing_loads_no_kernel():
    code = (
        "import sys\nfrom screentest.cli.main import app\n"
        "try:\n    app(['metrics', '--all'], prog_name='screentest')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'av', 'torch', 'cv2', 'screentest._native', 'screentest.media'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


class TestAvailability:
    def test_weights_that_are_not_fetched_are_named_with_the_command(self, monkeypatch, tmp_path):
        monkeypatch.setattr(availability, "_is_installed", lambda _: True)
        monkeypatch.setenv("SCREENTEST_MODELS", str(tmp_path))
        reason = availability.missing(registry.spec("dists"))
        assert reason == "the weights vgg16 are not fetched; screentest models fetch vgg16"

    def test_an_ffmpeg_without_the_filter_is_the_reason(self):
        found = find("libvmaf")
        expected = found if isinstance(found, str) else None
        assert availability.missing(registry.spec("vmaf")) == expected

    def test_a_metric_from_outside_has_nothing_that_is_known_to_be_missing(self):
        outside = registry.spec("psnr").__class__(
            name="mylab_x", says="x", dimension="quality", modality="any", unit="1",
            direction="up", impl="x@1", family="mylab", extra="mylab-extra",
        )  # fmt: skip
        assert availability.missing(outside) is None
