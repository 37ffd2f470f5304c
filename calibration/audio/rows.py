"""The sounds behind the audio limits, by finding and population, and one measured row of each."""

from collections.abc import Iterator

import numpy as np

from calibration.audio import material as m
from calibration.integrity.rows import rounded
from screentest.metrics.audio import measure_audio
from screentest.verdicts.audio import judge_audio

__all__ = ["COLUMNS", "FINDINGS", "judged", "rows"]

FINDINGS = {
    "level": ("silent", "quiet"),
    "clipping": ("clipped", "true_peak"),
    "silence": ("dropout", "silence_run"),
    "offset": ("dc_offset",),
    "dual mono": ("dual_mono",),
    "dead channel": ("dead_channel", "silent_channel"),
    "phase": ("inverted_phase",),
}
"""What the verdict may say on each subject."""

COLUMNS = {
    "level": ("rms", "loudest"),
    "clipping": ("clip", "true_peak"),
    "silence": ("run", "edge"),
    "offset": ("dc",),
    "dual mono": ("separation",),
    "dead channel": ("quietest", "rms"),
    "phase": ("correlation",),
}
"""The numbers that each of them is about."""

PUSHES = (3, 6, 9, 12, 18)
"""In dB, of a sound whose largest sample is at -1 dBFS."""

TAILS = (10, 20, 24, 30, 50, 75)
"""In percent of the sound."""


def rows() -> Iterator[dict]:
    for subject, group, bad, cases in (
        ("level", "turned down to inaudible", True, lambda: _turned_down(35, 40, 60)),
        ("level", "turned down", False, lambda: _turned_down(20, 24, 28)),
        ("clipping", "pushed beyond full scale", True, _pushed),
        ("clipping", "pushed, then coded", True, _pushed_coded),
        ("silence", "a dead end", True, _dead_ends),
        ("silence", "a dead end, coded", True, _dead_ends_coded),
        ("silence", "cut off at any moment", True, _cuts),
        ("silence", "cut off at any moment, coded", True, _cuts_coded),
        ("silence", "a hole", True, _holes),
        ("silence", "a dead beginning", True, _dead_starts),
        ("silence", "endings and pauses that were meant", False, _endings),
        ("silence", "sentences, then nothing", False, _sentences),
        ("silence", "fades of any kind", False, _fades),
        ("offset", "an offset", True, lambda: _offsets(0.011, 0.02, 0.05, 0.2)),
        ("offset", "a small offset", False, lambda: _offsets(0.002, 0.005, 0.009)),
        ("offset", "short low tones", False, _low_tones),
        ("dual mono", "one sound in two channels", True, _dual),
        ("dead channel", "right is dead", True, _dead),
        ("dead channel", "sounds to one side", False, _sides),
        ("phase", "right is inverted", True, _inverted),
        ("phase", "wide stereo", False, _wide),
    ):
        for clip, x, *rate in cases():
            yield judged(subject, group, clip, x, (rate or [m.RATE])[0], bad=bad)
    for group, cases in (
        ("ambience", _ambience),
        ("music", _music),
        ("loud masters", _masters),
        ("loud masters, coded", _masters_coded),
        ("speech", _speech),
        ("knocks in rooms", _knocks),
        ("coded", _coded),
        ("real", _real),
    ):
        for clip, x, *rate in cases():
            for subject in FINDINGS:
                yield judged(subject, group, clip, x, (rate or [m.RATE])[0], bad=False)


_LAST = None


def _facts(x, rate):
    """The facts of the sound asked for last are kept: seven subjects ask for the same."""
    global _LAST
    if _LAST is None or _LAST[0] is not x:
        layout = {6: "5.1"}.get(x.shape[1])
        options = {} if layout is None else {"channel_layout": layout}
        facts = measure_audio(x.astype(np.float32), sample_rate=rate, **options)
        _LAST = (x, facts)
    return _LAST[1]


def judged(subject, group, clip, x, rate=m.RATE, *, bad):
    """``bad`` says whether the subject ought to be named."""
    facts = _facts(x, rate)
    judgement = judge_audio(facts)
    found = [d for d in judgement.defects if d.code in FINDINGS[subject]]
    values = {
        "rms": facts.audio_rms_dbfs,
        "loudest": float(np.max(facts.series.rms_dbfs)),
        "true_peak": facts.audio_true_peak_dbtp,
        "clip": 1e6 * facts.audio_clip_fraction,
        "run": facts.audio_max_silence_run,
        "edge": facts.silence_edge_dbfs and np.subtract(*facts.silence_edge_dbfs[::-1]),
        "dc": 1e3 * facts.audio_dc_offset,
        "separation": facts.audio_stereo_separation_db,
        "correlation": facts.audio_channel_correlation,
        "quietest": min(c.rms_dbfs for c in facts.channels),
    }
    severities = [d.severity for d in found]
    said = "reject" if "reject" in severities else "warn" if severities else "pass"
    return {
        "axis": subject,
        "group": group,
        "clip": clip,
        "bad": bad,
        "said": said,
        "verdict": judgement.verdict,
        "codes": [d.code for d in judgement.defects],
        "values": {name: rounded(values[name]) for name in COLUMNS[subject]},
    }


