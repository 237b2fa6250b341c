"""What a user is told when the fault is ours."""

from __future__ import annotations


def internal_error_text(error: Exception) -> str:
    """A short message that asks for a report."""
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault of ddlog, not of your program. Please report it with the program and\n"
        "the traceback that DDLOG_DEBUG=1 shows."
    )
