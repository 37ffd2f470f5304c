"""The ``screentest`` command: registers the commands, and turns errors into a line and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from screentest.cli import (
    audio,
    calibrate,
    compare,
    demo,
    evaluate,
    exit_codes,
    gate,
    measure,
    metrics,
    models,
    output,
    probe,
    report,
    screen,
    tracks,
)

__all__ = ["app", "main"]

# The command-line parser's own errors. typer may carry its parser within itself, so they are
# reached through a class that it exports.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_ParserError: type[Exception] = _UsageError.__bases__[0]


class _Group(TyperGroup):
    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; every error on purpose is one line on stderr and a status."""
        try:
            status = self._run(args, prog_name, complete_var, windows_expand_args, extra)
        except KeyboardInterrupt:
            status = exit_codes.INTERRUPTED
        except (BrokenPipeError, output.ReaderGone):
            # Whoever read us has gone. Flushing at exit would complain about it again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = exit_codes.BROKEN_PIPE
        if standalone_mode:
            sys.exit(status)
        return status

    def _run(
        self,
        args: Sequence[str] | None,
        prog_name: str | None,
        complete_var: str | None,
        windows_expand_args: bool,
        extra: dict[str, Any],
    ) -> int:
        try:
            status = super().main(
                args, prog_name, complete_var, False, windows_expand_args, **extra
            )
            sys.stdout.flush()
        except typer.Abort:
            return exit_codes.INTERRUPTED
        except (BrokenPipeError, output.ReaderGone):
            raise
        except _ParserError as error:
            format_message = getattr(error, "format_message", error.__str__)
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "screentest"
            # Without arguments the help has been printed, and the error says nothing.
            if told := format_message():
                output.error(f"{told} (see '{command} --help')")
            return exit_codes.BAD_INPUT
        except Exception as error:
            from screentest.errors import ScreentestError

            if not isinstance(error, (ScreentestError, OSError)):
                # A fault of this program. Python's own status for it is that of a reject.
                import traceback

                traceback.print_exc()
                return exit_codes.NOT_JUDGED
            from screentest.reports.screening import describe_error

            output.error(output.shown(describe_error(error)[1]))
            return exit_codes.BAD_INPUT
        return status if isinstance(status, int) else exit_codes.DONE


app = typer.Typer(
    name="screentest",
    cls=_Group,
    help="Test generated video: is this a render at all, do two clips go together, how far apart "
    "are they, may a change ship? Neither a screen nor a distance is a quality gate: a melted "
    "render can pass the one and a harmless retake is far away by the other.",
    epilog=exit_codes.HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command("screen", help=output.prose(screen.command.__doc__), epilog=exit_codes.HELP)(
    screen.command
)
app.command("compare", help=output.prose(compare.command.__doc__), epilog=compare.EXIT_STATUS)(
    compare.command
)
app.command(
    "gate", cls=gate.Command, help=output.prose(gate.command.__doc__), epilog=gate.EXIT_STATUS
)(gate.command)
app.command("measure", help=output.prose(measure.command.__doc__), epilog=measure.EXIT_STATUS)(
    measure.command
)
app.command("tracks", help=output.prose(tracks.command.__doc__), epilog=tracks.EXIT_STATUS)(
    tracks.command
)
app.command("audio", help=output.prose(audio.command.__doc__), epilog=audio.EXIT_STATUS)(
    audio.command
)
app.command(
    "calibrate",
    cls=calibrate.Command,
    help=output.prose(calibrate.command.__doc__),
    epilog=calibrate.EXIT_STATUS,
)(calibrate.command)
app.add_typer(evaluate.app, name="eval")
app.command("metrics", help=output.prose(metrics.command.__doc__), epilog=metrics.EXIT_STATUS)(
    metrics.command
)
app.add_typer(report.app, name="report")
app.add_typer(models.app, name="models")
app.command("probe", help=output.prose(probe.command.__doc__), epilog=exit_codes.HELP)(
    probe.command
)
app.command("demo", help=output.prose(demo.command.__doc__), epilog=exit_codes.HELP)(demo.command)

for _group in (evaluate.app, report.app, models.app):
    for _one in _group.registered_commands:
        _one.help = output.prose(_one.callback.__doc__)


def _print_version(wanted: bool) -> None:
    if wanted:
        import screentest

        output.result(f"screentest {screentest.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    del version  # handled by its callback


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``screentest`` command. Ends the process."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="screentest")
    except SystemExit as end:
        if end.code == exit_codes.INTERRUPTED:
            # Threads that are reading a file would hold the exit until they are done with it.
            sys.stderr.flush()
            os._exit(exit_codes.INTERRUPTED)
        raise


if __name__ == "__main__":
    main()
