"""Rows for the benchmarks of circuits: transactions between accounts, and triples under an ontology."""

from __future__ import annotations

from random import Random

Triple = tuple[int, int, int]


def transfers(count: int, accounts: int) -> list[tuple[int, int, int, int]]:
    """Transactions (id, from, to, amount) between accounts."""
    random = Random(7)
    return [
        (number, random.randrange(accounts), random.randrange(accounts), random.randrange(1, 100))
        for number in range(count)
    ]


def rdf_facts(count: int, classes: int) -> tuple[list[Triple], list[Triple]]:
    """An ontology, a chain of classes and one of properties with domains and ranges, and facts over the
    properties. Predicates 0 to 4 are subClassOf, subPropertyOf, domain, range and type."""
    random = Random(7)
    schema = [(100 + k, 0, 101 + k) for k in range(classes)]
    schema += [(10 + k, 1, 11 + k) for k in range(4)]
    schema += [(10 + k, 2, 100 + k % classes) for k in range(5)]
    schema += [(10 + k, 3, 101 + k % classes) for k in range(5)]
    facts = [
        (1000 + random.randrange(count), 10 + random.randrange(5), 1000 + random.randrange(count))
        for _ in range(count)
    ]
    return schema, list(dict.fromkeys(facts))
