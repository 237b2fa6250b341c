"""Schemas of OVSDB, the database of Open vSwitch (RFC 7047), as modules of relations.

`located` reads JSON with the place of each value, `schema` finds tables and columns in it, `choices` holds
what the user said of them, and `module` writes the module:

    T ──── rules of the user ────> Out_T ──> Swizzled_T ──> DeltaPlus_T, DeltaMinus_T, Update_T
    │                                            ^               ^
    └──────────────> UUIDMap_T ──────────────────┘               │
    └────────────────────────────────────────────────────────────┘

T is a table as the database has it, Out_T as the program wants it. A reference to a row that the database
does not have yet is a name in Swizzled_T. The last three say which rows are to be inserted, deleted and
changed.
"""
