"""The functions that compute the keys of maps which JSON writes as arrays, put into the types that need them.

Checking finds the instance of each function; types whose functions can be called exist from compilation on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..types import Constructor, JsonField, KeyOf, TypeDef

Keys = Mapping[tuple[str, str], str]


class ArrayKeys:
    """Types with their key functions. `keys` has the instance for a constructor and a field, `function`
    makes the Python function of an instance."""

    def __init__(self, keys: Keys, function: Callable[[str], Callable[[Any], Any]]) -> None:
        self._keys = keys
        self._functions = {key: function(key) for key in keys.values()}

    def typedefs(self, typedefs: Mapping[str, TypeDef]) -> Mapping[str, TypeDef]:
        """The types, each with its key functions."""
        if not self._keys:
            return typedefs
        return {
            name: replace(each, constructors=tuple(map(self.constructor, each.constructors)))
            for name, each in typedefs.items()
        }

    def constructor(self, constructor: Constructor) -> Constructor:
        """The constructor with its key functions."""
        if not constructor.json:
            return constructor
        forms = zip(constructor.json, constructor.fields, strict=True)
        return replace(
            constructor, json=tuple(self._form(constructor, name, form) for form, (name, _) in forms)
        )

    def _form(self, constructor: Constructor, field: str, form: JsonField) -> JsonField:
        key = self._keys.get((constructor.name, field))
        if form.key is None or key is None:
            return form
        return replace(form, key=KeyOf(form.key.name, self._functions[key]))
