"""The functions that print.dl declares `extern`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .ddlog_std import debug_text
from .typed import Signature, specialised

Unit = tuple[()]


def print(msg: str) -> Unit:
    sys.stdout.write(msg + "\n")
    return ()


@specialised
def debug(signature: Signature) -> Callable[[Any], Unit]:
    type = signature.parameters[0]
    return lambda value: print(debug_text(value, type, signature.typedefs))
