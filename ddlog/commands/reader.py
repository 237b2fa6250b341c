"""The reader of command files: `start; insert Edge(1, 2), delete Edge(2, 3); commit dump_changes;`

The reader takes text as it comes and gives the complete commands. It reads a row with the types of its
relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from ..core import Index, Relation
from ..errors import commands as errors
from ..errors.diagnostics import DDlogError
from ..errors.source import Span
from ..syntax.cursor import TextFault, Unfinished
from ..types import TypeDef
from ..values.fromtext import read_name
from .commands import COMMANDS, Echo
from .interpreter import Action, Command, Locate
from .scanner import Scanner
from .textruns import TextRuns
from .update import Update


class CommandReader:
    """Reads the commands of a text that may still grow."""

    def __init__(
        self,
        relations: Mapping[str, Relation],
        typedefs: Mapping[str, TypeDef],
        name: str,
        indexes: Mapping[str, Index] = MappingProxyType({}),
        more: Mapping[str, Callable[[Scanner, str], Action]] = MappingProxyType({}),
    ) -> None:
        """`more` are commands beside those of files."""
        self._commands = {**COMMANDS, **more}
        self._scanner = Scanner(relations, typedefs, name, indexes)
        self._runs = TextRuns(self._scanner, relations, typedefs)

    def feed(self, text: str) -> None:
        """Adds text at the end."""
        self._scanner.feed(text)

    def commands(self, *, final: bool = False, runs: bool = False) -> Iterator[Command]:
        """The complete commands. Raises DDlogError, and then goes on after the wrong command. `final` says
        that no more text will come: then a command that does not end is an error, too. With `runs`, plain
        updates of one kind and one relation that follow each other come as one `UpdateRun`."""
        scanner = self._scanner
        while not scanner.cursor.at_end():
            if runs:
                yield from self._runs.read()
                if scanner.cursor.at_end():
                    return
            begin = scanner.cursor.position
            try:
                yield self._command(final)
            except Unfinished as fault:
                if not final:
                    scanner.cursor.position = begin
                    return
                place = self._rest(begin)
                self.discard()
                raise DDlogError([errors.UnfinishedCommand(fault.message, span=place)]) from None
            except TextFault as fault:
                place = scanner.place(fault.start, fault.end)()
                asks = scanner.cursor.text[begin : fault.start + 1].lstrip() == "?"
                hint = "`query Rel(x);` asks among commands" if asks else ""
                scanner.skip_command(begin)
                raise DDlogError([errors.BadCommand(fault.message, span=place, help=hint)]) from None
            except DDlogError:
                scanner.skip_command(begin)
                raise
            except RecursionError:
                place = scanner.place(begin, begin + 1)()
                scanner.skip_command(begin)
                raise DDlogError([errors.BadCommand("a value is nested too deeply", span=place)]) from None

    def remainder(self) -> tuple[str, Span] | None:
        """The text after the last complete command, and its place, if there is any."""
        cursor = self._scanner.cursor
        if cursor.at_end():
            return None
        begin = cursor.position
        return cursor.text[begin:].rstrip(), self._scanner.place(begin, begin + 1)()

    def _rest(self, begin: int) -> Span:
        """The place of the rest of the text, as far as its first line goes."""
        text = self._scanner.cursor.text
        shown = text[begin:].split("\n", 1)[0].rstrip()
        return self._scanner.place(begin, begin + len(shown))()

    def discard(self) -> None:
        """Drops the text after the last complete command."""
        self._scanner.cursor.position = len(self._scanner.cursor.text)

    def _command(self, final: bool) -> Command:
        word, begin, end = read_name(self._scanner.cursor, "a command")
        place = self._scanner.place(begin, end)
        return Command(self._action(word, place, final), word, place)

    def _action(self, word: str, place: Locate, final: bool) -> Action | Update:
        cursor = self._scanner.cursor
        read = self._commands.get(word)
        if read is None:
            if cursor.at_end() and not final:
                raise cursor.fault("expected the rest of a command")
            raise DDlogError([errors.UnknownCommand(word, tuple(self._commands), span=place())])
        action = read(self._scanner, word)
        if not isinstance(action, Update | Echo):
            cursor.expect(";", f"after `{word}`")
        return action
