"""An input of twice the size takes about twice the work, whatever it is made of; or it is refused."""

from __future__ import annotations

import time
from cProfile import Profile

import pytest

from .sizes import SIZED, Sized

MOST = 2.3
"""The most that the work may grow when the size is doubled."""


@pytest.mark.parametrize("name", SIZED)
def test_twice_the_size_is_about_twice_the_work(name: str) -> None:
    sized = SIZED[name]
    work(sized, 1)  # what is read or made once has been
    least = work(sized, 1)
    once, twice = (work(sized, sized.parts * factor) - least for factor in (1, 2))
    assert twice <= MOST * once + 50, f"{twice / max(once, 1):.2f}"


@pytest.mark.long
@pytest.mark.parametrize("name", SIZED)
def test_twice_the_size_takes_about_twice_the_time(name: str) -> None:
    """What C does is no work that can be counted: searches, copies, numbers of many digits."""
    sized, parts = SIZED[name], SIZED[name].parts
    while seconds(sized, parts) < 0.4 and 4 * parts <= sized.most:
        parts *= 2
    ratio = min(seconds(sized, 2 * parts) / seconds(sized, parts) for _ in range(3))
    assert ratio <= sized.longer, f"{ratio:.2f} of {parts}"


def work(sized: Sized, parts: int) -> int:
    """How many functions are called, those in C as well, to read an input."""
    text, profile = sized.text(parts), Profile()
    profile.runcall(sized.read, text)
    return sum(each.callcount for each in profile.getstats())


def seconds(sized: Sized, parts: int) -> float:
    """The time of the processor that an input takes."""
    text = sized.text(parts)
    start = time.process_time()
    sized.read(text)
    return time.process_time() - start
