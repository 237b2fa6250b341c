"""Help by topic, examples first."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from .usage import UsageParser, did_you_mean

BEGINNING = """\
to begin
  ddlog -c 'output relation R(x: u32)  R(1). R(2).'   run a program of one line
  ddlog run paths.dl --input facts                    read facts, print the output relations
  ddlog run paths.dl --updates day2.dat               apply updates, print the exact changes
  ddlog repl paths.dl                                 ask and change, one command after another
  ddlog check paths.dl                                report errors and warnings
  ddlog help TOPIC                                    facts, output, updates, follow, queries, state, memory,
                                                      codes, or a command
"""

_EXAMPLES = {
    "facts": """\
  ddlog run p.dl --input facts                     facts/Edge.csv are the facts of the relation Edge
  ddlog run p.dl --input Edge=data/e.parquet
  ddlog run p.dl --input 'Edge=logs/2026-*.jsonl'
""",
    "output": """\
  ddlog run p.dl --input facts --output out              out/Path.csv
  ddlog run p.dl --input facts --output out --format parquet
  ddlog run p.dl --input facts --relation Path --format jsonl
""",
    "updates": """\
  ddlog run p.dl --input facts --updates day2.dat
  producer | ddlog run p.dl --updates -
""",
    "follow": """\
  ddlog run p.dl --follow incoming --state s
  ddlog run p.dl --follow incoming --output out --once
""",
}
_HEADS = {"facts": "fact files", "output": "output", "updates": "update files", "follow": "followed files"}
_OTHERS = {
    "queries": """\
  ddlog run p.dl --input facts --query 'Path(1, x)'          print what satisfies a rule body
  ddlog run p.dl --input facts --query 'Path(1, x), x > 5'
  ddlog explain p.dl 'Path(1, 2)' --input facts              show why a row holds
  ddlog explain p.dl 'Path(2, 1)' --input facts --not        show why it does not

A query computes only what it needs of the relations. In the REPL a query begins with `?`.
""",
    "state": """\
  ddlog run p.dl --input facts --state s.ddlog     the first run keeps its facts and updates
  ddlog run p.dl --updates day2.dat --state s.ddlog
  ddlog repl p.dl --state s.ddlog                  goes on where the last one ended
  ddlog state s.ddlog                              says what it holds; also --check, --export DIR, --compact

A commit is on disk before its changes are printed. --durability interval or exit is faster.
""",
    "memory": """\
  ddlog run p.dl --input facts --memory-limit 4GiB
  ddlog run p.dl --input facts --memory-limit none

A commit that would bring the process over the limit is an error that says which relation grew, and is rolled
back. By default the limit is three quarters of the memory of the machine or container.
""",
    "codes": """\
  0    the command did what it was asked to do
  1    an error in the program, the facts, the updates or the state, options that do not go together,
       or output that cannot be written
  2    an option or argument that the command does not have, or a value that it cannot read
  70   a fault of ddlog
  130  Ctrl-C
  143  SIGTERM
""",
}
MAN = "man"  # the manual page, for `ddlog help man | man -l -`
TOPICS = (*_EXAMPLES, *_OTHERS, MAN)


def explain_topic(
    whole: UsageParser, commands: Mapping[str, UsageParser], file_forms: str, topic: str | None
) -> int:
    """Prints the help for a command or a topic, or for all; returns the exit code."""
    if topic is None:
        whole.print_help()
    elif topic in _EXAMPLES:
        sys.stdout.write(f"{_EXAMPLES[topic]}\n{section(file_forms, _HEADS[topic])}\n")
    elif topic in _OTHERS:
        sys.stdout.write(_OTHERS[topic])
    elif topic == MAN:
        from .manpage import man_page

        sys.stdout.write(man_page(whole, commands))
    elif topic in commands:
        commands[topic].print_help()
    else:
        close = did_you_mean(topic, (*TOPICS, *commands))
        whole.error(f"there is no topic {topic!r}{close or ': there are ' + ', '.join(TOPICS)}")
    return 0


def section(text: str, head: str) -> str:
    """The part of a text that begins with a heading, up to the next one."""
    parts = text.strip().split("\n\n")
    first = next(i for i, part in enumerate(parts) if part.startswith(head))
    rest = (i for i, part in enumerate(parts) if i > first and part.startswith(tuple(_HEADS.values())))
    return "\n\n".join(parts[first : next(rest, len(parts))])
