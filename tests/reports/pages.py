"""Made material for the pages: comparisons and evaluations as their input types have them."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from screentest.media.info import ClipInfo, ColourResolved, ColourTags
from screentest.metrics.facts import Score
from screentest.reports.html import (
    EvaluationView,
    Filmstrip,
    FilmstripFrame,
    SampleRow,
    WorstFrame,
)

HOSTILE = "<script>alert('x')</script>\"' &amp; <b>.mp4"


def info(source="a.mp4", **other):
    facts = {
        "source": source,
        "kind": "video",
        "decoder": "pyav 18.1.0 (libavcodec 62.28.102)",
        "luma_domain": "planes",
        "width": 640,
        "height": 272,
        "coded_width": 640,
        "coded_height": 272,
        "pixel_format": "yuv420p",
        "bit_depth": 8,
        "container": "mov,mp4,m4a,3gp,3g2,mj2",
        "codec": "h264",
        "profile": "High",
        "frames": 250,
        "frame_rate": 25.0,
        "frame_rate_declared": "25/1",
        "constant_frame_rate": True,
        "duration_s": 10.0,
        "colour_tags": ColourTags(range="limited"),
        "colour": ColourResolved(
            matrix="smpte170m", range="limited", matrix_from="rule", range_from="tag"
        ),
        "video_streams": 1,
    }
    return ClipInfo(**(facts | other))


def score(name, value, unit="dB", **other):
    facts = {
        "name": name,
        "value": value,
        "state": "measured",
        "unit": unit,
        "impl": "psnr-1",
        "direction": "up",
        "frames": 248,
    }
    return Score(**(facts | other))


def unmeasured(name, reason):
    return score(name, None, "", state="unmeasured", reason=reason)


def floor(reason=None, **other):
    """A codec floor as a comparison holds it."""
    facts = {"scores": (), "how": None, "encoder": None, "parameters": {}}
    return SimpleNamespace(reason=reason, **(facts | other))


@dataclass
class Made:
    """A comparison as `screentest.compare` gives it, as far as a page reads it."""

    reference: str
    candidate: str
    facts: Any
    aligned: bool = True
    scored: bool = True
    findings: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    unmeasured: tuple[Score, ...] = ()
    codec_floor: Any = None
    record: dict[str, Any] = field(default_factory=dict)

    def to_dict(self):
        return self.record


def comparison(reference="clips/a.mp4", candidate="out/b.mp4", *, frames=248, **other):
    rng = np.random.default_rng(7)
    t = np.arange(frames)
    psnr = 41 + 2 * np.sin(t / 17) + rng.normal(0, 0.4, frames)
    psnr[frames // 2] = 31.25
    ssim = 1 - 10 ** (-psnr / 20)
    pairing = SimpleNamespace(
        frames_reference=frames + 2,
        frames_candidate=frames,
        lag=0,
        lag_evidence=True,
        dropped=(31, 32),
        repeated=(120,),
        missing_at_end=0,
        extra_at_end=0,
        differences=(SimpleNamespace(field="pixel_format", reference="gbrp", candidate="yuv420p"),),
    )
    facts = SimpleNamespace(
        reference=info(reference, pixel_format="gbrp", codec="ffv1", profile=None),
        candidate=info(candidate),
        pairing=pairing,
        pairs=np.stack([t, t], axis=1),
        series={"psnr": psnr, "ssim": ssim, "psnr_y": psnr + 1.2},
    )
    worst = frames // 2
    scores = (
        score("psnr", float(psnr.mean()), worst=31.25, worst_frame=worst),
        score("psnr_pooled", float(psnr.mean()) - 0.3),
        score("psnr_worst", 31.25),
        score("ssim", float(ssim.mean()), "", impl="ssim-1", worst=0.9726, worst_frame=worst),
        score("psnr_cb", None, state="identical", identical_frames=frames),
    )
    made = {
        "scores": scores,
        "unmeasured": (
            unmeasured("vmaf", "no ffmpeg with libvmaf: pip install 'screentest[vmaf]'"),
            unmeasured("lpips", "weights are not fetched: screentest models fetch lpips"),
        ),
        "record": {"schema": "screentest/comparison@1", "psnr": 41.0},
    }
    return Made(reference, candidate, facts, **(made | other))


def picture(height=272, width=640, seed=0):
    y, x = np.mgrid[0:height, 0:width]
    waves = 128 + 90 * np.sin(x / 23 + seed) * np.cos(y / 17)
    return np.stack([waves, x * 255 / width, y * 255 / height], axis=-1).astype(np.uint8)


def worst_frame(metric="psnr", index=124, height=272, width=640, **other):
    one = picture(height, width)
    two = one.copy()
    spot = (slice(height // 2, height // 2 + 24), slice(width // 3, width // 3 + 40))
    two[spot] = 255 - two[spot]
    error = np.abs(one.astype(np.float32) - two).mean(axis=-1) / 255
    ssim = 1 - error[5 : height - 5, 5 : width - 5]
    facts = {"value": 31.25, "unit": "dB", "ssim_map": ssim}
    return WorstFrame(metric, index, index, reference_rgb=one, candidate_rgb=two,
                      error_map=error, **(facts | other))  # fmt: skip


def evaluation(count=240, groups=("robots", "kitchen"), **other):
    rng = np.random.default_rng(3)
    samples, aggregate = [], {}
    for group in groups:
        values = rng.normal(34, 3, count // len(groups))
        for i, value in enumerate(values):
            key = f"sample_{i:04d}"
            if i % 29 == 3:
                samples.append(
                    SampleRow(group, key, "skipped", reason="size_mismatch",
                              detail="prediction 640x360, ground truth 640x352")
                )  # fmt: skip
            elif i % 41 == 5:
                samples.append(SampleRow(group, key, "missing", reason="no_ground_truth",
                                         detail=f"looked for gt/{key}.mp4"))  # fmt: skip
            else:
                metrics = {"psnr": float(value), "ssim": float(1 - 10 ** (-value / 20))}
                samples.append(SampleRow(group, key, "scored", metrics))
        kept = [s.metrics for s in samples if s.group == group and s.state == "scored"]
        aggregate[group] = {}
        for metric, unit in (("psnr", "dB"), ("ssim", "")):
            numbers = np.array([m[metric] for m in kept])
            mean, std = float(numbers.mean()), float(numbers.std(ddof=1))
            half = 1.96 * std / len(numbers) ** 0.5
            aggregate[group][metric] = {
                "mean": mean,
                "count": len(numbers),
                "std": std,
                "ci95": [mean - half, mean + half],
                "n_identical": 0,
                "n_missing": sum(s.state == "missing" and s.group == group for s in samples),
                "n_skipped": {
                    "size_mismatch": sum(s.state == "skipped" and s.group == group for s in samples)
                },
                "unit": unit,
                "direction": "up",
                "impl": f"{metric}-1",
            }
    strips = [
        Filmstrip(groups[0], f"sample_{i:04d}", "psnr", 25.0 + i,
                  [FilmstripFrame(8 * n, picture(272, 480, n), picture(272, 480, n + i))
                   for n in range(5)])
        for i in (1, 2)
    ]  # fmt: skip
    facts = {
        "title": "run-0412",
        "predictions": "out/predictions",
        "ground_truth": "data/gt",
        "aggregate": aggregate,
        "samples": samples,
        "filmstrips": strips,
        "facts": [("Metrics", "psnr, ssim"), ("Pairing", "trimmed to the shorter clip")],
    }
    return EvaluationView(**(facts | other))
