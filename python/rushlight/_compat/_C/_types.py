"""The types of the language of scripts, which schemas of operators are written in too.

They are read, printed and compared. No script is compiled, so that nothing is typed by them.
"""

from __future__ import annotations

import builtins
import re
from typing import Any

__all__ = ["JitType", "read"]


class JitType:
    """A type. Each is known by how schemas write it, and by how Python would."""

    def __init__(
        self, said: builtins.str, annotation: builtins.str | None = None, parts: tuple[JitType, ...] = ()
    ) -> None:
        self._said, self._parts = said, parts
        self.annotation_str = said if annotation is None else annotation

    def str(self) -> builtins.str:
        """Return how schemas write it."""
        return self._said

    def kind(self) -> builtins.str:
        """Return the name of its kind."""
        return type(self).__name__

    def containedTypes(self) -> list[JitType]:
        """Return what it is made of."""
        return list(self._parts)

    def isSubtypeOf(self, other: JitType) -> bool:
        """Return whether each of its values is one of `other`."""
        if self == other or isinstance(other, AnyType):
            return True
        if isinstance(other, (OptionalType, UnionType)):
            options = self._parts if isinstance(self, (OptionalType, UnionType)) else (self,)
            accepted = other._parts
            if isinstance(other, OptionalType):
                accepted = (*accepted, NoneType("NoneType"))
            if isinstance(self, OptionalType):
                options = (*options, NoneType("NoneType"))
            return all(any(one.isSubtypeOf(part) for part in accepted) for one in options)
        return isinstance(other, NumberType) and isinstance(self, (IntType, FloatType, ComplexType))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.annotation_str == getattr(other, "annotation_str", None)

    def __hash__(self) -> int:
        return hash((type(self), self.annotation_str))

    def __repr__(self) -> builtins.str:
        return self.annotation_str


class _Named(JitType):
    """A type that is one of a kind."""

    NAMES: tuple[builtins.str, builtins.str] = ("", "")

    @classmethod
    def get(cls) -> JitType:
        """Return it."""
        return cls(*cls.NAMES)


def _named(said: str, annotation: str = "", name: str = "") -> Any:
    name = name or f"{said}Type"
    names = (said, annotation or said)
    return type(name, (_Named,), {"__module__": __name__, "__doc__": f"The type {said}.", "NAMES": names})


AnyType, TensorType, NoneType = _named("Any"), _named("Tensor"), _named("NoneType", name="NoneType")
BoolType, IntType, FloatType, ComplexType, StringType = (
    _named(said, name=name)
    for said, name in (
        ("bool", "BoolType"),
        ("int", "IntType"),
        ("float", "FloatType"),
        ("complex", "ComplexType"),
        ("str", "StringType"),
    )
)
NumberType = _named("Scalar", "number", "NumberType")
DeviceObjType, StreamObjType = _named("Device", name="DeviceObjType"), _named("Stream", name="StreamObjType")
SymIntType, SymBoolType = _named("SymInt", "int"), _named("SymBool", "bool")
GeneratorType, LayoutType, ScalarTypeType = _named("Generator"), _named("Layout"), _named("ScalarType")
MemoryFormatType, QSchemeType, StorageType = _named("MemoryFormat"), _named("QScheme"), _named("Storage")
DimnameType = _named("Dimname")

_NAMED: dict[str, type[_Named]] = {
    kind.NAMES[0]: kind
    for kind in (
        *(AnyType, TensorType, NoneType, BoolType, IntType, FloatType, ComplexType, StringType, NumberType),
        *(DeviceObjType, StreamObjType, SymIntType, SymBoolType, GeneratorType, LayoutType, ScalarTypeType),
        *(MemoryFormatType, QSchemeType, StorageType, DimnameType),
    )
}


class VarType(JitType):
    """Any one type, the same wherever it stands in a schema."""


