"""Every module of the library: its functions are right, and those in Python are there."""

from __future__ import annotations

import pytest

from ddlog import stdlib, syntax
from ddlog.check.function import Instances
from ddlog.errors.diagnostics import render
from ddlog.errors.source import Source
from ddlog.names.environment import Environment
from ddlog.names.imports import load_program
from ddlog.names.modules import FUNCTIONS, library

from .calls import LIBRARY

MODULES = sorted("::".join(file.relative_to(LIBRARY).with_suffix("").parts) for file in LIBRARY.rglob("*.dl"))


@pytest.mark.parametrize("module", MODULES)
def test_every_function_is_right(module: str) -> None:
    """Also those that no program here uses; none can do without its types."""
    loaded, found = load_program(Source("test.dl", f"import {module}"), [])
    assert not found, render(found)
    environment = Environment(loaded.all, tuple(library()))
    instances = Instances(environment, {})
    for name in loaded.all[module].names(FUNCTIONS):
        for signature in environment.functions(name, module):
            if signature.module == module:
                instances.generic(signature)
    instances.complete()
    assert render([*found, *instances.diagnostics, *environment.diagnostics]) == ""


@pytest.mark.parametrize("module", MODULES)
def test_every_extern_function_has_a_twin(module: str) -> None:
    loaded, _ = load_program(Source("test.dl", f"import {module}"), [])
    for each in loaded.all[module].all(FUNCTIONS):
        assert isinstance(each, syntax.FunctionDecl)
        assert each.body is not None or callable(stdlib.twin(module, each.name))
