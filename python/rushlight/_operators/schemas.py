"""What operators take and return, as torch's dispatcher writes it: schemas read, printed and compared.

`add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor` is one. Its parts are read when they are
first asked for, since there are many operators and a program wants few of them.
"""

from __future__ import annotations

import math
import re
from functools import cached_property

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

__all__ = ["AliasInfo", "Argument", "FunctionSchema", "parse_schema"]

# What names stand for where a default is a number.
_NAMED_NUMBERS = {
    "Mean": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
    "contiguous_format": 0,
    "double": 7,
    "float": 6,
    "int": 3,
    "long": 4,
    "preserve_format": 1,
    "strided": 0,
}


class AliasInfo:
    """Which argument's memory is shown, and whether it is written to."""

    def __init__(self, text: str, is_list: bool = False) -> None:
        self.text = text
        self.is_write = "!" in text
        before, _, after = text.replace("!", "").partition("->")
        self.names = frozenset(before.replace(" ", "").split("|"))
        later = frozenset(after.replace(" ", "").split("|")) if after else self.names
        # Of lists, torch says this of the elements only, and does not show it.
        self.before_set = set() if is_list else set(self.names)
        self.after_set = set() if is_list else set(later)
        self._key = (self.is_write, self.names, later)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AliasInfo) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Argument:
    """An argument of an operator, or what it returns: its type, name and default as torch writes them."""

    def __init__(self, text: str, keyword_only: bool = False) -> None:
        declared, _, default = text.partition("=")
        self._default_text = default.strip()
        written, self.name = _type_and_name(declared.rstrip())
        self.kwarg_only = keyword_only
        mark = re.search(r"\((\w[^(),]*|\*)\)", written)
        self.kind = written.replace(mark[0], "", 1) if mark and _is_alias(mark) else written
        self.alias_info = None
        if self.kind != written and mark is not None:
            self.alias_info = AliasInfo(mark[1], is_list=self.kind.endswith("[]"))
        elif written.endswith("!"):  # It is written to, and shares its memory with nothing.
            self.kind = written[:-1]
            self.alias_info = AliasInfo(f"{self.name}!", is_list=self.kind.endswith("[]"))
        size = re.search(r"\[(\d+)\]\??$", self.kind)
        self.N = int(size[1]) if size else None
        self._written = written

    def has_default_value(self) -> bool:
        """Return whether a call may leave it out."""
        return bool(self._default_text)

    @cached_property
    def default_value(self) -> Any:
        """What it is where a call leaves it out; None also if it has to be given."""
        value = _value(self._default_text, self.kind)
        if self.N is not None and isinstance(value, (int, float)):
            return [value] * self.N
        return value

    @property
    def is_out(self) -> bool:
        """Whether a result is written to it."""
        return self.kwarg_only and self.alias_info is not None and self.alias_info.is_write

    @property
    def is_write(self) -> bool:
        """Whether it is written to."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def takes_tensors(self) -> bool:
        """Whether it is given a tensor or several."""
        return self.kind.startswith("Tensor")

    @cached_property
    def real_type(self) -> Any:
        """Its type, in which what torch hands on as integers has its own name."""
        from .._compat._C import _types

        return _types.read(self.kind)

    @cached_property
    def type(self) -> Any:
        """Its type, in which what stands for integers (element types, layouts, symbols) is an integer."""
        from .._compat._C import _types

        return _types.read(re.sub(r"\b(SymInt|ScalarType|Layout|MemoryFormat)\b", "int", self.kind))

    def _key(self) -> tuple[Any, ...]:
        default = repr(self.default_value) if self._default_text else None
        return self.name, self.type, self.N, default, self.kwarg_only, self.alias_info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Argument) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _accepts_calls_of(self, other: Argument, wide: Argument, narrow: Argument) -> bool:
        return (
            (self.name, self.N, self.alias_info) == (other.name, other.N, other.alias_info)
            and not (self.kwarg_only and not other.kwarg_only)
            and narrow.type.isSubtypeOf(wide.type)
            and (not other.has_default_value() or other._key()[3] == self._key()[3])
        )

    def is_backward_compatible_with(self, old: Argument) -> bool:
        """Return whether what was given to `old` can be given to this."""
        return self._accepts_calls_of(old, wide=self, narrow=old)

    def is_forward_compatible_with(self, old: Argument) -> bool:
        """Return whether what is given to this could have been given to `old`."""
        gains_default = self.has_default_value() and not old.has_default_value()
        return self._accepts_calls_of(old, wide=old, narrow=self) and not gains_default

    def declaration(self) -> str:
        """Return how it stands in a schema."""
        text = f"{self._written} {self.name}".rstrip()
        return f"{text}={_said(self.default_value, self.kind)}" if self._default_text else text


def _is_alias(mark: re.Match[str]) -> bool:
    return mark.string[: mark.start()] == "Tensor"


def _type_and_name(declared: str) -> tuple[str, str]:
    """Split a declaration where its type ends: behind the last space outside of parentheses."""
    found = re.fullmatch(r"(.*[^\s(,>|-])\s+(\w+)", declared)
    return (found[1], found[2]) if found and _is_closed(found[1]) else (declared.strip(), "")


def _is_closed(text: str) -> bool:
    return text.count("(") == text.count(")")


def _value(text: str, kind: str) -> Any:
    words: dict[str, Any] = {"": None, "None": None, "True": True, "False": False, "[]": []}
    if text in words:
        return words[text]
    if text.startswith("["):
        return [_value(part.strip(), kind.rpartition("[")[0]) for part in text[1:-1].split(",")]
    if text[0] in "\"'":
        return text[1:-1]
    if text in _NAMED_NUMBERS:
        return _NAMED_NUMBERS[text]
    for number in (int, float):
        try:
            return float(text) if kind.startswith("float") else number(text)
        except ValueError:
            continue
    raise RuntimeError(f"invalid numeric default value:\n{text}")


def _said(value: Any, kind: str) -> str:
    """Write a default as torch does."""
    if isinstance(value, list):
        is_repeated = len(value) > 1 and len(set(value)) == 1 and kind.startswith("int")
        return _said(value[0], "int") if is_repeated else f"[{', '.join(_said(one, '') for one in value)}]"
    if isinstance(value, float):
        return f"{value:.0f}." if math.isfinite(value) and value == int(value) else f"{value:.17g}"
    return f'"{value}"' if isinstance(value, str) else str(value)


class FunctionSchema:
    """What an operator takes and returns, and behind ` | ` the tags of it that do not follow from that."""

    def __init__(self, text: str, namespace: str = "") -> None:
        text, _, tags = text.partition(" | ")
        self._tags = tags.split()
        self._text = f"{namespace}::{text}" if namespace else text
        full, _, self._rest = self._text.partition("(")
        self.name, _, self.overload_name = full.partition(".")

    @cached_property
    def _halves(self) -> tuple[list[str], str]:
        taken, _, returned = self._rest.rpartition("->")
        return _parts(taken.rstrip()[:-1]), returned.strip()

    @cached_property
    def arguments(self) -> list[Argument]:
        """What it takes."""
        found: list[Argument] = []
        star = False
        for part in self._halves[0]:
            star = star or part == "*"
            if part not in ("*", "..."):
                found.append(Argument(part, star))
        return found

    @cached_property
    def returns(self) -> list[Argument]:
        """What it returns."""
        returned = self._halves[1]
        if returned.startswith("("):
            returned = returned[1:-1]
        return [Argument(part) for part in _parts(returned) if part != "..."]

    @property
    def is_vararg(self) -> bool:
        """Whether it takes any number of arguments."""
        return "..." in self._halves[0]

    @property
    def is_varret(self) -> bool:
        """Whether it returns any number of values."""
        return self._halves[1] == "..."

    @property
    def is_mutable(self) -> bool:
        """Whether an argument is written to."""
        return any(argument.is_write for argument in self.arguments)

    def _is_view_op(self) -> bool:
        return any(one.alias_info and not one.is_write for one in self.arguments) and not self.is_mutable

    def _key(self) -> tuple[Any, ...]:
        kinds = self.name, self.overload_name, self.is_vararg, self.is_varret
        return *kinds, tuple(self.arguments), tuple(self.returns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown: list[str] = []
        star = False
        for argument in self.arguments:
            if argument.kwarg_only and not star:
                shown.append("*")
                star = True
            shown.append(argument.declaration())
        if self.is_vararg:
            shown.append("...")
        returned = ", ".join(one.declaration() for one in self.returns)
        if self.is_varret:
            returned = "..."
        elif len(self.returns) != 1:
            returned = f"({returned})"
        name = f"{self.name}.{self.overload_name}".rstrip(".")
        return f"{name}({', '.join(shown)}) -> {returned}"

    def _is_like(self, old: FunctionSchema) -> bool:
        return self._key()[:4] == old._key()[:4] and len(self.returns) == len(old.returns)

    def _outputs_from(self) -> int:
        """Return at which argument those begin that results are written to."""
        return next((place for place, one in enumerate(self.arguments) if one.is_out), len(self.arguments))

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Return whether every call of an operator with `old` is one of an operator with this."""
        if not self._is_like(old) or len(self.arguments) < len(old.arguments):
            return False
        if not all(map(Argument.is_backward_compatible_with, old.returns, self.returns)):
            return False
        own, other = self._outputs_from(), old._outputs_from()
        return (
            all(map(Argument.is_backward_compatible_with, self.arguments, old.arguments[:other]))
            and all(one.has_default_value() for one in self.arguments[other:own])
            and all(map(Argument.is_backward_compatible_with, self.arguments[own:], old.arguments[other:]))
        )

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Return whether every call of an operator with this was one with `old`, and if not, why."""
        if not self._is_like(old):
            return False, ""
        own, other = self._outputs_from(), old._outputs_from()
        if len(self.arguments) - own != len(old.arguments) - other:
            return False, "Function schema should have the same number of out arguments"
        for new, before in zip(self.arguments[:own], old.arguments[:other], strict=False):
            if not new.is_forward_compatible_with(before):
                return (
                    False,
                    f"'{new.name}' is not forward compatible with the older version of the schema",
                )
        for new in self.arguments[other:own]:
            told = (
                "Function schema is not forward compatible since the new argument "
                f"'{new.name}' of type {new.type.str()} "
            )
            if not new.has_default_value():
                return False, told + "did not provide a default value."
            if isinstance(new.default_value, list):
                return False, told + "has a container type as its default value."
        for new, before in zip(self.arguments[own:], old.arguments[other:], strict=True):
            if not new.is_forward_compatible_with(before):
                return False, f"Out argument ''{new.name} is not FC with the older version of the schema"
        return True, ""


def _parts(text: str) -> list[str]:
    """Split what stands between commas outside of parentheses and brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]


