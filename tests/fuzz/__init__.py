"""Inputs that nobody would write: they are read or refused with a message, and no process ends by a signal.

`test_fuzz.py` changes inputs of each kind (`kinds.py`) at random (`mutating.py`), and gives them to a process
that carries out one command line after another (`worker.py`, `serving.py`): a signal that ends it is noticed,
and so is a command that does not end. An input that was handled wrongly goes into `found/`, named KIND-WHAT
with the ending of its kind, once the fault is mended: the files there are tried in every run, and changed.

`test_sizes.py` doubles the sizes of inputs, and compares the work that they take.
"""
