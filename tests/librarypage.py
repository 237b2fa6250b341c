"""Writes docs/functions.md, the declarations of the library's modules, of their sources: `python -m
tests.librarypage`."""

from __future__ import annotations

import re
from pathlib import Path

from ddlog import syntax
from ddlog.errors.source import Source
from ddlog.syntax.parser import parse_program

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "functions.md"
LEFT_OUT = ("souffle_lib", "souffle_types", "sql", "sparksql", "d3log::reflect")
"""Modules that translations call, and one that sends nothing."""

HEAD = """\
# Functions of the library

The declarations of all modules of the library, without the bodies of functions. [library.md](library.md)
says which modules every program sees, and which it imports. Functions may be called as methods: `f(x, y)` is
`x.f(y)`.

Left out are the modules of translations, `sql`, `sparksql`, `souffle_lib` and `souffle_types`.
`python -m tests.librarypage` writes this page.
"""


def page() -> str:
    """The text of the page."""
    files = sorted((ROOT / "stdlib").rglob("*.dl"))
    names = {"::".join(file.relative_to(ROOT / "stdlib").with_suffix("").parts): file for file in files}
    shown = {
        name: _declarations(file.read_text("utf-8")) for name, file in names.items() if name not in LEFT_OUT
    }
    return "\n".join([HEAD, *(_section(name, text) for name, text in shown.items() if text)])


def _declarations(text: str) -> str:
    """A module without the bodies of functions; nothing if it declares nothing."""
    module, _ = parse_program(Source("module.dl", text))
    for each in module.declarations:
        if isinstance(each, syntax.FunctionDecl) and each.body is not None:
            whole = each.span.text()
            head = whole.removesuffix(each.body.span.text())
            assert head != whole, each.name
            text = text.replace(whole, head.rstrip(" {=\n"))
    return text if any(not isinstance(each, syntax.ImportDecl) for each in module.declarations) else ""


def _section(name: str, text: str) -> str:
    """A module: its first comment as text, then its declarations."""
    about, _, rest = text.partition("\n\n")
    first, _, more = about.partition("\n//\n")
    says = re.sub(
        r" ?(Functions declared `extern`|The functions) are in \w+\.py\.", "", " ".join(_lines(first))
    )
    rest = re.sub(r"^// -{5,}.*\n\n?", "", rest, flags=re.M).replace("extern ", "")
    kept = "\n\n".join(part for part in (more, re.sub(r"\n{3,}", "\n\n", rest).strip()) if part)
    return f"## {name}\n\n{says}\n\n```ddlog\n{kept}\n```\n"


def _lines(comment: str) -> list[str]:
    return [line.removeprefix("//").strip() for line in comment.splitlines()]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
