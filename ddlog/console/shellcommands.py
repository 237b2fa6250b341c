"""The commands that only the REPL has. A new one is a row of `SHELL_COMMANDS`, and a line of the help."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..commands.interpreter import Action, Interpreter
from ..commands.scanner import Scanner
from ..errors.diagnostics import DDlogError, system_errors
from ..errors.facts import CannotRead
from ..errors.options import BadOptionValue
from ..errors.shell import FileIsThere, NoEditor, NothingLoaded
from ..errors.source import program_text
from ..errors.state import EpochExpected
from ..io.write import replacing
from ..sessions.results import Changes
from ..sessions.session import Session


class Conversation(Protocol):
    """The REPL as its commands see it. Methods raise DDlogError."""

    session: Session
    last: str
    saved: set[str]

    def show_all(self, lines: Iterable[str]) -> None: ...
    def change_program(self, change: Callable[[], Changes]) -> None: ...
    def take_program(self, text: str, name: str) -> None: ...
    def take_facts(self, place: str) -> None: ...
    def take_updates(self, path: str) -> None: ...
    def later(self, text: str) -> None: ...
    def relations(self) -> None: ...
    def help(self) -> None: ...
    def leave(self) -> None: ...
    def aside(self) -> AbstractContextManager[None]: ...


_EPOCH = re.compile(r"\d+\Z")
_PROGRAMS = (".dl", ".sql")
_UPDATES = (".dat",)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command with the rest of its text, which `act` carries out."""

    act: Callable[[str], None]
    rest: str

    def perform(self, on: Interpreter) -> None:
        self.act(self.rest)


def shell_commands(shell: Conversation) -> Mapping[str, Callable[[Scanner, str], Action]]:
    """The reader of each command of the REPL, up to its `;`."""

    def reading(act: Callable[[Conversation, str], None]) -> Callable[[Scanner, str], Action]:
        return lambda scanner, _: ShellCommand(lambda rest: act(shell, rest), scanner.query().text.strip())

    return {word: reading(act) for word, act in SHELL_COMMANDS.items()}


def _state(shell: Conversation, rest: str) -> None:
    shell.show_all(shell.session.described_state())


def _changes(shell: Conversation, rest: str) -> None:
    if _EPOCH.match(rest) is None:
        raise DDlogError([EpochExpected(f"changes {rest}".rstrip() + ";", "changes 17;")])
    lines = list(shell.session.changes_of(int(rest)).lines())
    shell.show_all(lines or [f"epoch {int(rest):,} changed no output"])


def _drop(shell: Conversation, rest: str) -> None:
    shell.change_program(lambda: shell.session.drop(rest))


def _load(shell: Conversation, rest: str) -> None:
    path = Path(rest)
    if not rest:
        raise DDlogError([NothingLoaded()])
    if path.suffix in _PROGRAMS:
        shell.take_program(_text(path), rest)
    elif path.suffix in _UPDATES:
        shell.take_updates(rest)
    else:
        shell.take_facts(rest)


def _text(path: Path) -> str:
    with system_errors(CannotRead, path):
        return program_text(path.read_bytes())


def _save(shell: Conversation, rest: str) -> None:
    source = shell.session.program.source
    ending = ".sql" if source.name.endswith(".sql") else ".dl"
    if not rest.endswith(ending):
        raise DDlogError([BadOptionValue("save", rest, f"a file that ends in {ending}")])
    if os.path.exists(rest) and rest not in shell.saved:
        raise DDlogError([FileIsThere(rest)])
    with replacing(Path(rest)) as out:
        out.write(f"{source.text.strip()}\n".encode())
    shell.saved.add(rest)
    shell.show_all([f"the program is in {rest}"])


def _edit(shell: Conversation, rest: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input.dl")
        path.write_text(shell.last, "utf-8")
        try:
            with shell.aside():
                ended = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            raise DDlogError([NoEditor(editor, str(error))]) from None
        if ended:
            raise DDlogError([NoEditor(editor, f"it ended with {ended}")])
        shell.later(_text(path))


SHELL_COMMANDS: Mapping[str, Callable[[Conversation, str], None]] = {
    "state": _state,
    "changes": _changes,
    "drop": _drop,
    "load": _load,
    "save": _save,
    "edit": _edit,
    "help": lambda shell, _: shell.help(),
    "relations": lambda shell, _: shell.relations(),
    "quit": lambda shell, _: shell.leave(),
}
