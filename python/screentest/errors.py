"""Every error that screentest raises on purpose.

Each has a stable snake_case ``code``, a message that says what was given, what was expected and
what to do, and a ``context`` dict with the numbers behind the message. All of them pickle.
A missing file stays :class:`FileNotFoundError`; a failed screen is a result, never an exception.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

__all__ = [
    "InputError",
    "MediaError",
    "MissingBackendError",
    "PolicyError",
    "ProtocolError",
    "SchemaError",
    "ScreentestError",
    "TrajectoryPerturbingError",
]


class ScreentestError(Exception):
    """Root of the errors raised on purpose; ``except ScreentestError`` catches them all."""

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None, **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.context = context

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.code, self.context))

    @classmethod
    def _from_parts(cls, message: str, code: str, context: dict[str, Any]) -> Self:
        return cls(message, code=code, **context)


def _rebuild(
    kind: type[ScreentestError], message: str, code: str, context: dict[str, Any]
) -> ScreentestError:
    return kind._from_parts(message, code, context)


class InputError(ScreentestError, ValueError):
    """The call is wrong: an argument's value, shape or type."""

    default_code = "bad_input"


class MediaError(ScreentestError):
    """This file or array cannot be read as it is described."""

    default_code = "unreadable_media"


class ProtocolError(ScreentestError):
    """This comparison is not valid."""

    default_code = "invalid_protocol"


class TrajectoryPerturbingError(ProtocolError):
    """The change moves the sampling trajectory, so a same-seed reference metric has no meaning."""

    default_code = "trajectory_perturbed"


class MissingBackendError(ScreentestError):
    """An optional part is not installed; the message names the extra that brings it."""

    default_code = "missing_backend"


class SchemaError(ScreentestError):
    """These bytes are not the document they claim to be."""

    default_code = "bad_schema"


class PolicyError(ScreentestError, ValueError):
    """This policy contradicts itself or names something that does not exist."""

    default_code = "bad_policy"
