"""The functions of the library that are written in Python and that Spark can compute too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """SQL with places for the arguments and the result's type. `counts`: it gives an INT for a bit<64>;
    `sorts`: it needs arguments that Spark orders as the language does."""

    text: str
    counts: bool = False
    sorts: bool = False


# Groups are never empty. The variable of a lambda hides columns of its name, which have others.
LIBRARY = {
    ("ddlog_std", "string_contains"): Form("contains({0}, {1})"),
    ("ddlog_std", "string_starts_with"): Form("startswith({0}, {1})"),
    ("ddlog_std", "string_ends_with"): Form("endswith({0}, {1})"),
    ("ddlog_std", "string_len"): Form("octet_length({0})", counts=True),
    ("ddlog_std", "string_join"): Form("array_join({0}, {1})"),
    ("ddlog_std", "vec_empty"): Form("CAST(array() AS {result})"),
    ("ddlog_std", "vec_with_capacity"): Form("CAST(array() AS {result})"),
    ("ddlog_std", "vec_singleton"): Form("array({0})"),
    ("ddlog_std", "vec_len"): Form("size({0})", counts=True),
    ("ddlog_std", "vec_is_empty"): Form("(size({0}) = 0)"),
    ("ddlog_std", "vec_contains"): Form("array_contains({0}, {1})"),
    ("ddlog_std", "vec_push_imm"): Form("array_append({0}, {1})"),
    ("ddlog_std", "vec_sort_imm"): Form("sort_array({0})", sorts=True),
    ("ddlog_std", "vec_to_set"): Form("sort_array(array_distinct({0}))", sorts=True),
    ("ddlog_std", "set_empty"): Form("CAST(array() AS {result})"),
    ("ddlog_std", "set_singleton"): Form("array({0})"),
    ("ddlog_std", "set_size"): Form("size({0})", counts=True),
    ("ddlog_std", "set_is_empty"): Form("(size({0}) = 0)"),
    ("ddlog_std", "set_contains"): Form("array_contains({0}, {1})"),
    ("ddlog_std", "set_to_vec"): Form("{0}"),
    ("ddlog_std", "set_union"): Form("sort_array(array_union({0}, {1}))", sorts=True),
    ("ddlog_std", "set_intersection"): Form("sort_array(array_intersect({0}, {1}))", sorts=True),
    ("ddlog_std", "set_difference"): Form("sort_array(array_except({0}, {1}))", sorts=True),
    ("ddlog_std", "set_insert_imm"): Form("sort_array(array_union({0}, array({1})))", sorts=True),
    ("ddlog_std", "map_empty"): Form("CAST(array() AS {result})"),
    ("ddlog_std", "map_singleton"): Form("array(named_struct('key', {0}, 'value', {1}))"),
    ("ddlog_std", "map_size"): Form("size({0})", counts=True),
    ("ddlog_std", "map_is_empty"): Form("(size({0}) = 0)"),
    ("ddlog_std", "map_contains_key"): Form("exists({0}, pair -> pair.`key` = {1})"),
    ("ddlog_std", "map_keys"): Form("transform({0}, pair -> pair.`key`)"),
    ("ddlog_std", "map_values"): Form("transform({0}, pair -> pair.`value`)"),
    ("ddlog_std", "group_key"): Form("({0}).`key`"),
    ("ddlog_std", "group_count_distinct"): Form("size(({0}).`values`)", counts=True),
    ("ddlog_std", "group_first"): Form("({0}).`values`[0]"),
    ("ddlog_std", "group_min"): Form("({0}).`values`[0]"),
    ("ddlog_std", "group_max"): Form("element_at(({0}).`values`, -1)"),
    ("ddlog_std", "group_to_vec"): Form("({0}).`values`"),
    ("ddlog_std", "group_to_set"): Form("({0}).`values`"),
    ("group", "count"): Form("size(({0}).`values`)", counts=True),
    ("group", "min_second"): Form("array_min(transform(({0}).`values`, pair -> pair.`_1`))", sorts=True),
    ("group", "max_second"): Form("array_max(transform(({0}).`values`, pair -> pair.`_1`))", sorts=True),
}

# Modules whose types are strings and sets once a program is checked; what their functions are here.
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
