"""Runs the benches and rewrites RESULTS.md: every row, whether its target is met or not."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benches" / "RESULTS.md"
RECORD = ROOT / ".build" / "benches" / "record.json"
sys.path.insert(0, str(ROOT))

# What the group's screentest case is held to: "faster" is rival / ours, at least; "cost" is
# ours / rival, at most.
TARGETS = {
    "screen: 121x768x1344 u8 rgb in memory, sampled": ("faster", 12.0),
    "screen: 121x768x1344 u8 rgb in memory, every frame": ("faster", 1.0),
    "screen: 1280x720 h264 file, every frame": ("cost", 1.15),
    "screen: 1920x1080 h264 file of 10 s, every frame": ("cost", 1.15),
    "screen: 1280x720 h264 file of 10 min, sampled": ("faster", 15.0),
    "start: --help": ("cost", 1.5),
    "ssim: 1080p u8 luma, against scikit-image": ("faster", 50.0),
    "ssim: 1080p u8 luma, against torchmetrics": ("faster", 100.0),
    "ms_ssim: 1080p u8 luma, against torchmetrics": ("faster", 80.0),
    "psnr: 1080p u8 rgb, against numpy": ("faster", 10.0),
    "edge_overshoot: 1280x720 u8 rgb frame, against the reference system": ("faster", 15.0),
    "edge_overshoot: 1280x720 u8 rgb frame, against scipy": ("faster", 15.0),
    "flow: 25 frames of 1280x720 u8 rgb, 24 pairs": ("faster", 1.0),
    "flow of a pair: twice 25 frames of 1280x720 u8 rgb, 24 pairs": ("faster", 1.0),
    "compare: two 1280x720 h264 files, psnr of the planes": ("cost", 1.15),
    "compare: two 1280x720 h264 files, psnr, ssim_y and ms_ssim_y": ("cost", 2.5),
    "signal: 48x768x1344 u8 rgb in memory, all of it": ("faster", 20.0),
    "signal: 121x768x1344 u8 rgb in memory, flicker and jerk alone": ("faster", 20.0),
    "tracks: 132x720x1280 u8 rgb in memory, against the reference system": ("faster", 4.0),
    "measure: 1280x720 h264 file, integrity, signal, temporal and tracks": ("cost", 5.0),
    "measure: 1280x720 h264 file, against the reference system's same statistics": ("faster", 15.0),
    "audio: 60 s of 48 kHz stereo in memory, all of it": ("faster", 5.0),
    "audio_pair: two sounds of 60 s, 48 kHz stereo, in memory": ("faster", 5.0),
    "audio_lufs and audio_true_peak_dbtp: 60 s of 48 kHz stereo wav, user time": ("cost", 1.0),
    "gate: 8 pairs of 121x704x1280 h264 files, facts, verdict and report": ("faster", 15.0),
    "eval videos: psnr of 200 pairs": ("cost", 1.2),
    "eval videos: psnr of 40 pairs, against ffmpeg-quality-metrics": ("faster", 1.0),
}
MEMORY_LIMIT_MB = 300
MEMORY_LIMIT_OF_SOUND_MB = 200


def quantile(sorted_values, share):
    """Linear interpolation between order statistics, as numpy's default."""
    position = share * (len(sorted_values) - 1)
    low = int(position)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (position - low) * (sorted_values[high] - sorted_values[low])


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def judged(group, apart, in_turns):
    """The two ratios, the target and whether each ratio meets it. A rival of minutes takes no
    turns."""
    if group not in TARGETS:
        return ["", "", "", ""]
    direction, limit = TARGETS[group]
    faster = direction == "faster"
    costs = [apart] if in_turns is None else [apart, in_turns]
    ratios = [1 / cost if faster else cost for cost in costs]
    met = [ratio >= limit if faster else ratio <= limit for ratio in ratios]
    word = "x faster" if faster else "x the cost"
    answer = {(True, False): "apart only", (False, True): "in turns only"}
    return [
        *(f"{ratio:.3g}{word}" for ratio in ratios),
        *[""] * (2 - len(ratios)),
        f"{'>=' if faster else '<='} {limit:g}x",
        answer.get(tuple(met), "yes" if all(met) else "NO"),
    ]


def case_name(bench):
    return bench["params"]["statement"] if bench["params"] else bench["name"]


def timing_rows(record):
    """A table row of every case, in the order of the run."""
    medians = {}
    for bench in record["benchmarks"]:
        middle = quantile(sorted(bench["stats"]["data"]), 0.5)
        medians.setdefault(bench["group"], {})[bench["name"]] = middle
    for bench in record["benchmarks"]:
        data = sorted(bench["stats"]["data"])
        case = case_name(bench).removeprefix("bench_").replace("_", " ")
        times = [milliseconds(quantile(data, share)) for share in (0.0, 0.5, 0.95)]
        verdict = ["", "", "", ""]
        if "ours_over_rival" in bench["extra_info"]:
            in_turns = bench["extra_info"]["ours_over_rival"]
            group = medians[bench["group"]]
            rival = min(middle for name, middle in group.items() if name != bench["name"])
            verdict = judged(bench["group"], group[bench["name"]] / rival, in_turns)
        yield [bench["group"], case, *times, str(len(data)), *verdict]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def commit():
    def git(*arguments):
        answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return answer.stdout.strip() if answer.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!benches/RESULTS.md")
    return (git("rev-parse", "--short=12", "HEAD") or "none") + (" + changes" if changed else "")


def versions():
    names = (
        *("screentest", "cozy-eval", "av", "numpy", "typer", "scikit-image", "torch"),
        *("torchmetrics", "ffmpeg-quality-metrics", "opencv-python-headless", "scipy"),
    )
    listed = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return ", ".join([*listed, f"CPython {platform.python_version()}"])


def write_results(record, peaks):
    memory = []
    for what, read, megabytes in peaks:
        limit = MEMORY_LIMIT_OF_SOUND_MB if what.startswith("sound") else MEMORY_LIMIT_MB
        met = "yes" if megabytes < limit else "NO"
        memory.append([what, read, f"{megabytes:.0f}", f"< {limit}", met])
    timing_head = [
        *("group", "case", "min", "p50", "p95", "rounds"),
        *("ratio apart", "ratio in turns", "target", "met"),
    ]
    RESULTS.write_text(
        f"""# Results

Written by `make bench`; see [README.md](README.md). Milliseconds. Cases of a group ran in one
process with two threads each. The times, and the ratio "apart", are of rounds of one case after
another; in the ratio "in turns" the case and its rival alternate, so that the drift of a shared CPU
cancels, and each finds the caches as the other left them. Both are of medians.

* commit: {commit()}
* date: {datetime.now(UTC):%Y-%m-%d}
* CPU: {cpu()}, {os.cpu_count()} cores
* versions: {versions()}

{table(timing_head, timing_rows(record))}
## Memory

Resident peak of one process, two threads. MB = 10^6 bytes.

{table(["process", "read", "peak", "target", "met"], memory)}"""
    )


def main(arguments):
    import pytest

    RECORD.parent.mkdir(parents=True, exist_ok=True)
    options = ["-c", str(ROOT / "benches" / "pytest.ini"), f"--rootdir={ROOT / 'benches'}", "-q"]
    options += [f"--benchmark-json={RECORD}", "--benchmark-save-data"] if not arguments else []
    code = pytest.main([*options, *arguments, str(ROOT / "benches")])
    if code or arguments:
        return int(code)

    from benches import memory

    write_results(json.loads(RECORD.read_text()), memory.peaks())
    print(RESULTS.read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
