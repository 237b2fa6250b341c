"""Regular expressions in the syntax of Rust's regex crate, translated to RE2's.

The two are near: both are matched in linear time. What RE2 lacks is put in other words: classes of
Unicode for `\\d`, `\\w` and `\\s`, classes that are nested or combined, long names of properties, the flags
`x` and `u`, repetitions of repetitions. What only RE2 has is refused.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_, or_, xor

from . import regexclasses as classes
from .regexclasses import Class, Marks

MAX_DEPTH = 100

_PUNCTUATION = frozenset(string.punctuation) - {"<", ">"}
_CONTROL = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_OPERATORS: dict[str, Callable[[Marks, Marks], Marks]] = {"&&": and_, "--": lambda a, b: a & ~b, "~~": xor}
_POSIX = re.compile(
    r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"
)
_COUNT = re.compile(r"\{\s*([0-9]{1,9})\s*(?:(,)\s*([0-9]{1,9})?\s*)?\}", re.ASCII)
_FLAGS = re.compile(r"\?(?=[^:)]*[:)])(?P<on>[imsUux]*)(?:-(?P<off>[imsUux]+))?(?P<end>:|(?<!\?)\))")
_NAMES = {"i": "case_insensitive", "x": "verbose", "u": "unicode"}
_NAME = re.compile(r"\?P?<([A-Za-z_][A-Za-z0-9_.\[\]]*)>", re.ASCII)
_PROPERTY = re.compile(
    r"[A-Za-z]|\{(?:(?P<kind>[A-Za-z_]+)(?P<equality>!=|=|:))?(?P<name>[A-Za-z_ -]+)\}", re.ASCII
)
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]+)\}", re.ASCII)
_SHORTHAND = {
    "d": (classes.DIGIT, classes.ASCII_DIGIT),
    "s": (classes.SPACE, classes.ASCII_SPACE),
    "w": (classes.WORD, classes.ASCII_WORD),
}


class SyntaxFault(Exception):
    """The error in a pattern."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags that decide how a pattern is read."""

    case_insensitive: bool = False
    verbose: bool = False
    unicode: bool = True


def translated(pattern: str, captures: bool = False) -> str:
    """The pattern for RE2, whose groups are kept if it `captures`, or SyntaxFault."""
    reader = _PatternReader(pattern, captures)
    found = reader.alternatives()
    if not reader.at_end():
        raise SyntaxFault("a group is closed that is not open")
    return found


