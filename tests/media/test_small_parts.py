"""The parts of the media layer that need no media."""

import io
import threading
import time

import numpy as np
import pytest

from screentest import compute
from screentest.errors import InputError, MediaError
from screentest.media import FLAGS
from screentest.media.background import in_background
from screentest.media.colour import is_hd, luma_weights, resolve, tags, transfer_kind
from screentest.media.extent import missing_end
from screentest.media.info import ColourTags
from screentest.media.packets import PacketTable, runs
from screentest.media.source import SharedFile, sniff
from screentest.media.timing import is_constant
from screentest.media.video import queue_depth


def test_explicit_threads_come_before_the_environment(monkeypatch):
    monkeypatch.setattr(compute, "usable_cpus", lambda: 16)
    monkeypatch.setenv("SCREENTEST_THREADS", "7")
    assert compute.threads(3) == 3
    assert compute.threads() == 7
    monkeypatch.delenv("SCREENTEST_THREADS")
    assert compute.threads() == 4


def test_threads_are_clamped_to_the_usable_cpus(monkeypatch):
    monkeypatch.setattr(compute, "usable_cpus", lambda: 2)
    monkeypatch.setenv("SCREENTEST_THREADS", "64")
    assert compute.threads() == compute.threads(99) == 2


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "2"])
def test_a_wrong_thread_count_is_an_input_error(value):
    with pytest.raises(InputError, match="threads="):
        compute.threads(value)


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²"])
def test_a_wrong_thread_count_in_the_environment_names_the_variable(monkeypatch, value):
    monkeypatch.setenv("SCREENTEST_THREADS", value)
    with pytest.raises(InputError, match="SCREENTEST_THREADS"):
        compute.threads()


def test_unspecified_colour_codes_have_no_name():
    assert tags(2, 0, 2, 2) == ColourTags()
    assert tags(9, 1, 9, 16) == ColourTags(
        matrix="bt2020nc", range="limited", primaries="bt2020", transfer="smpte2084"
    )
    assert tags(99, 2, 1, 1).matrix == "code_99"


def test_the_rule_takes_601_limited_for_untagged_yuv_and_full_for_grey():
    untagged = ColourTags()
    yuv = resolve(untagged, kind="yuv")
    assert (yuv.matrix, yuv.range, yuv.matrix_from, yuv.range_from) == (
        "smpte170m",
        "limited",
        "rule",
        "rule",
    )
    assert resolve(untagged, kind="yuv", full_by_name=True).range == "full"
    assert resolve(untagged, kind="grey").range == "full"
    assert resolve(ColourTags(range="limited"), kind="grey").range == "limited"
    assert resolve(ColourTags(matrix="bt709", range="limited"), kind="rgb").range == "full"
    assert resolve(ColourTags(matrix="rgb"), kind="yuv").matrix_from == "rule"


@pytest.mark.parametrize("matrix", ["ictcp", "ycgco", "bt2020c", "code_99"])
def test_a_matrix_without_weights_is_refused(matrix):
    with pytest.raises(MediaError, match=matrix):
        resolve(ColourTags(matrix=matrix), kind="yuv")


def test_weights_are_those_of_the_standard():
    assert luma_weights("bt709") == (0.2126, 0.0722)
    assert luma_weights("bt470bg") == luma_weights("smpte170m") == (0.299, 0.114)
    assert transfer_kind(ColourTags(transfer="bt709")) is None
    assert is_hd(1280, 544)
    assert not is_hd(960, 540)


@pytest.mark.parametrize(
    ("ticks", "constant"),
    [
        ([0], True),
        ([0, 7], True),
        ([0, 33, 67, 100, 133, 167], True),
        ([0, 33, 67, 100, 133, 200], False),
        ([0, 1, 2, 4, 5, 6], False),
        (list(range(0, 600, 10)), True),
        ([0, 4, 8, 12, 17, 21, 25], True),
        ([0, 512, 1024, 2048], False),
        ([-100, 0, 100], True),
    ],
)
def test_a_rate_is_constant_within_one_tick_of_a_line(ticks, constant):
    assert is_constant(np.array(ticks)) is constant


@pytest.mark.parametrize("dropped", range(1, 29))
def test_a_dropped_frame_shows_on_a_clock_of_whole_frames(dropped):
    assert not is_constant(np.array([k for k in range(30) if k != dropped]))


def test_runs_join_consecutive_numbers():
    assert runs([]) == []
    assert runs([1, 2, 3, 7, 9, 10]) == [(1, 3), (7, 7), (9, 10)]


def test_leading_frames_start_from_the_group_before():
    # I0 P3 B1 B2 | I6 B4 B5 P9 B7 B8, stamps in display order.
    table = PacketTable(pts=[0, 3, 1, 2, 6, 4, 5, 9, 7, 8], keys=[0, 4])
    table.dts, table.durations = list(range(10)), [1] * 10
    table.arrange()
    assert [table.key_before(k) for k in range(10)] == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_background_items_come_in_order_and_the_error_after_them():
    def make():
        yield from range(5)
        raise MediaError("broken")

    seen = []
    with pytest.raises(MediaError, match="broken"):
        seen.extend(in_background(make, depth=2))
    # extend keeps nothing on an error, so ask again one by one.
    running = in_background(make, depth=2)
    assert [next(running) for _ in range(5)] == list(range(5))
    with pytest.raises(MediaError):
        next(running)


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_background_runs_no_further_ahead_than_its_depth(depth):
    made = []

    def make():
        for number in range(100):
            made.append(number)
            yield number

    running = in_background(make, depth)
    assert next(running) == 0
    time.sleep(0.05)
    # Those that wait, the one handed out, and the one for which there is no room yet.
    assert len(made) <= depth + 2
    running.close()
    assert threading.active_count() == 1 or all(
        t.name != "screentest-decode" for t in threading.enumerate()
    )


