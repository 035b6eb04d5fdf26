"""`rearrange`: dimensions taken apart, reordered and joined as a pattern with names says."""

from __future__ import annotations

import keyword
import math
import warnings
from collections.abc import Sequence
from typing import Any

from .._rushlight import Tensor, stack

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class DimensionBindError(Exception):
    """Sizes that do not go with the dimensions they are given for."""


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Return the tensor with its dimensions rearranged: `"b h w c -> b c (h w)"`.

    Names in parentheses are one dimension; `...` stands for any number of them, `1` or `()` for one of
    size one. Sizes that do not follow from the tensor are given by name. Several tensors are stacked.

    >>> import rushlight as torch
    >>> images = torch.zeros(2, 4, 6, 3)
    >>> torch.func.rearrange(images, "b h w c -> b c (h w)").shape
    torch.Size([2, 3, 24])
    >>> torch.func.rearrange(images, "b (h p) (w q) c -> (b p q) h w c", p=2, q=2).shape
    torch.Size([8, 2, 3, 3])
    """
    x = tensor if isinstance(tensor, Tensor) else stack(tensor)
    left, right = _sides(pattern, axes_lengths)
    _check_names(left, right, axes_lengths)
    _check_rank(left, x.ndim)
    if x.ndim == 0:
        return x
    return _joined(*_apart(x, left, axes_lengths), right)


class _Side:
    """One side of a pattern: for each dimension the names that it is made of."""

    def __init__(self, text: str) -> None:
        self.groups: list[list[str]] = []
        self.names: set[str] = set()
        self.numbered = False
        self.ellipsis_inside = False
        if "." in text:
            if "..." not in text:
                raise ValueError("Expression may contain dots only inside ellipsis (...)")
            if text.count("...") != 1 or text.count(".") != 3:
                raise ValueError(
                    "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
                )
            text = text.replace("...", _ELLIPSIS)
        group: list[str] | None = None
        word = ""
        for sign in f"{text} ":
            if sign.isalnum() or sign in ("_", _ELLIPSIS):
                word += sign
                continue
            if sign not in "() ":
                raise ValueError(f"Unknown character '{sign}'")
            if word:
                self._add(word, group)
            word = ""
            if sign == "(":
                if group is not None:
                    raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
                group = []
            elif sign == ")":
                if group is None:
                    raise ValueError("Brackets are not balanced")
                self.groups.append(group)
                group = None
        if group is not None:
            raise ValueError(f"Imbalanced parentheses in expression: '{text}'")

    def _add(self, name: str, group: list[str] | None) -> None:
        if name in self.names:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
        if name == "1":
            if group is None:
                self.groups.append([])
            return
        if name == _ELLIPSIS:
            self.ellipsis_inside = group is not None
        elif name.isdecimal():
            if int(name) < 1:
                raise ValueError(f"Anonymous axis should have positive length, not {int(name)}")
            self.numbered = True
        else:
            _check_name(name)
        self.names.add(name)
        if group is None:
            self.groups.append([name])
        else:
            group.append(name)

    @property
    def has_ellipsis(self) -> bool:
        return _ELLIPSIS in self.names


def _check_name(name: str) -> None:
    if not name.isidentifier():
        raise ValueError(f"Invalid axis identifier: {name}\nnot a valid python identifier")
    if name.startswith("_") or name.endswith("_"):
        raise ValueError(
            f"Invalid axis identifier: {name}\naxis name should should not start or end with underscore"
        )
    if keyword.iskeyword(name):
        warnings.warn(
            f"It is discouraged to use axes names that are keywords: {name}", RuntimeWarning, stacklevel=5
        )
    if name == "axis":
        warnings.warn(
            "It is discouraged to use 'axis' as an axis name and will raise an error in future",
            FutureWarning,
            stacklevel=5,
        )


def _sides(pattern: str, lengths: dict[str, int]) -> tuple[_Side, _Side]:
    if pattern.count("->") != 1:
        raise ValueError("Pattern must contain a single '->' separator")
    if _ELLIPSIS in lengths:
        raise ValueError(f"'{_ELLIPSIS}' is not an allowed axis identifier")
    left, right = map(_Side, pattern.split("->"))
    if right.has_ellipsis and not left.has_ellipsis:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if left.ellipsis_inside:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return left, right


def _check_names(left: _Side, right: _Side, lengths: dict[str, int]) -> None:
    for length in lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    if left.numbered or right.numbered:
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if difference := left.names ^ right.names:
        raise ValueError(
            f"Identifiers only on one side of rearrange expression (should be on both): {difference}"
        )
    if unmatched := lengths.keys() - left.names:
        raise ValueError(f"Identifiers not found in rearrange expression: {unmatched}")


def _check_rank(left: _Side, ndim: int) -> None:
    if not left.has_ellipsis:
        if len(left.groups) != ndim:
            raise ValueError(
                f"Number of dimensions in pattern ({len(left.groups)}) must be equal to the number of "
                f"dimensions in the tensor ({ndim})"
            )
    elif (count := sum(not group for group in left.groups) + len(left.names) - 1) > ndim:
        raise ValueError(
            f"Number of dimensions in pattern ({count}) must be less than or equal to the number of "
            f"dimensions in the tensor ({ndim})"
        )


def _apart(x: Tensor, left: _Side, lengths: dict[str, int]) -> tuple[Tensor, dict[str, list[int]]]:
    """Return the tensor with a dimension for each name, and which those of a name are."""
    places: dict[str, list[int]] = {}
    sizes: list[int] = []
    without_name: list[int] = []
    rest = iter(x.shape)
    numbers = {name: f"d{number}" for number, name in enumerate(_flat(left, x.ndim))}
    for group in left.groups:
        if group == [_ELLIPSIS]:
            count = x.ndim - (len(left.groups) - 1)
            places[_ELLIPSIS] = [len(sizes) + number for number in range(count)]
            sizes.extend(next(rest) for _ in range(count))
            continue
        size = next(rest)
        if not group:
            without_name.append(len(sizes))
            sizes.append(size)
            continue
        for name, part in zip(group, _parts(group, size, lengths, numbers), strict=True):
            places[name] = [len(sizes)]
            sizes.append(part)
    if sizes != list(x.shape):
        x = x.reshape(sizes)
    if without_name:
        # One of another size than one is summed up.
        x = x.sum(without_name)
        before = [sum(other < place for other in without_name) for place in range(len(sizes))]
        places = {name: [place - before[place] for place in own] for name, own in places.items()}
    return x, places


def _flat(side: _Side, ndim: int) -> list[Any]:
    """Return the names in their order, with something for each dimension that has none."""
    names: list[Any] = []
    for group in side.groups:
        if group == [_ELLIPSIS]:
            names.extend(object() for _ in range(ndim - (len(side.groups) - 1)))
        else:
            names.extend(group or [object()])
    return names


def _parts(group: list[str], size: int, lengths: dict[str, int], numbers: dict[Any, str]) -> list[int]:
    """Return the sizes that a dimension falls into; at most one is not given."""
    known = math.prod(lengths.get(name, 1) for name in group)
    open_ones = [name for name in group if name not in lengths]
    if not open_ones:
        if known != size:
            pack = ", ".join(numbers[name] for name in group) + ("," if len(group) == 1 else "")
            raise DimensionBindError(
                f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack ({pack})"
            )
        return [lengths[name] for name in group]
    if len(open_ones) > 1:
        first, second = (numbers[name] for name in open_ones[:2])
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {first} and {second}")
    if size % known:
        shown = ", ".join(repr(lengths.get(name, "?")) for name in group)
        raise DimensionBindError(
            f"inferred dimension does not evenly fit into larger dimension: {size} vs ({shown})"
        )
    return [lengths.get(name, size // known) for name in group]


def _joined(x: Tensor, places: dict[str, list[int]], right: _Side) -> Tensor:
    """Return the tensor with its dimensions in the order of the right side, those of a group as one."""
    order = [place for group in right.groups for name in group for place in places[name]]
    if order != list(range(x.ndim)):
        x = x.permute(order)
    shape: list[int] = []
    rest = iter(x.shape)
    for group in right.groups:
        sizes = [next(rest) for name in group for _ in places[name]]
        many = group == [_ELLIPSIS] and not right.ellipsis_inside
        shape.extend(sizes if many else [math.prod(sizes)])
    return x if shape == list(x.shape) else x.reshape(shape)
