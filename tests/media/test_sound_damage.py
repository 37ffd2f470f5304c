"""Damaged sound: whatever the bytes, samples with what is wrong with them or one clear error."""

from fractions import Fraction

import av
import numpy as np
import pytest

from screentest.errors import MediaError, ScreentestError
from screentest.media import read_audio
from screentest.media.sound.blocks import Assembly, SoundPlan
from screentest.media.sound.decode import SoundLog
from tests.media.test_damaged_files import mutated

TONE = ("-f", "lavfi", "-i", "sine=440:r=48000:d=1.5", "-ac", "2")
MUTATIONS = 30


def read(source, **options):
    with read_audio(source, **options) as sound:
        samples = np.concatenate(list(sound.blocks()))
        return sound.info, samples, sound.damage


def kinds(damage):
    return [d.kind for d in damage]


def without_packet(studio, name, number, *args):
    """A file of which one packet is left out, its stamps untouched."""
    source = studio(name, *TONE, *args)
    drop = f"noise=amount=0:drop=eq(n\\,{number})"
    return source, studio(name, "-i", source, "-c", "copy", "-bsf:a", drop)


# ALAC and PCM packets stand alone: what is lost with one is its own samples and no more.
@pytest.mark.parametrize(
    ("name", "codec", "length", "rounding"),
    [("hole.m4a", "alac", 4096, 0), ("hole.mkv", "pcm_s16le", 1024, 48)],
)
def test_a_lost_packet_is_silence_and_what_follows_keeps_its_place(
    studio, name, codec, length, rounding
):
    whole, holed = without_packet(studio, name, 10, "-c:a", codec)
    expected = studio.samples(whole, 2).copy()
    expected[10 * length : 11 * length] = 0
    info, samples, (damage,) = read(holed)
    assert (damage.kind, damage.time_s) == ("missing_samples", 10 * length / 48000)
    # Matroska's stamps are of a whole millisecond.
    assert abs(len(samples) - len(expected)) <= rounding
    end = 11 * length - rounding
    assert np.array_equal(samples[:end], expected[:end])
    assert np.array_equal(samples[-20_000:], expected[-20_000:])
    assert info.start_s == 0.0


@pytest.mark.parametrize(("name", "rounding"), [("hole.mp4", 0), ("hole.ts", 0), ("hole.mka", 48)])
def test_a_lost_packet_of_aac_is_named_and_the_rest_keeps_its_place(studio, name, rounding):
    # Without the noise that a decoder makes up.
    whole, holed = without_packet(studio, name, 30, "-c:a", "aac", "-aac_pns", "0")
    expected = read(whole)[1]
    _, samples, (damage,) = read(holed)
    assert damage.kind == "missing_samples"
    assert abs(int(damage.detail.split()[0]) - 1024) <= rounding
    assert abs(len(samples) - len(expected)) <= rounding
    assert np.abs(samples[-20_000:] - expected[-20_000:]).max() < 1e-6


def test_stamps_that_overlap_keep_the_first_of_what_they_give_twice(studio):
    whole = studio("over.m4a", *TONE, "-c:a", "alac")
    early = studio("over.m4a", "-i", whole, "-c", "copy", "-bsf:a",
                   "setts=ts=TS-if(gte(N\\,10)\\,2500\\,0)")  # fmt: skip
    expected = studio.samples(whole, 2)
    _, samples, (damage,) = read(early)
    assert damage.kind == "repeated_samples"
    assert damage.time_s == 10 * 4096 / 48000
    assert np.array_equal(samples[: 10 * 4096], expected[: 10 * 4096])
    assert np.array_equal(samples[10 * 4096 :], expected[10 * 4096 + 2500 :])


def test_stamps_that_jitter_are_no_holes(studio):
    whole = studio("jitter.m4a", *TONE, "-c:a", "alac")
    shaken = studio("jitter.m4a", "-i", whole, "-c", "copy", "-bsf:a",
                    "setts=ts=TS+mod(N\\,3)*400")  # fmt: skip
    _, samples, damage = read(shaken)
    assert damage == ()
    assert np.array_equal(samples, studio.samples(whole, 2))


def test_a_refused_packet_is_named_with_its_time_and_the_rest_is_read(studio):
    data = bytearray(studio("x.flac", *TONE, "-c:a", "flac").read_bytes())
    whole = read(bytes(data))[1]
    start = len(data) // 2
    data[start : start + 3000] = bytes(3000)
    _, samples, damage = read(bytes(data))
    assert "decode_error" in kinds(damage) or "missing_samples" in kinds(damage)
    assert all(0 < d.time_s < 1.5 for d in damage)
    assert len(samples) == len(whole)
    assert np.array_equal(samples[:10_000], whole[:10_000])
    assert np.array_equal(samples[-4608:], whole[-4608:])


