"""The command line: it reads the arguments, runs the command, and turns every failure into a message and an
exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import TextIOWrapper

from . import exits
from .arguments import parser
from .givenprogram import with_text
from .keptmethods import keep_methods

USER_ERROR, USAGE_ERROR, INTERNAL_ERROR = 1, 2, 70


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code: 0, 1 for an error in the input, 2 for wrong options, 70
    for a fault of ddlog, 130 after Ctrl-C, 143 after SIGTERM.

    Without `argv` the arguments of the process count, and the process ends here at once: to take a
    large state and a compiler apart in good order would only keep the user waiting.
    """
    if argv is None:
        exits.raise_at_signals()
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace", encoding=None if stream.isatty() else "utf-8")
        sys.set_int_max_str_digits(0)  # integers have any number of digits
        sys.setrecursionlimit(10_000)  # so that values of a recursive type may be nested in each other
    code = _run_main(argv)
    if argv is None:
        exits.end_at_once()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        keep_methods()
        os._exit(code)
    return code


def _open_closed_streams() -> None:
    """Lets standard streams that were closed from outside be empty, and swallow what is written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _run_main(argv: Sequence[str] | None) -> int:
    try:
        code = _parse_and_act(argv)
        sys.stdout.flush()
        return exits.told() if exits.is_asked() else code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER_ERROR
    except OSError as error:
        return _cannot_write(error)
    except KeyboardInterrupt:
        return exits.told()


def _parse_and_act(argv: Sequence[str] | None) -> int:
    try:
        given, text = with_text(sys.argv[1:] if argv is None else argv)
        whole = parser(given[0] if given else "")
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete

            argcomplete.autocomplete(whole)  # prints the words that can follow, and ends the process
        arguments = whole.parse_args(given)
        arguments.text, arguments.command_line = text, main
        act: Callable[[argparse.Namespace], int] = arguments.act
        return _guarded(act, arguments)
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else USAGE_ERROR


def _cannot_write(error: OSError) -> int:
    with suppress(OSError):
        place = "the output" if error.filename is None else error.filename
        print(f"error: cannot write {place}: {error.strerror or error}", file=sys.stderr)
    return USER_ERROR


def _guarded(act: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Runs a command; errors are printed, not raised."""
    from ..errors.diagnostics import DDlogError, render
    from .notes import in_color

    try:
        return act(arguments)
    except DDlogError as error:
        sys.stdout.flush()
        print(render(error.diagnostics, color=in_color(sys.stderr)), file=sys.stderr)
        if sys.stderr.isatty():
            from ..errors.codes import code_of

            found = ", ".join(sorted({code_of(type(each)) for each in error.diagnostics}))
            print(f"note: `ddlog explain-error CODE` tells more of {found}", file=sys.stderr)
        return USER_ERROR
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except OSError as error:
        return _cannot_write(error)
    except MemoryError:
        print("error: there is not enough memory", file=sys.stderr)
        return USER_ERROR
    except RecursionError:
        if os.environ.get("DDLOG_DEBUG"):
            raise
        print("error: a value is nested too deeply to be compared or written", file=sys.stderr)
        return USER_ERROR
    except Exception as error:
        if exits.is_asked():  # a library made an error of its own of the interrupt
            raise KeyboardInterrupt from None
        if os.environ.get("DDLOG_DEBUG"):
            raise
        if "pyspark" in sys.modules:
            from ..spark.sessions.failures import diagnose

            diagnostic = diagnose(error)
            if diagnostic is not None:
                print(render([diagnostic], color=in_color(sys.stderr)), file=sys.stderr)
                return USER_ERROR
        from ..errors.diagnostics import internal_error_text

        print(internal_error_text(error), file=sys.stderr)
        return INTERNAL_ERROR
