"""The private rooms of the Python package and what they may import when they load. The table is that of ARCHITECTURE.md."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.own

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "rushlight"

# What the files of a room import when they load, beside the compiled module and modules of one file at the
# package's root. What a function imports when it is called is its own affair.
MAY_USE = {
    "_calls": set(),
    "_devices": set(),
    "_messages": set(),
    "_functions": {"_calls", "_tensors", "autograd", "linalg", "nn"},
    "_tensors": {"_files", "_functions", "autograd", "utils"},
    "_files": {"_tensors", "_compat"},
}

# Who may have torch's inner names: modules that torch itself has around them, and names as files have them.
SHELLS = {"__init__", "jit", "overrides", "sparse", "utils", "_files"}


def loaded(source, place):
    """Yield the paths within the package that a file at `place` imports when it loads."""
    for node in ast.walk(ast.parse(source)):
        if node.__class__ not in (ast.Import, ast.ImportFrom) or node.col_offset:
            continue
        if isinstance(node, ast.Import):
            named = [alias.name.split(".") for alias in node.names]
            yield from (path[1:] for path in named if path[0] == "rushlight" and path[1:])
            continue
        path = node.module.split(".") if node.module else []
        if node.level:
            path = [*place[: len(place) - node.level], *path]
        elif path[0] == "rushlight":
            path = path[1:]
        else:
            continue
        yield from ([path] if path else [[alias.name] for alias in node.names])


def rooms_used(source, place):
    room = place[0]
    used = {path[0] for path in loaded(source, place)} - {room}
    return {name for name in used if (PACKAGE / name).is_dir()}


def files():
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE).with_suffix("").parts
        yield place, file.read_text(encoding="utf-8")


def test_private_rooms_import_only_what_they_may():
    wrong = [
        f"{'/'.join(place)} imports {name}"
        for place, source in files()
        if place[0] in MAY_USE
        for name in sorted(rooms_used(source, place) - MAY_USE[place[0]])
    ]
    assert not wrong, "\n".join(wrong)
    for room, allowed in MAY_USE.items():
        used = set().union(*(rooms_used(source, place) for place, source in files() if place[0] == room))
        assert used == allowed, f"the table allows {room} what it does not use"


def test_torchs_inner_names_are_loaded_by_their_shells_only():
    users = {place[0] for place, source in files() if "_compat" in rooms_used(source, place)}
    assert users == SHELLS


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("from ..nn import functional", {"nn"}),
        ("from .. import _compat, _rushlight", {"_compat"}),
        ("from . import chains\nfrom .chains import dot", set()),
        ("import rushlight.optim.sgd", {"optim"}),
        ("from rushlight.func import grad", {"func"}),
        ("def f():\n    from ..nn import functional", set()),
    ],
)
def test_imports_are_found(source, used):
    assert rooms_used(source, ("_functions", "planted")) == used
