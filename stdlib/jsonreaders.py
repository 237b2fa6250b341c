"""What reads values of a type from the decoded form of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..types import BigInt, Bit, Bool, Constructor, Float, Opaque, Signed, String, Tuple, Type, User
from ..values import (
    Map,
    Set,
    TypeDefs,
    Vec,
    constructors_of,
    default_value,
    int_to_double,
    int_to_single,
    integer_range,
    local_name,
    make,
    single,
)
from .jsonlayout import SETS, is_named, layout, unwrapped, variant
from .jsontext import DEPTH, Ambiguous, Refused, decode, end_of, number_text, place
from .jsonvalues import to_value
from .options import NONE, some

Reader = Callable[[Any, int], Any]  # of decoded JSON, and how deep it stands; raises Refused


def read_text(text: str, read: Reader) -> Any:
    """The value that a text stands for. Raises Refused with a message that names the place."""
    data = decode(text)
    try:
        return read(data, 0)
    except Refused as error:
        if not error.placed:
            error.message += " " + place(text, end_of(text, error.path[::-1]))
            error.placed = True
        raise


class Readers:
    """The readers of types, each made once; those of recursive types refer to each other."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self._made: dict[Type, Reader] = {}

    def reader(self, type: Type) -> Reader:
        """The reader of a type."""
        type = unwrapped(type)
        found = self._made.get(type)
        if found is None:
            self._made[type] = lambda data, depth: self._made[type](data, depth)
            found = self._made[type] = self._make(type)
        return found

    def _make(self, type: Type) -> Reader:
        match type:
            case Bool():
                return _expecting(bool, "a boolean")
            case String():
                return _expecting(str, "a string")
            case BigInt() | Bit() | Signed():
                return _integer(type)
            case Float(width):
                return _float(width)
            case Tuple(()):
                return _expecting(None.__class__, "unit", ())
            case Tuple(items):
                return self._fixed(str(type), items, tuple)
            case User():
                return self._user(type)
            case Opaque(name, args):
                return self._collection(local_name(name), args, type)
        return _never(type)

    # -------------------------------------------------------------- collections

    def _collection(self, name: str, args: tuple[Type, ...], type: Type) -> Reader:
        match name, args:
            case "Vec", (of,):
                return self._array(of, Vec)
            case "Map", (key, of):
                return self._map(key, of)
            case kind, (of,) if kind in SETS:
                return self._array(of, Set)
        return _never(type)

    def _array(self, of: Type, build: Callable[[Iterable[Any]], Any]) -> Reader:
        item = self.reader(of)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, list):
                raise _mismatch(data, "a sequence")
            inner = _deeper(depth)
            return build(_inside(item, each, n, inner) for n, each in enumerate(data))

        return read

    def _fixed(self, what: str, types: Iterable[Type], build: Callable[[Iterable[Any]], Any]) -> Reader:
        items = [self.reader(of) for of in types]

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, list):
                raise _mismatch(data, what)
            if len(data) != len(items):
                raise Refused(f"invalid length {len(data)}, expected {what} with {len(items)} elements")
            inner = _deeper(depth)
            pairs = enumerate(zip(items, data, strict=True))
            return build([_inside(item, each, n, inner) for n, (item, each) in pairs])

        return read

    def _map(self, key: Type, of: Type) -> Reader:
        read_key, item = _key(unwrapped(key)), self.reader(of)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, dict):
                raise _mismatch(data, "a map")
            inner = _deeper(depth)
            return Map((read_key(k), _inside(item, v, k, inner)) for k, v in data.items())

        return read

    # ------------------------------------------------------------ user's types

    def _user(self, type: User) -> Reader:
        constructors = constructors_of(self.typedefs[type.name], type.args)
        if is_named(type, "Option"):
            item = self.reader(type.args[0])
            return lambda data, depth: NONE if data is None else some(item(data, depth))
        if type.name == "json::JsonValue":
            return _any
        if type.name == "json::JsonWrapper":
            return self._wrapper(type, constructors[0])
        if len(constructors) == 1:
            return self._fields(type, constructors[0], f"struct {variant(constructors[0])}")
        return self._union(type, constructors)

    def _fields(self, type: User, constructor: Constructor, what: str) -> Reader:
        """The fields as an object, or as an array."""
        typedef = self.typedefs[type.name]
        fields = [(each, self.reader(each.type)) for each in layout(constructor)]

        def build(values: Iterable[Any]) -> Any:
            return make(typedef, constructor, values)

        positional = self._fixed(what, [of for _, of in constructor.fields], build)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, dict):
                return positional(data, depth)
            inner, values = _deeper(depth), []
            if isinstance(data, Ambiguous) and any(field.key == data.key for field, _ in fields):
                raise Refused(f"duplicate field `{data.key}`")
            for field, item in fields:
                if field.key in data:
                    values.append(_inside(item, data[field.key], field.key, inner))
                elif field.optional:
                    values.append(default_value(field.type, self.typedefs))
                else:
                    raise Refused(f"missing field `{field.key}`")
            return build(values)

        return read

    def _union(self, type: User, constructors: tuple[Constructor, ...]) -> Reader:
        typedef = self.typedefs[type.name]
        known = ", ".join(f"`{variant(each)}`" for each in constructors)
        units = {variant(each): make(typedef, each, ()) for each in constructors if not each.fields}
        readers = {
            variant(each): self._fields(type, each, f"struct variant {variant(each)}")
            for each in constructors
            if each.fields
        }

        def read(data: Any, depth: int) -> Any:
            name, content = data, None
            if isinstance(data, dict) and len(data) == 1:
                ((name, content),) = data.items()
            if not isinstance(name, str):
                raise _mismatch(data, f"enum {local_name(type.name)}")
            if name in readers:
                if name is data:
                    raise Refused(f"invalid type: unit variant, expected struct variant {name}")
                return _inside(readers[name], content, name, _deeper(depth))
            if name not in units:
                raise Refused(f"unknown variant `{name}`, expected one of {known}")
            if content is not None:
                raise _mismatch(content, f"unit variant {name}")
            return units[name]

        return read

    def _wrapper(self, type: User, constructor: Constructor) -> Reader:
        """A string that holds the JSON of its only field."""
        item = self.reader(constructor.fields[0][1])

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, str):
                raise _mismatch(data, "a string")
            _deeper(depth)
            return make(self.typedefs[type.name], constructor, (read_text(data, item),))

        return read


