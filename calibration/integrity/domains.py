"""What it matters whether a clip is read from the decoder's planes or from RGB frames."""

from collections.abc import Iterator

import numpy as np

from calibration.integrity import material as m
from calibration.integrity.rows import rounded
from screentest.metrics.integrity import measure_integrity
from screentest.verdicts.integrity import judge_integrity


def rows() -> Iterator[dict]:
    for name in ("bigbuckbunny", "bikes", "carphone_pristine", "carphone_distorted"):
        planes, rgb = measure_integrity(m.real(name)), measure_integrity(m.decoded(name))
        a, b = planes.series, rgb.series
        ratios = (planes.grid_peak_ratio, rgb.grid_peak_ratio)
        # Beyond 8 levels `change` is a lower bound, and its rows differ.
        both = np.minimum(a.change[1:], 8), np.minimum(b.change[1:], 8)
        yield {
            "clip": name,
            "corr": _largest(a.corr[1:], b.corr[1:]),
            "aligned": rounded(
                abs(planes.adjacent_frame_corr_aligned - rgb.adjacent_frame_corr_aligned), 5
            ),
            "luma_std": _largest(a.luma_std, b.luma_std),
            "luma_mean": _largest(a.luma_mean, b.luma_mean),
            "grid_relative": None if None in ratios else rounded(abs(ratios[0] / ratios[1] - 1), 5),
            "change_levels": _largest(*both),
            "rms_levels": _largest(255 * a.rms_difference[1:], 255 * b.rms_difference[1:]),
            "same_verdict": judge_integrity(planes).verdict == judge_integrity(rgb).verdict,
            "same_codes": _codes(planes) == _codes(rgb),
        }


def _largest(a, b):
    return rounded(float(np.abs(a - b).max()), 5)


def _codes(facts):
    return [d.code for d in judge_integrity(facts).defects]
