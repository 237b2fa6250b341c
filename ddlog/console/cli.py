"""The command line: `ddlog run`, `repl`, `check`, `circuit`, `import-souffle`. Thin: it says what there
is and calls it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from .refused import refuse

if TYPE_CHECKING:
    from ..sessions.engines import EngineOptions
    from ..sessions.program import Program

USER_ERROR, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 1, 2, 70, 130

_FILE_FORMS = """\
fact files (--input), one for each input relation, named after it:
  REL.csv          commas, quotes as in RFC 4180; a first line that names the columns is a header
  REL.facts, .tsv  tabs, no header, no quotes
  REL.jsonl, .json objects by column name, or arrays
  REL.parquet, .arrow
  REL/             a folder of such files; the text forms also in .gz
--input may be repeated, and be a pattern ('facts/2026-*/*.csv'), or Rel=PLACE for one relation, whatever the
names there: Edge=data/e.csv, 'Edge=data/*.parquet'. For Spark, which then reads the files itself, also the
URL of an object store (s3a://bucket/facts), Rel=TABLE of the catalog, or table:PREFIX, the tables PREFIX +
relation, and .orc in Rel=PLACE.

output (--output), on Spark written by the executors:
  DIR              DIR/REL.csv; on Spark the folder DIR/REL of part files, also at a URL
  table:PREFIX     on Spark: the catalog tables PREFIX + relation, which are replaced

Values other than numbers, strings and booleans are written as in commands, or as JSON.

update files (--updates):
  NAME.dat         commands: start; insert R(1, "a"), delete R(2, "b"); commit;
                   also rollback, insert_or_update, delete_key, modify, clear, dump, query_index,
                   dump_index, profile, timestamp, log_level, mssleep, echo, exit
  NAME.jsonl       {"insert": {"R": {"x": 1}}}, {"delete": …}, {"commit": true}, one a line
  REL.csv, .tsv    a leading column +1 or -1; a line `commit` ends a transaction, as does the end
  -                standard input, commands or JSON lines, applied as they arrive
Each commit prints exactly the changes of the output relations; with --output they also go to
DIR/changes.jsonl or DIR/REL.changes.csv.

followed files (--follow DIR), in a folder for each input relation, DIR/REL/, moved there when they are whole:
  facts            in any form of fact files: rows that come
  changes          .jsonl and .csv, .tsv as in update files, or a table with a column `op`, +1 or -1
The files that are found at a time are one epoch. Its changes are printed, or with --output written to
DIR/changes/epoch=N/changes.jsonl, each epoch once, however often a run with --checkpoint is started again.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; gives the exit code: 0, 1 for what the user got wrong, 2 for usage, 70 for
    a fault of ours, 130 after Ctrl-C.

    Without arguments, those of the process are taken and the process ends here and now: to take a
    large state and a compiler apart in good order would only keep the user waiting.
    """
    if argv is None:
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace", encoding=None if stream.isatty() else "utf-8")
        gc.set_threshold(200_000, 20, 50)  # what is made while starting stays anyway
    code = _run_main(argv)
    if argv is None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
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
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER_ERROR
    except OSError as error:
        return _cannot_write(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _parse_and_act(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        act: Callable[[argparse.Namespace], int] = arguments.act
        return _guarded(act, arguments)
    except SystemExit as exit:
        return exit.code if isinstance(exit.code, int) else USAGE_ERROR


def _cannot_write(error: OSError) -> int:
    with suppress(OSError):
        print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr)
    return USER_ERROR


def _guarded(act: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Runs a command; errors are printed, not raised."""
    from ..errors.diagnostics import DDlogError, render

    try:
        return act(arguments)
    except DDlogError as error:
        sys.stdout.flush()
        print(render(error.diagnostics, color=sys.stderr.isatty()), file=sys.stderr)
        return USER_ERROR
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except OSError as error:
        return _cannot_write(error)
    except MemoryError:
        print("error: there is not enough memory", file=sys.stderr)
        return USER_ERROR
    except Exception as error:
        if os.environ.get("DDLOG_DEBUG"):
            raise
        if "pyspark" in sys.modules:
            from ..spark.sessions.failures import diagnose

            diagnostic = diagnose(error)
            if diagnostic is not None:
                print(render([diagnostic], color=sys.stderr.isatty()), file=sys.stderr)
                return USER_ERROR
        from ..errors.mishap import internal_error_text

        print(internal_error_text(error), file=sys.stderr)
        return INTERNAL_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ddlog", description="Differential Datalog in Python.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _run_parser(commands)
    repl = _command(commands, "repl", "run a program interactively: commands and queries", _repl)
    _running_options(repl)
    _command(commands, "check", "report all errors and warnings of a program, and run nothing", _check)
    circuit = _command(commands, "circuit", "show the circuit that a program becomes", _circuit)
    circuit.add_argument("--stage", choices=("relational", "incremental"), default="incremental",
                         help="before or after the rewriting to changes (default: incremental)")  # fmt: skip
    circuit.add_argument("--output", metavar="FILE", help="draw it: FILE.svg, FILE.dot or FILE.txt")
    circuit.add_argument("--engine", choices=("in-process", "spark"), default="in-process",
                         help="spark: also say which expressions are SQL and which Python")  # fmt: skip
    _import_souffle_parser(commands)
    return parser


def _import_souffle_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    help = "translate a Soufflé program into one of this language"
    parser = commands.add_parser("import-souffle", help=help, description=f"T{help[1:]}.")
    parser.add_argument("program", metavar="FILE.dl", type=Path, help="the Soufflé program")
    parser.add_argument("-o", "--output", metavar="OUT.dl", type=Path,
                        help="where the translation goes (default: standard output)")  # fmt: skip
    parser.add_argument("--word", type=int, choices=(32, 64), default=32,
                        help="the bits of its numbers (default: 32)")  # fmt: skip
    parser.set_defaults(act=_import_souffle)


def _run_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = _command(commands, "run", "read facts, give the output relations, apply updates", _run)
    run.formatter_class = argparse.RawDescriptionHelpFormatter
    run.epilog = _FILE_FORMS
    _running_options(run)
    run.add_argument("--output", metavar="DIR", help="write the output relations here, a file or folder each")
    run.add_argument("--format", choices=("csv", "tsv", "jsonl", "parquet"),
                     help="form of the output (default: csv in files, records on the terminal)")  # fmt: skip
    run.add_argument(
        "--updates", metavar="FILE", help="changes to apply, transaction by transaction; - is stdin"
    )
    for name, default, what in (
        ("init-snapshot", "give out", "the output relations as they are before the updates"),
        ("delta", "give out", "the changes of each commit"),
        ("store", "let `dump` print", "what the relations hold"),
    ):
        run.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=True,
                         help=f"{default} {what} (default); with --no-{name} not")  # fmt: skip
    run.add_argument("--follow", metavar="DIR",
                     help="apply the files that appear in DIR/REL/ until Ctrl-C, and give out the changes; "
                          "needs Spark")  # fmt: skip
    run.add_argument("--checkpoint", metavar="DIR",
                     help="with --follow: remember here what was applied, and continue there")  # fmt: skip
    run.add_argument("--once", action="store_true", help="with --follow: end when the files are done")
    run.add_argument("--every", metavar="TIME",
                     help="with --follow: the time between batches, such as '10 seconds'")  # fmt: skip
    run.add_argument("--relation", metavar="REL", action="append", default=[],
                     help="give out this relation only; may be repeated, and name any relation")  # fmt: skip
    run.add_argument("--sizes", action="store_true", help="print only the number of rows of each relation")


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    help: str,
    act: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help.capitalize() + "."
    )
    parser.add_argument("program", metavar="PROG.dl", type=Path, help="the program")
    parser.add_argument("-L", dest="library", metavar="LIBDIR", action="append", default=[],
                        help="a directory with modules to import, after that of the program")  # fmt: skip
    refuse(parser)
    parser.set_defaults(act=act)
    return parser


