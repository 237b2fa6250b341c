"""The rules of serde's `rename_all`: names in JSON from the names in a program.

As serde has them: a field's name is taken to be written `like_this`, a constructor's `LikeThis`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def _capitalised(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _lower_first(name: str) -> str:
    return name[:1].lower() + name[1:]


_FIELDS: Mapping[str, Callable[[str], str]] = {
    "lowercase": lambda name: name,
    "UPPERCASE": str.upper,
    "PascalCase": _capitalised,
    "camelCase": lambda name: _lower_first(_capitalised(name)),
    "snake_case": lambda name: name,
    "SCREAMING_SNAKE_CASE": str.upper,
    "kebab-case": lambda name: name.replace("_", "-"),
    "SCREAMING-KEBAB-CASE": lambda name: name.upper().replace("_", "-"),
}
RULES = tuple(_FIELDS)


def renamed_field(name: str, rule: str) -> str:
    """The name of a field by one of the RULES; without a rule, the name."""
    return _FIELDS[rule](name) if rule in _FIELDS else name


def renamed_constructor(name: str, rule: str) -> str:
    """The name of a constructor by one of the RULES; without a rule, the name."""
    match rule:
        case "lowercase":
            return name.lower()
        case "UPPERCASE":
            return name.upper()
        case "camelCase":
            return _lower_first(name)
        case "snake_case" | "SCREAMING_SNAKE_CASE" | "kebab-case" | "SCREAMING-KEBAB-CASE":
            return renamed_field(_INNER_CAPITAL.sub("_", name).lower(), rule)
    return name
