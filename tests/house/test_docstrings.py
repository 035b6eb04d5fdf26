"""What the examples in the docstrings of the package show is so."""

import ast
import doctest
import gc
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from support import run_sessions

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "rushlight"


def examples_of(path):
    """The examples of a file by the line that they stand in."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    documented = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, kinds)]
    texts = {getattr(node, "lineno", 1): ast.get_docstring(node) or "" for node in documented}
    return {line: text for line, text in texts.items() if ">>>" in text}


def name_of(path):
    parts = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


EXAMPLES = {name_of(path): examples_of(path) for path in sorted(PACKAGE.rglob("*.py"))}


def test_the_package_is_full_of_examples():
    assert sum(map(len, EXAMPLES.values())) > 400


@pytest.mark.own
@pytest.mark.parametrize("name", [name for name, examples in EXAMPLES.items() if examples])
def test_the_examples_of_a_module_answer_as_shown(name):
    known = vars(import_module(name))
    if "compiler" in name:
        gc.collect()  # Nothing is recorded while a tensor of an earlier example's own kind lies in a cycle.
    for line, text in EXAMPLES[name].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome, complaints = run_sessions(text, f"{name}:{line}", doctest.ELLIPSIS, known)
        assert outcome.attempted and not outcome.failed, complaints
