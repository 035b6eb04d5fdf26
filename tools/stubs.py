"""Write the type stub of the compiled module.

    python tools/stubs.py            # writes python/rushlight/_rushlight.pyi
    python tools/stubs.py --check    # fails if it is not what would be written

Native functions and methods come from the table in the module itself; classes are written by
hand in `tools/classes.pyi`, where a line `# native methods` or `# native functions` stands for them.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from rushlight import _rushlight

HERE = Path(__file__).parent
STUB = HERE.parent / "python" / "rushlight" / "_rushlight.pyi"
CLASSES = HERE / "classes.pyi"
HEAD = """\
# Written by tools/stubs.py from the table of native functions and tools/classes.pyi.
# ruff: noqa: E501
# fmt: off
"""

# A parameter: name, kind, whether None is taken, whether it is keyword-only, the default as written.
Row = tuple[str, str, bool, bool, "str | None"]
Overload = tuple[list[Row], str]

ANNOTATIONS = {
    "Tensor": "Tensor",
    "Operand": "Tensor | _Number",
    "Tensors": "_Tensors",
    "Number": "_Number",
    "Int": "_int",
    "Index": "_int",
    "Float": "_float",
    "Bool": "_bool",
    "Text": "_str",
    "DType": "_DType",
    "Device": "_Device",
    "Layout": "_Layout",
    "MemoryFormat": "_MemoryFormat",
    "Generator": "_Generator",
    "Storage": "_Storage",
    "Ints": "_Ints",
    "Floats": "_Floats",
    "Numbers": "_Numbers",
    "Object": "typing.Any",
}
LITERAL = re.compile(r'None|True|False|-?\d+(\.\d+)?(e-?\d+)?|"[^"]*"')


def annotation(kind: str, nullable: bool) -> str:
    """The Python type of a kind, such as `Ints(2)`: with a size, one element stands for all."""
    name, _, size = kind.rstrip(")").partition("(")
    text = ANNOTATIONS[name]
    if size not in ("", "0"):
        text += " | _int" if name == "Ints" else " | _float"
    return f"{text} | None" if nullable else text


def parameters(rows: list[Row]) -> list[str]:
    """The parameter list. What follows a default needs one as well in Python."""
    parts = []
    starred = defaulted = False
    for name, kind, nullable, keyword_only, default in rows:
        if keyword_only and not starred:
            parts.append("*")
            starred = True
        text = f"{name}{'_' if keyword.iskeyword(name) else ''}: {annotation(kind, nullable)}"
        if default is not None:
            text += f" = {default}" if LITERAL.fullmatch(default) else " = ..."
            defaulted = True
        elif defaulted and not starred:
            text += " = ..."
        parts.append(text)
    return parts


def spread(rows: list[Row]) -> list[str] | None:
    """The parameter list with the one positional list of integers spread out, if there is one."""
    positional = [row for row in rows if not row[3]]
    if len(positional) != 1 or positional[0][1] != "Ints(0)":
        return None
    rest = [part for part in parameters(rows)[1:] if part != "*"]
    return [f"*{positional[0][0]}: _int", *rest]


def own_names(returned: str) -> str:
    """Say builtins by the names that the stub keeps for them: the module has others of the same name."""
    return re.sub(r"\b(bool|int|float|str)\b", r"_\1", returned.replace("numpy.ndarray", "typing.Any"))


def definition(name: str, overloads: list[Overload], place: str) -> list[str]:
    """The lines for one function, method, or static method of the `nn` namespace."""
    forms = [(parameters(rows), returned) for rows, returned in overloads]
    for rows, returned in overloads:
        if (form := spread(rows)) is not None:
            forms.append((form, returned))
    decorators = ["@staticmethod"] if place == "nn" else []
    if len(forms) > 1:
        decorators.insert(0, "@typing.overload")
    receiver = ["self"] if place == "method" else []
    indent = "" if place == "function" else "    "
    lines = []
    for parts, returned in forms:
        lines += [indent + decorator for decorator in decorators]
        lines.append(f"{indent}def {name}({', '.join(receiver + parts)}) -> {own_names(returned)}: ...")
    return lines


def text() -> str:
    """The whole stub."""
    table = _rushlight._signatures()
    natives: dict[str, list[str]] = {"function": [], "method": [], "nn": []}
    for place, name, overloads in table:
        natives[place] += definition(name, overloads, place)
    if natives["nn"]:
        natives["function"] += ["", "class _nn:", *natives["nn"]]
    lines = []
    for line in CLASSES.read_text().splitlines():
        stands_for = {"# native methods": "method", "# native functions": "function"}.get(line.strip())
        lines += natives[stands_for] if stands_for else [line]
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the stub, or compare it."""
    wanted = text()
    if "--check" in arguments:
        same = STUB.exists() and STUB.read_text() == wanted
        print("the stub is as generated" if same else "the stub is out of date: run tools/stubs.py")
        return 0 if same else 1
    STUB.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
