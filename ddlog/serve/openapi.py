"""The OpenAPI document of a server, from the table of its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ..errors.installation import version

_ERRORS = {
    "400": "the request cannot be understood", "401": "the token is missing or wrong",
    "403": "not allowed", "408": "the answer takes too long", "413": "the body is too large",
    "415": "the body is of another type", "421": "another host", "422": "an error of the language",
    "503": "the server ends, or too much waits", "507": "the state cannot be written",
}  # fmt: skip


class Described(Protocol):
    """A route as the document tells it: its parameters and the fields of its body are names, each with its
    type and a description."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def does(self) -> str: ...
    @property
    def parameters(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def takes(self) -> tuple[str, ...]: ...
    @property
    def gives(self) -> tuple[str, ...]: ...
    @property
    def fields(self) -> tuple[tuple[str, str], ...]: ...


def document(routes: Iterable[Described]) -> dict[str, Any]:
    """The document, version 3.1 of OpenAPI."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ddlog serve", "version": version()},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _operation(route: Described) -> dict[str, Any]:
    answers = {
        media: {"schema": {} if media.endswith("json") else {"type": "string"}} for media in route.gives
    }
    made: dict[str, Any] = {
        "summary": route.does[0].upper() + route.does[1:],
        "operationId": route.method.lower() + re.sub(r"\W+", "_", route.path).rstrip("_"),
        "responses": {
            "200": {"description": "the answer", "content": answers},
            **{code: {"description": text} for code, text in _ERRORS.items()},
        },
    }
    named = re.findall(r"\{(\w+)\}", route.path)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in named
    ]
    parameters += [{"name": n, "in": "query", **_typed(text)} for n, text in route.parameters]
    if route.path == "/transactions":
        shown = {"type": "string", "minLength": 1, "maxLength": 200}
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": shown})
    if parameters:
        made["parameters"] = parameters
    if route.takes:
        content = {
            media: {"schema": _body(route.fields) if media.endswith("json") else {}} for media in route.takes
        }
        made["requestBody"] = {"required": True, "content": content}
    return made


def _typed(text: str) -> dict[str, Any]:
    kind, _, description = text.partition(": ")
    return {"schema": {} if kind == "any" else {"type": kind}, "description": description}


def _body(fields: Sequence[tuple[str, str]]) -> dict[str, Any]:
    if not fields:
        return {}
    properties = {
        name: {**_typed(t)["schema"], "description": _typed(t)["description"]} for name, t in fields
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}
