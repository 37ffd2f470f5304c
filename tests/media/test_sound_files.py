"""The sound of a file against ffmpeg's own decode, and what is said about it."""

import io
import os
import tracemalloc

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import FLAGS, read_audio
from tests.making import src

STEREO = ("-f", "lavfi", "-i", "sine=440:r=48000:d=2.1", "-f", "lavfi", "-i",
          "anoisesrc=r=48000:d=2.1:a=0.3:seed=7", "-filter_complex", "amerge=inputs=2")  # fmt: skip

# Stored as they are, or decoded by whole numbers: the same to the last bit on every machine.
EXACT = {
    "s16.wav": ("pcm_s16le", "s16"),
    "s24.wav": ("pcm_s24le", "s32"),
    "s32.wav": ("pcm_s32le", "s32"),
    "u8.wav": ("pcm_u8", "u8"),
    "f32.wav": ("pcm_f32le", "flt"),
    "f64.wav": ("pcm_f64le", "dbl"),
    "s64.mkv": ("pcm_s64le", "s64"),
    "alaw.wav": ("pcm_alaw", "s16"),
    "x.flac": ("flac", "s16"),
    "x.tta": ("tta", "s16"),
    "x.wv": ("wavpack", "s16p"),
    "alac.m4a": ("alac", "s16p"),
    "x.w64": ("pcm_s16le", "s16"),
    "x.aiff": ("pcm_s16be", "s16"),
    "x.caf": ("pcm_s24be", "s32"),
    "x.mov": ("pcm_s24le", "s32"),
    "x.au": ("pcm_s16be", "s16"),
    "x.avi": ("pcm_s16le", "s16"),
    "x.mka": ("pcm_f32le", "flt"),
}
# Transforms in floating point, of which no two builds of FFmpeg give the same last bit.
LOSSY = {
    "aac.mp4": ("aac", "fltp"),
    "aac.ts": ("aac", "fltp"),
    "x.aac": ("aac", "fltp"),
    "aac.mkv": ("aac", "fltp"),
    "aac.flv": ("aac", "fltp"),
    "x.mp3": ("libmp3lame", "fltp"),
    "opus.ogg": ("libopus", "fltp"),
    "opus.webm": ("libopus", "fltp"),
    "opus.mp4": ("libopus", "fltp"),
    "vorbis.ogg": ("libvorbis", "fltp"),
    "x.ac3": ("ac3", "fltp"),
    "x.wma": ("wmav2", "fltp"),
}


def made(studio, name):
    codec = (EXACT | LOSSY)[name][0]
    return studio(name, *STEREO, "-c:a", codec)


def whole(path, **options):
    """(info, samples, damage) of all blocks."""
    with read_audio(path, **options) as sound:
        blocks = list(sound.blocks())
        return sound.info, np.concatenate(blocks), sound.damage


def refusal(kind, code, source, **options):
    with pytest.raises(kind) as caught, read_audio(source, **options) as sound:
        list(sound.blocks())
    assert caught.value.code == code, caught.value
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", EXACT)
def test_stored_samples_are_those_that_ffmpeg_decodes_to_the_last_bit(studio, name):
    path = made(studio, name)
    info, samples, damage = whole(path)
    assert info.sample_format == EXACT[name][1]
    assert (info.sample_rate_hz, info.channels, info.layout) == (48000, 2, "stereo")
    assert info.positions == ("FL", "FR")
    assert np.array_equal(samples, studio.samples(path, 2))
    assert len(samples) == 100_800
    assert damage == ()


@pytest.mark.parametrize("name", LOSSY)
def test_coded_sound_has_the_samples_that_ffmpeg_decodes(studio, name):
    path = made(studio, name)
    info, samples, damage = whole(path)
    expected = studio.samples(path, 2)
    assert samples.shape == expected.shape
    assert np.abs(samples - expected).max() < 2e-6
    assert info.sample_format == LOSSY[name][1]
    assert damage == ()


@pytest.mark.parametrize("name", ["x.mp3", "opus.ogg", "opus.webm", "vorbis.ogg"])
def test_priming_and_padding_are_not_among_the_samples(studio, name):
    _, samples, _ = whole(made(studio, name))
    source = studio.samples(made(studio, "f32.wav"), 2)
    assert len(samples) == len(source)
    # The sine of the first channel lies where it did: not a sample earlier or later.
    inside = slice(4800, -4800)
    there = [np.dot(np.roll(samples[:, 1], lag)[inside], source[inside, 1]) for lag in (-1, 0, 1)]
    assert int(np.argmax(there)) == 1


def test_the_priming_of_aac_in_mp4_is_cut_and_the_sound_starts_at_zero(studio):
    info, samples, _ = whole(made(studio, "aac.mp4"))
    source = studio.samples(made(studio, "f32.wav"), 2)
    assert info.start_s == 0.0
    # The last packet of 1024 is padded to its end.
    assert 0 <= len(samples) - len(source) < 1024
    lags = range(-3, 4)
    inside = slice(4800, 90_000)
    there = [np.dot(np.roll(samples[:, 1], lag)[inside], source[inside, 1]) for lag in lags]
    assert lags[int(np.argmax(there))] == 0


