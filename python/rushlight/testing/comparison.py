"""`assert_close`: equal within a tolerance, or a report of where and by how much not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._rushlight import (
    Tensor,
    bfloat16,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    from_numpy,
    promote_types,
    strided,
    tensor,
    where,
    zeros_like,
)

__all__ = ["assert_allclose", "assert_close"]

# dtype -> relative and absolute tolerance; all others must be equal.
_TOLERANCES = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5),
    complex128: (1e-7, 1e-7),
}

# What `assert_allclose` takes.
_WIDER = {
    float16: (1e-3, 1e-3),
    float32: (1e-4, 1e-5),
    float64: (1e-5, 1e-8),
}


def default_tolerances(
    *inputs: Tensor | dtype, dtype_precisions: Mapping[dtype, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """Return the relative and the absolute tolerance for what the inputs are: the widest of each.

    >>> import rushlight as torch
    >>> torch.testing._comparison.default_tolerances(torch.float32, torch.ones(1, dtype=torch.float16))
    (0.001, 1e-05)
    """
    known = _TOLERANCES if dtype_precisions is None else dtype_precisions
    found = []
    for one in inputs:
        if not isinstance(one, (Tensor, dtype)):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(one)} instead.")
        found.append(known.get(one.dtype if isinstance(one, Tensor) else one, (0.0, 0.0)))
    rtol, atol = (max(each) for each in zip(*found, strict=True))
    return rtol, atol


def get_tolerances(
    *inputs: Tensor | dtype, rtol: float | None, atol: float | None, id: tuple[Any, ...] = ()
) -> tuple[float, float]:
    """Return the tolerances that are given, or those of the inputs if neither is.

    >>> import rushlight as torch
    >>> torch.testing._comparison.get_tolerances(torch.float64, rtol=None, atol=None)
    (1e-07, 1e-07)
    """
    if rtol is None or atol is None:
        _both_or_neither(rtol, atol)
        return default_tolerances(*inputs)
    return rtol, atol


def _both_or_neither(rtol: float | None, atol: float | None) -> None:
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise an AssertionError unless `|actual - expected| <= atol + rtol * |expected|` everywhere.

    Takes tensors, arrays, numbers, and sequences and mappings of these.

    >>> import rushlight as torch
    >>> torch.testing.assert_close(torch.tensor([1.0]), torch.tensor([1.0000001]))
    """
    _both_or_neither(rtol, atol)
    comparison = _Comparison(rtol, atol, equal_nan, check_dtype, check_layout, check_stride, allow_subclasses)
    try:
        comparison.compare(actual, expected, "")
    except _Different as found:
        text = str(found)
    else:
        return
    raise AssertionError(text if msg is None else msg if isinstance(msg, str) else msg(text))


class _Different(Exception):
    """Two values that are not close."""