def _of(sources, *names):
    return ((name, sources[name]) for name in names or sources)


# ------------------------------------------------------------------------------------- planted


def _turned_down(*steps):
    for name, x in m.sources().items():
        for db in steps:
            yield f"{name}, by {db} dB", m.int16(m.level(x, -20) * 10 ** (-db / 20))


def _pushed():
    for name, x in m.sources().items():
        for db in PUSHES:
            yield f"{name}, by {db} dB", m.pushed(m.peak(x, -1), db)


def _pushed_coded():
    for name in ("notes", "speech", "ambience"):
        for db in PUSHES:
            for coder in ("aac 128k", "opus 96k", "mp3 128k"):
                x = m.coded(m.pushed(m.peak(m.sources()[name], -1), db), coder)
                yield f"{name}, by {db} dB, {coder}", x


def _dead_ends():
    for name, x in m.sources().items():
        for percent in TAILS:
            yield f"{name}, {percent} %", m.silenced(x, 1 - percent / 100, 1)


def _dead_ends_coded():
    for name, x in m.sources().items():
        for coder in ("aac 128k", "opus 96k", "mp3 128k"):
            yield f"{name}, 30 %, {coder}", m.coded(m.silenced(x, 0.7, 1), coder)


def _moments(seed, count):
    """Shares of the length that lie on no grid."""
    return m.rng(seed).uniform(0.25, 0.7, count)


def _cuts():
    for at, (name, x) in enumerate(m.sources().items()):
        for moment in _moments(at, 24):
            yield f"{name}, at {moment * len(x) / m.RATE:.3f} s", m.silenced(x, moment, 1)


def _cuts_coded():
    for at, (name, x) in enumerate(m.sources().items()):
        for moment in _moments(90 + at, 4):
            for coder in ("aac 128k", "opus 96k", "mp3 128k"):
                said = f"{name}, at {moment * len(x) / m.RATE:.3f} s, {coder}"
                yield said, m.coded(m.silenced(x, moment, 1), coder)


def _holes():
    for name, x in m.sources().items():
        for start, end in ((0.3, 0.6), (0.333, 0.633), (0.2, 0.7)):
            yield f"{name}, {100 * start:.0f} to {100 * end:.0f} %", m.silenced(x, start, end)


def _dead_starts():
    for name, x in m.sources().items():
        for percent in (30, 50):
            yield f"{name}, {percent} %", m.silenced(x, 0, percent / 100)


def _offsets(*offsets):
    for name, x in m.sources().items():
        for offset in offsets:
            yield f"{name}, {offset:g}", x + np.array([offset, 0])


def _dual():
    for name, x in m.sources().items():
        yield name, m.mono(x)
        for coder in m.CODERS:
            yield f"{name}, {coder}", m.coded(m.mono(x), coder)


def _dead():
    for name, x in m.sources().items():
        yield name, m.dead(x)
        for coder in m.CODERS:
            yield f"{name}, {coder}", m.coded(m.dead(x), coder)


def _inverted():
    for name, x in m.sources().items():
        yield name, m.inverted(x)
        for coder in m.CODERS:
            yield f"{name}, {coder}", m.coded(m.inverted(x), coder)


# ------------------------------------------------------------------------------------- meant so


def _endings():
    for seed in m.SEEDS:
        for fade in (0.3, 1.0, 2.0):
            x = m.notes(seed)
            yield f"notes faded out in {fade:g} s, seed {seed}", m.faded(x, 1.0, fade)
            x = m.ambience(seed)
            yield f"ambience faded out in {fade:g} s, seed {seed}", m.faded(x, 1.0, fade)
    for voice in m.VOICES:
        words = m.spoken(voice, "The birch canoe slid on the smooth planks.")
        yield f"{voice} in nothing, then nothing", np.repeat(m.padded(words, 6.0), 2, axis=1)
        yield f"{voice} in a room, then nothing", m.int16(m.room(m.padded(words, 6.0), 5, -90))
        gap = np.concatenate([words, np.zeros((2 * m.RATE, 1)), words])
        yield f"{voice} twice, 2 s of nothing between", np.repeat(gap, 2, axis=1)
    for decay in (0.1, 0.3, 0.8, 2.0):
        for at in (0.1, 2.0, 4.0):
            yield f"one knock at {at:g} s, decay {decay:g} s", m.knocks([at], 5, decay)
        yield f"two knocks, decay {decay:g} s", m.knocks([0.5, 3.0], 7, decay)
    for start in (0.5, 1.0):
        x = m.silenced(m.notes(3), 0, start / 5)
        yield f"notes that begin at {start:g} s", x


