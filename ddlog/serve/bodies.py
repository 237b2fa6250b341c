"""The bodies of requests, and those of answers that tell an error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..durability.records import KEY
from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.server import (
    BadRequest,
    OnlyReading,
    ProgramIsAnother,
    QuestionTooLong,
    ServerEnds,
    TooMuchWaits,
)
from ..errors.state import EarlierNotKept, NotKeptOnDisk
from ..values.fromjson import decode_json
from ..values.structs import reason
from ..values.tojson import json_text
from .failures import exact_errors, told

if TYPE_CHECKING:
    from starlette.requests import Request

_STATUS: dict[type[Diagnostic], int] = {
    OnlyReading: 403, QuestionTooLong: 408, ServerEnds: 503, TooMuchWaits: 503, BadRequest: 400,
    ProgramIsAnother: 409, NotKeptOnDisk: 507, EarlierNotKept: 507,
}  # fmt: skip


class TooLarge(Exception):
    """A body with more bytes than the limit."""


def status_of(error: DDlogError) -> int:
    """The status of an answer that tells an error: 422 for one of the language."""
    return _STATUS.get(type(error.diagnostics[0]), 422)


def errors_body(error: DDlogError, exactly: bool = False) -> bytes:
    """The body of an answer that tells an error, and half of a surrogate pair as JSON does; `exactly`: for a
    client that makes it anew."""
    if exactly:
        return exact_errors(error.diagnostics).encode(errors="backslashreplace")
    return json_text({"errors": told(error.diagnostics)}).encode(errors="backslashreplace")


def problem_body(text: str) -> bytes:
    """The body of an answer that tells a problem of a request."""
    return errors_body(DDlogError([BadRequest(text)]))


async def body_of_request(request: Request, most: int) -> bytes:
    """The body of a request. Raises TooLarge."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


def text_of(body: bytes) -> str:
    """A body as text. Raises DDlogError."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise DDlogError([BadRequest(f"the body is not UTF-8: {error.reason}")]) from None


@contextmanager
def reading_values() -> Iterator[None]:
    """Turns what readers of values raise inside into errors of a request."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise DDlogError([BadRequest(reason(error))]) from None


def object_of(body: bytes, **fields: tuple[type, ...]) -> dict[str, Any]:
    """The fields of a body of JSON, of the types that are named; others are errors. Raises DDlogError."""
    try:
        given = decode_json(text_of(body))
    except (ValueError, RecursionError) as error:
        raise DDlogError([BadRequest(f"the body is not JSON: {reason(error)}")]) from None
    if not isinstance(given, dict):
        raise DDlogError([BadRequest("the body is not an object")])
    checked_fields(given, fields)
    return given


def checked_fields(given: Mapping[str, Any], fields: Mapping[str, tuple[type, ...]]) -> None:
    """Checks that an object has no other fields than these, and each of its type. Raises DDlogError."""
    for name, value in given.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise DDlogError([BadRequest(f"there is no field {name!r}; there may be {known}")])
        if not isinstance(value, fields[name]) or (isinstance(value, bool) and bool not in fields[name]):
            kinds = " or ".join(each.__name__ for each in fields[name])
            raise DDlogError([BadRequest(f"the field {name!r} is not of type {kinds}")])
        if isinstance(value, str) and _is_torn(value):
            raise DDlogError([BadRequest(f"the field {name!r} has half of a surrogate pair")])


def key_of(given: str | int | None) -> str | None:
    """The key of a transaction, as it is kept. Raises DDlogError."""
    if given is not None and not 0 < len(str(given)) <= 200:
        raise DDlogError([BadRequest("an Idempotency-Key has 1 to 200 characters")])
    return None if given is None else KEY + json.dumps(given)


def _is_torn(text: str) -> bool:
    """Whether a text has half of a surrogate pair, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def number_of(text: str | None, name: str, otherwise: int | None) -> int | None:
    """The number of a parameter. Raises DDlogError."""
    if text is None or text == "":
        return otherwise
    if not (text.isascii() and text.isdecimal()) or len(text) > 15:
        raise DDlogError([BadRequest(f"{name} is a number of at least 0, not {text[:40]!r}")])
    return int(text)
