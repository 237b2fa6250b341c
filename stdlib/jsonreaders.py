"""Functions that read values of a type from decoded JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    JsonField,
    Opaque,
    Signed,
    String,
    TextForm,
    Tuple,
    Type,
    User,
)
from ..values import Map, Set, TypeDefs, Vec, constructors_of, default_value, local_name, make
from ..values.flatfields import ABSENT, is_union_by_name, shares_of
from ..values.shapes import forms_of, is_option, variant
from .jsonscalars import ReadJson, any_json, deeper, expecting, floating, integer, key_reader, mismatch, never
from .jsontext import AmbiguousObject, Refused, decode, end_of, place
from .options import NONE, some


def read_text(text: str, read: ReadJson) -> Any:
    """The value that a text stands for. Raises Refused with a message that names the place."""
    data = decode(text)
    try:
        return read(data, 0)
    except Refused as error:
        if not error.placed:
            error.message += " " + place(text, end_of(text, error.path[::-1]))
            error.placed = True
        raise


class JsonReaders:
    """The readers of types, each made once; the readers of recursive types refer to each other."""

    def __init__(self, typedefs: TypeDefs) -> None:
        self.typedefs = typedefs
        self._made: dict[Type, ReadJson] = {}

    def reader(self, type: Type) -> ReadJson:
        """The reader of a type."""
        found = self._made.get(type)
        if found is None:
            self._made[type] = lambda data, depth: self._made[type](data, depth)
            found = self._made[type] = self._make(type)
        return found

    def _make(self, type: Type) -> ReadJson:
        match type:
            case Bool():
                return expecting(bool, "a boolean")
            case String():
                return expecting(str, "a string")
            case BigInt() | Bit() | Signed():
                return integer(type)
            case Float(width):
                return floating(width)
            case Tuple(()):
                return expecting(None.__class__, "unit", ())
            case Tuple(items):
                return self._fixed(str(type), [self.reader(of) for of in items], tuple)
            case User():
                return self._user(type)
            case Opaque(name, args):
                return self._collection(local_name(name), args, type)
        return never(type)

    # -------------------------------------------------------------- collections

    def _collection(self, name: str, args: tuple[Type, ...], type: Type) -> ReadJson:
        match name, args:
            case "Vec", (of,):
                return self._array(of, Vec)
            case "Map", (key, of):
                return self._map(key, of)
            case "Set", (of,):
                return self._array(of, Set)
        return never(type)

    def _array(self, of: Type, build: Callable[[Iterable[Any]], Any]) -> ReadJson:
        item = self.reader(of)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, list):
                raise mismatch(data, "a sequence")
            inner = deeper(depth)
            return build(_inside(item, each, n, inner) for n, each in enumerate(data))

        return read

    def _fixed(self, what: str, items: Sequence[ReadJson], build: Callable[[Iterable[Any]], Any]) -> ReadJson:
        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, list):
                raise mismatch(data, what)
            if len(data) != len(items):
                raise Refused(f"invalid length {len(data)}, expected {what} with {len(items)} elements")
            inner = deeper(depth)
            pairs = enumerate(zip(items, data, strict=True))
            return build([_inside(item, each, n, inner) for n, (item, each) in pairs])

        return read

    def _map(self, key: Type, of: Type) -> ReadJson:
        read_key, item = key_reader(key), self.reader(of)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, dict):
                raise mismatch(data, "a map")
            inner = deeper(depth)
            return Map((read_key(k), _inside(item, v, k, inner)) for k, v in data.items())

        return read

    # ------------------------------------------------------------ user's types

    def _user(self, type: User) -> ReadJson:
        constructors = constructors_of(self.typedefs[type.name], type.args)
        if is_option(type):
            item = self.reader(type.args[0])
            return lambda data, depth: NONE if data is None else some(item(data, depth))
        if type.name == "json::JsonValue":
            return any_json
        if type.name == "json::JsonWrapper":
            return self._wrapper(type, constructors[0])
        text = self.typedefs[type.name].text
        if len(constructors) > 1:
            read = self._union(type, constructors)
        else:
            read = self._fields(type, constructors[0], f"struct {variant(constructors[0])}")
        return read if text is None else _or_text(read, text)

    def _fields(self, type: User, constructor: Constructor, what: str) -> ReadJson:
        """The fields as an object, or as an array unless one has its own fields among the others."""
        typedef, forms = self.typedefs[type.name], forms_of(constructor)
        types = [of for _, of in constructor.fields]
        items = [self._field(form, of) for form, of in zip(forms, types, strict=True)]
        keys = {form.name for form in forms if not form.flatten}

        def build(values: Iterable[Any]) -> Any:
            return make(typedef, constructor, values)

        def absent(form: JsonField, of: Type) -> Any:
            if not (form.optional or is_option(of)):
                raise Refused(f"missing field `{form.name}`")
            return default_value(of, self.typedefs)

        def check(data: dict[str, Any]) -> None:
            if isinstance(data, AmbiguousObject) and data.key in keys:
                raise Refused(f"duplicate field `{data.key}`")

        fields = list(zip(forms, types, items, strict=True))
        if any(form.flatten for form in forms):
            shares = shares_of(constructor.fields, forms, self.typedefs)
            order = sorted(range(len(forms)), key=lambda n: forms[n].flatten)  # as serde: flattened ones last

            def read_flat(data: Any, depth: int) -> Any:
                if not isinstance(data, dict):
                    raise mismatch(data, what)
                check(data)
                inner, (values, _) = deeper(depth), shares(data)
                for n in order:
                    part, (form, of, item) = values[n], fields[n]
                    if form.flatten:
                        values[n] = item(part, depth)
                    elif part is ABSENT:
                        values[n] = absent(form, of)
                    else:
                        values[n] = _inside(item, part, form.name, inner)
                return build(values)

            return read_flat
        positional = self._fixed(what, items, build)

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, dict):
                return positional(data, depth)
            check(data)
            inner, values = deeper(depth), []
            for form, of, item in fields:
                if form.name in data:
                    values.append(_inside(item, data[form.name], form.name, inner))
                else:
                    values.append(absent(form, of))
            return build(values)

        return read

    def _flattened(self, type: Type) -> ReadJson:
        """The reader of a flattened field from its part of the object around it."""
        if is_option(type):
            inner = self._flattened(type.args[0])

            def optional(part: Any, depth: int) -> Any:
                try:
                    return some(inner(part, depth))
                except Refused:
                    return NONE

            return optional
        item = self.reader(type)
        if not is_union_by_name(type, self.typedefs):
            return item

        def by_name(part: Any, depth: int) -> Any:
            if not part:
                raise Refused(f"no variant of enum {local_name(type.name)} found in flattened data")
            return item(part, depth)

        return by_name

    def _field(self, form: JsonField, type: Type) -> ReadJson:
        """The reader of a field; a map may be the array of its values."""
        if form.flatten:
            return self._flattened(type)
        plain = self.reader(type)
        if form.nested:
            return _held(plain)
        if form.key is None:
            return plain
        assert isinstance(type, Opaque)
        values = self._array(type.args[1], Vec)
        key_of = form.key.function or form.key

        def read(data: Any, depth: int) -> Any:
            if not isinstance(data, list):
                return plain(data, depth)
            return Map((key_of(value), value) for value in values(data, depth))

        return read

    def _union(self, type: User, constructors: tuple[Constructor, ...]) -> ReadJson:
        typedef = self.typedefs[type.name]
        what = f"enum {local_name(type.name)}"
        readers = {
            variant(each): self._fields(type, each, f"struct variant {variant(each)}")
            for each in constructors
        }
        units = {variant(each): make(typedef, each, ()) for each in constructors if not each.fields}
        if typedef.tag is None:
            return _by_name(what, readers, units)
        return _tagged(what, typedef.tag, readers) if typedef.tag else _untagged(what, readers, units)

    def _wrapper(self, type: User, constructor: Constructor) -> ReadJson:
        """A string that holds the JSON of its only field."""
        held = _held(self.reader(constructor.fields[0][1]))
        return lambda data, depth: make(self.typedefs[type.name], constructor, (held(data, depth),))


def _held(item: ReadJson) -> ReadJson:
    """The reader of a string that holds the JSON of a value."""

    def read(data: Any, depth: int) -> Any:
        if not isinstance(data, str):
            raise mismatch(data, "a string")
        deeper(depth)
        return read_text(data, item)

    return read


def _or_text(read: ReadJson, text: TextForm) -> ReadJson:
    """The reader of a type whose values are also written as text."""

    def read_either(data: Any, depth: int) -> Any:
        if not isinstance(data, str):
            return read(data, depth)
        try:
            return text.read(data)
        except ValueError as error:
            raise Refused(f"invalid value: {error}") from None

    return read_either


def _by_name(what: str, readers: Mapping[str, ReadJson], units: Mapping[str, Any]) -> ReadJson:
    """A union as `{"Constructor": {fields}}`, or as the name of a constructor without fields."""

    def read(data: Any, depth: int) -> Any:
        name, content = data, None
        if isinstance(data, dict) and len(data) == 1:
            ((name, content),) = data.items()
        if not isinstance(name, str):
            raise mismatch(data, what)
        if name not in readers:
            raise _unknown(name, readers)
        if name not in units:
            if name is data:
                raise Refused(f"invalid type: unit variant, expected struct variant {name}")
            return _inside(readers[name], content, name, deeper(depth))
        if content is not None:
            raise mismatch(content, f"unit variant {name}")
        return units[name]

    return read


def _tagged(what: str, tag: str, readers: Mapping[str, ReadJson]) -> ReadJson:
    """A union as the object of its fields, one more of which names the constructor."""

    def read(data: Any, depth: int) -> Any:
        if not isinstance(data, dict):
            raise mismatch(data, what)
        if tag not in data:
            raise Refused(f"missing field `{tag}`")
        name = data[tag]
        if not isinstance(name, str) or name not in readers:
            raise _unknown(name, readers) if isinstance(name, str) else mismatch(name, "a variant of " + what)
        return readers[name](data, depth)

    return read


def _untagged(what: str, readers: Mapping[str, ReadJson], units: Mapping[str, Any]) -> ReadJson:
    """A union as the fields of its first constructor that has such; null for one without fields."""

    def read(data: Any, depth: int) -> Any:
        for name, each in readers.items():
            try:
                if name not in units:
                    return each(data, depth)
                if data is None:
                    return units[name]
            except Refused:
                continue
        raise Refused(f"data did not match any variant of untagged {what}")

    return read


def _unknown(name: str, known: Iterable[str]) -> Refused:
    expected = ", ".join(f"`{each}`" for each in known)
    return Refused(f"unknown variant `{name}`, expected one of {expected}")


def _inside(read: ReadJson, data: Any, step: str | int, depth: int) -> Any:
    try:
        return read(data, depth)
    except Refused as error:
        error.path.append(step)
        raise
