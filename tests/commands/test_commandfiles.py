"""Command files as `ddlog run --updates` carries them out: what each command prints, what is refused, and
the options that say what is printed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from ddlog.console.cli import main
from ddlog.console.foreignoptions import REASONS
from ddlog.stdlib import log

PROGRAM = """
typedef Up = Up | Down{since: u32}
input relation Host(id: u32, name: string, up: Up, tags: Set<string>, sizes: Map<string, u32>)
    primary key (h) h.id
input relation Edge(a: string, b: string)
input multiset Bag(x: u32)
output relation Path(a: string, b: string)
output relation Name(n: string)
output multiset Twice(x: u32)
relation Between(a: string)
relation Unneeded(a: string)
Unneeded(a) :- Edge(a, a).
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Between(b) :- Edge(_, b), Edge(b, _).
Name(n) :- Host(_, n, _, _, _).
Name("nobody") :- not Between("x").
Twice(x) :- Bag(x).
index PathFrom(a: string) on Path(a, _)
index HostUp(id: u32) on Host(id, _, Up, _, _)
"""
NOBODY = 'Name:\nName{.n = "nobody"}: +1\n'


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program, in the directory where the test runs."""
    (tmp_path / "p.dl").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], text: str, *options: str, code: int = 0) -> tuple[str, str]:
    """What `ddlog run p.dl --updates FILE` prints for these commands, after what is there at first."""
    Path("u.dat").write_text(text)
    assert main(["run", "p.dl", "--updates", "u.dat", "--quiet", *options]) == code
    printed = capsys.readouterr()
    return printed.out.removeprefix(NOBODY), printed.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo;", "\n"),
        ("echo a;", "a\n"),
        ("echo   a  b\n;", "a  b\n\n"),
        ("start; commit;", ""),
        ("start; commit dump_changes;", ""),
        ("# a comment\n  # start;\necho b;", "b\n"),
        ("dump;", 'Name:\nName{.n = "nobody"}\n\n'),
        ("dump Name; dump Path;", 'Name{.n = "nobody"}\n'),
        ("exit; echo never;", ""),
        (
            'start; insert Edge("a", "b"); commit dump_changes; dump Path; dump Edge;',
            'Path:\nPath{.a = "a", .b = "b"}: +1\nPath{.a = "a", .b = "b"}\nEdge{.a = "a", .b = "b"}\n',
        ),
        ('start; insert Edge("a", "b"), commit dump_changes;', 'Path:\nPath{.a = "a", .b = "b"}: +1\n'),
        ('start; insert Edge("a", "b"); dump Path; rollback; dump Path;', ""),
        ('start; insert Edge("a", "b"), insert Edge("a", "b"), delete Edge("b", "c"); rollback;', ""),
        (
            "start; insert Bag(1), insert Bag(1), insert Bag(2); commit dump_changes; dump Twice;",
            "Twice:\nTwice{.x = 1}: +2\nTwice{.x = 2}: +1\nTwice{.x = 1} +2\nTwice{.x = 2}\n",
        ),
        (
            'start; insert Edge("a", "b"); commit; start; clear Edge; commit; dump;',
            'Path:\nPath{.a = "a", .b = "b"}: +1\nPath:\nPath{.a = "a", .b = "b"}: -1\n'
            'Name:\nName{.n = "nobody"}\n\nPath:\n\n',
        ),
        (
            'start; insert Edge("a", "b"); commit; query_index PathFrom("a"); query_index PathFrom("b");',
            'Path:\nPath{.a = "a", .b = "b"}: +1\nPath{.a = "a", .b = "b"}\n',
        ),
        ("echo a; echo;", "a\n\n"),
        ("mssleep 0; mssleep 1;", ""),
    ],
)
def test_what_commands_print(text: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, text) == (expected, "")


@pytest.mark.parametrize("damage", [slice(0, 20), slice(0, None, 2)])
def test_a_damaged_file_cannot_be_read(damage: slice, capsys: pytest.CaptureFixture[str]) -> None:
    Path("u.dat.gz").write_bytes(gzip.compress(b"echo a;" * 99)[:12] + gzip.compress(b"echo b;" * 99)[damage])
    assert main(["run", "p.dl", "--updates", "u.dat.gz", "--quiet"]) == 1
    assert "error: u.dat.gz: cannot be read: " in capsys.readouterr().err


def test_the_initial_contents_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("u.dat").write_text("")
    assert main(["run", "p.dl", "--updates", "u.dat", "--quiet"]) == 0
    assert capsys.readouterr().out == NOBODY


def test_timestamps_are_nanoseconds(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "timestamp; mssleep 2; timestamp;")
    times = [int(each) for each in re.findall(r"^Timestamp: (\d+)$", out, re.M)]
    assert len(times) == 2 and times[1] - times[0] >= 2_000_000


