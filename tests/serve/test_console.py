"""The console in headless Chromium: every page at two widths, in light and dark, without errors and without
findings of axe. It needs `apt-get install chromium` and `pip install playwright axe-playwright-python`."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.serve.conftest import Serving

CHROMIUM = shutil.which("chromium")
_HERE = all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python")))
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or not _HERE,
    reason="apt-get install chromium, and pip install playwright axe-playwright-python",
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PAGES = ("relations", "relations/Reach", "query", "write", "changes", "program", "circuit", "state")
FACTS = {
    "insert": {"Link": [["a", "b"], ["b", "c"], ["c", "<img src=x onerror=alert(1)>"]], "Node": [1, "x"]}
}
Opening = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def opening(browser: Any, serving: Serving) -> Iterator[Opening]:
    """A function that opens the console with a width and colors; at the end there was no error in its log."""
    served, errors = serving(), list[str]()
    with served.client() as client:
        client.post("/transactions", json=FACTS)
    contexts = []

    def note(told: Any) -> None:
        if told.type in ("error", "warning") and "status of 422" not in told.text:
            errors.append(told.text)

    def open(width: int = 1280, colors: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 860}, color_scheme=colors)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(served.address)
        page.wait_for_selector("main h1")
        return page

    yield open
    for each in contexts:
        each.close()
    assert errors == []


def _go(page: Any, name: str) -> None:
    page.evaluate("name => { location.hash = `#/${name}` }", name)
    page.wait_for_timeout(400)


@pytest.mark.parametrize(("width", "colors"), [(1280, "light"), (390, "dark")])
def test_every_page(opening: Opening, width: int, colors: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, axe = opening(width, colors), Axe()
    for name in PAGES:
        _go(page, name)
        if folder := os.environ.get("DDLOG_TEST_PICTURES"):
            page.screenshot(path=f"{folder}/{name.replace('/', '-')}-{width}-{colors}.png")
        found = axe.run(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_browse_filter_and_explain(opening: Opening) -> None:
    page = opening()
    page.click("text=Reach")
    page.wait_for_selector("table tbody tr")
    assert page.locator("table tbody tr").count() == 6
    assert page.locator("main img").count() == 0, "texts of facts are texts"
    page.fill("input[type=search]", "onerror")
    page.wait_for_selector("text=1 to 3 of 3")
    page.click("table tbody tr td button")
    page.wait_for_selector("dialog .tree")
    assert "Link(" in page.inner_text("dialog .tree")
    page.keyboard.press("Escape")
    page.fill("input[aria-label='A row that is missing']", 'Reach("c", "a")')
    page.click("text=Why not?")
    page.wait_for_selector("dialog .tree")


def test_query_with_completion_errors_and_history(opening: Opening) -> None:
    page = opening()
    _go(page, "query")
    page.locator("textarea").press_sequentially("Deg")
    page.keyboard.press("Control+Space")
    assert page.input_value("textarea") == "Degree(node, links)"
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("table tbody tr")
    page.fill("textarea", "Degree(")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".error")
    assert "<query>:1:7: this `(` has no closing `)`" in page.inner_text(".error")
    assert page.locator("select option").count() == 3


def test_write_and_watch(opening: Opening) -> None:
    watching, writing = opening(), opening(390)
    _go(watching, "changes")
    _go(writing, "write")
    writing.fill("textarea", 'z,"y,1"\ny1,"say ""hi"""')
    writing.click("button:text-is('Try to insert')")
    writing.wait_for_selector("tr.come")
    writing.click("button:text-is('Insert')")
    writing.wait_for_selector("text=Committed")
    watching.wait_for_selector("tr.come")
    assert 'say "hi"' in watching.inner_text("main")
    assert "+1" in watching.inner_text("tr.come .sign")
    watching.click("tr.come button")
    watching.wait_for_selector("dialog .tree")


def test_large_numbers_are_exact(opening: Opening) -> None:
    """A number of JavaScript holds integers up to 2^53 alone, and JSON of the console has others, too."""
    page = opening()
    _go(page, "program")
    page.wait_for_selector(".source span")
    columns = "n: u64, list: Vec<string>, text: Option<string>, other: Option<u8>"
    more = f"input relation Big({columns})\noutput relation Same({columns})\n"
    page.fill("textarea", page.input_value("textarea") + more + "Same(n, l, t, o) :- Big(n, l, t, o).\n")
    page.click("text=Go on with this program")
    page.wait_for_selector("text=No output relation changed")
    _go(page, "write")
    page.select_option("select", "Big")
    page.fill("label:has-text('n: bit<64>') input", "18446744073709551615")
    page.fill("label:has-text('list') input", '["a", "9007199254740993"]')
    page.fill("label:has-text('text') input", "7")
    page.click("button:text-is('Insert')")
    page.wait_for_selector("text=Committed")
    assert "18446744073709551615" in page.inner_text("tr.come")
    _go(page, "relations/Same")
    page.wait_for_selector("td")
    assert page.inner_text("td >> nth=0") == "18446744073709551615"
    assert page.inner_text("td >> nth=1") == '["a","9007199254740993"]'
    assert (page.inner_text("td >> nth=2"), page.inner_text("td >> nth=3")) == ("7", "null")
    page.click("td button")
    page.wait_for_selector("dialog .tree")
    assert "18446744073709551615" in page.inner_text("dialog")


def test_another_program(opening: Opening) -> None:
    page = opening()
    _go(page, "program")
    page.wait_for_selector(".source span")
    page.fill("textarea", page.input_value("textarea") + "Reach(x) :- Link(x, x).\n")
    page.click("text=Go on with this program")
    page.wait_for_selector(".error")
    page.fill(
        "textarea", page.input_value("textarea").replace("Reach(x) :- Link(x, x).\n", 'Name(7, "q").\n')
    )
    page.click("text=Go on with this program")
    page.wait_for_selector("tr.come")
