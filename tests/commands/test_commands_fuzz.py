"""Whatever a command file holds: it is carried out, or what is wrong is said with its place, and the session
goes on from its last commit."""

from __future__ import annotations

import re
import threading
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.commands.commands import COMMANDS
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.reader import CommandReader
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.sessions.results.lines import record_lines
from ddlog.stdlib import log

from ..trying import trying

PROGRAM = ddlog.compile(
    """
    typedef Shape = Dot | Box{w: s8, h: Option<bigint>}
    typedef Point = Point{x: float, y: double}
    input relation Edge(a: s32, b: s32)
    input relation Host(id: u8, name: string, at: Point, tags: Set<string>, sizes: Map<string, Vec<bool>>)
        primary key (h) h.id
    input relation Shapes[Shape]
    input relation Pairs[(bit<4>, (string, Shape))]
    input relation Unit()
    input multiset Bag(x: s128, o: Option<Set<u8>>)
    output relation Path(a: s32, b: s32)
    output multiset Twice(x: s128)
    Path(a, b) :- Edge(a, b).
    Path(a, c) :- Path(a, b), Edge(b, c).
    Twice(x) :- Bag(x, _).
    index From(a: s32) on Path(a, _)
    index Boxes(w: s8, h: Option<bigint>) on Shapes[Box{w, h}]
    index All() on Host()
    """
)
NAMES = [*PROGRAM.names("input"), *PROGRAM.names("output"), *PROGRAM.indexes, "Dot", "Box", "Some", "None"]
NAMES += ["ddlog_std::Some", "ddlog_std::None", "Point", "_", "Nowhere", "a::b::C"]
PLACE = re.compile(r"<fuzz>:\d+:\d+")

words = st.sampled_from((*COMMANDS, "dump_changes", "cpu", "timely", "on", "off", "sleep", "<-", "="))
signs = st.sampled_from([*"()[]{},;.%@#\"\\-<>_:?'\n", "..", "->", "::", "@json", "0x", "é", "😀"])
strings = st.sampled_from(
    ['""', '"a"', '"\\n\\u{41}"', '"\\q"', '"\\u{d800}"', '%"/nowhere"', '%"a\\0b"', '%"."', '%%"a"']
)
json = st.sampled_from(
    ['"1"', '"[1, [2, null]]"', '"{\\"Box\\": {\\"w\\": 1}}"', '"{"', '"[[[["', '"NaN"', '%"/nowhere"']
)
numbers = st.integers(-(2**130), 2**130).map(str) | st.sampled_from(
    ["0xff", "0x_", "1_000", "1__", "-0", "- 1", "-\n1", "1.5", "-\n1.5", "1e999", "-inf", "NaN", "1e",
     "32'd5", "1.", "0" * 5000]
)  # fmt: skip
names = st.sampled_from(["true", "false", "Dot", "None"])
scalars = numbers | strings | names | json.map(lambda text: f"@json {text}")


