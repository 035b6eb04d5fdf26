"""Tensors that have a mask with them: what is not seen stays out of what is calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ..sparse._forms import pieces_of
from ..sparse._making import Values, made
from ._layouts import is_strided

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]


class MaskedTensor(Tensor):
    """Elements, and which of them are seen."""

    _masked_data: Tensor
    _masked_mask: Tensor

    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> Any:
        """Make a leaf of its own."""
        return masked_tensor(data, mask, requires_grad)

    def __init__(self, *_: Any, **__: Any) -> None:
        """Nothing is left to do."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _answer(func, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _answer(func, args, kwargs or {})

    def get_data(self) -> Tensor:
        """Return the elements, also those that are not seen."""
        return (
            self._masked_data.view_as(self._masked_data)
            if is_strided(self._masked_data)
            else self._masked_data
        )

    def get_mask(self) -> Tensor:
        """Return which elements are seen."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """Return the elements, with `value` in the place of those that are not seen."""
        return self._masked_data.masked_fill(~self._masked_mask, value)

    shape = property(lambda self: self._masked_data.shape)
    dtype = property(lambda self: self._masked_data.dtype)
    device = property(lambda self: self._masked_data.device)
    layout = property(lambda self: self._masked_data.layout)
    ndim = property(lambda self: self._masked_data.ndim)
    is_sparse = property(lambda self: not is_strided(self._masked_data))
    grad_fn = property(lambda self: self._masked_data.grad_fn)
    is_leaf = property(lambda self: self._masked_data.is_leaf)

    @property
    def requires_grad(self) -> bool:
        """Whether the elements take a gradient."""
        return self._masked_data.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._masked_data.requires_grad_(wanted)

    @property
    def grad(self) -> Any:  # type: ignore[override]
        """The gradient, with the same mask."""
        return None if self._masked_data.grad is None else _made(self._masked_data.grad, self._masked_mask)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Take gradients from now on, or none."""
        self._masked_data.requires_grad_(requires_grad)
        return self

    def dim(self) -> int:
        """Return how many dimensions there are."""
        return self._masked_data.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return the sizes, or one of them."""
        return self._masked_data.shape if dim is None else self._masked_data.shape[dim]

    def numel(self) -> int:
        """Return the count of elements, seen or not."""
        return self._masked_data.numel()

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Run backward from the elements that are seen."""
        if gradient is None:
            gradient = _seed(self)
        elif isinstance(gradient, MaskedTensor):
            gradient = gradient.to_tensor(0)
        self._masked_data.backward(gradient, *args, **kwargs)

    def is_sparse_coo(self) -> bool:
        """Tell whether only some elements are kept, each with its place."""
        return self.layout is layouts.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Tell whether only some elements are kept, by rows."""
        return self.layout is layouts.sparse_csr

    def __len__(self) -> int:
        return len(self._masked_data)

    def __format__(self, format_spec: str) -> str:
        return object.__format__(self, format_spec)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if self.ndim == 0:
            if not self._masked_mask.item():
                return "MaskedTensor(--, False)"
            return f"MaskedTensor({_shown(self._masked_data, self._masked_mask)}, {self._masked_mask.item()})"
        return f"MaskedTensor(\n{_lines(self._masked_data, self._masked_mask, 2)}\n)"


def _shown(value: Tensor, mask: Tensor) -> str:
    if not mask.item():
        return "--".rjust(8)
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
    made._masked_data, made._masked_mask = data, mask
    return made  # type: ignore[no-any-return]


def _on_the_mask(data: Any, mask: Any) -> Any:
    """Return sparse elements as a mask keeps them that has fewer: what it hides is 0."""
    is_sparse = isinstance(data, Tensor) and isinstance(mask, Tensor) and not is_strided(data)
    if not is_sparse or data.layout is not mask.layout or data.shape != mask.shape:
        return data
    if data._nnz() <= mask._nnz():
        return data
    kept = data.sparse_mask(mask)
    return made(Values.apply(kept).masked_fill(~Values.apply(mask), 0), pieces_of(kept), data.shape)


def _check(data: Any, mask: Any) -> None:
    if isinstance(data, MaskedTensor) or isinstance(mask, MaskedTensor):
        raise TypeError("data and mask must be plain tensors, not MaskedTensors")
    if mask.dtype is not native.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")
    if data.layout is not mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if data.layout not in (native.strided, layouts.sparse_coo, layouts.sparse_csr):
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if data.layout is layouts.sparse_coo and not _same(data._indices(), mask._indices()):
        raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
    if data.layout is layouts.sparse_csr and not (
        _same(data.crow_indices(), mask.crow_indices()) and _same(data.col_indices(), mask.col_indices())
    ):
        raise ValueError(
            "data and mask are both sparse CSR tensors but do not share either crow or col indices."
        )


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.equal(other)


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """Return a copy of the elements with a mask: a leaf.

    >>> import rushlight as torch
    >>> torch.masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    data = _on_the_mask(data, mask)
    _check(data, mask)
    return _made(data.detach().clone().requires_grad_(requires_grad), mask.clone())


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """Return the elements, with their history, and a mask."""
    data = _on_the_mask(data, mask)
    _check(data, mask)
    return _made(data, mask)


