"""The arguments of the command line: commands, options and their help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from ..errors.installation import versions
from ..errors.source import DIALECTS
from . import subcommands
from .deltas import DELTAS
from .foreignoptions import REASONS, SOUFFLE_REASONS, refuse
from .options import PRINTED, REPORTED
from .topics import BEGINNING, TOPICS, explain_topic
from .usage import UsageParser

_Commands: TypeAlias = "argparse._SubParsersAction[UsageParser]"

_FILE_FORMS = """\
fact files (--input): a directory with one file for each input relation, named after the relation
  REL.csv          commas, quotes as in RFC 4180; a first line with the column names, in any order and
                   case, is a header; one or two names are not if one is also a cell below (--header)
  REL.facts, .tsv  tabs, no header, no quotes
  REL.jsonl, .json objects by column name, or arrays
  REL.parquet, .arrow
  REL/             a folder of such files; the text forms may end in .gz
--input may be repeated. A place may also be such a file, a pattern ('facts/2026-*/*.csv'), or Rel=PLACE: all
files of PLACE are facts of that relation, whatever their names (Edge=data/e.csv, 'Edge=data/*.parquet').
Options of a place say how its files are written, as in 'Edge=e.csv?delimiter=;&null=NA' (docs/facts.md).
Spark reads files itself, and also reads the URL of an object store (s3a://bucket/facts), Rel=TABLE of the
catalog, table:PREFIX (the tables PREFIX + relation), and .orc in Rel=PLACE.

output (--output): on Spark the executors write it
  DIR              DIR/REL.csv; on Spark the folder DIR/REL of part files, also at a URL
  table:PREFIX     on Spark: replaces the catalog tables PREFIX + relation

Dates, times, UUIDs and addresses are texts (2021-03-04), an absent Option is an empty cell (of strings, "" is
the empty one), structs and collections are JSON. Facts may also have any value as commands have it.

update files (--updates):
  NAME.dat         commands: start; insert R(1, "a"), delete R(2, "b"); commit;
                   also rollback, insert_or_update, delete_key, modify, clear, dump, query, why,
                   query_index, dump_index, profile, timestamp, log_level, mssleep, echo, exit
  NAME.jsonl       {"insert": {"R": {"x": 1}}}, {"delete": …}, {"commit": true}, one a line;
                   {"modify": {"R": {"key": 1, "set": {"y": 2}}}} changes columns
  REL.csv, .tsv    a first column +1 or -1; a line `commit` ends a transaction, and so does the end;
                   REL=FILE.csv is a file of any name
  -                standard input: commands or JSON lines, applied as they arrive
Each commit prints exactly the changes of the output relations. With --output the changes also go to
DIR/changes.jsonl or DIR/REL.changes.csv.

followed files (--follow DIR): files in a folder for each input relation, DIR/REL/. Move a file there when it
is complete.
  facts            any form of fact files: the rows are inserted
  changes          .jsonl, .csv and .tsv as in update files, or a table with a column `op`, +1 or -1
The files found at one time are one epoch. A run prints the changes of an epoch, or with --output writes them
to DIR/changes/epoch=N/changes.jsonl: each epoch once, even if a run with --state or
--checkpoint is started again.
"""

_TEST_FORMS = """\
a test is a folder `expected` beside one program, PROG.dl:
  facts            read with --input, if it is there
  updates.*        applied with --updates, in the order of their names
  expected/REL.csv the relation as --output writes it
  expected/updates.txt
                   the changes and answers that the run prints
Relations without an expected file are not compared. ddlog test --update PROG.dl makes the first expected
files.
"""


def parser(only: str = "") -> UsageParser:
    """The parser of the whole command line, or of one command: the others take a while to make. The parsed
    arguments have the command's function as `act`."""
    parser = UsageParser(
        prog="ddlog", description="Differential Datalog in Python.", epilog=BEGINNING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of ddlog and of what it runs on"
    )
    commands: _Commands = parser.add_subparsers(metavar="COMMAND", parser_class=UsageParser)
    parser.set_defaults(act=lambda _: explain_topic(parser, {}, "", None))
    for each in [_COMMANDS[only]] if only in _COMMANDS else dict.fromkeys(_COMMANDS.values()):
        each(commands)
    _help(commands, parser)
    return parser


def _made(commands: _Commands, name: str, help: str) -> UsageParser:
    """The parser of a command, which the function of that name carries out."""
    parser: UsageParser = commands.add_parser(name, help=help, description=f"{help.capitalize()}.")
    parser.set_defaults(act=getattr(subcommands, name.replace("-", "_")))
    return parser


def _command(commands: _Commands, name: str, help: str) -> UsageParser:
    """The parser of a command on a program."""
    parser = _made(commands, name, help)
    optional: dict[str, Any] = {"nargs": "?"} if name == "repl" else {}
    parser.add_argument("program", metavar="PROG.dl", type=_name, **optional,
                        help="the program; - reads it from standard input")  # fmt: skip
    _add(parser, "-c TEXT", "the text of the program, in place of PROG.dl", type=str, dest="text")
    _add(parser, "-L LIBDIR*", "a directory of modules to import, searched after the program's own directory",
         type=str, dest="library")  # fmt: skip
    _add(parser, "--dialect", "the dialect of modules and statements of SQL (default: duckdb)",
         choices=DIALECTS, default=DIALECTS[0])  # fmt: skip
    refuse(parser, "DDlog", REASONS)
    return parser


def _help(commands: _Commands, whole: UsageParser) -> None:
    help = commands.add_parser("help", help="explain a command or a topic", description="Explain a topic.")
    help.add_argument("topic", nargs="?", metavar="TOPIC",
                      help=f"a command, or one of {', '.join(TOPICS)}")  # fmt: skip
    help.set_defaults(act=lambda given: explain_topic(whole, commands.choices, _FILE_FORMS, given.topic))


def _run(commands: _Commands) -> None:
    run = _command(commands, "run", "read facts, print the output relations, apply updates")
    run.formatter_class = argparse.RawDescriptionHelpFormatter
    run.epilog = _FILE_FORMS
    _session_options(run)
    _state_options(run)
    _add(run, "--output DIR", "write each output relation to a file or folder of this directory")
    _add(run, "--format", "form of the output (default: csv in files, table on a terminal, else records)",
         choices=(*PRINTED, "parquet", "arrow"))  # fmt: skip
    _add(run, "--no-limit", "print all rows and the whole columns of a table on a terminal", dest="whole")
    _add(run, "--relation REL*", "print only this relation, of any role", type=str, dest="relations")
    _add(run, "--query QUERY*", "print the answer to this query, a rule body such as 'Path(1, x)', and of "
         "the relations compute only what it needs", type=str, dest="queries")  # fmt: skip
    _add(run, "--sizes", "print only the number of rows of each relation")
    _add(run, "--explain", "print Spark's plan of each relation; only recursions are computed")
    _add(run, "--updates FILE", "apply the transactions of this file, or REL=FILE; - is standard input; may "
         "be repeated, and the files are applied in this order", action="append", default=[])  # fmt: skip
    _add(run, "--on-error stop|skip|FILE", "end at the first wrong line of facts and updates (stop, the "
         "default), or skip it, and write it with the reason to FILE", default="stop")  # fmt: skip
    _add(run, "--profile FILE", "measure the run, and write where the time went to FILE.json, or as a page "
         "to FILE.html")  # fmt: skip
    for name, effect in (
        ("init-snapshot", "print the output relations before the updates"),
        ("store", "let `dump` print the contents of relations"),
    ):
        run.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=True,
                         help=f"{effect} (default); --no-{name}: do not")  # fmt: skip
    _delta(run, "print and write the changes of all commits (default), of those that ask for it with `commit "
                "dump_changes`, or of none")  # fmt: skip
    _add(run, "--follow DIR", "apply the files that appear in DIR/REL/ until Ctrl-C, and print the changes")
    _add(run, "--checkpoint DIR", "with --follow: keep a state here, continue after the files in it")
    _add(run, "--once", "with --follow: end after the present files")
    _add(run, "--every TIME", "with --follow: the time between batches, such as '10 seconds'", type=str)


