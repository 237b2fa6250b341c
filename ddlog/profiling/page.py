"""A profile as one page of HTML, which needs nothing else: tables that can be sorted, a flame graph, and the
time of each commit. Wide things are folded at the width of a telephone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from ..engine.joinplan import JoinPlan, LookUpRows
from .costs import Measurements, OperatorCost, Round, StratumCost, seconds_text
from .flame import Frame, flame
from .pagestyle import SCRIPT, STYLE
from .plot import latency

_ROUNDS = 200  # of a recursion that are shown
_PLANS = 40  # of joins that are shown
_EPOCHS = 200  # whose decisions are shown, the last ones


def page(profile: Measurements) -> str:
    """The page of a profile."""
    title = f"Profile of {profile.program}"
    parts = (
        f"<h1>{escape(title)}</h1>",
        _summary(profile),
        *_section("Strata, rules and steps", [flame(_frames(profile.strata, profile.plans or ()))]),
        *_section("Time of each commit", [latency(profile.epochs)] if len(profile.epochs) > 1 else []),
        *_section("Rules and operators", [_operators(profile.operators)]),
        *_section("Strata", _strata(profile.strata)),
        *_section("Relations", [_relations(profile)]),
        *_section("Plans of joins", _plans(profile.plans or ())),
        *_section("Recursions by commit", _decisions(profile)),
        *_section("Memory", _memory(profile)),
        *_section("The slowest commits", _slowest(profile)),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<script>{SCRIPT}</script>\n</body></html>\n"
    )


def _summary(profile: Measurements) -> str:
    commits = f"{profile.commits:,} commit{'' if profile.commits == 1 else 's'}"
    facts = [commits, seconds_text(profile.seconds), profile.engine]
    if profile.memory is not None:
        facts.append(f"{_bytes(sum(each.bytes for each in profile.memory))} stored")
    facts += (f"{each.name} {seconds_text(each.seconds)}" for each in profile.phases)
    return f'<p class="facts">{escape(" · ".join(facts))}</p>'


def _section(title: str, contents: Sequence[str]) -> Iterator[str]:
    if contents:
        yield f"<section><h2>{escape(title)}</h2>"
        yield from contents
        yield "</section>"


def _frames(strata: Iterable[StratumCost], plans: Iterable[JoinPlan] = ()) -> list[Frame]:
    """Strata, in them rules, in them operators, and in these the steps of plans."""
    steps: dict[str, dict[str, float]] = {}
    for plan in plans:
        spent = steps.setdefault(plan.rule, {})
        first = _tested(f"from {plan.start or 'nothing'}", plan.tests)
        for name, seconds in (
            (first, plan.seconds),
            *((_step(each), each.seconds) for each in plan.look_ups),
        ):
            spent[name] = spent.get(name, 0.0) + seconds
    return [Frame(each.name, each.seconds, _rules(each.operators, steps)) for each in strata]


def _rules(operators: Iterable[OperatorCost], steps: Mapping[str, Mapping[str, float]]) -> list[Frame]:
    by_text: dict[str, list[OperatorCost]] = {}
    for each in operators:
        by_text.setdefault(each.text, []).append(each)
    return [
        Frame(
            text,
            sum(each.seconds for each in found),
            [Frame(each.operator, each.seconds, _steps(each, steps.get(text, {}))) for each in found],
        )
        for text, found in by_text.items()
    ]


def _steps(operator: OperatorCost, steps: Mapping[str, float]) -> list[Frame]:
    """The steps of a join. Those of few rows are timed by samples, so their sum may seem too long."""
    if operator.operator not in ("rule", "join"):
        return []
    share = min(1.0, operator.seconds / (sum(steps.values()) or 1.0))
    return [Frame(name, seconds * share, []) for name, seconds in steps.items() if seconds]


# ------------------------------------------------------------- tables


def _table(heads: Sequence[str], rows: Iterable[Sequence[tuple[str, float | None] | str]]) -> str:
    """A table. A cell is a text, or a text with the number that it is sorted by."""
    rows = list(rows)
    figures = [any(isinstance(row[at], tuple) for row in rows) for at in range(len(heads))]
    out = [
        f"<th tabindex=0{' class=n' if of_numbers else ''}>{escape(head)}</th>"
        for head, of_numbers in zip(heads, figures, strict=True)
    ]
    lines = [f'<div class="wide"><table><thead><tr>{"".join(out)}</tr></thead><tbody>']
    for row in rows:
        cells = []
        for head, cell in zip(heads, row, strict=True):
            label = f'data-label="{escape(head)}"'
            if not cell:
                cells.append("<td></td>")
            elif isinstance(cell, str):
                cells.append(f"<td {label}><code>{escape(cell)}</code></td>")
            else:
                text, number = cell
                cells.append(
                    f'<td class="n" {label} data-n="{-1 if number is None else number}">{escape(text)}</td>'
                )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "".join([*lines, "</tbody></table></div>"])


def _operators(operators: Sequence[OperatorCost]) -> str:
    heads = ("Rule", "Place", "OperatorCost", "Time", "Calls", "Rows in", "Rows out", "Duplicates")
    return _table(
        heads,
        (
            (
                each.text,
                each.place,
                each.operator,
                _time(each.seconds),
                _count(each.calls),
                _count(each.rows_in),
                _count(each.rows_out),
                _count(each.duplicates),
            )
            for each in operators
        ),
    )


def _strata(strata: Sequence[StratumCost]) -> list[str]:
    heads = ("Relations", "Recursive", "Time", "Rounds", "New rows", "Duplicates")
    parts = [
        _table(
            heads,
            (
                (
                    each.name,
                    "yes" if each.recursive else "no",
                    _time(each.seconds),
                    _count(len(each.rounds) if each.recursive else None),
                    _count(each.rows_out),
                    _count(each.duplicates),
                )
                for each in strata
            ),
        )
    ]
    for each in strata:
        if each.rounds:
            parts.append(f"<details><summary>Rounds of {escape(each.name)}</summary>{_rounds(each.rounds)}")
            parts.append("</details>")
    return parts


def _rounds(rounds: Sequence[Round]) -> str:
    most = max(max(each.derived, each.rows or 0) for each in rounds) or 1
    lines = []
    for each in rounds[:_ROUNDS]:
        new, derived = 100 * (each.rows or 0) / most, 100 * each.derived / most
        told = f"{each.derived:,} derived" + ("" if each.rows is None else f", {each.rows:,} new")
        lines.append(
            f'<div class="round"><span>{each.round}</span><span class="bars"><i style="width:{derived:.1f}%">'
            f'</i><b style="width:{new:.1f}%"></b></span>'
            f"<span>{told}, {seconds_text(each.seconds)}</span></div>"
        )
    if len(rounds) > _ROUNDS:
        lines.append(f"<p>and {len(rounds) - _ROUNDS:,} more rounds</p>")
    return "".join(lines)


def _relations(profile: Measurements) -> str:
    spent: dict[str, float] = {}
    for each in profile.operators:
        spent[each.relation] = spent.get(each.relation, 0.0) + each.seconds
    return _table(
        ("Relation", "Rows", "Time", "Bytes"),
        (
            (each.name, _count(each.rows), _time(spent.get(each.name, 0.0)), _size(each.bytes))
            for each in sorted(profile.relations, key=lambda each: -each.rows)
        ),
    )


def _plans(plans: Sequence[JoinPlan]) -> list[str]:
    parts = []
    for plan in plans[:_PLANS]:
        spent = f", {seconds_text(plan.spent)}" if plan.spent else ""
        heading = f"{plan.rule} — from {plan.start or 'nothing'}, {plan.moved:,.0f} rows moved{spent}"
        tests = [(_tested(plan.start or "nothing", plan.tests), _time(plan.seconds), "", "", "", "")]
        steps = _table(
            ("Step", "Time", "Rows in", "Expected", "Given", "Why"),
            (
                *(tests if plan.tests else ()),
                *(
                    (
                        "· " * each.depth + _step(each),
                        _time(each.seconds),
                        _count(each.rows),
                        _count(each.expected),
                        _count(each.given),
                        each.why,
                    )
                    for each in plan.look_ups
                ),
            ),
        )
        where = f"<p>{escape(plan.place)}</p>" if plan.place else ""
        parts.append(f"<details><summary>{escape(heading)}</summary>{where}{steps}</details>")
    if len(plans) > _PLANS:
        parts.append(f"<p>and {len(plans) - _PLANS:,} more</p>")
    return parts


def _step(each: LookUpRows) -> str:
    return _tested(f"{each.term} by {', '.join(each.keys)}" if each.keys else each.term, each.tests)


def _tested(step: str, tests: Sequence[str]) -> str:
    return f"{step}; then {', '.join(tests)}" if tests else step


def _decisions(profile: Measurements) -> list[str]:
    if not profile.decisions:
        return []
    rows = (
        (
            (str(each.epoch), each.epoch),
            ", ".join(each.relations),
            each.way,
            each.why,
            _count(each.changed),
            _time(each.expected_maintain),
            _time(each.expected_recompute),
            _time(each.seconds),
        )
        for each in profile.decisions[-_EPOCHS:]
    )
    heads = ("Commit", "Relations", "Way", "Why", "Rows changed", "Expected", "Expected anew", "Time")
    return [_table(heads, rows)]


def _memory(profile: Measurements) -> list[str]:
    if profile.memory is None:
        return ["<p>Not known on Spark, whose own pages show the tables that it caches.</p>"]
    rows = (
        (
            each.name or "(internal)",
            each.kind,
            _count(each.rows),
            _size(each.bytes),
            ", ".join(f"{name} {_bytes(size)}" for name, size in each.parts.items()),
        )
        for each in profile.memory
    )
    return [_table(("Name", "Kind", "Rows", "Bytes", "Parts"), rows)]


def _slowest(profile: Measurements) -> list[str]:
    parts = []
    for each in profile.slowest:
        epoch = each.epoch
        heading = f"commit {epoch.number:,}: {seconds_text(epoch.seconds)}{epoch.rows}"
        operators = sorted(
            (operator for stratum in each.strata for operator in stratum.operators),
            key=lambda operator: -operator.seconds,
        )
        parts.append(
            f"<details><summary>{escape(heading)}</summary>{flame(_frames(each.strata))}"
            f"{_operators(operators[:20])}</details>"
        )
    return parts


def _time(seconds: float | None) -> tuple[str, float | None]:
    return ("", None) if seconds is None else (seconds_text(seconds), seconds)


def _count(number: float | None) -> tuple[str, float | None]:
    return ("", None) if number is None else (f"{number:,.0f}", number)


def _size(number: int | None) -> tuple[str, float | None]:
    return ("", None) if number is None else (_bytes(number), number)


def _bytes(number: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} GiB"
