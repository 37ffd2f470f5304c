"""The codec floor: a file's settings are read back, and repeated they give the same pictures.

Distances are those of ffmpeg's ``psnr`` filter, so nothing here leans on our own kernels.
"""

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from screentest.media import open_clip
from screentest.metrics import ffmpeg as finding
from screentest.metrics.codec_floor import (
    CodecFloor,
    CodecFloorUnknown,
    EncoderSettings,
    codec_floor_clip,
    parse_settings,
    read_settings,
)
from screentest.metrics.codec_floor import encode as encoding
from screentest.metrics.codec_floor.repeat import parameters_of
from tests.making import src

# The issue's own bound on how well a repeated encode explains the distance. With one x264 core it
# is 0; PyAV's and the system's differ by a version.
TOLERANCE_DB = 0.05


@pytest.fixture(scope="module")
def lossless(studio):
    return studio("source.mkv", *src(1), "-c:v", "ffv1", "-pix_fmt", "yuv420p")


def encode(studio, name, source, *args):
    return studio(name, "-i", source, *args)


def psnr_y(ffmpeg, one, other):
    """ffmpeg's psnr of the Y plane, frame by frame in order whatever the time stamps."""
    order = "settb=1/30,setpts=N"
    graph = f"[0:v]{order}[a];[1:v]{order}[b];[a][b]psnr"
    command = [ffmpeg, "-hide_banner", "-nostdin", "-i", one, "-i", other, "-lavfi", graph]
    told = subprocess.run(
        [*map(str, command), "-f", "null", "-"], capture_output=True, text=True, check=True
    ).stderr
    return float(re.search(r"PSNR [yr]:(\S+)", told)[1])


def floor_of(reference, candidate, **options):
    """(floor, psnr_y of the floor against the reference) with the file gone again after."""
    with (
        open_clip(reference) as one,
        open_clip(candidate) as two,
        codec_floor_clip(one, two, **options) as floor,
    ):
        if isinstance(floor, CodecFloorUnknown):
            return floor, None
        assert floor.clip.info.frames == one.info.frames
        distance = psnr_y(shutil.which("ffmpeg"), floor.path, reference)
    assert not Path(floor.path).exists()
    assert not Path(floor.path).parent.exists()
    return floor, distance


@pytest.mark.parametrize(
    ("name", "args", "setting"),
    [
        ("crf.mp4", ("-crf", "23"), ("crf", "23.0")),
        ("crf.mkv", ("-crf", "31"), ("crf", "31.0")),
        ("qp.mp4", ("-qp", "30"), ("qp", "30")),
        ("abr.mp4", ("-b:v", "300k"), ("bitrate", "300")),
        ("slow.mp4", ("-preset", "veryslow", "-tune", "film"), ("psy_rd", "1.00:0.15")),
        ("fast.mp4", ("-preset", "ultrafast"), ("analyse", "0:0")),
        ("superfast.mp4", ("-preset", "superfast"), ("analyse", "0x3:0x3")),
        ("grain.mp4", ("-tune", "grain"), ("deblock", "1:-2:-2")),
        ("vbv.mp4", ("-crf", "20", "-maxrate", "400k", "-bufsize", "400k"), ("vbv_maxrate", "400")),
        ("interlaced.mp4", ("-flags", "+ildct+ilme"), ("interlaced", "tff")),
        ("deep.mp4", ("-pix_fmt", "yuv420p10le"), ("crf", "23.0")),
    ],
)
def test_x264_settings_are_recovered_and_explain_the_whole_distance(
    studio, ffmpeg, lossless, name, args, setting
):
    candidate = encode(studio, name, lossless, "-c:v", "libx264", *args)
    floor, distance = floor_of(lossless, candidate)
    assert isinstance(floor, CodecFloor)
    assert floor.parameters[setting[0]] == setting[1]
    assert floor.encoder.startswith("x264 core ")
    assert not floor.differences
    assert distance == pytest.approx(psnr_y(ffmpeg, candidate, lossless), abs=TOLERANCE_DB)


def test_another_crf_is_another_floor(studio, lossless):
    """The test above could pass with a floor that ignores what the file says."""
    one = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    two = encode(studio, "crf.mkv", lossless, "-c:v", "libx264", "-crf", "31")
    assert floor_of(lossless, one)[1] - floor_of(lossless, two)[1] > 3