def parse_schema(text: str) -> FunctionSchema:
    """Return what a schema says; refuse what is none."""
    name, opened, rest = text.partition("(")
    if not opened:
        raise RuntimeError("Tried to parse a function schema but only the operator name was given")
    if not re.fullmatch(r"\s*[A-Za-z_]\w*(::[A-Za-z_]\w*)?(\.\w+)?\s*", name):
        raise RuntimeError(f"expected ident but found '{text[:1]}' here:\n{text}\n~ <--- HERE\n")
    taken, arrow, returned = rest.rpartition("->")
    parts = _parts((taken if arrow else rest).strip().removesuffix(")"))
    if "..." in parts and any("=" in part for part in parts):
        raise RuntimeError("schemas with vararg (...) can't have default value args")
    if (taken if arrow else rest).rstrip()[-1:] != ")":
        raise RuntimeError(f"expected ) but found 'eof' here:\n{text}")
    if not arrow or not returned.strip():
        raise RuntimeError(f"expected {'ident' if arrow else '->'} but found 'eof' here:\n{text}")
    schema = FunctionSchema(text.strip())
    for argument in (*schema.arguments, *schema.returns):
        try:
            _ = argument.real_type, argument.default_value
        except RuntimeError as error:
            told, _, word = str(error).rpartition("\n")
            at = text.find(f"={word}")
            at = at + 2 if at >= 0 else text.find(word)
            raise RuntimeError(f"\n{told}\n{text}\n{' ' * at}{'~' * len(word)} <--- HERE\n") from None
    return schema
