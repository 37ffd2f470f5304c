"""Decoding of video files: exact frames, threads, sources, leaks."""

import gc
import io
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import av
import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import open_clip, probe
from tests.making import src

SMALL = src(3, size="96x64", rate=25)

# One file per way of coding: B frames and open groups, hidden frames, intra only, painted-over.
CODED = {
    "h264.mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12"),
    "h264_open.mkv": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-x264-params",
                      "open-gop=1:keyint=12:bframes=3:b-pyramid=normal"),
    "h264.ts": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-bf", "2"),
    "h264_interlaced.mp4": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-flags",
                            "+ilme+ildct", "-x264-params", "tff=1"),
    "hevc.mp4": ("-c:v", "libx265", "-x265-params", "log-level=error:open-gop=1:keyint=12"),
    "hevc_layers.mkv": ("-c:v", "libx265", "-x265-params",
                        "log-level=error:keyint=12:temporal-layers=3"),
    "vp8.webm": ("-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "10", "-g", "12",
                 "-b:v", "200k"),
    "vp9.webm": ("-c:v", "libvpx-vp9", "-auto-alt-ref", "1", "-lag-in-frames", "10", "-g", "12",
                 "-b:v", "200k"),
    "av1.mkv": ("-c:v", "libsvtav1", "-g", "12", "-preset", "12"),
    "mpeg4.avi": ("-c:v", "mpeg4", "-bf", "2", "-g", "12"),
    "mpeg4.mp4": ("-c:v", "mpeg4", "-bf", "2", "-g", "12"),
    "mpeg2.mpg": ("-c:v", "mpeg2video", "-bf", "2", "-g", "12"),
    "mpeg2.ts": ("-c:v", "mpeg2video", "-bf", "2", "-g", "12"),
    "ffv1.mkv": ("-c:v", "ffv1"),
    "mjpeg.mov": ("-c:v", "mjpeg"),
    "prores.mov": ("-c:v", "prores_ks",),
    "anim.gif": (),
    "anim.apng": ("-f", "apng"),
    "h264.avi": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-bf", "2"),
    "h264.asf": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-bf", "3"),
    "raw.h264": ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12"),
    "theora.ogv": ("-c:v", "libtheora", "-g", "12"),
}  # fmt: skip


@pytest.fixture(params=CODED)
def coded(request, studio):
    return studio(request.param, *SMALL, *CODED[request.param])


def content(frame):
    return b"".join(np.ascontiguousarray(plane).tobytes() for plane in frame.planes)


def decode_threads():
    return [t for t in threading.enumerate() if t.name == "screentest-decode"]


def test_every_frame_comes_once_in_order_and_nothing_is_damaged(coded):
    with open_clip(coded) as clip:
        frames = list(clip.frames())
        assert [f.index for f in frames] == list(range(clip.info.frames))
        assert clip.info.frames == 75
        assert clip.damage == []
        times = [f.time_s for f in frames]
        if times[0] is not None:
            assert times == clip.times_s.tolist()
            assert np.diff(times).min() > 0


@pytest.mark.parametrize("wanted", [[0], [74], [37], [10, 11, 13, 36, 37, 60], [11, 12], [73, 74]])
def test_frames_at_are_the_frames_of_the_whole_decode(coded, wanted):
    with open_clip(coded) as clip:
        found = list(clip.frames_at(wanted))
        assert [f.index for f in found] == wanted
        everything = {f.index: (f.time_s, content(f)) for f in clip.frames()}
        for frame in found:
            assert (frame.time_s, content(frame)) == everything[frame.index]


def test_thread_count_changes_no_frame(coded, monkeypatch):
    monkeypatch.setattr("screentest.compute.usable_cpus", lambda: 8)
    several = []
    for count in (1, 3):
        with open_clip(coded, threads=count) as clip:
            several.append([content(f) for f in clip.frames()])
    assert several[0] == several[1]


@pytest.mark.parametrize("name", ["h264.avi", "h264.asf"])
def test_stamps_in_decoding_order_shuffle_no_frame(studio, name):
    path = studio(name, *SMALL, *CODED[name])
    reference = studio.pixels(path, "gray", 96, 64, "-vf", "extractplanes=y")
    with open_clip(path) as clip:
        for frame, plane in zip(clip.frames(), reference, strict=True):
            assert np.array_equal(frame.planes[0], plane)


def test_a_raw_stream_copied_into_mp4_is_not_damaged(studio):
    stream = studio("raw.h264", *SMALL, *CODED["raw.h264"])
    path = studio("copied.mp4", "-i", stream, "-c", "copy")
    with open_clip(path) as clip:
        assert len(list(clip.frames())) == clip.info.frames
        assert clip.damage == []


