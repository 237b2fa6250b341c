"""The functions of the library that are written in Python and that Spark can compute too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LibraryForm:
    """SQL with places for the arguments and the result's type. `counts`: the SQL gives an INT for a bit<64>;
    `sorts`: the arguments must be of types that Spark orders as the language does."""

    text: str
    counts: bool = False
    sorts: bool = False


_DISTINCT = (
    "transform(array(({0}).`values`), "
    "many -> filter(many, (one, at) -> at = 0 OR NOT (one <=> get(many, at - 1))))[0]"
)
"""The values of a group, which are in order, each once."""

# Groups are never empty. The variable of a lambda hides columns of its name, which have others.
LIBRARY = {
    ("ddlog_std", "string_contains"): LibraryForm("contains({0}, {1})"),
    ("ddlog_std", "string_starts_with"): LibraryForm("startswith({0}, {1})"),
    ("ddlog_std", "string_ends_with"): LibraryForm("endswith({0}, {1})"),
    ("ddlog_std", "string_len"): LibraryForm("octet_length({0})", counts=True),
    ("ddlog_std", "string_join"): LibraryForm("array_join({0}, {1})"),
    ("ddlog_std", "vec_empty"): LibraryForm("CAST(array() AS {result})"),
    ("ddlog_std", "vec_with_capacity"): LibraryForm("CAST(array() AS {result})"),
    ("ddlog_std", "vec_singleton"): LibraryForm("array({0})"),
    ("ddlog_std", "vec_len"): LibraryForm("size({0})", counts=True),
    ("ddlog_std", "vec_is_empty"): LibraryForm("(size({0}) = 0)"),
    ("ddlog_std", "vec_contains"): LibraryForm("array_contains({0}, {1})"),
    ("ddlog_std", "vec_push_imm"): LibraryForm("array_append({0}, {1})"),
    ("ddlog_std", "vec_sort_imm"): LibraryForm("sort_array({0})", sorts=True),
    ("ddlog_std", "vec_to_set"): LibraryForm("sort_array(array_distinct({0}))", sorts=True),
    ("ddlog_std", "set_empty"): LibraryForm("CAST(array() AS {result})"),
    ("ddlog_std", "set_singleton"): LibraryForm("array({0})"),
    ("ddlog_std", "set_size"): LibraryForm("size({0})", counts=True),
    ("ddlog_std", "set_is_empty"): LibraryForm("(size({0}) = 0)"),
    ("ddlog_std", "set_contains"): LibraryForm("array_contains({0}, {1})"),
    ("ddlog_std", "set_to_vec"): LibraryForm("{0}"),
    ("ddlog_std", "set_union"): LibraryForm("sort_array(array_union({0}, {1}))", sorts=True),
    ("ddlog_std", "set_intersection"): LibraryForm("sort_array(array_intersect({0}, {1}))", sorts=True),
    ("ddlog_std", "set_difference"): LibraryForm("sort_array(array_except({0}, {1}))", sorts=True),
    ("ddlog_std", "set_insert_imm"): LibraryForm("sort_array(array_union({0}, array({1})))", sorts=True),
    ("ddlog_std", "map_empty"): LibraryForm("CAST(array() AS {result})"),
    ("ddlog_std", "map_singleton"): LibraryForm("array(named_struct('key', {0}, 'value', {1}))"),
    ("ddlog_std", "map_size"): LibraryForm("size({0})", counts=True),
    ("ddlog_std", "map_is_empty"): LibraryForm("(size({0}) = 0)"),
    ("ddlog_std", "map_contains_key"): LibraryForm("exists({0}, pair -> pair.`key` = {1})"),
    ("ddlog_std", "map_keys"): LibraryForm("transform({0}, pair -> pair.`key`)"),
    ("ddlog_std", "map_values"): LibraryForm("transform({0}, pair -> pair.`value`)"),
    ("ddlog_std", "group_key"): LibraryForm("({0}).`key`"),
    ("ddlog_std", "group_count_distinct"): LibraryForm(f"size({_DISTINCT})", counts=True),
    ("ddlog_std", "group_first"): LibraryForm("({0}).`values`[0]"),
    ("ddlog_std", "group_min"): LibraryForm("({0}).`values`[0]"),
    ("ddlog_std", "group_max"): LibraryForm("element_at(({0}).`values`, -1)"),
    ("ddlog_std", "group_to_vec"): LibraryForm("({0}).`values`"),
    ("ddlog_std", "group_to_set"): LibraryForm(_DISTINCT),
    ("group", "count"): LibraryForm("size(({0}).`values`)", counts=True),
    ("group", "min_second"): LibraryForm(
        "array_min(transform(({0}).`values`, pair -> pair.`_1`))", sorts=True
    ),
    ("group", "max_second"): LibraryForm(
        "array_max(transform(({0}).`values`, pair -> pair.`_1`))", sorts=True
    ),
}

# Modules whose types are strings and sets in a checked program: the functions of strings and sets for theirs.
_LIKE = (
    ("internment", "istring_", "string_", "contains starts_with ends_with len join"),
    ("hashset", "hashset_", "set_", "empty singleton size is_empty contains insert_imm to_vec"),
    ("hashset", "hashset_", "set_", "union intersection difference"),
    ("tinyset", "", "set_", "empty singleton size is_empty contains insert_imm"),
    ("tinyset", "", "set_", "union intersection difference"),
)
LIBRARY |= {
    (module, there + name): LIBRARY["ddlog_std", here + name]
    for module, there, here, names in _LIKE
    for name in names.split()
}
