"""Where our facts of a sound differ from the reference system's on purpose, and by how much.

    python calibration/audio/differences.py

Writes differences.md beside this file. Needs the installed package alone: the sounds are made from
seeds, and the other programs' values are banked in tests/oracles/audio.json.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from screentest.metrics.audio import IMPL, measure_audio
from tests.oracles import sounds

HERE = Path(__file__).resolve().parent
BANKED = json.loads((Path(sounds.__file__).parent / "audio.json").read_text())["sounds"]

SURROUND = ("r128_6", "surround51", "lfe_only_51", "ls_only_51", "rs_only_51")
# From what the reference system's limit was calibrated on, to what it was not.
PEAKS = (
    *("music_8k", "music_16k", "music_32k", "music_44k1", "music_48k", "music_96k", "mono"),
    *("dual_mono", "surround51", "silent_run", "dc", "short_350ms", "short_12ms", "sine997_m23"),
    *("tp_15", "tp_16", "tp_17", "tp_18", "tp_19", "tp_18_abrupt", "clipped", "transients"),
    *("fading_noise", "white"),
)
SILENCE = ("antiphase", "fading_noise", "silent_run", "dual_mono")
NO_VALUE = ("silent", "short_350ms", "lfe_only_51", "antiphase")


LOUDNESS = """\
## Loudness of surround sound

ITU-R BS.1770-4 weighs a channel by where it stands: 1.41 for the surrounds, nothing for low
frequency effects. The reference system weighs by number, the fourth and fifth channel 1.41 and the
others 1: in 5.1 it counts the effects, and its right surround is a front channel. Ours is the
standard's; ffmpeg's `ebur128` agrees in a test. Of mono, stereo and 5.0 all three are the same to
1e-5 LU. In LUFS:
"""
TRUE_PEAK = """\
## True peak

The standard leaves the interpolation filter open. Ours is the `ebur128` crate's, 49 taps at four
times the rate below 96 kHz and twice below 192 kHz; the reference system's has 193 at four times.
Annex 2 is the recommendation's own example, of 48. A programme reads the same within 0.1 dB. What
has energy up to half its rate, or begins and ends abruptly, reads less by the shorter ones, whose
pass band ends earlier. In dBTP:
"""
TAIL = """\
Ours is between {:+.2f} and {:+.2f} dB from the reference system's. A limit on the true peak that
was set with its filter is therefore the same on a programme, and wider with ours on what is sharp.
"""
SILENT = """\
## Silence and stereo

Ours is silent where the mean power of the channels is; the reference system's where their mean is,
so that it hears nothing in a sound whose channels cancel. With like channels the two are one. The
share of silent blocks, and the level of left and right over their difference, which ours takes of
the front pair and the reference system of all channels:
"""
MISSING = """\
## No value

Where there is no loudness or no spectrum the reference system reports -120 LUFS or 0; ours reports
nothing, and why.
"""


def facts_of(name):
    samples, rate = sounds.audio(name)
    layout = BANKED[name]["layout"] if samples.shape[1] > 2 else None
    return measure_audio(samples, sample_rate=rate, channel_layout=layout)


def values_of(name):
    return BANKED[name]["values"]


def said(value, digits=2):
    return "none" if value is None else f"{value:.{digits}f}"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def loudness(facts):
    yield LOUDNESS
    rows = []
    for name in SURROUND:
        row = BANKED[name]
        standard = row.get("lufs_of_the_standard", values_of(name)["audio_lufs"])
        rows.append(
            (
                f"`{name}` ({row['layout']})",
                said(facts[name].audio_lufs),
                said(None if standard == -120.0 else standard),
                said(values_of(name)["audio_lufs"]),
            )
        )
    yield from table(("sound", "ours", "the standard", "reference system"), rows)


def true_peak(facts):
    yield TRUE_PEAK
    rows = []
    for name in PEAKS:
        row = BANKED[name]
        ours, theirs = facts[name].audio_true_peak_dbtp, values_of(name)["audio_true_peak_dbtp"]
        rows.append(
            (
                f"`{name}`",
                said(ours),
                said(row["true_peak_of_annex_2"]),
                said(theirs),
                f"{ours - theirs:+.2f}",
            )
        )
    head = ("sound", "ours", "annex 2", "reference system", "ours minus the reference system")
    yield from table(head, rows)
    differences = [float(row[4]) for row in rows]
    yield TAIL.format(min(differences), max(differences))


def silence(facts):
    yield SILENT
    rows = [
        (
            f"`{name}`",
            said(facts[name].audio_silence_fraction, 3),
            said(values_of(name)["audio_silence_fraction"], 3),
            said(facts[name].audio_stereo_separation_db),
            said(values_of(name)["audio_stereo_separation_db"]),
        )
        for name in (*SILENCE, "surround51")
    ]
    head = ("sound", "silence, ours", "reference system", "separation, ours", "reference system")
    yield from table(head, rows)


def no_value(facts):
    yield MISSING
    rows = [
        (f"`{name}`", f"`{missing.axis}`", missing.reason, said(values_of(name)[missing.axis]))
        for name in NO_VALUE
        for missing in facts[name].unmeasured
    ]
    yield from table(("sound", "metric", "ours", "reference system"), rows)


def page():
    names = {*SURROUND, *PEAKS, *SILENCE, *NO_VALUE, "surround51"}
    facts = {name: facts_of(name) for name in sorted(names)}
    lines = [
        "<!-- generated by calibration/audio/differences.py -->",
        "# Where a sound reads otherwise than in the reference system",
        "",
        f"Facts `{IMPL}` beside cozy-eval 0.7.6, on sounds made from seeds",
        "(`tests/oracles/sounds.py`). All else agrees within the tolerances of",
        "`tests/metrics/test_audio_oracles.py`.",
        "",
    ]
    for part in (loudness, true_peak, silence, no_value):
        lines += part(facts)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    (HERE / "differences.md").write_text(page())
