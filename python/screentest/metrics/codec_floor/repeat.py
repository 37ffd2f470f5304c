"""From the settings that a file carries to the parameters that repeat its encode."""

from __future__ import annotations

from screentest.metrics.codec_floor.settings import CodecFloorUnknown, EncoderSettings

__all__ = ["differing", "parameters_of"]

# The settings that x264 prints of itself. A file may claim any others, and some of what the
# encoders read names files to write (stats, dump-yuv, csv): those are never passed on.
_X264_PRINTED = frozenset(
    {
        "8x8dct", "analyse", "aq", "b_adapt", "b_bias", "b_pyramid", "bframes", "bitrate",
        "bluray_compat", "cabac", "chroma_me", "chroma_qp_offset", "constrained_intra", "cplxblur",
        "cqm", "crf", "crf_max", "deadzone", "deblock", "decimate", "direct", "fake_interlaced",
        "fast_pskip", "filler", "interlaced", "intra_refresh", "ip_ratio", "keyint", "keyint_min",
        "lookahead_threads", "mbtree", "me", "me_range", "mixed_ref", "nal_hrd", "nr", "open_gop",
        "pb_ratio", "psy", "psy_rd", "qblur", "qcomp", "qp", "qpmax", "qpmin", "qpstep", "ratetol",
        "rc", "rc_lookahead", "ref", "scenecut", "slice_max_mbs", "slice_max_size",
        "slice_min_mbs", "sliced_threads", "slices", "slices_max", "stitchable", "subme",
        "threads", "trellis", "vbv_bufsize", "vbv_maxrate", "weightb", "weightp", "wpredp"
    }
)  # fmt: skip
# x264 prints some settings under other names, or in other words, than it reads.
_X264_NAMES = {
    "mixed_ref": "mixed-refs",
    "me_range": "merange",
    "keyint_min": "min-keyint",
    "ip_ratio": "ipratio",
    "pb_ratio": "pbratio",
    "decimate": "dct-decimate",
}
_X264_DIRECT = {"0": "none", "1": "spatial", "2": "temporal", "3": "auto"}
_X264_PARTITIONS = (
    (0x1, "i4x4"),
    (0x2, "i8x8"),
    (0x10, "p8x8"),
    (0x20, "p4x4"),
    (0x100, "b8x8"),
)
# Handled apart, or following from others.
_X264_APART = frozenset(
    {"analyse", "deadzone", "aq", "interlaced", "rc", "wpredp", "cqm", "fake_interlaced"}
)

# The same for x265, without what says nothing of the encode. film-grain is one that it prints, and
# the name of a file.
_X265_PRINTED = frozenset(
    {
        "amp", "aq-mode", "aq-motion", "aq-strength", "b-adapt", "b-intra", "b-pyramid",
        "bframe-bias", "bframes", "bitrate", "cbqpoffs", "const-vbv", "constrained-intra",
        "cplxblur", "crf", "crf-max", "crf-min", "crqpoffs", "ctu", "ctu-info", "cu-lossless",
        "cutree", "deblock", "decoder-max-rate", "dup-threshold", "dynamic-rd", "dynamic-refine",
        "early-skip", "fast-intra", "field", "frame-dup", "frame-rc", "frame-threads",
        "gop-lookahead", "hevc-aq", "hist-scenecut", "hist-threshold", "hme", "idr-recovery-sei",
        "intra-refresh", "ipratio", "keyint", "limit-modes", "limit-refs", "limit-sao", "limit-tu",
        "lookahead-slices", "lossless", "lowpass-dct", "max-ausize-factor", "max-merge",
        "max-tu-size", "max-vbv-fullness", "mcstf", "me", "merange", "min-cu-size", "min-keyint",
        "min-vbv-fullness", "multi-pass-opt-rps", "nr-inter", "nr-intra", "open-gop",
        "opt-cu-delta-qp", "opt-qp-pps", "opt-ref-list-length-pps", "pbratio", "psy-rd", "psy-rdoq",
        "qblur", "qcomp", "qg-size", "qp", "qp-adaptation-range", "qpmax", "qpmin", "qpstep",
        "radl", "rc-grain", "rc-lookahead", "rd", "rd-refine", "rdoq-level", "rdpenalty", "rect",
        "ref", "refine-analysis-type", "refine-ctu-distortion", "refine-inter", "refine-intra",
        "refine-mv", "rskip", "rskip-edge-threshold", "sao", "sao-non-deblock", "sbrc",
        "scale-factor", "scenecut", "scenecut-aware-qp", "scenecut-bias", "selective-sao",
        "signhide", "single-sei", "slices", "splice", "splitrd-skip", "ssim-rd", "strict-cbr",
        "strong-intra-smoothing", "subme", "temporal-layers", "temporal-mvp", "tskip", "tskip-fast",
        "tu-inter-depth", "tu-intra-depth", "vbv-bufsize", "vbv-end", "vbv-end-fr-adj", "vbv-init",
        "vbv-live-multi-pass", "vbv-maxrate", "weightb", "weightp", "wpp"
    }
)  # fmt: skip

