"""What the programs in `programs/` must compute, worked out a second time in plain Python.

    python -m tests.programs.programs_oracle     write programs/*/expected/ from facts/ and updates.dat

Each program has a function from its facts to its outputs that shares nothing with the engine: sets,
dictionaries, depth-first searches, networkx. `test_programs.py` compares what it gives with `ddlog run`.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import networkx as nx

from .programs_text import Con, Facts, Grouped, Row, changes, columns_of, read_facts, table, transactions

PROGRAMS = Path(__file__).parents[2] / "programs"

# ---- Shared pieces


def closure(edges: Iterable[tuple[Any, Any]]) -> set[tuple[Any, Any]]:
    """All pairs joined by a path of one edge or more."""
    following = defaultdict(list)
    for left, right in edges:
        following[left].append(right)
    pairs = set()
    for start in following:
        stack = list(following[start])
        seen = set()
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(following.get(node, ()))
        pairs |= {(start, node) for node in seen}
    return pairs


def grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """The distinct values of each key, in order."""
    groups: dict[Any, set[Any]] = defaultdict(set)
    for key, value in pairs:
        groups[key].add(value)
    return {key: sorted(values) for key, values in groups.items()}


def counts(pairs: Iterable[tuple[Any, Any]]) -> set[Row]:
    """Each key with the number of its distinct values."""
    return {(key, len(values)) for key, values in grouped(pairs).items()}


# ---- The programs


def routes(f: Facts) -> Facts:
    """The first program of the README."""
    return {
        "Reach": closure((x, y) for x, y, up in f["Link"] if up),
        "Degree": counts((x, y) for x, y, _ in f["Link"]),
    }


def people(f: Facts) -> Facts:
    """The paper's running example."""
    age = f["People"]
    runners, swimmers = {n for (n,) in f["Runner"]}, {n for (n,) in f["Swimmer"]}
    language = {(n, word) for n, words in f["Speaks"] for word in words}
    lives = {(n, a, c) for n, a in age for m, c in f["Lives"] if n == m}
    by_age = grouped((a, n) for n, a in age)
    census = grouped((c, (n, a)) for n, a, c in lives)
    reaches = closure(f["Knows"])
    return {
        "Names": {(n,) for n, _ in age},
        "Athlete": {(n,) for n in runners | swimmers},
        "Language": language,
        "NextBirthday": {(n, a + 1) for n, a in age},
        "Minor": {(n, a) for n, a in age if a < 18},
        "Major": {(n, a) for n, a in age if a >= 18},
        "Duathlete": {(n,) for n in runners & swimmers},
        "NoRunner": {(n,) for n, _ in age if n not in runners},
        "USAges": {(a,) for _, a, c in lives if c == "USA"},
        "AdultsAbroad": {(n, c) for n, a, c in lives if a >= 18 and c != "USA"},
        "CanTalk": {(x, y, k) for x, k in language for y, m in language if k == m and x < y},
        "Match": {(r, s) for r in runners for s in swimmers},
        "ByAge": {(Grouped(a, tuple(names)),) for a, names in by_age.items()},
        "NamesByAge": {(f"{a}: [" + ", ".join(names) + "]",) for a, names in by_age.items()},
        "Census": {(c, len(v), sum(a for _, a in v) / len(v)) for c, v in census.items()},
        "OldestAge": {(max(a for _, a in age),)} if age else set(),
        "Reaches": reaches,
        "Stranger": {(x, y) for x, _ in age for y, _ in age if x != y and (x, y) not in reaches},
    }


