"""Proof trees as one page of HTML, which needs nothing else. Its nodes open and close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from .text import group_line, height_text, item_line, rule_text
from .tree import Group, Item, Tree
from .words import Words

_OPEN = 3
"""The levels that are open at first."""

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1rem auto; padding: 0 1rem; max-width: 70rem; }
code, summary, .leaf { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; }
details { border-left: 2px solid #8886; margin: .2rem 0 .2rem .3rem; padding-left: .6rem; }
summary { cursor: pointer; font-weight: 600; }
.leaf { margin: .2rem 0 .2rem .3rem; padding-left: .6rem; border-left: 2px solid #8883; }
.leaf { white-space: pre-wrap; }
.fact { border-left-color: #2a8a3e; }
.said { color: #777; font-weight: 400; }
.rule .said { font-size: 13px; }
h1 code { font-size: 17px; }
.rule { margin: .2rem 0; white-space: pre-wrap; }
button { font: inherit; margin-right: .5rem; }
"""

_SCRIPT = """
for (const [id, open] of [["open", true], ["close", false]])
  document.getElementById(id).onclick = () =>
    document.querySelectorAll("details").forEach(d => d.open = open);
"""


@dataclass(frozen=True)
class Page:
    """Writes one page."""

    words: Words

    def page(self, title: str, trees: Sequence[Tree]) -> str:
        """The page of some trees."""
        body = "\n".join(line for tree in trees for line in self._tree(tree, 0))
        return (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{_STYLE}</style>\n<h1><code>{escape(title)}</code></h1>\n"
            f'<p><button id="open">open all</button><button id="close">close all</button></p>\n'
            f"{body}\n<script>{_SCRIPT}</script></html>\n"
        )

    def _tree(self, tree: Tree, level: int) -> Iterator[str]:
        row = escape(self.words.row(tree.relation, tree.row))
        if tree.kind == "fact":
            place = "" if tree.place is None else f" of the program, {escape(str(tree.place))}"
            yield f'<div class="leaf fact">{row} <span class="said">fact{place}</span></div>'
            return
        height = height_text(tree)
        if tree.kind == "cut" or tree.rule is None:
            yield f'<div class="leaf">{row} <span class="said">… {height}</span></div>'
            return
        yield f'<details{_opened(level)}><summary>{row} <span class="said">{height}</span></summary>'
        said = escape(self.words.variables(tree.variables, tree.rule.variables))
        rule, place = escape(rule_text(tree)), escape(str(tree.place))
        yield f'<div class="rule"><code>{rule}</code> <span class="said">{place}</span></div>'
        if said:
            yield f'<div class="said"><code>{said}</code></div>'
        yield from self._items(tree.body, level + 1)
        yield "</details>"

    def _items(self, items: tuple[Item, ...], level: int) -> Iterator[str]:
        for item in items:
            match item:
                case Tree():
                    yield from self._tree(item, level)
                case Group():
                    yield from self._group(item, level)
                case _:
                    yield f'<div class="leaf">{escape(item_line(item, self.words))}</div>'

    def _group(self, group: Group, level: int) -> Iterator[str]:
        yield f"<details{_opened(level)}><summary>{escape(group_line(group))}</summary>"
        for member in group.members:
            note = f' <span class="said">{member.note}</span>' if member.note else ""
            value = escape(self.words.value(member.value, group.type))
            yield f"<details{_opened(level + 1)}><summary>{value}{note}</summary>"
            yield from self._items(member.body, level + 2)
            yield "</details>"
        if group.more:
            yield f'<div class="leaf">… and {group.more} more</div>'
        yield "</details>"


def _opened(level: int) -> str:
    return " open" if level < _OPEN else ""