def is_masked_tensor(obj: Any, /) -> bool:
    """Tell whether something is a tensor with a mask."""
    return isinstance(obj, MaskedTensor)


# What is asked of the elements alone.
_ASKED = frozenset(
    [
        "is_contiguous",
        "stride",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "element_size",
        "data_ptr",
        "storage_offset",
        "nelement",
        "ndimension",
        "type",
        "get_device",
        "item",
    ]
)
_SPARSE = {
    "to_sparse": layouts.sparse_coo,
    "to_sparse_coo": layouts.sparse_coo,
    "to_sparse_csr": layouts.sparse_csr,
}
_REDUCED = frozenset(
    ["sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "var", "std", "norm", "logsumexp"]
)
_TOGETHER = frozenset(["stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack"])
_APART = frozenset(["split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit"])
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

    name = getattr(func, "__name__", str(func)).partition(".")[0]
    if name in _TOGETHER:
        return _together(func, args, kwargs)
    if name == "grad":
        return _gradients(func, *args, **kwargs)
    masked = [one for one in (*args, *kwargs.values()) if isinstance(one, MaskedTensor)]
    first = masked[0]
    if name == "__get__":
        found = func(first._masked_data)
        return _made(found, func(first._masked_mask)) if isinstance(found, Tensor) else found
    if name in _ASKED:
        return func(first._masked_data, *args[1:], **kwargs)
    if name == "where":
        return _either(args[0], *args[1:])
    if name in _APART:
        parts = func(first._masked_data, *args[1:], **kwargs), func(first._masked_mask, *args[1:], **kwargs)
        return tuple(_made(data, mask) for data, mask in zip(*parts, strict=True))
    if name == "all":
        return _reduced(_all_of, first, args[1:], kwargs)
    if name in _REDUCED:
        return _reduced(getattr(_functions, name), first, args[1:], kwargs)
    if name in _NORMALISED:
        kwargs.pop("_stacklevel", None)
        found = getattr(_functions, name)(first._masked_data, *args[1:], mask=first._masked_mask, **kwargs)
        return _made(found.masked_fill(~first._masked_mask, 0), first._masked_mask)
    if name in _MOVED:
        still = [one for one in args[1:] if not isinstance(one, MaskedTensor)]
        return _made(func(first._masked_data, *still, **kwargs), func(first._masked_mask, *still, **kwargs))
    if name in ("detach", "detach_"):
        return _made(first._masked_data.detach(), first._masked_mask)
    if name == "to_dense":
        return (
            first
            if is_strided(first._masked_data)
            else _made(first._masked_data.to_dense(), first._masked_mask.to_dense())
        )
    if name in _SPARSE:
        return first if first.layout is _SPARSE[name] else _of_those_seen(func, first)
    own = first._masked_mask.to_dense()
    if any(
        one._masked_mask.shape == own.shape and not one._masked_mask.to_dense().equal(own) for one in masked
    ):
        raise ValueError(
            "Input masks must match. If you need support for this, please open an issue on Github."
        )
    numbers = _numbers(first)
    found = func(*map(_numbers, args), **{key: _numbers(one) for key, one in kwargs.items()})
    if not isinstance(found, Tensor) or found.shape != numbers.shape:
        raise TypeError(f"no implementation found for '{name}' on a MaskedTensor")
    if found is numbers:
        return first
    return _made(
        found if is_strided(first._masked_data) else made(found, pieces_of(first._masked_data), first.shape),
        first._masked_mask,
    )


def _of_those_seen(func: Any, x: MaskedTensor) -> MaskedTensor:
    """Return the elements that are seen in a layout that keeps no others."""
    mask = func(x._masked_mask)
    return _made(x._masked_data.sparse_mask(mask), mask)


def _numbers(one: Any) -> Any:
    """Return the elements of a tensor with a mask, what a sparse one keeps; others as they are."""
    if not isinstance(one, MaskedTensor):
        return one
    return one._masked_data if is_strided(one._masked_data) else Values.apply(one._masked_data)


def _together(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> MaskedTensor:
    """Put tensors together, and their masks; of those without one everything is seen."""
    given, *rest = args
    data = [one._masked_data if isinstance(one, MaskedTensor) else one for one in given]
    masks = [
        one._masked_mask if isinstance(one, MaskedTensor) else native.ones_like(one, dtype=native.bool)
        for one in given
    ]
    return _made(func(data, *rest, **kwargs), func(masks, *rest, **kwargs))


def _either(condition: Tensor, one: Any, other: Any) -> MaskedTensor:
    """Return elements of one tensor where a condition holds and of another elsewhere, with their masks."""
    one, other = (
        given if isinstance(given, MaskedTensor) else _made(given, native.ones_like(given, dtype=native.bool))
        for given in (one, other)
    )
    return _made(
        native.where(condition, one._masked_data, other._masked_data),
        native.where(condition, one._masked_mask, other._masked_mask),
    )


def _gradients(
    func: Any, outputs: Any, inputs: Any, grad_outputs: Any = None, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """Return gradients, each with the mask of its tensor."""
    outputs, inputs = (one if isinstance(one, (list, tuple)) else (one,) for one in (outputs, inputs))
    given = grad_outputs if isinstance(grad_outputs, (list, tuple)) else [grad_outputs] * len(outputs)
    seeds = [
        _seed(one) if seed is None and one.numel() == 1 else _numbers(seed)
        for one, seed in zip(outputs, given, strict=True)
    ]
    found = func([*map(_numbers, outputs)], [*map(_numbers, inputs)], seeds, *args, **kwargs)
    return tuple(
        _made(gradient, one._masked_mask)
        if gradient is not None and isinstance(one, MaskedTensor)
        else gradient
        for gradient, one in zip(found, inputs, strict=True)
    )


def _seed(output: Any) -> Any:
    """Return the gradient of the elements that are seen to themselves."""
    if not isinstance(output, MaskedTensor):
        return None
    return native.ones_like(output._masked_data) * output._masked_mask


def _all_of(data: Tensor, *args: Any, mask: Tensor, **kwargs: Any) -> Tensor:
    """Tell whether all elements that are seen are true."""
    return data.masked_fill(~mask, True).all(*args, **kwargs)


def _reduced(
    function: Callable[..., Any], x: MaskedTensor, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    if not is_strided(x._masked_data):
        if args or kwargs.get("dim") is not None:
            raise TypeError(
                "no implementation found for a reduction along dimensions of a sparse MaskedTensor"
            )
        # What is not kept is not seen either; only places are counted through everything.
        is_place = function.__name__.startswith("arg")
        x = (
            _made(x._masked_data.to_dense(), x._masked_mask.to_dense())
            if is_place
            else _made(_numbers(x), x._masked_mask.values())
        )
    found = function(x._masked_data, *args, mask=x._masked_mask, **kwargs)
    dim = kwargs.get("dim", args[0] if args and not isinstance(args[0], float) else None)
    dims = list(range(x.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    seen = x._masked_mask
    for one in sorted((one % max(x.ndim, 1) for one in dims), reverse=True):
        seen = seen.any(one, keepdim=bool(kwargs.get("keepdim"))) if x.ndim else seen
    return _made(found.masked_fill(~seen, 0), seen)
