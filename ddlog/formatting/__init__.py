"""Programs and command files in one layout: `ddlog fmt`.

    text ──▶ phrases of the grammar ──▶ steps of a layout ──▶ lines of 100 columns
             (syntax.parser)            (forms)               (layout)

The formatter changes spaces and line ends, and nothing else: tokens and comments stay as they are, in their
order. So the program stays what it was, and each run sees to that by reading the tokens again.

Where a line is broken is decided from the outside in, as in "A prettier printer" (Wadler, 2003), on a flat
list of steps in the manner of "Prettyprinting" (Oppen, 1980). Two things are left to the author: a list, a
block or a body that begins on a new line stays broken, and an empty line stays one.
"""