def test_a_title_that_is_not_utf8_hinders_nothing(studio):
    tagged = studio("title.mkv", *SMALL, *CODED["h264.mp4"], "-metadata", "title=tXtle")
    broken = tagged.with_name("broken.mkv")
    broken.write_bytes(tagged.read_bytes().replace(b"tXtle", b"t\xfftle"))
    assert probe(broken).frames == 75


def test_luma_is_what_ffmpeg_decodes(studio):
    path = studio("h264.mp4", *SMALL, *CODED["h264.mp4"])
    reference = studio.pixels(path, "gray", 96, 64, "-vf", "extractplanes=y")
    with open_clip(path) as clip:
        for frame, plane in zip(clip.frames(), reference, strict=True):
            assert np.array_equal(frame.planes[0], plane)


def test_a_stretch_in_a_long_group_decodes_from_its_key_frame(studio):
    path = studio("long_group.mp4", *src(8, size="96x64"), "-c:v", "libx264", "-g", "250",
                  "-pix_fmt", "yuv420p")  # fmt: skip
    with open_clip(path) as clip:
        everything = {f.index: content(f) for f in clip.frames()}
        wanted = [0, 100, 101, 102, 200, 239]
        assert {f.index: content(f) for f in clip.frames_at(wanted)} == {
            k: everything[k] for k in wanted
        }


def test_frames_at_refuses_indices_that_do_not_exist_or_ascend(studio):
    with open_clip(studio("h264.mp4", *SMALL, *CODED["h264.mp4"])) as clip:
        with pytest.raises(InputError, match="frames 0 to 74"):
            clip.frames_at([75])
        with pytest.raises(InputError, match="ascend"):
            clip.frames_at([3, 3])
        with pytest.raises(InputError):
            clip.frames_at([-1])
        assert list(clip.frames_at([])) == []


def test_iteration_can_be_repeated_and_nested(studio):
    with open_clip(studio("h264.mp4", *SMALL, *CODED["h264.mp4"])) as clip:
        outer = clip.frames()
        first = content(next(outer))
        inner = [content(f) for f in clip.frames()]
        assert [first, *(content(f) for f in outer)] == inner


def test_frames_outlive_the_clip(studio):
    with open_clip(studio("h264.mp4", *SMALL, *CODED["h264.mp4"])) as clip:
        kept = next(clip.frames_at([50]))
        again = content(kept)
        rest = list(clip.frames())
    del clip, rest
    gc.collect()
    assert content(kept) == again


def test_planes_cannot_be_written(studio):
    with open_clip(studio("h264.mp4", *SMALL, *CODED["h264.mp4"])) as clip:
        frame = next(clip.frames())
        with pytest.raises(ValueError, match="read-only"):
            frame.planes[0][0, 0] = 1


def test_an_abandoned_iterator_ends_its_thread(studio):
    path = studio("h264.mp4", *SMALL, *CODED["h264.mp4"])
    with open_clip(path) as clip:
        running = clip.frames()
        next(running)
        assert decode_threads()
        running.close()
        assert not decode_threads()
        running = clip.frames()
        next(running)
        del running
        gc.collect()
        assert not decode_threads()


def test_an_error_of_the_consumer_ends_the_thread(studio):
    def consume(clip):
        for _ in clip.frames():
            raise RuntimeError("consumer")

    with open_clip(studio("h264.mp4", *SMALL, *CODED["h264.mp4"])) as clip:
        with pytest.raises(RuntimeError, match="consumer"):
            consume(clip)
        gc.collect()
        assert not decode_threads()


def test_opening_many_times_leaks_no_descriptor_and_no_memory(studio):
    path = studio("tiny.mp4", *src(0.2, size="64x48"), "-c:v", "libx264", "-pix_fmt", "yuv420p")

    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4

    def use():
        with open_clip(path, threads=1) as clip:
            next(clip.frames())

    for _ in range(50):
        use()
    gc.collect()
    before = descriptors(), resident()
    for _ in range(450):
        use()
    gc.collect()
    assert descriptors() == before[0]
    assert resident() - before[1] < 8 * 1024
    assert not decode_threads()


