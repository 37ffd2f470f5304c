"""What a sample states about itself: ``sample.json``, written by whoever wrote the sample.

``{"padding": [left, right, top, bottom], "alignment": N, "action_valid_mask": [...]}``; every
part may be left out, and other keys are the writer's own. It lies beside the prediction, in the
sample's directory, beside a plain ``<stem>.mp4`` as ``<stem>.sample.json``, or beside the
ground truth as ``<key>.sample.json``; the first that exists counts.

Padding is what was added to the ground truth to fit a batch. It is removed, then the right and the
bottom are cut so that both sides are multiples of ``alignment``, as a generator of that step
cuts its input: the upper left corner stays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest.errors import MediaError
from screentest.evaluations.layout import Prediction

__all__ = ["Statement", "cut", "read_statement", "state"]

# Wider than any picture, and a number that a record can hold.
_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Statement:
    """``padding`` is (left, right, top, bottom) in pixels; ``mask`` as JSON has it."""

    padding: tuple[int, int, int, int] | None = None
    alignment: int | None = None
    mask: Any = None


def read_statement(prediction: Prediction | None, ground_truth_dir: Path, key: str) -> Statement:
    """What the first statement file of a sample says; an empty one where there is none.

    Raises :class:`~screentest.errors.MediaError` with code ``bad_sample_file`` for one that cannot
    be read as described.
    """
    for path in _places(prediction, ground_truth_dir, key):
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        try:
            said = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _bad(path, f"no JSON ({error})") from None
        if not isinstance(said, dict):
            raise _bad(path, "an object was expected")
        return state(
            said.get("padding"),
            said.get("alignment"),
            mask=said.get("action_valid_mask"),
            where=path,
        )
    return Statement()


def state(padding: Any, alignment: Any, *, mask: Any = None, where: object) -> Statement:
    """A checked statement."""
    if padding is not None:
        if not isinstance(padding, Sequence) or len(padding) != 4 or not all(
            type(side) is int and 0 <= side <= _MOST for side in padding
        ):  # fmt: skip
            raise _bad(where, f"padding={padding!r}: [left, right, top, bottom] in whole pixels")
        padding = tuple(padding)
    if alignment is not None and (type(alignment) is not int or not 1 <= alignment <= _MOST):
        raise _bad(where, f"alignment={alignment!r}: a whole number of pixels, at least 1")
    return Statement(padding, alignment, mask)


def cut(statement: Statement, width: int, height: int) -> tuple[int, int, int, int] | None:
    """The part (x, y, width, height) of a ground-truth picture that is compared; ``None``: all.

    >>> cut(Statement(padding=(8, 8, 0, 4), alignment=16), 336, 244)
    (8, 0, 320, 240)
    """
    left, right, top, bottom = statement.padding or (0, 0, 0, 0)
    step = statement.alignment or 1
    inner = ((width - left - right) // step * step, (height - top - bottom) // step * step)
    if min(inner) < 1:
        raise MediaError(
            f"padding {[left, right, top, bottom]} and alignment {step} leave nothing of a ground "
            f"truth of {width}x{height}",
            code="nothing_left",
        )
    return None if inner == (width, height) else (left, top, *inner)


def _places(prediction: Prediction | None, ground_truth_dir: Path, key: str) -> list[Path]:
    beside = [ground_truth_dir / f"{key}.sample.json"]
    if prediction is None:
        return beside
    path, place = prediction.path, prediction.place
    own = [path.parent / f"{path.stem}.sample.json"]
    if path.parent.name == place.folder.rpartition("/")[2]:
        own.append(path.parent / "sample.json")
        if path.parent.name != place.key:
            own.append(path.parent.parent / "sample.json")
    return own + beside


def _bad(where: object, why: str) -> MediaError:
    return MediaError(f"{where}: {why}", code="bad_sample_file")