def test_a_worse_candidate_has_the_floor_of_its_encode_alone(studio, ffmpeg, lossless):
    blurred = encode(
        studio, "blurred.mp4", lossless, "-vf", "gblur=sigma=2", "-c:v", "libx264", "-crf", "23"
    )
    plain = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    floor, distance = floor_of(lossless, blurred)
    assert distance == pytest.approx(psnr_y(ffmpeg, plain, lossless), abs=TOLERANCE_DB)
    assert psnr_y(ffmpeg, blurred, lossless) < distance - 5
    assert "crf 23.0" in floor.how


def test_two_passes_are_run_again(studio, ffmpeg, lossless, tmp_path):
    first = ("-c:v", "libx264", "-b:v", "400k", "-passlogfile", tmp_path / "log")
    studio.run("-i", lossless, *first, "-pass", "1", "-f", "mp4", tmp_path / "first.mp4")
    candidate = tmp_path / "second.mp4"
    studio.run("-i", lossless, *first, "-pass", "2", candidate)
    floor, distance = floor_of(lossless, candidate)
    assert "Both passes were run again" in floor.how
    # The settings of the first pass are guessed, which moves single frames.
    assert distance == pytest.approx(psnr_y(ffmpeg, candidate, lossless), abs=0.5)


def test_an_average_bit_rate_says_what_cannot_be_repeated(studio, lossless):
    candidate = encode(studio, "abr.mp4", lossless, "-c:v", "libx264", "-b:v", "300k")
    floor, _ = floor_of(lossless, candidate)
    assert "abr 300 kbit/s" in floor.how
    assert "depends on the pictures" in floor.how


def test_x265_of_the_same_build_explains_the_whole_distance(ffmpeg, lossless, tmp_path):
    """Builds of x265 differ in what one setting does, so the candidate is made with PyAV's."""
    import av

    candidate = tmp_path / "a.mp4"
    with av.open(str(lossless)) as source, av.open(str(candidate), "w") as out:
        options = {"crf": "26", "preset": "fast", "x265-params": "log-level=none"}
        stream = out.add_stream("libx265", rate=30, options=options)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for index, frame in enumerate(source.decode(video=0)):
            frame.pts, frame.time_base = index, 1 / stream.codec_context.framerate
            frame.pict_type = 0  # the source's key frames are not the encoder's
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    floor, distance = floor_of(lossless, candidate)
    assert floor.parameters["crf"] == "26.0"
    assert not floor.differences
    assert distance == pytest.approx(psnr_y(ffmpeg, candidate, lossless), abs=TOLERANCE_DB)


def test_a_foreign_x265_is_repeated_and_its_build_named(studio, lossless):
    candidate = encode(studio, "b.mp4", lossless, "-c:v", "libx265", "-crf", "28",
                       "-x265-params", "log-level=none")  # fmt: skip
    floor, distance = floor_of(lossless, candidate)
    assert floor.parameters["crf"] == "28.0"
    assert floor.encoder.startswith("x265 build ")
    assert 30 < distance < 50


def test_trap_codec_floor_of_an_rgb_source_is_its_subsampling(studio, ffmpeg):
    """Lossless x264 of an RGB source loses in 4:2:0 what libx264rgb keeps."""
    rgb = studio("rgb.mkv", *src(1), "-pix_fmt", "bgr0", "-vf", "format=rgb24", "-c:v", "ffv1")
    halved = encode(studio, "halved.mp4", rgb, "-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv420p")
    floor, _ = floor_of(rgb, halved)
    assert "to yuv420p" in floor.how
    with (
        open_clip(rgb) as one,
        open_clip(halved) as two,
        codec_floor_clip(one, two) as floor,
    ):
        mean = psnr_rgb(ffmpeg, floor.path, rgb)
        assert mean == pytest.approx(psnr_rgb(ffmpeg, halved, rgb), abs=0.1)
        assert 20 < mean < 40
    full = encode(studio, "full.mp4", rgb, "-c:v", "libx264rgb", "-qp", "0")
    with open_clip(rgb) as one, open_clip(full) as two, codec_floor_clip(one, two) as floor:
        assert psnr_rgb(ffmpeg, floor.path, rgb) == math.inf


