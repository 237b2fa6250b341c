"""The commands of the command line. Each function takes the parsed arguments and returns the exit code.

Imports are inside the functions, so that `--help` and errors of usage come at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..sessions.program import Externs, Program
    from .options import LaunchOptions

Launching = TypeVar("Launching", bound="LaunchOptions")


def run(arguments: argparse.Namespace) -> int:
    """`ddlog run`. Raises DDlogError."""
    from .options import RunOptions
    from .phases import CHECKING, of_process
    from .placeoptions import update_places
    from .run import run

    options = _launching(RunOptions, arguments, updates=update_places(arguments))
    phases = of_process()
    phases.switch(CHECKING)
    with _engines_stopped():
        run(_compile(arguments, options.queries), options, phases)
    return 0


def repl(arguments: argparse.Namespace) -> int:
    """`ddlog repl`. Raises DDlogError."""
    from ..errors.diagnostics import DDlogError
    from ..errors.options import OptionNeeded
    from .placeoptions import input_places
    from .repl import ReplOptions, remote_repl, repl

    if (arguments.program or "").startswith(("http://", "https://")):
        remote_repl(arguments, input_places(arguments))
        return 0
    if arguments.token_file is not None:
        raise DDlogError([OptionNeeded("--token-file", "the address of a server", "a program needs none")])
    options = _launching(ReplOptions, arguments)
    program = _compile(arguments)
    with _engines_stopped():
        repl(program, options)
    return 0


def serve(arguments: argparse.Namespace, browser: bool = False) -> int:
    """`ddlog serve`. Raises DDlogError."""
    from .serve import ServeOptions, serve

    options, program = _launching(ServeOptions, arguments, browser=browser), _compile(arguments)
    with _engines_stopped():
        serve(program, options)
    return 0


def ui(arguments: argparse.Namespace) -> int:
    """`ddlog ui`. Raises DDlogError."""
    return serve(arguments, browser=True)


def check(arguments: argparse.Namespace) -> int:
    """`ddlog check`. Raises DDlogError."""
    if arguments.format == "text":
        _compile(arguments, externs=arguments.externs)
        return 0
    from ..errors.diagnostics import DDlogError
    from ..sessions.program import compile
    from .givenprogram import given_program
    from .reports import report

    try:
        program = compile(
            given_program(arguments), library_paths=arguments.library, externs=arguments.externs
        )
        found = program.warnings
    except DDlogError as error:
        found = error.diagnostics
    sys.stdout.write(report(found, arguments.format))
    return 1 if any(each.is_error for each in found) else 0


def explain_error(arguments: argparse.Namespace) -> int:
    """`ddlog explain-error`. Raises DDlogError."""
    from .explainerror import explain_error

    sys.stdout.write(explain_error(arguments.code))
    return 0


def circuit(arguments: argparse.Namespace) -> int:
    """`ddlog circuit`. Raises DDlogError."""
    if arguments.profile is not None and (arguments.plans or arguments.input):
        from ..errors.diagnostics import DDlogError
        from ..errors.options import CannotBeCombined

        raise DDlogError([CannotBeCombined("--profile", "--plans", "only a drawing marks the costs")])
    if arguments.plans or arguments.input:
        from .plans import show_plans

        show_plans(lambda: _compile(arguments, externs="warn"), arguments)
        return 0
    if arguments.engine == "spark":
        return _circuit_on_spark(arguments)
    from .picture import draw

    draw(_compile(arguments, externs="warn").circuit(arguments.stage), arguments.output, arguments.profile)
    return 0


def _circuit_on_spark(arguments: argparse.Namespace) -> int:
    from ..errors.diagnostics import DDlogError
    from ..errors.options import CannotBeCombined
    from ..spark.sessions.explain import explain

    if arguments.stage != "incremental":
        reason = "on Spark only the incremental circuit can be shown"
        raise DDlogError([CannotBeCombined("--engine spark", f"--stage {arguments.stage}", reason)])
    if arguments.output is not None:
        reason = "on Spark a circuit is shown as text only"
        raise DDlogError([CannotBeCombined("--engine spark", "--output", reason)])
    if arguments.profile is not None:
        raise DDlogError([CannotBeCombined("--engine spark", "--profile", "only a drawing marks the costs")])
    sys.stdout.write(explain(_compile(arguments, externs="warn")))
    return 0


def explain(arguments: argparse.Namespace) -> int:
    """`ddlog explain`. Raises DDlogError."""
    from .explain import ExplainOptions, explain

    options = _launching(ExplainOptions, arguments)
    with _engines_stopped():
        explain(_compile(arguments), options)
    return 0


def profile(arguments: argparse.Namespace) -> int:
    """`ddlog profile`. Raises DDlogError."""
    from ..errors.diagnostics import DDlogError
    from ..errors.options import CannotBeCombined
    from .profiles import compare_profiles, show_profile

    if arguments.other is None:
        show_profile(arguments.profile, arguments.output)
        return 0
    if arguments.output is not None:
        reason = "a comparison is printed"
        raise DDlogError([CannotBeCombined("--output", "two profiles", reason)])
    compare_profiles(arguments.profile, arguments.other)
    return 0


def infer(arguments: argparse.Namespace) -> int:
    """`ddlog infer`. Raises DDlogError."""
    from .infer import infer

    infer(arguments.files)
    return 0


def fmt(arguments: argparse.Namespace) -> int:
    """`ddlog fmt`. Raises DDlogError."""
    from .fmt import FormatOptions, fmt
    from .options import options_of

    return fmt(options_of(FormatOptions, arguments))


def test(arguments: argparse.Namespace) -> int:
    """`ddlog test`. Raises DDlogError."""
    from .golden import run_tests

    return run_tests(arguments.paths, arguments.update, arguments.command_line)


def init(arguments: argparse.Namespace) -> int:
    """`ddlog init`. Raises DDlogError."""
    from .init import init

    init(arguments.name)
    return 0


def lsp(arguments: argparse.Namespace) -> int:
    """`ddlog lsp`. Raises DDlogError."""
    from importlib.util import find_spec

    if find_spec("pygls") is None:
        from ..errors.diagnostics import DDlogError
        from ..errors.sessions import NotInstalled

        raise DDlogError([NotInstalled(package="ddlog[lsp]")])
    from ..lsp.server import serve

    serve(arguments.library)
    return 0


def completion(arguments: argparse.Namespace) -> int:
    """`ddlog completion`."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["ddlog"], shell=arguments.shell))
    return 0


