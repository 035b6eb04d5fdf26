"""Two values that are compared: which kinds of values there are, and how containers come to many pairs."""

from __future__ import annotations

import cmath
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NoReturn

from .. import _rushlight as native
from ._mismatches import ErrorMeta, get_tolerances, make_scalar_mismatch_msg

__all__ = [
    "BooleanPair",
    "NonePair",
    "NumberPair",
    "ObjectPair",
    "Pair",
    "UnsupportedInputs",
    "not_close_error_metas",
    "originate_pairs",
]


class UnsupportedInputs(Exception):
    """Raised by a pair that does not take such values: the next kind is tried."""


class Pair(ABC):
    """Two values. Derive from it to compare another kind of values."""

    def __init__(
        self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), **unknown_parameters: Any
    ) -> None:
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported() -> NoReturn:
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs: Any, cls: type | tuple[type, ...]) -> None:
        if not all(isinstance(one, cls) for one in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type: type[Exception], msg: str, *, id: tuple[Any, ...] = ()) -> NoReturn:
        raise ErrorMeta(type, msg, id=id or getattr(self, "id", ()))

    @abstractmethod
    def compare(self) -> None:
        """Raise an `ErrorMeta` if the values are not what they should be."""

    def extra_repr(self) -> Sequence[str | tuple[str, Any]]:
        """Return what is shown of the pair beside the values: names of attributes, or names and values."""
        return []

    def __repr__(self) -> str:
        shown: list[Any] = ["id", "actual", "expected", *self.extra_repr()]
        rows = [(row, getattr(self, row)) if isinstance(row, str) else row for row in shown]
        body = "".join(f"    {name}={value!s},\n" for name, value in rows)
        return f"{type(self).__name__}(\n{body})"


class ObjectPair(Pair):
    """Two objects, which say themselves whether they are equal."""

    def compare(self) -> None:
        try:
            equal = self.actual == self.expected
        except Exception as error:
            text = f"{self.actual} == {self.expected} failed with:\n{error}."
            raise ErrorMeta(ValueError, text, id=self.id) from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """Two values of which one is None: both have to be."""

    def __init__(self, actual: Any, expected: Any, **other_parameters: Any) -> None:
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self) -> None:
        if self.actual is not self.expected:
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two truth values."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple[Any, ...], **other_parameters: Any) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (bool, *_of_numpy("bool_"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> Sequence[bool]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return [self._to_bool(one, id=id) for one in (actual, expected)]

    def _to_bool(self, bool_like: Any, *, id: tuple[Any, ...]) -> bool:
        if isinstance(bool_like, self._supported_types):
            return bool(bool_like)
        raise ErrorMeta(TypeError, f"Unknown boolean type {type(bool_like)}.", id=id)

    def compare(self) -> None:
        if self.actual is not self.expected:
            self._fail(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two numbers."""

    _TYPE_TO_DTYPE: ClassVar[dict[type, native.dtype]] = {
        int: native.int64,
        float: native.float64,
        complex: native.complex128,
    }
    _NUMBER_TYPES: ClassVar[tuple[type, ...]] = tuple(_TYPE_TO_DTYPE)

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple[Any, ...] = (),
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_dtype: bool = False,
        **other_parameters: Any,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        types = [self._TYPE_TO_DTYPE[type(one)] for one in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*types, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (*self._NUMBER_TYPES, *_of_numpy("number"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> Sequence[complex]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return [self._to_number(one, id=id) for one in (actual, expected)]

    def _to_number(self, number_like: Any, *, id: tuple[Any, ...]) -> Any:
        is_of_numpy = isinstance(number_like, _of_numpy("number"))
        plain = number_like.item() if is_of_numpy else number_like
        if isinstance(plain, self._NUMBER_TYPES):
            return plain
        raise ErrorMeta(TypeError, f"Unknown number type {type(number_like)}.", id=id)

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            self._fail(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        difference = abs(actual - expected)
        if cmath.isfinite(difference) and difference <= self.atol + self.rtol * abs(expected):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(actual, expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self) -> Sequence[str]:
        return ("rtol", "atol", "equal_nan", "check_dtype")


def _of_numpy(name: str) -> tuple[type, ...]:
    """Return a type of numpy, if a program has loaded it: there are no values of it before."""
    numpy = sys.modules.get("numpy")
    return () if numpy is None else (getattr(numpy, name),)


def originate_pairs(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]],
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    id: tuple[Any, ...] = (),
    **options: Any,
) -> list[Pair]:
    """Return the pairs that two values come to: one, or those of what sequences and mappings have in them.

    The first of `pair_types` that takes two values compares them.
    """

    def inside(keys: Any) -> list[Pair]:
        pairs: list[Pair] = []
        for key in keys:
            types = {
                "pair_types": pair_types,
                "sequence_types": sequence_types,
                "mapping_types": mapping_types,
            }
            pairs += originate_pairs(actual[key], expected[key], **types, id=(*id, key), **options)  # type: ignore[arg-type]
        return pairs

    # A text is a sequence of texts without end.
    if all(isinstance(one, sequence_types) and not isinstance(one, str) for one in (actual, expected)):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise ErrorMeta(AssertionError, text, id=id)
        return inside(range(len(actual)))
    if all(isinstance(one, mapping_types) for one in (actual, expected)):
        keys, others = set(actual), set(expected)
        if keys != others:
            raise ErrorMeta(
                AssertionError,
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(others - keys)}\n"
                f"Additional keys in the actual mapping: {sorted(keys - others)}",
                id=id,
            )
        ordered: Any = keys
        with suppress(Exception):  # Keys of several kinds have no order.
            ordered = sorted(keys)
        return inside(ordered)
    for pair_type in pair_types:
        try:
            return [pair_type(actual, expected, id=id, **options)]
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            items = "".join(f"[{item!r}]" for item in id)
            raise RuntimeError(
                f"Originating a {pair_type.__name__}() at item {items} with\n\n"
                f"{type(actual).__name__}(): {actual}\n\nand\n\n{type(expected).__name__}(): {expected}\n\n"
                "resulted in the unexpected exception above."
            ) from error
    text = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    raise ErrorMeta(TypeError, text, id=id)


def not_close_error_metas(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]] = (ObjectPair,),
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    **options: Any,
) -> list[ErrorMeta]:
    """Return what there is to say of all that is not close; what cannot be compared is an error."""
    __tracebackhide__ = True
    try:
        pairs = originate_pairs(
            actual,
            expected,
            pair_types=pair_types,
            sequence_types=sequence_types,
            mapping_types=mapping_types,
            **options,
        )
    except ErrorMeta as error:
        raise error.to_error() from None
    found = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as error:
            # Its traceback would lead back to this frame, which holds it.
            found.append(error.with_traceback(None))
        except Exception as error:
            text = f"Comparing\n\n{pair}\n\nresulted in the unexpected exception above."
            raise RuntimeError(text) from error
    return found
