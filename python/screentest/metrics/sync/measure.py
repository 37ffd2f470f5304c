"""The time between sound and picture of one clip."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

from screentest import compute
from screentest.errors import InputError
from screentest.media.clip import Clip
from screentest.media.open import is_in_memory, open_clip
from screentest.media.sound import Sound, read_audio
from screentest.metrics.facts import Unmeasured
from screentest.metrics.sync.curve import HOP_S, SEARCH_S
from screentest.metrics.sync.facts import SyncFacts
from screentest.metrics.sync.from_onsets import sync_numbers
from screentest.metrics.sync.names import IMPL
from screentest.metrics.sync.picture import PictureOnsets
from screentest.metrics.sync.sound import read_flux

__all__ = ["measure_sync"]


def measure_sync(
    clip: Any,
    sound: Any = None,
    *,
    sample_rate: int | None = None,
    channel_layout: str | None = None,
    stream: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> SyncFacts:
    """By how much the sound is late against the picture, in ms; negative where it is early.

    Sudden sounds (the spectrum of the channels' mean rises) are compared with sudden changes of the
    picture (cells of it become what they lately were not) on the clip's own clock, within half a
    second to either side. It is event sync: lip sync is not measured.

    Args:
        clip: an open :class:`~screentest.media.clip.Clip` (left open), or anything that
            :func:`screentest.media.open_clip` opens; frames in memory need ``frame_rate=``.
        sound: what :func:`screentest.media.read_audio` opens, or an open
            :class:`~screentest.media.sound.Sound` (left open); without it the clip's own. The first
            sample of an array sounds at time 0 of the clip's clock.
        sample_rate, channel_layout, stream: of the sound; see
            :func:`~screentest.media.read_audio`.
        threads: compute budget of the decoder; default ``min(4, CPUs)``.
        **options: passed to :func:`~screentest.media.open_clip` (``frame_rate=``, ``layout=``...).

    Returns:
        The facts. Where nothing in the clip says when sound and picture belong together (silence,
        a steady sound, a static shot, no shared events, events that repeat, no time stamps), there
        is no offset, and ``unmeasured`` has the reason.

    Raises:
        MediaError: picture or sound cannot be read (``no_audio_stream``: there is none), or a frame
            holds NaN or infinite samples.
        InputError: an argument is wrong, or pictures alone came without ``sound``.
        FileNotFoundError: there is no such file.

    Example:
        A square lights up at frame 24, and 48000 / 24 x 24 + 5760 samples in comes a click.

        >>> import numpy as np
        >>> from screentest.metrics.sync import measure_sync
        >>> frames = np.full((72, 48, 64, 3), 40, np.uint8)
        >>> frames[24:26, 10:30, 10:30] = 220
        >>> clap = np.zeros(144_000, np.float32)
        >>> clap[48_000 + 5_760] = 0.9
        >>> facts = measure_sync(frames, clap, frame_rate=24, sample_rate=48_000)
        >>> round(facts.av_sync_offset_ms)
        120
    """
    budget = compute.threads(threads)
    said = {"sample_rate": sample_rate, "channel_layout": channel_layout, "stream": stream}
    with ExitStack() as opened:
        heard = _sound_of(clip, sound, said, opened)
        # The sound first and to its end: of a file object there is only one place to read at.
        flux = read_flux(heard)
        seen = clip
        if not isinstance(clip, Clip):
            seen = opened.enter_context(open_clip(clip, threads=budget, **options))
        elif options:
            raise InputError(
                f"{', '.join(options)}: an opened clip says this itself", code="bad_input"
            )
        accumulator = PictureOnsets(seen.format)
        for frame in seen.frames(ahead=budget > 1):
            accumulator.push(frame)
        picture = accumulator.finish()
        numbers, reason = sync_numbers(picture, flux)
        return SyncFacts(
            impl=IMPL,
            clip=seen.info,
            sound=heard.info,
            damage=(*seen.damage, *heard.damage),
            search_ms=1e3 * SEARCH_S,
            hop_ms=1e3 * HOP_S,
            unmeasured=(Unmeasured("av_sync_offset_ms", reason),) if reason else (),
            **numbers,
        )


def _sound_of(clip: Any, sound: Any, said: dict[str, Any], opened: ExitStack) -> Sound:
    if isinstance(sound, Sound):
        return read_audio(sound, **said)
    if sound is None:
        sound = _file_of(clip)
    return opened.enter_context(read_audio(sound, **said))


def _file_of(clip: Any) -> Any:
    """What the clip was opened from, or is to be, where that can hold sound."""
    if isinstance(clip, Clip):
        if clip.info.kind == "video" and os.path.isfile(clip.info.source):
            return clip.info.source
    elif not is_in_memory(clip) and not _is_folder(clip):
        return clip
    raise InputError(
        "pictures alone hold no sound: say sound= (a path, or samples with sample_rate=)",
        code="no_sound",
    )


def _is_folder(clip: Any) -> bool:
    return isinstance(clip, (str, os.PathLike)) and os.path.isdir(clip)
