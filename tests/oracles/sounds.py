"""The sounds whose reference values stand in ``audio.json``, ``audio_pair.json`` and ``sync.json``.

Every sound is float32 of shape (N, C) in [-1, 1] with a sample rate. Every trigonometric value is
rounded onto the grid of 2^-23 before it is stored, so the arrays do not depend on the CPU or the
libm. The files of values hold the sha256 of each array (C order): compare it before any number.
Channel orders are FFmpeg's own; six channels are ``5.1``: L R C LFE Ls Rs.
"""

import math

import numpy as np

from tests.oracles.clips import rng, texture, to_u8

GRID = 1 << 23


def q(x):
    """Round float64 samples onto the 2^-23 grid and store as float32 (exact)."""
    return (np.rint(np.asarray(x, np.float64) * GRID) / GRID).astype(np.float32)


def sine(freq, rate, n, amp=1.0, degrees=0.0):
    """amp * sin(2 pi f k / rate + phase), from a table over one period of the sampled phase."""
    f = int(freq)
    per = rate // math.gcd(f, rate)
    ph = math.radians(degrees)
    table = np.array([math.sin(2.0 * math.pi * ((f * k) % rate) / rate + ph) for k in range(per)])
    return np.tile(table, -(-n // per))[:n] * amp


def dbfs(d):
    return 10.0 ** (d / 20.0)


def uniform(seed, n, ch):
    """White noise, uniform on [-1, 1) with 2^-23 steps."""
    return rng(seed).integers(-GRID, GRID, (n, ch)).astype(np.float64) / GRID


def stereo(x):
    return np.stack([x, x], axis=1)


def faded(x, n=480):
    """Linear fade in and out over n samples, so that the ends add no inter-sample peak."""
    k = np.minimum(np.arange(x.shape[0]), np.arange(x.shape[0])[::-1])
    return x * (np.minimum(k, n) / n)[:, None]


def segments(parts, rate, freq=1000):
    """Stereo sine of given (seconds, peak dBFS) segments with continuous phase."""
    env = np.concatenate([np.full(round(s * rate), dbfs(d)) for s, d in parts])
    return stereo(sine(freq, rate, env.size) * env)


def surround(rate, seconds, levels_db, freq=1000):
    n = round(rate * seconds)
    s = sine(freq, rate, n)
    return np.stack([s * dbfs(d) if d is not None else np.zeros(n) for d in levels_db], axis=1)


def clicks(rate, seconds, times, seed, ch=2, decay_ms=12.0, amp=0.7):
    n = round(rate * seconds)
    out = np.zeros((n, ch))
    m = round(rate * 0.12)
    g = uniform(seed, m, 1)[:, 0]
    env = np.array([2.0 ** (-1000.0 * k / rate / decay_ms) for k in range(m)])
    burst = q(g * env * amp).astype(np.float64)
    for t in times:
        a = round(t * rate)
        b = min(n, a + m)
        if a < n:
            out[a:b] += burst[: b - a, None] * np.array([1.0, 0.75])[:ch]
    return out


def music(rate, seconds, seed, ch=2):
    """Three partials with slow beating plus quiet noise: a broadband stationary programme."""
    n = round(rate * seconds)
    out = uniform(seed, n, ch) * 0.02
    for i, (f, a) in enumerate(((220, 0.2), (331, 0.12), (1517, 0.06))):
        for c in range(ch):
            out[:, c] += sine(f, rate, n, a, 37.0 * i + 61.0 * c)
    return out


def lowpass3(x):
    p = np.pad(x, ((1, 1), (0, 0)), mode="edge")
    return (p[:-2] + 2.0 * p[1:-1] + p[2:]) / 4.0


def delay(x, n):
    if n >= 0:
        return np.concatenate([np.zeros((n, x.shape[1]), x.dtype), x[: x.shape[0] - n]])
    return np.concatenate([x[-n:], np.zeros((-n, x.shape[1]), x.dtype)])


def _m(rate, ch=2):
    return lambda: (music(rate, 3.0, 31, ch), rate)


def _clipped():
    return np.clip(stereo(sine(997, 48000, 96000, 2.0)), -1.0, 1.0 - 2.0**-15), 48000


def _silent_run():
    x = music(48000, 5.0, 32)
    x[57600:177600] = 0.0  # 1.2 s .. 3.7 s
    return x, 48000


def _fading_noise():
    x = uniform(33, 48000 * 4, 2)
    k = np.arange(x.shape[0]) // 4800
    return x * (0.5**k)[:, None], 48000


AUDIO = {
    # EBU Tech 3341 minimum-requirement loudness cases, as tones (expected I: -23, -33, -23 x4 LUFS)
    "r128_1": lambda: (segments([(20, -23)], 48000), 48000),
    "r128_2": lambda: (segments([(20, -33)], 48000), 48000),
    "r128_3": lambda: (segments([(10, -36), (60, -23), (10, -36)], 48000), 48000),
    "r128_4": lambda: (
        segments([(10, -72), (10, -36), (60, -23), (10, -36), (10, -72)], 48000),
        48000,
    ),
    "r128_5": lambda: (segments([(20, -26), (20.1, -20), (20, -26)], 48000), 48000),
    "r128_6": lambda: (surround(48000, 20, (-28, -28, -24, -30, -30)), 48000),
    # 0 dBFS 997 Hz in the left channel only: -3.01 LUFS by construction of the standard
    "sine997_left_0dbfs": lambda: (surround(48000, 5, (0.0, None), 997), 48000),
    # channel order L R C LFE Ls Rs: the LFE must not count, both surrounds weigh 1.41
    "lfe_only_51": lambda: (surround(48000, 4, (None, None, None, -20, None, None), 60), 48000),
    "ls_only_51": lambda: (surround(48000, 4, (None, None, None, None, -20, None), 997), 48000),
    "rs_only_51": lambda: (surround(48000, 4, (None, None, None, None, None, -20), 997), 48000),
    "sine997_m23": lambda: (stereo(sine(997, 48000, 480000, dbfs(-23))), 48000),
    # EBU Tech 3341 true-peak cases 15-19 (expected -6.0 x4, +3.0 dBTP; tolerance +0.2/-0.4)
    "tp_15": lambda: (faded(stereo(sine(12000, 48000, 48000, 0.5, 0.0))), 48000),
    "tp_16": lambda: (faded(stereo(sine(12000, 48000, 48000, 0.5, 45.0))), 48000),
    "tp_17": lambda: (faded(stereo(sine(8000, 48000, 48000, 0.5, 60.0))), 48000),
    "tp_18": lambda: (faded(stereo(sine(6000, 48000, 48000, 0.5, 67.5))), 48000),
    "tp_19": lambda: (faded(stereo(sine(12000, 48000, 48000, 1.41, 45.0))), 48000),
    # the same tone as case 18 without fades: the interpolated waveform overshoots at the cut ends
    "tp_18_abrupt": lambda: (stereo(sine(6000, 48000, 48000, 0.5, 67.5)), 48000),
    "clipped": _clipped,
    "silent": lambda: (np.zeros((96000, 2)), 48000),
    "silent_run": _silent_run,
    "fading_noise": _fading_noise,
    "transients": lambda: (clicks(48000, 4.0, (0.4, 1.15, 2.0, 2.6, 3.5), 34), 48000),
    "dual_mono": lambda: (stereo(music(48000, 3.0, 35, 1)[:, 0]), 48000),
    "antiphase": lambda: (music(48000, 3.0, 35, 1) * np.array([[1.0, -1.0]]), 48000),
    "mono": _m(48000, 1),
    "surround51": lambda: (
        music(48000, 3.0, 36, 6) * np.array([[1.0, 0.8, 0.6, 0.9, 0.4, 0.3]]),
        48000,
    ),
    "music_8k": _m(8000),
    "music_16k": _m(16000),
    "music_32k": _m(32000),
    "music_44k1": _m(44100),
    "music_48k": _m(48000),
    "music_96k": _m(96000),
    "white": lambda: (uniform(37, 96000, 2) * 0.25, 48000),
    "dc": lambda: (music(48000, 2.0, 38) + np.array([[0.05, -0.02]]), 48000),
    "short_350ms": lambda: (music(48000, 0.35, 39), 48000),
    "short_12ms": lambda: (music(48000, 0.012, 40), 48000),
}


# Paired: name -> (reference, candidate) built from music_48k unless said otherwise.
def audio_pair(name):
    ref, rate = AUDIO["music_48k"]()
    if name == "same":
        cand = ref
    elif name == "gain_half":
        cand = ref * 0.5
    elif name == "polarity":
        cand = -ref
    elif name == "noise_m40":
        cand = ref + uniform(41, ref.shape[0], 2) * 0.01
    elif name == "lowpass":
        cand = lowpass3(ref)
    elif name == "clip03":
        cand = np.clip(ref, -0.25, 0.25)
    elif name == "late_5ms":  # white noise: an unambiguous lag
        ref = uniform(42, 96000, 2) * 0.25
        cand = delay(ref, 240)
    elif name == "early_311":
        ref = uniform(42, 96000, 2) * 0.25
        cand = delay(ref, -311)
    elif name == "late_60ms":  # outside the +-50 ms search
        ref = uniform(42, 96000, 2) * 0.25
        cand = delay(ref, 2880)
    elif name == "unrelated":
        cand = uniform(43, ref.shape[0], 2) * 0.25
    elif name == "silent_candidate":
        cand = np.zeros_like(ref)
    elif name == "silent_reference":
        cand, ref = ref, np.zeros_like(ref)
    elif name == "shorter":
        cand = ref[:100000]
    else:
        raise KeyError(name)
    return q(ref), q(cand), rate


AUDIO_PAIRS = (
    "same",
    "gain_half",
    "polarity",
    "noise_m40",
    "lowpass",
    "clip03",
    "late_5ms",
    "early_311",
    "late_60ms",
    "unrelated",
    "silent_candidate",
    "silent_reference",
    "shorter",
)


def audio(name):
    x, rate = AUDIO[name]()
    return q(x), rate


EVENTS = (0.5, 1.0, 1.375, 2.125, 2.5, 3.25)


def flashes(fps, seconds, times, seed, h=48, w=64):
    """A dim static texture on which a bright square appears at each event for three frames."""
    t = round(fps * seconds)
    base = to_u8(texture(h, w, seed)) // 3
    c = np.repeat(base[None], t, axis=0)
    g = rng(seed + 1)
    for s in times:
        k = math.ceil(s * fps - 1e-9)
        y, x = int(g.integers(0, h - 20)), int(g.integers(0, w - 20))
        for i, v in enumerate((240, 200, 160)):
            if k + i < t:
                c[k + i, y : y + 20, x : x + 20] = v
    return c


def av(name):
    fps, rate = 24, 48000
    frames = flashes(fps, 4.0, EVENTS, 51)
    shift = {"sync": 0.0, "late_80ms": 0.080, "early_120ms": -0.120, "late_250ms": 0.250}
    if name in shift:
        x = clicks(rate, 4.0, [t + shift[name] for t in EVENTS], 52)
    elif name == "tone":
        x = stereo(sine(440, rate, rate * 4, 0.3))
    elif name == "silence":
        x = np.zeros((rate * 4, 2))
    elif name == "static_shot":
        frames = np.repeat(frames[:1], frames.shape[0], axis=0)
        x = clicks(rate, 4.0, EVENTS, 52)
    elif name == "unrelated":
        x = uniform(53, rate * 4, 2) * 0.2
    elif name == "sync_25fps_32k":
        fps, rate = 25, 32000
        frames = flashes(fps, 4.0, EVENTS, 51)
        x = clicks(rate, 4.0, EVENTS, 52)
    elif name == "too_short":
        frames = frames[:3]
        x = clicks(rate, 0.09, (0.02,), 52)
    else:
        raise KeyError(name)
    return frames, fps, q(x), rate


AVS = (
    "sync",
    "late_80ms",
    "early_120ms",
    "late_250ms",
    "tone",
    "silence",
    "static_shot",
    "unrelated",
    "sync_25fps_32k",
    "too_short",
)
