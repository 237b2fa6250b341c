"""`--header`, `--extra` and `--map` as options of the places that `--input` and `--updates` name."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue

_MAP = re.compile(r"((?:\w+::)*\w+=.+):(\w+=[^:=,]+(?:,\w+=[^:=,]+)*)\Z", re.DOTALL)


def input_places(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The places of `--input` and `--map`, with the options of the command line. Raises DDlogError."""
    return with_options((*arguments.input, *map(_mapped, arguments.map)), chosen(arguments))


def update_places(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The places of `--updates`; only rows of one relation have options."""
    from ..io.filenames import is_separated

    options = chosen(arguments)
    return tuple(
        text if not is_separated(text) else with_options([text], options)[0] for text in arguments.updates
    )


def chosen(arguments: argparse.Namespace) -> dict[str, str]:
    """The options of places that the command line has for all of them."""
    given = {"header": arguments.header, "extra": arguments.extra}
    return {name: value for name, value in given.items() if value is not None}


def with_options(texts: Iterable[str], options: Mapping[str, str]) -> tuple[str, ...]:
    """Places with options, each before those that the place has itself."""
    written = "&".join(f"{name}={value}" for name, value in options.items())
    return tuple(_with(text, written) if written and text else text for text in texts)


def _with(text: str, written: str) -> str:
    found = re.search(r"\?[a-z]+=", text)
    if found is None:
        return f"{text}?{written}"
    return f"{text[: found.start()]}?{written}&{text[found.start() + 1 :]}"


def _mapped(text: str) -> str:
    """`R=PLACE:column=name` as a place. Raises DDlogError."""
    found = _MAP.match(text)
    if found is None:
        raise DDlogError([BadOptionValue("--map", text, "REL=PLACE:COLUMN=NAME,…")])
    return _with(found.group(1), "map=" + found.group(2).replace("=", ":"))
