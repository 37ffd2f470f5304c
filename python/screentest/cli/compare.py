"""``screentest compare``: how far a clip lies from its reference."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from screentest.cli import exit_codes, options, output

if TYPE_CHECKING:
    from screentest.comparing import Comparison
    from screentest.metrics.facts import Score

__all__ = ["EXIT_STATUS", "command", "report_lines"]

EXIT_STATUS = (
    "Exit status: 0 scored; 2 the request or an input is wrong; 3 not scored: the pair is not "
    "aligned, or a metric that was named has no number; 130 interrupted."
)


def command(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="What is compared with.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The clip in question.")],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="psnr, ssim, ms_ssim, mse, mae of the RGB picture; psnr_y, psnr_cb, psnr_cr, "
            "psnr_avg, ssim_y, ms_ssim_y of the decoder's planes; vmaf, vmaf_neg, vmaf_phone, "
            "xpsnr, cvvdp, lpips, dists; flow_epe, flow_divergence, motion_mag_ratio, "
            "warp_error_delta, flow_residual_delta of the motion; track_stability_ratio; "
            "ringing_excess. May be repeated. By default psnr, ssim, ms_ssim and, of planes that "
            "both have, psnr_y, psnr_cb, psnr_cr.",
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            metavar="auto|index|timestamps",
            help="How to pair the frames of clips that are not aligned; without it they get no "
            "score.",
        ),
    ] = None,
    as_json: options.JsonObject = False,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a page with the worst frames and their maps."),
    ] = None,
    codec_floor: Annotated[
        bool,
        typer.Option(
            "--codec-floor",
            help="Also measure what the candidate's own encoding costs the reference.",
        ),
    ] = False,
    border: Annotated[
        str,
        typer.Option(metavar="valid|reflect", help="Positions of the window that SSIM averages."),
    ] = "valid",
    threads: options.Threads = None,
    device: Annotated[
        str, typer.Option(metavar="cpu|cuda", help="Where learned metrics run.")
    ] = "cpu",
) -> int:
    """Say whether two clips go together frame by frame, and if they do, how far apart they are.

    The pairing comes first: frame counts, rates, colour tags, a lag, dropped and repeated frames. A
    pair that is not aligned gets no score unless --align says how to pair it. Nothing is resized.

    A distance is no verdict: another take of the same prompt is far away and undamaged.
    """
    # The library loads only now, so that --help does not wait for it.
    from screentest import comparing
    from screentest.errors import ScreentestError
    from screentest.reports import canonical
    from screentest.reports.comparison import error_record

    names = [name.strip() for text in metrics or [] for name in text.split(",") if name.strip()]
    if html is not None:
        from screentest.reports.html import require_report_extra

        require_report_extra()
        folder = os.path.dirname(os.path.abspath(html))
        if not os.path.isdir(folder):
            raise FileNotFoundError(None, None, folder)
    try:
        result = comparing.compare(
            reference,
            candidate,
            metrics=None if metrics is None else names,
            align=cast(Any, align),
            codec_floor=codec_floor,
            border=cast(Any, border),
            device=device,
            threads=threads,
        )
    except (ScreentestError, OSError) as error:
        if as_json:
            output.result_bytes(canonical.dumps(error_record(reference, candidate, error)))
        raise
    if html is not None:
        _write_page(result, reference, candidate, html, threads)
    if as_json:
        output.result_bytes(result.to_json())
    else:
        for line in report_lines(result):
            output.result(line)
    return exit_codes.DONE if result.complete else exit_codes.NOT_JUDGED


def report_lines(result: Comparison) -> list[str]:
    """What a person reads of a comparison: the pairing, what was found, and the scores."""
    from screentest.metrics import registry

    pairing = result.facts.pairing
    word = "aligned" if result.aligned else "not aligned"
    if result.align is not None and not result.aligned:
        word += f", paired by {result.align}"
    count = pairing.frames_candidate
    about = f"{count} frame{'s' * (count != 1)} against {pairing.frames_reference}"
    clip = result.facts.candidate
    lines = [
        f"{word}  {output.shown(result.candidate)} against {output.shown(result.reference)}  "
        f"({clip.width}x{clip.height}, {about})"
    ]
    lines += [f"  {output.shown(finding)}" for finding in result.findings]
    if not result.scored:
        return [*lines, "  no score: say --align auto, index or timestamps"]
    floor = {
        score.name: score for score in (result.codec_floor.scores if result.codec_floor else ())
    }
    pooled = {score.name: score for score in result.scores if score.name.endswith("_pooled")}
    # A PSNR's pooled and worst values stand on its own line.
    listed = [s for s in result.scores if not registry.stands_beside(s.name)]
    width = max(len(score.name) for score in listed)
    for score in listed:
        line = f"  {score.name:<{width}}  {_told(score, pooled.get(f'{score.name}_pooled'))}"
        if score.name in floor:
            line += f"; codec floor {_number(floor[score.name])}"
        lines.append(line)
    if result.codec_floor is not None:
        said = result.codec_floor.how or f"codec floor unknown: {result.codec_floor.reason}"
        lines.append(f"  {output.shown(said)}")
    return lines


def _told(score: Score, pooled: Score | None) -> str:
    told = _number(score)
    if score.state != "measured" or score.worst is None:
        return told
    if pooled is not None and pooled.value is not None:
        told += f" (pooled {_figure(score, pooled.value)})"
    told += f", worst {_figure(score, score.worst)} at frame {score.worst_frame}"
    if score.identical_frames:
        differ = score.frames - score.identical_frames
        told += f"; {score.identical_frames} of {score.frames} frames are identical"
        if score.unit == "dB":
            told += f", the mean is of the other {differ}"
    return told


def _number(score: Score) -> str:
    from screentest.metrics.fidelity import MS_SSIM_SCALES

    if score.state == "unmeasured":
        return f"not measured: {output.shown(score.reason or '')}"
    if score.value is None:
        return "identical"
    unit = "" if score.unit == "1" else f" {score.unit}"
    value = f"{_figure(score, score.value)}{unit}"
    scales = score.details.get("scales")
    if scales is not None and scales < MS_SSIM_SCALES:
        value += f" (at {scales} scales of {MS_SSIM_SCALES}: the picture is small)"
    return f"{value} (identical)" if score.state == "identical" else value


def _figure(score: Score, value: float) -> str:
    # Of an error its first digits count, however small it is.
    if score.name in ("mse", "mae"):
        return f"{value:.4g}"
    decimals = {"dB": 2, "VMAF": 2, "JOD": 3}.get(score.unit, 6)
    return f"{value:.{decimals}f}"


def _write_page(
    result: Comparison, reference: str, candidate: str, path: str, threads: int | None
) -> None:
    from screentest import comparing
    from screentest.reports.html import WorstFrame, comparison_page

    pictures = []
    if result.scored:
        for pair in comparing.worst_pairs(result, reference, candidate, threads=threads):
            pictures.append(
                WorstFrame(
                    metric=pair.metric,
                    reference_index=pair.reference_index,
                    candidate_index=pair.candidate_index,
                    value=pair.value,
                    unit=pair.unit,
                    reference_rgb=pair.maps.reference_rgb,
                    candidate_rgb=pair.maps.candidate_rgb,
                    error_map=pair.maps.error_map,
                    ssim_map=pair.maps.ssim_map,
                )
            )
    comparison_page(result, path, worst=pictures)
    output.note(f"wrote {output.shown(path)}")
