"""Run a notebook's code cells in this process and collect what Jupyter would show below each.

An output is a dictionary as the notebook format stores it. What differs from one run to the next by nature
(addresses, and the numbers of cells tagged `random`) is masked by `comparable`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "examples" / "notebooks"
SEED = 0

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
# With the spaces before it, because a printed tensor aligns its columns to the longest number.
NUMBER = re.compile(r"\s*-?\d+\.\d*(?:e[+-]?\d+)?")

Cell = dict[str, Any]
Output = dict[str, Any]


def notebook_paths() -> list[Path]:
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def code_cells(path: Path) -> list[Cell]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def is_random(cell: Cell) -> bool:
    return "random" in cell["metadata"].get("tags", [])


def run(cells: list[Cell]) -> Iterator[list[Output]]:
    """Execute the cells in one namespace, in order; yields the outputs of each."""
    import rushlight

    rushlight.manual_seed(SEED)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        yield Execution(number).run("".join(cell["source"]), namespace)


def comparable(outputs: list[Output], mask_numbers: bool) -> list[Output]:
    """The outputs without what no two runs have in common."""

    def masked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: masked(part) for key, part in value.items()}
        if isinstance(value, list):
            return masked("".join(value))
        if isinstance(value, str):
            value = ADDRESS.sub("0x…", value)
            return NUMBER.sub(" #", value) if mask_numbers else value
        return value

    return [masked(output) for output in outputs]


class Execution:
    """One cell on its way: the outputs so far, in the order in which they appear."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.outputs: list[Output] = []

    def run(self, source: str, namespace: dict[str, Any]) -> list[Output]:
        namespace["display"] = self.display
        with (
            contextlib.redirect_stdout(Stream(self, "stdout")),
            contextlib.redirect_stderr(Stream(self, "stderr")),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = self.show_warning
            try:
                result = evaluate(source, f"<cell {self.number}>", namespace)
            except Exception as error:
                self.add_error(error)
            else:
                if result is not None:
                    result_output = {"output_type": "execute_result", "execution_count": self.number}
                    self.outputs.append(result_output | {"metadata": {}, "data": mime_bundle(result)})
        return self.outputs

    def display(self, *values: Any) -> None:
        for value in values:
            output = {"output_type": "display_data", "metadata": {}, "data": mime_bundle(value)}
            self.outputs.append(output)

    def show_warning(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        self.add_text("stderr", f"{category.__name__}: {message}\n")

    def add_error(self, error: Exception) -> None:
        name, text = type(error).__name__, str(error)
        output = {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
        self.outputs.append(output)

    def add_text(self, stream: str, text: str) -> None:
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == stream:
            text = "".join(last["text"]) + text
            self.outputs.pop()
        self.outputs.append({"output_type": "stream", "name": stream, "text": text.splitlines(keepends=True)})


class Stream(io.TextIOBase):
    """Stands in for standard output or standard error while a cell runs."""

    def __init__(self, execution: Execution, name: str) -> None:
        self.execution = execution
        self.name = name

    def write(self, text: str) -> int:
        if text:
            self.execution.add_text(self.name, text)
        return len(text)


def evaluate(source: str, filename: str, namespace: dict[str, Any]) -> Any:
    """Execute a cell; the value of a last line that is an expression, as the prompt would show it."""
    body = ast.parse(source).body
    shown = body.pop().value if body and isinstance(body[-1], ast.Expr) else ast.Constant(None)
    exec(compile(ast.Module(body, type_ignores=[]), filename, "exec"), namespace)
    return eval(compile(ast.fix_missing_locations(ast.Expression(shown)), filename, "eval"), namespace)


def mime_bundle(value: Any) -> dict[str, list[str]]:
    return {"text/plain": shown(value).splitlines(keepends=True)}


def shown(value: Any) -> str:
    """`repr`, but for an object without one of its own the short form that Jupyter shows."""
    kind = type(value)
    if kind.__repr__ is not object.__repr__:
        return repr(value)
    module = "" if kind.__module__ in (None, "builtins") else f"{kind.__module__}."
    return f"<{module}{kind.__qualname__} at {id(value):#x}>"
