"""Steps of a layout, and their lines: texts, breaks, groups, indentation.

A text is a token or a comment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .comments import at_margin

STEP = 4  # of indentation
_DEEPEST = 60  # columns of indentation: lists in lists in lists stand below each other from there


@dataclass(slots=True)
class LineBreak:
    """A place where a line may end. In a group on one line it is `flat`. `empty`: an empty line comes before
    what follows; `plain`: never."""

    flat: str
    always: bool = False
    empty: bool = False
    plain: bool = False


@dataclass(slots=True)
class BreakGroup:
    """Begins a group: all its breaks end lines, or none does. `end` is the number of its last step."""

    broken: bool
    end: int = 0


@dataclass(slots=True)
class Close:
    """Ends a group."""


@dataclass(slots=True)
class Indent:
    """Lines after this step begin so many columns further to the right, or with `here`, at this column."""

    by: int = STEP
    here: bool = False


@dataclass(slots=True)
class Dedent:
    """Ends an indentation."""


Step: TypeAlias = str | LineBreak | BreakGroup | Close | Indent | Dedent
_CLOSE, _DEDENT = Close(), Dedent()


@dataclass(slots=True)
class Layout:
    """The steps of one declaration, while they are made. `at_break` is the break after which no text has come
    yet; `owed` says that the line ends before the next text."""

    steps: list[Step] = field(default_factory=list)
    at_break: LineBreak | None = None
    owed: bool = False
    _open: list[BreakGroup] = field(default_factory=list)
    _width: int = 0  # of all on one line
    _lines: int = 0  # that end in any case

    def text(self, text: str) -> None:
        self._lines += "\n" in text
        self.owed, self.at_break = False, None
        self._width += len(text)
        self.steps.append(text)

    def end_line(self) -> None:
        """Lets nothing else come on this line. The groups in which something follows break."""
        self.owed = True
        self._lines += 1

    def line(self, flat: str = " ", *, always: bool = False, plain: bool = False) -> None:
        if always or self.owed:
            self._lines += 1
            for group in self._open:
                group.broken = True
        self.owed, self.at_break = False, LineBreak(flat, always, plain=plain)
        self._width += len(flat)
        self.steps.append(self.at_break)

    def group(self, broken: bool = False) -> None:
        """Begins a group; `broken`: its breaks end lines, as do those of the groups around it."""
        self._open.append(BreakGroup(broken or self.owed))
        self.steps.append(self._open[-1])
        if self._open[-1].broken:
            self._lines += 1
            for group in self._open:
                group.broken = True

    def close(self) -> None:
        self._open.pop().end = len(self.steps)
        self.steps.append(_CLOSE)

    def indent(self, *, here: bool = False) -> None:
        self.steps.append(Indent(here=here))

    def dedent(self) -> None:
        self.steps.append(_DEDENT)

    def lines(self, width: int) -> str:
        """The text with lines of at most `width` columns, where the breaks allow it."""
        if self._width <= width and not self._lines:
            return "".join([_flat(step) for step in self.steps])
        flat, ends = self._widths()
        found: list[str] = []
        column, margins, modes = 0, [0], [True]
        for number, step in enumerate(self.steps):
            match step:
                case str():
                    if "\n" in step and step.lstrip().startswith("/*"):
                        step = at_margin(step, column + len(step) - len(step.lstrip()))
                    found.append(step)
                    last = step.rfind("\n")
                    column = column + len(step) if last < 0 else len(step) - last - 1
                case LineBreak(space, always):
                    if always or modes[-1]:
                        found.append("\n\n" if step.empty else "\n")
                        found.append(" " * margins[-1])
                        column = margins[-1]
                    else:
                        found.append(space)
                        column += len(space)
                case BreakGroup(broken, end):
                    fits = column + ends[end] - flat[number] <= width
                    modes.append(modes[-1] and (broken or not fits))
                case Close():
                    modes.pop()
                case Indent(by, here):
                    margins.append(column if here else min(margins[-1] + by, max(margins[-1], _DEEPEST)))
                case Dedent():
                    margins.pop()
        return "".join(found)

    def _widths(self) -> tuple[list[int], list[int]]:
        """The columns before each step if all stood on one line; and those up to the next break after it."""
        flat, ends, at = list[int](), [0] * len(self.steps), 0
        for step in self.steps:
            flat.append(at)
            at += _width(step)
        end = at
        for number in range(len(self.steps) - 1, -1, -1):
            if isinstance(self.steps[number], LineBreak):
                end = flat[number]
            ends[number] = end
        return flat, ends


def _flat(step: Step) -> str:
    return step if isinstance(step, str) else step.flat if isinstance(step, LineBreak) else ""


def _width(step: Step) -> int:
    """The columns of a step on one line; of a text of several lines, those of the first."""
    flat = _flat(step)
    return len(flat) if "\n" not in flat else flat.index("\n")