def test_damage_is_the_same_on_a_second_reading(studio):
    _, holed = without_packet(studio, "again.m4a", 10, "-c:a", "alac")
    with read_audio(holed) as sound:
        assert sound.damage == ()
        list(sound.blocks())
        found = sound.damage
        assert kinds(found) == ["missing_samples"]
        next(sound.blocks())
        assert sound.damage == found
        list(sound.blocks())
        assert sound.damage == found


CUT = {
    "x.wav": (),
    "f.wav": ("-c:a", "pcm_f32le"),
    "rf.wav": ("-rf64", "always"),
    "x.w64": (),
    "x.aiff": (),
    "x.caf": (),
    "x.au": (),
    "x.mp3": (),
    "id3v1.mp3": ("-write_id3v1", "1", "-metadata", "title=x"),
    "plain.mp3": ("-id3v2_version", "0"),
    "mono.mp3": ("-ac", "1", "-ar", "22050"),
    "x.flac": (),
    "x.tta": (),
    "x.wv": (),
    "x.mka": (),
    "x.ogg": ("-c:a", "libvorbis"),
    "opus.ogg": ("-c:a", "libopus"),
    "fast.m4a": ("-movflags", "+faststart"),
    "frag.mp4": (
        "-c:a",
        "aac",
        "-movflags",
        "frag_keyframe+empty_moov",
        "-frag_duration",
        "200000",
    ),
    "x.avi": (),
    "x.ts": ("-c:a", "aac"),
}


@pytest.mark.parametrize("name", CUT)
def test_a_file_that_is_cut_says_so_and_a_whole_one_does_not(studio, name):
    data = studio(name, *TONE, *CUT[name]).read_bytes()
    _, whole, damage = read(data)
    assert damage == ()
    for share in (0.5, 0.83, 0.97):
        try:
            info, samples, damage = read(data[: int(len(data) * share)])
        except MediaError:
            continue
        assert damage, share
        assert len(samples) <= len(whole)
        last = damage[-1]
        if last.kind == "truncated":
            end_s = info.start_s + len(samples) / info.sample_rate_hz
            assert last.time_s == pytest.approx(end_s, abs=1e-9)


def test_integers_stored_as_floats_are_refused_with_the_largest_and_the_divisor(studio):
    loud = studio("loud.wav", *TONE, "-af", "volume=5000:precision=float", "-c:a", "pcm_f32le")
    with pytest.raises(MediaError) as caught:
        read(loud)
    assert caught.value.code == "samples_out_of_range"
    largest = np.abs(studio.samples(loud, 2)[:48000]).max()
    assert f"{largest:g}" in str(caught.value).replace("-", "")
    assert "32768" in str(caught.value)


def test_integers_that_were_coded_as_floats_are_refused_too(studio):
    loud = studio("loud.ogg", *TONE, "-af", "volume=5000:precision=float", "-c:a", "libvorbis")
    with pytest.raises(MediaError) as caught:
        read(loud)
    assert caught.value.code == "samples_out_of_range"


def frames(count, *, length=1000, rate=8000, odd=(), odd_rate=None, loudest=90_000):
    """Decoded frames of a constant 0.25, some of them as a damaged packet gives them."""
    for number in range(count):
        values = np.full((2, length), 0.25, dtype=np.float32)
        strange = number in odd
        if strange and odd_rate is None:
            values[1, 7] = loudest
        frame = av.AudioFrame.from_ndarray(values, format="fltp", layout="stereo")
        frame.sample_rate = odd_rate if strange and odd_rate else rate
        frame.pts, frame.time_base = number * length, Fraction(1, rate)
        yield frame


def assembled(given, codec="aac"):
    log = SoundLog()
    plan = SoundPlan.of(next(frames(1)), codec, "x")
    samples = np.concatenate(list(Assembly(plan, log).blocks(given)))
    assert log.finished and log.samples == len(samples)
    return samples, log.damage()


