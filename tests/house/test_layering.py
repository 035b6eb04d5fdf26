"""The private rooms of the Python package, what they may import when they load, and how large files and folders may be.

The table of rooms is that of ARCHITECTURE.md.
"""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.own

TOP = Path(__file__).resolve().parents[2]
PACKAGE = TOP / "python" / "rushlight"

# What can be read in one go: lines of a file, unit tests at its end aside, and entries of a folder.
LINES = 450
ENTRIES = 25

# Folders with more entries, and why.
WIDE = {
    "python/rushlight/_compat": "torch's inner modules stand at the root of its package, and are found here",
    "python/rushlight": "torch's public modules stand at the root of its package, and private ones that it names",
    "python/rushlight/distributed": "half of it are torch's public modules, and they share the transports",
    "python/rushlight/distributions": "a file a distribution, as torch names them",
    "python/rushlight/nn/modules": "a file a family of layers, as torch names them",
    "python/rushlight/utils": "torch's public modules, and the pytrees and checkpoints that they are of",
    "tests": "a folder a topic, which README.md groups",
    "tests/answers": "a table a family of calls",
}

# What tools make in folders of sources.
BUILT = {"__pycache__", ".pytest_cache", "target", "Cargo.lock"}

# What the files of a room import when they load, beside the compiled module and modules of one file at the
# package's root. What a function imports when it is called is its own affair.
MAY_USE = {
    "_calls": set(),
    "_devices": set(),
    "_messages": set(),
    "_operators": set(),
    "_functions": {"_calls", "_messages", "_tensors", "autograd", "linalg", "nn"},
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


def sources():
    """Yield every source of the house, and its path from the top."""
    for room in ("src", "bindings/src", "python/rushlight", "tests/engine"):
        for file in sorted((TOP / room).rglob("*")):
            if file.suffix in (".rs", ".py"):
                yield file.relative_to(TOP).as_posix(), file.read_text(encoding="utf-8")


def lines(source):
    return len(source.split("#[cfg(test)]\nmod tests {")[0].splitlines())


def folders():
    """Yield every folder of sources and tests, and how many files and folders it has; what is built is not counted."""
    for room in ("src", "bindings/src", "python/rushlight", "tests"):
        for folder in [TOP / room, *filter(Path.is_dir, sorted((TOP / room).rglob("*")))]:
            held = [file for file in folder.iterdir() if file.name not in BUILT and file.suffix != ".so"]
            if held and not BUILT & set(folder.parts):
                yield folder.relative_to(TOP).as_posix(), len(held)


def test_files_are_short():
    sizes = {name: lines(source) for name, source in sources()}
    assert len(sizes) > 1000, "too few files were read"
    assert not {name: size for name, size in sizes.items() if size > LINES}
    assert lines("a\nb\n#[cfg(test)]\nmod tests {\n}\n") == 2
    assert lines("a\n#[cfg(test)]\nuse b;\n") == 3


def test_folders_are_narrow():
    sizes = dict(folders())
    assert len(sizes) > 100, "too few folders were read"
    assert {name for name, size in sizes.items() if size > ENTRIES} == WIDE.keys()


# Each package of Rust, and where what it declares is used. The models compile files of the engine.
PACKAGES = {
    ".": ("src", "benches", "tests/engine"),
    "bindings": ("bindings/src", "bindings/build.rs"),
    "tests/models": ("tests/models", "src"),
}


def declared(manifest):
    """Return the packages that a manifest asks for."""
    sections = re.split(r"^\[(.+)\]$", manifest, flags=re.MULTILINE)
    pairs = zip(sections[1::2], sections[2::2], strict=True)
    wanted = [body for name, body in pairs if name.endswith("dependencies")]
    return [name for body in wanted for name in re.findall(r"^([\w-]+) *=", body, flags=re.MULTILINE)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_dependency_of_rust_is_used(package):
    names = declared((TOP / package / "Cargo.toml").read_text(encoding="utf-8"))
    assert len(names) >= 3
    places = [TOP / place for place in PACKAGES[package]]
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*.rs"))]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    unused = [name for name in names if not re.search(rf"\b{name.replace('-', '_')}\b *(::|;|\{{)", code)]
    assert not unused