def _running_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="PLACE", action="append", default=[],
                        help="a directory with a fact file for each input relation, or REL=PLACE; "
                             "may be repeated")  # fmt: skip
    parser.add_argument("--max-iterations", metavar="N", type=_positive,
                        help="the most iterations of a recursion (default: no limit)")  # fmt: skip
    parser.add_argument("--output-internal-relations", action="store_true",
                        help="let every relation that is no input be an output relation")  # fmt: skip
    _engine_options(parser)
    parser.add_argument("--quiet", action="store_true", help="no notes, no warnings, no progress")


def _engine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engine", choices=("auto", "in-process", "spark"), default="auto",
                        help="auto (default): Spark if a master or remote is given, here, in the environment "
                             "(MASTER, SPARK_REMOTE) or by an active session, or if the input is larger than "
                             "the in-process limit")  # fmt: skip
    parser.add_argument("--master", metavar="URL", help="Spark's master: local[*], spark://HOST:PORT, yarn")
    parser.add_argument("--remote", metavar="URL", help="a Spark Connect server: sc://HOST[:PORT]")
    parser.add_argument("--conf", metavar="KEY=VALUE", action="append", default=[],
                        help="a setting of Spark; may be repeated")  # fmt: skip
    parser.add_argument("-w", "--workers", metavar="N", type=_positive,
                        help="how many threads share the work: 1 in-process, any number on Spark on this "
                             "machine (default: all)")  # fmt: skip
    parser.add_argument("--in-process-limit", metavar="SIZE", type=_size, dest="limit",
                        help="the most input for the in-process engine, such as 8G; compressed and columnar "
                             "files count several times (default: a quarter of the memory)")  # fmt: skip


