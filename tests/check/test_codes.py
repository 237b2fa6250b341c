"""Each kind of error has a code of its own, and each code a kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import ddlog.errors
from ddlog.errors.codes import code_of, codes
from ddlog.errors.diagnostics import Diagnostic
from ddlog.errors.names import UnknownRelation


def kinds(kind: type[Diagnostic] = Diagnostic) -> Iterator[type[Diagnostic]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def test_every_kind_has_a_code_and_every_code_a_kind() -> None:
    for module in pkgutil.iter_modules(ddlog.errors.__path__):
        importlib.import_module(f"ddlog.errors.{module.name}")
    declared = {each for each in kinds() if each.__module__.startswith("ddlog.errors.")}
    given = [code_of(each) for each in declared]
    assert len(set(given)) == len(given)
    names = {(each.__module__.rpartition(".")[2], each.__name__) for each in declared}
    assert not set(codes().values()) - names, "leave - in place of a kind that is gone"


def test_codes_stay() -> None:
    assert code_of(UnknownRelation) == "DL0206"