def test_background_closes_its_source_when_abandoned():
    closed = []

    def make():
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    running = in_background(make, 2)
    next(running)
    running.close()
    assert closed == [True]


def test_the_queue_is_shorter_for_larger_frames():
    assert queue_depth(1280 * 720 * 3 // 2) == 8
    assert queue_depth(7680 * 4320 * 3 // 2) == 2
    assert queue_depth(0) == 8


def test_readers_of_one_file_object_do_not_disturb_each_other():
    lock, file = threading.Lock(), io.BytesIO(bytes(range(100)))
    one, two = SharedFile(file, lock), SharedFile(file, lock)
    assert one.read(3) == b"\0\1\2"
    assert two.read(2) == b"\0\1"
    assert two.seek(-1, 2) == 99
    assert one.read(1) == b"\3"
    assert one.seek(2, 1) == 6
    assert one.tell() == 6


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "png_pipe"),
        (b"\x89PNG\r\n\x1a\n....IHDR....acTL....IDAT", "apng"),
        (b"\x89PNG\r\n\x1a\n....IHDR....IDAT....acTL", "png_pipe"),
        (b"\xff\xd8\xff\xe0", "jpeg_pipe"),
        (b"GIF89a", "gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp_pipe"),
        (b"RIFF\0\0\0\0WEBPVP8X\n\0\0\0\2\0\0\0\0\0\0\0\0\0ANIM", "webp_anim"),
        (b"RIFF\0\0\0\0AVI ", None),
        (b"P6\n1 1", "ppm_pipe"),
        (b"P6x", None),
        (b"\0\0\0\x18ftypisom", None),
        (b"", None),
    ],
)
def test_images_are_told_by_their_first_bytes(head, name):
    assert sniff(head) == name


def box(name, size, data=b""):
    return size.to_bytes(4, "big") + name + data


def page(kind, data):
    """An Ogg page of one segment; 4 marks the last of its stream."""
    return b"OggS\0" + bytes([kind]) + bytes(20) + bytes([1, len(data)]) + data


# A Matroska file whose segment has no size, up to its first cluster.
LIVE = b"\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\xff"


@pytest.mark.parametrize(
    ("data", "missing"),
    [
        (box(b"ftyp", 16, b"\0" * 8) + box(b"mdat", 16, b"\0" * 8), False),
        (box(b"ftyp", 16, b"\0" * 8) + box(b"mdat", 99, b"\0" * 8), True),
        (box(b"ftyp", 16, b"\0" * 8) + box(b"mdat", 0, b"\0" * 8), False),
        (box(b"ftyp", 16, b"\0" * 8) + box(b"mdat", 1, b"\0\0\0\0\0\0\1\0"), True),
        (b"\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\x84abcd", False),
        (b"\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\x85abcd", True),
        (b"\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\xffabcd", False),
        (b"RIFF\x08\0\0\0AVI \0\0\0\0", False),
        (b"RIFF\x09\0\0\0AVI \0\0\0\0", True),
        (b"RIFF\xff\xff\xff\xffAVI ", False),
        (b"GIF89a\1\0\1\0\0\0\0\x3b", False),
        (b"GIF89a\1\0\1\0\0\0\0", True),
        (box(b"ftyp", 16, b"\0" * 8) + b"text that a tool appended", False),
        (LIVE + b"\x1f\x43\xb6\x75\xff" + b"\xa3\x82ab", False),
        (LIVE + b"\x1f\x43\xb6\x75\xff" + b"\xa3\x83ab", True),
        (LIVE + b"\x1f\x43\xb6\x75\x84ab", True),
        (b"\xff\xd8\xff\xe0\0\4ab\xff\xda\0\2cd\xff\xd9trailing", False),
        (b"\xff\xd8\xff\xe0\0\4ab\xff\xda\0\2cd", True),
        (b"\xff\xd8\xff\xe1\0\4\xff\xd9\xff\xda\0\2cd", True),
        (b"\xff\xd8\xff\xe0\0\4ab", True),
        (page(4, b"abc"), False),
        (page(4, b"abc")[:-1], True),
        (page(0, b"abc"), True),
        (b"YUV4MPEG2 W3 H1 C420jpeg\nFRAME\nabcdefg", False),
        (b"YUV4MPEG2 W3 H1 C420jpeg\nFRAME\nabcdef", True),
        (b"YUV4MPEG2 W2 H1 C422p10\nFRAME\nabcdefgh", False),
        (b"YUV4MPEG2 W2 H1 Cmono\nFRAME\nabFRAME\na", True),
        (b"YUV4MPEG2 W2 H1 Cunheard\nFRAME\na", False),
        (b"anything else", False),
        (b"", False),
    ],
)
def test_a_file_shorter_than_its_own_structure_is_told(data, missing):
    assert (missing_end(io.BytesIO(data)) is not None) is missing


def test_flags_are_named_and_explained():
    assert all(name.replace("_", "").isalnum() and name.islower() for name in FLAGS)
    assert all(FLAGS.values())
