"""Every row of the tables of options that cannot be combined, or need each other, refuses what it says."""

from __future__ import annotations

from typing import Any

import pytest

from ddlog.console.options import EXCLUSIONS, GIVEN, NEEDS, Exclusion, Need, RunOptions, check_options
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.options import CannotBeCombined, OptionNeeded

SAMPLES: dict[str, dict[str, Any]] = {
    "--checkpoint": {"checkpoint": "c"},
    "--durability": {"durability": "exit"},
    "--durability interval or exit": {"durability": "interval"},
    "--input": {"input": ("facts",)},
    "--merge": {"merge": True},
    "--fill": {"fill": ("R.x=1",)},
    "--migrate": {"migrate": True},
    "--read-only": {"read_only": True},
    "--replace": {"replace": True},
    "--merge with --state": {"merge": True, "state": "s.ddlog"},
    "--replace with --state": {"replace": True, "state": "s.ddlog"},
    "--state with --output": {"state": "s.ddlog", "output": "out"},
    "--state": {"state": "s.ddlog"},
    "--explain": {"explain": True},
    "--profile": {"profile": "p.json"},
    "--every": {"every": "1 second"},
    "--follow": {"follow": "d"},
    "--follow with --output": {"follow": "d", "output": "out"},
    "--format": {"format": "csv"},
    "--format csv or tsv": {"format": "tsv"},
    "--format parquet": {"format": "parquet"},
    "--format arrow": {"format": "arrow"},
    "--format parquet or arrow": {"format": "parquet"},
    "--format table or markdown": {"format": "table"},
    "--no-limit": {"whole": True},
    "--delta asked": {"delta": "asked"},
    "--no-delta": {"delta": "none"},
    "--no-init-snapshot": {"init_snapshot": False},
    "--no-store": {"store": False},
    "--once": {"once": True},
    "--output": {"output": "out"},
    "--output file:…": {"output": "file:/tmp/out"},
    "--output table:…": {"output": "table:t"},
    "--output URL": {"output": "s3a://bucket/out"},
    "--sizes": {"sizes": True},
    "--sizes with --format": {"sizes": True, "format": "csv"},
    "--updates": {"updates": ("u.dat",)},
    "--updates REL.csv or REL.tsv": {"updates": ("R.changes.csv.gz",)},
}


def errors(**options: Any) -> tuple[object, ...]:
    """The errors of options."""
    try:
        check_options(RunOptions(**options))
    except DDlogError as error:
        return error.diagnostics
    return ()


def test_every_option_of_the_tables_has_a_sample() -> None:
    named = {name for row in EXCLUSIONS for name in (row.option, row.other)}
    named |= {name for need in NEEDS for name in (need.option, *need.others)}
    assert named == GIVEN.keys() == SAMPLES.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_an_option_is_recognised(name: str) -> None:
    assert GIVEN[name](RunOptions(**SAMPLES[name]))
    assert not GIVEN[name](RunOptions())


@pytest.mark.parametrize("row", EXCLUSIONS, ids=lambda row: f"{row.option} {row.other}")
def test_options_that_cannot_be_combined(row: Exclusion) -> None:
    refused = CannotBeCombined(row.option, row.other, row.reason)
    assert refused in errors(**SAMPLES[row.option], **SAMPLES[row.other])
    assert refused.message == f"{row.option} cannot be combined with {row.other}: {row.reason}"
    assert refused not in errors(**SAMPLES[row.option]) + errors(**SAMPLES[row.other])


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need.option)
def test_options_that_need_another(need: Need) -> None:
    refused = OptionNeeded(need.option, " or ".join(need.others), need.reason)
    assert errors(**SAMPLES[need.option]) == (refused,)
    assert refused.message.startswith(f"{need.option} needs ")
    for other in need.others:
        assert refused not in errors(**SAMPLES[need.option], **SAMPLES[other])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"updates": ("-",), "output": "out", "delta": False, "store": False, "init_snapshot": False},
        {"updates": ("-",), "sizes": True, "format": "jsonl"},
        {"sizes": True, "format": "csv", "output": "out"},
        {"output": "s3a://bucket/out", "format": "parquet"},
        {"output": "file:/tmp/out", "updates": ("-",)},
        {"follow": "d", "checkpoint": "c", "once": True, "every": "1 second", "output": "out"},
        {"follow": "d", "format": "csv"},
    ],
)
def test_options_that_go_together(options: dict[str, Any]) -> None:
    assert errors(**options) == ()
