"""Inputs anyone can make, and how they are read. Each test is one row of the list of traps."""

import itertools
import resource
import time

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import open_clip, probe
from tests.making import src

X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p")


def read(path, **options):
    """(info, frames with their planes copied, damage) of a whole clip."""
    with open_clip(path, **options) as clip:
        frames = [
            (f.index, f.time_s, [np.array(p) for p in f.planes], f.corrupt) for f in clip.frames()
        ]
        return clip.info, frames, clip.damage


def same_planes(left, right):
    return len(left) == len(right) and all(
        np.array_equal(a, b)
        for one, two in zip(left, right, strict=True)
        for a, b in zip(one[2], two[2], strict=True)
    )


def rejects(code, path, **options):
    with pytest.raises(MediaError) as caught, open_clip(path, **options) as clip:
        list(clip.frames())
    assert caught.value.code == code, caught.value
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_remux_has_identical_frames_and_count(studio):
    mp4 = studio.a_mp4()
    mkv = studio("a.mkv", "-i", mp4, "-c", "copy")
    one, two = read(mp4), read(mkv)
    assert one[0].frames == two[0].frames == 60
    assert one[0].frame_rate == two[0].frame_rate == 30.0
    assert same_planes(one[1], two[1])


def test_variable_frame_rate_is_flagged_and_no_frame_invented(studio):
    path = studio("vfr.mp4", "-i", studio.a_mp4(), "-vf", "select='lt(n,20)+not(mod(n,3))'",
                  "-fps_mode", "vfr")  # fmt: skip
    info, frames, damage = read(path)
    assert info.frames == len(frames) == 33
    assert "vfr" in info.flags
    assert info.constant_frame_rate is False
    gaps = np.diff([time_s for _, time_s, _, _ in frames])
    assert gaps.min() == pytest.approx(1 / 30)
    assert gaps.max() == pytest.approx(3 / 30)
    assert damage == []


@pytest.mark.parametrize("rate", ["24000/1001", "25", "30000/1001", "50", "60"])
@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_constant_rate_is_constant_on_any_clock(studio, rate, suffix):
    path = studio(f"rate{rate.replace('/', '_')}.{suffix}", *src(1, size="64x48", rate=rate), *X264)
    info = probe(path)
    assert info.constant_frame_rate is True
    top, _, bottom = rate.partition("/")
    assert info.frame_rate == pytest.approx(int(top) / int(bottom or 1), rel=1e-9)


def test_rates_of_two_files_are_told_apart(studio):
    slow = studio("r25.mp4", *src(1, size="64x48", rate=25), *X264)
    fast = studio("r30.mp4", *src(1, size="64x48", rate=30), *X264)
    assert (probe(slow).frame_rate, probe(fast).frame_rate) == (25.0, 30.0)


def test_a_shorter_copy_counts_its_own_frames(studio):
    path = studio("short.nut", "-i", studio.a_mp4(), "-frames:v", "45", "-c:v", "ffv1")
    assert probe(path).frames == 45


def test_a_lagging_copy_has_one_frame_less(studio):
    path = studio("lag.nut", "-i", studio.a_mp4(), "-vf",
                  "trim=start_frame=1,setpts=PTS-STARTPTS", "-c:v", "ffv1")  # fmt: skip
    info, lagging, _ = read(path)
    assert info.frames == 59
    assert same_planes(lagging, read(studio.a_mp4())[1][1:])


def test_a_dropped_frame_is_not_filled_in(studio):
    path = studio("drop.nut", "-i", studio.a_mp4(), "-vf",
                  "select='not(eq(n,20))',setpts=N/30/TB", "-c:v", "ffv1")  # fmt: skip
    _, frames, _ = read(path)
    whole = read(studio.a_mp4())[1]
    assert same_planes(frames, whole[:20] + whole[21:])


