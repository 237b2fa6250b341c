"""Demand: a program that evaluates what is asked of it and no more (magic sets).

A relation R of which only the rows with some values in some columns are asked becomes two relations. The
demand holds these values, and the part of R holds at least the rows that have them:

    R$bf$demand(x)          R$bf(x, y) :- R$bf$demand(x), …

The demands come from the rules that read R: each term of a rule is asked for the values that the terms before
it bind (`sideways.py`). The rewriting is one of rules to rules (`adornment.py`), so everything after it, the
increments above all, is that of any program.
"""
