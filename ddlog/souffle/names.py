"""Names of this language for those of a Soufflé program: relations, types and constructors begin with a
capital letter, variables and columns with a small one, and no two things get the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..syntax.lexer import RESERVED

_ODD = re.compile(r"[^A-Za-z0-9_]")
# Constructors of the library that translated programs use.
_TAKEN = ("None", "Some", "Ref", "Option", "Vec", "Set", "Map", "Group")


def capital(name: str) -> str:
    """The name as one of a relation, a type or a constructor: `x.edge_list` is `X_edge_list`."""
    plain = _ODD.sub("_", name.replace("?", ""))
    bare = plain.lstrip("_")
    start = bare[:1].upper() if bare[:1].isalpha() else "R" + bare[:1]
    return start + bare[1:]


def small(name: str) -> str:
    """The name as one of a variable, a column or a field."""
    plain = _ODD.sub("_", name.replace("?", ""))
    if not plain.lstrip("_")[:1].isalpha():
        plain = "v" + plain
    at = len(plain) - len(plain.lstrip("_"))
    letters = plain[at:]
    # `URL` becomes `url` and `NodeId` `nodeId`.
    start = letters.lower() if letters.isupper() else letters[:1].lower() + letters[1:]
    shown = plain[:at] + start
    return shown + "_" if shown in RESERVED else shown


class FreeNames:
    """Gives out names, each only once; one that is free is given as it is."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def fresh(self, wanted: str) -> str:
        """The name, with a number at its end if the name is not free."""
        name, number = wanted, 2
        while name in self.taken:
            name = f"{wanted}{'' if wanted[-1].isalpha() else '_'}{number}"
            number += 1
        self.taken.add(name)
        return name


def global_names() -> FreeNames:
    """Names for relations, types and constructors, which share one space."""
    return FreeNames(_TAKEN)


def assigned(names: Iterable[str], space: FreeNames, *, upper: bool) -> dict[str, str]:
    """A name of this language for each name; those that need no change keep theirs."""
    form = capital if upper else small
    listed = list(dict.fromkeys(names))
    result = {name: space.fresh(name) for name in listed if form(name) == name}
    return {name: result.get(name) or space.fresh(form(name)) for name in listed}
