"""Random programs that carry their own meaning: each piece of a rule is its text and a function in Python.

No part of the interpreter takes part in the meaning: a body is nested loops over the rows of its relations,
and a recursion is repeated until nothing comes. Values are as the engine shows them: an option, a struct or a
union is a tuple, a union with the number of its constructor first.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ddlog.values import Set, Vec

Env: TypeAlias = dict[str, Any]
Row: TypeAlias = tuple[Any, ...]
Contents: TypeAlias = Mapping[str, Mapping[tuple[Any, ...], int]]
Types: TypeAlias = dict[str, str]
"""Variables, each with its type: n(umber), s(tring), o(ption), p(oint), f(igure), q (a pair), v(ector),
t (a set), c(ount), m(oment)."""

NAMES = {
    "n": "bit<2>", "s": "string", "o": "Option<string>", "p": "Point", "f": "Figure", "q": "(bit<2>, string)",
    "v": "Vec<bit<2>>", "t": "Set<string>", "c": "bit<64>", "m": "bit<8>",
}  # fmt: skip

HEADER = """
import group
import window
typedef Point = Point{x: bit<2>, tag: string}
typedef Figure = Circle{r: bit<2>} | Box{side: bit<2>, name: string} | Blank
function turn(s: string): string { match (s) { "a" -> "b", "b" -> "c", _ -> "a" } }
function peel(o: Option<string>): string { match (o) { None -> "c", Some{s} -> s } }
function name(f: Figure): string { match (f) { Box{_, s} -> s, Circle{1} -> "b", _ -> "c" } }
input relation Num(a: bit<2>, b: bit<2>)
input relation Tag(a: bit<2>, s: string) primary key (r) r.a
input relation May(o: Option<string>, s: string)
input relation Spot(p: Point, q: (bit<2>, string))
input relation Fig(f: Figure, a: bit<2>)
input relation Many(a: bit<2>, v: Vec<bit<2>>, t: Set<string>)
input multiset Bag(s: string, a: bit<2>)
input stream Flow(a: bit<2>, s: string)
input multiset Event(t: bit<8>, s: string, a: bit<2>)
input relation Clock(t: bit<8>)
multiset Recent[Event]
apply window::range(Event, |e| e.t, Clock, 3) -> (Recent)
multiset Prompt[Event]
stream Late[Event]
apply window::range_late(Event, |e| e.t, Clock, 6, 1) -> (Prompt, Late)
multiset LastFlow[Flow]
apply window::last(Flow, 2) -> (LastFlow)
multiset AllFlow[Flow]
apply window::all(Flow) -> (AllFlow)
"""
WINDOWS = {"Recent": "msn", "Prompt": "msn", "LastFlow": "ns", "AllFlow": "ns"}
INPUTS = {
    "Num": "nn", "Tag": "ns", "May": "os", "Spot": "pq", "Fig": "fn", "Many": "nvt", "Bag": "sn",
    "Flow": "ns", "Event": "msn", "Clock": "m",
}  # fmt: skip


def turn(s: str) -> str:
    """The function of the header."""
    return {"a": "b", "b": "c"}.get(s, "a")


def name_of(f: tuple[Any, ...]) -> str:
    """The function `name` of the header."""
    return str(f[2]) if f[0] == 1 else "b" if f == (0, 1) else "c"


@dataclass(frozen=True)
class Term:
    """An expression: its text, and its value."""

    text: str
    value: Callable[[Env], Any]


@dataclass(frozen=True)
class Clause:
    """A clause of a body: its text, and the valuations that it makes of one, each with a weight."""

    text: str
    valuations: Callable[[Env, Contents], Iterator[tuple[Env, int]]]


@dataclass(frozen=True)
class Rule:
    """A rule. `group`, if there is one, makes the valuations of all of those before it."""

    head: str
    terms: Sequence[Term]
    body: Sequence[Clause]
    group: tuple[str, Callable[[list[Env]], list[Env]]] | None = None

    @property
    def text(self) -> str:
        """The rule as text."""
        body = [each.text for each in self.body] + ([self.group[0]] if self.group else [])
        return f"{self.head}({', '.join(each.text for each in self.terms)}) :- {', '.join(body)}."

    def rows(self, contents: Contents) -> Counter[tuple[Any, ...]]:
        """The rows that the rule derives, with the number of their derivations."""
        found: list[tuple[Env, int]] = [({}, 1)]
        for clause in self.body:
            found = [
                (new, weight * times)
                for env, weight in found
                for new, times in clause.valuations(env, contents)
            ]
        if self.group:
            found = [(env, 1) for env in self.group[1]([env for env, _ in found])]
        rows: Counter[tuple[Any, ...]] = Counter()
        for env, weight in found:
            rows[tuple(term.value(env) for term in self.terms)] += weight
        return rows


@dataclass
class Derived:
    """A derived relation: `kind` is relation, multiset, stream or loop."""

    name: str
    types: str
    kind: str
    rules: list[Rule] = field(default_factory=list)
    recursive: bool = False
    rounds: int = 0
    demand: bool = False

    @property
    def text(self) -> str:
        """The declaration and the rules."""
        mark = "#[demand]\n" * self.demand
        columns = ", ".join(f"c{i}: {NAMES[each]}" for i, each in enumerate(self.types))
        rules = "".join(f"#[distinct]\n#[product]\n{rule.text}\n" for rule in self.rules)
        if self.kind != "loop":
            return f"{mark}output {self.kind} {self.name}({columns})\n{rules}"
        outside = ", ".join(f"c{i}" for i in range(len(self.types)))
        return (
            f"loop In{self.name} rounds {self.rounds} {{\nrelation L{self.name}({columns})\n{rules}}}\n"
            f"output relation {self.name}({columns})\n{self.name}({outside}) :- L{self.name}({outside}).\n"
        )

    def rows(self, contents: Contents) -> Mapping[tuple[Any, ...], int]:
        """The rows of the relation over those of others."""
        if self.kind == "loop":
            last: Mapping[tuple[Any, ...], int] = {}
            for _ in range(self.rounds + 1):
                last = self._once({**contents, f"L{self.name}-1": last})
            return last
        found: Mapping[tuple[Any, ...], int] = {}
        while (more := self._once({**contents, self.name: found})) != found and self.recursive:
            found = more
        return more

    def _once(self, contents: Contents) -> Mapping[tuple[Any, ...], int]:
        total: Counter[tuple[Any, ...]] = Counter()
        for rule in self.rules:
            total += rule.rows(contents)
        return dict(total) if self.kind in ("multiset", "stream") else dict.fromkeys(total, 1)


class Program:
    """A random program."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.tables = {name: types for name, types in INPUTS.items() if name != "Flow"}
        self.tables |= {"Flow'": "ns", "Num-1": "nn", "Flow'-1": "ns", "May-2": "os"}
        for each in ("Event", "Clock"):
            del self.tables[each]
        if chance.random() < 0.5:
            self.tables |= WINDOWS
        self.derived: list[Derived] = []
        for number in range(chance.randint(1, 5)):
            made = self._relation(f"D{number}")
            self.derived.append(made)
            if made.kind != "stream":
                self.tables[made.name] = made.types
                self.tables[f"{made.name}-1"] = made.types

    @property
    def text(self) -> str:
        """The text of the program."""
        return HEADER + "\n".join(each.text for each in self.derived)

    def evaluate(self, inputs: Contents, before: Sequence[Contents]) -> dict[str, Mapping[Any, int]]:
        """The contents of all relations, from those of the inputs now, and of all in the last commits."""
        found: dict[str, Mapping[Any, int]] = {name: dict(rows) for name, rows in inputs.items()}
        found["Flow'"] = dict(inputs["Flow"])
        for ago, then in enumerate(reversed(before), 1):
            found |= {f"{name}-{ago}": rows for name, rows in then.items() if "-" not in name}
        for each in self.derived:
            found.setdefault(f"{each.name}-1", {})
        for each in ("Num-1", "Flow'-1", "May-2"):
            found.setdefault(each, {})
        found |= windows({name: dict(rows) for name, rows in inputs.items()}, before[-1] if before else {})
        for each_derived in self.derived:
            found[each_derived.name] = each_derived.rows(found)
        return found

    def lasting(self) -> set[str]:
        """The relations that follow from no window: those of which one can ask on demand."""
        of_windows = set(WINDOWS)
        for each in self.derived:
            if of_windows.intersection(re.findall(r"\w+", each.text)):
                of_windows.add(each.name)
        return {each.name for each in self.derived} - of_windows

    # ------------------------------------------------------------- relations

    def _relation(self, name: str) -> Derived:
        kind = self.chance.choice(["relation", "relation", "relation", "multiset", "loop", "stream"])
        types = "".join(self.chance.choice("nnsso" + "pfqvt" * (kind != "loop")) for _ in range(2))
        recursive = kind == "relation" and self.chance.random() < 0.4
        if recursive or kind == "loop":
            types = types.replace("v", "n").replace("t", "s")
        grouped = kind != "loop" and not recursive and self.chance.random() < 0.4
        made = Derived(
            name,
            types + self.chance.choice("ccnsvt") * grouped,
            kind,
            recursive=recursive,
            rounds=self.chance.randint(0, 4),
            demand=kind in ("relation", "multiset") and self.chance.random() < 0.2,
        )
        own = {"loop": f"L{name}-1"}.get(kind, name)
        for number in range(self.chance.randint(1, 3)):
            first = own if number and (recursive or kind == "loop") else None
            made.rules.append(self._rule(made, types, grouped, first))
        return made

    def _rule(self, made: Derived, types: str, grouped: bool, own: str | None) -> Rule:
        known: Types = {}
        body: list[Clause] = []
        if made.kind == "stream":
            body.append(self._atom("Flow", "ns", known))
        if own is not None:
            body.append(self._atom(own, made.types, known))
        tables = {n: t for n, t in self.tables.items() if made.kind != "loop" or not n.startswith("Bag")}
        for _ in range(self.chance.randint(1, 3)):
            body.append(self._clause(known, body, tables, made, own))
        group = None
        if grouped:
            group, known = self._group(known, made.types[-1])
        head = f"L{made.name}" if made.kind == "loop" else made.name
        terms = [self._term(of, known) for of in types]
        if grouped:
            terms.append(Term("n", lambda env: env["n"]))
        return Rule(head, terms, body, group)

    def _clause(
        self, known: Types, body: list[Clause], tables: Mapping[str, str], made: Derived, own: str | None
    ) -> Clause:
        choice = self.chance.random()
        name = self.chance.choice(sorted(tables))
        if not body or choice < 0.5:
            return self._atom(name, tables[name], known)
        if choice < 0.65 and made.kind != "stream":
            if made.kind == "loop" and own is not None and self.chance.random() < 0.5:
                return self._negated(own, made.types, known)
            return self._negated(name, tables[name], known)
        if choice < 0.8:
            return self._condition(known)
        return self._definition(known)

    # --------------------------------------------------------------- clauses

    def _atom(self, name: str, types: str, known: Types) -> Clause:
        before = dict(known)
        patterns = [self._pattern(of, before, known, 2) for of in types]

        def valuations(env: Env, contents: Contents) -> Iterator[tuple[Env, int]]:
            for row, weight in contents[name].items():
                new = dict(env)
                if all(fits(value, new) for (_, fits), value in zip(patterns, row, strict=True)):
                    yield new, weight

        return Clause(f"{name}({', '.join(text for text, _ in patterns)})", valuations)

    def _negated(self, name: str, types: str, known: Types) -> Clause:
        atom = self._atom(name, types, _Closed(known))

        def valuations(env: Env, contents: Contents) -> Iterator[tuple[Env, int]]:
            if not any(True for _ in atom.valuations(env, contents)):
                yield env, 1

        return Clause(f"not {atom.text}", valuations)

    def _condition(self, known: Types) -> Clause:
        of = self.chance.choice("nnsqpfo")
        op = self.chance.choice(["==", "!=", "<", "<="] if of in "ns" else ["==", "!="])
        left, right = self._term(of, known), self._term(of, known)
        holds: Callable[[Any, Any], bool] = {
            "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
        }[op]  # fmt: skip

        def valuations(env: Env, contents: Contents) -> Iterator[tuple[Env, int]]:
            if holds(left.value(env), right.value(env)):
                yield env, 1

        return Clause(f"({left.text}) {op} ({right.text})", valuations)

    def _definition(self, known: Types) -> Clause:
        new = f"d{len(known)}"
        many = [name for name, of in known.items() if of in "vt"]
        if many and self.chance.random() < 0.5:
            source = self.chance.choice(many)
            known[new] = "n" if known[source] == "v" else "s"

            def each(env: Env, contents: Contents) -> Iterator[tuple[Env, int]]:
                for value in env[source]:
                    yield {**env, new: value}, 1

            return Clause(f"var {new} = FlatMap({source})", each)
        of = self.chance.choice("nsopfqvt")
        term = self._term(of, dict(known))
        known[new] = of

        def one(env: Env, contents: Contents) -> Iterator[tuple[Env, int]]:
            yield {**env, new: term.value(env)}, 1

        return Clause(f"var {new}: {NAMES[of]} = {term.text}", one)

    def _group(self, known: Types, result: str) -> tuple[tuple[str, Callable[[list[Env]], list[Env]]], Types]:
        names = sorted(known) or ["none"]
        keys = self.chance.sample(names, min(len(names), self.chance.randint(0, 2))) if known else []
        how, of, _, means = self.chance.choice([each for each in _AGGREGATES if each[2] == result])
        value = self._term(self.chance.choice(of), known)

        def groups(envs: list[Env]) -> list[Env]:
            found: dict[Any, set[Any]] = {}
            for env in envs:
                found.setdefault(tuple(env[each] for each in keys), set()).add(value.value(env))
            return [
                {**dict(zip(keys, key, strict=True)), "n": means(values)} for key, values in found.items()
            ]

        text = f"var m = {value.text}, var g = m.group_by(({', '.join(keys)})), var n = g.{how}"
        return (text, groups), {each: known[each] for each in keys}

    # -------------------------------------------------------------- patterns

    def _pattern(
        self, of: str, before: Types, known: Types, deep: int
    ) -> tuple[str, Callable[[Any, Env], bool]]:
        bound = [name for name, its in before.items() if its == of]
        choice = self.chance.random()
        if bound and choice < 0.35:
            name = self.chance.choice(bound)
            return name, lambda value, env: bool(env[name] == value)
        if choice < 0.45:
            return "_", lambda value, env: True
        if of in "ns" and choice < 0.55:
            text, literal = self._literal(of)
            return text, lambda value, env: bool(value == literal)
        if of in "opfq" and deep and choice < 0.75:
            return self._taken_apart(of, before, known, deep - 1)
        if isinstance(known, _Closed):
            return "_", lambda value, env: True
        new = f"x{len(known)}"
        known[new] = of

        def bind(value: Any, env: Env) -> bool:
            env[new] = value
            return True

        return new, bind

    def _taken_apart(
        self, of: str, before: Types, known: Types, deep: int
    ) -> tuple[str, Callable[[Any, Env], bool]]:
        form, tag, inner = self.chance.choice(_FORMS[of])
        parts = [self._pattern(each, before, known, deep) for each in inner]

        def fits(value: Any, env: Env) -> bool:
            if tag is not None and value[0] != tag:
                return False
            fields = value if tag is None else value[1:]
            return all(fit(field, env) for (_, fit), field in zip(parts, fields, strict=True))

        return form.format(*(text for text, _ in parts)), fits

    # ----------------------------------------------------------------- terms

    def _literal(self, of: str) -> tuple[str, Any]:
        if of == "n":
            number = self.chance.randint(0, 3)
            return str(number), number
        letter = self.chance.choice("abc")
        return f'"{letter}"', letter

    def _term(self, of: str, known: Types, deep: int = 2) -> Term:
        bound = [name for name, its in known.items() if its == of]
        if bound and self.chance.random() < 0.7:
            name = self.chance.choice(bound)
            return Term(name, lambda env: env[name])
        if of in "ns" and (not deep or self.chance.random() < 0.4):
            text, literal = self._literal(of)
            return Term(f"{text}: bit<2>" if of == "n" else text, lambda env: literal)
        form, inner, means = self.chance.choice(_TERMS[of][: None if deep else 1])
        parts = [self._term(each, known, max(deep - 1, 0)) for each in inner]
        return Term(
            form.format(*(f"({each.text})" for each in parts)),
            lambda env: means(*(each.value(env) for each in parts)),
        )


