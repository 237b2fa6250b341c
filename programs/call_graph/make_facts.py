"""Extract functions, classes, imports and calls of the Python standard library from its sources, by `ast`.

    python make_facts.py                          the committed sample (some 45 modules), into facts/
    python make_facts.py --full --out DIR         every module of the running Python's library

Names are resolved as far as the text allows: through imports, enclosing scopes, `self`, `cls` and `super()`.
A call whose target cannot be named that way (a method of an unknown object) leaves no fact.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import csv
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE = """
ast bdb cmd code codeop collections.__init__ contextlib copy ctypes.util dataclasses fnmatch functools
getpass glob heapq http.client http.server imaplib inspect json.__init__ json.decoder json.encoder
json.scanner linecache logging.__init__ optparse os pathlib pdb pickle platform pprint pty py_compile pydoc
queue random re.__init__ re._compiler re._parser shutil smtplib socketserver subprocess tempfile textwrap
threading timeit tokenize traceback urllib.parse urllib.request uuid venv.__init__ webbrowser zipapp
"""

COLUMNS = {
    "Module": ("name", "lines"),
    "Import": ("module", "imported"),
    "Function": ("name", "module", "line"),
    "Class": ("name", "module"),
    "Base": ("class_name", "position", "base"),
    "Method": ("class_name", "name", "definition"),
    "Call": ("caller", "callee"),
    "MethodCall": ("caller", "receiver", "class_name", "name"),
    "Mention": ("module", "place", "name"),
}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Scope:
    """A module, class or function body: its qualified name and what the names defined in it stand for."""

    name: str
    kind: str
    parent: Scope | None = None
    names: dict[str, str] = field(default_factory=dict)

    def resolve(self, name: str) -> str | None:
        """The qualified name that `name` stands for; a class body is invisible from inside its methods."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or scope.kind != "class"):
                return scope.names[name]
            scope = scope.parent
        return None

    def enclosing_class(self) -> str | None:
        """The class whose method this scope is, or lies in."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        return scope.name if scope else None


class Extractor(ast.NodeVisitor):
    """Collects the rows of one module."""

    def __init__(self, module: str, package: str) -> None:
        self.module, self.package = module, package
        self.scope = Scope(module, "module")
        self.rows: dict[str, set[tuple[str | int, ...]]] = {relation: set() for relation in COLUMNS}
        self.place = f"{module}.<module>"

    def run(self, tree: ast.Module, lines: int) -> None:
        """Visit the whole module; its imports count wherever they stand."""
        self.rows["Module"].add((self.module, lines))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.bind_import(node)
        self.bind(tree.body)
        for node in tree.body:
            self.visit(node)

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.rows["Import"].add((self.module, alias.name))
                top = alias.name.split(".")[0]
                self.scope.names[alias.asname or top] = alias.name if alias.asname else top
            return
        origin = node.module or ""
        if node.level:
            base = self.package.split(".")[: len(self.package.split(".")) - node.level + 1]
            origin = ".".join([*base, origin] if origin else base)
        self.rows["Import"].add((self.module, origin))
        for alias in node.names:
            self.scope.names[alias.asname or alias.name] = f"{origin}.{alias.name}"

    def bind(self, body: list[ast.stmt]) -> None:
        """Enter the functions and classes that are defined in `body`, also under `if` and `try`."""
        for node in body:
            if isinstance(node, FunctionNode | ast.ClassDef):
                self.scope.names[node.name] = f"{self.scope.name}.{node.name}"
            else:
                for block in ("body", "orelse", "finalbody"):
                    self.bind(getattr(node, block, None) or [])
                for handler in getattr(node, "handlers", []):
                    self.bind(handler.body)

    def enter(self, node: FunctionNode | ast.ClassDef, kind: str) -> None:
        outer, self.scope = self.scope, Scope(f"{self.scope.name}.{node.name}", kind, self.scope)
        place = self.place
        if kind == "function":
            self.place = self.scope.name
        self.bind(node.body)
        for statement in node.body:
            self.visit(statement)
        self.scope, self.place = outer, place

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        for part in [*node.decorator_list, node.args]:
            self.visit(part)
        name = f"{self.scope.name}.{node.name}"
        self.rows["Function"].add((name, self.module, node.lineno))
        if self.scope.kind == "class":
            self.rows["Method"].add((self.scope.name, node.name, name))
        self.enter(node, "function")

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        name = f"{self.scope.name}.{node.name}"
        self.rows["Class"].add((name, self.module))
        for position, base in enumerate(node.bases):
            target = self.target(base)
            if target:
                self.rows["Base"].add((name, position, target))
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        self.enter(node, "class")

    def visit_Call(self, node: ast.Call) -> None:
        receiver = self.receiver(node.func)
        class_name = self.scope.enclosing_class()
        if receiver and class_name and isinstance(node.func, ast.Attribute):
            self.rows["MethodCall"].add((self.place, receiver, class_name, node.func.attr))
        elif target := self.target(node.func):
            self.rows["Call"].add((self.place, target))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.mention(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.mention(node.attr)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value.isidentifier():
            self.mention(node.value)

    def mention(self, name: str) -> None:
        if name.startswith("_") and not name.endswith("__") and name != "_":
            self.rows["Mention"].add((self.module, self.place, name))

    def receiver(self, function: ast.expr) -> str | None:
        """`self` for a call through self or cls, `super` for one through super()."""
        match function:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                return "self"
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                return "super"
        return None

    def target(self, expression: ast.expr) -> str | None:
        """The qualified name that an expression of names and dots stands for."""
        match expression:
            case ast.Name(id=name):
                target = self.scope.resolve(name)
                return f"builtins.{name}" if target is None and hasattr(builtins, name) else target
            case ast.Attribute(value=value, attr=attribute):
                base = self.target(value)
                return f"{base}.{attribute}" if base else None
        return None


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a source file; a package has the name of its folder."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def extract(path: Path, root: Path) -> Extractor | None:
    """The rows of one source file, or None for what is no source of this Python."""
    text = path.read_bytes()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    name = module_name(path, root)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    extractor = Extractor(name, package)
    extractor.run(tree, text.count(b"\n"))
    return extractor


def sources(root: Path, full: bool) -> Iterator[Path]:
    """The files to read: the sample's, or all but tests and installed packages."""
    if not full:
        yield from (root / (name.replace(".", "/") + ".py") for name in SAMPLE.split())
        return
    skipped = {"test", "tests", "idlelib", "site-packages", "dist-packages", "lib2to3"}
    yield from (
        path for path in sorted(root.rglob("*.py")) if not skipped & set(path.relative_to(root).parts)
    )


def main() -> None:
    """Write a file of facts for each relation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "facts")
    parser.add_argument("--full", action="store_true", help="the whole library instead of the sample")
    arguments = parser.parse_args()
    root = Path(sysconfig.get_paths()["stdlib"])
    rows: dict[str, set[tuple[str | int, ...]]] = {relation: set() for relation in COLUMNS}
    for path in sources(root, arguments.full):
        extractor = extract(path, root) if path.exists() else None
        for relation, found in (extractor.rows if extractor else {}).items():
            rows[relation] |= found
    private = {str(name).rpartition(".")[2] for name, *_ in rows["Function"]}
    rows["Mention"] = {row for row in rows["Mention"] if row[2] in private}
    rows["Call"] = {row for row in rows["Call"] if not str(row[1]).startswith("builtins.")}
    arguments.out.mkdir(parents=True, exist_ok=True)
    for relation, columns in COLUMNS.items():
        with open(arguments.out / f"{relation}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(sorted(rows[relation]))


if __name__ == "__main__":
    main()
