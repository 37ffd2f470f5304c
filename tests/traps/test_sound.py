"""Sounds anyone can make, and how they are read. Each test is one row of the list of traps."""

import re

import numpy as np
import pytest

from screentest.errors import MediaError
from screentest.media import open_clip, probe, read_audio
from tests.making import src

# A white frame and a click at each whole second from the first on.
FLASH = "color=black:s=64x64:r=25:d=4,drawbox=c=white:t=fill:enable='gte(t,1)*lt(mod(t,1),0.04)'"
CLICK = "aevalsrc='if(gte(t,1)*lt(mod(t,1),0.01),sin(2*PI*2000*t),0)':s=48000:d=4"


def read(source, **options):
    with read_audio(source, **options) as sound:
        return sound.info, sound.samples, sound.damage


def rejects(code, source, **options):
    with pytest.raises(MediaError) as caught, read_audio(source, **options) as sound:
        list(sound.blocks())
    assert caught.value.code == code, caught.value
    assert "\n" not in str(caught.value)
    return str(caught.value)


def first_click_s(path):
    info, samples, _ = read(path)
    return info.start_s + int(np.argmax(np.abs(samples[:, 0]) > 0.2)) / info.sample_rate_hz


def first_flash_s(path):
    with open_clip(path) as clip:
        return next(f.time_s for f in clip.frames() if f.planes[0].mean() > 200)


def clap(studio, audio=("-c:a", "aac")):
    return studio("clap.mp4", "-f", "lavfi", "-i", FLASH, "-f", "lavfi", "-i", CLICK, "-c:v",
                  "libx264", "-pix_fmt", "yuv420p", *audio)  # fmt: skip


def test_a_sound_with_a_cover_picture_is_read(studio):
    cover = studio("cover.png", *src(0.1), "-frames:v", "1")
    path = studio("cover.m4a", "-f", "lavfi", "-i", "sine=d=1", "-i", cover, "-map", "0", "-map",
                  "1", "-c:v", "copy", "-disposition:v:0", "attached_pic")  # fmt: skip
    info, samples, damage = read(path)
    assert (info.codec, info.streams, info.flags, damage) == ("aac", 1, (), ())
    assert len(samples) == len(studio.samples(path, 1))


def test_a_picture_without_sound_has_no_audio_stream(studio):
    message = rejects("no_audio_stream", studio.a_mp4())
    assert "it holds video" in message


def test_a_cover_alone_has_no_audio_stream(studio):
    cover = studio("cover.png", *src(0.1), "-frames:v", "1")
    path = studio("only.mkv", "-i", studio.a_mp4(), "-attach", cover, "-metadata:s:t:0",
                  "mimetype=image/png", "-c", "copy")  # fmt: skip
    assert "a cover picture, video" in rejects("no_audio_stream", path)


def test_a_sound_longer_than_the_picture_is_read_to_its_end(studio):
    path = studio("long_audio.mp4", "-i", studio.a_mp4(), "-f", "lavfi", "-i", "sine=d=5",
                  "-c:v", "copy")  # fmt: skip
    info, samples, damage = read(path)
    assert len(samples) / info.sample_rate_hz == pytest.approx(5, abs=0.03)
    assert damage == ()
    assert "audio_length_differs" in probe(path).flags


@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv", "ts", "flv"])
def test_a_sound_moved_by_120_ms_is_120_ms_late_on_the_clock_of_the_picture(studio, suffix):
    plain = clap(studio)
    late = studio(f"late.{suffix}", "-i", plain, "-itsoffset", "0.12", "-i", plain, "-map", "0:v",
                  "-map", "1:a", "-c", "copy")  # fmt: skip
    assert first_click_s(plain) - first_flash_s(plain) == pytest.approx(0, abs=0.001)
    # MP4 and MOV keep the edit in ticks of a millisecond, Matroska and FLV every stamp.
    assert first_click_s(late) - first_flash_s(late) == pytest.approx(0.12, abs=0.001)
    assert "no_audio_timestamps" not in read(late)[0].flags


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_a_picture_moved_by_120_ms_leaves_the_sound_120_ms_early(studio, suffix):
    plain = clap(studio)
    early = studio(f"early.{suffix}", "-i", plain, "-itsoffset", "0.12", "-i", plain, "-map",
                   "1:v", "-map", "0:a", "-c", "copy")  # fmt: skip
    assert first_click_s(early) - first_flash_s(early) == pytest.approx(-0.12, abs=0.001)