def same_generation(f: Facts) -> Facts:
    """Generations, by the number of steps below every ancestor."""
    graph = nx.DiGraph(f["Parent"])
    people = sorted(graph.nodes)
    walks: dict[tuple[str, str], set[int]] = defaultdict(set)
    for start in people:
        level, steps = {start}, 0
        while level:
            level, steps = {child for node in level for child in graph.successors(node)}, steps + 1
            for node in level:
                walks[start, node].add(steps)
    same: set[Row] = set()
    fresh = {(x, y) for p in people for x in graph.successors(p) for y in graph.successors(p) if x != y}
    while fresh:
        same |= fresh
        step = {(x, y) for a, b in fresh for x in graph.successors(a) for y in graph.successors(b) if x != y}
        fresh = step - same
    related: set[Row] = {
        (a, d, Con(2, "Descent", (("steps", min(steps)),))) for (a, d), steps in walks.items()
    }
    for x in people:
        for y in people:
            if x < y and (x, y) not in walks and (y, x) not in walks:
                common = [
                    (m + n, m, n)
                    for a in people
                    for m in walks.get((a, x), ())
                    for n in walks.get((a, y), ())
                ]
                if common:
                    related.add((x, y, kinship(*min(common)[1:])))
    couples = {
        (x, y) for _, c in f["Parent"] for x in graph.predecessors(c) for y in graph.predecessors(c) if x < y
    }
    founders = [p for p in people if graph.out_degree(p) and not graph.in_degree(p)]
    return {
        "SameGeneration": same,
        "Related": related,
        "RelatedCouple": {(x, y, f"{x} and {y}: {told(k)}") for x, y, k in related if (x, y) in couples},
        "GenerationSize": {
            (a, n, sum(1 for (b, _), steps in walks.items() if a == b and n in steps))
            for a in founders
            for n in range(1, 20)
            if any(n in walks[a, d] for d in people if (a, d) in walks)
        },
    }


def kinship(m: int, n: int) -> Con:
    """The name of the relation of two people m and n steps below a common ancestor."""
    near, far = sorted((m, n))
    if near == far == 1:
        return Con(0, "Siblings")
    if near == 1:
        return Con(3, "Uncle", (("removed", far - 1),))
    return Con(1, "Cousins", (("degree", near - 1), ("removed", far - near)))


def told(kin: Con) -> str:
    """A kinship in words."""
    values = [value for _, value in kin.fields]
    match kin.name, values:
        case "Siblings", _:
            return "siblings"
        case "Descent", [steps]:
            return "parent and child" if steps == 1 else f"ancestor {steps} generations up"
        case "Uncle", [removed]:
            aunt = "uncle or aunt and nephew or niece"
            return aunt if removed == 1 else f"great-uncle or -aunt, {removed} generations apart"
        case _, [degree, removed]:
            return f"cousins of degree {degree}" + (f", {removed} times removed" if removed else "")
    raise AssertionError(kin)


def shortest_path(f: Facts) -> Facts:
    """Shortest ways by networkx, cut off at the limit."""
    graph = nx.DiGraph()
    roads: dict[tuple[str, str], set[int]] = defaultdict(set)
    for x, y, km in f["Road"]:
        roads[x, y].add(km)
        roads[y, x].add(km)
    for (x, y), lengths in roads.items():
        graph.add_edge(x, y, km=min(lengths))
    limit = max((km for (km,) in f["Limit"]), default=-1)
    shortest = {}
    for x, (lengths, _) in nx.all_pairs_dijkstra(graph, weight="km"):
        shortest.update({(x, y): km for y, km in lengths.items() if x != y and km <= limit})
    following: set[Row] = set()
    for (x, y), km in shortest.items():
        for (a, via), lengths in roads.items():
            for first in lengths:
                if a == x and ((via == y and first == km) or first + shortest.get((via, y), limit + 1) == km):
                    following.add((x, y, via))
    central = set()
    for x in graph.nodes:
        reached = {y: km for (a, y), km in shortest.items() if a == x}
        if reached:
            far = max(reached.values())
            last = min(y for y, km in reached.items() if km == far)
            mean = sum(reached.values()) / len(reached)
            fields = (("towns", len(reached)), ("mean_km", mean), ("farthest", last), ("km", far))
            central.add((x, Con(0, "Centrality", fields)))
    return {
        "Shortest": {(x, y, km) for (x, y), km in shortest.items()},
        "NextTown": following,
        "Central": central,
        "TooFar": {(x, y) for x in graph.nodes for y in graph.nodes if x < y and (x, y) not in shortest},
    }


