"""IPython in this process, for the tests of magics."""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Notebook:
    """An IPython without a terminal."""

    def __init__(self) -> None:
        self.shell: Any = InteractiveShell.instance()
        self.shell.run_cell("%load_ext ddlog")

    def run(self, code: str, cell: str | None = None) -> tuple[list[dict[str, str]], Any]:
        """What a cell shows, each with its media types, and its error."""
        with capture_output() as shown:
            done = self.shell.run_cell(code, store_history=True, cell_id=cell)
        failed = done.error_in_exec or done.error_before_exec
        printed = shown.stdout if done.result is None and failed is None else ""
        outputs = [{"text/plain": printed}] if printed else []
        outputs += (each.data for each in shown.outputs)
        if done.result is not None:
            outputs.append(self.shell.display_formatter.format(done.result)[0])
        return outputs, failed

    def texts(self, code: str, cell: str | None = None) -> str:
        """The texts that a cell without an error shows."""
        outputs, error = self.run(code, cell)
        assert error is None, error
        return "\n".join(each["text/plain"] for each in outputs)
