"""How error texts spell the values in them: dtypes, shapes and the names of nodes.

Fields take these forms beside those of `str.format`:

- `{dtype:Float}`, `{dtype:float}`, `{dtype:C}`, `{dtype:type}` spell a dtype as torch does at
  that place: `Long`, `long`, `long int`, `torch.LongTensor`; `{dtype}` alone is `torch.int64`.
- `{function:forward}` is a node's name without what marks it as a backward one: `Exp`; and
  `{source:output {output}}` is `, which is output 0 of Exp,`, or nothing if there is no name;
  `{function:view {output}}` is `Output 0 of Exp is a view`, or `A view`; `{function:if a|b}` is one of
  two texts, the second if there is no name.
- `{flag:no|yes}` is one of two texts.
- a shape prints as a list, `[2, 3]`; `{shape:Size}` as `torch.Size([2, 3])`, `{shape:by}` as `2 x 3`,
  `{shape:listed}` as `2, 3`, `{shape:braces}` as `{2, 3}`, `{shape:image}` as `H: 2, W: 3`; `first` and
  `last` are its ends, `rank` how many sizes there are.
"""

from __future__ import annotations

from typing import Any

from .origins import Origin

# The name of a dtype -> its spelling in C, in the name of a tensor type, and in a signature.
_SPELLINGS = {
    "bool": ("Bool", "bool", "bool"),
    "uint8": ("Byte", "byte", "unsigned char"),
    "int8": ("Char", "char", "signed char"),
    "int16": ("Short", "short", "short int"),
    "int32": ("Int", "int", "int"),
    "int64": ("Long", "long", "long int"),
    "uint16": ("UInt16", "uint16", "unsigned short"),
    "uint32": ("UInt32", "uint32", "unsigned int"),
    "uint64": ("UInt64", "uint64", "unsigned long"),
    **{
        f"float8_{form}": (f"Float8_{form}", f"float8_{form}", f"c10::Float8_{form}")
        for form in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
    },
    "float16": ("Half", "half", "c10::Half"),
    "bfloat16": ("BFloat16", "bfloat16", "c10::BFloat16"),
    "float32": ("Float", "float", "float"),
    "float64": ("Double", "double", "double"),
    "complex32": ("ComplexHalf", "complexhalf", "c10::complex<c10::Half>"),
    "complex64": ("ComplexFloat", "complexfloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "complexdouble", "c10::complex<double>"),
}


def name_in_c(dtype: object) -> str:
    """Return how a dtype is called in C."""
    return f"{_DType(dtype):C}"


class _DType:
    """A dtype that knows torch's spellings of its name."""

    def __init__(self, dtype: object) -> None:
        self.name = str(dtype).rpartition(".")[2]

    def __format__(self, spelling: str) -> str:
        if not spelling:
            return f"torch.{self.name}"
        title, word, declared = _SPELLINGS[self.name]
        # These have no type that torch would name otherwise.
        late = title not in ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double")
        of_tensor = f"CPU{title}Type" if late else f"torch.{title}Tensor"
        return {"Float": title, "float": word, "C": declared, "type": of_tensor}[spelling]


class _Shape:
    """A shape that prints as a list or as a `torch.Size`."""

    def __init__(self, sizes: Any) -> None:
        self.sizes = list(sizes)

    def __format__(self, spelling: str) -> str:
        sizes = [str(size) for size in self.sizes]
        match spelling:
            case "Size":
                return f"torch.Size({self.sizes})"
            case "by":
                return " x ".join(sizes)
            case "listed":
                return ", ".join(sizes)
            case "braces":
                return "{" + ", ".join(sizes) + "}"
            case "first":
                return sizes[0]
            case "last":
                return sizes[-1]
            case "rank":
                return str(len(sizes))
            case "image":
                letters = ("W", "HW", "DHW")[len(sizes) - 1]
                return ", ".join(f"{letter}: {size}" for letter, size in zip(letters, sizes, strict=True))
        return str(self.sizes)


class _Flag:
    """A truth value that chooses between two texts."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __format__(self, texts: str) -> str:
        return texts.split("|")[self.value] if texts else str(self.value)


class _Text(str):
    """A text; of a node's name, `forward` keeps the operation, `output N` and `view N` make clauses."""

    __slots__ = ()

    def __format__(self, spelling: str) -> str:
        stem, _, overload = self.rpartition("Backward")
        is_plain = bool(stem) and (overload.isdigit() or not overload)
        operation = stem + overload.removeprefix("0") if is_plain else str(self)
        if spelling == "forward":
            return operation
        if spelling.startswith("output"):
            return f", which is {spelling} of {operation}," if self else ""
        if spelling.startswith("view"):
            return f"Output {spelling[5:]} of {operation} is a view" if self else "A view"
        if spelling.startswith("if"):
            return spelling[3:].split("|")[not self]
        return str(self)


def spell(value: Any) -> Any:
    """Wrap `value` so that `str.format` spells it as torch does."""
    if isinstance(value, bool):
        return _Flag(value)
    if value is None or isinstance(value, (int, float, Origin)):
        return value
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, (tuple, list)):
        return _Shape(value)
    return _DType(value)
