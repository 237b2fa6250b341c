"""The functions that debug.dl declares `extern`."""

from __future__ import annotations

from typing import Any

from ..values import Group, Vec, show
from .typed import Signature, typed

Unit = tuple[()]


@typed
def debug_event(
    operator_id: Any, w: int, ts: Any, operator_type: str, input1: Any, out: Any, *, signature: Signature
) -> Unit:
    shown = _shown((operator_id, w, ts, operator_type, input1, out), signature)
    return _print(shown, ("OpId", "Weight", "Timestamp", "Operator", "Input", "Output"))


@typed
def debug_event_join(
    operator_id: Any, w: int, ts: Any, input1: Any, input2: Any, out: Any, *, signature: Signature
) -> Unit:
    shown = _shown((operator_id, w, ts, input1, input2, out), signature)
    return _print(shown, ("OpId", "Weight", "Timestamp", "Input1", "Input2", "Output"))


def debug_split_group(g: Group) -> tuple[Vec, Group]:
    return Vec(i for i, _ in g[1]), Group.of(g[0], (v for _, v in g[1]))


def _shown(arguments: tuple[Any, ...], signature: Signature) -> list[str]:
    return [
        show(value, of, signature.typedefs) for value, of in zip(arguments, signature.parameters, strict=True)
    ]


def _print(shown: list[str], labels: tuple[str, ...]) -> Unit:
    print(", ".join(f"{label}: {text}" for label, text in zip(labels, shown, strict=True)), flush=True)
    return ()
