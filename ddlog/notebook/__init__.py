"""Programs in the cells of IPython and Jupyter: `%load_ext ddlog`, then `%%ddlog` and `%ddlog`.

A cell is a part of the program, or has commands or a query (`answers`). The program of a session is made of
its cells (`cells`): a cell that runs again, perhaps with another text, replaces the part that it was. Answers
have their forms themselves, by `_repr_mimebundle_`.
"""
