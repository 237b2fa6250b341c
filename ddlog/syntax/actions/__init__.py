"""From reductions of the grammar to nodes of the syntax tree: a method for each rule or alias there.

A method gets the offsets at which its phrase starts and ends, then the values of the parts:
nodes, lists, tokens, None for an optional part that is absent.
"""

from .declarations import Declarations
from .expressions import Expressions
from .literals import Literals
from .loops import Loops
from .rules import Rules
from .statements import Statements
from .types import Types


class Actions(Literals, Types, Declarations, Loops, Rules, Statements, Expressions):
    """Builds the tree of one text."""


__all__ = ["Actions"]
