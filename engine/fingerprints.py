"""Fingerprints of the nodes of a circuit: nodes with the same one compute the same from the same inputs.

The fingerprint of a node is a digest of the operator, of all definitions that its expressions name, and of
the fingerprints of its sources. So a change of a rule changes the fingerprints of what depends on it, and no
others. The names of variables, and of columns but those of inputs and outputs, take no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any

from .circuit import Circuit, DeltaJoin, Input, Join, Node, Output, Step
from .digests import blake2b
from .operators.steps import expression, has_effect, rename_step, with_expression
from .passes.canonical import canonical_names, rename_term

_SIZE = 16

Open = Callable[[Any], Any]
"""A plain value that stands for one of the front end; itself, if there is none."""
Named = Callable[[str], Mapping[str, bytes] | None]
"""The digests of the definitions that a text names, with all that these name. None: one of them has none."""


class _Opaque(Exception):
    """A value that has no digest: a function."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprint of each node of a circuit; None for one that has none, and for what depends on it.
    `digests` are those of the operators, which read their sources by the places among these."""

    names: Sequence[str | None]
    digests: Mapping[Node, bytes | None]


def fingerprints(
    circuit: Circuit, opened: Open, named: Named, known: Mapping[Node, bytes | None] = MappingProxyType({})
) -> Fingerprints:
    """The fingerprints of a circuit; the digests of some operators may be `known`."""
    found: list[str | None] = []
    digests: dict[Node, bytes | None] = {}
    for node in circuit.nodes:
        sources = list(dict.fromkeys(node.reads()))
        below = [found[source] for source in sources]
        places = {source: place for place, source in enumerate(sources)}
        plain = node.reading(places.__getitem__)
        own = digests[plain] = known[plain] if plain in known else digest(plain, opened, named)
        if own is None or None in below:
            found.append(None)
            continue
        found.append(blake2b(repr((own, below)).encode(), digest_size=_SIZE).hexdigest())
    return Fingerprints(found, digests)


def _nameless(node: Node) -> Node:
    """The node with names of columns and variables that are the same for all nodes which compute the same."""
    if isinstance(node, Input | Output) or not getattr(node, "schema", ()):
        return node
    given: Any = node
    changes: dict[str, Any] = {"schema": tuple(replace(each, name="") for each in node.schema)}
    if isinstance(node, Join | DeltaJoin) and not any(map(has_effect, node.steps)):
        new = canonical_names(node.terms, node.steps).__getitem__
        changes["terms"] = tuple(rename_term(each, new) for each in node.terms)
        changes["steps"] = tuple(_nameless_step(rename_step(each, new)) for each in node.steps)
        changes["output"] = tuple(map(new, node.output))
    made: Node = replace(given, **changes)
    return made


def _nameless_step(step: Step) -> Step:
    value = expression(step)
    return with_expression(step, replace(value, column=replace(value.column, name="")))


def digest(value: Any, opened: Open, named: Named) -> bytes | None:
    """The digest of a value, with the definitions that its texts name; None if some part has none."""
    texts: set[str] = set()
    try:
        own = _digest(value, opened, texts)
    except _Opaque:
        return None
    definitions: dict[str, bytes] = {}
    for text in texts:
        of = named(text)
        if of is None:
            return None
        definitions |= of
    return _hashed(
        own, *(part for name in sorted(definitions) for part in (name.encode(), definitions[name]))
    )


def plain_digest(value: Any, opened: Open) -> tuple[bytes, set[str]] | None:
    """The digest of a value alone, and the texts in it; None if some part has none."""
    texts: set[str] = set()
    try:
        return _digest(value, opened, texts), texts
    except _Opaque:
        return None


def _digest(value: Any, opened: Open, texts: set[str]) -> bytes:
    match value:
        case str():
            texts.add(value)
            return _hashed(b"s", value.encode("utf-8", "surrogatepass"))
        case None | bool() | int() | float() | bytes():
            return _hashed(type(value).__name__.encode(), repr(value).encode())
        case Enum():
            return _hashed(b"e", type(value).__name__.encode(), value.name.encode())
        case tuple() | list():
            return _hashed(b"t", *(_digest(each, opened, texts) for each in value))
        case set() | frozenset():
            return _hashed(b"u", *sorted(_digest(each, opened, texts) for each in value))
        case Mapping():
            pairs = [(_digest(k, opened, texts), _digest(v, opened, texts)) for k, v in value.items()]
            return _hashed(b"m", *(part for pair in sorted(pairs) for part in pair))
        case type():
            return _hashed(b"c", value.__qualname__.encode())
    if isinstance(value, Node):
        value = _nameless(value)
    if is_dataclass(value):
        return _hashed(b"d", type(value).__qualname__.encode(), *_parts(value, opened, texts))
    plain = opened(value)
    if plain is value:
        raise _Opaque
    return _hashed(b"o", _digest(plain, opened, texts))


def _parts(value: Any, opened: Open, texts: set[str]) -> Iterator[bytes]:
    kind: Any = type(value)
    for name in _compared(kind):
        yield _digest(getattr(value, name), opened, texts)


@cache
def _compared(kind: type) -> tuple[str, ...]:
    """The fields of a class that tell its values apart."""
    of: Any = kind
    shown = issubclass(kind, Node)  # the text of a node is for people
    return tuple(each.name for each in fields(of) if each.compare and not (shown and each.name == "text"))


def _hashed(*parts: bytes) -> bytes:
    told = b"".join([each for part in parts for each in (len(part).to_bytes(8, "little"), part)])
    return blake2b(told, digest_size=_SIZE).digest()
