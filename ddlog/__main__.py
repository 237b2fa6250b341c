"""The start of the process: `ddlog`, and `python -m ddlog`."""

from __future__ import annotations

import gc
import os
import sys

from .console.exits import end_at_once, end_now


def main() -> None:
    """Runs the command line, and ends the process with its exit code."""
    gc.set_threshold(200_000, 20, 50)  # objects made at the start stay anyway
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads for matrices cost 60 ms to start
    end_at_once()
    from .errors.installation import check_packages

    try:
        check_packages()
    except ImportError as error:
        sys.exit(f"error: {error}")
    from .console.keptmethods import use_kept_methods

    use_kept_methods()
    from .console.cli import main as run

    try:
        run()
    except KeyboardInterrupt:
        end_now()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder where `python -m` is started, which may hold a module of any name
    main()