def test_blocks_hold_one_second_each_and_start_again(studio):
    with read_audio(made(studio, "aac.mp4")) as sound:
        first, again = list(sound.blocks()), list(sound.blocks())
        assert [len(block) for block in first[:-1]] == [48000, 48000]
        assert all(b.flags.c_contiguous and b.dtype == np.float32 for b in first)
        assert np.array_equal(np.concatenate(first), np.concatenate(again))
        assert np.array_equal(sound.samples, np.concatenate(first))
        assert sound.samples is sound.samples


def test_a_reading_that_is_broken_off_leaves_the_next_one_whole(studio):
    with read_audio(made(studio, "x.mp3")) as sound:
        started = sound.blocks()
        head = next(started)
        started.close()
        assert np.array_equal(next(sound.blocks()), head)
        assert len(np.concatenate(list(sound.blocks()))) == 100_800


def test_two_readings_at_once_do_not_disturb_each_other(studio):
    with read_audio(made(studio, "x.flac")) as sound:
        for one, two in zip(sound.blocks(), sound.blocks(), strict=True):
            assert np.array_equal(one, two)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc (Linux)")
def test_the_file_is_closed_when_the_blocks_are_done_or_dropped(studio):
    path = made(studio, "s16.wav")

    def opened():
        return sum(
            os.path.realpath(f"/proc/self/fd/{fd}") == os.path.realpath(path)
            for fd in os.listdir("/proc/self/fd")
        )

    sound = read_audio(path)
    list(sound.blocks())
    assert opened() == 0
    running = sound.blocks()
    next(running)
    assert opened() == 1
    del running
    assert opened() == 0
    with read_audio(path):
        pass
    assert opened() == 0
    with pytest.raises(InputError):
        read_audio(path, stream=3)
    assert opened() == 0


def test_bytes_and_file_objects_are_read_as_the_path_is(studio):
    path = made(studio, "x.flac")
    _, samples, _ = whole(path)
    data = path.read_bytes()
    with open(path, "rb") as file:
        for source in (data, bytearray(data), io.BytesIO(data), file, str(path)):
            assert np.array_equal(whole(source)[1], samples)
        assert not file.closed


def test_what_is_known_of_a_file_is_said(studio):
    path = made(studio, "aac.mp4")
    info = read_audio(path).info
    assert (info.source, info.kind, info.container, info.codec) == (str(path), "file", "mov", "aac")
    assert (info.stream, info.streams, info.flags) == (0, 1, ())
    assert info.duration_s == pytest.approx(2.1, abs=0.001)
    assert info.samples is None


def two_languages(studio):
    return studio("two.mkv", *src(1), "-f", "lavfi", "-i", "sine=300:r=44100:d=1", "-f", "lavfi",
                  "-i", "sine=600:r=48000:d=1", "-map", "0", "-map", "1", "-map", "2", "-c:a",
                  "flac", "-metadata:s:a:0", "language=fre", "-metadata:s:a:0", "title=VF",
                  "-metadata:s:a:1", "language=eng", "-disposition:a:0", "0", "-disposition:a:1",
                  "default")  # fmt: skip


def test_the_default_stream_is_read_and_the_others_are_flagged(studio):
    info = read_audio(two_languages(studio)).info
    assert (info.stream, info.streams, info.language, info.sample_rate_hz) == (1, 2, "eng", 48000)
    assert info.flags == ("several_audio_streams",)
    assert set(info.flags) <= set(FLAGS)


@pytest.mark.parametrize("wanted", [0, np.int64(0), "fre", "FRE"])
def test_a_stream_is_chosen_by_its_index_or_language(studio, wanted):
    path = two_languages(studio)
    info, samples, _ = whole(path, stream=wanted)
    assert (info.stream, info.language, info.title) == (0, "fre", "VF")
    assert info.sample_rate_hz == 44100
    assert np.array_equal(samples, studio.samples(path, 1, "-map", "0:a:0"))


@pytest.mark.parametrize("wanted", [2, -1, "ger", True, 0.5, ""])
def test_a_stream_that_is_not_there_is_refused_with_those_that_are(studio, wanted):
    message = refusal(InputError, "bad_stream", two_languages(studio), stream=wanted)
    assert "0 (fre), 1 (eng)" in message


def test_options_for_arrays_are_refused_for_files(studio):
    path = made(studio, "s16.wav")
    assert "a file says this itself" in refusal(InputError, "bad_input", path, sample_rate=48000)
    refusal(InputError, "bad_input", path, layout="CN")


def six_channels(studio, layout):
    tones = "|".join(f"0.1*sin({k + 1}*600*t)" for k in range(6))
    return studio("six.wav", "-f", "lavfi", "-i", f"aevalsrc={tones}:d=1:c={layout}")