def test_damaged_packets_that_decode_as_thunder_are_left_out_and_named():
    # Frame 7 ends the first second, frame 8 begins the next.
    samples, damage = assembled(frames(20, odd=(2, 3, 7, 12)))
    expected = np.full((20_000, 2), 0.25)
    for number in (2, 3, 7, 12):
        expected[number * 1000 : (number + 1) * 1000] = 0
    assert np.array_equal(samples, expected)
    assert [(d.kind, d.time_s) for d in damage] == [
        ("corrupt_frame", 0.25),
        ("corrupt_frame", 0.875),
        ("corrupt_frame", 1.5),
    ]
    assert damage[0].detail.startswith("2 frames of samples up to 90000 left out")


@pytest.mark.parametrize("codec", ["pcm_f32le", "wavpack"])
def test_where_floats_are_stored_as_they_were_one_out_of_range_is_refused(codec):
    with pytest.raises(MediaError, match="90000"):
        assembled(frames(20, odd=(15,)), codec)


def test_more_than_a_second_of_thunder_is_refused():
    assembled(frames(40, odd=range(8)))
    with pytest.raises(MediaError) as caught:
        assembled(frames(40, odd=range(9)))
    assert caught.value.code == "samples_out_of_range"


def test_a_frame_of_another_rate_is_damage_and_a_second_of_them_another_sound():
    samples, damage = assembled(frames(30, odd=(4, 5), odd_rate=4000))
    expected = np.full((30_000, 2), 0.25)
    expected[4000:6000] = 0
    assert np.array_equal(samples, expected)
    assert [(d.kind, d.time_s) for d in damage] == [
        ("corrupt_frame", 0.5),
        ("missing_samples", 0.5),
    ]
    assert "2 frames of 4000 Hz, 2 channels, fltp left out" in damage[0].detail
    with pytest.raises(MediaError) as caught:
        assembled(frames(30, odd=range(10, 20), odd_rate=4000))
    assert caught.value.code == "sound_changes"


def test_nan_and_infinity_in_a_float_file_pass_through(studio):
    data = bytearray(studio("f.wav", *TONE, "-c:a", "pcm_f32le").read_bytes())
    start = data.index(b"data") + 8
    values = np.frombuffer(data, "<f4", offset=start).copy()
    values[[10, 50_001, 100_000]] = [np.nan, np.inf, -np.inf]
    data[start:] = values.tobytes()
    samples = read(bytes(data))[1].reshape(-1)
    assert np.array_equal(samples, values, equal_nan=True)


def test_a_nan_does_not_hide_a_sample_out_of_range(studio):
    data = bytearray(studio("f.wav", *TONE, "-c:a", "pcm_f32le").read_bytes())
    start = data.index(b"data") + 8
    values = np.frombuffer(data, "<f4", offset=start).copy()
    values[[10, 11]] = [np.nan, -2000]
    data[start:] = values.tobytes()
    with pytest.raises(MediaError, match="-2000"):
        read(bytes(data))


def test_neighbouring_faults_are_one_entry_and_endless_ones_are_counted():
    log = SoundLog()
    for packet in range(5):
        log.count("decode_error", "packet", "refused: x", packet / 10)
    assert [d.detail for d in log.damage()] == ["5 packets refused: x"]
    for packet in range(1000):
        log.count("decode_error", "packet", "refused: x", 1 + packet)
        log.close_run()
    found = log.damage()
    assert len(found) == 201
    assert found[-1].detail == "and 801 places more"


FUZZED = {
    "x.wav": (),
    "f.wav": ("-c:a", "pcm_f32le"),
    "x.m4a": ("-c:a", "aac", "-movflags", "+faststart"),
    "x.ogg": ("-c:a", "libopus"),
    "x.mka": ("-c:a", "aac"),
    "x.ts": ("-c:a", "aac"),
    "x.flac": (),
    "x.mp3": (),
}


def outcome(data):
    try:
        with read_audio(data) as sound:
            for block in sound.blocks():
                assert block.size
            assert all("\n" not in d.detail for d in sound.damage)
            return "read"
    except ScreentestError as error:
        refusal = error
    assert "\n" not in str(refusal)
    return refusal.code


@pytest.mark.parametrize("name", FUZZED)
def test_a_mutated_sound_is_read_or_refused(studio, name):
    data = studio(name, *TONE, *FUZZED[name]).read_bytes()
    for seed in range(MUTATIONS):
        assert outcome(mutated(data, seed)) != "error"


@pytest.mark.parametrize("size", [1, 2, 7, 16, 200, 5000])
def test_random_bytes_are_refused(size):
    with pytest.raises(MediaError):
        read(np.random.default_rng(size).bytes(size))
