"""What is true of an operation is asked of its registration: no file of Python decides by the names of operations.

The same of Rust is `tests/engine/naming.rs`.
"""

import ast
from pathlib import Path

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "rushlight"

# Who computes operations for tensors of a kind, or translates them: a function for each, found by its name.
BY_OPERATION = {
    "_devices/fallback.py": "which functions make tensors without values",
    "_tensors/meta.py": "which functions make tensors without numbers",
    "_tensors/meta_forms.py": "the forms of what operators give",
    "autograd/_profiled.py": "what torch calls the events of functions",
    "masked/_conventions.py": "what masked elements count as in a reduction",
    "masked/_layouts.py": "the same in sparse tensors",
    "masked/_tensor.py": "functions of masked tensors",
    "nested/_functions.py": "functions of nested tensors",
    "onnx/_elementwise.py": "what operators are called in files",
    "onnx/_structured.py": "what operators are called in files",
    "onnx/_translating.py": "what operators are called in files",
    "sparse/__init__.py": "functions of sparse tensors",
    "sparse/_elements.py": "functions of sparse tensors",
}

# Words that callers say or Python has, and that operations have for names too.
WORDS = {
    *(
        "all",
        "any",
        "max",
        "mean",
        "min",
        "prod",
        "sum",
        "amax",
        "amin",
        "size",
        "t",
        "zeros",
        "real",
        "linear",
        "cos",
    ),
    *(
        "bfloat16",
        "bool",
        "float",
        "int",
        "numpy",
        "cpu",
        "cuda",
        "gelu",
        "leaky_relu",
        "relu",
        "tanh",
        "threshold",
    ),
}
OTHER_WORDS = {
    ("compiler/waiting.py", "abs"): "a function of Python's numbers",
    ("compiler/waiting.py", "add"): "a method of Python's sets",
    ("compiler/waiting.py", "round"): "a function of Python's numbers",
    ("optim/lr_scheduler/plateau.py", "abs"): "a way to compare",
    ("_tensors/copying.py", "conj"): "a kind of memory",
}


def texts(node):
    """Yield the strings of a literal, also those of a set that is made of one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for one in node.elts:
            yield from texts(one)
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("frozenset", "set")
    ):
        for one in node.args:
            yield from texts(one)


def compared(source):
    """Return the strings that a piece of code compares something with, looks for it in or matches it on."""
    tree = ast.parse(source)
    known = {
        node.targets[0].id: list(texts(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.MatchValue):
            found.update(texts(node.value))
        if not isinstance(node, ast.Compare):
            continue
        for operator, one in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn | ast.Eq | ast.NotEq):
                found.update(texts(one))
                found.update(known.get(one.id, ()) if isinstance(one, ast.Name) else ())
            if isinstance(operator, ast.Eq | ast.NotEq):
                found.update(texts(node.left))
    return found


def test_nothing_but_what_computes_operations_decides_by_their_names():
    names = {name for _, name, _ in torch._rushlight._signatures()}
    assert len(names) > 600
    wrong, by_operation, other = [], set(), set()
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE).as_posix()
        for name in compared(file.read_text(encoding="utf-8")) & names - WORDS:
            if place in BY_OPERATION:
                by_operation.add(place)
            elif (place, name) in OTHER_WORDS:
                other.add((place, name))
            else:
                wrong.append(f"{place} compares with {name}")
    assert not wrong, "\n".join(sorted(wrong))
    assert by_operation == BY_OPERATION.keys(), "a file that does not any more"
    assert other == OTHER_WORDS.keys(), "a word that is not there any more"


def test_comparisons_are_found():
    source = """
KNOWN = frozenset(["a", "b"])
OTHER = ("c",)
def f(name):
    if name in KNOWN or name == "d" or name not in ("e", "f"):
        return {"g": "h"}[name]
    match name:
        case "i" | "j":
            return OTHER
"""
    assert compared(source) == {"a", "b", "d", "e", "f", "i", "j"}