@pytest.mark.parametrize(
    ("layout", "positions"),
    [
        ("5.1", ("FL", "FR", "FC", "LFE", "BL", "BR")),
        ("5.1(side)", ("FL", "FR", "FC", "LFE", "SL", "SR")),
        ("hexagonal", ("FL", "FR", "FC", "BL", "BR", "BC")),
    ],
)
def test_the_places_of_channels_are_those_of_the_file(studio, layout, positions):
    path = six_channels(studio, layout)
    info, samples, _ = whole(path)
    assert (info.layout, info.positions) == (layout, positions)
    assert np.array_equal(samples, studio.samples(path, 6))


def without_mask(path):
    """A WAV of six channels whose header names no places: a channel mask of 0."""
    data = bytearray(path.read_bytes())
    at = data.index(b"fmt ") + 8
    assert data[at : at + 2] == b"\xfe\xff"
    data[at + 20 : at + 24] = bytes(4)
    return bytes(data)


def test_six_channels_without_places_are_an_unknown_layout_until_one_is_named(studio):
    data = without_mask(six_channels(studio, "5.1"))
    info = read_audio(data).info
    assert (info.channels, info.layout, info.positions) == (6, "unknown", ())
    info = read_audio(data, channel_layout="5.1").info
    assert (info.layout, info.positions[3]) == ("5.1", "LFE")
    message = refusal(InputError, "bad_channel_layout", data, channel_layout="7.1")
    assert "7.1" in message and "8" in message and "6" in message


def test_a_layout_that_contradicts_the_file_is_refused(studio):
    path = made(studio, "s16.wav")
    assert read_audio(path, channel_layout="stereo").info.layout == "stereo"
    message = refusal(InputError, "bad_channel_layout", path, channel_layout="downmix")
    assert "stereo" in message


def test_pictures_alone_have_no_audio_stream(studio):
    assert "video" in refusal(MediaError, "no_audio_stream", studio.a_mp4())
    png = studio("one.png", *src(0.1), "-frames:v", "1")
    refusal(MediaError, "no_audio_stream", png)


def test_a_stream_without_samples_and_an_empty_file_have_no_samples(studio):
    path = studio("zero.wav", "-f", "lavfi", "-i", "sine=d=1", "-af", "atrim=end=0")
    refusal(MediaError, "no_samples", path)
    assert "empty" in refusal(MediaError, "no_samples", b"")


def test_what_is_no_media_file_cannot_be_opened(tmp_path):
    refusal(MediaError, "cannot_open", b"certainly no sound" * 100)
    refusal(MediaError, "not_a_file", tmp_path)
    with pytest.raises(FileNotFoundError):
        read_audio(tmp_path / "nothing.wav")


def test_a_stream_that_no_packet_of_decodes_is_refused(studio):
    # Past the header every byte of the frames is noise.
    data = bytearray(made(studio, "x.tta").read_bytes())
    data[200:] = np.random.default_rng(3).bytes(len(data) - 200)
    assert "could be decoded" in refusal(MediaError, "cannot_decode", bytes(data))


def test_a_header_that_nobody_means_is_refused(studio):
    data = bytearray(made(studio, "s16.wav").read_bytes())
    at = data.index(b"fmt ") + 8
    data[at + 4 : at + 8] = (3_000_000).to_bytes(4, "little")
    assert "3000000" in refusal(MediaError, "bad_header", bytes(data))


def test_a_change_of_the_rate_on_the_way_is_refused(studio):
    parts = [
        studio(f"{rate}.aac", "-f", "lavfi", "-i", f"sine=d=2:r={rate}", "-c:a", "aac").read_bytes()
        for rate in (48000, 32000)
    ]
    message = refusal(MediaError, "sound_changes", b"".join(parts))
    assert "48000" in message and "32000" in message


def test_the_real_clip_has_its_six_channels_in_place(real_clip):
    with read_audio(real_clip("bigbuckbunny")) as sound:
        info = sound.info
        assert (info.sample_rate_hz, info.channels, info.layout) == (48000, 6, "5.1")
        assert info.positions == ("FL", "FR", "FC", "LFE", "BL", "BR")
        assert len(sound.samples) / 48000 == pytest.approx(info.duration_s, abs=0.03)
        assert sound.damage == ()


def test_a_real_clip_is_decoded_as_ffmpeg_does(studio, real_clip, tmp_path):
    path = tmp_path / "copy.mp4"
    path.write_bytes(real_clip("bigbuckbunny").read_bytes())
    _, samples, _ = whole(path)
    expected = studio.samples(path, 6)
    assert samples.shape == expected.shape
    assert np.abs(samples - expected).max() < 2e-6


def test_five_minutes_are_read_in_the_memory_of_a_second(studio):
    path = studio("long.flac", "-f", "lavfi", "-i", "sine=r=48000:d=300", "-ac", "2")
    tracemalloc.start()
    try:
        with read_audio(path) as sound:
            count = sum(len(block) for block in sound.blocks())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 300 * 48000
    # 115 MB as float32; a block is 384 kB.
    assert peak < 4e6