def _repl(commands: _Commands) -> None:
    help = "run a program interactively, with commands and queries"
    repl = _command(commands, "repl", help)
    _session_options(repl)
    _state_options(repl)
    _add(repl, "--token-file FILE", "with the address of a server in place of PROG.dl: its token (default: "
         "the one in the address)")  # fmt: skip
    _add(repl, "--on-demand", "compute no relation before a query asks for it, and then only what it asks "
         "for")  # fmt: skip
    _add(repl, "--format", "form of answers and dumped rows (default: tables, and records)", choices=PRINTED)
    _delta(repl, "print the number of changed rows after `commit`, and the rows after `commit dump_changes` "
                 "(all, the default); the rows only (asked); neither (none)")  # fmt: skip


def _serve(commands: _Commands) -> None:
    for name, help in (
        ("serve", "let many people and programs use a session, over HTTP"),
        ("ui", "serve a program on this machine, and open its console in the browser"),
    ):
        serve = _command(commands, name, help)
        _session_options(serve)
        _state_options(serve)
        _add(serve, "--host", "the address to listen on; one that other machines reach needs TLS (default: "
             "127.0.0.1)", default="127.0.0.1")  # fmt: skip
        _add(serve, "--port N", "the port; 0 takes a free one (default: 8420)", type=_port, default=8420)
        _add(serve, "--tls-cert FILE", "the certificate, in PEM", dest="certificate")
        _add(serve, "--tls-key FILE", "the key of the certificate, in PEM", dest="key")
        _add(serve, "--behind-proxy NAME", "a proxy of this name has TLS, and passes requests on",
             dest="proxy")  # fmt: skip
        _add(serve, "--token-file FILE", "the token of requests (default: a new one, which is printed)")
        _add(serve, "--watch", "go on with the program's file when it changes")
        if name == "serve":
            _add(serve, "--mcp", "tools for agents, by the Model Context Protocol: at /mcp of the server "
                 "(http, the default), or on standard input and output in its place (stdio)",
                 dest="agents", nargs="?", choices=("http", "stdio"), const="http")  # fmt: skip
        _add(serve, "--body-limit SIZE", "the largest body of a request (default: 64M)",
             dest="body", type=_size, default=64 << 20)  # fmt: skip
        _add(serve, "--row-limit N", "the most rows of an answer in JSON (default: 10,000)",
             dest="rows", type=_positive, default=10000)  # fmt: skip
        _add(serve, "--query-seconds TIME", "the most time of a question, such as 30s (default)",
             dest="seconds", type=_seconds, default=30.0)  # fmt: skip
        _add(serve, "--subscribers N", "the most subscribers (default: 5,000)", type=_positive, default=5000)


