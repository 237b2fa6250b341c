"""`%%ddlog` and `%ddlog` in IPython, and the forms of what they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import ddlog
from ddlog.sessions.results import display as shown

from .shell import Notebook

PATHS = """
input relation Edge(a: u32, b: u32)
output relation Reach(a: u32, b: u32)
Reach(a, b) :- Edge(a, b).
"""
EDGES = "start; insert Edge(1, 2), insert Edge(2, 3); commit;"


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    yield Notebook()
    InteractiveShell.clear_instance()


def test_cells_are_a_program(notebook: Notebook) -> None:
    assert notebook.texts(f"%%ddlog\n{PATHS}") == ""
    assert notebook.texts(f"%ddlog {EDGES}").splitlines()[0] == "Reach: +2"
    assert notebook.texts("%%ddlog\nReach(a, c) :- Reach(a, b), Edge(b, c).").splitlines()[-1] == "+1  1  3"
    assert notebook.texts("%ddlog ? Reach(1, x)") == "x\n─\n2\n3\n(2 rows)"
    assert "Reach\na  b\n────\n1  2\n" in notebook.texts("%ddlog dump")
    assert "at In[4]:1:1" in notebook.texts("%ddlog why Reach(1, 3)")
    assert "n0 = input Edge" in notebook.texts("%ddlog circuit")
    assert notebook.texts("session.insert('Edge', (3, 4)); session.commit()").startswith("Reach: +3")
    notebook.texts("%ddlog Edge(7, 8).\n%ddlog Edge(8, 9).", "lines")
    assert notebook.texts("%%ddlog\n/* more */ Edge(9, 1).", "comment").startswith("Reach: +")
    assert notebook.texts("%ddlog ? Reach(7, 9)") == "true"


def test_a_cell_that_runs_again_replaces_what_it_was(notebook: Notebook) -> None:
    notebook.texts(f"%%ddlog\n{PATHS}", "first")
    notebook.texts(f"%ddlog {EDGES}", "second")
    rule = "%%ddlog\nReach(a, c) :- Reach(a, b), Edge(b, c)."
    notebook.texts(rule, "third")
    notebook.texts(f"%%ddlog\n{PATHS}Reach(9, 9).", "first")
    went = notebook.texts("%%ddlog\n\nReach(a, a) :- Edge(a, _).", "third")
    assert went.splitlines()[0] == "Reach: +2 -1"
    assert [tuple(row) for row in notebook.shell.user_ns["session"]["Reach"]] == [
        (1, 1), (1, 2), (2, 2), (2, 3), (9, 9),
    ]  # fmt: skip
    assert notebook.texts(rule).splitlines()[0] == "Reach: +1"
    assert notebook.texts(rule) == "", "a text that is in the program already replaces itself"


def test_an_input_relation_that_is_declared_anew_keeps_its_rows_and_says_what_is_lost(
    notebook: Notebook,
) -> None:
    notebook.texts(f"%%ddlog\n{PATHS}", "first")
    notebook.texts(f"%ddlog {EDGES}", "second")
    assert "gone" not in notebook.texts(f"%%ddlog\n{PATHS.replace('u32', 'u64')}", "first")
    assert notebook.texts("%ddlog ? Edge(1, b)") == "b\n─\n2\n(1 row)"
    other = "input relation Edge(a: u64)\noutput relation Reach(a: u64)\nReach(a) :- Edge(a)."
    shown = notebook.texts(f"%%ddlog\n{other}", "first")
    assert "warning: Edge.b is gone, with what 2 rows held" in shown and "Reach: +2" in shown
    shown = notebook.texts("%%ddlog\noutput relation Reach(a: u64)", "first")
    assert "warning: Edge is gone, with what 2 rows held" in shown and "Reach: -2" in shown


@pytest.mark.parametrize(
    "code, place",
    [
        ("%%ddlog\nReach(a, c) :- Reac(a, c).\nEdge(1).", "In[4]:1:16: Unknown relation `Reac`"),
        ("%%ddlog\n\n? Reach(x)", "In[4]:2:3: `Reach` has 2 columns (a, b), not 1"),
        ("%%ddlog\nstart;\ninsert Edge(1, 7),\ninsert Edge(1, true);", "In[4]:3:16: "),
        ("%ddlog Reach(x, y)", "this is no rule and no fact"),
        ("%ddlog insert Edge(1, 7)", "In[4]:1:1: `insert` outside a transaction"),
        ("%%ddlog\nReach(1, 1 / (a - 1)) :- Edge(a, _).", "In[4]:1:"),
    ],
)
def test_an_error_leaves_all_as_it_was(notebook: Notebook, code: str, place: str) -> None:
    notebook.texts(f"%%ddlog\n{PATHS}")
    notebook.texts(f"%ddlog {EDGES}")
    session = notebook.shell.user_ns["session"]
    before, program = list(session["Reach"]), session.program
    outputs, error = notebook.run(code)
    assert isinstance(error, ddlog.DDlogError) and place in str(error)
    assert "\n".join(error._render_traceback_()) == str(error) and not outputs
    assert list(session["Reach"]) == before and session.program is program and not session.in_transaction
    assert notebook.texts("%%ddlog\nReach(a, c) :- Reach(a, b), Edge(b, c).").endswith("+1  1  3")


def test_an_error_in_the_first_cell_begins_nothing(notebook: Notebook) -> None:
    _, error = notebook.run("%%ddlog\ninput relation Edge(a: u31x)")
    assert isinstance(error, ddlog.DDlogError) and "session" not in notebook.shell.user_ns
    _, error = notebook.run("%ddlog ? Edge(x)")
    assert "a cell %%ddlog with a program begins one" in str(error)
    _, error = notebook.run("session = 7\n%ddlog ? Edge(x)")
    assert "session is int, and no session" in str(error)


def test_an_error_names_the_lines_that_led_to_it_and_their_files(notebook: Notebook, tmp_path: Path) -> None:
    notebook.texts(f"%%ddlog\n{PATHS}")
    (tmp_path / "asking.py").write_text("def ask(session):\n    return session.query('Nope(x)')\n")
    notebook.run(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom asking import ask\nimport pandas")
    _, error = notebook.run("pandas.Series([session]).map(lambda each: ask(each))")
    code = "pandas.Series([session]).map(lambda each: ask(each))"
    asked = f"{tmp_path}/asking.py:2: return session.query('Nope(x)')"
    assert isinstance(error, ddlog.DDlogError)
    assert error._render_traceback_()[:3] == [f"line 1: {code}", f"line 1: {code}", asked]


def test_braces_are_values_of_names(notebook: Notebook) -> None:
    notebook.texts('%%ddlog -s other\ninput relation P(name: string, n: u32)\nP("a\\"b", 1). P("c", 2).')
    assert "session" not in notebook.shell.user_ns
    notebook.shell.user_ns["name"] = 'a"b'
    assert notebook.texts("%ddlog -s other ? P({name}, n)") == "n\n─\n1\n(1 row)"
    assert notebook.texts("%ddlog -s other query P({name}, n)") == "n\n─\n1\n(1 row)"
    assert notebook.texts("%ddlog -s other why P({name}, n)").startswith('P("a\\"b", 1)  fact')
    assert "does not hold" in notebook.texts("%ddlog -s other why not P({name}, 3)")
    _, error = notebook.run("%ddlog -s other ? P({nobody}, n)")
    assert "nobody is given none" in str(error)


def test_a_warning_is_shown(notebook: Notebook) -> None:
    shown = notebook.texts(
        "%%ddlog\ninput relation R(x: u32)\noutput relation S(x: u32)\nS(x) :- R(x), R(y)."
    )
    assert "warning: In[2]:3:17: unused variable `y`" in shown


SHOWN = """
input relation Note(id: u32, text: string)
input multiset Word(w: string)
output relation Said(text: string)
Said(t) :- Note(_, t).
"""
SCRIPT = '<script>alert("x")</script>'


@pytest.fixture
def session() -> Iterator[ddlog.Session]:
    with ddlog.compile(SHOWN).session() as opened:
        opened.measure()
        opened.insert("Note", *((n, f"note {n}") for n in range(1233)), (5000, SCRIPT))
        opened.insert("Word", "a", "a", "b")
        yield opened


def form(value: Any, media: str = "text/html") -> str:
    made: str = value._repr_mimebundle_()[media]
    return made


def test_rows_are_escaped_and_cut(session: ddlog.Session) -> None:
    changes = session.commit()
    for value in (changes, session["Note"], session["Said"], session.query("Note(5000, t)")):
        assert "<script" not in form(value) and form(value).count("<tr") <= 51
    assert form(session["Note"], "text/plain").endswith(
        "(the first 50 of 1,234 rows; to_pandas(), to_polars() and to_arrow() have all)"
    )
    assert "&lt;script&gt;" in form(session.query("Note(5000, t)"))
    assert "the first 50 of 1,234 changed rows" in form(changes)
    assert "<td>a</td><td class=n>+2</td>" in form(session["Word"])
    assert "<p>true</p>" in form(session.query("Note(1, _)"))
    assert form(session.query("Note(2000, _)"), "text/plain") == "false"


def test_of_a_large_relation_some_rows_are_shown(
    session: ddlog.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "_ORDERED", 100)
    changes = session.commit()
    assert "(some 50 of 1,234 changed rows)" in form(changes, "text/plain")
    assert "(some 50 of 1,234 rows; to_pandas()" in form(session["Note"], "text/plain")
    assert form(changes).count("<tr class=came>") == 50 and len(changes["Said"]) == 1234
    session.clear("Note")
    assert form(session.commit()).count("<tr class=went>") == 50


def test_changes_have_signs(session: ddlog.Session) -> None:
    session.commit()
    session.delete("Note", (1, "note 1"))
    session.insert("Note", (1, "note one"))
    changes = session.commit()
    assert form(changes, "text/plain") == "Said: +1 -1\n    text\n────────────\n-1  note 1\n+1  note one"
    rows = re.findall(r"<tr class=(\w+)><td class=n>([^<]*)</td>", form(changes))
    assert rows == [("went", "-1"), ("came", "+1")]
    assert form(session.commit(), "text/plain") == "no output changed"


def test_proof_trees_fold_and_profiles_and_programs_have_forms(session: ddlog.Session) -> None:
    session.commit()
    why = session.why("Said", (SCRIPT,))
    assert form(why).count("<details") == form(why).count("</details>") >= 1 and "<script" not in form(why)
    assert form(why, "text/plain") == str(why)
    assert form(session.why_not("Said", ("nothing",))) and form(session.why_ends("Said", (SCRIPT,)))
    assert "srcdoc=" in form(session.profile()) and "<script" not in form(session.profile())
    assert form(session.profile(), "text/plain") == str(session.profile())
    assert "<svg" in form(session.program) and "Note" in form(session.program, "text/plain")