def psnr_rgb(ffmpeg, one, other):
    order = "settb=1/30,setpts=N,format=gbrp"
    graph = f"[0:v]{order}[a];[1:v]{order}[b];[a][b]psnr"
    command = [ffmpeg, "-hide_banner", "-nostdin", "-i", one, "-i", other, "-lavfi", graph]
    told = subprocess.run(
        [*map(str, command), "-f", "null", "-"], capture_output=True, text=True, check=True
    ).stderr
    return float(re.search(r"average:(\S+)", told)[1])


@pytest.mark.parametrize("kind", ["uint8", "uint16", "float32", "grey"])
def test_a_reference_array_is_encoded_too(studio, lossless, kind):
    pixels = studio.pixels(lossless, "rgb24", 320, 240)[:8]
    options = {}
    if kind == "uint16":
        pixels, options = (pixels.astype(np.uint16) * 1023 + 127) // 255, {"bit_depth": 10}
        pixels = pixels.astype(np.uint16)
    elif kind == "float32":
        pixels = pixels.astype(np.float32) / 255
    elif kind == "grey":
        pixels = np.ascontiguousarray(pixels[..., 1])
    candidate = encode(
        studio, "eight.mp4", lossless, "-frames:v", "8", "-c:v", "libx264", "-crf", "12"
    )
    with (
        open_clip(pixels, **options) as one,
        open_clip(candidate) as two,
        codec_floor_clip(one, two) as floor,
    ):
        assert floor.clip.info.frames == 8
        decoded = studio.pixels(Path(floor.path), "rgb24", 320, 240).astype(float)
        wanted = pixels.astype(float) * {"uint16": 255 / 1023, "float32": 255}.get(kind, 1)
        if kind == "grey":
            decoded = decoded[..., 1]
        error = np.abs(decoded - wanted).mean()
        # 4:2:0 alone costs a few levels on this picture; a wrong matrix, range or depth costs tens.
        assert error < (1.5 if kind == "grey" else 7)


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("m.mp4", ("-c:v", "mpeg4"), "codec mpeg4"),
        ("v.webm", ("-c:v", "libvpx-vp9", "-b:v", "200k"), "codec vp9"),
        ("f.mkv", ("-c:v", "ffv1"), "codec ffv1"),
    ],
)
def test_other_codecs_are_unknown_by_name(studio, lossless, name, args, words):
    found, _ = floor_of(lossless, encode(studio, name, lossless, *args))
    assert isinstance(found, CodecFloorUnknown)
    assert words in found.reason


def test_h264_without_the_message_is_unknown(studio, lossless):
    plain = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    silent = encode(
        studio, "silent.mp4", plain, "-c", "copy", "-bsf:v", "filter_units=remove_types=6"
    )
    found, _ = floor_of(lossless, silent)
    assert isinstance(found, CodecFloorUnknown)
    assert "no settings of x264 or x265" in found.reason


def test_an_array_and_another_size_have_no_floor(studio, lossless):
    array = np.zeros((2, 240, 320, 3), np.uint8)
    with (
        open_clip(lossless) as one,
        open_clip(array) as two,
        codec_floor_clip(one, two) as found,
    ):
        assert found == CodecFloorUnknown("the candidate is no encoded video")
    small = encode(studio, "small.mp4", lossless, "-vf", "scale=160:120", "-c:v", "libx264")
    found, _ = floor_of(lossless, small)
    assert "160x120" in found.reason


def test_bytes_are_read_where_they_are_given(studio, lossless):
    candidate = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    data = candidate.read_bytes()
    with open_clip(lossless) as one, open_clip(data) as two:
        with codec_floor_clip(one, two) as found:
            assert "file=" in found.reason
        with codec_floor_clip(one, two, file=data) as found:
            assert found.parameters["crf"] == "23.0"


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_an_ffmpeg_program_serves_where_pyav_has_no_encoder(
    studio, ffmpeg, lossless, monkeypatch, codec
):
    args = ("-x265-params", "log-level=none") if codec == "libx265" else ()
    candidate = encode(studio, f"p-{codec}.mp4", lossless, "-c:v", codec, "-crf", "25", *args)
    without(monkeypatch)
    # The vmaf extra's program comes before that of PATH, which wrote the candidate.
    monkeypatch.setenv(finding.ENVIRONMENT_VARIABLE, str(ffmpeg))
    floor, distance = floor_of(lossless, candidate)
    assert not floor.differences
    assert "this one" not in floor.how  # the very encoder that wrote it
    assert distance == pytest.approx(psnr_y(ffmpeg, candidate, lossless), abs=TOLERANCE_DB)


