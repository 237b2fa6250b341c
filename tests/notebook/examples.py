"""Runs the notebooks of examples/: `python -m tests.notebook.examples` writes their outputs anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
ON_SPARK = EXAMPLES / "spark_pipeline.ipynb"


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new kernel. An error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}, record_timing=False
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def shown(notebook: Any) -> list[tuple[str, list[Any]]]:
    """What each cell shows: in every form, or as text if another package made it."""
    cells = (each for each in notebook.cells if each.cell_type == "code")
    return [(cell.source, [_forms(each) for each in cell.outputs]) for cell in cells]


def _forms(output: Any) -> Any:
    forms = output.get("data")
    if forms is None:
        return output["text"]
    own = "ddlog" in forms.get("text/html", "") or "image/svg+xml" in forms
    return dict(forms) if own else forms["text/plain"]


if __name__ == "__main__":
    for each in NOTEBOOKS:
        nbformat.write(executed(each), each)
