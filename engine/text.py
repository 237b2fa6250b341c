"""Circuits as text, one node a line with the rule it stands for, and as DOT; drawings are in `drawing`."""

from __future__ import annotations

from collections.abc import Iterator

from .circuit import Circuit, Earlier, Fixpoint, FixpointResult, Import, NodeId, Trace, Variable
from .labels import one_line, relation_names, schema_text
from .node import Name

_TEXT_COLUMN = 72


def to_text(circuit: Circuit) -> str:
    """The nodes in order, `n3 = operator sources  // rule`; bodies of fixpoints are indented.

    Equal circuits give equal text.
    """
    return "\n".join(_lines(circuit, "n", "", None)) + "\n"


def _lines(circuit: Circuit, prefix: str, indent: str, outside: Name | None) -> Iterator[str]:
    def name(node: NodeId) -> str:
        return f"{prefix}{node}"

    values = relation_names(circuit)
    for i, node in enumerate(circuit.nodes):
        naming = outside if isinstance(node, Import) and outside else name
        shown = f"{indent}{name(i)} = {node.title()} {node.details(naming)}".rstrip()
        if not node.reads() and not isinstance(node, Import) and not isinstance(node, Fixpoint):
            shown += " " + schema_text(node.schema)
        remark = one_line(node.text)
        if remark in shown:
            remark = ""
        if i in values and values[i] not in shown + remark:
            remark = f"{values[i]}: {remark}" if remark else values[i]
        yield f"{shown:<{_TEXT_COLUMN}}  // {remark}" if remark else shown
        if isinstance(node, Fixpoint):
            yield from _lines(node.body, f"{name(i)}.", indent + "    ", name)
            for relation, result in node.results:
                yield f"{indent}    {relation} := {name(i)}.{result}"


def to_dot(circuit: Circuit) -> str:
    """The circuit for Graphviz; a fixpoint is a cluster, its feedback a dashed edge."""
    lines = ["digraph circuit {", '  node [shape=box, fontname="monospace", fontsize=10];']
    lines += _dot_nodes(circuit, "n", "  ", None)
    return "\n".join([*lines, "}"]) + "\n"


def _dot_nodes(circuit: Circuit, prefix: str, indent: str, outside: Name | None) -> Iterator[str]:
    def name(node: NodeId) -> str:
        return _dot_name(f"{prefix}{node}")

    for i, node in enumerate(circuit.nodes):
        if isinstance(node, Fixpoint):
            yield from _dot_cluster(node, f"{prefix}{i}", indent, name)
            continue
        label = _escaped(node.title()) + (f"\\n{_escaped(one_line(node.text))}" if node.text else "")
        style = ", style=dashed" if isinstance(node, Trace) else ""
        yield f'{indent}{name(i)} [label="{label}"{style}];'
        if isinstance(node, Import) and outside:
            yield f"{indent}{outside(node.node)} -> {name(i)};"
        elif isinstance(node, FixpointResult):
            owner = circuit.nodes[node.fixpoint]
            assert isinstance(owner, Fixpoint)
            inner = dict(owner.results)[node.relation]
            yield f"{indent}{_dot_name(f'{prefix}{node.fixpoint}.{inner}')} -> {name(i)};"
        else:
            yield from (f"{indent}{name(source)} -> {name(i)};" for source in dict.fromkeys(node.reads()))


def _dot_cluster(fixpoint: Fixpoint, own: str, indent: str, outside: Name) -> Iterator[str]:
    yield f"{indent}subgraph cluster_{_dot_name(own)} {{"
    yield f'{indent}  label="{_escaped(fixpoint.title())}";'
    yield from _dot_nodes(fixpoint.body, f"{own}.", indent + "  ", outside)
    results = dict(fixpoint.results)
    for k, node in enumerate(fixpoint.body.nodes):
        if isinstance(node, Variable | Earlier):
            ends = _dot_name(f"{own}.{results[node.relation]}"), _dot_name(f"{own}.{k}")
            yield f"{indent}  {ends[0]} -> {ends[1]} [style=dashed];"
    yield f"{indent}}}"


def _dot_name(name: str) -> str:
    return name.replace(".", "_")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
