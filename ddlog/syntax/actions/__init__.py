"""From reductions of the grammar to nodes of the syntax tree: for each rule or alias there a row in `nodes`,
or a method.

A method gets the place of its phrase if its first parameter is `span`, then the values of the parts: nodes,
lists, tokens, None for an optional part that is absent.
"""

from .declarations import Declarations
from .expressions import Expressions
from .literals import Literals
from .rules import Rules
from .types import Types


class Actions(Literals, Types, Declarations, Rules, Expressions):
    """Builds the tree of one text."""


__all__ = ["Actions"]
