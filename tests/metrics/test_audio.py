"""A sound alone: what every fact means, and what has no value and why."""

import pickle

import numpy as np
import pytest

from screentest.errors import InputError, MediaError
from screentest.media import read_audio
from screentest.media.info import Damage, SoundInfo
from screentest.metrics import registry
from screentest.metrics.audio import METRICS, AudioAccumulator, measure_audio
from screentest.metrics.audio.weights import front_pair, weights_of
from tests.oracles import sounds

RATE = 48000
STEREO = ("audio_side_dbfs", "audio_stereo_separation_db", "audio_channel_correlation")


def tone(seconds=1.0, amplitude=0.5, rate=RATE, frequency=997):
    return sounds.q(sounds.sine(frequency, rate, round(seconds * rate), amplitude))


def measured(samples, layout=None, rate=RATE, **options):
    samples = np.asarray(samples, np.float32)
    return measure_audio(samples, sample_rate=rate, channel_layout=layout, **options)


def reasons(facts):
    return {missing.axis: missing.reason for missing in facts.unmeasured}


def one_channel_of(layout, position, samples):
    """A sound of this layout with the samples in one place alone."""
    from av import AudioLayout

    places = [channel.name for channel in AudioLayout(layout).channels]
    sound = np.zeros((samples.size, len(places)), np.float32)
    sound[:, places.index(position)] = samples
    return measured(sound, layout)


# ----- levels


def test_square_wave_of_a_quarter_reads_minus_12_everywhere():
    square = np.tile(np.repeat([0.25, -0.25], 100).astype(np.float32), 480)
    facts = measured(square)
    level = 20 * np.log10(0.25)
    assert facts.audio_rms_dbfs == pytest.approx(level, abs=1e-12)
    assert facts.audio_peak_dbfs == pytest.approx(level, abs=1e-12)
    assert facts.audio_dc_offset == 0.0
    assert facts.audio_silence_fraction == facts.audio_max_silence_run == 0.0
    assert facts.longest_silence_s is None
    assert facts.series.rms_dbfs == pytest.approx(np.full(20, level), abs=1e-12)


def test_channels_have_their_own_levels_and_the_sound_has_the_largest():
    sound = np.stack([tone(amplitude=0.5), tone(amplitude=0.25) - 0.01], axis=1)
    facts = measured(sound)
    left, right = facts.channels
    assert (left.position, right.position) == ("FL", "FR")
    assert left.peak_dbfs - right.peak_dbfs == pytest.approx(20 * np.log10(0.5 / 0.26), abs=1e-3)
    assert right.dc_offset == pytest.approx(-0.01, abs=1e-6)
    assert facts.audio_dc_offset == -right.dc_offset
    assert facts.audio_peak_dbfs == left.peak_dbfs
    assert facts.audio_true_peak_dbtp == left.true_peak_dbtp
    power = (10 ** (left.rms_dbfs / 10) + 10 ** (right.rms_dbfs / 10)) / 2
    assert facts.audio_rms_dbfs == pytest.approx(10 * np.log10(power), abs=1e-12)


def test_clipping_is_counted_and_its_first_place_named():
    sound = np.zeros((48000, 2), np.float32)
    full = np.float32(0.999)
    sound[12000, 1] = -full
    sound[24000:24010, 0] = full
    sound[36000, 0] = np.nextafter(full, np.float32(0))
    facts = measured(sound)
    assert facts.audio_clip_fraction == 11 / 96000
    assert [channel.clip_fraction for channel in facts.channels] == [10 / 48000, 1 / 48000]
    assert facts.first_clip_s == 0.25


def test_true_peak_lies_between_the_samples_and_its_place_is_known():
    """A quarter of the rate at 45 degrees: every sample is 3 dB below the wave's crest."""
    burst = sounds.faded(sounds.stereo(sounds.sine(12000, RATE, 4800, 0.9, 45.0)))
    sound = np.zeros((96000, 2))
    sound[60000:64800] = burst
    facts = measured(sound)
    assert facts.audio_peak_dbfs == pytest.approx(20 * np.log10(0.9) - 3.01, abs=0.01)
    assert facts.audio_true_peak_dbtp == pytest.approx(20 * np.log10(0.9), abs=0.1)
    assert 60000 / RATE <= facts.loudest_s <= 64800 / RATE


