"""Views made again: what a view shows of its base, of another tensor in the base's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _neg_view, view_as_complex, view_as_real

if TYPE_CHECKING:
    from collections.abc import Callable

    Visitor = Callable[[Any], Any] | None

_MISSING: Any = object()


def _view_func(
    self: Tensor,
    new_base: Tensor = _MISSING,
    symint_visitor_fn: Visitor = None,
    tensor_visitor_fn: Visitor = None,
) -> Tensor | None:
    """Return what this view shows of its base, of a tensor that lies as the base does; `None` if there is no
    base or the tensor lies otherwise.

    >>> import rushlight as torch
    >>> view = torch.arange(4).view(2, 2)
    >>> view._view_func(torch.arange(10, 14))
    tensor([[10, 11],
            [12, 13]])
    """
    _check_tensor(new_base)
    base = self._base
    if base is None or _geometry(base) != _geometry(new_base):
        return None
    return _shown_as(new_base, base, self, symint_visitor_fn)


def _view_func_unsafe(
    self: Tensor,
    new_base: Tensor = _MISSING,
    symint_visitor_fn: Visitor = None,
    tensor_visitor_fn: Visitor = None,
) -> Tensor | None:
    """Return what this view shows of its base, of another tensor, however that lies."""
    _check_tensor(new_base)
    base = self._base
    return None if base is None else _shown_as(new_base, base, self, symint_visitor_fn)


def _rev_view_func_unsafe(self: Tensor, new_view: Tensor) -> Tensor | None:
    """Return the tensor whose view is `new_view`, as this view is one of its base: on the same memory."""
    if not isinstance(new_view, Tensor):
        raise RuntimeError("_rev_view_func expect a single argument that is a Tensor")
    base = self._base
    if base is None:
        return None
    if _reading(base) == _reading(self):
        # Only what shows other elements than its base has a way back.
        raise RuntimeError("No _rev_view_func() found")
    return _shown_as(new_view, self, base, None)


def _check_tensor(new_base: Any) -> None:
    if new_base is _MISSING:
        raise TypeError('_view_func() missing 1 required positional arguments: "new_base"')
    if not isinstance(new_base, Tensor):
        raise TypeError(
            "_view_func(): argument 'new_base' (position 1) must be Tensor, not " + type(new_base).__name__
        )


def _geometry(x: Tensor) -> tuple[Any, ...]:
    return x.shape, x.stride(), x.storage_offset()


def _reading(x: Tensor) -> tuple[bool, ...]:
    """As what the memory is read."""
    return x.is_complex(), x.is_conj(), x.is_neg()


def _shown_as(x: Tensor, given: Tensor, wanted: Tensor, visit: Visitor) -> Tensor:
    """Return a view of `x` that is to it as `wanted` is to `given`. `visit` may replace the numbers of the
    window that it is, where what is shown are other elements.
    """
    window: tuple[Any, ...] = _geometry(wanted)
    before, after = given.is_complex(), wanted.is_complex()
    if after and not before:
        sizes, strides, offset = window
        window = (*sizes, 2), (*(2 * stride for stride in strides), 1), 2 * offset
        x = _neg_view(x) if given.is_neg() else x
    elif before and not after:
        x = view_as_real(x.conj() if given.is_conj() else x)
    if visit is not None and _reading(given) != _reading(wanted) and _geometry(x) != window:
        sizes, strides, offset = window
        window = tuple(map(visit, sizes)), tuple(map(visit, strides)), visit(offset)
    if _reading(given) == _reading(wanted) or _geometry(x) != window:
        x = x.as_strided(*window)
    if after and not before:
        x = view_as_complex(x)
    # What still differs is shown negated or conjugated.
    if after:
        return x.conj() if wanted.is_conj() != (before and given.is_conj()) else x
    return _neg_view(x) if wanted.is_neg() != (given.is_neg() and not before) else x