def _check(commands: _Commands) -> None:
    check = _command(commands, "check", "report the errors and warnings of a program")
    _add(check, "--externs", "what an extern function without Python code is (default: warn); its Python "
         "file is read, and never executed", choices=("warn", "error"), default="warn")  # fmt: skip
    _add(check, "--format", "form of the report: for people on standard error (text, the default), or on "
         "standard output, with the code of each error, as JSON, as SARIF, or as annotations of a workflow "
         "of GitHub", choices=("text", *REPORTED), default="text")  # fmt: skip


def _explain_error(commands: _Commands) -> None:
    explain = _made(
        commands, "explain-error", "print what the code of an error means, with a wrong and a right program"
    )
    explain.add_argument("code", metavar="CODE", nargs="?",
                         help="a code such as DL0206 (default: list all codes)")  # fmt: skip


def _circuit(commands: _Commands) -> None:
    circuit = _command(commands, "circuit", "show the circuit of a program")
    _add(circuit, "--stage", "before or after the rewriting to changes, or as workers on Spark have it, "
         "with the exchanges of rows (default: incremental)",
         choices=("relational", "incremental", "workers"), default="incremental")  # fmt: skip
    _add(circuit, "--output FILE", "draw it: FILE.svg, FILE.dot or FILE.txt", type=str)
    _add(circuit, "--profile FILE.json", "with --output FILE.svg: mark the nodes by what they cost in a run "
         "that wrote this profile")  # fmt: skip
    _add(circuit, "--engine", "spark: also say which expressions are SQL and which are Python, in a session "
         "without updates", choices=("in-process", "spark"), default="in-process")  # fmt: skip
    _add(circuit, "--plans", "show instead the order of each join from a change of each of its terms, by "
         "which keys, with the rows expected and why")  # fmt: skip
    _add(circuit, "--input PLACE*", "with --plans: run the program on these facts, and show the plans that "
         "ran, with the rows expected and true", type=str)  # fmt: skip