def _grouped(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Values in brackets of every kind, and structs by position and by name."""
    listed = st.lists(values, max_size=3).map(", ".join)
    fields = st.lists(st.tuples(st.sampled_from(["w", "h", "x", "y", "tags", "q"]), values), max_size=3)
    named = fields.map(lambda pairs: ", ".join(f".{name} = {value}" for name, value in pairs))
    inside = st.tuples(st.sampled_from(["()", "[]", "{}"]), listed | named)
    return st.tuples(st.sampled_from(["", "", *NAMES]), inside).map(
        lambda parts: f"{parts[0]}{parts[1][0][0]}{parts[1][1]}{parts[1][0][1]}"
    )


values = st.recursive(scalars, _grouped, max_leaves=6)
RECORDS = (
    "Edge(N, N)", "Edge(.a = N)", "Edge[Edge{N, N}]", "Host(N, S, Point{N, N}, [S], [(S, [true, false])])",
    "Host(.id = N, .at = Point{.y = N}, .sizes = [(S, true)])", "Shapes[Box{N, Some{N}}]",
    "Shapes[Box{N, N}]", "Pairs[(N, (S, Dot))]", "Unit()", "Bag(N, [[N]])", "Bag(N, None)", "Bag(N, @json S)",
)  # fmt: skip
CHANGES = (
    "modify Host N <- _{.name = S}", "modify Host 1 <- Host{.tags = [S, S], .sizes = [(S, ()), (S, [true])]}",
    "modify Host 1 <- _{.at = _{.x = N}}", "modify Host 1 <- @json S", "delete_key Host N",
    "query_index From(N)", "query_index Boxes(N, Some{N})", "query_index Boxes(N, None)", "query_index All()",
)  # fmt: skip


@st.composite
def filled(draw: st.DrawFn, templates: tuple[str, ...]) -> str:
    """A template with numbers and strings in the places of N and S; most of them small, so that they meet."""
    number, text = st.integers(0, 3).map(str) | numbers, st.sampled_from(['"a"', '"b"']) | strings
    template = draw(st.sampled_from(templates))
    return re.sub(r"\b[NS]\b", lambda place: draw(number if place.group() == "N" else text), template)


records = filled(RECORDS) | st.tuples(
    st.sampled_from(NAMES), st.sampled_from(["({})", "[{}]", " {}"]), values
).map(lambda parts: f"{parts[0]}{parts[1].format(parts[2])}")
changes = st.tuples(st.sampled_from(["insert", "delete", "insert_or_update"]), records).map(" ".join)
mutations = st.tuples(
    st.sampled_from(["modify Host 1 <- _", "modify Host 1 <- Host", "modify Shapes Dot <- "]),
    _grouped(values),
).map("".join)
asked = st.tuples(
    st.sampled_from(["query_index", "dump_index", "dump", "clear"]),
    st.sampled_from(NAMES),
    st.just("") | values.map(lambda key: f"({key})"),
).map(lambda parts: f"{parts[0]} {parts[1]}{parts[2]}")
plain = st.sampled_from(
    ["start", "commit", "commit dump_changes", "rollback", "dump", "echo a\nb", "timestamp", "profile",
     "profile cpu on", "profile change on", "profile cpu off", "profile timely on", "log_level 3",
     "mssleep 1", "mssleep 99999999999999999999", "# comment\n"]
)  # fmt: skip
keys = values.map(lambda key: f"delete_key Host {key}")
sound = filled(RECORDS).map(lambda record: f"insert {record}") | filled(CHANGES)
commands = st.one_of(sound, sound, sound, changes, mutations, keys, asked, plain)
ended = st.tuples(commands, st.sampled_from([";", "; commit; start;", ",", ""])).map("".join)
scripts = st.lists(ended, min_size=6, max_size=12).map(lambda lines: "start;" + "\n".join(lines))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A script in which pieces were cut out, doubled and replaced."""
    text = draw(scripts)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        text = (
            text[:start]
            + draw(st.just("") | signs | words | values | st.just(text[start:end] * 2))
            + text[end:]
        )
    return text


def carry_out(text: str) -> list[str]:
    """Carries out a script as the REPL does, past every error; the messages of these."""
    messages: list[str] = []
    with PROGRAM.session() as session:
        reader = CommandReader(PROGRAM.relations, session.typedefs, "<fuzz>", PROGRAM.indexes)
        interpreter = Interpreter(session, str, lambda changes, asked: str(changes), PROGRAM.names("output"))
        reader.feed(text)
        while not interpreter.ended:
            try:
                interpreter.run(reader.commands(final=True))
                interpreter.flush()
                break
            except DDlogError as error:
                messages.append(render(error.diagnostics))
        interpreter.forget()
        assert not session.in_transaction
        list(record_lines([session[name] for name in PROGRAM.names("output")], True))
    return messages


def check(text: str) -> None:
    """Every message about a script is an error with a place; no other exception comes."""
    with patch("time.sleep") as sleep:
        for message in carry_out(text):
            assert message.startswith("error: ") and PLACE.search(message), message
    assert all(call.args[0] < threading.TIMEOUT_MAX for call in sleep.call_args_list)
    log.set_level(None)


@trying(40)
@given(mutated() | scripts)
def test_commands_are_carried_out_or_refused(text: str) -> None:
    check(text)


@trying(26)
@given(
    st.lists(words | signs | strings | numbers | st.sampled_from(NAMES), max_size=30),
    st.sampled_from(["", " "]),
)
def test_no_heap_of_words_is_a_surprise(pieces: list[str], between: str) -> None:
    check(between.join(pieces))


@trying(8)
@given(st.sampled_from(["[", "(", "Box{1, ", "Some{", '@json "' + "[" * 2000]), st.integers(1, 3000))
def test_values_may_nest_as_deeply_as_they_like(opening: str, depth: int) -> None:
    for start in ("insert Shapes[", "insert Pairs[", "modify Host 1 <- ", "query_index Boxes("):
        check(f"start; {start}{opening * depth};")
