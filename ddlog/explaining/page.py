"""Explanations as HTML: one page, which needs nothing else, or a piece of a notebook. Their nodes open and
close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from .node import Reason
from .titles import Titles

_OPEN = 3
"""The levels that are open at first."""

_TREE_STYLE = """
.ddlog-why {
code, summary, .leaf { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; }
details { border-left: 2px solid #8886; margin: .2rem 0 .2rem .3rem; padding-left: .6rem; }
summary { cursor: pointer; font-weight: 600; }
.leaf { margin: .2rem 0 .2rem .3rem; padding-left: .6rem; border-left: 2px solid #8883; }
.leaf { white-space: pre-wrap; }
.good { border-left-color: #2a8a3e; }
.bad { border-left-color: #c0392b; }
.said { color: #777; font-weight: 400; }
.rule .said { font-size: 13px; }
.rule { margin: .2rem 0; white-space: pre-wrap; }
}
"""

_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1rem auto; padding: 0 1rem; max-width: 70rem; }
h1 code { font-family: ui-monospace, monospace; font-size: 17px; overflow-wrap: anywhere; }
button { font: inherit; margin-right: .5rem; }
"""

_SCRIPT = """
for (const [id, open] of [["open", true], ["close", false]])
  document.getElementById(id).onclick = () =>
    document.querySelectorAll("details").forEach(d => d.open = open);
"""


@dataclass(frozen=True)
class Page:
    """Writes pages and pieces."""

    titles: Titles

    def of(self, nodes: Sequence[Reason]) -> str:
        """The page of some nodes, with the title of the first."""
        title = escape(self.titles.title(nodes[0]))
        return (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{_PAGE_STYLE}</style>\n<h1><code>{title}</code></h1>\n"
            f'<p><button id="open">open all</button><button id="close">close all</button></p>\n'
            f"{self.piece(nodes)}\n<script>{_SCRIPT}</script></html>\n"
        )

    def piece(self, nodes: Sequence[Reason], remarks: Sequence[str] = ()) -> str:
        """Some nodes, with remarks above, for a page that has others."""
        said = (f'<div class="said">{escape(each)}</div>' for each in remarks)
        lines = (line for node in nodes for line in self._node(node, 0))
        return "\n".join([f'<div class="ddlog-why"><style>{_TREE_STYLE}</style>', *said, *lines, "</div>"])

    def _node(self, node: Reason, level: int) -> Iterator[str]:
        if node.is_sequence:
            for child in node.children:
                yield from self._node(child, level)
            return
        notes = ", ".join(self.titles.notes(node))
        said = escape(self.titles.title(node)) + (
            f' <span class="said">{escape(notes)}</span>' if notes else ""
        )
        style, rule = self.titles.style(node), self.titles.rule(node)
        if rule is None and not node.children:
            yield f'<div class="leaf {style}">{said}</div>'
            return
        yield f'<details class="{style}"{" open" if level < _OPEN else ""}><summary>{said}</summary>'
        if rule is not None:
            text, place, variables = map(escape, rule)
            yield f'<div class="rule"><code>{text}</code> <span class="said">{place}</span></div>'
            if variables:
                yield f'<div class="said"><code>{variables}</code></div>'
        for child in node.children:
            yield from self._node(child, level + 1)
        yield "</details>"
