"""The functions that set.dl declares `extern`."""

from __future__ import annotations

from .ranking import arg_max, arg_min

set_arg_min, set_arg_max = arg_min, arg_max
