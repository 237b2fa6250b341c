"""Random views of SQL that carry their own meaning, over relations of numbers, texts and options.

A null is None, and the columns of a view are compared as values or None: whether the type of a column allows
a null does not matter here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Bag: TypeAlias = Counter[Row]
Contents: TypeAlias = Mapping[str, Mapping[Row, int]]
Columns: TypeAlias = Sequence[tuple[str, str]]
"""Columns, each with its type: n(umber), s(tring), o(ption of a string)."""


@dataclass(frozen=True)
class View:
    """A query as text, and the rows that it has over the contents of relations."""

    text: str
    rows: Callable[[Contents], Bag]
    kinds: str
    """The types of its columns."""


def plain(row: Row) -> Row:
    """A row with None and the value itself in the place of an option."""
    return tuple((each[1] if each[0] else None) if isinstance(each, tuple) else each for each in row)


class Queries:
    """Makes random queries over relations with columns of these types."""

    def __init__(self, chance: random.Random, tables: Mapping[str, Columns]) -> None:
        self.chance, self.tables = chance, tables

    def view(self) -> View:
        """A random query."""
        one = self._select()
        if self.chance.random() < 0.7:
            return one
        other = next((each for each in (self._select() for _ in range(20)) if each.kinds == one.kinds), one)
        word = self.chance.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        return View(
            f"{one.text} {word} {other.text}", lambda c: _SETS[word](one.rows(c), other.rows(c)), one.kinds
        )

    def _select(self) -> View:
        text, columns, rows = self._source()
        where, holds = self._condition(columns) if self.chance.random() < 0.6 else ("", lambda row: True)
        shown = self._grouped if self.chance.random() < 0.5 else self._projected
        select, group, kinds, means = shown(columns)
        text = f"SELECT {select} FROM {text}{where and f' WHERE {where}'}{group}"
        return View(text, lambda c: means(Counter({r: n for r, n in rows(c).items() if holds(r)})), kinds)

    def _source(self) -> tuple[str, Columns, Callable[[Contents], Bag]]:
        """A table, or a join of two."""
        one, other = (self.chance.choice(sorted(self.tables)) for _ in range(2))
        left = [(f"x.{name}", of) for name, of in self.tables[one]]
        right = [(f"y.{name}", of) for name, of in self.tables[other]]
        pairs = [(i, k) for i, (_, of) in enumerate(left) for k, (_, its) in enumerate(right) if of == its]
        if not pairs or self.chance.random() < 0.5:
            return f"{one} AS x", left, lambda c: _bag(c[one])
        i, k = self.chance.choice(pairs)
        word = self.chance.choice(["JOIN", "LEFT JOIN", "FULL JOIN"])

        def rows(contents: Contents) -> Bag:
            return _joined(_bag(contents[one]), _bag(contents[other]), i, k, word, len(left), len(right))

        text = f"{one} AS x {word} {other} AS y ON {left[i][0]} = {right[k][0]}"
        return text, [*left, *right], rows

    def _condition(self, columns: Columns) -> tuple[str, Callable[[Row], bool]]:
        at = self.chance.randrange(len(columns))
        name, of = columns[at]
        if self.chance.random() < 0.3:
            null = self.chance.random() < 0.5
            return f"{name} IS {'' if null else 'NOT '}NULL", lambda row: (row[at] is None) == null
        value: Any = self.chance.randint(0, 3) if of == "n" else self.chance.choice("abc")
        written = f"'{value}'" if isinstance(value, str) else f"{value}"
        word = self.chance.choice(["=", "<>", "<", ">="])
        if self.chance.random() < 0.2:
            return (
                f"NOT ({name} {word} {written})",
                lambda row: row[at] is not None and not _HOLDS[word](row[at], value),
            )
        return f"{name} {word} {written}", lambda row: row[at] is not None and _HOLDS[word](row[at], value)

    def _projected(self, columns: Columns) -> tuple[str, str, str, Callable[[Bag], Bag]]:
        places = [self.chance.randrange(len(columns)) for _ in range(self.chance.randint(1, 3))]
        distinct = self.chance.random() < 0.4

        def means(rows: Bag) -> Bag:
            found: Bag = Counter()
            for row, count in rows.items():
                found[tuple(row[k] for k in places)] += count
            return Counter(dict.fromkeys(found, 1)) if distinct else found

        listed = ", ".join(f"{columns[k][0]} AS k{i}" for i, k in enumerate(places))
        kinds = "".join("n" if columns[k][1] == "n" else "s" for k in places)
        return f"{'DISTINCT ' * distinct}{listed}", "", kinds, means

    def _grouped(self, columns: Columns) -> tuple[str, str, str, Callable[[Bag], Bag]]:
        keys = self.chance.sample(range(len(columns)), self.chance.randint(0, min(2, len(columns))))
        some = [self._aggregate(columns) for _ in range(self.chance.randint(1, 3))]

        def means(rows: Bag) -> Bag:
            groups: dict[Row, Bag] = {} if keys else {(): Counter()}
            for row, count in rows.items():
                groups.setdefault(tuple(row[k] for k in keys), Counter())[row] += count
            return Counter({(*key, *(each[1](group) for each in some)): 1 for key, group in groups.items()})

        names = [columns[k][0] for k in keys]
        listed = [f"{name} AS k{i}" for i, name in enumerate(names)]
        listed += [f"{text} AS a{i}" for i, (text, _, _) in enumerate(some)]
        kinds = "".join("n" if columns[k][1] == "n" else "s" for k in keys) + "".join(
            each[2] for each in some
        )
        return ", ".join(listed), f" GROUP BY {', '.join(names)}" if names else "", kinds, means

    def _aggregate(self, columns: Columns) -> tuple[str, Callable[[Bag], Any], str]:
        at = self.chance.randrange(len(columns))
        name, of = columns[at]
        kind = "n" if of == "n" else "s"
        word = self.chance.choice(
            ["count(*)", "count", "count(DISTINCT", "min", "max", *["sum"] * (of == "n")]
        )
        if word == "count(*)":
            return word, lambda group: group.total(), "n"

        def values(group: Bag) -> Bag:
            found: Bag = Counter()
            for row, count in group.items():
                if row[at] is not None:
                    found[row[at]] += count
            return found

        if word == "count":
            return f"count({name})", lambda group: values(group).total(), "n"
        if word == "count(DISTINCT":
            return f"count(DISTINCT {name})", lambda group: len(values(group)), "n"
        if word == "sum":
            return (
                f"sum({name})",
                lambda group: sum(v * n for v, n in known.items()) if (known := values(group)) else None,
                "n",
            )
        best = min if word == "min" else max
        return f"{word}({name})", lambda group: best(values(group), default=None), kind


def _bag(rows: Mapping[Row, int]) -> Bag:
    return Counter({plain(row): count for row, count in rows.items()})


def _joined(one: Bag, other: Bag, i: int, k: int, word: str, width: int, more: int) -> Bag:
    """A join where two columns are equal, with the rows that have no partner."""
    found: Bag = Counter()
    for row, count in one.items():
        for its, times in other.items():
            if row[i] is not None and row[i] == its[k]:
                found[*row, *its] += count * times
    if word != "JOIN":
        left = {row[:width] for row in found}
        found.update({(*row, *[None] * more): count for row, count in one.items() if row not in left})
    if word == "FULL JOIN":
        right = {row[width:] for row in found}
        found.update({(*[None] * width, *its): count for its, count in other.items() if its not in right})
    return found


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b,
}  # fmt: skip
_SETS: dict[str, Callable[[Bag, Bag], Bag]] = {
    "UNION": lambda a, b: Counter(dict.fromkeys([*a, *b], 1)),
    "UNION ALL": lambda a, b: a + b,
    "EXCEPT": lambda a, b: Counter(dict.fromkeys([row for row in a if row not in b], 1)),
    "INTERSECT": lambda a, b: Counter(dict.fromkeys([row for row in a if row in b], 1)),
}