def points_to(f: Facts) -> Facts:
    """Andersen's analysis by a worklist over whole sets."""
    points: dict[str, set[str]] = defaultdict(set)
    for _, y, x in f["AddressOf"]:
        points[y].add(x)
    grown = True
    while grown:
        before = sum(map(len, points.values()))
        for _, y, x in f["Copy"]:
            points[y] |= points[x]
        for _, y, x in f["Load"]:
            points[y] |= set().union(*(points[w] for w in set(points[x])))
        for _, y, x in f["Store"]:
            for w in set(points[y]):
                points[w] |= points[x]
        grown = sum(map(len, points.values())) > before
    pairs = {(p, v) for p, targets in points.items() for v in targets}
    reads = {(line, v) for line, _, p in f["Load"] for v in points[p]}
    writes = {(line, v) for line, p, _ in f["Store"] for v in points[p]}
    effects = [(line, v, "r") for line, v in reads] + [(line, v, "w") for line, v in writes]
    dereferences = {(n, p) for n, _, p in f["Load"]} | {(n, p) for n, p, _ in f["Store"]}
    sources = grouped([(y, x) for _, y, x in f["Copy"]] + [(y, "*" + x) for _, y, x in f["Load"]])
    bad = {(n, p) for n, p in dereferences if not points[p]}
    return {
        "PointsTo": pairs,
        "MayAlias": {(p, q) for p in points for q in points if p < q and points[p] & points[q]},
        "EffectOf": {(n, Con(0, "Reads", (("variable", v),))) for n, v in reads}
        | {(n, Con(1, "Writes", (("variable", v),))) for n, v in writes},
        "Conflict": {
            (m, n, v) for m, v, a in effects for n, w, b in effects if m < n and v == w and "w" in a + b
        },
        "BadDereference": {
            (
                n,
                p,
                Con(1, "SetFromNothing", (("sources", tuple(sources[p])),))
                if p in sources
                else Con(0, "NeverSet"),
            )
            for n, p in bad
        },
        "SetSize": counts((len(targets), p) for p, targets in points.items() if targets),
    }


def package_deps(f: Facts) -> Facts:
    """Requirements as graphs; versions compared as numbers."""
    version: dict[str, str] = dict(f["Distribution"])
    needs = {(x, extra, y) for x, extra, y in f["Requirement"] if x in version}
    hard = closure((x, y) for x, extra, y in needs if not extra and y in version)
    any_link = nx.DiGraph([(x, y) for x, _, y in needs if y in version])
    roots = {x for (x,) in f["Root"]}
    needed = {x for x in roots if x in version} | {y for x, y in hard if x in roots}
    goes = {
        (r, x)
        for r, x in hard
        if r in roots and x not in roots and not any((o, x) in hard for o in roots if o != r)
    }
    impact: dict[str, int] = dict(counts((y, x) for x, y in hard))
    return {
        "Transitive": hard,
        "Missing": {(x, y) for x, extra, y in needs if not extra and y not in version},
        "Conflict": {
            (
                x,
                Con(1, "Optional", (("extra", extra),)) if extra else Con(0, "Always"),
                y,
                operator + bound,
                version[y],
            )
            for x, extra, y, operator, bound in f["Specifier"]
            if x in version and y in version and not satisfies(version[y], operator, bound)
        },
        "Cycle": {(tuple(sorted(c)),) for c in nx.strongly_connected_components(any_link) if len(c) > 1},
        "HardCycle": {(x,) for x, y in hard if x == y},
        "Unused": {(x,) for x in version if x not in needed},
        "Breaks": {(y, tuple(xs)) for y, xs in grouped((y, x) for x, y in hard if x in roots).items()},
        "Impact": {(x, impact.get(x, 0)) for x in version},
        "GoesWith": {(r, len(names), ", ".join(names)) for r, names in grouped(goes).items()},
    }


