"""What a pair of sounds reads where the answer is known beforehand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screentest._native import AudioPair, LagSearch, LoudnessMeter, simd_levels
from screentest.errors import InputError, ProtocolError
from screentest.media import read_audio
from screentest.metrics.audio_pair import METRICS, measure_audio_pair

RATE = 16000


def noise(seconds, channels=2, seed=0, amplitude=0.5, rate=RATE):
    random = np.random.default_rng(seed)
    shape = (round(seconds * rate), channels)
    return (amplitude * random.uniform(-1, 1, shape)).astype(np.float32)


def late(sound, samples):
    """Begins with silence, or lacks its beginning."""
    if samples < 0:
        return sound[-samples:]
    return np.concatenate([np.zeros((samples, sound.shape[1]), np.float32), sound])


def measured(reference, candidate, rate=RATE, **options):
    return measure_audio_pair(reference, candidate, sample_rate=rate, **options)


@given(lag=st.integers(-800, 800), sign=st.sampled_from([1, -1]), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_lag_has_the_sign_of_lateness_and_the_polarity_is_told(lag, sign, seed):
    sound = noise(1.2, seed=seed)
    facts = measured(sound, sign * late(sound, lag))
    assert facts.audio_align_lag_ms == 1000 * lag / RATE
    assert facts.polarity == ("same" if sign > 0 else "inverted")
    assert facts.lag_at_bound == (abs(lag) == 800)
    assert facts.audio_si_sdr == 99.0


def test_a_lag_beyond_the_search_does_not_correlate():
    sound = noise(3.0)
    facts = measured(sound, late(sound, 1200))
    assert abs(facts.lag_correlation) < 0.05
    assert facts.lag_bound_ms == 50.0
    assert facts.audio_si_sdr < -20.0


def test_a_steady_tone_has_the_smallest_of_its_lags():
    tone = np.sin(2 * np.pi * 500 * np.arange(RATE) / RATE).astype(np.float32)[:, None]
    # A millisecond later it is the same tone inverted, two later the same again.
    assert measured(tone, tone).audio_align_lag_ms == 0.0
    assert measured(tone[: RATE // 2], -tone[: RATE // 2]).audio_align_lag_ms == 0.0


def test_half_the_level_is_six_decibels_of_everything_but_si_sdr():
    sound = noise(2.0)
    facts = measured(sound, sound * np.float32(0.5))
    six = 20 * math.log10(2)
    assert facts.audio_si_sdr == 99.0
    assert facts.audio_snr_db == pytest.approx(six, abs=1e-6)
    assert facts.audio_lsd_db == pytest.approx(six, abs=1e-6)
    assert facts.audio_mel_l1 == pytest.approx(math.log(2), abs=1e-6)
    assert facts.audio_lufs_delta == pytest.approx(-six, abs=1e-6)


def test_the_second_that_is_worst_and_its_channel_are_found_in_both_sounds():
    reference = noise(6.0)
    damaged = reference.copy()
    damaged[3 * RATE : 4 * RATE, 1] += noise(1.0, 1, seed=9, amplitude=0.3)[:, 0]
    facts = measured(reference, late(damaged, 160))
    assert facts.audio_align_lag_ms == 10.0
    assert [worst.metric for worst in facts.worst] == [
        "audio_si_sdr",
        "audio_snr_db",
        "audio_lsd_db",
        "audio_mel_l1",
    ]
    for worst in facts.worst:
        assert worst.seconds == pytest.approx((3.01, 4.01))
        assert worst.reference_seconds == pytest.approx((3.0, 4.0))
        assert worst.position == "FR"
    series = facts.series
    assert series.time_s.tolist() == pytest.approx([0.01, 1.01, 2.01, 3.01, 4.01, 5.01])
    assert np.flatnonzero(series.snr_db < 99).tolist() == [3]
    assert np.flatnonzero(series.lsd_db > 1).tolist() == [3]
    left, right = facts.channels
    assert (left.position, left.si_sdr_db, left.lsd_db) == ("FL", 99.0, 0.0)
    assert right.si_sdr_db < 25.0


def test_what_is_below_hearing_is_not_the_second_to_listen_to():
    reference = noise(4.0)
    reference[: 2 * RATE] = 0.0
    hiss = noise(2.0, seed=3, amplitude=1e-4)
    candidate = reference.copy()
    candidate[: 2 * RATE] = hiss
    candidate[3 * RATE :] *= np.float32(0.9)
    facts = measured(reference, candidate)
    # Silence and hiss are 100 dB apart, and nobody hears it.
    assert facts.series.lsd_db[0] > 60.0
    assert {worst.seconds for worst in facts.worst if worst.metric != "audio_si_sdr"} == {
        (3.0, 4.0)
    }


def test_silence_in_both_is_unmeasured_and_never_perfect():
    silence = np.zeros((RATE, 2), np.float32)
    facts = measured(silence, silence)
    assert {gap.axis for gap in facts.unmeasured} == {spec.name for spec in METRICS}
    assert all(getattr(facts, spec.name) is None for spec in METRICS)
    assert facts.worst == ()


def test_a_channel_that_is_silent_in_both_has_no_values():
    sound = noise(1.0)
    sound[:, 1] = 0.0
    left, right = measured(sound, sound).channels
    assert left.si_sdr_db == 99.0
    assert (right.si_sdr_db, right.snr_db, right.lsd_db, right.mel_l1) == (None,) * 4


def test_a_constant_does_not_change_and_has_no_lag():
    constant = np.full((RATE, 1), 0.25, np.float32)
    facts = measured(constant, noise(1.0, 1))
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert reasons["audio_align_lag_ms"] == "the reference is a constant"
    assert facts.audio_si_sdr == -120.0


def test_a_pause_with_an_offset_in_both_is_no_second_to_listen_to():
    """A copy of it has no ratio of signal and distortion there: there is neither."""
    reference = noise(3.0, 1)
    reference[:RATE] = 0.005
    facts = measured(reference, reference)
    assert math.isnan(facts.series.si_sdr_db[0])
    assert facts.series.snr_db[0] == 99.0
    assert {(worst.metric, worst.value) for worst in facts.worst} == {
        ("audio_si_sdr", 99.0),
        ("audio_snr_db", 99.0),
        ("audio_lsd_db", 0.0),
        ("audio_mel_l1", 0.0),
    }
    assert {worst.seconds for worst in facts.worst} == {(1.0, 2.0)}


def test_constants_in_both_have_no_ratio_of_signal_and_distortion():
    facts = measured(np.full((RATE, 1), 0.5, np.float32), np.full((RATE, 1), 0.25, np.float32))
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    both = "the reference is a constant and the candidate is a constant"
    assert reasons["audio_align_lag_ms"] == both
    assert reasons["audio_si_sdr"] == f"where they overlap, {both}"
    assert facts.audio_snr_db == pytest.approx(20 * math.log10(2))


def test_channels_that_cancel_are_no_silence_and_are_compared_by_themselves():
    sound = noise(1.0, 1)
    cancelling = np.concatenate([sound, -sound], axis=1)
    facts = measured(cancelling, cancelling)
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    what = "the mean of the {}'s channels is digital silence"
    assert reasons["audio_align_lag_ms"] == " and ".join(
        what.format(name) for name in ("reference", "candidate")
    )
    assert [channel.si_sdr_db for channel in facts.channels] == [99.0, 99.0]


@pytest.mark.parametrize("offset", [0.0, 0.1, 0.9])
def test_distortion_far_below_an_offset_is_no_perfect_copy(offset):
    """The sums keep fifteen digits: a ratio that needs more reads low, and never 99."""
    rate, level = 48000, 1e-4
    random = np.random.default_rng(1)
    clean = (offset + level * random.uniform(-1, 1, rate)).astype(np.float32)
    hiss = level * 1e-4 * random.uniform(-1, 1, rate)
    damaged = (0.7 * clean + hiss).astype(np.float32)
    a, b = (x.astype(np.float64) - x.mean(dtype=np.float64) for x in (clean, damaged))
    signal = (a @ b) / (a @ a) * a
    true = 10 * np.log10((signal @ signal) / ((b - signal) @ (b - signal)))
    found = measured(clean, damaged, rate).audio_si_sdr
    assert found <= true + 0.1
    assert offset or found == pytest.approx(true, abs=1e-6)
    assert found > 55.0
    assert measured(clean, clean, rate).audio_si_sdr == 99.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_sample_that_is_no_number_leaves_nothing_measured_and_says_where(bad):
    broken = noise(2.0)
    broken[24_000, 1] = bad
    for pair, name in (((noise(2.0), broken), "candidate"), ((broken, noise(2.0)), "reference")):
        facts = measured(*pair)
        assert {gap.axis for gap in facts.unmeasured} == {spec.name for spec in METRICS}
        for gap in facts.unmeasured:
            assert gap.reason == f"the {name} holds NaN or infinite samples, from 1.500 s on"
        assert facts.audio_si_sdr is None


def test_sounds_of_two_rates_are_refused():
    fast, slow = (read_audio(noise(1.0), sample_rate=rate) for rate in (48000, 44100))
    with pytest.raises(ProtocolError, match="48000 samples per second, the candidate 44100") as e:
        measure_audio_pair(fast, slow)
    assert e.value.code == "different_rates"


def test_unlike_channel_counts_are_compared_as_a_programme():
    sound = noise(1.5, 1)
    facts = measured(sound, np.repeat(sound, 2, axis=1))
    assert (facts.audio_si_sdr, facts.channels) == (99.0, ())
    assert {worst.position for worst in facts.worst} == {None}


@pytest.mark.parametrize("seconds", [0.001, 0.009, 0.05, 0.3])
def test_short_sounds_have_values_down_to_a_millisecond(seconds):
    sound = noise(seconds)
    facts = measured(sound, sound * np.float32(0.5))
    assert facts.audio_align_lag_ms == 0.0
    assert facts.audio_snr_db == pytest.approx(20 * math.log10(2), abs=1e-6)
    assert facts.compared_s == pytest.approx(len(sound) / RATE)
    # Ten milliseconds overlap at least.
    assert facts.lag_bound_ms == pytest.approx(max(0, min(50, 1000 * len(sound) / RATE - 10)))
    reasons = {gap.axis: gap.reason for gap in facts.unmeasured}
    assert "reference has no loudness" in reasons["audio_lufs_delta"]


def test_what_one_sound_has_more_is_left_out_and_counted():
    sound = noise(3.5)
    facts = measured(sound, sound[: 2 * RATE + 100])
    assert (facts.reference_samples, facts.candidate_samples) == (56_000, 32_100)
    assert facts.compared_s == pytest.approx(32_100 / RATE)
    assert facts.audio_snr_db == 99.0


@pytest.mark.parametrize("longer", [0, 1])
def test_what_one_sound_has_more_is_not_kept(longer, monkeypatch):
    pushed = []

    class Counting:
        def __init__(self, *given, **options):
            self._pair = AudioPair(*given, **options)

        def push(self, *blocks):
            pushed.append(blocks)
            self._pair.push(*blocks)

        def finish(self):
            return self._pair.finish()

    monkeypatch.setattr("screentest.metrics.audio_pair.measure.AudioPair", Counting)
    sound = noise(9.0)
    for lag in (800, -800):
        pushed.clear()
        pair = [sound[: 3 * RATE], late(sound, lag)]
        facts = measured(*(pair if longer else pair[::-1]))
        assert facts.audio_si_sdr == 99.0
        assert facts.audio_align_lag_ms == (50.0 if (lag > 0) == bool(longer) else -50.0)
        # Of the shorter one all that the longer one has.
        assert facts.compared_s == (3.0 if lag > 0 else 2.95)
        assert len(pushed) == 4


def sums(reference, candidate, sizes, **options):
    pair = AudioPair((2, 2), RATE, lag=77, by_channel=True, **options)
    for sound, at in ((reference, 0), (candidate, 1)):
        for start in range(0, len(sound), sizes[at]):
            block = sound[start : start + sizes[at]]
            pair.push(*((block, None) if at == 0 else (None, block)))
    return pair.finish()


def test_threads_blocks_and_dispatch_levels_change_no_bit():
    reference = noise(2.7)
    candidate = late(reference, 77) + noise(2.7 + 77 / RATE, seed=4, amplitude=0.1)[:43_277]
    known = sums(reference, candidate, (43_200, 43_277))
    assert known.shape == (3, 3, 10)
    lags = set()
    for level in simd_levels():
        for threads in (1, 2, 8):
            for sizes in ((1000, 777), (16_000, 16_000), (43_200, 5)):
                if 5 in sizes and (threads, level) != (1, simd_levels()[0]):
                    continue
                found = sums(reference, candidate, sizes, threads=threads, simd=level)
                assert np.array_equal(found, known)
            for size in (999, 16_000):
                search = LagSearch(RATE, threads=threads, simd=level)
                for start in range(0, 43_200, size):
                    search.push(*(s[start : start + size] for s in (reference, candidate)))
                lags.add(search.finish())
    assert len(lags) == 1
    assert lags.pop()[0] == 77


def test_blocks_of_another_order_are_refused():
    sound = noise(0.1)
    with pytest.raises(InputError, match="C-contiguous"):
        LagSearch(RATE).push(sound[:, ::-1], sound)


def test_blocks_of_other_channels_are_refused():
    pair = AudioPair((2, 1), RATE)
    with pytest.raises(InputError, match="a block of 3 channels: expected 1") as error:
        pair.push(noise(0.1), noise(0.1, 3))
    assert error.value.code == "bad_block"
    with pytest.raises(InputError, match="a block of 1 channels: expected 2"):
        LoudnessMeter(RATE, ["one", "one"]).push(noise(0.1, 1))


def test_rates_that_no_sound_has_are_refused():
    for rate in (0, 15, 2**31):
        for refused in (LagSearch, lambda rate: AudioPair((1, 1), rate)):
            with pytest.raises(InputError, match="at 16 to 2822400 Hz") as error:
                refused(rate)
            assert error.value.code == "bad_sound"
