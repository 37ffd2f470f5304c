"""The sound of a clip whose picture is screened: measured while the picture is decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any

from screentest.errors import ScreentestError
from screentest.reports.screening import describe_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from screentest.media.clip import Clip
    from screentest.metrics.audio.facts import AudioFacts

    Heard = AudioFacts | str | None
    """Facts, or why there are none, or ``None`` for a clip without sound."""

__all__ = ["hearing"]


@contextmanager
def hearing(source: Any, clip: Clip, threads: int) -> Iterator[Callable[[], Heard]]:
    """Begins to measure the sound of ``clip``, which was opened from ``source``; what it gives
    waits for the facts. With one thread, and of a file object, the sound comes after the picture.
    """
    if clip.info.kind != "video" or not clip.info.audio:
        yield lambda: None
        return
    file = _file_of(source, clip)
    if file is None:
        yield lambda: "the clip was opened from what cannot be opened again"
        return
    stopping = Event()
    if threads == 1 or hasattr(file, "read"):
        yield lambda: _measured(file, stopping)
        return
    pool = ThreadPoolExecutor(1, thread_name_prefix="screentest-sound")
    try:
        found = pool.submit(_measured, file, stopping)
        yield found.result
    finally:
        # A picture that cannot be read does not wait for two hours of sound, nor does the exit.
        stopping.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _file_of(source: Any, clip: Clip) -> Any:
    if source is not clip:
        return source
    return clip.info.source if os.path.isfile(clip.info.source) else None


def _measured(file: Any, stopping: Event) -> AudioFacts | str:
    from screentest.media import read_audio
    from screentest.metrics.audio.accumulator import AudioAccumulator

    try:
        with read_audio(file) as sound:
            meter = AudioAccumulator(sound.info, threads=1)
            for block in sound.blocks():
                if stopping.is_set():
                    return "it was not heard to its end"
                meter.push(block)
            return meter.finish(sound.damage)
    except (ScreentestError, OSError) as error:
        return describe_error(error)[1]
