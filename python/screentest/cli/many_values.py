"""Options that take several values at once: ``--reference a.mp4 b.mp4``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from typer.core import TyperCommand

__all__ = ["ManyValues", "spread"]

_NUMBER = re.compile(r"-\d")


class ManyValues(TyperCommand):
    """A command without arguments of its own, some of whose options take what follows them up to
    the next option. Each may be repeated as well."""

    many: ClassVar[frozenset[str]] = frozenset()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give each value its own option, which the parser knows how to collect."""
        return super().parse_args(ctx, list(spread(args, self.many)))


def spread(arguments: Sequence[str], many: Collection[str]) -> Iterator[str]:
    """The arguments with each of several values behind its own option.

    >>> list(spread(["--seeds", "1", "-2", "--json"], {"--seeds"}))
    ['--seeds', '1', '--seeds', '-2', '--json']
    """
    current, fresh = None, False
    for argument in arguments:
        option = argument.partition("=")[0]
        if fresh:
            # What stands right behind an option is its value, whatever it looks like.
            yield argument
            fresh = False
        elif argument.startswith("-") and not (current and _NUMBER.match(argument)):
            current = option if option in many else None
            fresh = argument in many
            yield argument
        else:
            if current is not None:
                yield current
            yield argument