def test_a_click_of_uncompressed_sound_lies_on_its_sample(studio):
    path = studio("pcm.mov", "-i", clap(studio), "-itsoffset", "0.12", "-f", "lavfi", "-i", CLICK,
                  "-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "pcm_s16le")  # fmt: skip
    info, samples, _ = read(path)
    assert info.start_s == 0.12
    assert first_click_s(path) == pytest.approx(1.12, abs=2 / 48000)
    assert len(samples) == 4 * 48000


def test_an_edit_list_hides_the_sound_before_the_cut(studio):
    """A copy from 1.5 s on keeps earlier packets, which its edit list hides."""
    cut = studio("cut.mp4", "-ss", "1.5", "-i", clap(studio), "-c", "copy")
    _, samples, damage = read(cut)
    assert len(samples) == len(studio.samples(cut, 1))
    assert first_click_s(cut) == pytest.approx(0.5, abs=0.03)
    assert damage == ()


def test_six_channels_keep_their_places(studio):
    tones = "|".join(f"0.1*sin({k + 1}*600*t)" for k in range(6))
    path = studio("six.wav", "-f", "lavfi", "-i", f"aevalsrc={tones}:d=1:c=5.1")
    info, samples, _ = read(path)
    assert info.positions == ("FL", "FR", "FC", "LFE", "BL", "BR")
    time_s = np.arange(len(samples)) / info.sample_rate_hz
    for channel in range(6):
        expected = 0.1 * np.sin((channel + 1) * 600 * time_s)
        assert np.abs(samples[:, channel] - expected).max() < 1 / 32768


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000, 192000])
@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_any_rate_is_kept(studio, rate, suffix):
    path = studio(f"r{rate}.{suffix}", "-f", "lavfi", "-i", f"sine=997:r={rate}:d=1.5", "-ac", "2")
    info, samples, _ = read(path)
    assert info.sample_rate_hz == rate
    assert len(samples) == 1.5 * rate
    assert np.array_equal(samples, studio.samples(path, 2))


def test_short_silent_and_empty_are_three_different_answers(studio):
    short = studio("short.wav", "-f", "lavfi", "-i", "sine=r=48000:d=0.3")
    silent = studio("silent.wav", "-f", "lavfi", "-i", "anullsrc=r=48000:d=1")
    empty = studio("empty.wav", "-f", "lavfi", "-i", "sine=d=1", "-af", "atrim=end=0")
    assert len(read(short)[1]) == 14_400
    assert not read(silent)[1].any()
    assert "no samples" in rejects("no_samples", empty)
    assert "no samples" in rejects("no_samples", np.zeros((0, 2)), sample_rate=48000)


def test_one_nan_in_a_float_file_stays_one_nan(studio):
    data = bytearray(studio("nan.wav", "-f", "lavfi", "-i", "sine=d=1", "-c:a", "pcm_f32le")
                     .read_bytes())  # fmt: skip
    start = data.index(b"data") + 8
    data[start + 4000 : start + 4004] = np.float32(np.nan).tobytes()
    samples = read(bytes(data))[1]
    assert np.flatnonzero(np.isnan(samples)).tolist() == [1000]


def test_int16_read_as_float_is_an_error_and_no_loudness_of_90_db():
    array = np.random.default_rng(1).uniform(-0.5, 0.5, 48000)
    message = rejects("samples_out_of_range", np.float32(array * 32768), sample_rate=48000)
    assert "84 dB over full scale" in message


def test_a_stream_without_time_stamps_says_so(studio):
    path = studio("mp2.ts", "-f", "lavfi", "-i", "sine=r=48000:d=1", "-c:a", "mp2")
    _, whole, _ = read(path)
    # ISO 13818-1: a packet's header says whether a time stamp follows; its place may be stuffed.
    stamped = re.compile(rb"(\x00\x00\x01\xc0...)\x80\x05.{5}", re.DOTALL)
    bare = b"\x00\x05" + b"\xff" * 5
    unstamped, count = stamped.subn(lambda found: found[1] + bare, path.read_bytes())
    assert count > 3
    info, samples, damage = read(unstamped)
    assert info.start_s is None
    assert info.flags == ("no_audio_timestamps",)
    assert np.array_equal(samples, whole)
    assert damage == ()
