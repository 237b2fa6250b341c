"""The line editor of the REPL: history, completion, input of several lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from signal import SIGINT, getsignal, signal
from types import FrameType

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, DynamicCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from ..commands.commands import COMMANDS
from ..core import Relation
from ..syntax.privatefiles import state_directory
from .exits import heard
from .pauses import Pauses
from .shell import Shell
from .shellcommands import SHELL_COMMANDS

_WORD = re.compile(r"[A-Za-z_][\w:]*\Z")
_NAMES = re.compile(r"[A-Za-z_][\w:]*")
_ARGUMENTS = {"commit": ("dump_changes",), "profile": ("cpu", "change", "on", "off")}
_CHANGING = ("insert", "insert_or_update", "delete", "delete_key", "modify", "clear")


def prompt_lines(shell: Shell) -> Iterator[str]:
    """The inputs of the user, each a whole command. Ctrl-C drops an input, Ctrl-D ends."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif shell.is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    editor: PromptSession[str] = PromptSession(
        history=_history(),
        completer=DynamicCompleter(lambda: _completer(shell)),
        complete_while_typing=False,
        multiline=True,
        key_bindings=keys,
        prompt_continuation="  ... ",
    )
    pauses = Pauses(shell.session)
    while True:
        try:
            pauses.pause()
            with _dropping(editor):
                text = editor.prompt("ddlog* " if shell.in_transaction else "ddlog> ", handle_sigint=False)
        except KeyboardInterrupt:
            heard()
            continue
        except EOFError:
            return
        yield text


@contextmanager
def _dropping(editor: PromptSession[str]) -> Iterator[None]:
    """Lets Ctrl-C drop the input also where the terminal sends it as a signal, as between two lines that are
    pasted. The editor must not be interrupted in the midst of its work."""
    pressed = False
    before = getsignal(SIGINT)

    def drop() -> None:
        if editor.app.is_running and not editor.app.is_done:
            editor.app.exit(exception=KeyboardInterrupt())

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if editor.app.is_running and editor.app.loop is not None:
            editor.app.loop.call_soon_threadsafe(drop)

    signal(SIGINT, note)
    try:
        yield
    finally:
        signal(SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _completer(shell: Shell) -> NameCompleter:
    """Completes the names that the program has now."""
    return NameCompleter(shell.session.program.relations, shell.session.program.indexes)


class NameCompleter(Completer):
    """Completes names of commands, relations, columns and indexes, by the text before the cursor."""

    def __init__(self, relations: Mapping[str, Relation], indexes: Iterable[str] = ()) -> None:
        self._relations = {name: each for name, each in relations.items() if not each.hidden}
        self._indexes = sorted(indexes)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The names that the word before the cursor begins."""
        before = document.text_before_cursor
        found = _WORD.search(before)
        word = found.group() if found else ""
        for name in self.candidates(before[: len(before) - len(word)]):
            if name.startswith(word):
                yield Completion(name, start_position=-len(word))

    def candidates(self, before: str) -> list[str]:
        """The names that may follow a text."""
        piece = before.rpartition(";")[2]
        names = _NAMES.findall(piece)
        mentioned = [name for name in names if name in self._relations]
        if piece.endswith(".") and mentioned:
            return [column.name for column in self._relations[mentioned[-1]].columns]
        if piece.lstrip().startswith("?"):
            columns = {column.name for name in mentioned for column in self._relations[name].columns}
            return [*sorted(self._relations), *sorted(columns)]
        if not names:
            return [*COMMANDS, *SHELL_COMMANDS]
        if names[0] in _ARGUMENTS:
            return list(_ARGUMENTS[names[0]])
        if names[0] in ("query_index", "dump_index"):
            return self._indexes
        changing = names[-1] in _CHANGING or (names[0] in _CHANGING and not mentioned)
        if names[0] in _CHANGING and piece.rstrip().endswith(","):
            return list(_CHANGING)
        return sorted(n for n, r in self._relations.items() if not changing or r.role == "input")


def _history() -> History:
    """The history of earlier sessions, which only the user can read, if there is a place for it."""
    folder = state_directory()
    if folder is None:
        return InMemoryHistory()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "history"
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
