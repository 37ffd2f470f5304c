"""Sealed documents: bytes that identify a result, and that any reader can verify and refuse.

The envelope says what the body is, which metrics and versions its numbers come from, and under
which conditions they were taken. It holds no version of the package and no time, so that equal
results are equal bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from screentest.errors import SchemaError, ScreentestError
from screentest.files import write_atomically
from screentest.metrics import registry
from screentest.protocol import Protocol
from screentest.reports import canonical, contents, schemas

__all__ = ["DOCUMENT", "Sealed", "dump", "load", "load_verified", "save"]

DOCUMENT = "screentest/document@1"
"""The envelope. It is closed: another key would be another way to read the rest."""

_KEYS = ("document", "schema", "metric_set", "impls", "protocol", "protocol_absent", "body")


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was read and held true to its own rules.

    Attributes:
        schema: the kind of its body.
        metric_set: the registry that its metrics are of.
        impls: by metric, the version of the numbers in the body.
        body: the report or control.
        protocol: the conditions that it was taken under.
        protocol_absent: why there are none; empty where there are.
        digest: of its bytes.
    """

    schema: str
    metric_set: str
    impls: dict[str, str]
    body: Any
    protocol: Protocol | None
    protocol_absent: str
    digest: str

    def require_protocol(self) -> Protocol:
        """The conditions.

        Raises:
            SchemaError: there are none (``no_protocol``); the message has the recorded reason.
        """
        if self.protocol is None:
            raise SchemaError(
                f"this {self.schema} has no protocol: {ascii(self.protocol_absent)[1:-1][:200]}",
                code="no_protocol",
            )
        return self.protocol


def dump(
    body: object,
    *,
    protocol: Protocol | None = None,
    protocol_absent: str | None = None,
    impls: Mapping[str, str] | None = None,
) -> bytes:
    """The canonical bytes of a report or control; equal bodies give equal bytes.

    Args:
        body: a :class:`~screentest.gates.report.GateReport`, ``NullControl`` or ``RepeatControl``.
        protocol: the conditions; by default those of the body, and never others.
        protocol_absent: why there are none, for a body without conditions of its own.
        impls: versions of the metrics that the body has numbers of; by default those that it
            states, else the registry's.

    Raises:
        SchemaError: the bytes would be ones that :func:`load` refuses. The message names the field,
            and what is not finite is told by its path.
    """
    kind = schemas.kind_of(body)
    if protocol is None and protocol_absent is None:
        protocol = getattr(body, "protocol", None)
    document = {
        "document": DOCUMENT,
        "schema": kind.schema,
        "metric_set": registry.SCHEMA,
        "impls": dict(contents.impls_of(kind, body) if impls is None else impls),
        "protocol": protocol,
        "protocol_absent": protocol_absent or "",
        "body": body,
    }
    try:
        plain = msgspec.to_builtins(document)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"not a JSON document: {error}", code="not_canonical") from None
    data = canonical.dumps(plain)
    load(data)
    return data


def load(data: bytes, expect: str | type | None = None) -> Sealed:
    """The document in these bytes, if they are exactly those that :func:`dump` writes of it and its
    verdict follows from its facts.

    Fields of a body that this version does not know are ignored; those of the envelope, of a
    protocol and of a budget table's document are refused.

    Args:
        data: canonical bytes.
        expect: the schema id, or the type of the body, that alone will do.

    Raises:
        SchemaError: as :func:`~screentest.reports.canonical.loads`; the bytes are not canonical
            (``not_canonical``); the envelope is not one (``bad_envelope``); the schema is unknown
            or not the expected one (``unknown_schema``, ``wrong_schema``); the body is not of its
            kind (``bad_body``); versions do not cover its numbers (``bad_impls``); it contradicts
            itself (``contradiction``).
    """
    document = canonical.loads_canonical(data)
    if not isinstance(document, dict):
        raise SchemaError(f"expected a {DOCUMENT}, this is no object", code="bad_envelope")
    _refuse_keys(document)
    kind = schemas.kind_named(document["schema"])
    if expect is not None and expect not in (kind.schema, kind.body):
        wanted = expect if isinstance(expect, str) else expect.__name__
        raise SchemaError(
            f"this is a {kind.schema}; expected {wanted}", code="wrong_schema", schema=kind.schema
        )
    body = _read(document["body"], kind.body, "body")
    protocol = _protocol(document, body)
    contents.refuse_impls(kind, body, document["impls"])
    fault = next(kind.faults(body), None)
    if fault is not None:
        _refuse("contradiction", f"body: {fault}")
    return Sealed(
        schema=kind.schema,
        metric_set=document["metric_set"],
        impls=document["impls"],
        body=body,
        protocol=protocol,
        protocol_absent=document["protocol_absent"],
        digest=canonical.digest(data),
    )


