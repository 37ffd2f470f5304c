"""Feeds mutated reports and controls to the reader, the inspection, the lines and the diff."""

import sys

import atheris

with atheris.instrument_imports(include=["screentest"]):
    from tests.fuzz.report_input import check, resealed, seeds


def one_input(data: bytes) -> None:
    """Reads ``data[1:]`` as a document; if the first byte is odd, the canonical bytes of whatever
    JSON it is, so that mutations reach behind the form."""
    if len(data) < 2:
        return
    check(resealed(data[1:]) if data[0] & 1 else data[1:])


if __name__ == "__main__":
    for seed in seeds():
        one_input(b"\x00" + seed)
    atheris.Setup([*sys.argv, "-timeout=10"], one_input)
    atheris.Fuzz()