def _inside(read: Reader, data: Any, step: str | int, depth: int) -> Any:
    try:
        return read(data, depth)
    except Refused as error:
        error.path.append(step)
        raise


def _deeper(depth: int) -> int:
    if depth >= DEPTH:
        raise Refused("recursion limit exceeded")
    return depth + 1


# -------------------------------------------------------------------- scalars


def _any(data: Any, depth: int) -> Any:
    if isinstance(data, list | dict):
        _deeper(depth + _height(data))
    return to_value(data)


def _height(data: Any) -> int:
    """How deep arrays and objects nest inside."""
    items = data.values() if isinstance(data, dict) else data
    return max((1 + _height(each) for each in items if isinstance(each, list | dict)), default=0)


def _never(type: Type) -> Reader:
    def read(data: Any, depth: int) -> Any:
        raise Refused(f"values of type {type} cannot be read from JSON")

    return read


def _expecting(of: type, what: str, value: Any = None) -> Reader:
    """Reads what Python's class says, as itself unless a value is given."""

    def read(data: Any, depth: int) -> Any:
        if not isinstance(data, of):
            raise _mismatch(data, what)
        return data if value is None else value

    return read


def _integer(type: BigInt | Bit | Signed) -> Reader:
    least, greatest = (None, None) if isinstance(type, BigInt) else integer_range(type)

    def read(data: Any, depth: int) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            raise _mismatch(data, str(type))
        if least is not None and greatest is not None and not least <= data <= greatest:
            raise Refused(f"invalid value: {_described(data)}, expected {type}")
        return data

    return read


def _float(width: int) -> Reader:
    exact, rounded = (int_to_double, float) if width == 64 else (int_to_single, single)

    def read(data: Any, depth: int) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise _mismatch(data, "float" if width == 32 else "double")
        return exact(data) if isinstance(data, int) else rounded(data)

    return read


def _key(type: Type) -> Callable[[str], Any]:
    """Reads the key of a map, which JSON has as a string."""
    match type:
        case String():
            return lambda text: text
        case BigInt() | Bit() | Signed():
            integer = _integer(type)
            return lambda text: integer(_plain(text, "-0123456789"), 0)
        case Bool():
            boolean = _expecting(bool, "a boolean")
            return lambda text: boolean({"true": True, "false": False}.get(text, text), 0)
    return lambda text: _never(type)(text, 0)


def _plain(text: str, allowed: str) -> Any:
    if not text or text.strip(allowed):
        return text
    try:
        return decode(text)
    except Refused:
        return text


def _mismatch(data: Any, what: str) -> Refused:
    return Refused(f"invalid type: {_described(data)}, expected {what}")


def _described(data: Any) -> str:
    match data:
        case None:
            return "null"
        case bool():
            return f"boolean `{'true' if data else 'false'}`"
        case int():
            return f"integer `{data}`" if data.bit_length() < 1000 else "integer"
        case float():
            return f"floating point `{number_text(data, 64)}`"
        case str():
            return f'string "{data}"'
    return "map" if isinstance(data, dict) else "sequence"
