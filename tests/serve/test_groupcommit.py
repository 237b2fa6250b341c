"""Transactions that are committed together end as if each were committed alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.serve.groupcommit import Answer, Committer, Waiting
from ddlog.serve.transactions import Keys, read_json
from tests.serve.conftest import PROGRAM
from tests.trying import trying

letters = st.sampled_from(["", "a", "b"])
link = st.tuples(letters, letters).map(list)
update = st.one_of(
    st.tuples(st.sampled_from(["insert", "delete"]), link).map(lambda each: {each[0]: {"Link": each[1]}}),
    st.tuples(st.sampled_from(["insert", "delete"]), letters).map(
        lambda each: {each[0]: {"Seen": [each[1]]}}
    ),
    st.tuples(st.integers(0, 1), letters).map(lambda each: {"insert": {"Node": list(each)}}),
    st.tuples(st.integers(0, 1), letters).map(lambda each: {"insert_or_update": {"Node": list(each)}}),
    st.integers(0, 1).map(lambda id: {"delete_key": {"Node": id}}),
    st.tuples(st.integers(0, 1), letters).map(
        lambda each: {"modify": {"Node": {"key": each[0], "set": {"name": each[1]}}}}
    ),
    st.just({"clear": "Link"}),
)
transactions = st.lists(
    st.tuples(
        st.lists(update, min_size=1, max_size=3), st.sampled_from([None, None, "1", "2"]), st.booleans()
    ),
    max_size=8,
)


@pytest.fixture(scope="module")
def program() -> ddlog.Program:
    return ddlog.compile(PROGRAM)


def _run(program: ddlog.Program, batches: list[list[Any]]) -> tuple[list[Any], dict[str, list[Any]]]:
    """The end of each transaction, and the rows of all relations after them."""
    import json

    ends: list[Any] = []
    with program.session() as session:
        committer, keys = Committer(session, lambda changes, count: 0, lambda: 0), Keys(program)
        for batch in batches:
            waiting = []
            for updates, key, told in batch:
                made = read_json(program, json.dumps(updates))
                tell = (lambda changes: str(changes)) if told else None
                waiting.append(Waiting(made.apply, made.touches(keys), key, tell))
            committer.commit(waiting, outcomes := [])
            found = dict(outcomes)
            assert found.keys() == set(waiting)
            ends += [_shown(found[each]) for each in waiting]
        assert not session.in_transaction
        names = [name for name, each in program.relations.items() if not each.hidden]
        return ends, {name: sorted(map(str, session[name].weighted())) for name in names}


def _shown(outcome: Any) -> Any:
    if isinstance(outcome, Answer):
        return outcome.changes, outcome.repeated
    assert isinstance(outcome, DDlogError), outcome
    return str(outcome)


SEEN, LINK = [{"insert": {"Seen": ["b"]}}], [{"insert": {"Link": ["", ""]}}]


@trying(20)
@given(transactions)
@example([(SEEN, None, False), (SEEN, "1", False), (LINK, "1", False)])  # one waits, and another has its key
def test_together_is_as_one_after_the_other(program: ddlog.Program, given: list[Any]) -> None:
    assert _run(program, [given]) == _run(program, [[each] for each in given])


def test_those_that_do_not_conflict_are_one_epoch(program: ddlog.Program) -> None:
    with program.session() as session:
        epochs: list[int] = []
        committer, keys = (
            Committer(session, lambda changes, count: epochs.append(count) or 0, lambda: 0),
            Keys(program),
        )
        texts = [
            '{"insert": {"Link": ["a", "b"]}}',
            '{"insert": {"Link": ["b", "c"]}}',
            '{"delete": {"Link": ["a", "b"]}}',
        ]
        waiting = [
            Waiting(made.apply, made.touches(keys), None, None)
            for made in (read_json(program, text) for text in texts)
        ]
        committer.commit(waiting, [])
    assert epochs == [2, 1]