def _sentences():
    """Each at four places against the blocks that silence is looked for in."""
    for voice in m.VOICES:
        for text in m.SENTENCES:
            words = m.spoken(voice, text)
            for late in (0, 13, 27, 41):
                lead = np.zeros((late * m.RATE // 1000, 1))
                x = m.padded(np.concatenate([lead, words]), 2 * len(words) / m.RATE + 1)
                yield f"{voice}, {text!r}, {late} ms late", np.repeat(x, 2, axis=1)


def _fades():
    for seed in m.SEEDS:
        for fade in (0.05, 0.1, 0.2, 0.3, 0.5, 1.0):
            start = m.rng(seed + round(100 * fade)).uniform(0.8, 1.5)
            for name, x in (("notes", m.notes(seed)), ("ambience", m.ambience(seed))):
                said = f"{name}, from {start:.3f} s in {fade:g} s, seed {seed}"
                yield f"{said}, in dB", m.faded(x, start, fade)
                at = np.arange(len(x)) / m.RATE
                ramp = np.clip(1 - (at - start) / fade, 0, 1)
                yield f"{said}, even", m.int16(x * ramp[:, None])


def _low_tones():
    for hertz in (20, 25, 31, 40):
        for seconds in (0.11, 0.3, 0.6, 1.0, 2.13):
            t = np.arange(round(seconds * m.RATE)) / m.RATE
            x = 0.5 * np.sin(2 * np.pi * hertz * t) * np.minimum(1, t / 0.005)
            yield f"{hertz} Hz for {seconds:g} s", np.stack([x, x * 0.9], axis=1)


def _sides():
    """One instrument as far to one side as a desk's pan goes, and ambience that leans."""
    for seed in m.SEEDS:
        x = m.notes(seed)
        for db in (6, 20, 35):
            yield f"notes, right {db} dB lower, seed {seed}", x * np.array([1, 10 ** (-db / 20)])
        quiet = m.ambience(seed, -46)
        yield f"ambience at -46, right 20 dB lower, seed {seed}", quiet * np.array([1, 0.1])


def _wide():
    for seed in m.SEEDS:
        x = m.coloured(5, seed, 3)
        middle, side = x.mean(axis=1), (x[:, 0] - x[:, 1]) / 2
        for share in (0.3, 0.6, 1.0):
            wide = np.stack([share * middle + side, share * middle - side], axis=1)
            yield f"noise, middle at {share:g}, seed {seed}", m.level(wide, -24)


# ------------------------------------------------------------------------------------- good


def _ambience():
    for dbfs in (-16, -24, -32, -40, -46):
        for slope in (0.0, 3.0, 6.0):
            for seed in m.SEEDS:
                x = m.int16(m.ambience(seed, dbfs, slope))
                yield f"{dbfs} dBFS, {slope:g} dB an octave, seed {seed}", x


def _music():
    for seed in m.SEEDS:
        for bass in (30.0, 55.0, 110.0):
            yield f"notes over {bass:g} Hz, seed {seed}", m.notes(seed, bass=bass)
        for rate in (16000, 32000, 44100, 96000):
            yield f"notes at {rate} Hz, seed {seed}", m.notes(seed, rate=rate), rate
    yield "partials", m.sources()["partials"]


def _masters():
    for seed in m.SEEDS:
        for drive in (3, 6, 9):
            yield f"notes, driven by {drive} dB, seed {seed}", m.mastered(m.notes(seed), drive)


def _masters_coded():
    for seed in m.SEEDS:
        for drive in (3, 6, 9):
            for coder in m.CODERS:
                x = m.coded(m.mastered(m.notes(seed), drive), coder)
                yield f"notes, driven by {drive} dB, {coder}, seed {seed}", x


def _speech():
    for voice in m.VOICES:
        yield f"{voice}, mono", m.spoken(voice)
        yield f"{voice}, in a room", m.room(m.spoken(voice), 5)


def _knocks():
    for decay in (0.1, 0.3, 0.8):
        for seed in m.SEEDS:
            times = np.sort(m.rng(seed).uniform(0.1, 4.8, 9))
            yield f"decay {decay:g} s, seed {seed}", m.knocks(times, seed, decay)
            x = m.knocks(times, seed, decay) + m.ambience(seed, -52)
            yield f"decay {decay:g} s, over ambience, seed {seed}", x


def _coded():
    for name, x in m.sources().items():
        for coder in m.CODERS:
            yield f"{name}, {coder}", m.coded(m.peak(x, -3), coder)


def _real():
    x, rate = m.soundtrack()
    yield "bigbuckbunny, 5.1", x, rate
    yield "bigbuckbunny, front channels", x[:, :2], rate
    down = x[:, :2] + 0.7 * x[:, 2:3] + 0.7 * x[:, 4:6]
    yield "bigbuckbunny, mixed to stereo", down, rate
    for coder in m.CODERS:
        yield f"bigbuckbunny, mixed to stereo, {coder}", m.coded(down, coder, rate), rate
