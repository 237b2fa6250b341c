"""Fingerprints of the nodes of a circuit: nodes with the same one compute the same from the same inputs.

The fingerprint of a node is a digest of the operator, of all definitions that its expressions name, and of
the fingerprints of its sources. So a change of a rule changes the fingerprints of what depends on it, and no
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any

from .circuit import Circuit, Node

_SIZE = 16

Open = Callable[[Any], Any]
"""A plain value that stands for one of the front end; itself, if there is none."""
Named = Callable[[str], Mapping[str, bytes] | None]
"""The digests of the definitions that a text names, with all that these name. None: one of them has none."""


class _Opaque(Exception):
    """A value that has no digest: a function."""


def fingerprints(circuit: Circuit, opened: Open, named: Named) -> list[str | None]:
    """The fingerprint of each node; None for one that has none, and for what depends on it."""
    found: list[str | None] = []
    for node in circuit.nodes:
        sources = list(dict.fromkeys(node.reads()))
        below = [found[source] for source in sources]
        places = {source: place for place, source in enumerate(sources)}
        own = None if None in below else digest(node.reading(places.__getitem__), opened, named)
        if own is None:
            found.append(None)
            continue
        found.append(blake2b(repr((own, below)).encode(), digest_size=_SIZE).hexdigest())
    return found


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
    if is_dataclass(value):
        return _hashed(b"d", type(value).__qualname__.encode(), *_parts(value, opened, texts))
    plain = opened(value)
    if plain is value:
        raise _Opaque
    return _hashed(b"o", _digest(plain, opened, texts))


def _parts(value: Any, opened: Open, texts: set[str]) -> Iterator[bytes]:
    for field in fields(value):
        if field.compare and not (isinstance(value, Node) and field.name == "text"):
            yield _digest(getattr(value, field.name), opened, texts)


def _hashed(*parts: bytes) -> bytes:
    made = blake2b(digest_size=_SIZE)
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.digest()
