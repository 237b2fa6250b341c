"""Durable states: what is tested, and how.

`test_same.py` compares sessions that are closed and opened after any epoch with sessions that never end, on
random transactions with keys, multisets, streams, delays, windows, recursion, groups and negation.

**Crashes.** `recording.py` records what a session writes: SQLite's side by a VFS of `apsw`, the output folder
by a shim. `disk.py` makes of the first N events the folders that a crash can leave: all that was written,
only what was synced, a part cut off in the middle of a write, or any of the sectors of 512 bytes and any part
of the changed names. In each of them a new session begins. Its state is a prefix of the script that has each
commit that returned, the next transactions have the changes of a session without a state, and the output
folder has each epoch once.

    python -m tests.state.whole crashes 20  # at each write and sync of 20 scripts, and in runs after a crash
    python -m tests.state.whole damage 1    # each byte of a state and of SQLite's log changed, files cut
    python -m tests.state.whole kills 1000  # processes killed at any time, also two that fight for a state
    python -m tests.state.whole soak 1000000 # one session: memory, files, latency

With one script of 10 transactions in each durability, 7,771 crashes of 10,255 writes and syncs were checked,
and 2,200 kills, 1,056 of them of two processes, with 15,679 commits that had returned. Each of the 337,000
bytes of two states and of SQLite's log was changed, and these were cut short at 17,000 lengths: 236,220 times
an error said so, and the rest was of no account. A session of 1,000,000 transactions of one to ten rows, with
recursion and groups, had 358 MB, files of 18 MB and commits of 1.88 ms of processor time at a tenth, and 384
MB, 14 MB and 1.83 ms in the end. `tests/bench/life.py` commits one row a million times: 148 MiB and 0.33 ms
after a tenth, 150 MiB and 0.32 ms in the end; with a state 261 MiB and 9.9 MiB of files after 100,000, 263
MiB and 11.4 MiB after 500,000. A day of a clock with ten events a second (`tests/bench/windows.py --events
864000`) had 192 MiB after a tenth and 195 MiB in the end.

**Folders.** `tests/spark/test_folder.py` ends a script at each write, rename and deletion, before it or in
the middle; `test_folder_log.py` does so with commits that wait. `test_folder_past.py` and
`test_folder_migration.py` compare the past, and what is migrated, with those of a state in a file.
`test_migration.py` lets compactions and migrations crash in the same way. `tests/fuzz/lies.py` makes states
whose checksums are right and whose contents are not.
"""
