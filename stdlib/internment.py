"""The functions that internment.dl declares `extern`. An interned value is the value itself."""

from __future__ import annotations

from typing import Any

from . import strings


def intern(s: Any) -> Any:
    return s


ival = intern

istring_contains, istring_join, istring_len = strings.string_contains, strings.string_join, strings.string_len
istring_replace, istring_split = strings.string_replace, strings.string_split
istring_starts_with, istring_ends_with = strings.string_starts_with, strings.string_ends_with
istring_substr, istring_to_bytes = strings.string_substr, strings.string_to_bytes
istring_trim, istring_reverse = strings.string_trim, strings.string_reverse
istring_to_lowercase, istring_to_uppercase = strings.string_to_lowercase, strings.string_to_uppercase
