"""Imports run one way, and heavy packages are imported only where they are used."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import ddlog
import ddlog.engine

HOME = Path(ddlog.__file__).parent
HOME_IN_PROCESS = Path(ddlog.engine.__file__ or "").parent / "inprocess"
HEAVY = (
    "IPython", "ada_url", "ddlog.sessions.statements", "ddlog.syntax.parser", "importlib.metadata", "lark",
    "llvmlite", "networkx", "numba", "pandas", "polars", "prompt_toolkit", "pyarrow", "pyspark", "rapidfuzz",
    "re2", "rich", "sqlglot",
    "httpx", "starlette", "uvicorn",
)  # fmt: skip


def module_files() -> dict[str, Path]:
    """Every module of the installed package by its import name."""
    import ddlog.engine
    import ddlog.stdlib

    out = {}
    homes = {"ddlog": HOME, "ddlog.engine": Path(ddlog.engine.__file__).parent}
    homes["ddlog.stdlib"] = Path(ddlog.stdlib.__file__).parent
    for package, home in homes.items():
        for file in sorted(home.rglob("*.py")):
            parts = file.relative_to(home).with_suffix("").parts
            if package == "ddlog" and parts[0] in ("engine", "stdlib"):
                continue
            name = ".".join((package, *(p for p in parts if p != "__init__")))
            out[name] = file
    return out


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a node, at all depths."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for each in getattr(node, part, ()):
            yield each
            yield from statements(each)


@cache
def imports(name: str, file: Path, top_only: bool) -> frozenset[str]:
    """The modules of this project that a module imports; with `top_only`, when it is imported itself."""
    tree = ast.parse(file.read_text())
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in tree.body if top_only else statements(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, *([node.module] if node.module else [])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(m for m in found if m.startswith("ddlog"))


FILES = module_files()

# Files that are one recursion, over expressions, clauses, queries or rules; and some to be mended.
# Imports inside functions and for types alone count, too.
CIRCLES = (
    "check.closures check.expr check.statement",
    "demand.linear demand.adornment",
    "sql.arithmetic sql.calls sql.datefunctions sql.formats sql.functions sql.intervals sql.jsons sql.lists "
    "sql.nested sql.regexps sql.scalars sql.series sql.textfunctions",
    "sql.aggregates sql.clock sql.formulas sql.frames sql.groupingkeys sql.joins sql.lateral "
    "sql.orderedaggregates sql.queries sql.recursion sql.selects sql.setoperations sql.subqueries sql.topk "
    "sql.windows",
    "errors.origins errors.source",
    "circuits.runnable circuits.session",
    "circuits.arguments circuits.streams",
    "console.arguments console.examples console.explainerror console.subcommands",
)
IN_A_CIRCLE = {"ddlog.sessions"}  # rooms whose files are in circles
BY_NAME = {
    "ddlog", "ddlog.errors", "ddlog.errors.explanations",
    "ddlog.io.formats", "ddlog.serve.jsonforms", "ddlog.sessions.hosts.on_spark", "ddlog.stdlib",
}  # fmt: skip
"""The modules that import others by their names in strings."""

# What each room builds on: a room imports only from lower rungs of its own ladder. The order inside a room
# is its own affair, as long as there is no circle.
ENGINE = (
    "schema thresholds weakly",
    "budget children clock digests joinplan layers memory rounding spilling zset",
    "interrupt machine maintenance sortedrows time",
    "account node divergence",
    "operators",
    "ranks circuit",
    "derivedcolumns loopparts naiveloop",
    "incremental integrals labels passes planner versions wellformed",
    "fingerprints paths plans",
    "svg epochcosts reference rules runtime",
    "fixpoint schedule text",
    "epoch windowonly",
    "windowmemory",
    "inprocess",
    "shards",
    "spark",
)
IN_PROCESS = ("kernels", "storage", "arrangements", "joins", "groups", "recursion")
LANGUAGE = (
    "errors types",
    "syntax core",
    "values",
    "formatting io ovsdb sql",
    "names codegen",
    "durability",
    "lowering",
    "check demand souffle",
    "explaining profiling",
    "sessions",
    "circuits commands spark",
    "lsp notebook serve",
    "console",
    "__main__",
)
SESSIONS = (
    "collector results sizes",
    "engines",
    "options",
    "program",
    "amendments pending",
    "hosts",
    "asking measuring",
    "computedrelations transactions",
    "explanations persistence siderelations subscribers",
    "migration",
    "extension statementplans runtimeviews",
    "answers",
    "descriptions",
    "statements",
    "session",
    "opening profile",
)
# A program opens its sessions, which stand above it.
OPENED = {("ddlog.sessions.program", f"ddlog.sessions.{name}") for name in ("opening", "session")}
# The rooms that see the engine, from expressions on, beside those that only ask for its clock, its digests,
# its limit of memory or its records of join plans; and all that the library sees.
ON_THE_ENGINE = {"circuits", "codegen", "lowering", "sessions", "serve", "spark", "notebook", "console"}
PLAIN = {f"ddlog.engine.{each}" for each in ("clock", "digests", "joinplan", "machine", "memory")}
OF_VALUES = ("rounding", "memory", "schema", "sortedrows")
UNDER_THE_LIBRARY = {"ddlog.types", "ddlog.values", *(f"ddlog.engine.{each}" for each in OF_VALUES)}


# The rooms, and in the engine the modules, that a construct of the language goes through.
STAGES = (
    *("ddlog.syntax", "ddlog.core", "ddlog.types", "ddlog.values", "ddlog.circuits"),
    *("ddlog.engine.node", "ddlog.engine.operators", "ddlog.engine.schema"),
)


def part(module: str) -> str:
    """The module or package directly in `ddlog` or `ddlog.engine` that a module is or is in."""
    return ".".join(module.split(".")[: 3 if module.startswith("ddlog.engine.") else 2])


def uses() -> set[tuple[str, str]]:
    """Which part imports which other, anywhere in its files."""
    return {
        (part(name), part(other))
        for name, file in FILES.items()
        for other in imports(name, file, False)
        if other in FILES and part(other) != part(name)
    }


def test_imports_point_down_the_ladders() -> None:
    rungs = {
        f"{home}.{name}": number
        for home, ladder in (("ddlog", LANGUAGE), ("ddlog.engine", ENGINE))
        for number, names in enumerate(ladder)
        for name in names.split()
    }
    packages = {"ddlog", "ddlog.engine", "ddlog.stdlib"}
    assert rungs.keys() == {part(name) for name in FILES} - packages, "each part stands on one rung"
    upward = {
        (user, used)
        for user, used in uses()
        if user in rungs and used in rungs and ("engine" in user) == ("engine" in used)
        if rungs[user] <= rungs[used]
    }
    assert not upward


def test_imports_inside_sessions_point_down_their_ladder() -> None:
    home = "ddlog.sessions."
    rungs = {f"{home}{name}": number for number, names in enumerate(SESSIONS) for name in names.split()}
    arrows = {
        tuple(".".join(module.split(".")[:3]) for module in (name, other))
        for name, file in FILES.items()
        for other in imports(name, file, False)
        if name.startswith(home) and other.startswith(home) and other in FILES
    }
    assert rungs.keys() == {each for arrow in arrows for each in arrow}, "each part stands on one rung"
    assert {(user, used) for user, used in arrows if user != used and rungs[user] <= rungs[used]} == OPENED


def test_the_front_end_knows_nothing_of_the_engine() -> None:
    users = {
        user
        for user, used in uses()
        if used.startswith("ddlog.engine.") and used not in PLAIN and "engine" not in user
    }
    assert users - {"ddlog.stdlib", "ddlog"} == {f"ddlog.{name}" for name in ON_THE_ENGINE}


def test_the_library_stands_on_values() -> None:
    assert {used for user, used in uses() if user == "ddlog.stdlib"} - {"ddlog"} <= UNDER_THE_LIBRARY


def test_the_engine_knows_nothing_of_the_language() -> None:
    for name, file in FILES.items():
        if name.startswith("ddlog.engine."):
            outside = {m for m in imports(name, file, False) if not m.startswith("ddlog.engine")}
            assert outside <= {"ddlog"}, f"{name} imports {outside}"


def test_circuits_know_nothing_of_runtimes() -> None:
    runtimes = ("ddlog.engine.inprocess", "ddlog.engine.shards", "ddlog.engine.spark")
    for name, file in FILES.items():
        if name.startswith("ddlog.engine.") and not name.startswith(runtimes):
            assert not any(m.startswith(runtimes) for m in imports(name, file, True)), name


def test_the_rooms_of_the_runtime_in_process_stand_on_each_other() -> None:
    home = "ddlog.engine.inprocess."
    floors = {room: number for number, room in enumerate(IN_PROCESS)}
    upward = {
        (name, other)
        for name, file in FILES.items()
        if name.startswith(home) and (room := name[len(home) :].split(".")[0]) in floors
        for other in imports(name, file, False) & FILES.keys()
        if other.startswith(home)
        if floors.get(other[len(home) :].split(".")[0], len(floors)) > floors[room]
    }
    assert upward == set()
    assert {part.name for part in HOME_IN_PROCESS.iterdir() if (part / "__init__.py").exists()} == {*floors}


def test_a_name_of_classes_has_one_meaning() -> None:
    """It is declared once, or once in each of some stages, where it is one construct."""
    declared: dict[str, list[str]] = {}
    for module, file in FILES.items():
        stage = next((each for each in STAGES if f"{module}.".startswith(f"{each}.")), module)
        for name in re.findall(r"(?m)^class (\w+)[(:]", file.read_text()):
            declared.setdefault(name, []).append(stage)
    shared = {name: stages for name, stages in declared.items() if len(stages) > 1}
    assert {name: each for name, each in shared.items() if len({*each} & {*STAGES}) < len(each)} == {}


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = nx.DiGraph()
    for name, file in FILES.items():
        for other in imports(name, file, False):
            if other in FILES and other != name and not name.startswith(other + "."):
                graph.add_edge(name, other)
    declared = [{f"ddlog.{name}" for name in circle.split()} for circle in CIRCLES]
    for circle in nx.strongly_connected_components(graph):
        known = any(circle <= each for each in declared) or {part(name) for name in circle} <= IN_A_CIRCLE
        assert len(circle) == 1 or known, sorted(circle)


def test_modules_are_imported_by_name_where_that_is_declared() -> None:
    users = {
        name for name, file in FILES.items() if re.search(r"\bimport_module\b|__import__", file.read_text())
    }
    assert users == BY_NAME


@pytest.mark.parametrize(
    "statement",
    ["import ddlog", "import ddlog.console.cli", "import ddlog.sessions.session", "import ddlog.console.run"],
)
def test_heavy_packages_wait_until_they_are_used(statement: str) -> None:
    script = f"{statement}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_command_line_loads_no_numpy_before_a_command_needs_it() -> None:
    script = "import sys, ddlog.__main__, ddlog.console.keptmethods, ddlog.console.cli as cli\n"
    script += "cli.main(['--version'])\nprint('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("False\n")


def test_a_run_without_updates_and_queries_loads_what_neither_needs(tmp_path: Path) -> None:
    """Once its program is known: to check one imports what reads modules of SQL."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "DDLOG_CACHE": "on"}
    run_it = ["run", "-c", "R(1). output relation R(x: u32)"]
    asked = [sys.executable, "-X", "importtime", "-m", "ddlog", *run_it]
    for _ in range(2):
        run = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        assert "R{.x = 1}" in run.stdout
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert {"ddlog.console.run", "numpy"} <= loaded
    late = ("ddlog.commands", "ddlog.demand.adornment", "ddlog.sql", "numpy.random", "fractions")
    assert not [each for each in loaded if each.startswith(late)]


