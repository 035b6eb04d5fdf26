"""The type stub of the compiled module says what the module has."""

from __future__ import annotations

import ast
import types

import stubs
from rushlight import _rushlight

NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType, types.GetSetDescriptorType)


def declared() -> dict[str, set[str]]:
    """The names in the committed stub: of the module (""), and of each class in it."""
    names: dict[str, set[str]] = {"": set()}
    for node in ast.parse(stubs.STUB.read_text()).body:
        names[""] |= named(node)
        if isinstance(node, ast.ClassDef):
            names[node.name] = {name for item in node.body for name in named(item)}
    return names


def named(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return (
        {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()
    )


def native(owner: object) -> set[str]:
    """What the compiled module put there, but for the interpreter's own names and what is private."""
    return {name for name, value in vars(owner).items() if isinstance(value, NATIVE) and name[:1] != "_"}


def test_the_committed_stub_is_the_generated_one() -> None:
    assert stubs.STUB.read_text() == stubs.text()


def test_every_native_function_has_a_line_in_the_stub() -> None:
    functions = native(_rushlight)
    assert {"add", "sum", "zeros"} <= functions
    assert functions <= declared()[""]
    assert native(_rushlight._nn) <= declared().get("_nn", set())


def test_every_native_method_and_attribute_has_a_line_in_the_stub() -> None:
    names = declared()
    found = {name for base in _rushlight.Tensor.__mro__[:-1] for name in native(base)}
    assert {"add", "shape", "sum"} <= found
    assert found <= names["Tensor"] | names["TensorBase"]


def test_every_public_name_of_the_module_is_in_the_stub() -> None:
    public = {name for name in vars(_rushlight) if name[:1] != "_"}
    assert {"Tensor", "dtype", "float32"} <= public
    assert public <= declared()[""]


def test_every_signature_of_the_table_can_be_read() -> None:
    table = _rushlight._signatures()
    assert len(table) > 20
    for place, name, overloads in table:
        assert overloads, f"{place} {name} has no overload"