def test_a_repeated_frame_is_kept(studio):
    path = studio("dup.nut", "-i", studio.a_mp4(), "-vf",
                  "loop=loop=1:size=1:start=20,setpts=N/30/TB", "-c:v", "ffv1")  # fmt: skip
    info, frames, _ = read(path)
    assert info.frames == 61
    repeats = [k for k in range(1, 61) if same_planes(frames[k - 1 : k], frames[k : k + 1])]
    # Which frame the loop filter repeats is its own affair; that there is one is what matters.
    shown = studio.pixels(path, "gray", 320, 240, "-vf", "extractplanes=y")
    assert repeats == [k for k in range(1, 61) if np.array_equal(shown[k - 1], shown[k])]
    assert len(repeats) == 1


def test_odd_sizes_keep_their_last_row_and_column(studio):
    path = studio("odd.mkv", *src(1, size="321x241", pattern="testsrc"), "-c:v", "ffv1",
                  "-pix_fmt", "yuv420p")  # fmt: skip
    info, frames, _ = read(path)
    assert (info.width, info.height) == (321, 241)
    luma, cb, _ = frames[0][2]
    assert luma.shape == (241, 321)
    assert cb.shape == (121, 161)
    assert np.array_equal(luma, studio.pixels(path, "gray", 321, 241, "-vf", "extractplanes=y")[0])


def test_a_size_that_is_no_multiple_of_16_is_the_shown_one(studio):
    path = studio("s212.mp4", *src(1, size="212x160"), *X264)
    info = probe(path)
    assert (info.width, info.height) == (212, 160)


def test_a_flipped_range_tag_changes_the_tag_and_no_sample(studio):
    plain = studio.a_mp4()
    flipped = studio("flip.mp4", "-i", plain, "-c", "copy", "-bsf:v",
                     "h264_metadata=video_full_range_flag=1")  # fmt: skip
    one, two = read(plain), read(flipped)
    assert (one[0].colour.range, two[0].colour.range) == ("limited", "full")
    assert (one[0].colour.range_from, two[0].colour.range_from) == ("rule", "tag")
    assert same_planes(one[1], two[1])


@pytest.mark.parametrize(("code", "matrix"), [(1, "bt709"), (6, "smpte170m"), (5, "bt470bg")])
def test_the_matrix_tag_is_read(studio, code, matrix):
    path = studio(f"m{code}.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v",
                  f"h264_metadata=matrix_coefficients={code}")  # fmt: skip
    info = probe(path)
    assert (info.colour.matrix, info.colour.matrix_from) == (matrix, "tag")
    assert "untagged_colour" not in info.flags


def test_untagged_colour_is_resolved_by_the_rule_and_says_so(studio):
    info = probe(studio.a_mp4())
    assert info.colour_tags.matrix is None
    assert (info.colour.matrix, info.colour.matrix_from) == ("smpte170m", "rule")
    assert "untagged_colour" in info.flags
    assert "untagged_hd" not in info.flags


def test_untagged_hd_is_flagged(studio):
    path = studio("hd.mp4", *src(0.1, size="1280x720"), *X264)
    assert "untagged_hd" in probe(path).flags


def test_a_matrix_without_luma_weights_is_refused(studio):
    path = studio("ycgco.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v",
                  "h264_metadata=matrix_coefficients=8")  # fmt: skip
    assert "ycgco" in rejects("unsupported_matrix", path)


def test_ten_bit_keeps_ten_bits(studio):
    path = studio("ten.mp4", *src(0.2), "-c:v", "libx265", "-x265-params", "log-level=error",
                  "-pix_fmt", "yuv420p10le")  # fmt: skip
    info, frames, _ = read(path)
    assert (info.bit_depth, info.pixel_format) == (10, "yuv420p10le")
    luma = frames[0][2][0]
    assert luma.dtype == np.uint16
    assert 255 < luma.max() <= 1023