@pytest.mark.parametrize("given", [None, "7"])
def test_the_command_has_no_threads_for_matrices_and_programs_in_python_have(given: str | None) -> None:
    """Unless the user says otherwise. NumPy reads the variable once, where it is imported."""
    name = "OPENBLAS_NUM_THREADS"
    environment = {key: value for key, value in os.environ.items() if key != name}
    if given is not None:
        environment[name] = given
    script = f"""
import os, sys, ddlog, ddlog.console.cli, ddlog.__main__
print(os.environ.get({name!r}), "numpy" in sys.modules)
ddlog.console.cli.main = lambda: print(os.environ[{name!r}], "numpy" in sys.modules)
ddlog.__main__.main()
"""
    asked = [sys.executable, "-c", script]
    run = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(given), "False", given or "1", "False"]


EXTRAS = (
    "IPython", "fastexcel", "fsspec", "httpx", "mcp", "pandas", "polars", "pygls", "pyspark", "sqlglot",
    "starlette", "uvicorn",
)  # fmt: skip
"""The packages of extras: who installs none runs programs without them."""


def test_a_program_runs_without_the_extras() -> None:
    script = f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
    script += "from ddlog.console.cli import main\n"
    script += "main(['run', '-c', 'R(1). output relation R(x: u32)'])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "R{.x = 1}" in run.stdout, run.stderr


@pytest.mark.parametrize("asked", ["select('SELECT 1')", "execute('DELETE FROM R')"])
def test_a_statement_of_sql_says_which_package_it_needs(asked: str) -> None:
    script = "import sys\nsys.modules['sqlglot'] = None\nimport ddlog\n"
    script += "session = ddlog.compile('input relation R(x: u32)').session()\n"
    script += f"try: session.{asked}\nexcept ddlog.DDlogError as error: print(error)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "pip install 'ddlog[sql]'" in run.stdout, run.stderr


@pytest.mark.parametrize("start", [["-c", "import ddlog; ddlog.compile"], ["-m", "ddlog", "--version"]])
def test_a_checkout_without_its_packages_says_in_one_line_what_to_do(start: list[str]) -> None:
    checkout = Path(__file__).parent.parent
    run = subprocess.run([sys.executable, "-S", *start], cwd=checkout, capture_output=True, text=True)
    assert run.stderr.splitlines()[-1].endswith(f"lacks its packages: pip install -e {checkout}")
    assert run.returncode == 1 and (start[0] == "-c" or run.stderr.count("\n") == 1)