def satisfies(version: str, operator: str, bound: str) -> bool:
    """PEP 440 on plain releases, by padding with zeros to one length."""
    have = [int(n) for n in re.match(r"\d+(\.\d+)*", version)[0].split(".")]  # type: ignore[index]
    want = [int(n) for n in bound.removesuffix(".*").split(".")]
    padded = have + [0] * 9
    full, wanted = padded[:9], (want + [0] * 9)[:9]
    prefix = padded[: len(want)] == want
    match operator:
        case "==":
            return prefix if bound.endswith(".*") else full == wanted
        case "!=":
            return not (prefix if bound.endswith(".*") else full == wanted)
        case "~=":
            return full >= wanted and padded[: len(want) - 1] == want[:-1]
    return {"<": full < wanted, "<=": full <= wanted, ">": full > wanted, ">=": full >= wanted}[operator]


def network(f: Facts) -> Facts:
    """One packet at a time, hop by hop, with the ipaddress module."""

    def address(word: str) -> Any:
        try:
            return ipaddress.IPv4Address(word)
        except ValueError:
            return None

    def prefix(word: str) -> Any:
        try:
            return ipaddress.IPv4Network("0.0.0.0/0" if word == "any" else word, strict=False)
        except ValueError:
            return None

    hosts = {h: (address(a), r) for h, a, r in f["Host"] if address(a)}
    up = set(f["Link"]) | {(b, a) for a, b in f["Link"]}
    best: dict[tuple[str, str], tuple[int, int, str]] = {}
    for r, word, following, metric in f["Route"]:
        for d, (a, _) in hosts.items():
            if (r, following) in up and a in prefix(word):
                choice = (-prefix(word).prefixlen, metric, following)
                best[r, d] = min(best.get((r, d), choice), choice)

    def denied(r: str, s: str, d: str) -> bool:
        entries = [
            (priority, permit)
            for at, priority, x, y, permit in f["Acl"]
            if at == r and hosts[s][0] in prefix(x) and hosts[d][0] in prefix(y)
        ]
        return bool(entries) and not min(entries)[1]

    reached, lost, load = set(), set(), set()
    for s in hosts:
        for d in hosts.keys() - {s}:
            at = hosts[s][1]
            path: list[str] = []
            while at not in path:
                path.append(at)
                if denied(at, s, d):
                    lost.add((s, d, at, Con(0, "Forbidden")))
                elif at == hosts[d][1]:
                    reached.add((s, d))
                elif (at, d) not in best:
                    lost.add((s, d, at, Con(1, "NoRoute")))
                else:
                    at = best[at, d][2]
                    continue
                break
            else:
                lost.add((s, d, hosts[s][1], Con(2, "Loops")))
            load |= {(r, (s, d)) for r in path}
    places = [(f"host {h}", a, address) for h, a, _ in f["Host"]]
    places += [(f"route of {r}", p, prefix) for r, p, _, _ in f["Route"]]
    places += [(f"access list of {r}", p, prefix) for r, _, *ends, _ in f["Acl"] for p in ends]
    return {
        "BadAddress": {(place, word) for place, word, parse in places if parse(word) is None},
        "BestRoute": {(r, d, choice[2]) for (r, d), choice in best.items()},
        "Reachable": reached,
        "Lost": lost,
        "Exposure": {(d, len(xs), ", ".join(xs)) for d, xs in grouped((d, s) for s, d in reached).items()},
        "Unprotected": {(h,) for h, (_, r) in hosts.items() if r not in {row[0] for row in f["Acl"]}},
        "RouterLoad": counts(load),
    }


