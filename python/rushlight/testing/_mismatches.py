"""What is said of values that are not close, and how far apart values of each type may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor, dtype

__all__ = [
    "ErrorMeta",
    "default_tolerances",
    "get_tolerances",
    "make_scalar_mismatch_msg",
    "make_tensor_mismatch_msg",
]

_Identifier = str | Callable[[str], str] | None

# dtype -> relative and absolute tolerance; all others must be equal.
TOLERANCES = {
    native.float16: (1e-3, 1e-5),
    native.bfloat16: (1.6e-2, 1e-5),
    native.float32: (1.3e-6, 1e-5),
    native.float64: (1e-7, 1e-7),
    native.complex32: (1e-3, 1e-5),
    native.complex64: (1.3e-6, 1e-5),
    native.complex128: (1e-7, 1e-7),
}


class ErrorMeta(Exception):
    """An error that is still to be raised: its class, its words, and which item it is about."""

    def __init__(self, type: type[Exception], msg: str, *, id: tuple[Any, ...] = ()) -> None:
        super().__init__(msg)
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        """Return the error, with other words if `msg` says so."""
        if isinstance(msg, str):
            return self.type(msg)
        items = "".join(f"[{item!r}]" for item in self.id)
        text = f"{self.msg}\n\nThe failure occurred for item {items}" if items else self.msg
        return self.type(msg(text) if callable(msg) else text)


def default_tolerances(
    *inputs: Tensor | dtype, dtype_precisions: Mapping[dtype, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """Return the relative and the absolute tolerance for what the inputs are: the widest of each.

    >>> import rushlight as torch
    >>> torch.testing._comparison.default_tolerances(torch.float32, torch.ones(1, dtype=torch.float16))
    (0.001, 1e-05)
    """
    known = dtype_precisions or TOLERANCES
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
    if rtol is not None and atol is not None:
        return rtol, atol
    if rtol is None and atol is None:
        return default_tolerances(*inputs)
    missing = "rtol" if rtol is None else "atol"
    text = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
    raise ErrorMeta(ValueError, text, id=id)


def _named(identifier: _Identifier, default: str) -> str:
    if identifier is None:
        return default
    return identifier(default) if callable(identifier) else identifier


def _differences(
    head: str, extra: str, rows: tuple[tuple[str, Any, float], ...], at: tuple[Any, Any] | None
) -> str:
    """Return what is not close, and by how much; nothing is said of bounds if everything had to be equal."""
    equal = not any(allowed for _, _, allowed in rows)
    lines = [f"{head} are not {'equal' if equal else 'close'}!", "", extra]
    for number, (kind, difference, allowed) in enumerate(rows):
        line = f"{kind.title()} difference: {difference}"
        if at is not None:
            line = f"Greatest {kind} difference: {difference} at index {at[number]}"
        lines.append(line if equal else f"{line} (up to {allowed} allowed)")
    return "\n".join(lines)


def make_scalar_mismatch_msg(
    actual: complex, expected: complex, *, rtol: float, atol: float, identifier: _Identifier = None
) -> str:
    """Say how far two numbers are apart.

    >>> from rushlight.testing._comparison import make_scalar_mismatch_msg
    >>> print(make_scalar_mismatch_msg(3, 2, rtol=0, atol=0))
    Scalars are not equal!
    <BLANKLINE>
    Expected 2 but got 3.
    Absolute difference: 1
    Relative difference: 0.5
    """
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else float("inf")
    return _differences(
        _named(identifier, "Scalars"),
        f"Expected {expected} but got {actual}.",
        (("absolute", difference, atol), ("relative", relative, rtol)),
        None,
    )


def make_tensor_mismatch_msg(
    actual: Tensor,
    expected: Tensor,
    matches: Tensor,
    *,
    rtol: float,
    atol: float,
    identifier: _Identifier = None,
) -> str:
    """Say how many elements are not close, and where two tensors are farthest apart."""
    total = matches.numel()
    wrong = total - int(matches.sum().item())
    head = _named(identifier, "Tensor-likes")
    extra = f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"
    if actual.dtype.is_floating_point and actual.dtype.itemsize == 1:
        first = tuple(native.nonzero(~matches)[0].tolist())
        return f"{head} are not 'equal'!\n\n{extra}\nThe first mismatched element is at index {first}."
    flat, other, same = actual.flatten(), expected.flatten(), matches.flatten()
    if not (actual.is_floating_point() or actual.is_complex()):
        # A difference of booleans, and of unsigned integers below zero, does not exist.
        flat, other = flat.to(native.int64), other.to(native.int64)
    difference = (flat - other).abs().masked_fill(same, 0)
    relative = (difference / other.abs()).masked_fill(same, 0)
    greatest = [each.max(0) for each in (difference, relative)]
    return _differences(
        head,
        extra,
        (("absolute", greatest[0].values.item(), atol), ("relative", greatest[1].values.item(), rtol)),
        tuple(_position(int(each.indices.item()), matches.shape) for each in greatest),  # type: ignore[arg-type]
    )


def _position(flat: int, shape: Any) -> tuple[int, ...]:
    """Return where an element is that is counted in order."""
    position = []
    for size in reversed(shape):
        flat, index = divmod(flat, size)
        position.append(index)
    return tuple(reversed(position))
