"""Differential Datalog in Python.

import ddlog

program = ddlog.compile("paths.dl")
with program.session() as session:
    session.insert("Edge", (1, 2), (2, 3))
    print(session.commit())
    print(session.query("Path(1, x)").rows)
"""

from __future__ import annotations

from os.path import dirname, isdir

if not isdir(f"{__path__[0]}/engine"):  # a checkout, where `engine` and `stdlib` are folders beside this one
    __path__.append(dirname(__path__[0]))

TYPE_CHECKING = False  # the module `typing` takes longer to load than a Ctrl-C to come
if TYPE_CHECKING:
    from typing import Any

    from .engine.spark.runtime import SparkOptions
    from .errors.diagnostics import DDlogError, DDlogWarning, Diagnostic, render
    from .serve.asynchronous import connect_async
    from .serve.client import connect
    from .sessions.program import Program, compile
    from .sessions.results import Changes, RelationView, Result
    from .sessions.results.indexes import IndexView
    from .sessions.session import Session

__all__ = [
    "Changes",
    "DDlogError",
    "DDlogWarning",
    "Diagnostic",
    "IndexView",
    "Program",
    "RelationView",
    "Result",
    "Session",
    "SparkOptions",
    "compile",
    "connect",
    "connect_async",
    "render",
]

_HOMES = {
    "Changes": "sessions.results",
    "DDlogError": "errors.diagnostics",
    "DDlogWarning": "errors.diagnostics",
    "Diagnostic": "errors.diagnostics",
    "IndexView": "sessions.results.indexes",
    "Program": "sessions.program",
    "RelationView": "sessions.results",
    "Result": "sessions.results",
    "Session": "sessions.session",
    "SparkOptions": "engine.spark.runtime",
    "compile": "sessions.program",
    "connect": "serve.client",
    "connect_async": "serve.asynchronous",
    "load_ipython_extension": "notebook.extension",
    "render": "errors.diagnostics",
}


def __getattr__(name: str) -> Any:
    """The public names, and what IPython asks for, from their modules, as they are first used."""
    if name == "__version__":
        from .errors.installation import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from .errors.installation import check_packages

    check_packages()
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
