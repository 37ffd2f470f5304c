"""Drawings of sounds: what stands where, and that a file is whole or absent."""

import builtins

import numpy as np
import pytest
from PIL import Image

from screentest.errors import MissingBackendError
from screentest.listening import audio_verdict, draw_sound
from screentest.media import read_audio
from screentest.reports.overlay import sound_panels as panels
from screentest.reports.overlay import sound_sheet
from screentest.reports.overlay.sound_view import view

RATE = 48000


def tone(hertz, seconds=2.0, amplitude=0.5, rate=RATE):
    t = np.arange(round(seconds * rate)) / rate
    x = amplitude * np.sin(2 * np.pi * hertz * t)
    return np.stack([x, 0.5 * x], axis=1).astype(np.float32)


def seen(samples, columns=100, shift=0, length=None, rate=RATE):
    sound = read_audio(samples, sample_rate=rate)
    return view(sound, columns, len(samples) if length is None else length, shift)


class TestView:
    @pytest.mark.parametrize("columns", [1, 7, 100, 997])
    @pytest.mark.parametrize("count", [1000, 48_000, 100_003])
    def test_a_column_spans_its_smallest_and_largest_sample(self, columns, count):
        samples = np.random.default_rng(3).uniform(-1, 1, (count, 2)).astype(np.float32)
        drawn = seen(samples, columns)
        place = np.arange(count) * columns // count
        for column in {0, columns // 2, columns - 1}:
            part = samples[place == column]
            np.testing.assert_array_equal(drawn.low[:, column], part.min(axis=0))
            np.testing.assert_array_equal(drawn.high[:, column], part.max(axis=0))

    def test_a_sound_shorter_than_the_columns_has_one_a_sample(self):
        drawn = seen(tone(1000)[:40], 100)
        assert drawn.low.shape == (2, 40)
        np.testing.assert_array_equal(drawn.low, tone(1000)[:40].T)

    def test_a_tone_is_strongest_in_its_bin_with_its_own_power(self):
        drawn = seen(tone(6000), 100)
        spectrum = drawn.power[0].mean(axis=0)
        assert int(spectrum.argmax()) == 128
        assert 10 * np.log10(spectrum.max()) == pytest.approx(-6.02, abs=0.1)

    @pytest.mark.parametrize("shift", [1200, -1200])
    def test_a_shift_moves_the_sound_along_the_columns(self, shift):
        samples = tone(1000)
        samples[:2400] = 0
        loud = np.abs(seen(samples, 80, shift, len(samples)).high[0]) > 0.01
        assert int(loud.argmax()) == (2400 + shift) // (len(samples) // 80)

    def test_more_than_two_channels_are_drawn_as_their_mean(self):
        samples = np.repeat(tone(1000)[:, :1], 6, axis=1)
        sound = read_audio(samples, sample_rate=RATE, channel_layout="5.1")
        drawn = view(sound, 50, len(samples))
        assert drawn.names == ("mean of 6 channels",)
        assert drawn.high.max() == pytest.approx(0.5, abs=1e-3)

    def test_nan_is_drawn_as_nothing(self):
        samples = tone(1000)
        samples[500] = np.nan
        drawn = seen(samples)
        assert np.isfinite(drawn.power).all()
        assert np.isfinite(drawn.low).all()


class TestPanels:
    @pytest.mark.parametrize("hertz", [250, 1000, 4000, 12000])
    def test_a_tone_stands_at_its_height(self, hertz):
        drawn = seen(tone(hertz))
        rows = panels.spectrogram_rows(drawn.power[0], RATE, 200).mean(axis=1)
        expected = (1.0 - panels.height_of(hertz, RATE)) * 200
        assert int(rows.argmax()) == pytest.approx(expected, abs=3)

    def test_pitch_is_even_in_mel(self):
        """1000 mel are 1000 Hz, and the axis ends at half the rate."""
        assert panels.height_of(24_000, RATE) == 1.0
        assert panels.height_of(1000, RATE) == pytest.approx(999.99 / 3985.0, abs=2e-3)
        assert panels.hertz_ticks(8000) == [125, 250, 500, 1000, 2000]

    def test_louder_is_lighter(self):
        colours = panels.power_colours(np.linspace(-110, -10, 50)).astype(int)
        grey = colours @ np.array([299, 587, 114])
        assert (np.diff(grey) > 0).all()

    def test_lost_is_blue_and_added_is_orange(self):
        lost, same, added = panels.change_colours(np.array([-24.0, 0.0, 24.0])).astype(int)
        assert lost[2] > lost[0]
        assert added[0] > added[2]
        assert max(same) < 48

    def test_a_full_scale_column_has_its_own_colour(self):
        low, high = np.full(10, -0.5), np.full(10, 0.5)
        full = np.arange(10) == 4
        panel = panels.waveform_panel(low, high, full, (10, 40), (0, 0, 255), (255, 0, 0))
        pixels = np.asarray(panel)
        assert tuple(pixels[20, 4]) == (255, 0, 0)
        assert tuple(pixels[20, 3]) == (0, 0, 255)
        # Half of full scale takes half of the panel.
        inked = (pixels[:, 3] == (0, 0, 255)).all(axis=1).sum()
        assert inked == pytest.approx(18, abs=2)


@pytest.fixture
def cut():
    """Half a second of nothing at the end of two."""
    samples = tone(440) + tone(1000, amplitude=0.2)[:, ::-1]
    samples[72_000:] = 0
    return samples


class TestSheet:
    def test_a_place_that_is_pointed_at_is_edged_through_all_panels(self, cut):
        result = audio_verdict(np.concatenate([cut, 0 * cut]), sample_rate=RATE)
        (defect,) = (d for d in result.defects if d.seconds is not None)
        assert defect.seconds == (1.5, 4.0)
        sound = read_audio(np.concatenate([cut, 0 * cut]), sample_rate=RATE)
        sheet = np.asarray(sound_sheet.draw_sound_sheet(result, sound)).astype(int)
        column = round(sound_sheet._LEFT + 1.5 / 4.0 * sound_sheet._PLOT)
        orange = sheet[:, :, 0] - sheet[:, :, 2] > 80
        assert orange[150:500, column].mean() > 0.9
        assert orange[150:500, column + 40].mean() < 0.1

    def test_words_about_the_whole_sound_are_written_on_their_bar(self, monkeypatch):
        """A bar from end to end leaves no room beside it."""
        hush = 0 * tone(440)
        result = audio_verdict(hush, sample_rate=RATE)
        assert result.defects[0].seconds == (0.0, 2.0)
        written = []

        def kept(pen, at, words, size, **options):
            written.append((words, at[0], options.get("most")))
            return real(pen, at, words, size, **options)

        real = sound_sheet.text
        monkeypatch.setattr(sound_sheet, "text", kept)
        sound_sheet.draw_sound_sheet(result, read_audio(hush, sample_rate=RATE))
        ((words, x, most),) = [w for w in written if w[0].startswith("silent: ")]
        assert x >= sound_sheet._LEFT
        assert most >= sound_sheet.text_width(words, sound_sheet._SIZE)

    def test_the_reference_is_drawn_below_with_the_change_between(self, cut):
        whole = tone(440) + tone(1000, amplitude=0.2)[:, ::-1]
        options = {"sample_rate": RATE}
        result = audio_verdict(cut, whole, **options)
        alone = sound_sheet.draw_sound_sheet(result, read_audio(cut, **options))
        both = sound_sheet.draw_sound_sheet(
            result, read_audio(cut, **options), read_audio(whole, **options)
        )
        assert alone.width == both.width == 1296
        rows = 2 * (sound_sheet._WAVE + sound_sheet._SPECTRUM + 2 * sound_sheet._GAP)
        change = sound_sheet._TITLE + sound_sheet._CHANGE + sound_sheet._GAP
        assert both.height - alone.height == rows + change + sound_sheet._TITLE

    @pytest.mark.parametrize("seconds", [0.01, 0.3, 90.0])
    def test_any_length_can_be_drawn(self, seconds, tmp_path):
        samples = tone(440, seconds, rate=8000)
        result = audio_verdict(samples, sample_rate=8000)
        draw_sound(result, samples, tmp_path / "out.png", sample_rate=8000)
        with Image.open(tmp_path / "out.png") as picture:
            assert picture.size[0] == 1296

    def test_a_late_candidate_and_its_reference_stand_one_below_the_other(self):
        noise = np.random.default_rng(5).standard_normal((RATE, 2)).astype(np.float32) * 0.1
        late = np.concatenate([np.zeros((1200, 2), np.float32), noise])
        result = audio_verdict(late, noise, sample_rate=RATE)
        assert result.pair is not None
        assert result.pair.audio_align_lag_ms == pytest.approx(25.0)
        drawn = {}

        def kept(sound, columns, samples, shift=0):
            drawn[shift] = view(sound, columns, samples, shift)
            return drawn[shift]

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sound_sheet, "view", kept)
            sound_sheet.draw_sound_sheet(
                result, read_audio(late, sample_rate=RATE), read_audio(noise, sample_rate=RATE)
            )
        ours, theirs = drawn[0], drawn[1200]
        np.testing.assert_array_equal(ours.high[:, 40:], theirs.high[:, 40:])

    def test_without_pillow_the_extra_is_named(self, cut, monkeypatch):
        result = audio_verdict(cut, sample_rate=RATE)
        real = builtins.__import__

        def refusing(name, *rest, **more):
            if name.startswith("PIL"):
                raise ImportError(name)
            return real(name, *rest, **more)

        monkeypatch.setattr(builtins, "__import__", refusing)
        with pytest.raises(MissingBackendError, match=r"screentest\[report\]"):
            sound_sheet.draw_sound_sheet(result, read_audio(cut, sample_rate=RATE))

    def test_a_failed_write_leaves_the_file_that_was_there(self, cut, tmp_path, monkeypatch):
        path = tmp_path / "out.png"
        path.write_bytes(b"before")
        result = audio_verdict(cut, sample_rate=RATE)
        monkeypatch.setattr(
            Image.Image, "save", lambda *_, **__: (_ for _ in ()).throw(OSError(28))
        )
        with pytest.raises(OSError, match="28"):
            draw_sound(result, cut, path, sample_rate=RATE)
        assert path.read_bytes() == b"before"