def call_graph(f: Facts) -> Facts:
    """Calls resolved class by class, then graph searches."""
    methods = {(c, name): d for c, name, d in f["Method"]}
    own = grouped((((c, name), d)) for c, name, d in f["Method"])
    bases = grouped((c, (k, b)) for c, k, b in f["Base"])
    above = nx.DiGraph((c, b) for c, _, b in f["Base"])
    classes = {c for c, _ in f["Class"]}
    home = {name: m for name, m, _ in f["Function"]}

    def has(c: str, name: str) -> bool:
        every = {c, *(nx.descendants(above, c) if c in above else ())}
        return any((each, name) in methods for each in every)

    def first_bases(c: str, name: str) -> list[str]:
        found = bases.get(c, [])
        return [b for k, b in found if not any(j < k and has(other, name) for j, other in found)]

    def resolve(c: str, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        if (c, name) in methods:
            return set(own[c, name])
        if c in seen:
            return set()
        return set().union(*(resolve(b, name, seen | {c}) for b in first_bases(c, name)))

    calls = {(x, y) for x, y in f["Call"] if y not in classes}
    calls |= {(x, z) for x, y in f["Call"] if y in classes for z in resolve(y, "__init__")}
    for x, receiver, c, name in f["MethodCall"]:
        starts = [c] if receiver == "self" else first_bases(c, name)
        calls |= {(x, y) for start in starts for y in resolve(start, name)}
    graph = nx.DiGraph(calls)

    shells = ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput")
    starters = re.compile(r"os\.(exec|spawn).*|subprocess\.(Popen|run|call|check_call|check_output)")
    can_run = set()
    for api in {y for _, y in f["Call"]}:
        if api in shells or starters.fullmatch(api):
            power = Con(0, "Shell", (("api", api),)) if api in shells else Con(1, "Program", (("api", api),))
            direct = {x for x, y in f["Call"] if y == api}
            for x in direct.union(*(nx.ancestors(graph, x) for x in direct if x in graph)):
                can_run.add((x, power))
    exposed = grouped((home[x], x) for x, _ in can_run if x in home)
    means = grouped((home[x], p.fields[0][1]) for x, p in can_run if x in home)

    groups = set()
    for component in nx.strongly_connected_components(graph):
        leader = min(component)
        if len(component) > 1 or graph.has_edge(leader, leader):
            groups.add((leader, tuple(sorted(component))))
    modules = {m for m, _ in f["Module"]}
    imports = nx.DiGraph([(m, n) for m, n in f["Import"] if n in modules])
    mentions = {(place, name) for _, place, name in f["Mention"]}
    places = defaultdict(set)
    for place, name in mentions:
        places[name].add(place)
    private = {
        name
        for name in home
        if (bare := name.rpartition(".")[2]).startswith("_") and not bare.endswith("__") and bare != "_"
    }
    ranked = sorted(
        ((len(v), g) for g, v in grouped((y, x) for x, y in calls if x != y).items()), reverse=True
    )
    cross = {(home[y], home[x], x, y) for x, y in calls if x in home and y in home and home[x] != home[y]}
    fan_modules: dict[str, int] = dict(counts((n, m) for n, m, _, _ in cross))
    fan_calls: dict[str, int] = dict(counts((n, (x, y)) for n, _, x, y in cross))
    return {
        "CanRun": can_run,
        "Exposed": {(m, len(xs), " ".join(means[m])) for m, xs in exposed.items()},
        "RecursionGroup": groups,
        "ImportCycle": {(tuple(sorted(c)),) for c in nx.strongly_connected_components(imports) if len(c) > 1},
        "DeadPrivate": {(x, home[x]) for x in private if not places[x.rpartition(".")[2]] - {x}},
        "MostCalled": {(i + 1, name, n) for i, (n, name) in enumerate(ranked[:12])},
        "FanIn": {(n, fan_modules.get(n, 0), fan_calls.get(n, 0)) for n in modules | fan_modules.keys()},
    }


def holdings(f: Facts) -> Facts:
    """Control by a growing set, people by search, the strongest chains by thresholds, houses by networkx."""
    people = {name for (name,) in f["Person"]}
    shares = f["Share"]
    companies = {company for _, company, _ in shares}
    holders = {holder for holder, _, _ in shares}
    return {
        "Controls": (control := {(h, c) for h in holders for c in _controlled(h, shares)}),
        "Free": {(c,) for c in companies if not any(b == c and a != c for a, b in control)},
        "Owners": {
            (c, tuple(owners))
            for c, owners in grouped(
                (c, h) for h, c in closure((h, c) for h, c, _ in shares) if h in people
            ).items()
        },
        "Strongest": {row for person in people for row in _strongest(person, shares)},
        "House": _houses(companies, [(a, b) for a, b in control if a not in people]),
    }


def _controlled(holder: str, shares: set[Row]) -> set[str]:
    """The companies that a holder controls."""
    found: set[str] = set()
    while True:
        votes: dict[str, int] = defaultdict(int)
        for other, company, percent in shares:
            if other == holder or other in found:
                votes[company] += percent
        if found == (found := {company for company, all_votes in votes.items() if all_votes > 50}):
            return found


def _strongest(person: str, shares: set[Row]) -> Iterable[Row]:
    """For each company the greatest percentage such that shares of that size and more lead to it."""
    width: dict[str, int] = {}
    for least in sorted({percent for _, _, percent in shares}):
        strong = closure((h, c) for h, c, percent in shares if percent >= least)
        width.update({company: least for holder, company in strong if holder == person})
    for company, best in width.items():
        over = [
            holder
            for holder, other, percent in shares
            if other == company
            and min(percent, percent if holder == person else width.get(holder, 0)) == best
        ]
        yield person, company, Con(0, "Chain", (("percent", best), ("last", min(over))))


def _houses(companies: set[str], control: list[tuple[str, str]]) -> set[Row]:
    graph = nx.Graph(control)
    graph.add_nodes_from(companies)
    houses = nx.connected_components(graph)
    return {(member, min(house & companies)) for house in houses for member in house}


ORACLES: dict[str, Callable[[Facts], Facts]] = {
    oracle.__name__: oracle
    for oracle in (
        routes,
        people,
        same_generation,
        shortest_path,
        points_to,
        package_deps,
        network,
        call_graph,
        holdings,
    )
}

# Columns that hold a collection, which the functions above give as a tuple.
COLLECTIONS = {
    ("call_graph", "RecursionGroup", 1),
    ("call_graph", "ImportCycle", 0),
    ("package_deps", "Cycle", 0),
    ("package_deps", "Breaks", 1),
    ("holdings", "Owners", 1),
}


def presented(program: str, outputs: Facts) -> Facts:
    """Outputs with their collections as lists, which are written between square brackets."""

    def value(relation: str, column: int, item: Any) -> Any:
        if isinstance(item, Con):
            fields = tuple(
                (name, list(field) if isinstance(field, tuple) else field) for name, field in item.fields
            )
            return Con(item.index, item.name, fields)
        return list(item) if (program, relation, column) in COLLECTIONS else item

    return {
        relation: [tuple(value(relation, i, item) for i, item in enumerate(row)) for row in rows]  # type: ignore[misc]
        for relation, rows in outputs.items()
    }


def expected(program: str) -> dict[str, str]:
    """The text of each file of the program's expected/ folder, by name."""
    directory = PROGRAMS / program
    columns = {
        relation: tuple(name for name, _ in typed)
        for relation, typed in columns_of(directory / f"{program}.dl", "output").items()
    }
    facts = read_facts(directory)
    state = presented(program, ORACLES[program](facts))
    files = {f"{relation}.csv": table(names, state[relation]) for relation, names in columns.items()}
    updates = ""
    for inputs in transactions((directory / "updates.dat").read_text(encoding="utf-8"), facts):
        after = presented(program, ORACLES[program](inputs))
        updates += changes(columns, state, after)
        state = after
    return {**files, "updates.txt": updates}


def main() -> None:
    """Write every expected/ folder."""
    for program in ORACLES:
        folder = PROGRAMS / program / "expected"
        folder.mkdir(exist_ok=True)
        for name, content in expected(program).items():
            (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
