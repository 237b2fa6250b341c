"""Circuits and all operators that they are made of; the operators are defined in `operators/`."""

from __future__ import annotations

from typing import TypeAlias

from .node import Circuit, Node, NodeId
from .operators.bracket import Bracket, DeltaBracket
from .operators.distinct import DeltaDistinct, Distinct
from .operators.ends import Constant, Input, Output
from .operators.feedback import Feed, Feedback
from .operators.fixpoint import Fixpoint, FixpointResult, Import, Variable
from .operators.group import Aggregate, DeltaGroup, First, Group
from .operators.join import DeltaJoin, Join, Term
from .operators.linear import Delay, Differentiate, Exchange, Integrate, Negate, Sum, Trace
from .operators.loop import Admit, Earlier, Loop
from .operators.ordered import DeltaOrdered, Ordered
from .operators.steps import CIRCUMSTANCES, EPOCH, ITERATION, WEIGHT, Guard, Inspect, Let, Step, Unnest
from .operators.window import Clock, DeltaClock, DeltaLate, DeltaWindow, Late, Window

Clocked: TypeAlias = Delay | Integrate | Differentiate | Feedback | Feed
"""The operators that remember earlier epochs."""

__all__ = [
    "CIRCUMSTANCES", "EPOCH", "ITERATION", "WEIGHT", "Admit", "Aggregate", "Bracket", "Circuit", "Clock",
    "Clocked", "Constant", "Delay", "DeltaBracket", "DeltaClock", "DeltaDistinct", "DeltaGroup", "DeltaJoin",
    "DeltaLate", "DeltaOrdered", "DeltaWindow", "Differentiate", "Distinct", "Earlier", "Exchange", "Feed",
    "Feedback", "First", "Fixpoint", "FixpointResult", "Group", "Guard", "Import", "Input", "Inspect",
    "Integrate", "Join", "Late", "Let", "Loop", "Negate", "Node", "NodeId", "Ordered", "Output", "Step",
    "Sum", "Term", "Trace", "Unnest", "Variable", "Window",
]  # fmt: skip
