"""Pairing of frames as they come."""

from __future__ import annotations

from screentest import _native, compute
from screentest.media.clip import Clip, Frame
from screentest.metrics.pairing.differences import differences_of
from screentest.metrics.pairing.facts import PairingFacts, path_of

__all__ = ["PairingAccumulator"]


class PairingAccumulator:
    """Takes the frames of two open clips side by side; :meth:`finish` tells how they go together.

    Both clips are pushed from their first frame to their last, in display order. Push them in pairs
    with ``None`` once one has ended, as ``zip_longest`` gives them, or one by one: neither may run
    more than 32 frames ahead unless the other has ended.

    Memory does not grow with the clips but for a few bytes for each frame that is dropped or
    repeated. Safe to share between threads.

    Raises:
        InputError: the clips differ in size (``code="size_mismatch"``).

    Example:
        >>> import numpy as np
        >>> from itertools import zip_longest
        >>> from screentest.media import open_clip
        >>> noise = np.random.default_rng(0).integers(0, 256, (20, 48, 64, 3), np.uint8)
        >>> with open_clip(noise) as reference, open_clip(np.delete(noise, 7, 0)) as candidate:
        ...     pairing = PairingAccumulator(reference, candidate)
        ...     for pair in zip_longest(reference.frames(), candidate.frames()):
        ...         pairing.push(*pair)
        >>> facts = pairing.finish()
        >>> facts.dropped, facts.lag, facts.missing_at_end
        ((7,), 0, 0)
    """

    def __init__(self, reference: Clip, candidate: Clip) -> None:
        self._clips = (reference, candidate)
        self._native = _native.PairingAccumulator(
            reference.format, candidate.format, simd=compute.simd_level()
        )

    def push(self, reference: Frame | None, candidate: Frame | None) -> None:
        """Takes the next frame of each clip, or of one of them.

        The frames' memory is read before this returns and not kept.

        Raises:
            InputError: the planes do not fit their clip's format, or the clip was taken to have
                ended because the other ran ahead (``code="out_of_step"``). Nothing is kept then.
        """
        self._native.push(
            None if reference is None else reference.planes,
            None if candidate is None else candidate.planes,
        )

    def push_reference(self, frame: Frame) -> None:
        """Takes the next frame of the reference; raises as :meth:`push`."""
        self.push(frame, None)

    def push_candidate(self, frame: Frame) -> None:
        """Takes the next frame of the candidate; raises as :meth:`push`."""
        self.push(None, frame)

    def finish(self) -> PairingFacts:
        """The facts of the frames pushed; once.

        No frame at all is a pair of two empty clips. Static, flat, periodic and unrelated pictures
        have lag 0 without evidence.

        Raises:
            InputError: it has finished already.
        """
        found = self._native.finish()
        reference, candidate = self._clips
        frames = found["frames_reference"], found["frames_candidate"]
        return PairingFacts(
            frames_reference=frames[0],
            frames_candidate=frames[1],
            lag=found["lag"],
            lag_evidence=found["lag_evidence"],
            dropped=tuple(found["dropped"]),
            repeated=tuple(found["repeated"]),
            missing_at_end=found["missing_at_end"],
            extra_at_end=found["extra_at_end"],
            path=path_of(*frames, found["stretches"], found["repeated"]),
            differences=differences_of(
                reference.info, candidate.info, (reference.times_s, candidate.times_s)
            ),
        )