@dataclass(slots=True)
class _PatternReader:
    text: str
    captures: bool = False
    at: int = 0
    depth: int = 0
    flags: Flags = field(default_factory=Flags)
    names: set[str] = field(default_factory=set)

    # ----------------------------------------------------------- characters

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return not self._peek()

    def _peek(self, count: int = 1) -> str:
        self._skip()
        return self.text[self.at : self.at + count]

    def _skip(self) -> None:
        """Leaves out white space and comments where the flag x is on."""
        while self.flags.verbose and self.at < len(self.text):
            here = self.text[self.at]
            if here == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif here.isspace():
                self.at += 1
            else:
                return

    def _take(self, expected: str) -> bool:
        taken = self._peek(len(expected)) == expected
        if taken:
            self.at += len(expected)
        return taken

    def _next(self, missing: str) -> str:
        """The next character that counts."""
        found = self._peek()
        if not found:
            raise SyntaxFault(missing)
        self.at += 1
        return found

    def _match(self, form: re.Pattern[str]) -> re.Match[str] | None:
        found = form.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxFault(f"groups and classes are nested more than {MAX_DEPTH} deep")
        yield
        self.depth -= 1

    # ------------------------------------------------------------ structure

    def alternatives(self) -> str:
        """The translation of the text up to the end of the group or of the pattern."""
        found = [self._sequence()]
        while self._take("|"):
            found.append(self._sequence())
        return "|".join(found)

    def _sequence(self) -> str:
        found = []
        while self._peek() not in ("", "|", ")"):
            if self._take("("):
                found.append(self._parenthesis())
            else:
                found.append(self._repeated(self._atom()))
        return "".join(found)

    def _parenthesis(self) -> str:
        """A group, or flags for the rest of the group around."""
        if flags := self._match(_FLAGS):
            outer = self.flags
            prefix = self._set_flags(flags["on"], flags["off"] or "")
            if flags["end"] == ")":
                return f"(?{prefix})" if prefix else ""
            return self._repeated(self._group(prefix, outer))
        if name := self._match(_NAME):
            if name[1] in self.names:
                raise SyntaxFault(f"there are two groups with the name {name[1]}")
            self.names.add(name[1])
        elif self._peek() == "?":
            raise SyntaxFault(
                "a group begins with `(`, `(?:`, `(?i:` or `(?P<name>`; there is no look-around"
            )
        made = self._group("", self.flags)
        return self._repeated(f"({made})" if self.captures else made)

    def _group(self, prefix: str, outer: Flags) -> str:
        with self._deeper():
            inside = self.alternatives()
        if not self._take(")"):
            raise SyntaxFault("a group is not closed")
        self.flags = outer
        return f"(?{prefix}:{inside})"

    def _set_flags(self, on: str, off: str) -> str:
        """Changes the flags; returns the flags that RE2 handles."""
        for letters, value in ((on, True), (off, False)):
            if len(set(letters)) < len(letters) or set(on) & set(off):
                raise SyntaxFault(f"the flags {on + off} have one twice")
            changes = {_NAMES[letter]: value for letter in letters if letter in _NAMES}
            self.flags = replace(self.flags, **changes)
        kept_on, kept_off = ("".join(each for each in letters if each in "imsU") for letters in (on, off))
        return kept_on + ("-" + kept_off if kept_off else "")

    def _repeated(self, atom: str) -> str:
        times = 0
        while operator := self._repetition():
            atom = f"(?:{atom}){operator}" if times else atom + operator
            times += 1
        return atom

    def _repetition(self) -> str:
        if self._peek() == "{":
            return self._counted() + "?" * self._take("?")
        for operator in "*+?":
            if self._take(operator):
                return operator + "?" * self._take("?")
        return ""

    def _counted(self) -> str:
        found = self._match(_COUNT)
        if found is None:
            raise SyntaxFault("a repetition is `{n}`, `{n,}` or `{n,m}`; a brace itself is `\\{`")
        least, comma, greatest = found.groups()
        if greatest is not None and int(greatest) < int(least):
            raise SyntaxFault(f"the bounds of the repetition {found[0]} are in the wrong order")
        return f"{{{int(least)}{comma or ''}{'' if greatest is None else int(greatest)}}}"

    # ---------------------------------------------------------------- atoms

    def _atom(self) -> str:
        here = self._next("")
        if here in "*+?{":
            raise SyntaxFault(f"there is nothing before `{here}` to repeat")
        if here == "[":
            return str(self._class())
        if here in ".^$":
            return here
        if here != "\\":
            return _literal(ord(here))
        found = self._escape()
        return _literal(found) if isinstance(found, int) else str(found)

    def _escape(self, in_class: bool = False) -> Class | int | str:
        """The item after a backslash: a class, the number of a character, or an assertion."""
        if self.at >= len(self.text):
            raise SyntaxFault("there is nothing after the last backslash")
        here = self.text[self.at]
        if here in "xuU":
            return self._code()
        self.at += 1
        if here in _PUNCTUATION or (here.isspace() and self.flags.verbose):
            return ord(here)
        if here in _CONTROL:
            return _CONTROL[here]
        if here.lower() in _SHORTHAND:
            found = _SHORTHAND[here.lower()][0 if self.flags.unicode else 1]
            return ~found if here.isupper() else found
        if here in "pP":
            found = self._property()
            return ~found if here == "P" else found
        if here in "AzbB" and not in_class:
            return "\\" + here
        if here.isdigit():
            raise SyntaxFault("there are no references to groups")
        raise SyntaxFault(f"there is no escape `\\{here}`{' in a class' * in_class}")

    def _code(self) -> int:
        found = self._match(_CODE)
        number = 0x110000 if found is None else int(found[found.lastindex or 0], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise SyntaxFault("a character by its number is `\\x7F`, `\\u007F`, `\\U0000007F` or `\\x{7F}`")
        return number

    def _property(self) -> Class:
        found = self._match(_PROPERTY)
        if found is None:
            raise SyntaxFault("a property is `\\pL` or `\\p{Letter}`")
        kind, differs, name = found["kind"] or "", found["equality"] == "!=", found["name"] or found[0]
        known = classes.property_class(kind, name)
        if known is None:
            raise SyntaxFault(f"no category or script of Unicode is known as {name}")
        return ~known if differs else known

    # -------------------------------------------------------------- classes

    def _class(self) -> Class:
        """The class after an opening bracket, up to its end."""
        with self._deeper():
            negated = self._take("^")
            found = self._union(first=True)
            while operator := self._operator():
                self.at += 2
                found = classes.written(_OPERATORS[operator](self._marks(found), self._marks(self._union())))
        if not self._take("]"):
            raise SyntaxFault("a class is not closed")
        return ~found if negated else found

    def _operator(self) -> str:
        found = self._peek(2)
        return found if found in _OPERATORS else ""

    def _union(self, first: bool = False) -> Class:
        items = []
        while first and self._take("-"):
            items.append(Class(_literal(ord("-"))))
        if first and not items and self._take("]"):
            items.append(Class(_literal(ord("]"))))
        while self._peek() not in ("", "]") and not self._operator():
            items.append(self._item())
        return self._united(items)

    def _item(self) -> Class:
        self._skip()
        if posix := self._match(_POSIX):
            return Class(posix[0])
        if self._take("["):
            return self._class()
        low = self._member()
        if self._peek() != "-" or self._after_hyphen() in ("]", "-", ""):
            return low if isinstance(low, Class) else Class(_literal(low))
        self._take("-")
        high = self._member()
        if isinstance(low, Class) or isinstance(high, Class) or low > high:
            raise SyntaxFault("a range in a class goes from one character to a later one")
        return Class(f"{_literal(low)}-{_literal(high)}")

    def _after_hyphen(self) -> str:
        """The character after the one that is next."""
        before = self.at
        self._take("-")
        found = self._peek()
        self.at = before
        return found

    def _member(self) -> Class | int:
        here = self._next("a class is not closed")
        found = self._escape(in_class=True) if here == "\\" else ord(here)
        assert not isinstance(found, str)
        return found

    def _united(self, items: list[Class]) -> Class:
        """The characters of all."""
        plain = [each for each in map(classes.positive, items) if each is not None]
        others = [each for each in items if classes.positive(each) is None]
        if not others:
            return Class("".join(plain)) if plain else classes.NONE
        if len(items) == 1:
            return items[0]
        return classes.written(reduce(or_, map(self._marks, items)))

    def _marks(self, of: Class) -> Marks:
        return classes.marks_of(f"(?i:{of})" if self.flags.case_insensitive else str(of))


def _literal(number: int) -> str:
    return chr(number) if number < 128 and chr(number).isalnum() else rf"\x{{{number:x}}}"
