"""Resident peak of one process that screens one 1080p file, whatever its length.

Run as a script with a path, it screens that file and prints the peak in MB.
"""

import subprocess
import sys
from pathlib import Path

LENGTHS_S = (10, 60, 600)


def peaks():
    """(seconds of video, frames read, MB) for each length."""
    from benches import material

    rows = []
    for seconds in LENGTHS_S:
        path = str(material.file_1080p(seconds))
        answer = subprocess.run(
            [sys.executable, __file__, path], capture_output=True, text=True, check=True
        )
        frames, megabytes = answer.stdout.split()
        assert int(frames) == seconds * 25
        rows.append((seconds, int(frames), float(megabytes)))
    return rows


def main(path):
    import screentest

    screening = screentest.screen(path, depth="full", threads=2)
    # Not ru_maxrss: across an exec that keeps the peak of the process that started this one.
    status = Path("/proc/self/status").read_text()
    kibibytes = int(status.split("VmHWM:")[1].split()[0])
    print(screening.frames_read, kibibytes * 1024 / 1e6)


if __name__ == "__main__":
    main(sys.argv[1])
