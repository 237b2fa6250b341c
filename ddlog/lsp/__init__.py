"""The editor's server: the language server protocol over what the checker knows.

    text --parse--> occurrences of names --find--> declarations     (navigation, renaming, calls, outline)
    text with its imports --check--> errors, types of variables     (diagnostics, corrections, hints, hover)
    declarations that an edit can change --check--> their errors    (diagnostics of large programs, at once)
    profile beside the program --> rows, time, orders of joins      (lenses, hints)

`occurrences` are the names of a syntax tree with their places. A document is parsed in `pieces`, of which an
edit changes one or two, and checked in a process of its own (`checking`), so that an answer never waits for
a check. `analysis` is what is known of one version of a document. Every answer is a function of an analysis
and a place, in the file of its subject, and speaks of places as the rest of ddlog does; only `server` and
`documents` know the protocol. No code beside a program is run.
"""