@pytest.mark.parametrize(
    ("rate", "factor"), [(8000, 4), (48000, 4), (88200, 4), (96000, 2), (176400, 2), (192000, 1)]
)
def test_oversampling_of_the_true_peak_is_stated(rate, factor):
    facts = measured(tone(0.5, rate=rate), rate=rate)
    assert facts.true_peak_oversampling == factor
    if factor == 1:
        assert facts.audio_true_peak_dbtp == facts.audio_peak_dbfs


# ----- silence


def test_silence_in_the_middle_is_found_with_its_ends():
    sound = np.stack([tone(4.0)] * 2, axis=1)
    sound[RATE : 3 * RATE] = 0
    sound[-RATE // 10 :] = 0
    facts = measured(sound)
    assert facts.audio_silence_fraction == 42 / 80
    assert facts.audio_max_silence_run == 40 / 80
    assert facts.longest_silence_s == (1.0, 3.0)


def edge_db(sound, rate=RATE):
    before, last = measured(sound, rate=rate).silence_edge_dbfs
    return last - before


@pytest.mark.parametrize("rate", [8000, 44100, 48000])
@pytest.mark.parametrize("late", [0, 1, 7, 24, 26, 49])
def test_what_stops_at_once_has_no_fall_wherever_in_a_block_it_stops(late, rate):
    """Of the last 5 ms one may be full in part."""
    sound = tone(4.0, frequency=1000, rate=rate)
    sound[round(rate * (1.5 + late / 1000)) :] = 0
    assert edge_db(sound, rate=rate) == pytest.approx(0.0, abs=1.0)


def test_what_fades_evenly_has_fallen_by_the_length_of_its_last_5_ms():
    """Of 300 ms at full level and 200 that fall to 0, the mean square is 0.733 of the full. The end
    is where that of the sound lies 30 dB below, at an amplitude of 0.0271; 5 ms before it was
    0.0521. The mean square between is 0.00162, 26.6 dB below 0.733."""
    sound = tone(4.0, frequency=1000)
    ramp = np.clip((1.7 - np.arange(len(sound)) / RATE) / 0.2, 0, 1)
    assert edge_db(sound * ramp) == pytest.approx(-26.6, abs=1.0)


def test_what_rings_30_db_below_is_silence_already():
    sound = tone(4.0, frequency=1000)
    sound[3 * RATE // 2 :] *= 10 ** (-35 / 20)
    sound[3 * RATE // 2 + RATE // 50 :] = 0
    assert edge_db(sound) == pytest.approx(0.0, abs=0.3)


@pytest.mark.parametrize("start", [0.0, 0.2, 0.39])
def test_without_half_a_second_of_sound_nothing_is_said_of_its_end(start):
    sound = tone(4.0)
    sound[round(start * RATE) :] = 0
    assert measured(sound).silence_edge_dbfs is None
    knock = tone(4.0)
    knock[: 2 * RATE - round(start * RATE)] = 0
    knock[2 * RATE :] = 0
    assert measured(knock).silence_edge_dbfs is None


def test_sound_shorter_than_a_block_is_one_block():
    quiet, loud = np.full(100, 1e-5), np.full(100, 0.1)
    facts = measured(quiet)
    assert (facts.audio_silence_fraction, facts.audio_max_silence_run) == (1.0, 1.0)
    assert facts.longest_silence_s == (0.0, 100 / RATE)
    assert measured(loud).audio_silence_fraction == 0.0


def test_block_at_minus_60_is_not_silent_and_one_below_is():
    assert measured(np.full(4800, 1.001e-3)).audio_silence_fraction == 0.0
    assert measured(np.full(4800, 0.999e-3)).audio_silence_fraction == 1.0


# ----- stereo


def test_inverted_channel_is_all_side():
    facts = measured(np.stack([tone(), -tone()], axis=1))
    assert facts.audio_channel_correlation == -1.0
    assert facts.audio_side_dbfs == pytest.approx(facts.audio_rms_dbfs, abs=1e-12)
    assert facts.audio_stereo_separation_db == pytest.approx(0.0, abs=1e-12)
    assert facts.audio_silence_fraction == 0.0
    assert reasons(facts) == {
        "audio_spectral_flatness": "the mean of the channels is silent: they cancel each other"
    }


def test_one_sound_in_both_channels_has_no_side():
    facts = measured(np.stack([tone()] * 2, axis=1))
    assert facts.audio_channel_correlation == pytest.approx(1.0, abs=1e-12)
    assert facts.audio_side_dbfs == -120.0
    assert facts.audio_stereo_separation_db == pytest.approx(facts.audio_rms_dbfs + 120.0)


def test_dead_channel_correlates_with_nothing_it_could_contradict():
    facts = measured(np.stack([tone(), np.zeros(RATE)], axis=1))
    assert facts.channels[1].rms_dbfs == facts.channels[1].true_peak_dbtp == -120.0
    assert facts.audio_channel_correlation == 1.0
    # Half of one channel alone: 6.02 dB under it, and 3.01 under the two.
    assert facts.audio_side_dbfs == pytest.approx(facts.channels[0].rms_dbfs - 6.0206, abs=1e-4)
    assert facts.audio_stereo_separation_db == pytest.approx(3.0103, abs=1e-4)


def test_sines_a_quarter_period_apart_do_not_correlate():
    cosine = sounds.q(sounds.sine(1000, RATE, RATE, 0.5, 90.0))
    facts = measured(np.stack([tone(frequency=1000), cosine], axis=1))
    assert facts.audio_channel_correlation == pytest.approx(0.0, abs=1e-7)


def test_mono_has_no_stereo():
    facts = measured(tone())
    assert [getattr(facts, name) for name in STEREO] == [None] * 3
    assert [missing.axis for missing in facts.unmeasured] == [
        *("audio_channel_correlation", "audio_side_dbfs", "audio_stereo_separation_db")
    ]
    assert {m.applies for m in facts.unmeasured} == {False}
    assert reasons(facts)["audio_side_dbfs"] == "the layout mono has no left and right"


def test_stereo_of_many_channels_is_that_of_the_front_pair():
    sound = np.zeros((RATE, 8), np.float32)
    sound[:, 0], sound[:, 1] = tone(), -tone()  # FL, FR
    sound[:, 2:] = sounds.q(sounds.uniform(3, RATE, 6) * 0.5)
    facts = measured(sound, "7.1")
    assert facts.audio_channel_correlation == -1.0
    assert facts.audio_side_dbfs == pytest.approx(facts.channels[0].rms_dbfs, abs=1e-12)
    assert front_pair(("FC", "FR", "LFE", "FL")) == (3, 1)
    assert front_pair(("FC", "FR", "LFE")) is None


# ----- loudness by place

# 997 Hz at full scale in one front channel is -3.01 LUFS (ITU-R BS.1770-4, annex 1).
ANCHOR = -3.01 + 20 * np.log10(0.5)
SURROUND = 10 * np.log10(1.41)


@pytest.mark.parametrize(
    ("layout", "position", "gain"),
    [
        ("mono", "FC", 0.0),
        ("stereo", "FL", 0.0),
        ("stereo", "FR", 0.0),
        ("5.0", "BL", SURROUND),
        ("5.0(side)", "SR", SURROUND),
        ("5.1", "FC", 0.0),
        ("5.1", "BR", SURROUND),
        ("5.1(side)", "SL", SURROUND),
        ("quad", "BL", SURROUND),
        ("4.0", "BC", 0.0),
        ("6.1", "BC", 0.0),
        ("6.1", "SR", SURROUND),
        ("7.1", "SL", SURROUND),
        ("7.1", "BL", 0.0),
        ("7.1(wide)", "BR", SURROUND),
        ("7.1(wide)", "FLC", 0.0),
        ("22.2", "FL", SURROUND),
        ("22.2", "FLC", 0.0),
        ("22.2", "BL", 0.0),
        ("22.2", "TSL", 0.0),
        ("downmix", "DL", 0.0),
    ],
)
def test_channel_counts_by_its_place(layout, position, gain):
    facts = one_channel_of(layout, position, tone(2.0))
    assert facts.audio_lufs == pytest.approx(ANCHOR + gain, abs=0.01)


def test_low_frequency_effects_do_not_count():
    facts = one_channel_of("5.1", "LFE", tone(2.0, frequency=60))
    assert facts.audio_lufs is facts.ungated_lufs is None
    assert reasons(facts)["audio_lufs"] == (
        "the channels that count for loudness are silent; low-frequency effects do not count"
    )
    assert facts.audio_rms_dbfs > -20


def test_mono_counts_once():
    both = measured(np.stack([tone(2.0)] * 2, axis=1)).audio_lufs
    assert measured(tone(2.0)).audio_lufs == pytest.approx(both - 10 * np.log10(2), abs=1e-9)


def test_unknown_layout_has_levels_and_no_loudness():
    sound = np.stack([tone()] * 3, axis=1)
    facts = measured(sound)
    assert facts.sound.layout == "unknown"
    assert facts.audio_lufs is None
    assert "channel_layout='5.1'" in reasons(facts)["audio_lufs"]
    assert facts.audio_true_peak_dbtp == pytest.approx(-6.02, abs=0.01)
    assert [channel.position for channel in facts.channels] == ["0", "1", "2"]
    assert np.isnan(facts.series.momentary_lufs).all()
    assert np.isfinite(facts.series.rms_dbfs).all()
    assert measured(sound, "2.1").audio_lufs is not None


def test_place_without_a_weight_is_named():
    reason = weights_of(("FL", "AMBI3"), RATE)
    assert reason == "channel AMBI3 has no weight in ITU-R BS.1770"


def test_sixty_four_channels_are_measured():
    sound = sounds.q(sounds.uniform(4, 24000, 64) * 0.1)
    facts = measured(sound)
    assert len(facts.channels) == 64
    power = np.square(sound.astype(np.float64)).mean(axis=0)
    found = [channel.rms_dbfs for channel in facts.channels]
    assert found == pytest.approx(10 * np.log10(power), abs=1e-9)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 48000, 192000, 384000])
def test_rate_changes_neither_level_nor_loudness_of_a_tone(rate):
    """1 kHz lies on the flat part of the weighting, whose 0.69 dB there the scale takes back."""
    facts = measured(sounds.q(sounds.sine(1000, rate, 2 * rate, 0.5)), rate=rate)
    assert facts.audio_rms_dbfs == pytest.approx(-9.03, abs=0.01)
    assert facts.audio_lufs == pytest.approx(-9.03, abs=0.15 if rate < 16000 else 0.04)
    assert facts.audio_true_peak_dbtp == pytest.approx(-6.02, abs=0.1)
    assert facts.series.time_s[1] == pytest.approx(0.1, rel=0.003)


def test_rate_below_the_weighting_has_no_loudness():
    facts = measured(tone(rate=4000, frequency=500), rate=4000)
    assert reasons(facts)["audio_lufs"] == "at 4000 Hz: loudness is defined from 8000 Hz on"
    assert facts.audio_rms_dbfs == pytest.approx(-9.03, abs=0.01)


# ----- no value, and why


def test_short_silent_and_quiet_have_three_reasons():
    assert reasons(measured(tone(0.3)))["audio_lufs"] == (
        "0.30 s of sound; loudness needs blocks of 0.4 s"
    )
    silent = measured(np.zeros(RATE))
    assert reasons(silent)["audio_lufs"] == "silent: no sample is above -120 dBFS"
    assert silent.audio_rms_dbfs == silent.audio_peak_dbfs == silent.audio_true_peak_dbtp == -120.0
    assert silent.audio_max_silence_run == 1.0
    assert silent.loudest_s is None
    quiet = measured(tone(amplitude=10**-3.9))
    assert quiet.audio_lufs is None
    assert quiet.ungated_lufs == pytest.approx(20 * -3.9 - 3.01, abs=0.02)
    assert reasons(quiet)["audio_lufs"] == (
        "every block is below the gate of -70 LUFS; ungated loudness is -81.0 LUFS"
    )


def test_block_of_400_ms_is_enough():
    assert measured(tone(0.4)).audio_lufs == pytest.approx(ANCHOR, abs=0.05)
    assert measured(tone(0.5)).audio_lufs == pytest.approx(ANCHOR, abs=0.05)


def test_silent_stereo_is_no_separation():
    facts = measured(np.zeros((RATE, 2)))
    assert facts.audio_side_dbfs == -120.0
    assert (facts.audio_stereo_separation_db, facts.audio_channel_correlation) == (0.0, 1.0)
    assert set(reasons(facts)) == {"audio_lufs", "audio_spectral_flatness"}


def test_loudness_range_needs_three_seconds():
    assert measured(tone(2.9)).loudness_range_lu is None
    assert measured(tone(3.0)).loudness_range_lu == 0.0


@pytest.mark.parametrize("samples", [2, 5])
def test_few_samples_have_levels(samples):
    facts = measured(np.full(samples, 0.5))
    assert facts.samples == samples
    assert facts.audio_rms_dbfs == pytest.approx(-6.0206, abs=1e-4)
    assert facts.series.rms_dbfs.size == 1
    assert facts.audio_spectral_flatness is not None


def test_one_sample_has_a_level_and_no_spectrum():
    """The window of a frame begins with 0."""
    facts = measured([0.5])
    assert facts.audio_rms_dbfs == pytest.approx(-6.0206, abs=1e-4)
    assert facts.audio_silence_fraction == 0.0
    assert reasons(facts)["audio_spectral_flatness"] == "no frame of 1024 samples holds anything"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_sample_that_is_no_number_is_named_and_nothing_else_is_measured(value):
    sound = np.stack([tone(2.0)] * 2, axis=1)
    sound[72000, 1] = value
    sound[90000, 0] = value
    facts = measured(sound)
    assert (facts.non_finite, facts.first_non_finite_s) == (2, 1.5)
    assert set(reasons(facts).values()) == {
        "2 of the samples are NaN or infinite, the first at 1.500 s: nothing else is measured"
    }
    assert set(reasons(facts)) == {spec.name for spec in METRICS}
    assert facts.series is None
    assert facts.channels == ()


def test_no_sound_and_no_samples_are_errors_and_two_of_them(studio):
    with pytest.raises(MediaError) as error:
        measured(np.zeros((0, 2)))
    assert error.value.code == "no_samples"
    with pytest.raises(MediaError) as error:
        measure_audio(studio.a_mp4())
    assert error.value.code == "no_audio_stream"


# ----- moments


def test_series_has_a_row_for_each_tenth_and_the_last_may_be_short():
    sound = np.concatenate([tone(1.0), np.zeros(2400, np.float32)])
    series = measured(sound).series
    assert series.time_s == pytest.approx(np.arange(11) / 10)
    assert series.rms_dbfs[:10] == pytest.approx(np.full(10, -9.03), abs=0.02)
    assert series.rms_dbfs[10] == series.peak_dbfs[10] == -120.0
    assert np.isnan(series.momentary_lufs[:3]).all()
    assert np.isfinite(series.momentary_lufs[3:]).all()
    assert np.isnan(series.short_term_lufs).all()


def test_largest_moment_may_lie_between_the_tenths():
    sound = np.zeros(2 * RATE, np.float32)
    sound[25000 : 25000 + 19200] = tone(0.4)
    facts = measured(sound)
    assert facts.momentary_max_lufs == pytest.approx(ANCHOR, abs=0.1)
    assert np.nanmax(facts.series.momentary_lufs) < facts.momentary_max_lufs - 0.1


# ----- the accumulator


def info_of(samples, rate=RATE):
    with read_audio(samples, sample_rate=rate) as sound:
        return sound.info


@pytest.fixture(scope="module")
def programme():
    return sounds.q(sounds.music(RATE, 3.21, 9) * 3.0)


@pytest.fixture(scope="module")
def programme_facts(programme):
    return measured(programme)


@pytest.mark.parametrize("size", [1, 17, 480, 4800, 48000, 200000])
def test_blocks_of_any_size_give_the_same_bits(programme, programme_facts, size):
    part = programme[: 4000 if size == 1 else None]
    accumulator = AudioAccumulator(info_of(part))
    for start in range(0, len(part), size):
        accumulator.push(part[start : start + size])
    assert accumulator.finish() == (measured(part) if size == 1 else programme_facts)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_change_no_bit(programme, programme_facts, threads):
    assert measured(programme, threads=threads) == programme_facts


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_instruction_sets_change_no_bit(programme, programme_facts, level, monkeypatch):
    from screentest import _native

    if level not in _native.simd_levels():
        pytest.skip(f"this CPU has no {level}")
    monkeypatch.setenv("SCREENTEST_SIMD", level)
    assert measured(programme) == programme_facts


def test_block_of_other_channels_or_order_is_refused(programme):
    accumulator = AudioAccumulator(info_of(programme))
    for block in (programme[:, :1].copy(), programme[::2], np.zeros((4, 3), np.float32)):
        with pytest.raises(InputError) as error:
            accumulator.push(block)
        assert error.value.code == "bad_block"
    accumulator.push(programme)
    accumulator.finish()
    with pytest.raises(InputError, match="finished"):
        accumulator.finish()


def test_nothing_pushed_has_no_samples(programme):
    facts = AudioAccumulator(info_of(programme)).finish()
    assert set(reasons(facts).values()) == {"the sound has no samples"}
    assert len(facts.unmeasured) == len(METRICS)


def test_damage_of_the_source_is_among_the_facts(programme):
    damage = Damage(kind="missing_samples", detail="a hole of 20 ms", time_s=1.0)
    accumulator = AudioAccumulator(info_of(programme))
    accumulator.push(programme)
    assert accumulator.finish([damage]).damage == (damage,)


def test_hour_of_sound_is_as_loud_as_its_minute():
    """Pushed block by block, the way a long file comes."""
    info = SoundInfo(
        source="made", kind="array", sample_rate_hz=8000, channels=1, layout="mono",
        positions=("FC",),
    )  # fmt: skip
    minute = sounds.q(sounds.music(8000, 60.0, 10, 1))
    facts = []
    for minutes in (1, 60):
        accumulator = AudioAccumulator(info)
        for _ in range(minutes):
            accumulator.push(minute)
        facts.append(accumulator.finish())
    short, long = facts
    assert long.samples == 60 * short.samples
    assert long.series.time_s.size == 36000
    assert long.series.time_s[-1] == pytest.approx(3599.9)
    for name in ("audio_rms_dbfs", "audio_lufs", "audio_spectral_flatness"):
        assert getattr(long, name) == pytest.approx(getattr(short, name), abs=1e-3), name


def test_facts_pickle_and_compare():
    facts = measured(tone())
    assert pickle.loads(pickle.dumps(facts)) == facts
    assert facts != measured(tone(amplitude=0.4))


def test_every_metric_is_a_fact_in_its_bounds(programme_facts):
    for spec in METRICS:
        value = getattr(programme_facts, spec.name)
        low, high = spec.bounds
        assert low is None or value >= low, spec.name
        assert high is None or value <= high, spec.name
        assert registry.spec(spec.name) is spec
