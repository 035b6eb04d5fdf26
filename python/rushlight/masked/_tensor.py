"""Tensors that have a mask with them: what is not seen stays out of what is calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]


class MaskedTensor(Tensor):
    """Elements, and which of them are seen."""

    _data: Tensor
    _mask: Tensor

    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> Any:
        """Make a leaf of its own."""
        return masked_tensor(data, mask, requires_grad)

    def __init__(self, *_: Any, **__: Any) -> None:
        """Nothing is left to do."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _answer(func, args, kwargs or {})

    def get_data(self) -> Tensor:
        """Return the elements, also those that are not seen."""
        return self._data.view_as(self._data)

    def get_mask(self) -> Tensor:
        """Return which elements are seen."""
        return self._mask

    def to_tensor(self, value: Any) -> Tensor:
        """Return the elements, with `value` in the place of those that are not seen."""
        return self._data.masked_fill(~self._mask, value)

    shape = property(lambda self: self._data.shape)
    dtype = property(lambda self: self._data.dtype)
    device = property(lambda self: self._data.device)
    layout = property(lambda self: self._data.layout)
    ndim = property(lambda self: self._data.ndim)
    grad_fn = property(lambda self: self._data.grad_fn)
    is_leaf = property(lambda self: self._data.is_leaf)

    @property
    def requires_grad(self) -> bool:
        """Whether the elements take a gradient."""
        return self._data.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._data.requires_grad_(wanted)

    @property
    def grad(self) -> Any:  # type: ignore[override]
        """The gradient, with the same mask."""
        return None if self._data.grad is None else _made(self._data.grad, self._mask)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Take gradients from now on, or none."""
        self._data.requires_grad_(requires_grad)
        return self

    def dim(self) -> int:
        """Return how many dimensions there are."""
        return self._data.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return the sizes, or one of them."""
        return self._data.shape if dim is None else self._data.shape[dim]

    def numel(self) -> int:
        """Return the count of elements, seen or not."""
        return self._data.numel()

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Run backward from the elements that are seen."""
        if gradient is None:
            gradient = native.ones_like(self._data) * self._mask
        elif isinstance(gradient, MaskedTensor):
            gradient = gradient.to_tensor(0)
        self._data.backward(gradient, *args, **kwargs)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if self.ndim == 0:
            return f"MaskedTensor({_shown(self._data, self._mask)}, {self._mask.item()})"
        return f"MaskedTensor(\n{_lines(self._data, self._mask, 2)}\n)"


def _shown(value: Tensor, mask: Tensor) -> str:
    if not mask.item():
        return "--".rjust(8) if value.is_floating_point() else "--"
    number = value.item()
    return f"{number:8.4f}" if isinstance(number, float) else str(number)


def _lines(data: Tensor, mask: Tensor, depth: int) -> str:
    lead = " " * depth
    if data.ndim == 1:
        return f"{lead}[{', '.join(map(_shown, data.unbind(), mask.unbind()))}]"
    rows = [_lines(one, other, depth + 2) for one, other in zip(data, mask, strict=True)]
    return f"{lead}[\n" + ",\n".join(rows) + f"\n{lead}]"


def _made(data: Tensor, mask: Tensor) -> MaskedTensor:
    made: Any = Tensor._make_subclass(MaskedTensor, native.empty(0))
    made._data, made._mask = data, mask
    return made  # type: ignore[no-any-return]


def _check(data: Any, mask: Any) -> None:
    if isinstance(data, MaskedTensor) or isinstance(mask, MaskedTensor):
        raise TypeError("data and mask must be plain tensors, not MaskedTensors")
    if mask.dtype is not native.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """Return a copy of the elements with a mask: a leaf.

    >>> import rushlight as torch
    >>> torch.masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    _check(data, mask)
    return _made(data.detach().clone().requires_grad_(requires_grad), mask.clone())


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """Return the elements, with their history, and a mask."""
    _check(data, mask)
    return _made(data, mask)


def is_masked_tensor(obj: Any, /) -> bool:
    """Tell whether something is a tensor with a mask."""
    return isinstance(obj, MaskedTensor)


_REDUCED = frozenset(
    ["sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "var", "std", "norm", "logsumexp"]
)
_NORMALISED = frozenset(["softmax", "log_softmax", "softmin", "cumsum", "cumprod"])
_MOVED = frozenset(
    [
        "__getitem__",
        "view",
        "reshape",
        "transpose",
        "permute",
        "unsqueeze",
        "squeeze",
        "expand",
        "flatten",
        "t",
        "select",
        "narrow",
        "movedim",
        "contiguous",
        "clone",
        "index_select",
        "unflatten",
        "swapaxes",
        "repeat",
        "flip",
        "roll",
    ]
)


def _answer(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Compute a function of arguments of which some have masks."""
    from . import _functions

    name = getattr(func, "__name__", str(func))
    masked = [one for one in (*args, *kwargs.values()) if isinstance(one, MaskedTensor)]
    first = masked[0]
    if name in _REDUCED:
        return _reduced(getattr(_functions, name), first, args[1:], kwargs)
    if name in _NORMALISED:
        found = getattr(_functions, name)(first._data, *args[1:], mask=first._mask, **kwargs)
        return _made(found.masked_fill(~first._mask, 0), first._mask)
    if name in _MOVED:
        still = [one for one in args[1:] if not isinstance(one, MaskedTensor)]
        return _made(func(first._data, *still, **kwargs), func(first._mask, *still, **kwargs))
    if name in ("detach", "detach_"):
        return _made(first._data.detach(), first._mask)
    if name == "to_dense":
        return first
    if any(one._mask.shape == first._mask.shape and not one._mask.equal(first._mask) for one in masked):
        raise ValueError(
            "Input masks must match. If you need support for this, please open an issue on Github."
        )
    plain = [one._data if isinstance(one, MaskedTensor) else one for one in args]
    named = {key: one._data if isinstance(one, MaskedTensor) else one for key, one in kwargs.items()}
    found = func(*plain, **named)
    if not isinstance(found, Tensor) or found.shape != first._mask.shape:
        raise TypeError(f"no implementation found for '{name}' on a MaskedTensor")
    return _made(found, first._mask)


def _reduced(
    function: Callable[..., Any], x: MaskedTensor, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    found = function(x._data, *args, mask=x._mask, **kwargs)
    dim = kwargs.get("dim", args[0] if args and not isinstance(args[0], float) else None)
    dims = list(range(x.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    seen = x._mask
    for one in sorted((one % max(x.ndim, 1) for one in dims), reverse=True):
        seen = seen.any(one, keepdim=bool(kwargs.get("keepdim"))) if x.ndim else seen
    return _made(found.masked_fill(~seen, 0), seen)
