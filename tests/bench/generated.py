"""Random programs of any size, similar to the programs of real analyses. A seed gives the same program again.

    python tests/bench/generated.py 30000 > large.dl

A program is a row of parts. Each declares types and functions, input relations with facts, and relations
computed from those and from relations of earlier parts: joins with filters, assignments, patterns and
negation, recursion (one relation, several, with a bound), elements of collections, groups, several heads.
All text is typed: values are chosen by the type that a place needs. Recursive rules compute no new values
but below a bound, so programs end.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

IDS = 20  # numbers and names in facts are fewer than that, so that joins find something, and not much
DEPTH = 6  # a relation is at most so many steps from the inputs

TYPES = ("u32", "string", "u32", "string", "u32", "s64", "bool", "Option<u32>", "Option<string>",
         "(u32, string)", "Vec<string>")  # fmt: skip
STEMS = {"u32": "id", "u64": "count", "string": "name", "s64": "weight", "bool": "flag",
         "Vec<string>": "names"}  # fmt: skip
NOUNS = ("Block", "Call", "Field", "Flow", "Frame", "Label", "Local", "Merge", "Scope", "Site", "Store",
         "Symbol", "Target", "Trace", "Value", "Width")  # fmt: skip
REMARKS = (
    "What reaches a use without passing a definition.",
    "Only the sites that the configuration asks for.",
    "Names are compared as they are written.",
    "See the notes on precision before changing this.",
)


def generate(lines: int, seed: int = 0) -> str:
    """A program of at least the given number of lines, and few more."""
    chance = random.Random(seed)
    parts: list[_Part] = []
    made = [f"// A program of about {lines} lines, made from the seed {seed}.", ""]
    while len(made) < lines:
        parts.append(_Part(chance, len(parts), parts[-3:]))
        for block in parts[-1].blocks():
            made += [*block, ""]
            if len(made) >= lines:
                break
    return "\n".join(made)


@dataclass(frozen=True)
class _Relation:
    name: str
    types: tuple[str, ...]
    depth: int  # steps from the inputs


@dataclass
class _Body:
    """The clauses of a rule, and its variables by type."""

    clauses: list[str] = field(default_factory=list)
    variables: dict[str, list[str]] = field(default_factory=dict)
    depth: int = 0
    count: int = 0

    def new(self, type: str) -> str:
        """A new variable, to be bound by the clause that is being written."""
        self.count += 1
        name = f"{STEMS.get(type, 'item')}{self.count}"
        self.variables.setdefault(type, []).append(name)
        return name


class _Part:
    """One part of a program. `blocks` are its declarations in order."""

    def __init__(self, chance: random.Random, number: int, before: Sequence[_Part]) -> None:
        self.chance, self.number = chance, number
        self.span, self.node = f"Span{number}", f"Node{number}"
        self.relations: list[_Relation] = []
        self.imported = [each for part in before for each in part.exported()]

    def exported(self) -> list[_Relation]:
        """Some of the relations, for later parts."""
        shallow = [each for each in self.relations if each.depth < DEPTH // 2]
        return self.chance.sample(shallow, k=min(4, len(shallow)))

    def blocks(self) -> Iterator[list[str]]:
        """The declarations, as blocks of lines that belong together."""
        yield [f"// ---- Part {self.number}", "", *self.typedefs()]
        yield from self.functions()
        for _ in range(self.chance.randint(3, 5)):
            yield self.input()
        makers: list[Callable[[], list[str]]] = [self.joined] * 12
        makers += [self.output, self.output, self.closure, self.alternating, self.counted, self.collected]
        makers += [self.flattened, self.shared]
        self.chance.shuffle(makers)
        for make in makers:
            yield make()

    # ------------------------------------------------------- types and functions

    def typedefs(self) -> list[str]:
        n = self.number
        return [
            f"typedef {self.span} = {self.span}{{file: string, line: u32, label: Option<string>}}",
            f"typedef {self.node} = Leaf{n}{{id: u32}}",
            f"              | Call{n}{{callee: string, args: Vec<u32>, at: {self.span}}}",
            f"              | Literal{n}{{text: string, size: s64}}",
            f"              | Nothing{n}",
        ]

    def functions(self) -> Iterator[list[str]]:
        n, some = self.number, self.chance.randint
        yield [
            f"function title{n}(node: {self.node}): string {{",
            "    match (node) {",
            f'        Leaf{n}{{id}} -> "leaf ${{id}}",',
            f'        Call{n}{{.callee = callee, .at = at}} -> callee ++ " in ${{at.file}}",',
            f'        Literal{n}{{text, size}} -> if (size > {some(3, 40)}) {{ text }} else {{ "short" }},',
            f'        Nothing{n} -> "nothing"',
            "    }",
            "}",
        ]
        yield [
            "// The arguments of a call before the first that is the limit.",
            f"function arguments{n}(node: {self.node}, limit: u32): Vec<u32> {{",
            "    var found = vec_empty();",
            "    match (node) {",
            f"        Call{n}{{_, args, _}} -> for (arg in args) {{",
            "            if (arg == limit) { break };",
            f"            if (arg % {some(2, 5)} != 0) {{ found.push(arg) }}",
            "        },",
            "        _ -> ()",
            "    };",
            "    found",
            "}",
        ]
        yield [
            f"function bucket{n}(id: u32): u32 = (id * {some(3, 17)} + {some(1, 9)}) % {IDS}",
            f"function near{n}(a: u32, b: u32): bool {{",
            "    var distance = if (a > b) { a - b } else { b - a };",
            f"    distance < {some(5, 20)}",
            "}",
            f"function place{n}(span: {self.span}): string {{",
            "    var shown = match (span.label) { Some{label} -> label, None -> span.file };",
            '    "${shown}:${span.line}"',
            "}",
        ]

    # --------------------------------------------------------------- relations

    def declare(self, role: str, types: Sequence[str], depth: int, noun: str = "") -> tuple[_Relation, str]:
        """A new relation, and the text of its declaration."""
        noun = noun or self.chance.choice(NOUNS)
        relation = _Relation(f"{noun}{self.number}_{len(self.relations)}", tuple(types), depth)
        self.relations.append(relation)
        shown = ", ".join(f"{STEMS.get(type, 'item')}{i}: {type}" for i, type in enumerate(types))
        return relation, f"{role} relation {relation.name}({shown})".strip()

    def columns(self) -> list[str]:
        """The types of two to eight columns, first a number and a name."""
        count = self.chance.choice((2, 2, 3, 3, 4, 4, 5, 6, 8))
        return ["u32", "string", *self.chance.choices((*TYPES, self.span, self.node), k=count - 2)]

    def input(self) -> list[str]:
        types = self.columns()
        relation, text = self.declare("input", types, 0)
        facts = [", ".join(map(self.literal, types)) for _ in range(self.chance.randint(3, 6))]
        return [f"// {self.chance.choice(REMARKS)}", text, *(f"{relation.name}({fact})." for fact in facts)]

    def output(self) -> list[str]:
        return self.joined("output")

    def joined(self, role: str = "") -> list[str]:
        """A relation of two to five rules: joins, with clauses of all other kinds."""
        types = self.columns()
        bodies = [self.body() for _ in range(self.chance.choice((2, 3, 3, 4, 5)))]
        rows = [[self.value(type, body) for type in types] for body in bodies]
        relation, text = self.declare(role, types, 1 + max(body.depth for body in bodies))
        rules = [self.rule(body, (relation, row)) for body, row in zip(bodies, rows, strict=True)]
        return [f"// {self.chance.choice(REMARKS)}", text, *(line for rule in rules for line in rule)]

    def edges(self) -> tuple[_Relation, list[str]]:
        """A relation between numbers, and its declaration with a rule."""
        body = self.body()
        row = [self.value("u32", body), self.value("u32", body)]
        relation, text = self.declare("", ("u32", "u32"), 1 + body.depth, "Edge")
        return relation, [text, *self.rule(body, (relation, row))]

    def closure(self) -> list[str]:
        """A recursive relation, and one that counts its steps up to a bound."""
        edge, lines = self.edges()
        reach, text = self.declare("", ("u32", "u32"), edge.depth + 1, "Reach")
        steps, more = self.declare("", ("u32", "u32", "u32"), edge.depth + 1, "Steps")
        return [
            *lines,
            text,
            f"{reach.name}(a, b) :- {edge.name}(a, b).",
            f"{reach.name}(a, c) :- {reach.name}(a, b), {edge.name}(b, c), a != c.",
            more,
            f"{steps.name}(a, b, 1) :- {edge.name}(a, b).",
            f"{steps.name}(a, c, n + 1) :-",
            f"    {steps.name}(a, b, n), n < {self.chance.randint(3, 6)},",
            f"    {edge.name}(b, c), not {reach.name}(c, a).",
        ]

    def alternating(self) -> list[str]:
        """Two relations, each recursive through the other."""
        edge, lines = self.edges()
        stop = self.chance.choice([each for each in self.relations if each.depth <= edge.depth])
        odd, text = self.declare("", ("u32", "u32"), edge.depth + 1, "Odd")
        even, more = self.declare("", ("u32", "u32"), edge.depth + 1, "Even")
        blocked = f"{stop.name}({', '.join('b' if i == 0 else '_' for i in range(len(stop.types)))})"
        if stop.types[0] != "u32":
            blocked = f"{edge.name}(b, b)"
        return [
            *lines,
            text,
            more,
            f"{odd.name}(a, b) :- {edge.name}(a, b).",
            f"{odd.name}(a, c) :- {even.name}(a, b), {edge.name}(b, c), not {blocked}.",
            f"{even.name}(a, c) :- {odd.name}(a, b), {edge.name}(b, c).",
        ]

    def counted(self) -> list[str]:
        """A count for each name, and the names with a large count."""
        body = self.body()
        key, what = self.variable("string", body), self.variable("u32", body)
        relation, text = self.declare("", ("string", "u64"), 1 + body.depth, "Count")
        most, more = self.declare("", ("string",), 2 + body.depth, "Many")
        body.clauses.append(f"var size = {what}.group_by({key}).count()")
        return [
            text,
            *self.rule(body, (relation, [key, "size"])),
            more,
            f"{most.name}(name) :- {relation.name}(name, n), n > {self.chance.randint(1, 4)}.",
        ]

    def collected(self) -> list[str]:
        """Several aggregates of one group."""
        body = self.body()
        key, name = self.variable("u32", body), self.variable("string", body)
        body.clauses.append(f"var g = {name}.group_by({key})")
        row = [key, "g.to_vec()", '"${g.min()} to ${g.max()}"', "g.count_distinct()"]
        types = ("u32", "Vec<string>", "string", "u64")
        relation, text = self.declare("", types, 1 + body.depth, "All")
        return [text, *self.rule(body, (relation, row))]

    def flattened(self) -> list[str]:
        """The elements of collections."""
        body = self.body()
        nodes = body.variables.get(self.node)
        items = f"arguments{self.number}({nodes[0]}, {self.chance.randint(1, IDS)})" if nodes else ""
        if not items:
            id = self.variable("u32", body)
            items = f"[{id}, bucket{self.number}({id})]"
        element = body.new("u32")
        body.clauses.append(f"var {element} = FlatMap({items})")
        row = [element, self.value("string", body)]
        relation, text = self.declare("", ("u32", "string"), 1 + body.depth)
        return [text, *self.rule(body, (relation, row))]

    def shared(self) -> list[str]:
        """Two relations filled by one rule."""
        body = self.body()
        first, text = self.declare("", ("u32", "string"), 1 + body.depth)
        second, more = self.declare("", ("string", "s64", "u32"), 1 + body.depth)
        heads = [(each, [self.value(type, body) for type in each.types]) for each in (first, second)]
        return [text, more, *self.rule(body, *heads)]

    # ------------------------------------------------------------------- rules

    def rule(self, body: _Body, *heads: tuple[_Relation, list[str]]) -> list[str]:
        """The lines of a rule, without the variables that it does not use."""
        head = ", ".join(f"{relation.name}({', '.join(row)})" for relation, row in heads)
        clauses = _used(head, body.clauses)
        line = f"{head} :- {', '.join(clauses)}."
        if len(line) <= 88:
            return [line]
        return [f"{head} :-", *(f"    {each}," for each in clauses[:-1]), f"    {clauses[-1]}."]

    def body(self) -> _Body:
        """The clauses of a rule: two to six, the first one a term."""
        body = _Body()
        for _ in range(self.chance.choice((1, 2, 2, 2, 3, 3, 4))):
            self.term(body)
        makers = (self.condition, self.condition, self.assignment, self.matched, self.negated, self.element)
        for make in self.chance.sample(makers, k=self.chance.choice((0, 1, 1, 2))):
            make(body)
        return body

    def source(self) -> _Relation:
        own = self.relations if self.chance.random() < 0.85 or not self.imported else self.imported
        return self.chance.choice([each for each in own[-25:] if each.depth < DEPTH])

    def term(self, body: _Body) -> None:
        """A term that shares a variable with the clauses before it."""
        relation = self.source()
        body.depth = max(body.depth, relation.depth)
        shared = [i for i, type in enumerate(relation.types) if type in ("u32", "string")]
        join = self.chance.choice([i for i in shared if body.variables.get(relation.types[i])] or [-1])
        args = [
            self.chance.choice(body.variables[type]) if i == join else self.pattern(type, body)
            for i, type in enumerate(relation.types)
        ]
        body.clauses.append(f"{relation.name}({', '.join(args)})")

    def pattern(self, type: str, body: _Body) -> str:
        """An argument of a term: a new variable, a constant, or a pattern."""
        chance = self.chance.random()
        if chance > 0.3:
            return body.new(type)
        if chance > 0.15:
            return "_"
        match type:
            case "Option<u32>":
                return f"Some{{{body.new('u32')}}}"
            case "(u32, string)":
                return f"({body.new('u32')}, {body.new('string')})"
            case self.span:
                return f"{type}{{.file = {body.new('string')}, .line = {body.new('u32')}}}"
            case self.node:
                return f"Call{self.number}{{{body.new('string')}, _, _}}"
            case "bool":
                return self.literal(type)
        return body.new(type)

    def condition(self, body: _Body) -> None:
        """A filter."""
        id, other = self.variable("u32", body), self.variable("u32", body)
        name = self.variable("string", body)
        forms = [
            f"{id} < {self.chance.randint(IDS // 2, IDS)} or {id} % 2 == 1",
            f'not {name}.starts_with("{self.chance.choice("abc")}")',
            f'{name} != "{self.chance.choice(NOUNS)}"',
        ]
        if id != other:
            forms += [f"{id} != {other}", f"near{self.number}({id}, {other})"]
        body.clauses.append(self.chance.choice(forms))

    def assignment(self, body: _Body) -> None:
        """A variable defined by an expression."""
        type = self.chance.choice(("u32", "string", "s64", "bool"))
        value = self.value(type, body)
        body.clauses.append(f"var {body.new(type)} = {value}")

    def matched(self, body: _Body) -> None:
        """An assignment whose pattern filters values."""
        for type in ("u32", "string"):
            options = body.variables.get(f"Option<{type}>")
            if options:
                body.clauses.append(f"Some{{var {body.new(type)}}} = {self.chance.choice(options)}")

    def negated(self, body: _Body) -> None:
        """A negated term."""
        relation = self.source()
        body.depth = max(body.depth, relation.depth)
        key = self.variable(relation.types[0], body)
        args = [key, *("_" for _ in relation.types[1:])]
        body.clauses.append(f"not {relation.name}({', '.join(args)})")

    def element(self, body: _Body) -> None:
        """A row for each element of a vector."""
        vectors = body.variables.get("Vec<string>")
        if vectors:
            vector = self.chance.choice(vectors)
            body.clauses.append(f"var {body.new('string')} = FlatMap({vector})")

    # ------------------------------------------------------------------ values

    def variable(self, type: str, body: _Body) -> str:
        """A variable of the type, made by a term if there is none."""
        if not body.variables.get(type):
            relation = self.chance.choice(
                [each for each in self.relations if type in each.types and not each.depth]
            )
            at = relation.types.index(type)
            args = [body.new(type) if i == at else "_" for i in range(len(relation.types))]
            body.clauses.append(f"{relation.name}({', '.join(args)})")
        return self.chance.choice(body.variables[type])

    def literal(self, type: str) -> str:
        """A constant."""
        some, n = self.chance.randint, self.number
        match type:
            case "u32":
                return str(some(0, IDS))
            case "s64":
                return str(some(-IDS, IDS))
            case "string":
                return f'"{self.chance.choice(NOUNS).lower()}{some(0, 1)}"'
            case "bool":
                return self.chance.choice(("true", "false"))
            case "Vec<string>":
                return f"[{self.literal('string')}, {self.literal('string')}]"
            case "(u32, string)":
                return f"({self.literal('u32')}, {self.literal('string')})"
            case "Option<u32>" | "Option<string>":
                return "None" if some(0, 2) == 0 else f"Some{{{self.literal(type[7:-1])}}}"
            case self.span:
                return f"{type}{{{', '.join(map(self.literal, ('string', 'u32', 'Option<string>')))}}}"
        call = f"Call{n}{{{self.literal('string')}, [{some(1, 9)}, {some(1, 9)}], {self.literal(self.span)}}}"
        leaf, text = f"Leaf{n}{{{some(0, IDS)}}}", f"Literal{n}{{{self.literal('string')}, {some(0, 50)}}}"
        return self.chance.choice((call, call, leaf, text, f"Nothing{n}"))

    def value(self, type: str, body: _Body) -> str:
        """An expression over the variables of the body."""
        known = body.variables.get(type)
        if known and self.chance.random() < 0.75:
            return self.chance.choice(known)
        return self.chance.choice([*self.expressions(type, body)] or [self.literal(type)])

    def expressions(self, type: str, body: _Body) -> Iterator[str]:
        """Some expressions of the type."""
        n, some = self.number, self.chance.randint
        first = {each: self.chance.choice(names) for each, names in body.variables.items()}
        id, name, span, node = (first.get(each) for each in ("u32", "string", self.span, self.node))
        id, name = id or self.literal("u32"), name or self.literal("string")
        match type:
            case "u32":
                yield f"bucket{n}({id})"
                yield f"({id} + {some(1, 9)}) % {IDS}"
                if span:
                    yield f"{span}.line"
                if "Option<u32>" in first:
                    yield f"{first['Option<u32>']}.unwrap_or({some(0, IDS)})"
                if "(u32, string)" in first:
                    yield f"{first['(u32, string)']}.0"
            case "string":
                yield f'"{self.chance.choice(NOUNS)} ${{{id}}}"'
                yield f"{name}.to_uppercase()"
                if span:
                    yield f"place{n}({span})"
                if node:
                    yield f"title{n}({node})"
            case "s64":
                yield f"({id} as bit<64>) as signed<64> - {some(1, 9)}"
                if "s64" in first:
                    yield f"-{first['s64']}"
            case "bool":
                yield f"near{n}({id}, {some(0, IDS)})"
                yield f'{name} == "main" or {id} >= {some(0, IDS)}'
            case "Option<u32>":
                yield f"if ({id} > {some(0, IDS)}) {{ Some{{{id}}} }} else {{ None }}"
            case "Option<string>":
                yield f"Some{{{name}}}"
            case "(u32, string)":
                yield f"({id}, {name})"
            case "Vec<string>":
                yield f'{name}.split(" ")'
            case self.span:
                yield f"{type}{{{name}, {id}, None}}"
                yield f"{type}{{.file = {name}, .line = {id}, .label = Some{{{name}}}}}"
            case self.node:
                yield f"Leaf{n}{{{id}}}"
                yield f"Literal{n}{{{name}, {some(0, 50)}}}"


_NEW = re.compile(r"var (\w+) =")
_WORD = re.compile(r"\b[a-z]+\d+\b")


def _used(head: str, clauses: Sequence[str]) -> list[str]:
    """The clauses without variables that occur once: `_` in a term, and no assignment at all."""
    kept = list(clauses)
    while True:
        words = [word for text in (head, *kept) for word in _WORD.findall(text)]
        once = {word for word in words if words.count(word) == 1}
        unused = [each for each in kept if (new := _NEW.match(each)) and new[1] in once and len(kept) > 1]
        if not unused:
            return [_blanked(clause, once) for clause in kept]
        kept.remove(unused[0])


def _blanked(clause: str, once: set[str]) -> str:
    """The clause with `_` in the place of variables."""

    def blank(word: re.Match[str]) -> str:
        before, after = clause[: word.start()], clause[word.end() :]
        kept = word[0] not in once or after.startswith("(") or '"' in before
        return word[0] if kept else "_"

    return _WORD.sub(blank, clause).replace("var _}", "_}")


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])))