class _Of(JitType):
    """A type that is made of one other."""

    SAID = ANNOTATION = "{}"

    def __init__(self, part: JitType) -> None:
        super().__init__(self.SAID.format(part._said), self.ANNOTATION.format(part), (part,))

    def getElementType(self) -> JitType:
        """Return that other type."""
        return self._parts[0]


class ListType(_Of):
    """The type of lists."""

    SAID, ANNOTATION = "{}[]", "List[{}]"

    @staticmethod
    def ofInts() -> ListType:
        """Return the type of lists of integers."""
        return ListType(IntType.get())

    @staticmethod
    def ofFloats() -> ListType:
        """Return the type of lists of floats."""
        return ListType(FloatType.get())

    @staticmethod
    def ofComplexDoubles() -> ListType:
        """Return the type of lists of complex numbers."""
        return ListType(ComplexType.get())

    @staticmethod
    def ofBools() -> ListType:
        """Return the type of lists of booleans."""
        return ListType(BoolType.get())

    @staticmethod
    def ofStrings() -> ListType:
        """Return the type of lists of strings."""
        return ListType(StringType.get())

    @staticmethod
    def ofTensors() -> ListType:
        """Return the type of lists of tensors."""
        return ListType(TensorType.get())


class OptionalType(_Of):
    """The type of what may be None."""

    SAID, ANNOTATION = "{}?", "Optional[{}]"

    @staticmethod
    def ofTensor() -> OptionalType:
        """Return the type of what is a tensor or None."""
        return OptionalType(TensorType.get())


class FutureType(_Of):
    """The type of values that come later."""

    SAID = ANNOTATION = "Future[{}]"


class RRefType(_Of):
    """The type of values that another process has."""

    SAID = ANNOTATION = "RRef[{}]"


class DictType(JitType):
    """The type of dictionaries."""

    def __init__(self, key: JitType, value: JitType) -> None:
        said = f"Dict({key._said}, {value._said})"
        super().__init__(said, f"Dict[{key}, {value}]", (key, value))

    def getKeyType(self) -> JitType:
        """Return the type of its keys."""
        return self._parts[0]

    def getValueType(self) -> JitType:
        """Return the type of its values."""
        return self._parts[1]


class TupleType(JitType):
    """The type of tuples."""

    def __init__(self, parts: list[JitType]) -> None:
        said = f"({', '.join(part._said for part in parts)})"
        super().__init__(said, f"Tuple[{', '.join(map(repr, parts)) or '()'}]", tuple(parts))

    def elements(self) -> list[JitType]:
        """Return the types of its elements."""
        return list(self._parts)


class UnionType(JitType):
    """The type of what is of one of several types."""

    def __init__(self, parts: list[JitType]) -> None:
        text = f"Union[{', '.join(sorted(map(repr, parts)))}]"
        super().__init__(text, text, tuple(parts))


class ClassType(JitType):
    """The type of instances of a class."""


class EnumType(JitType):
    """The type of what is one of a few values."""


class InterfaceType(JitType):
    """The type of what has certain methods."""


def read(text: str) -> JitType:
    """Return the type that a schema writes so."""
    text = text.strip()
    if text.endswith("?"):
        return OptionalType(read(text[:-1]))
    if listed := re.fullmatch(r"(.*)\[\d*\]", text, re.DOTALL):
        return ListType(read(listed[1]))
    if text in _NAMED:
        return _NAMED[text].get()
    if re.fullmatch(r"t\w*|[a-z]", text):
        return VarType(text)
    if made := re.fullmatch(r"(Future|RRef|Dict|)\((.*)\)", text, re.DOTALL):
        parts = [read(part) for part in _apart(made[2])]
        if made[1] == "Dict":
            return DictType(*parts)
        return TupleType(parts) if not made[1] else {"Future": FutureType, "RRef": RRefType}[made[1]](*parts)
    if text.startswith("__torch__."):
        return ClassType(text)
    raise RuntimeError(
        "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; "
        "for a full list, please see "
        f"https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :\n{text}"
    )


def _apart(text: str) -> list[str]:
    return [part for part in re.split(r",\s*(?![^(]*\))", text) if part]