def test_without_any_encoder_the_floor_is_unknown(studio, lossless, monkeypatch):
    candidate = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    without(monkeypatch)
    monkeypatch.setattr(finding, "_candidates", lambda: iter([("python", sys.executable)]))
    found, _ = floor_of(lossless, candidate)
    assert isinstance(found, CodecFloorUnknown)
    assert "SCREENTEST_FFMPEG" in found.reason
    assert finding.find_encoder("libx264") is None


def without(monkeypatch):
    """PyAV as it is where it was built without the two encoders."""
    import av

    real = av.Codec

    def codec(name, mode="r"):
        if name.startswith("libx26"):
            raise av.codec.codec.UnknownCodecError(name)
        return real(name, mode)

    monkeypatch.setattr(av, "Codec", codec)


def test_settings_in_words_of_x265():
    found = parse_settings(
        b"\0x265 (build 199) - 3.5 - H.265 - options: wpp no-sao crf=28.0 rc=crf\x80\0"
    )
    assert (found.encoder, found.build) == ("x265", 199)
    assert found.options == {"wpp": "1", "sao": "0", "crf": "28.0", "rc": "crf"}
    assert found.quality == "crf 28.0"
    assert parse_settings(b"no such words") is None


def test_zones_and_custom_matrices_are_unknown(studio, lossless):
    for words, expected in (
        ("zones=0,5,q=20", "zones"),
        ("cqm4=" + ",".join(["20"] * 16), "quantiser matrices"),
    ):
        candidate = encode(
            studio, f"{words[:4]}.mp4", lossless, "-c:v", "libx264", "-x264-params", words
        )
        found, _ = floor_of(lossless, candidate)
        assert isinstance(found, CodecFloorUnknown), words
        assert expected in found.reason


def test_the_settings_of_a_file_in_another_place(studio, lossless):
    """An elementary stream repeats them in its first packet."""
    from screentest.media.source import MediaSource

    raw = encode(studio, "raw.h264", lossless, "-c:v", "libx264", "-crf", "19", "-f", "h264")
    assert read_settings(MediaSource.from_path(str(raw))).options["crf"] == "19.0"


def test_no_file_makes_the_encoder_write_where_it_says():
    """x264 and x265 read more than they print, names of files to write among it."""
    for encoder, words in (
        ("x264", "pass=1 stats=/tmp/s dump-yuv=y opencl=1 opencl-clbin=c qpfile=q cqmfile=m"),
        ("x265", "csv=c stats=s recon=r analysis-save=a film-grain=f lambda-file=l qpfile=q"),
    ):
        options = dict(word.split("=") for word in words.split()) | {"rc": "crf", "crf": "20.0"}
        given = parameters_of(EncoderSettings(encoder, 1, options), "420")
        assert set(given) <= {"crf", "log-level"}


@pytest.mark.parametrize(
    "words",
    ["analyse=zz", "analyse=0x1:qq", "direct=9", "direct=-1", "chroma_qp_offset=x",
     "psy=1 psy_rd=a:b chroma_qp_offset=0"],
)  # fmt: skip
def test_settings_that_no_x264_wrote_are_unknown(words):
    options = dict(word.split("=") for word in words.split()) | {"rc": "crf", "crf": "20.0"}
    found = parameters_of(EncoderSettings("x264", 164, options), "420")
    assert isinstance(found, CodecFloorUnknown)
    assert "not written as x264" in found.reason


def test_a_packet_that_begins_the_message_over_and_over_is_searched_once():
    """In minutes rather than milliseconds, before the gap between its parts had a bound."""
    assert parse_settings(b"x264 - core 1 " * 100_000) is None


def test_an_encoder_that_says_much_before_it_fails_does_not_wait_for_a_reader(
    studio, lossless, monkeypatch, tmp_path
):
    candidate = encode(studio, "crf.mp4", lossless, "-c:v", "libx264", "-crf", "23")
    without(monkeypatch)
    program = tmp_path / "talks"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stderr.write('much\\n' * 100_000)\n"
        "while sys.stdin.buffer.read(1 << 16): pass\nsys.exit('no such thing')\n"
    )
    program.chmod(0o755)
    found = finding.Ffmpeg(str(program), "0", frozenset())
    monkeypatch.setattr(encoding, "find_encoder", lambda _: found)
    floor, _ = floor_of(lossless, candidate)
    assert "refused these settings (no such thing)" in floor.reason
