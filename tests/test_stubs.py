"""The type stub of the compiled module says what the module has."""

from __future__ import annotations

import ast
import types

import stubs
from rushlight import _rushlight

NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType)


def declared() -> dict[str, set[str]]:
    """The names in the committed stub: of the module (""), and of each class in it."""
    names: dict[str, set[str]] = {"": set()}
    for node in ast.parse(stubs.STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[""].add(node.name)
    return names


def native(owner: object) -> set[str]:
    return {name for name, value in vars(owner).items() if isinstance(value, NATIVE) and name[:1] != "_"}


def test_the_committed_stub_is_the_generated_one() -> None:
    assert stubs.STUB.read_text() == stubs.text()


def test_every_native_function_has_a_line_in_the_stub() -> None:
    functions, neural = native(_rushlight), native(_rushlight._nn)
    assert len(functions) > 20
    assert len(neural) > 2
    assert functions <= declared()[""]
    assert neural <= declared()["_nn"]


def test_every_native_method_has_a_line_in_the_stub() -> None:
    methods = {name for base in _rushlight.Tensor.__mro__[:-1] for name in native(base)}
    assert len(methods) > 20
    assert methods <= declared()["Tensor"]


def test_every_signature_of_the_table_can_be_read() -> None:
    table = _rushlight._signatures()
    assert len(table) > 50
    for place, name, overloads in table:
        assert overloads, f"{place} {name} has no overload"
