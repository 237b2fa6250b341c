"""The site: `sphinx-build -W docs build/site` makes it of the pages beside this file, plain Markdown."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

from pygments import token
from pygments.lexer import RegexLexer, words
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from ddlog.console.cli import main
from ddlog.syntax.lexer import RESERVED

project = "ddlog"
release = metadata.version("ddlog")
extensions = ["myst_parser", "sphinxcontrib.mermaid"]
html_theme = "furo"
html_title = f"ddlog {release}"
html_copy_source = False
highlight_language = "text"
myst_heading_anchors = 3  # the anchors of headings are those that viewers of Markdown give them
myst_fence_as_directive = ["mermaid"]

_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.M | re.S)
_OUTSIDE = re.compile(r"\]\((\.\./[\w/]+\.md)\)")
_PROGRAM = re.compile(r"^`programs/(\w+)`.*?\n\n", re.M | re.S)
_NAMED = re.compile(r"^```(\w+) (.+)\n", re.M)
_PAGE = re.compile(r"^- \[[^\]]+\]\((\w+)\.md\)", re.M)


class DDlogLexer(RegexLexer):
    """Colors for programs and command files."""

    name = "DDlog"
    aliases = ("ddlog", "dl")
    tokens = {  # noqa: RUF012 (as pygments has it)
        "root": [
            (r"//.*?$|#(?!\[).*?$", token.Comment.Single),
            (r"/\*(?s:.*?)\*/", token.Comment.Multiline),
            (r"#\[[^\]]*\]", token.Name.Decorator),
            (r'"(?:\\.|[^"\\])*"', token.String),
            (words(tuple(RESERVED), prefix=r"\b", suffix=r"\b"), token.Keyword),
            (r"\b[A-Z]\w*", token.Name.Class),
            (r"\b\d[\w']*(?:\.\d+)?", token.Number),
            (r"\w+", token.Name),
            (r"\s+", token.Whitespace),
            (r".", token.Punctuation),
        ]
    }


def contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Makes the lists of index.md the site's table of contents, a part for each heading, offers files outside
    of the pages for download, and shows the name of a block's file, or the command that prints it."""
    source[0] = _OUTSIDE.sub(r"](path:\1)", source[0])
    source[0] = _NAMED.sub(r"```{code-block} \1\n:caption: \2\n", source[0])
    if page == "programs":
        source[0] = _PROGRAM.sub(lambda found: found[0] + _picture(app, found[1]), source[0])
    if page == "index":
        trees = (
            f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(_PAGE.findall(part)) + "\n```\n"
            for title, part in _SECTION.findall(source[0])
        )
        source[0] += "\n" + "\n".join(trees)


def _picture(app: Sphinx, name: str) -> str:
    """The circuit of an example program, drawn into the site."""
    file = app.outdir / "pictures" / f"{name}.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    program = app.srcdir.parent / "programs" / name / f"{name}.dl"
    if main(["circuit", str(program), "--stage", "relational", "--output", str(file)]):
        raise RuntimeError(f"{program} has no circuit")
    image = f'<img src="pictures/{name}.svg" alt="The circuit of {name}">'
    return f"<details><summary>The circuit of its rules</summary>{image}</details>\n\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls first."""
    app.add_lexer("ddlog", DDlogLexer)
    app.add_lexer("dl", DDlogLexer)
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