def load_verified(
    path: str | os.PathLike[str], digest: str, expect: str | type | None = None
) -> Sealed:
    """The document in a file, if its bytes have this digest. A newline behind them, with which
    standard output ends, is none of them.

    Args:
        path: of the file.
        digest: as :attr:`Sealed.digest` has it, ``sha256:`` and 64 hexadecimal digits.
        expect: as for :func:`load`.

    Raises:
        SchemaError: they have not (``digest_mismatch``), or as :func:`load`.
        FileNotFoundError: there is no such file.
    """
    data = canonical.without_newline(Path(path).read_bytes())
    found = canonical.digest(data)
    if found != digest:
        raise SchemaError(
            f"{canonical.one_line(os.fspath(path))} has digest {found}; expected "
            f"{ascii(digest)[:100]}",
            code="digest_mismatch",
            digest=found,
        )
    return load(data, expect)


def save(
    path: str | os.PathLike[str],
    body: object,
    *,
    protocol: Protocol | None = None,
    protocol_absent: str | None = None,
    impls: Mapping[str, str] | None = None,
) -> str:
    """Writes a document, wholly or not at all, and returns its digest. Errors as :func:`dump`."""
    data = dump(body, protocol=protocol, protocol_absent=protocol_absent, impls=impls)
    write_atomically(Path(path), data)
    return canonical.digest(data)


def _refuse_keys(document: dict[str, Any]) -> None:
    if missing := [key for key in _KEYS if key not in document]:
        _bad_envelope(f"it has no {', '.join(missing)}")
    if foreign := [key for key in document if key not in _KEYS]:
        _bad_envelope(f"unknown key {ascii(foreign[0])[:60]}; it holds {', '.join(_KEYS)}")
    for key, expected in (("document", DOCUMENT), ("metric_set", registry.SCHEMA)):
        if document[key] != expected:
            _bad_envelope(
                f"{key} is {ascii(document[key])[:60]}; this version reads {expected}: read it "
                "with the screentest that wrote it"
            )
    impls = document["impls"]
    if not isinstance(impls, dict) or not all(isinstance(impl, str) for impl in impls.values()):
        _bad_envelope("impls is no table of texts")


def _protocol(document: dict[str, Any], body: object) -> Protocol | None:
    """The conditions, which are there or have a reason why not, and are those of the body."""
    given, absent = document["protocol"], document["protocol_absent"]
    if not isinstance(absent, str):
        _bad_envelope("protocol_absent is no text")
    if given is None and not absent.strip():
        _bad_envelope("it has neither a protocol nor a reason why there is none")
    if given is not None and absent:
        _bad_envelope("it has a protocol and a reason why there is none")
    protocol = None if given is None else _read(given, Protocol, "protocol")
    own = getattr(body, "protocol", None)
    if own != protocol:
        _bad_envelope("protocol is not that of the body")
    return protocol


def _read(value: Any, kind: type[Any], place: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        place, why = place + path.rstrip("`"), message
    except ScreentestError as error:
        # A record that checks itself when it is made.
        why = error.message
    _refuse("bad_body", f"{place}: {why}")


def _bad_envelope(why: str) -> NoReturn:
    _refuse("bad_envelope", f"the envelope: {why}")


def _refuse(code: str, why: str) -> NoReturn:
    # Names and prompts in it are of whoever wrote the document.
    said = canonical.one_line(why)
    raise SchemaError(said if len(said) <= 400 else f"{said[:397]}...", code=code)