def _explain(commands: _Commands) -> None:
    explain = _command(commands, "explain", "show why a row holds or does not, on facts")
    explain.add_argument("question", metavar="ROW",
                         help="the row, such as 'Path(1, 2)'; a variable or _ stands for any value, and the "
                              "first row that matches is explained")  # fmt: skip
    _add(explain, "--all", "show each derivation of the row")
    _add(explain, "--not", "show why the row does not hold: of each rule, what fails", dest="absent")
    _add(explain, "--ends", "show the smallest sets of changes of facts that end the row")
    _add(explain, "--change", "show why the row came with the facts")
    _add(explain, "--within TIME", "with --not and --ends: the steps of about so long, such as 2s or 500ms "
         "(default: 2s)", type=_seconds)  # fmt: skip
    _add(explain, "--depth N", "the levels of a tree (default: 10; with --not: 3)", type=_positive)
    _add(explain, "--format", "the form (default: text, or as the ending of --output says)",
         dest="form", choices=("text", "json", "dot", "html"))  # fmt: skip
    _add(explain, "--output FILE", "write FILE instead of printing")
    _session_options(explain)
    _add(explain, "--state FILE", "explain by what this state holds, which is only read")


def _profile(commands: _Commands) -> None:
    profile = _made(commands, "profile", "show where the time of a run went, or compare two runs")
    profile.add_argument("profile", metavar="A.json", help="the file that `ddlog run --profile` wrote")
    profile.add_argument("other", metavar="B.json", nargs="?", help="compare with this run")
    _add(profile, "--output FILE", "write A as a page, FILE.html")


def _state(commands: _Commands) -> None:
    state = _made(commands, "state", "show what the state of a session holds")
    state.add_argument("file", metavar="FILE", help="the file of --state, or its folder or URL on Spark")
    _add(state, "--check", "read all of it, and say what is damaged and what can be had")
    _add(state, "--export DIR", "write each input relation to DIR/REL.parquet, as --input takes it, and "
         "outputs to DIR/_outputs")  # fmt: skip
    _add(state, "--compact", "remove what is no longer needed: history, and relations that the program does "
         "not have any more")  # fmt: skip


def _infer(commands: _Commands) -> None:
    infer = _made(commands, "infer", "print declarations for the rows of fact files, with types and keys")
    infer.add_argument("files", metavar="FILE", nargs="+", type=_name,
                       help="a fact file, or with options of a place: 'orders.csv?delimiter=;'")  # fmt: skip


def _fmt(commands: _Commands) -> None:
    fmt = _made(commands, "fmt", "format programs (.dl) and command files (.dat) in place")
    fmt.add_argument("paths", metavar="PATH", nargs="*", type=_name,
                     help="a file, or a folder, whose programs are meant (default: this folder); "
                          "- reads a program from standard input, and writes standard output")  # fmt: skip
    _add(fmt, "--check", "change nothing; print the files that would change, and end with 1 if there are any")
    _add(fmt, "--diff", "change nothing; print what would change, and end with 1 if anything would")
    _add(fmt, "--width COLUMNS", "the columns of a line (default: 100)", type=_positive, default=100)
    _add(fmt, "--lines FIRST-LAST", "only the declarations that have lines from FIRST to LAST", type=_lines)
    _add(fmt, "--quiet", "print no counts of files")


def _test(commands: _Commands) -> None:
    test = _made(commands, "test", "compare what programs give with the files that are expected")
    test.formatter_class = argparse.RawDescriptionHelpFormatter
    test.epilog = _TEST_FORMS
    test.add_argument("paths", metavar="PATH", nargs="*", type=_name,
                      help="a folder, whose tests are run, or a program (default: this folder)")  # fmt: skip
    _add(test, "--update", "make what the programs give now the expected files")


def _init(commands: _Commands) -> None:
    init = _made(commands, "init", "begin a program: a folder with facts, updates and a test")
    init.add_argument("name", metavar="NAME", type=_name, help="the folder, and the name of the program")


def _lsp(commands: _Commands) -> None:
    server = _made(
        commands, "lsp", "answer an editor by the language server protocol, on standard input and output"
    )
    _add(server, "-L LIBDIR*", "a directory of modules to import", dest="library", type=Path)


def _completion(commands: _Commands) -> None:
    completion = _made(
        commands, "completion", "print what a shell needs to complete commands, options and files"
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"),
                            help='the shell; for bash and zsh: eval "$(ddlog completion bash)", for fish: '
                                 "ddlog completion fish | source")  # fmt: skip


def _compile_kernels(commands: _Commands) -> None:
    help = "compile the kernels of the engine before the first run, as in an image of a container"
    _made(commands, "compile-kernels", help)