HOSTS = """start; insert Host(1, "a", Up, ["x", "y"], [("s", 1), ("t", 2)]); insert Host(2, "b", Up, [], []);
commit; echo --;"""


@pytest.mark.parametrize(
    ("mutation", "expected"),
    [
        ('_{.name = "z"}', '.name = "z", .up = Up{}, .tags = ["x", "y"], .sizes = [("s", 1), ("t", 2)]'),
        ('Host{.tags = ["y", "z"]}',
         '.name = "a", .up = Up{}, .tags = ["x", "z"], .sizes = [("s", 1), ("t", 2)]'),
        ('_{.sizes = [("s", ()), ("t", 5), ("u", 6)]}',
         '.name = "a", .up = Up{}, .tags = ["x", "y"], .sizes = [("t", 5), ("u", 6)]'),
        ("_{.up = Down{.since = 3}}",
         '.name = "a", .up = Down{.since = 3}, .tags = ["x", "y"], .sizes = [("s", 1), ("t", 2)]'),
        ('Host{1, "q", Down{4}, [], []}', '.name = "q", .up = Down{.since = 4}, .tags = [], .sizes = []'),
        ('@json %"host.json"',
         '.name = "j", .up = Up{}, .tags = [], .sizes = [("k", 1)]'),
        ("_{}", '.name = "a", .up = Up{}, .tags = ["x", "y"], .sizes = [("s", 1), ("t", 2)]'),
    ],
)  # fmt: skip
def test_modify(mutation: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("host.json").write_text('{"id": 1, "name": "j", "up": "Up", "tags": [], "sizes": {"k": 1}}')
    text = f"{HOSTS} start; modify Host 1 <- {mutation}; delete_key Host 2; commit; dump Host;"
    out, _ = run(capsys, text, "--no-delta")
    assert out == f"--\nHost{{.id = 1, {expected}}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("commit;", "u.dat:3:1: `commit` outside a transaction"),
        ("rollback;", "u.dat:3:1: `rollback` outside a transaction"),
        ("clear Edge;", "u.dat:3:1: `clear` outside a transaction"),
        ('insert Edge("a", "b");', "u.dat:3:1: `insert` outside a transaction"),
        ("start; start;", "u.dat:3:8: `start` inside a transaction: transactions do not nest"),
        ("start; clear Path;", "u.dat:3:8: Path is not an input relation"),
        ('start; insert Path("a", "b");', "u.dat:3:8: Path is not an input relation"),
        ('start; insert Host(1, "a", Up, [], []);', "u.dat:3:8: Host already has a row with the key 1"),
        ('start; delete Host(1, "z", Up, [], []);', "the row of Host with the key 1 differs from the row"),
        ('start; delete Host(7, "z", Up, [], []);', "u.dat:3:8: Host has no row with the key 7"),
        ("start; delete_key Host 7;", "u.dat:3:8: Host has no row with the key 7"),
        ('start; modify Host 7 <- _{.name = "x"};', "u.dat:3:8: Host has no row with the key 7"),
        ("start; modify Host 1 <- _{.id = 2};", "u.dat:3:8: Host already has a row with the key 2"),
        ("start; modify Edge 1 <- _{};", "Edge has no primary key"),
        ("start; delete_key Bag 1;", "Bag has no primary key"),
        ('start; insert_or_update Edge("a", "b");', "u.dat:3:8: Edge has no primary key"),
        ("profile timely on;", "u.dat:3:1: `profile timely` has nothing to measure"),
        ("query_index Path(1);", "u.dat:3:13: Path is a relation, not an index"),
        ("dump PathFrom;", "u.dat:3:6: PathFrom is an index, not a relation"),
        ("dump Unneeded;", "u.dat:3:1: Unneeded is not kept by this session\n    dump Unneeded;"),
        ("help;", "u.dat:3:1: there is no command `help`"),
    ],
)
def test_errors_end_the_file(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first error ends a command file; what was committed before it stays printed."""
    out, error = run(capsys, f"{HOSTS}\n{text}\necho never;", code=1)
    assert message in error and error.startswith("error: ")
    assert out.endswith("--\n")


def test_an_upsert_is_an_insert_or_a_replacement(capsys: pytest.CaptureFixture[str]) -> None:
    text = f'{HOSTS} start; insert_or_update Host(1, "n", Up, [], [])'
    out, _ = run(capsys, f'{text}, insert_or_update Host(3, "m", Up, [], []); commit dump_changes;')
    assert out.partition("--\n")[2].splitlines() == [
        "Name:", 'Name{.n = "a"}: -1', 'Name{.n = "m"}: +1', 'Name{.n = "n"}: +1'
    ]  # fmt: skip


def test_a_profile_measures_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    changes = 'start; insert Edge("a", "b"), insert Edge("b", "c"); commit;'
    out, _ = run(capsys, f"{changes} profile; echo --; profile cpu on; profile change on; start; "
                 'insert Edge("c", "d"), delete Edge("a", "b"); commit; profile cpu off; profile change off;'
                 'start; insert Edge("x", "y"); commit; profile;', "--no-delta")  # fmt: skip
    before, _, after = out.partition("--\n")
    assert re.findall(r"^ +(\d+)  (\S+)$", before, re.M)[-2:] == [("3", "Path"), ("0", "Twice")]
    assert "Time" not in before and "Changes" not in before and "$" not in after
    held = re.findall(r"^ +([\d,]+) +([\d.,]*)  (\S+)(?:: (.*))?", before.partition("Bytes")[2], re.M)
    sizes = {name: (int(size.replace(",", "")), float(share.replace(",", "") or 0), parts)
             for size, share, name, parts in held}  # fmt: skip
    assert sizes["together"][0] == sum(size for size, _, _ in sizes.values()) / 2
    assert sizes["Path"][1] == round(sizes["Path"][0] / 3, 1)
    assert re.search(r": table [\d,]+, (weights|index by \(.*\)) [\d,]+", before + after)
    assert "Path" in sizes and "values" in sizes
    assert re.search(r": 1 commit in [^\n]* \(in-process\)\nTime by relation", after)
    assert re.search(r"^ +\d+\.\d+ m?s +\d+\.\d%  Path \(\d rounds", after, re.M)
    assert re.search(r"^ +\+2 +-2  Path$", after, re.M)


def test_log_messages_up_to_a_level_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.dl").write_text(
        """
        import log
        input relation Event(level: s32, text: string)
        output relation Seen(text: string)
        function seen(level: s32, text: string): string { log(1, level, text); text }
        Seen(seen(level, text)) :- Event(level, text).
        """
    )
    script = """
        start; insert Event(100, "off"); commit;
        log_level 300;
        start; insert Event(200, "an error"), insert Event(300, "a warning"), insert Event(400, "news");
        commit;
    """
    try:
        out, _ = run(capsys, script, "--no-delta")
    finally:
        log.set_level(None)
    assert sorted(out.splitlines()) == ["LOG (200): an error", "LOG (300): a warning"]


EDGE = 'start; insert Edge("a", "b"); commit dump_changes;'


def test_options_that_leave_out_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    change, dumped = 'Path:\nPath{.a = "a", .b = "b"}: +1\n', 'Name:\nName{.n = "nobody"}\n\nPath:\n'
    text = f'{EDGE} dump; query_index PathFrom("a");'
    row = 'Path{.a = "a", .b = "b"}\n'
    assert run(capsys, text)[0] == f"{change}{dumped}{row}\n{row}"
    assert run(capsys, text, "--no-delta")[0] == f"{dumped}{row}\n{row}"
    assert run(capsys, text, "--no-store")[0] == f"{change}{row}"
    assert run(capsys, text, "--no-store", "--no-delta", "--no-init-snapshot")[0] == row
    Path("u.dat").write_text(text)
    for option, first in (("--no-init-snapshot", ""), ("--init-snapshot", NOBODY)):
        assert main(["run", "p.dl", "--updates", "u.dat", "--quiet", option]) == 0
        assert capsys.readouterr().out == f"{first}{change}{dumped}{row}\n{row}"


def test_files_of_changes_without_the_state_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, EDGE, "--output", "out", "--no-init-snapshot")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "Name.changes.csv", "Path.changes.csv", "Twice.changes.csv"
    ]  # fmt: skip
    run(capsys, EDGE, "--output", "state", "--no-delta")
    assert sorted(path.name for path in Path("state").iterdir()) == ["Name.csv", "Path.csv", "Twice.csv"]


ASKED = """
start; insert Edge("a", "b"); commit;
start; insert Edge("b", "c"); commit dump_changes;
start; delete Edge("b", "c"); commit;
"""


def test_changes_of_the_commits_that_ask(capsys: pytest.CaptureFixture[str]) -> None:
    change = 'Path:\nPath{.a = "a", .b = "c"}: +1\nPath{.a = "b", .b = "c"}: +1\n'
    assert run(capsys, ASKED, "--delta", "asked")[0] == change
    assert run(capsys, ASKED, "--delta", "none")[0] == run(capsys, ASKED, "--no-delta")[0] == ""
    every = run(capsys, ASKED)[0]
    assert every == run(capsys, ASKED, "--delta", "all")[0] == run(capsys, ASKED, "--delta")[0]
    assert every.count("Path:") == 3 and change in every


def test_written_changes_of_the_commits_that_ask(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--format", "jsonl", "--delta", "asked"]
    change = (
        '{"insert": {"Path": {"a": "a", "b": "c"}}}\n{"insert": {"Path": {"a": "b", "b": "c"}}}\n'
        '{"commit": true}\n'
    )
    assert run(capsys, ASKED, *options, "--no-init-snapshot")[0] == change
    run(capsys, ASKED, *options, "--output", "out")
    assert Path("out/changes.jsonl").read_text() == change
    Path("e.jsonl").write_text(
        '{"insert": {"Edge": ["a", "b"]}}\n{"commit": true}\n'
        '{"insert": {"Edge": ["b", "c"]}}\n{"commit": "dump_changes"}\n'
    )
    assert main(["run", "p.dl", "--updates", "e.jsonl", "--no-init-snapshot", *options]) == 0
    assert capsys.readouterr().out == change


def test_internal_relations_as_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    text = 'start; insert Edge("a", "b"), insert Edge("b", "c"); commit dump_changes; dump Between; dump;'
    Path("u.dat").write_text(text)
    arguments = ["run", "p.dl", "--updates", "u.dat", "--quiet", "--output-internal-relations"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{NOBODY}ddlog_std::Singleton:\nddlog_std::Singleton{{}}: +1\nBetween:\n")
    assert 'Between{.a = "b"}: +1' in out and "$" not in out
    assert '\nBetween{.a = "b"}\n' in out and "ddlog_std::Singleton:\nddlog_std::Singleton{}\n\n" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--no-delta"], "--no-delta needs --updates"),
        (["--delta", "none"], "--no-delta needs --updates"),
        (["--delta", "asked"], "--delta asked needs --updates: only the commits of updates can ask"),
        (
            ["--delta", "asked", "--updates", "Edge.csv"],
            "--delta asked cannot be combined with --updates REL.csv or REL.tsv",
        ),
        (["--no-store"], "--no-store needs --updates"),
        (["--no-init-snapshot"], "--no-init-snapshot needs --updates"),
        (
            ["--sizes", "--no-init-snapshot", "--updates", "p.dl"],
            "--sizes cannot be combined with --no-init-snapshot",
        ),
    ],
)
def test_options_that_would_mean_nothing(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "p.dl", *options]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("option", "reason"), [(o, why) for of, why in REASONS.items() for o in of.split()])
def test_options_of_ddlog_are_refused_by_name(
    option: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("run", "repl", "check"):
        assert main([command, "p.dl", option]) == 2
        refusal = f"{option} is an option of DDlog that is not supported: {reason}"
        assert refusal in capsys.readouterr().err


def test_one_worker_is_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.dl", "-w", "1", "--engine", "in-process"]) == 0
    assert capsys.readouterr().out.startswith('Name:\nName{.n = "nobody"}\n\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo a;\n  query Name(x),\n x > y;", "u.dat:3:6: Unknown variable `y`\n     x > y\n         ^"),
        ("echo a; query Name(x) Path();", "u.dat:1:23: unexpected `Path`"),
        (
            "start; commit;\nwhy Name(1, 2);",
            "u.dat:2:5: `Name` has 1 column (n), not 2\n    why Name(1, 2)\n",
        ),
        ("why all\nName(1, 2);", "u.dat:2:1: `Name` has 1 column (n), not 2\n    Name(1, 2)\n"),
    ],
)
def test_an_error_in_a_question_has_its_place_in_the_file(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in run(capsys, text, code=1)[1]


def test_imported_names(capsys: pytest.CaptureFixture[str]) -> None:
    """An imported module's relations, indexes and constructors have its name or its alias."""
    Path("lib.dl").write_text(
        "typedef Up = Up | Down{since: u32}\ninput relation Host(id: u32, up: Up) primary key (h) h.id\n"
        "index ById(id: u32) on Host(id, _)\n"
    )
    Path("p.dl").write_text("import lib as net\noutput relation Id(id: u32)\nId(id) :- net::Host(id, _).\n")
    Path("h.csv").write_text("key,up\n3,Up\n")
    text = (
        "start; insert net::Host(1, net::Up), insert lib::Host(2, net::Down{4}); commit;"
        "start; modify net::Host 1 <- _{.up = net::Down{5}}; commit; query_index net::ById(1);"
        "dump net::Host;"
    )
    ones = [
        f"lib::Host{{.id = {id}, .up = lib::Down{{.since = {since}}}}}\n" for id, since in ((1, 5), (2, 4))
    ]
    three = "lib::Host{.id = 3, .up = lib::Up{}}\n"
    out = run(capsys, text, "--map", "lib::Host=h.csv:id=key", "--no-delta", "--no-init-snapshot")[0]
    assert out == "".join((ones[0], *ones, three))
