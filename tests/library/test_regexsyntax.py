"""Regular expressions of the two syntaxes' common part, against Python's re."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ddlog.stdlib import regex
from ddlog.values import Vec

CLASSES = ["[ab]", "[^a]", "[a-c]", "[^a-cé]", r"\d", r"\w", r"\s", r"[\dé]", r"[^\s]", "."]
LETTERS = st.sampled_from(["a", "b", "c", "é", r"\.", "1", " "])
TEXTS = st.text("abc1é .\nB_", max_size=8)
PATTERNS = st.recursive(
    LETTERS | st.sampled_from(CLASSES),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "+?"])).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)
SETS = st.frozensets(st.sampled_from("abcdefgh"))


@given(PATTERNS, TEXTS)
def test_first_matches_agree(pattern: str, text: str) -> None:
    expected = re.search(pattern, text)
    found = regex.regex_first_match(regex.Regex(pattern), text)
    assert found == (regex.NONE if expected is None else regex.some(expected[0]))


@given(PATTERNS, TEXTS)
def test_matches_that_are_not_empty_do_not_overlap(pattern: str, text: str) -> None:
    found = regex.regex_all_matches(regex.Regex(pattern), text)
    assert isinstance(found, Vec)
    place = 0
    for each in found:
        place = text.index(each, place) + len(each)
    assert bool(found) == regex.regex_match(regex.Regex(pattern), text)


def bracketed(letters: frozenset[str]) -> str:
    """A class of letters that may be none."""
    return f"[{''.join(sorted(letters))}]" if letters else r"[^\x{0}-\x{10FFFF}]"


@settings(deadline=None)  # the first class that is computed needs a list of all characters
@given(SETS, SETS, st.sampled_from([("&&", "&"), ("--", "-"), ("~~", "^")]))
def test_operators_of_classes_are_those_of_sets(
    left: frozenset[str], right: frozenset[str], operators: tuple[str, str]
) -> None:
    in_regex, in_python = operators
    pattern = f"[{bracketed(left)}{in_regex}{bracketed(right)}]"
    expected = {"&": left & right, "-": left - right, "^": left ^ right}[in_python]
    assert set(regex.regex_all_matches(regex.Regex(pattern), "abcdefgh")) == expected
