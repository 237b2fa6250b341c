"""The layout of command files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddlog.formatting.commandfiles import formatted_commands

EXAMPLES = {
    "commands": (
        'start ;  insert R( 1,"a , b" ) ,insert S(2);\ncommit;',
        'start; insert R(1, "a , b"), insert S(2);\ncommit;\n',
    ),
    "a batch": ("insert R(1),\n  insert R(2);", "insert R(1),\ninsert R(2);\n"),
    "a command of several lines": (
        "modify R 1 <- _{\n.x = 1,\n.y = [1,\n2]\n};",
        "modify R 1 <- _{\n    .x = 1,\n    .y = [1,\n    2]\n};\n",
    ),
    "comments": ("# a\n\n\n  start;   # b\n   # c", "# a\n\nstart; # b\n# c\n"),
    "an echoed text stays": ("echo  a ,b  c ;", "echo  a ,b  c;\n"),
    "a query": ("query R(x),x  > 1;", "query R(x), x > 1;\n"),
    "nothing": ("\n \n", ""),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_layout(name: str) -> None:
    given, expected = EXAMPLES[name]
    assert formatted_commands(given) == expected
    assert formatted_commands(expected) == expected


def test_command_files_stay_what_they_are() -> None:
    for file in sorted((Path(__file__).parents[2]).rglob("*/*.dat")):
        text = file.read_bytes().decode(errors="replace")
        once = formatted_commands(text)
        assert formatted_commands(once) == once, file
        assert re.sub(r"\s", "", once) == re.sub(r"\s", "", text), file
