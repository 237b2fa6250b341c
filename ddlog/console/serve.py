"""`ddlog serve` and `ddlog ui`: the session of a program behind a server."""

from __future__ import annotations

import sys
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.options import CannotBeCombined, OptionNeeded
from ..errors.server import NeedsTls
from ..errors.sessions import NotInstalled
from ..sessions.program import Program
from .launch import loaded
from .options import LaunchOptions
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..serve.eventloop import ServerAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(LaunchOptions):
    """The options of `ddlog serve`: the address, and the limits of the server."""

    host: str
    port: int
    certificate: str | None
    key: str | None
    proxy: str | None
    token_file: str | None
    watch: bool
    body: int
    rows: int
    seconds: float
    subscribers: int
    browser: bool
    agents: str | None = None


def serve(program: Program, options: ServeOptions) -> None:
    """Serves the session of a program until SIGTERM or Ctrl-C. Raises DDlogError if it cannot begin."""
    only_reading = options.read_only
    if options.state is None:  # a server can be read-only without a state
        options = replace(options, read_only=False)
    try:
        from ..serve.eventloop import serve as serve_session
        from ..serve.eventloop import serve_agents
        from ..serve.limits import Limits
    except ImportError as error:
        raise _not_installed(error) from None
    if options.agents == "stdio":
        _check_stdio(options)
    place = _place(options)
    limits = Limits(
        body=options.body, rows=options.rows, seconds=options.seconds, subscribers=options.subscribers
    )
    with loaded(program, options, ProgressLine(options.quiet)) as session:

        def ready(address: str) -> None:
            print(address, flush=True)
            if options.browser:
                webbrowser.open(address)

        watching = None
        if options.watch:
            from ..serve.programwatch import watched

            watching = watched(
                Path(program.source.name), lambda text: print(text, file=sys.stderr, flush=True)
            )
        try:
            if options.agents == "stdio":
                serve_agents(session, limits, only_reading, watching)
                return
            serve_session(
                session, place, limits=limits, read_only=only_reading, agents=options.agents == "http",
                ready=ready, began=watching,
            )  # fmt: skip
        except ImportError as error:
            raise _not_installed(error) from None


def _not_installed(error: ImportError) -> Exception:
    """The error for a package that is missing; the same one for another failure."""
    packages = {"starlette": "serve", "uvicorn": "serve", "mcp": "mcp", "mcp_types": "mcp"}
    extra = packages.get((error.name or "").partition(".")[0])
    return error if extra is None else DDlogError([NotInstalled(f"ddlog[{extra}]")])


def _check_stdio(options: ServeOptions) -> None:
    """Raises DDlogError for an option about the address of a server, if there is none."""
    given = {
        "--host": options.host != "127.0.0.1", "--port": options.port != 8420,
        "--tls-cert": options.certificate, "--tls-key": options.key,
        "--behind-proxy": options.proxy, "--token-file": options.token_file,
    }  # fmt: skip
    for name in (name for name, is_given in given.items() if is_given):
        raise DDlogError([CannotBeCombined("--mcp stdio", name, "there is no address to listen on")])


def _place(options: ServeOptions) -> ServerAddress:
    from ..serve.eventloop import ServerAddress

    if (options.certificate is None) != (options.key is None):
        raise DDlogError([OptionNeeded("--tls-cert", "--tls-key", "a certificate has a key")])
    if options.certificate is not None and options.proxy is not None:
        reason = "a proxy has the certificate"
        raise DDlogError([CannotBeCombined("--tls-cert", "--behind-proxy", reason)])
    here = options.host in ("127.0.0.1", "localhost", "::1")
    if not here and options.certificate is None and options.proxy is None:
        raise DDlogError([NeedsTls(options.host)])
    place = ServerAddress(options.host, options.port, options.certificate, options.key, options.proxy)
    return place if options.token_file is None else replace(place, token=read_token(options.token_file))


def read_token(name: str) -> str:
    """The token in a file. Raises DDlogError."""
    from ..errors.facts import CannotRead

    try:
        token = Path(name).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DDlogError([CannotRead(name, str(error))]) from None
    if len(token) < 16 or not all(each.isalnum() or each in "-_" for each in token):
        raise DDlogError([CannotRead(name, "a token has at least 16 letters, digits, `-` and `_`")])
    return token
