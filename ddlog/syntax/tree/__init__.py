"""The syntax tree: one class for each construct of the language, as written; nothing is resolved.

Names keep their module prefix (`a::b`). `span` takes no part in equality. `ddlog.syntax` re-exports every
class.
"""
