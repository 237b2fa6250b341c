"""The workloads that are compared with the hand-written loop on Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Case:
    """A workload, and the columns of its inputs."""

    workload: Workload
    inputs: dict[str, tuple[str, ...]]


REACH_1M = replace(
    WORKLOADS["reach"],
    name="reach_1m",
    full={"n": 200_000, "m": 1_000_000},
    expected={**WORKLOADS["reach"].expected, "full": "198634:7ede028c06c7284c"},
)
PAIRS = {"AddressOf": ("y", "x"), "Assign": ("y", "z"), "Load": ("y", "x"), "Store": ("y", "x")}

CASES = {
    case.workload.name: case
    for case in (
        Case(WORKLOADS["tc_random_1m"], {"Edge": ("x", "y")}),
        Case(REACH_1M, {"Source": ("x",), "Edge": ("x", "y")}),
        Case(WORKLOADS["andersen"], PAIRS),
    )
}
