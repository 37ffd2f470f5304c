"""The record of one clip that population statistics take: exact to save and to load."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from screentest.errors import InputError, MediaError, SchemaError
from screentest.files import write_atomically
from screentest.metrics.signal.facts import FEATURES, SignalFacts, nothing_to_compare
from screentest.metrics.signal.measure import measure_signal

__all__ = ["ClipScore", "load_clip_score", "save_clip_score", "score_clip"]


class ClipScore(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Statistics of one clip, as :class:`SignalFacts` has them, with the frames' feature matrix.

    ``features`` is float64 ``(n_frames, 6)``; its columns are
    :data:`~screentest.metrics.signal.FEATURES`. ``motion`` is float64 ``(n_frames,)``: mean
    ``|Y_t - Y_(t-1)|`` in 8-bit levels, the first entry 0; a record without it has none of its
    entries. A still is one frame whose temporal numbers are 0. Two are equal when every field is,
    the arrays by their values; they cannot be hashed.
    """

    n_frames: int
    width: int
    height: int
    sharpness: float
    sharpness_p10: float
    hf_ratio: float
    detail_entropy: float
    contrast: float
    saturation: float
    local_contrast: float
    brightness: float
    flicker: float
    jerk_ratio: float
    shimmer: float
    motion_energy: float
    flat_frames: int = 0
    features: NDArray[np.float64] = np.empty((0, len(FEATURES)))
    motion: NDArray[np.float64] = np.empty(0)

    @property
    def is_degenerate(self) -> bool:
        """Whether nothing may be ranked or gated on it: no contrast, or half the frames flat.

        The first test survives a record that has lost ``flat_frames``.
        """
        if self.n_frames <= 0:
            return False
        return nothing_to_compare(self.contrast, self.flat_frames, self.n_frames)

    @classmethod
    def of(cls, facts: SignalFacts) -> ClipScore:
        """The record of these facts.

        Raises:
            MediaError: they lack the features: the pictures are below 3x3 pixels, or the pass was
                of luma alone.
        """
        values = {
            name: getattr(facts, "frames" if name == "n_frames" else name) for name in _SCALARS
        }
        lacking = [name for name, value in values.items() if value is None]
        if lacking:
            raise MediaError(
                f"{facts.clip.source}: {', '.join(lacking)} could not be measured; expected "
                "pictures of at least 3x3 pixels and the full pass (features=True)",
                code="no_features",
            )
        motion = 255.0 * facts.series.motion
        motion[:1] = 0.0
        return cls(**values, features=facts.series.features(), motion=motion)

    def metrics(self) -> dict[str, float]:
        """The numbers by name, without the arrays."""
        return {name: getattr(self, name) for name in _SCALARS if name not in _COUNTS}

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain data; ``features`` as a list of rows, ``motion`` as a list."""
        plain = {name: getattr(self, name) for name in _SCALARS}
        return {**plain, "features": self.features.tolist(), "motion": self.motion.tolist()}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> ClipScore:
        """The record that :meth:`to_dict` wrote. ``flat_frames``, ``features`` and ``motion`` may
        be missing.

        Raises:
            InputError: another field is missing, one is not a finite number, or there are features
                or motion of another number of frames.
        """
        lacking = [name for name in _SCALARS if name not in plain and name != "flat_frames"]
        if lacking:
            raise InputError(
                f"a clip score without {', '.join(lacking)}: expected every field but "
                "flat_frames, features and motion",
                code="bad_clip_score",
            )
        try:
            values: dict[str, Any] = {
                name: int(plain.get(name, 0)) if name in _COUNTS else float(plain[name])
                for name in _SCALARS
            }
            features = np.asarray(plain.get("features", []), np.float64).reshape(-1, len(FEATURES))
            motion = np.asarray(plain.get("motion", []), np.float64).reshape(-1)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"a clip score with {error}: expected numbers, and {len(FEATURES)} in each row of "
                "features",
                code="bad_clip_score",
            ) from None
        wrong = [name for name, value in values.items() if not np.isfinite(value) or value < 0]
        if wrong or not np.isfinite(features).all() or len(features) not in (0, values["n_frames"]):
            what = ", ".join(f"{name}={values[name]}" for name in wrong)
            raise InputError(
                f"a clip score with {what or f'{len(features)} rows of features'}: expected finite "
                "numbers from 0 on, and features of none or of each of its "
                f"{values['n_frames']} frames",
                code="bad_clip_score",
            )
        if len(motion) not in (0, values["n_frames"]) or not np.all(
            (motion >= 0) & (motion < np.inf)
        ):
            raise InputError(
                f"a clip score with motion of {len(motion)} frames: expected finite numbers from 0 "
                f"on, of none or of each of its {values['n_frames']} frames",
                code="bad_clip_score",
            )
        return cls(**values, features=features, motion=motion)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClipScore):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _SCALARS) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    __hash__ = None  # type: ignore[assignment]


_ARRAYS = ("features", "motion")
_SCALARS = tuple(name for name in ClipScore.__struct_fields__ if name not in _ARRAYS)
_COUNTS = frozenset({"n_frames", "width", "height", "flat_frames"})


def score_clip(source: Any, *, threads: int | None = None, **options: Any) -> ClipScore:
    """The record of one clip or still; arguments and errors as
    :func:`~screentest.metrics.signal.measure_signal`.

    >>> import numpy as np
    >>> still = np.random.default_rng(0).integers(0, 256, (1, 32, 32, 3), np.uint8)
    >>> score = score_clip(still)
    >>> score.n_frames, score.motion_energy, ClipScore.from_dict(score.to_dict()) == score
    (1, 0.0, True)
    """
    return ClipScore.of(measure_signal(source, threads=threads, **options))


def save_clip_score(score: ClipScore, path: str | PathLike[str]) -> None:
    """Writes a record as JSON: wholly or not at all."""
    write_atomically(Path(path), msgspec.json.encode(score.to_dict()))


def load_clip_score(path: str | PathLike[str]) -> ClipScore:
    """The record that :func:`save_clip_score` wrote.

    Raises:
        SchemaError: the bytes are not such a record.
        FileNotFoundError: there is no such file.
    """
    with open(path, "rb") as file:
        written = file.read()
    try:
        return ClipScore.from_dict(msgspec.json.decode(written, type=dict[str, Any]))
    except (msgspec.DecodeError, InputError) as error:
        raise SchemaError(f"{path}: not a clip score: {error}") from None
