"""The errors and warnings of the wrong examples in `errors/explained/`, by their language.

An example of commands is a program, the line `// Commands:` and a command file. One of the console is files,
each after the line `# NAME`, and commands, which begin with `$`. These examples and those of Python run in a
folder of their own. One of ovsdb is a schema.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from itertools import chain
from tempfile import TemporaryDirectory

from ..errors.diagnostics import DDlogError, DDlogWarning, Diagnostic
from ..errors.source import Source

_COMMANDS = "// Commands:\n"
FOLDER = "ddlog-example-"
"""The beginning of the name of each folder in which an example runs."""


@cache
def errors_of(text: str, language: str) -> Sequence[Diagnostic]:
    """The errors and warnings of a text in the language of an example."""
    try:
        return _LANGUAGES[language](text)
    except DDlogError as error:
        return error.diagnostics


def _program(text: str) -> Sequence[Diagnostic]:
    from ..check.program import check_program

    return check_program(Source("example.dl", text))[1]


def _sql(text: str) -> Sequence[Diagnostic]:
    from ..sql.translate import translate

    translate(Source("example.sql", text))
    return ()


def _souffle(text: str) -> Sequence[Diagnostic]:
    from ..souffle.translate import translate

    translate(Source("example.dl", text), 32)
    return ()


def _ovsdb(text: str) -> Sequence[Diagnostic]:
    from ..ovsdb.choices import Choices
    from ..ovsdb.module import module_text
    from ..ovsdb.schema import read_schema

    module_text(read_schema(Source("example.ovsschema", text)), Choices())
    return ()


def _commands(text: str) -> Sequence[Diagnostic]:
    from ..commands.interpreter import Interpreter
    from ..commands.reader import CommandReader
    from ..sessions.program import compile_source

    written, _, commands = text.partition(_COMMANDS)
    program = compile_source(Source("example.dl", written), externs="error")
    with program.session() as session:
        reader = CommandReader(program.relations, session.typedefs, "example.dat", program.indexes)
        reader.feed(commands)
        on = Interpreter(session, lambda line: None, lambda *_: None, program.names("output"))
        try:
            on.run(reader.commands(final=True))
            on.flush()
        finally:
            session.rollback()
    return ()


def _python(text: str) -> Sequence[Diagnostic]:
    with _elsewhere(), warnings.catch_warnings(record=True) as told, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        exec(compile(text, "example.py", "exec"), {"__name__": "example"})
    given = [each.message.diagnostics for each in told if isinstance(each.message, DDlogWarning)]
    return [*chain.from_iterable(given)]


def _console(text: str) -> Sequence[Diagnostic]:
    with _elsewhere(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        name = ""
        for line in text.splitlines(keepends=True):
            if header := re.fullmatch(r"# (\S+)\n", line):
                name = header[1]
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            elif line.startswith("$ ddlog "):
                _act(shlex.split(line)[2:])
            else:
                with open(name, "a", encoding="utf-8") as file:
                    file.write(line)
    return ()


def _act(words: Sequence[str]) -> int:
    """Runs a command of the command line. Raises DDlogError."""
    from .arguments import parser

    arguments = parser(words[0]).parse_args(words)
    arguments.text, arguments.command_line = None, _act
    act: Callable[[argparse.Namespace], int] = arguments.act
    return act(arguments)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """An empty folder as the current one."""
    before = os.getcwd()
    with TemporaryDirectory(prefix=FOLDER) as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


_LANGUAGES: dict[str, Callable[[str], Sequence[Diagnostic]]] = {
    "": _program, "sql": _sql, "souffle": _souffle, "ovsdb": _ovsdb,
    "commands": _commands, "console": _console, "python": _python,
}  # fmt: skip