class _Closed(dict[str, str]):
    """Variables to which a pattern adds none."""


_FORMS: dict[str, list[tuple[str, int | None, str]]] = {
    "o": [("None", 0, ""), ("Some{{{}}}", 1, "s")],
    "p": [("Point{{{}, {}}}", None, "ns")],
    "f": [("Circle{{{}}}", 0, "n"), ("Box{{{}, {}}}", 1, "ns"), ("Blank", 2, "")],
    "q": [("({}, {})", None, "ns")],
}
_TERMS: dict[str, list[tuple[str, str, Callable[..., Any]]]] = {
    "n": [
        ("({} + 1)", "n", lambda a: (a + 1) % 4), ("({} ^ {})", "nn", lambda a, b: a ^ b),
        ("{}.x", "p", lambda p: p[0]), ("{}.0", "q", lambda q: q[0]),
        ("(if ({} == {}) {} else {})", "ssnn", lambda s, t, a, b: a if s == t else b),
    ],
    "s": [
        ("turn({})", "s", turn), ("peel({})", "o", lambda o: o[1] if o[0] else "c"),
        ("name({})", "f", name_of),
        ("{}.tag", "p", lambda p: p[1]), ("{}.1", "q", lambda q: q[1]),
    ],
    "o": [
        ("Some{{{}}}", "s", lambda s: (1, s)),
        ("(if ({} < {}) None else Some{{{}}})", "nns", lambda a, b, s: (0,) if a < b else (1, s)),
    ],
    "p": [("Point{{{}, {}}}", "ns", lambda a, s: (a, s))],
    "q": [("({}, {})", "ns", lambda a, s: (a, s))],
    "f": [
        ("Circle{{{}}}", "n", lambda a: (0, a)), ("Box{{{}, {}}}", "ns", lambda a, s: (1, a, s)),
        ("(if ({} == {}) Blank else Circle{{{}}})", "ssn", lambda s, t, a: (2,) if s == t else (0, a)),
    ],
    "v": [
        ("[{}, {}]", "nn", lambda a, b: Vec([a, b])), ("push_imm({}, {})", "vn", lambda v, a: Vec([*v, a])),
        ("[{}]", "n", lambda a: Vec([a])),
    ],
    "t": [
        ("set_singleton({})", "s", lambda s: Set([s])),
        ("insert_imm({}, {})", "ts", lambda t, s: Set([*t, s])),
        ("union({}, {})", "tt", lambda t, u: Set([*t, *u])),
    ],
}  # fmt: skip
_AGGREGATES: list[tuple[str, str, str, Callable[[set[Any]], Any]]] = [
    ("count()", "ns", "c", len), ("count_distinct()", "ns", "c", len), ("to_set().size()", "ns", "c", len),
    ("min()", "n", "n", min), ("max()", "n", "n", max), ("sum()", "n", "n", lambda found: sum(found) % 4),
    ("min()", "s", "s", min), ("max()", "s", "s", max), ("first()", "s", "s", min),
    ("first()", "n", "n", min), ("to_set()", "s", "t", Set),
    ("to_vec()", "n", "v", lambda found: Vec(sorted(found))),
]  # fmt: skip
"""Aggregates of the different values of a group, each with the types of values and its own."""