NAMES = ["with space.mp4", "a:b.mp4", "100%.mp4", "f%03d.mp4", "%d.gif", "ü木.mp4", "#?&.mkv",
         "-i.mp4", "[1].mp4", "http:x.mp4", "pipe:0.mp4"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_file_name_is_a_plain_name(studio, tmp_path, monkeypatch, name):
    kind = Path(name).suffix
    made = studio(f"named{kind}", *src(0.2, size="64x48", rate=20))
    path = tmp_path / name
    path.write_bytes(made.read_bytes())
    assert probe(path).frames == 4
    monkeypatch.chdir(tmp_path)
    assert probe(name).frames == 4


def test_a_name_that_is_no_unicode_is_opened(studio, tmp_path):
    made = studio("named.mp4", *src(0.2, size="64x48", rate=20))
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.mp4"))
    path.write_bytes(made.read_bytes())
    info = probe(path)
    assert info.frames == 4
    info.source.encode()


def test_a_missing_file_stays_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_clip(tmp_path / "none.mp4")


def test_bytes_and_file_objects_read_like_the_path(studio):
    path = studio("h264.mp4", *SMALL, *CODED["h264.mp4"])
    with open_clip(path) as clip:
        expected = [content(f) for f in clip.frames()]
    with open(path, "rb") as file:
        for source in (path.read_bytes(), io.BytesIO(path.read_bytes()), file):
            with open_clip(source) as clip:
                assert [content(f) for f in clip.frames()] == expected
                two = itertools.islice(zip(clip.frames(), clip.frames(), strict=True), 9)
                assert all(content(a) == content(b) for a, b in two)
                assert [f.index for f in clip.frames_at([5, 40])] == [5, 40]


def test_a_file_object_that_cannot_seek_is_refused():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(MediaError, match="pass its bytes or a path") as caught:
        open_clip(Pipe(b"abc"))
    assert caught.value.code == "not_seekable"


def test_a_file_opened_as_text_is_refused(tmp_path):
    path = tmp_path / "x.mp4"
    path.write_text("abc")
    with open(path) as file, pytest.raises(MediaError, match="binary mode"):
        open_clip(file)


@pytest.mark.parametrize("kind", ["concat", "hls", "hls_remote", "dash", "sdp"])
def test_a_playlist_opens_no_other_file(studio, tmp_path, kind):
    victim = studio("h264.ts", *SMALL, *CODED["h264.ts"])
    text = {
        "concat": f"ffconcat version 1.0\nfile '{victim}'\n",
        "hls": f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{victim}\n#EXT-X-ENDLIST\n",
        "hls_remote": "#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n",
        "dash": '<?xml version="1.0"?><MPD><Period/></MPD>',
        "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
    }[kind]
    for name in ("list.m3u8", "list.mp4", "list.txt"):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(MediaError) as caught:
            open_clip(path)
        assert caught.value.code == "cannot_open"


def test_a_named_pipe_is_refused_instead_of_waited_for(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with pytest.raises(MediaError, match="not a regular file"):
        open_clip(path)


def test_a_size_that_changes_on_the_way_is_an_error_with_the_frame(studio, tmp_path):
    parts = [
        studio(f"size{w}.h264", *src(0.4, size=f"{w}x48", rate=10), "-c:v", "libx264")
        for w in (64, 96)
    ]
    path = tmp_path / "joined.h264"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    with open_clip(path) as clip, pytest.raises(MediaError, match="frame 4 is 96x48") as caught:
        list(clip.frames())
    assert caught.value.code == "frame_changes"


def test_several_video_streams_are_counted_and_one_is_read(studio):
    path = studio("two.mkv", *src(0.2, size="64x48"), *src(0.2, size="96x64"), "-map", "0",
                  "-map", "1")  # fmt: skip
    info = probe(path)
    assert info.video_streams == 2
    assert "several_video_streams" in info.flags
    assert info.width == 64


def test_info_is_complete_and_names_its_decoder(studio):
    info = probe(studio("h264.mp4", *SMALL, *CODED["h264.mp4"]))
    assert info.decoder.startswith(f"pyav {av.__version__} (libavcodec ")
    assert (info.container, info.codec, info.kind) == ("mov", "h264", "video")
    assert (info.frames, info.frames_declared, info.frame_rate) == (75, 75, 25.0)
    assert info.frame_rate_declared == "25/1"
    assert info.duration_s == pytest.approx(3.0)
    assert info.luma_domain == "planes"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"decoder": "opencv"}, "decoder="),
        ({"device": "cuda"}, "device="),
        ({"layout": "THWC"}, "layout="),
        ({"bit_depth": 10}, "bit_depth="),
        ({"value_range": (0, 1)}, "value_range="),
        ({"alpha": "black"}, "alpha="),
        ({"alpha": (0, 0, 255)}, "alpha="),
        ({"threads": 0}, "threads="),
        ({"frame_rate": 0}, "frame_rate="),
    ],
)
def test_an_argument_that_does_not_fit_a_file_is_named(studio, options, named):
    path = studio("h264.mp4", *SMALL, *CODED["h264.mp4"])
    with pytest.raises(InputError, match=named):
        open_clip(path, **options)


def test_importing_the_media_package_loads_neither_av_nor_numpy():
    code = "import sys, screentest.media; sys.exit('av' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