def _import_souffle(commands: _Commands) -> None:
    parser = _made(commands, "import-souffle", "translate a Soufflé program, or run it")
    parser.add_argument("program", metavar="FILE.dl", type=Path, help="the Soufflé program")
    _add(parser, "-o --output OUT.dl", "the file for the translation (default: standard output)", type=Path)
    _add(parser, "--word", "the bits of a number (default: 32, of FlowLog 64)", type=int, choices=(32, 64))
    _add(parser, "--dialect", "flowlog: types such as int32, and aggregates in heads (default: souffle)",
         choices=("souffle", "flowlog"), default="souffle")  # fmt: skip
    _add(parser, "-M --macro MACROS*", "define macros for the preprocessor: 'NAME OTHER=text'", type=str)
    _add(parser, "-I --include-dir DIR*", "a directory of files to include, searched after that of the "
         "including file", type=str)  # fmt: skip
    _add(parser, "--run", "run the program as Soufflé does: read the files of its .input directives, and "
         "write those of its .output directives")  # fmt: skip
    _add(parser, "-F --fact-dir DIR", "with --run: the directory of the fact files (default: the present "
         "one)")  # fmt: skip
    _add(parser, "-D --output-dir DIR", "with --run: the directory for the results (default: the present "
         "one); - is standard output")  # fmt: skip
    _add(parser, "-j --jobs N", "with --run: taken for compatibility, no effect", type=str)
    _add(parser, "-w --no-warn", "print no notes; with --run, an absent fact file is an empty relation")
    _add(parser, "--max-iterations N", "with --run: the most iterations of a recursion (default: no limit, "
         "with aggregates inside 65,536)", type=_positive)  # fmt: skip
    refuse(parser, "Soufflé", SOUFFLE_REASONS)


def _import_ovsdb(commands: _Commands) -> None:
    parser = _made(commands, "import-ovsdb", "write the module of an OVSDB schema")
    parser.add_argument("schema", metavar="SCHEMA.ovsschema", nargs="?", help="the schema, in JSON")
    _add(parser, "-f --schema-file FILE", "the schema, in place of SCHEMA.ovsschema",
         type=str, action="append", default=[])  # fmt: skip
    _add(parser, "--output-file FILE.dl", "the file for the module, also -o FILE.dl (default: standard "
         "output)")  # fmt: skip
    _add(parser, "-c --input-config FILE.json", "a file of options, which come before those that are given")
    _add(parser, "-O --output-config FILE.json", "write the options to this file, for -c")
    several = {
        "-o --output-table TABLE": "a table that the program also writes; a name with a dot is the file",
        "--output-only-table TABLE": "a table that the program only writes",
        "--ro TABLE.COLUMN": "a column of an output table that the program does not write",
        "--rw TABLE.COLUMN": "a column that it writes; it writes no other one of this table",
        "-k --key TABLE.COLUMN": "rows of an output table are those of the database with the same keys "
        "(default: with the same _uuid)",
        "-p --proxy TABLE": "an output table whose rows the program computes again, by rules for "
        "OutProxy_TABLE",
        "--intern-table TABLE": "a table whose rows are interned",
        "--rename OLD=NEW": "another name for the relation of a table, or for TABLE.COLUMN",
    }
    for form, meaning in several.items():
        _add(parser, f"{form}*", meaning)
    _add(parser, "--intern-strings", "strings are interned: istring")


def _add(parser: UsageParser, form: str, help: str, **how: Any) -> None:
    """Adds an option of a form such as `-o --output FILE`; `FILE*` may be repeated. One without a value that
    nothing else is said of is a switch. A value cannot be empty, unless its type is given."""
    *names, last = form.split()
    if not last.startswith("-"):
        how = {"type": _name, "metavar": last.removesuffix("*"), **how}
        if last.endswith("*"):
            how, help = {"action": "append", "default": [], **how}, f"{help}; may be repeated"
    else:
        names, how = [*names, last], how if how.keys() - {"dest"} else {"action": "store_true", **how}
    parser.add_argument(*names, help=help, **how)


def _delta(parser: UsageParser, help: str) -> None:
    parser.add_argument("--delta", nargs="?", choices=DELTAS, const="all", default="all", help=help)
    parser.add_argument("--no-delta", dest="delta", action="store_const", const="none", help="--delta none")