@pytest.mark.parametrize(
    ("transfer", "hdr"), [("smpte2084", "pq"), ("arib-std-b67", "hlg")], ids=["pq", "hlg"]
)
def test_hdr_is_flagged(studio, transfer, hdr):
    colour = f"log-level=error:colorprim=bt2020:transfer={transfer}:colormatrix=bt2020nc"
    path = studio(f"{hdr}.mp4", *src(0.2), "-c:v", "libx265", "-pix_fmt", "yuv420p10le",
                  "-x265-params", colour)  # fmt: skip
    info = probe(path)
    assert info.hdr == hdr
    assert f"hdr_{hdr}" in info.flags
    assert info.colour_tags.primaries == "bt2020"
    assert info.colour.matrix == "bt2020nc"


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_rotation_is_applied_as_ffmpeg_applies_it(studio, angle):
    path = studio(f"rot{angle}.mp4", "-i", studio.a_mp4(), "-c", "copy", "-metadata:s:v",
                  f"rotate={angle}")  # fmt: skip
    info, frames, _ = read(path)
    width, height = (240, 320) if angle % 180 else (320, 240)
    assert (info.width, info.height) == (width, height)
    assert (info.coded_width, info.coded_height) == (320, 240)
    assert ("rotated" in info.flags) == (angle != 0)
    assert info.frames == len(frames) == 60
    shown = studio.pixels(path, "gray", width, height, "-vf", "extractplanes=y", "-frames:v", "2")
    assert np.array_equal(frames[1][2][0], shown[1])
    assert frames[0][2][1].shape == (height // 2, width // 2)


def test_rotation_turns_each_plane_the_same_way(studio):
    path = studio("rot90.mp4", "-i", studio.a_mp4(), "-c", "copy", "-metadata:s:v", "rotate=90")
    turned, plain = read(path)[1][0], read(studio.a_mp4())[1][0]
    for one, two in zip(turned[2], plain[2], strict=True):
        assert np.array_equal(one, np.rot90(two, 1))


@pytest.mark.parametrize("container", ["png", "mov"])
def test_a_transparent_picture_is_named_and_composited_on_request(studio, container):
    alpha = "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,64),0,255)'"
    codec = ("-frames:v", "1") if container == "png" else (
        "-c:v", "prores_ks", "-pix_fmt", "yuva444p10le")  # fmt: skip
    path = studio(f"alpha.{container}", *src(0.1, pattern="testsrc"), "-vf", alpha, *codec)
    info = probe(path)
    assert info.alpha == "transparent"
    assert "alpha" in info.flags
    white, frames, _ = read(path, alpha=(1.0, 1.0, 1.0))
    assert (white.alpha, white.alpha_colour) == ("composited", (1.0, 1.0, 1.0))
    picture = frames[0][2][0]
    assert picture[:, :60].min() == np.iinfo(picture.dtype).max
    assert picture[:, 70:].min() < np.iinfo(picture.dtype).max / 100
    dropped, frames, _ = read(path, alpha="drop")
    assert dropped.alpha == "dropped"
    assert frames[0][2][0][:, :60].min() < picture.max()


def test_an_opaque_alpha_channel_reads_as_rgb(studio):
    path = studio("opaque.png", *src(0.1), "-vf", "format=rgba", "-frames:v", "1")
    info = probe(path)
    assert info.alpha == "opaque"
    assert "alpha" not in info.flags


def test_interlaced_material_is_flagged_with_its_field_order(studio):
    path = studio("inter.mp4", *src(1, rate=50), "-vf", "tinterlace=interleave_top,setfield=tff",
                  *X264, "-flags", "+ilme+ildct")  # fmt: skip
    info = probe(path)
    assert "interlaced" in info.flags
    assert info.field_order == "tt"


def test_pixels_that_are_not_square_are_flagged(studio):
    path = studio("sar.mp4", *src(0.2), "-vf", "setsar=8/9", *X264)
    info = probe(path)
    assert info.sample_aspect_ratio == "8:9"
    assert "sar" in info.flags


@pytest.mark.parametrize("name", ["nopts.h264", "nopts.avi"])
def test_missing_time_stamps_give_all_frames_in_order_and_no_time(studio, name):
    path = studio(name, *src(1), "-bf", "2", "-c:v", "libx264" if "h264" in name else "mpeg4")
    info, frames, damage = read(path)
    assert info.frames == len(frames) == 30
    assert [index for index, _, _, _ in frames] == list(range(30))
    assert all(time_s is None for _, time_s, _, _ in frames)
    assert "no_timestamps" in info.flags
    assert info.frame_rate is None
    assert damage == []
    reference = studio.pixels(path, "gray", 320, 240, "-vf", "extractplanes=y")
    assert all(
        np.array_equal(frame[2][0], plane) for frame, plane in zip(frames, reference, strict=True)
    )


def test_a_stated_rate_gives_times_to_a_stream_without_stamps(studio):
    path = studio("nopts.h264", *src(1), "-bf", "2", "-c:v", "libx264")
    with open_clip(path, frame_rate=30) as clip:
        assert clip.info.duration_s == pytest.approx(1.0)
    with pytest.raises(InputError, match="frame_rate="):
        open_clip(studio.a_mp4(), frame_rate=30)


def test_b_frame_delay_is_neither_lag_nor_damage(studio):
    path = studio("bf.mp4", *src(1), *X264, "-bf", "3", "-use_editlist", "0")
    info, frames, damage = read(path)
    assert info.frames == len(frames) == 30
    assert info.start_s == pytest.approx(0.0667, abs=1e-3)
    assert info.constant_frame_rate is True
    assert damage == []


def test_an_edit_list_hides_frames_from_the_count(studio):
    whole = studio("g.mp4", *src(4), *X264, "-g", "60")
    path = studio("el.mp4", "-ss", "0.5", "-i", whole, "-c", "copy")
    info, frames, damage = read(path)
    assert info.frames == len(frames) == 105
    assert info.frames_declared == 120
    assert "edit_list" in info.flags
    assert damage == []
    assert same_planes(frames[:5], read(whole)[1][15:20])


def test_a_file_cut_before_its_index_cannot_be_opened(studio):
    message = rejects("cannot_open", studio.part("cut_last.mp4", studio.a_mp4(), 0.6))
    assert "expected a complete media file" in message


def test_a_file_cut_behind_its_index_is_truncated_with_its_position(studio):
    first = studio("fs.mp4", "-i", studio.a_mp4(), "-c", "copy", "-movflags", "+faststart")
    info, frames, damage = read(studio.part("cut_first.mp4", first, 0.6))
    assert len(frames) == info.frames == 33
    assert info.frames_declared == 60
    assert "count_mismatch" in info.flags
    assert [(d.kind, d.frame, d.frames_lost) for d in damage] == [("truncated", 33, 27)]


@pytest.mark.parametrize("suffix", ["mkv", "webm", "avi", "ts", "gif"])
def test_a_cut_file_of_any_container_is_truncated(studio, suffix):
    whole = studio(f"whole.{suffix}", "-i", studio.a_mp4())
    assert read(whole)[2] == []
    damage = read(studio.part(f"cut.{suffix}", whole, 0.613))[2]
    assert damage[0].kind == "truncated"


def test_damaged_packets_are_listed_frame_by_frame(studio):
    path = studio("noisy.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v", "noise=amount=200")
    info, frames, damage = read(path)
    assert info.frames == 60
    assert 0 < len(frames) < 60
    kinds = {d.kind for d in damage}
    assert "decode_error" in kinds
    assert "corrupt_frame" in kinds
    lost = {d.frame + i for d in damage if d.frames_lost for i in range(d.frames_lost)}
    assert lost == set(range(60)) - {index for index, _, _, _ in frames}
    marked = {index for index, _, _, corrupt in frames if corrupt}
    assert marked
    starts = {d.frame for d in damage if d.kind == "corrupt_frame"}
    assert starts <= marked


def test_damaged_packets_give_the_same_frames_for_any_thread_count(studio, monkeypatch):
    monkeypatch.setattr("screentest.compute.usable_cpus", lambda: 8)
    path = studio("noisy.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v", "noise=amount=200")
    one, *others = (read(path, threads=n) for n in (1, 2, 8))
    for other in others:
        assert [f[0] for f in other[1]] == [f[0] for f in one[1]]
        assert same_planes(one[1], other[1])
        assert other[2] == one[2]


def test_frames_picked_from_a_damaged_file_are_those_of_the_whole_decode(studio):
    path = studio("noisy.mp4", "-i", studio.a_mp4(), "-c", "copy", "-bsf:v", "noise=amount=200")
    everything = {frame[0]: frame for frame in read(path)[1]}
    wanted = [0, 1, 2, 8, 9, 22, 23, 38, 59]
    with open_clip(path) as clip:
        picked = [
            (f.index, f.time_s, [np.array(p) for p in f.planes]) for f in clip.frames_at(wanted)
        ]
        assert clip.damage
    assert [frame[0] for frame in picked] == [k for k in wanted if k in everything]
    assert same_planes(picked, [everything[frame[0]] for frame in picked])


def test_a_file_of_zero_frames_says_no_frames(studio, tmp_path):
    path = studio("zero.mp4", *src(1), *X264, "-frames:v", "0")
    assert "no frames" in rejects("no_frames", path)
    empty = tmp_path / "empty.mp4"
    empty.touch()
    assert "no frames" in rejects("no_frames", empty)


def test_one_frame_is_a_clip(studio):
    path = studio("one.mp4", *src(1), *X264, "-frames:v", "1")
    info, frames, damage = read(path)
    assert (info.frames, len(frames), damage) == (1, 1, [])
    assert info.frame_rate is None


def test_a_cover_picture_is_no_video(studio):
    cover = studio("cover.png", *src(0.1), "-frames:v", "1")
    path = studio("cover.m4a", "-f", "lavfi", "-i", "sine=d=1", "-i", cover, "-map", "0", "-map",
                  "1", "-c:v", "copy", "-disposition:v:0", "attached_pic")  # fmt: skip
    message = rejects("no_video_stream", path)
    assert "a cover picture" in message
    assert "audio" in message


def test_audio_alone_has_no_video_stream(studio):
    path = studio("sine.wav", "-f", "lavfi", "-i", "sine=d=1")
    assert "no video stream" in rejects("no_video_stream", path)


def test_a_file_without_audio_lists_none(studio):
    assert probe(studio.a_mp4()).audio == ()


def test_audio_longer_than_the_picture_is_flagged_and_no_damage(studio):
    path = studio("long_audio.mp4", "-i", studio.a_mp4(), "-f", "lavfi", "-i", "sine=d=5",
                  "-c:v", "copy")  # fmt: skip
    info, frames, damage = read(path)
    assert info.duration_s == pytest.approx(2.0)
    assert info.audio[0].duration_s == pytest.approx(5.0, abs=0.05)
    assert (info.audio[0].sample_rate_hz, info.audio[0].layout) == (44100, "mono")
    assert "audio_length_differs" in info.flags
    assert len(frames) == 60
    assert damage == []


def test_audio_of_the_same_length_is_not_flagged(studio):
    path = studio("av.mp4", "-i", studio.a_mp4(), "-f", "lavfi", "-i", "sine=d=2", "-c:v", "copy")
    assert "audio_length_differs" not in probe(path).flags


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_an_open_group_cut_off_from_the_one_before_is_no_damage(studio, codec, suffix):
    options = ("-x265-params", "log-level=error:open-gop=1:keyint=20:bframes=3") if (
        codec == "libx265") else ("-x264-params", "open-gop=1:keyint=20:bframes=3")  # fmt: skip
    whole = studio(f"open_{codec}.mp4", *src(2), "-c:v", codec, "-pix_fmt", "yuv420p", *options)
    path = studio(f"open_{codec}_cut.{suffix}", "-ss", "1.0", "-i", whole, "-c", "copy")
    info, frames, damage = read(path)
    assert damage == []
    assert info.frames == len(frames)
    assert ("open_gop_start" in info.flags) == (suffix == "mkv")
    assert [index for index, _, _, _ in frames] == list(range(info.frames))
    assert 20 <= info.frames <= 45


def test_a_text_file_named_mp4_cannot_be_opened(tmp_path):
    path = tmp_path / "notes.mp4"
    path.write_text("this is no video\n" * 200)
    rejects("cannot_open", path)
    renamed = tmp_path / "notes.txt"
    renamed.write_text("\x1b[31mthis is no video either\n" * 200)
    rejects("cannot_open", renamed)


def test_sixteen_bit_png_keeps_its_levels(studio):
    geq = "format=rgb48be,geq=r='X*64':g='X*64':b='X*64'"
    path = studio("deep.png", "-f", "lavfi", "-i", "color=s=1024x16:d=0.1", "-vf", geq,
                  "-frames:v", "1")  # fmt: skip
    info, frames, _ = read(path)
    assert info.bit_depth == 16
    assert info.conversion == "rgb48le"
    assert len(np.unique(frames[0][2][0][..., 0])) == 1024


def test_an_animated_gif_keeps_its_frames_and_durations(studio):
    # Frame 4 is held for 0.6 s, the others for 0.1 s.
    stamps = "setpts='if(lte(N,4),N*10,N*10+50)/100/TB'"
    path = studio("held.gif", *src(1, size="64x48", rate=10), "-vf", stamps, "-fps_mode", "vfr")
    with open_clip(path) as clip:
        assert clip.info.frames == len(list(clip.frames())) == 10
        assert clip.info.duration_s == pytest.approx(1.5)
        assert clip.durations_s.round(2).tolist() == [0.1] * 4 + [0.6] + [0.1] * 5
        assert "vfr" in clip.info.flags
        assert clip.damage == []


def test_an_animated_webp_is_never_a_single_frame(studio):
    path = studio("anim.webp", *src(0.5, size="64x48", rate=10))
    try:
        clip = open_clip(path)
    except MediaError as error:
        refusal = error
    else:
        with clip:
            assert len(list(clip.frames())) == 5
        return
    assert refusal.code == "cannot_decode"
    assert "animated WebP" in str(refusal)


def test_a_still_webp_is_read(studio):
    path = studio("still.webp", *src(0.1, size="64x48"), "-frames:v", "1")
    info, frames, _ = read(path)
    assert (info.kind, info.frames, len(frames)) == ("image", 1, 1)


@pytest.mark.parametrize("codec", ["libx264rgb", "ffv1"])
def test_rgb_video_is_read_without_a_conversion(studio, codec):
    path = studio(f"rgb_{codec}.mkv", *src(0.2), "-vf", "format=gbrp", "-c:v", codec)
    info, frames, _ = read(path)
    assert info.conversion is None
    assert info.colour.matrix == "rgb"
    planes = frames[0][2]
    rgb = planes[0] if len(planes) == 1 else np.stack(planes, axis=-1)
    assert np.array_equal(rgb, studio.pixels(path, "rgb24", 320, 240)[0])


def test_codec_loss_of_chroma_is_visible_in_the_format(studio):
    path = studio("floor.mp4", *src(0.2), "-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv420p")
    assert probe(path).pixel_format == "yuv420p"


def test_a_long_clip_is_read_in_flat_memory_and_from_its_middle(studio):
    path = studio("long.mp4", *src(240, size="64x64"), "-c:v", "libx264", "-preset", "ultrafast",
                  "-pix_fmt", "yuv420p")  # fmt: skip
    with open_clip(path) as clip:
        assert clip.info.frames == 7200
        for _ in itertools.islice(clip.frames(), 500):
            pass
        early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sum(1 for _ in clip.frames()) == 7200
        late = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert late - early < 20 * 1024
        assert [f.index for f in clip.frames_at([3600, 3601, 7199])] == [3600, 3601, 7199]


def test_8k_frames_wait_in_a_short_queue(studio):
    path = studio("8k.mp4", *src(0.25, size="7680x4320", rate=24), "-c:v", "libx264", "-preset",
                  "ultrafast", "-pix_fmt", "yuv420p")  # fmt: skip
    with open_clip(path, threads=1) as clip:
        frames = clip.frames()
        held = [next(frames)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        time.sleep(0.5)
        held += list(frames)
        assert len(held) == 6
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024