RANGES = {"Recent": (3, None), "Prompt": (6, 1)}
"""The windows over events: how far each reaches back from the clock, and by how much an event may be late."""


def windows(inputs: Contents, before: Contents) -> dict[str, Mapping[Row, int]]:
    """The contents of the windows after a commit, in which the events `Event+` came and `Event-` went.
    `before` has what they held, the greatest time of the clock, and the elements of the stream."""
    was = max((row[0] for row in before.get("clock", {})), default=-1)
    now = max([was, *(row[0] for row in inputs["Clock"])])
    found: dict[str, Mapping[Row, int]] = {"clock": {(now,): 1}, "flow": inputs["Flow"]}
    for name, (reach, late) in RANGES.items():
        held = Counter(before.get(name, {}))
        held.subtract(inputs["Event-"])
        for row, count in inputs["Event+"].items():
            if late is None or row[0] >= was - late:
                held[row] += count
        found[name] = {row: count for row, count in held.items() if count > 0 and row[0] >= now - reach}
    for name, past in (("LastFlow", "flow"), ("AllFlow", "AllFlow")):
        found[name] = Counter(inputs["Flow"]) + Counter(before.get(past, {}))
    return found


def rows(chance: random.Random, of: str) -> tuple[Any, ...]:
    """A random row of columns of these types."""
    return tuple(_value(chance, each) for each in of)


def _value(chance: random.Random, of: str) -> Any:
    number, letter = chance.randint(0, 3), chance.choice("abc")
    numbers: Iterable[int] = (chance.randint(0, 3) for _ in range(chance.randint(0, 3)))
    return {
        "n": lambda: number,
        "s": lambda: letter,
        "m": lambda: chance.randint(0, 9),
        "o": lambda: chance.choice([(0,), (1, letter)]),
        "p": lambda: (number, letter),
        "q": lambda: (number, letter),
        "f": lambda: chance.choice([(0, number), (1, number, letter), (2,)]),
        "v": lambda: Vec(list(numbers)),
        "t": lambda: Set([chance.choice("abc") for _ in numbers]),
    }[of]()
