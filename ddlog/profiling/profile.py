"""The profile of a session, and its forms: text, JSON, a page of HTML. docs/profile.md describes them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from html import escape
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from .costs import VERSION, Measurements

_FRAME = "width: 100%; height: 34rem; border: 1px solid #8884"


@dataclass(frozen=True)
class Profile(Measurements):
    """The measurements of a session. Printed, it is a few lines."""

    def json(self) -> str:
        """The profile as JSON, in one line."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def html(self) -> str:
        """The profile as a page, which needs nothing else."""
        from .page import page

        return page(self)

    def __str__(self) -> str:
        from .summary import summary

        return "\n".join(summary(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        text, page = str(self), escape(self.html())
        frame = f'<iframe sandbox="allow-scripts" title="profile" style="{_FRAME}" srcdoc="{page}"></iframe>'
        told = f"<details><summary>as text</summary><pre>{escape(text)}</pre></details>"
        return {"text/plain": text, "text/html": frame + told}


def read_profile(text: str) -> Profile:
    """The profile that JSON holds. Raises ValueError if the text is not that of a profile."""
    found = json.loads(text)
    if not isinstance(found, dict) or "strata" not in found:
        raise ValueError("it is not a profile")
    if found.get("version") != VERSION:
        raise ValueError(f"it is of version {found.get('version')}, and not {VERSION}")
    try:
        profile: Profile = _built(Profile, found)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is not a profile: {error}") from None
    return profile


def _built(form: Any, value: Any) -> Any:
    """A value of JSON as a value of a type."""
    origin = get_origin(form)
    if origin in (Union, UnionType):
        return None if value is None else _built(get_args(form)[0], value)
    if origin is tuple:
        return tuple(_built(get_args(form)[0], each) for each in value)
    if isinstance(form, type) and is_dataclass(form):
        hints = _hints(form)
        made: Any = form
        return made(**{name: _built(hints[name], value[name]) for name in hints if name in value})
    return value


@cache
def _hints(form: Any) -> dict[str, Any]:
    hints = get_type_hints(form)
    return {each.name: hints[each.name] for each in fields(form)}
