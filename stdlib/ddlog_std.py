"""The functions that ddlog_std.dl declares `extern`."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from ..engine.memory import reserve
from ..types import Bit, FunctionType, Opaque, Signed, Tuple, Type, User
from ..values import (
    TypeDefs,
    any_class,
    captured_by,
    default_value,
    local_name,
    show,
    taken_apart,
    to_string,
)
from .collections import *  # noqa: F403
from .groups import *  # noqa: F403
from .numbers import *  # noqa: F403
from .options import NONE, some
from .strings import *  # noqa: F403
from .typed import Signature, specialised, typed


@specialised
def default(signature: Signature) -> Callable[[], Any]:
    return lambda: default_value(signature.result, signature.typedefs)


def ref_new(x: Any) -> Any:
    return x


def deref(x: Any) -> Any:
    return x


@specialised
def to_any(signature: Signature) -> Callable[[Any], Any]:
    return any_class(signature.parameters[0])


@specialised
def from_any(signature: Signature) -> Callable[[Any], Any]:
    """The value, if it is of the type that the caller wants."""
    assert isinstance(signature.result, User)
    wanted = signature.result.args[0]  # a worker has other classes of Any than the driver
    return lambda value: some(value.value) if value.type == wanted else NONE


@specialised
def __builtin_2string(signature: Signature) -> Callable[[Any], str]:
    type = signature.parameters[0]
    if isinstance(type, Bit | Signed) and type.width <= 128:
        return str
    return lambda x: _asking(to_string(x, type, signature.typedefs))


@typed
def to_string_debug(x: Any, *, signature: Signature) -> str:
    return _asking(debug_text(x, signature.parameters[0], signature.typedefs))


def _asking(text: str) -> str:
    """A text, if there is memory for another one of its size: a loop may put it into the next."""
    reserve(len(text))
    return text


@typed
def hash32(x: Any, *, signature: Signature) -> int:
    return _hash(x, signature, 4)


@typed
def hash64(x: Any, *, signature: Signature) -> int:
    return _hash(x, signature, 8)


@typed
def hash128(x: Any, *, signature: Signature) -> int:
    return _hash(x, signature, 16)


def _hash(x: Any, signature: Signature, size: int) -> int:
    text = show(x, signature.parameters[0], signature.typedefs)
    return int.from_bytes(blake2b(text.encode(), digest_size=size).digest(), "little")


def debug_text(value: Any, type: Type, typedefs: TypeDefs) -> str:
    """The value for people who debug: strings quoted, structs without field names."""
    match type:
        case Tuple(items):
            return f"({', '.join(debug_text(v, of, typedefs) for v, of in zip(value, items, strict=True))})"
        case User():
            constructor, fields = taken_apart(value, type, typedefs)
            shown = [
                debug_text(v, of, typedefs) for v, (_, of) in zip(fields, constructor.fields, strict=True)
            ]
            return f"{constructor.name}{{{','.join(shown)}}}"
        case Opaque(name, (key, of)) if local_name(name) == "Map":
            pairs = (f"{debug_text(k, key, typedefs)}: {debug_text(v, of, typedefs)}" for k, v in value)
            return f"{{{', '.join(pairs)}}}"
        case FunctionType():
            holder, captured = captured_by(value, typedefs)
            held = (debug_text(v, of, typedefs) for v, (_, of) in zip(captured, holder.fields, strict=True))
            return f"<closure: {holder.name}, captured_args: [{', '.join(held)}]>"
        case Opaque("ddlog_std::Any"):
            return debug_text(value.value, value.type, typedefs)
        case Opaque(name, args):
            elements = value[1] if local_name(name) == "Group" else value
            return f"[{', '.join(debug_text(each, args[-1], typedefs) for each in elements)}]"
    return show(value, type, typedefs)
