"""Values at run time: immutable, hashable, and ordered by Python's own `<` as the language orders them.

Structs, union values, Vec, Set, Map and Group are all tuples, so one comparison in C serves every
composite value. Sets and maps are kept sorted. The only special scalar is NaN, the singleton `NAN`.
"""

from .closures import (
    FunctionValue,
    captured_by,
    closure_class,
    holds_function,
    holds_object,
    storable_closures,
)
from .collections import AnyValue, Group, Map, Set, Vec, any_class
from .defaults import default_value
from .fromplain import check
from .numbers import (
    NAN,
    canonical_float,
    decimal,
    float_text,
    int_to_double,
    int_to_single,
    integer_range,
    single,
    wrap,
    wrap_bit,
    wrap_signed,
)
from .structs import Fault, Struct, TypeDefs, constructors_of, local_name, make, struct_class, taken_apart
from .totext import quote, show, to_string

__all__ = [
    "NAN", "AnyValue", "Fault", "FunctionValue", "Group", "Map", "Set", "Struct", "TypeDefs", "Vec",
    "any_class", "canonical_float", "captured_by", "check", "closure_class", "constructors_of", "decimal",
    "default_value", "float_text", "holds_function", "holds_object", "int_to_double", "int_to_single",
    "integer_range", "local_name", "make", "quote", "show", "single", "storable_closures", "struct_class",
    "taken_apart", "to_string", "wrap", "wrap_bit", "wrap_signed",
]  # fmt: skip