def compile_kernels(arguments: argparse.Namespace) -> int:
    """`ddlog compile-kernels`. Raises DDlogError."""
    from ..engine.inprocess.kernels.beside import compile_all
    from ..errors.diagnostics import DDlogError
    from ..errors.facts import CannotWrite

    folder, fault = compile_all()
    if fault is not None:
        raise DDlogError([CannotWrite(folder, fault)])
    print(f"the kernels are in {folder}")
    return 0


def import_souffle(arguments: argparse.Namespace) -> int:
    """`ddlog import-souffle`. Raises DDlogError."""
    from ..souffle.preprocess import PreprocessorSettings
    from .options import options_of
    from .souffle import SouffleOptions, import_souffle

    macros = tuple(word for option in arguments.macro for word in option.split())
    settings = PreprocessorSettings(macros, tuple(map(Path, arguments.include_dir)))
    import_souffle(options_of(SouffleOptions, arguments, preprocessor=settings))
    return 0


def import_ovsdb(arguments: argparse.Namespace) -> int:
    """`ddlog import-ovsdb`. Raises DDlogError."""
    from ..ovsdb.choices import Choices
    from .ovsdb import import_ovsdb

    given = [each for each in (arguments.schema, *arguments.schema_file) if each is not None]
    choices = Choices(
        only_outputs=arguments.output_only_table, read_only=arguments.ro, writable=arguments.rw,
        keys=arguments.key, proxies=arguments.proxy, interned=arguments.intern_table,
        intern_strings=arguments.intern_strings, renamed=arguments.rename,
    )  # fmt: skip
    read, write = arguments.input_config, arguments.output_config
    import_ovsdb(given, arguments.output_table, arguments.output_file, choices, read, write)
    return 0


def state(arguments: argparse.Namespace) -> int:
    """`ddlog state`. Raises DDlogError."""
    from .statefile import state_file

    state_file(arguments.file, arguments.check, arguments.export, arguments.compact)
    return 0


def _compile(
    arguments: argparse.Namespace, queries: Sequence[str] = (), externs: Externs = "error"
) -> Program:
    """The program, with answers to queries; prints warnings unless --quiet is given. Raises DDlogError."""
    from ..sessions.program import compile
    from .givenprogram import given_program
    from .notes import warning

    program = compile(given_program(arguments), library_paths=arguments.library, externs=externs)
    if getattr(arguments, "output_internal_relations", False):
        program = program.with_internal_outputs()
    if queries:
        program = program.asking(*queries)
    warning(getattr(arguments, "quiet", False))(program.warnings)
    return program


def _launching(kind: type[Launching], arguments: argparse.Namespace, **others: Any) -> Launching:
    """The options of a command that opens a session. Raises DDlogError."""
    from ..sessions.engines import EngineOptions, parse_conf
    from .options import options_of
    from .placeoptions import input_places

    engine = options_of(EngineOptions, arguments, conf=parse_conf(arguments.conf))
    return options_of(kind, arguments, input=input_places(arguments), engine=engine, **others)


@contextmanager
def _engines_stopped() -> Iterator[None]:
    """Stops at the end the engines that were started inside."""
    try:
        yield
    finally:
        from .launch import stop_engines

        stop_engines()
