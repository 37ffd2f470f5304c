"""Resident peaks of single processes: screening files of three lengths, measuring and comparing
files of two, and evaluating folders of two sizes.

Run as a script with a task and its paths, it does that and prints what it read and the peak in MB.
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def peaks():
    """(what, what was read, MB) of each process."""
    from benches import material

    rows = []
    for seconds in (10, 60, 600):
        read, megabytes = measured("screen", material.file_1080p(seconds))
        assert read == seconds * 25
        rows.append((f"screen: 1080p, {seconds} s", f"{read} frames", megabytes))
    for seconds in (10, 600):
        read, megabytes = measured("measure", material.file_1080p(seconds))
        assert read == seconds * 25
        rows.append((f"measure, four families: 1080p, {seconds} s", f"{read} frames", megabytes))
    for seconds in (10, 600):
        path = material.file_720p(seconds)
        read, megabytes = measured("compare", path, path)
        assert read == seconds * 25
        rows.append((f"compare: two 720p files, {seconds} s", f"{read} pairs", megabytes))
    for seconds in (60, 3600):
        path = material.sound_aac(seconds)
        for task, what in (("listen", "sound alone"), ("listen_to_both", "sound against itself")):
            paths = [path] * (1 + (task == "listen_to_both"))
            read, megabytes = measured(task, *paths)
            assert read == seconds
            rows.append((f"{what}: 48 kHz stereo AAC, {seconds} s", f"{read} s", megabytes))
    for count in (20, 200):
        read, megabytes = measured("evaluate", *material.folders_of_pairs(200), count)
        assert read == count
        rows.append(("eval videos: 640x360, 49 frames", f"{read} samples", megabytes))
    return rows


def measured(task, *arguments):
    answer = subprocess.run(
        [sys.executable, __file__, task, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    read, megabytes = answer.stdout.split()
    return int(read), float(megabytes)


def screen(path):
    import screentest

    return screentest.screen(path, depth="full", threads=2).frames_read


def measure(path):
    import screentest

    measured = screentest.measure(path, threads=2)
    assert set(measured.facts) == {"integrity", "signal", "temporal", "tracks"}
    return measured.frames_read("signal")


def listen(path):
    from screentest.metrics.audio import measure_audio

    return round(measure_audio(path, threads=2).samples / 48000)


def listen_to_both(reference, candidate):
    from screentest.metrics.audio_pair import measure_audio_pair

    return round(measure_audio_pair(reference, candidate, threads=2).compared_s)


def compare(reference, candidate):
    import screentest

    metrics = ("psnr", "ssim_y", "ms_ssim_y")
    return len(screentest.compare(reference, candidate, metrics=metrics, threads=2).facts.pairs)


def evaluate(predictions, truth, count):
    import screentest

    with tempfile.TemporaryDirectory() as out:
        found = screentest.evaluate_videos(
            predictions_dir=Path(predictions),
            gt_dir=Path(truth),
            out=Path(out),
            num_samples=int(count),
            threads=2,
        )
    return found.aggregate["default"]["psnr"]["count"]


def main(task, *arguments):
    tasks = {
        "screen": screen,
        "measure": measure,
        "compare": compare,
        "listen": listen,
        "listen_to_both": listen_to_both,
        "evaluate": evaluate,
    }
    read = tasks[task](*arguments)
    # Not ru_maxrss: across an exec that keeps the peak of the process that started this one.
    status = Path("/proc/self/status").read_text()
    kibibytes = int(status.split("VmHWM:")[1].split()[0])
    print(read, kibibytes * 1024 / 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