# What x265 prints about the machine, the stream's outside and the picture rather than the encode.
_X265_OUTSIDE = frozenset(
    {
        "cpuid", "numa-pools", "log-level", "log-file-level", "bitdepth", "input-csp",
        "input-res", "fps", "interlace", "total-frames", "level-idc", "high-tier", "uhd-bd",
        "annexb", "aud", "eob", "eos", "hash", "info", "csv", "csv-log-level", "psnr", "ssim",
        "repeat-headers", "allow-non-conformance", "sar", "overscan", "videoformat", "range",
        "colorprim", "transfer", "colormatrix", "chromaloc", "display-window", "cll", "min-luma",
        "max-luma", "vui-timing-info", "vui-hrd-info", "zone-count", "stats-write", "stats-read",
        "analyze-src-pics", "copy-pic", "pmode", "pme", "rc", "analysis-reuse-level",
        "analysis-save-reuse-level", "analysis-load-reuse-level", "log2-max-poc-lsb", "hdr10",
        "hdr10-opt", "dhdr10-opt", "hrd"
    }
)  # fmt: skip
# Kept out of the comparison of a file with its repeat; the number of frame threads does change the
# bits and stays in.
_ASIDE = frozenset({"lookahead_threads"}) | _X265_OUTSIDE


def parameters_of(settings: EncoderSettings, chroma: str) -> dict[str, str] | CodecFloorUnknown:
    """The encoder's parameters, by the names that it reads. ``chroma`` is ``"420"``, ``"444"``...

    A method of rate control that the settings do not describe in full is unknown. Settings that
    the encoder does not print of itself are left out: the file is not to be trusted.
    """
    options = settings.options
    if options.get("zones") or options.get("zone-count", "0") != "0":
        return CodecFloorUnknown("its rate control has zones, whose settings the file does not say")
    if not settings.rate_control:
        return CodecFloorUnknown(f"its {settings.encoder} settings do not say the rate control")
    if settings.encoder == "x264" and options.get("cqm") == "2":
        return CodecFloorUnknown(
            "it was encoded with custom quantiser matrices, which the settings do not spell out"
        )
    try:
        return _x265(options) if settings.encoder == "x265" else _x264(options, chroma)
    except (ValueError, LookupError):
        return CodecFloorUnknown(
            f"its settings are not written as {settings.encoder} writes its own"
        )


def differing(asked: EncoderSettings, done: EncoderSettings) -> dict[str, tuple[str, str]]:
    """Settings that differ between a file and its repeat: name -> (file, repeat)."""
    names = [*asked.options, *(name for name in done.options if name not in asked.options)]
    pairs = {name: (asked.options.get(name, ""), done.options.get(name, "")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and name not in _ASIDE}


def _x264(options: dict[str, str], chroma: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in options.items():
        if name in _X264_PRINTED - _X264_APART:
            given[_X264_NAMES.get(name, name.replace("_", "-"))] = value.replace(":", ",")
    if "deblock" in options:
        enabled, _, strengths = options["deblock"].partition(":")
        given["deblock"] = strengths.replace(":", ",")
        if enabled == "0":
            given["no-deblock"] = "1"
    if "analyse" in options:
        # Intra partitions alone (before the colon) have no name to set them by; the default is all.
        inter = int(options["analyse"].split(":")[1], 16)
        names = [name for bit, name in _X264_PARTITIONS if inter & bit]
        given["partitions"] = ",".join(names) or "none"
    if "deadzone" in options:
        given["deadzone-inter"], _, given["deadzone-intra"] = options["deadzone"].partition(",")
    if "aq" in options:
        mode, _, strength = options["aq"].partition(":")
        given["aq-mode"] = mode
        if strength:
            given["aq-strength"] = strength
    if "direct" in options:
        given["direct"] = _X264_DIRECT[options["direct"]]
    if options.get("cqm") == "1":
        given["cqm"] = "jvt"
    if options.get("interlaced") in ("tff", "bff"):
        given[options["interlaced"]] = "1"
    if options.get("keyint") == "infinite":
        given["keyint"] = "infinite"
    if options.get("crf_max") in ("0.0", "0"):
        given.pop("crf-max", None)
    if "chroma_qp_offset" in options:
        printed = int(options["chroma_qp_offset"])
        given["chroma-qp-offset"] = str(printed - _chroma_shift(options, chroma))
    return given


def _x265(options: dict[str, str]) -> dict[str, str]:
    given = {name: value for name, value in options.items() if name in _X265_PRINTED}
    if "scenecut-bias" in given:
        # Read as a percentage, printed as a share.
        given["scenecut-bias"] = f"{100 * float(given['scenecut-bias']):g}"
    for switch in ("strict-cbr", "rc-grain"):
        # Named at all, even as off, strict-cbr sets the ratio of B to P frames to 1.
        if given.get(switch) == "0":
            del given[switch]
    return {"log-level": "none", **given}


def _chroma_shift(options: dict[str, str], chroma: str) -> int:
    """What x264 itself adds to the chroma QP offset before it prints it."""
    shift = 0
    rd, _, trellis = options.get("psy_rd", "0:0").partition(":")
    if options.get("psy") == "1":
        if float(rd) and int(options.get("subme", "0")) >= 6:
            shift -= 1 if float(rd) < 0.25 else 2
        if float(trellis or 0) and options.get("trellis", "0") != "0":
            shift -= 1 if float(trellis) < 0.25 else 2
    if chroma == "444" and not (options.get("rc") == "cqp" and options.get("qp") == "0"):
        shift += 6
    return shift
