"""Generated programs of some hundred lines: they check, run as the definition says, and large ones compile in
proportion."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import pytest

import ddlog
from ddlog.engine.reference import evaluate

from ..bench.generated import generate


def test_programs_have_what_real_ones_have() -> None:
    text = generate(1000)
    for wanted in (
        "typedef",
        "match (",
        "for (",
        "if (",
        "not ",
        "FlatMap(",
        "group_by",
        "Option<",
        "${",
        "//",
    ):
        assert wanted in text
    strata = ddlog.compile(text).checked.strata
    assert sum(each.recursive for each in strata) > 5
    assert any(len(each.relations) > 1 for each in strata)


@pytest.mark.parametrize("seed", range(6))
def test_changes_are_those_of_the_definition(seed: int) -> None:
    text = re.sub(r"^relation", "output relation", generate(250, seed), flags=re.MULTILINE)
    program = ddlog.compile(text)
    plain = program.circuit("relational", records="values")
    chance = random.Random(seed)
    contents: dict[str, dict[tuple[Any, ...], int]] = {name: {} for name in program.names("input")}
    with program.session() as session:
        session.start()
        before = evaluate(plain, contents)
        assert sum(map(len, before.values())) > 20
        for name, rows in before.items():
            assert set(session[name].stored) == set(rows)
        facts = {name: [*session[name].stored] for name in contents}
        for _ in range(6):
            for name in chance.sample(sorted(contents), k=3):
                mixed = tuple(chance.choice(column) for column in zip(*facts[name], strict=True))
                kept = contents[name]
                if mixed in facts[name]:
                    continue
                session.insert_rows(name, [mixed])
                kept[mixed] = 1
                if len(kept) > 2:
                    gone = chance.choice(sorted(kept))
                    session.delete_rows(name, [gone])
                    del kept[gone]
            changes = session.commit()
            after = evaluate(plain, contents)
            for name in program.names("output"):
                difference = {row: 1 for row in after[name] if row not in before[name]}
                difference |= {row: -1 for row in before[name] if row not in after[name]}
                assert (dict(changes.stored(name)) if name in changes else {}) == difference, name
            before = after


def test_larger_programs_take_proportionally_more_steps() -> None:
    calls = [_calls(generate(lines)) / lines for lines in (400, 1600)]
    assert calls[1] < 1.2 * calls[0], calls


def test_longer_literals_take_proportionally_more_steps() -> None:
    def listed(count: int) -> str:
        numbers = ", ".join(map(str, range(count)))
        return f"output relation R(x: u32)\nR(x) :- var x = FlatMap([{numbers}]).\n"

    small, large = (_calls(listed(count)) for count in (200, 800))
    assert large < 4.8 * small


def _calls(text: str) -> int:
    """How many functions are called, those in C as well, to compile a text and make a session."""
    ddlog.compile(text)  # what is read or made once has been
    count = 0

    def note(*event: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        ddlog.compile(text).session()
    finally:
        sys.setprofile(None)
    return count
