"""A session that many people and programs use, over HTTP.

    main thread: the owner           one thread with an event loop: the server
    ------------------------         -----------------------------------------
    session, commits, questions  <-- jobs: transactions, questions   <-- requests
    changes of each epoch        --> feed: one text for all          --> subscribers

One thread owns the session (`owner.py`), so the server has no semantics of its own: a transaction is a
list of the updates of change files, a question a call of a method of `Session`. All transactions that wait
are committed as one epoch if they do not conflict (`groupcommit.py`). Readers who come while it commits ask a
copy of the process, which is at the last whole epoch (`copies.py`). A subscriber takes the changes of epochs
from the feed (`feed.py`), and those that it is too slow for are added up.

The owner is the main thread, since a question that takes too long is ended by a signal at a safe point, as
Ctrl-C ends a query of the REPL.
"""