def _session_options(parser: UsageParser) -> None:
    _add(parser, "--input PLACE*", "a directory with a fact file for each input relation, or REL=PLACE",
         type=str)  # fmt: skip
    _add(parser, "--header", "whether the first line of a .csv file names the columns; auto (default): it "
         "does if its cells are their names, and of one or two none is a cell below",
         choices=("yes", "no", "auto"))  # fmt: skip
    _add(parser, "--extra", "what is done with columns that the relation does not have (default: error)",
         choices=("error", "ignore"))  # fmt: skip
    _add(parser, "--map REL=PLACE:COL=NAME*", "read REL from a place where the column COL is called NAME",
         type=str)  # fmt: skip
    _add(parser, "--max-iterations N", "the most iterations of a recursion (default: no limit, with groups "
         "inside 65,536)", type=_positive)  # fmt: skip
    _add(parser, "--output-internal-relations", "make every relation that is not an input an output relation")
    _engine_options(parser)
    _add(parser, "--quiet", "print no notes, warnings or progress")


def _state_options(parser: UsageParser) -> None:
    _add(parser, "--state FILE", "keep the inputs in this file, and go on from what it holds")
    _add(parser, "--durability", "with --state: a commit is on disk before its changes are printed (commit, "
         "the default), at most a second later (interval), or at the end (exit)",
         choices=("commit", "interval", "exit"))  # fmt: skip
    _add(parser, "--read-only", "with --state: read the last commit, also beside a run that writes")
    _add(parser, "--replace", "with --state: let --input replace what the state holds")
    _add(parser, "--merge", "with --state: let --input add to what the state holds")
    _add(parser, "--migrate", "with --state: take over input relations that have other columns now, by the "
         "names of the columns")  # fmt: skip
    _add(parser, "--fill REL.COL=VALUE*", "with --migrate: the value of a new column (default: the zero of "
         "its type)", type=str)  # fmt: skip


def _engine_options(parser: UsageParser) -> None:
    _add(parser, "--engine", "auto (default): Spark if options, the environment (MASTER, SPARK_REMOTE) or "
         "an active session says where Spark is, or if the input is larger than the in-process limit; "
         "otherwise in-process", choices=("auto", "in-process", "spark"), default="auto")  # fmt: skip
    _add(parser, "--master URL", "Spark's master: local[*], spark://HOST:PORT, yarn", type=str)
    _add(parser, "--remote URL", "a Spark Connect server: sc://HOST[:PORT]", type=str)
    _add(parser, "--conf KEY=VALUE*", "a setting of Spark", type=str)
    _add(parser, "-w --workers N", "the number of threads that share the work, in-process or on Spark on "
         "this machine (default: one for each processor)", type=_positive)  # fmt: skip
    _add(parser, "--in-process-limit SIZE", "the most input for the in-process engine, such as 8G; "
         "compressed and columnar files count several times (default: a quarter of the memory)",
         type=_size, dest="limit")  # fmt: skip
    _add(parser, "--memory-limit SIZE", "the most memory of the process, such as 4GiB, or none: a commit or "
         "query that would take more is an error, and is rolled back (in-process; default: three quarters "
         "of the memory of the machine or container)", type=_limit)  # fmt: skip
    _add(parser, "--spill DIR", "a folder on a disk, to which parts of a large state go near the memory "
         "limit (in-process)", type=str)  # fmt: skip
    _add(parser, "--maintain", "how a commit updates recursive relations: always derives their changes from "
         "those of inputs, never evaluates them again and compares, where that gives the same, and auto, "
         "the default, takes the cheaper way",
         choices=("always", "never", "auto"), default="auto")  # fmt: skip


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a name cannot be empty")
    return text


def _size(text: str) -> int:
    from ..sessions.sizes import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _limit(text: str) -> int:
    from ..engine.machine import UNLIMITED

    return UNLIMITED if text == "none" else _size(text)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s)?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2s or 500ms")
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number up to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _lines(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?", text)
    if found is None or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} are no lines such as 10-20")
    return int(found[1]), int(found[2] or found[1])


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **named: object) -> None:
        print(versions())
        parser.exit()


_COMMANDS: dict[str, Callable[[_Commands], None]] = {
    "run": _run,
    "repl": _repl,
    "serve": _serve,
    "ui": _serve,
    "check": _check,
    "explain-error": _explain_error,
    "circuit": _circuit,
    "explain": _explain,
    "profile": _profile,
    "state": _state,
    "infer": _infer,
    "fmt": _fmt,
    "import-souffle": _import_souffle,
    "import-ovsdb": _import_ovsdb,
    "test": _test,
    "init": _init,
    "lsp": _lsp,
    "completion": _completion,
    "compile-kernels": _compile_kernels,
}
