"""The flags that ``ClipInfo.flags`` and ``SoundInfo.flags`` can hold, and what each one says."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["FLAGS"]

FLAGS = MappingProxyType(
    {
        "vfr": "the time stamps do not lie on a straight line",
        "no_timestamps": "the file stores no presentation times; order is known, time is not",
        "rate_mismatch": "the header's frame rate differs from that of the time stamps",
        "count_mismatch": "the header's frame count differs from the number of frames in the file",
        "edit_list": "the container hides part of the coded frames",
        "open_gop_start": "the first frames lean on a group of pictures that was cut away",
        "several_video_streams": "the file has more than one video stream; one was read",
        "audio_length_differs": "an audio stream is longer or shorter than the picture",
        "several_audio_streams": "the file has more than one audio stream; one was read",
        "no_audio_timestamps": "the file does not say when the sound starts",
        "untagged_colour": "the stream names no colour matrix; the documented rule chose it",
        "untagged_hd": "as untagged_colour, at a size where players choose another matrix",
        "hdr_pq": "the transfer function is PQ (SMPTE ST 2084)",
        "hdr_hlg": "the transfer function is HLG (ARIB STD-B67)",
        "wide_gamut": "the primaries are those of BT.2020 without an HDR transfer",
        "interlaced": "the picture is made of two fields of different times",
        "sar": "pixels are not square",
        "rotated": "the picture was turned by the container's display matrix",
        "mirrored": "the picture was mirrored by the container's display matrix",
        "free_rotation": "the display matrix is no multiple of 90 degrees and was not applied",
        "alpha": "the picture has an alpha channel",
        "skipped_files": "the folder holds files that are no images",
        "cuda_copied": "the array was copied from a device to the CPU",
        "detached": "the tensor was detached from its gradient",
        "converted": "the samples went through a named conversion before they were read",
    }
)
