"""The examples and commands of the README give what it shows, and the files that documents name exist."""

from __future__ import annotations

import re
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest

from .pages import console, output_of, python

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is (if it is one), its text."""

    language: str
    file: str
    text: str


BLOCKS = [Block(*m) for m in re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", README, re.M | re.S)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that the README shows."""
    place = tmp_path_factory.mktemp("readme")
    for block in BLOCKS:
        if block.file:
            (place / block.file).parent.mkdir(exist_ok=True)
            (place / block.file).write_text(block.text)
    return place


CONSOLE = [
    pytest.param(b, id=b.text[2:32], marks=[pytest.mark.java] if "--engine spark" in b.text else [])
    for b in BLOCKS
    if b.language == "console"
]


@pytest.mark.parametrize("block", CONSOLE)
def test_commands_print_what_is_shown(block: Block, place: Path) -> None:
    with chdir(place):
        assert console(block.text).rstrip() == block.text.rstrip()


CODES = [b for b in BLOCKS if b.language == "python"]
COMMANDS = [b.text.strip().replace("\\\n", "") for b in BLOCKS if b.language == "sh"]
SHOWN, *PRINTED = [b for b in BLOCKS if b.language == "output"]


def test_the_python_example_prints_what_is_shown(place: Path) -> None:
    """The one on Spark is run in `tests/spark/test_cli.py`."""
    with chdir(place):
        assert python(CODES[0].text, {"__name__": "__main__"}).rstrip() == PRINTED[0].text.rstrip()


def test_the_first_command_runs_the_program_that_is_shown(place: Path) -> None:
    install, run = COMMANDS[0].split(" && ")
    assert install == "pip install -e ."
    with chdir(ROOT):
        assert output_of(f"exec {run}").rstrip() == SHOWN.text.rstrip()  # in a process of its own
    for name in ("routes.dl", "facts/Link.csv", "updates.dat"):
        assert (ROOT / "programs" / "routes" / name).read_text() == (place / name).read_text()


def test_the_second_command_is_what_ci_runs() -> None:
    assert COMMANDS[1] in (ROOT / ".ci" / "run").read_text()


def test_the_figure_is_that_of_the_benchmarks() -> None:
    (figure,) = re.findall(r"takes ([0-9.]+) ms", README)
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text()
    assert f"| tc_random_1m: one edge deleted | {figure} |" in benchmarks


def test_the_commands_in_the_text_work(place: Path) -> None:
    with chdir(place):
        assert "reach" in output_of("ddlog circuit routes.dl").lower()
        output_of("ddlog circuit routes.dl --output routes.svg")
    assert (place / "routes.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("document", ["README.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))])
def test_files_that_documents_name_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    named = re.findall(r"`((?:ddlog|engine|stdlib|programs|tests|docs)/[\w/.]*)`", text)
    folder = (ROOT / document).parent
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert [link for link in links if not leads_somewhere(link, ROOT / document, folder)] == []


def leads_somewhere(link: str, document: Path, folder: Path) -> bool:
    """Whether the file of a link is there, and the heading that it names."""
    name, _, heading = link.partition("#")
    target = folder / name if name else document
    if not heading or not target.is_file():
        return target.exists() and not heading
    headings = re.findall(r"(?m)^#+ (.+)$", target.read_text())
    return heading in [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings]