class _Comparison:
    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
        check_dtype: bool,
        check_layout: bool,
        check_stride: bool,
        allow_subclasses: bool,
    ) -> None:
        self.tolerance = None if rtol is None or atol is None else (rtol, atol)
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype
        self.check_layout = check_layout
        self.check_stride = check_stride
        self.allow_subclasses = allow_subclasses

    def compare(self, actual: Any, expected: Any, place: str) -> None:
        """Compare two values of any kind; `place` is where they are in their containers."""
        if actual is None or expected is None:
            if actual is not expected:
                raise _different(f"None mismatch: {actual} is not {expected}", place)
        elif isinstance(actual, str) or isinstance(expected, str):
            raise _not_comparable(actual, expected, place)
        elif isinstance(actual, Sequence) and isinstance(expected, Sequence):
            self._compare_sequences(actual, expected, place)
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            self._compare_mappings(actual, expected, place)
        elif _is_boolean(actual) and _is_boolean(expected):
            if bool(actual) is not bool(expected):
                raise _different(f"Booleans mismatch: {actual} is not {expected}", place)
        elif _is_number(actual) and _is_number(expected):
            self._compare_numbers(_plain(actual), _plain(expected), place)
        elif self._are_tensors(actual, expected):
            self._compare_tensors(_as_tensor(actual), _as_tensor(expected), place)
        else:
            raise _not_comparable(actual, expected, place)

    def _are_tensors(self, actual: Any, expected: Any) -> bool:
        """Tell whether both are tensors or both are arrays, of one class or of classes that are related."""
        if not isinstance(actual, Tensor) and not _is_of_numpy(actual, "ndarray"):
            return False
        if type(actual) is type(expected):
            return True
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        return self.allow_subclasses and related

    def _compare_sequences(self, actual: Sequence[Any], expected: Sequence[Any], place: str) -> None:
        if len(actual) != len(expected):
            raise _different(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place)
        for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
            self.compare(left, right, f"{place}[{index}]")

    def _compare_mappings(self, actual: Mapping[Any, Any], expected: Mapping[Any, Any], place: str) -> None:
        missing = sorted(expected.keys() - actual.keys(), key=str)
        additional = sorted(actual.keys() - expected.keys(), key=str)
        if missing or additional:
            raise _different(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {additional}",
                place,
            )
        for key in sorted(expected, key=str):
            self.compare(actual[key], expected[key], f"{place}[{key!r}]")

    def _compare_numbers(self, actual: complex, expected: complex, place: str) -> None:
        if self.check_dtype and type(actual) is not type(expected):
            raise _different(f"The (d)types do not match: {type(actual)} != {type(expected)}.", place)
        either_float = isinstance(actual, (float, complex)) or isinstance(expected, (float, complex))
        tolerance = self.tolerance or (_TOLERANCES[float64] if either_float else (0.0, 0.0))
        self._compare_scalars(actual, expected, tolerance, place)

    def _compare_scalars(
        self, actual: complex, expected: complex, tolerance: tuple[float, float], place: str
    ) -> None:
        rtol, atol = tolerance
        difference = abs(actual - expected)
        both_nan = actual != actual and expected != expected
        if actual == expected or (self.equal_nan and both_nan):
            return
        if difference <= atol + rtol * abs(expected) < float("inf"):
            return
        relative = difference / abs(expected) if expected else float("inf")
        raise _different(
            f"Scalars are not {_word(tolerance)}!\n\n"
            f"Expected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{_allowed(atol, tolerance)}\n"
            f"Relative difference: {relative}{_allowed(rtol, tolerance)}",
            place,
        )

    def _compare_tensors(self, actual: Tensor, expected: Tensor, place: str) -> None:
        for attribute, left, right, checked in (
            ("shape", actual.shape, expected.shape, True),
            ("dtype", actual.dtype, expected.dtype, self.check_dtype),
            ("layout", actual.layout, expected.layout, self.check_layout),
            ("stride()", actual.stride(), expected.stride(), self.check_stride),
        ):
            if checked and left != right:
                raise _different(
                    f"The values for attribute '{attribute}' do not match: {left} != {right}.", place
                )
        tolerance = self.tolerance or default_tolerances(actual, expected)
        actual, expected = actual.detach(), expected.detach()
        if actual.layout is not expected.layout:
            actual, expected = actual.to_dense(), expected.to_dense()
        if actual.layout is not strided:
            self._compare_sparse(actual, expected, tolerance, place)
        elif actual.ndim == 0:
            self._compare_scalars(actual.item(), expected.item(), tolerance, place)
        elif actual.numel():
            self._compare_elements(actual, expected, tolerance, place)

    def _compare_sparse(
        self, actual: Tensor, expected: Tensor, tolerance: tuple[float, float], place: str
    ) -> None:
        words = {
            "torch.sparse_coo": "COO _indices _values",
            "torch.sparse_csr": "CSR crow_indices col_indices values",
            "torch.sparse_csc": "CSC ccol_indices row_indices values",
            "torch.sparse_bsr": "BSR crow_indices col_indices values",
            "torch.sparse_bsc": "BSC ccol_indices row_indices values",
        }
        family, *names = words[repr(actual.layout)].split()
        if actual._nnz() != expected._nnz():
            raise _different(
                f"The number of specified values in sparse {family} tensors does not match: "
                f"{actual._nnz()} != {expected._nnz()}",
                place,
            )
        for name in names:
            left, right = (getattr(tensor, name)() for tensor in (actual, expected))
            bounds = tolerance if name.endswith("values") else (0.0, 0.0)
            if left.numel():
                self._compare_elements(left, right, bounds, place, f"Sparse {family} {name.lstrip('_')}")

    def _compare_elements(
        self,
        actual: Tensor,
        expected: Tensor,
        tolerance: tuple[float, float],
        place: str,
        what: str = "Tensor-likes",
    ) -> None:
        rtol, atol = tolerance
        matches: Any = actual == expected
        # A difference of booleans, and of unsigned integers below zero, does not exist.
        exact = not any(tensor.is_floating_point() or tensor.is_complex() for tensor in (actual, expected))
        left, right = (
            tensor.long() if exact else tensor.to(promote_types(tensor.dtype, float64))
            for tensor in (actual, expected)
        )
        if not exact and actual.dtype == expected.dtype:
            left, right = actual, expected
        difference = (left - right).abs()
        bound = atol + rtol * right.abs()
        matches = matches | ((difference <= bound) & (bound < float("inf")))
        if self.equal_nan:
            matches = matches | ((actual != actual) & (expected != expected))
        if bool(matches.all()):
            return
        total = actual.numel()
        wrong = total - int(matches.sum().item())
        difference = where(matches, zeros_like(difference), difference)
        relative = where(matches, zeros_like(difference / right.abs()), difference / right.abs())
        raise _different(
            f"{what} are not {_word(tolerance)}!\n\n"
            f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
            f"Greatest absolute difference: {_greatest(difference)}{_allowed(atol, tolerance)}\n"
            f"Greatest relative difference: {_greatest(relative)}{_allowed(rtol, tolerance)}",
            place,
        )


def _greatest(difference: Tensor) -> str:
    flat = difference.reshape(-1)
    number = int(flat.argmax().item())
    position = []
    rest = number
    for size in reversed(difference.shape):
        rest, index = divmod(rest, size)
        position.append(index)
    return f"{flat[number].item()} at index {tuple(reversed(position))}"


def _word(tolerance: tuple[float, float]) -> str:
    return "close" if any(tolerance) else "equal"


def _allowed(limit: float, tolerance: tuple[float, float]) -> str:
    return f" (up to {limit} allowed)" if any(tolerance) else ""


def _is_of_numpy(value: Any, name: str) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, name))


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or _is_of_numpy(value, "bool_")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) or _is_of_numpy(value, "number")


def _plain(number: Any) -> complex:
    """Return a number of numpy as that of Python."""
    plain: complex = number.item() if _is_of_numpy(number, "number") else number
    return plain


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else from_numpy(value)


def _different(text: str, place: str) -> _Different:
    return _Different(_at(text, place))


def _at(text: str, place: str) -> str:
    return f"{text}\n\nThe failure occurred for item {place}" if place else text


def _not_comparable(actual: Any, expected: Any, place: str) -> TypeError:
    text = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    return TypeError(_at(text, place))


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Compare as `assert_close` does, but for types, with wider bounds for single precision."""
    import warnings

    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    actual, expected = (x if isinstance(x, Tensor) else tensor(x) for x in (actual, expected))
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions=_WIDER)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )
