"""The functions that json.dl declares `extern`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types import Type, User
from ..values import Struct
from ..values.anyjson import to_any_json
from .jsonreaders import JsonReaders, read_text
from .jsonscalars import json_value
from .jsontext import Refused, encode
from .jsonwriters import JsonWriters
from .options import err, ok
from .typed import Signature, specialised

Conversion = Callable[[Any], Struct]


@specialised
def _from_json_string(signature: Signature) -> Conversion:
    read = JsonReaders(signature.typedefs).reader(_read(signature))
    return _attempt(lambda text: read_text(text, read))


@specialised
def _from_json_value(signature: Signature) -> Conversion:
    read = JsonReaders(signature.typedefs).reader(_read(signature))
    return _attempt(lambda value: read(to_any_json(value), 0))


@specialised
def to_json_string(signature: Signature) -> Conversion:
    write = JsonWriters(signature.typedefs).writer(signature.parameters[0])
    return _attempt(lambda value: encode(write(value)))


@specialised
def to_json_value(signature: Signature) -> Conversion:
    write = JsonWriters(signature.typedefs).writer(signature.parameters[0])
    return _attempt(lambda value: json_value(write(value)))


def _read(signature: Signature) -> Type:
    """The type that the result is `Ok` of."""
    assert isinstance(signature.result, User)
    return signature.result.args[0]


def _attempt(convert: Callable[[Any], Any]) -> Conversion:
    """The conversion, with `Err` for a value that cannot be converted."""

    def attempt(value: Any) -> Struct:
        try:
            return ok(convert(value))
        except Refused as error:
            return err(error.message)
        except RecursionError:
            return err("recursion limit exceeded")

    return attempt