def _size(text: str) -> int:
    from ..sessions.sizes import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _engine(arguments: argparse.Namespace) -> EngineOptions:
    from ..sessions.engines import EngineOptions, parse_conf

    return EngineOptions(
        arguments.engine, arguments.master, arguments.remote, parse_conf(arguments.conf), arguments.limit,
        arguments.workers,
    )  # fmt: skip


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **named: object) -> None:
        from importlib.metadata import version

        print(f"ddlog {version('ddlog')}")
        parser.exit()


def _compile(arguments: argparse.Namespace) -> Program:
    from ..errors.diagnostics import render
    from ..sessions.program import compile

    program = compile(arguments.program, library_paths=arguments.library)
    if getattr(arguments, "output_internal_relations", False):
        program = program.with_internal_outputs()
    if program.warnings and not getattr(arguments, "quiet", False):
        print(render(program.warnings, color=sys.stderr.isatty()), file=sys.stderr)
    return program


def _run(arguments: argparse.Namespace) -> int:
    from .run import RunOptions, run

    options = RunOptions(
        input=tuple(arguments.input), output=arguments.output, format=arguments.format,
        updates=arguments.updates, relations=tuple(arguments.relation), sizes=arguments.sizes,
        max_iterations=arguments.max_iterations, quiet=arguments.quiet, engine=_engine(arguments),
        follow=arguments.follow, checkpoint=arguments.checkpoint, once=arguments.once, every=arguments.every,
        init_snapshot=arguments.init_snapshot, delta=arguments.delta, store=arguments.store,
    )  # fmt: skip
    with _engines_stopped():
        run(_compile(arguments), options)
    return 0


def _repl(arguments: argparse.Namespace) -> int:
    from .repl import repl

    engine = _engine(arguments)
    program = _compile(arguments)
    with _engines_stopped():
        return repl(
            program, arguments.input, engine, max_iterations=arguments.max_iterations, quiet=arguments.quiet
        )


@contextmanager
def _engines_stopped() -> Iterator[None]:
    """Stops at the end what was started inside."""
    try:
        yield
    finally:
        from .launch import stop_engines

        stop_engines()


def _check(arguments: argparse.Namespace) -> int:
    _compile(arguments)
    return 0


def _import_souffle(arguments: argparse.Namespace) -> int:
    from ..errors.diagnostics import DDlogError
    from ..errors.usage import BadOptions
    from ..sessions.program import read_source
    from ..souffle.translate import translate

    output: Path | None = arguments.output
    if output is not None and output.resolve() == arguments.program.resolve():
        raise DDlogError([BadOptions(f"{output} is the program itself: the translation needs another name")])
    translation = translate(read_source(arguments.program), arguments.word)
    for remark in translation.remarks:
        print(f"note: {remark}", file=sys.stderr)
    if output is None:
        sys.stdout.write(translation.text)
    else:
        output.write_text(translation.text, encoding="utf-8")
    return 0


def _circuit(arguments: argparse.Namespace) -> int:
    from .drawing import draw

    if arguments.engine == "spark":
        return _circuit_on_spark(arguments)
    draw(_compile(arguments).circuit(arguments.stage), arguments.output)
    return 0


def _circuit_on_spark(arguments: argparse.Namespace) -> int:
    from ..errors.diagnostics import DDlogError
    from ..errors.usage import BadOptions
    from ..spark.sessions.explain import explain

    if arguments.stage != "incremental" or arguments.output is not None:
        raise DDlogError([BadOptions("--engine spark shows the incremental circuit, as text")])
    sys.stdout.write(explain(_compile(arguments)))
    return 0
