"""Pictures are given up when their clip is, not when the garbage collector comes by."""

from __future__ import annotations

import gc

from screentest.media import open_clip


def test_a_clip_that_was_read_leaves_no_picture_in_a_reference_circle(real_clip: object) -> None:
    path = real_clip("carphone_pristine")  # type: ignore[operator]

    def read() -> None:
        with open_clip(path) as clip:
            for _ in clip.frames():
                pass

    read()
    gc.collect()
    gc.disable()
    try:
        gc.set_debug(gc.DEBUG_SAVEALL)
        read()
        gc.collect()
        held = [x for x in gc.garbage if type(x).__name__ == "VideoFrame" and x.width > 2]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert held == []
