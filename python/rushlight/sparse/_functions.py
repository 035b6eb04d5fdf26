"""Functions that are called with sparse tensors: with gradients of their own, or no operation beneath."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import _rushlight as native
from .._compat._C import DisableTorchFunctionSubclass
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from ..autograd import Function
from ._compressed import rearranged
from ._forms import Pieces, in_words, is_sparse, like, sparse
from ._making import Values, coalesce, dense, made, named, to_coordinates
from ._matrices import check_copied
from ._operators import check_layout, none_of, nothing, overwrite, permuted, refuse_dense, widened

known: dict[str, Callable[..., Any]] = {}
# Names of functions of each element, which are zero of zero (`_elements`).
elementwise: set[str] = set()


def answer(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Answer a call of a function, or let it come to what it is made of."""
    out = kwargs.get("out")
    if isinstance(out, Tensor) and (is_sparse(out) or getattr(func, "__name__", "") in elementwise):
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        return _put(out, func(*args, **rest))
    with DisableTorchFunctionSubclass():
        answering = known.get(getattr(func, "__name__", ""))
        return answering(*args, **kwargs) if answering else func(*args, **kwargs)


def _put(out: Any, found: Any) -> Any:
    """Give a tensor the pieces of a result, if it can have them."""
    if not (is_sparse(out) and is_sparse(found)):
        raise RuntimeError(
            "Expected self.is_sparse() && result.is_sparse() to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if not native.can_cast(found.dtype, out.dtype):
        raise RuntimeError(
            f"result type {scalar_name(found)} can't be cast to the desired output type {scalar_name(out)}"
        )
    if out.shape != found.shape:
        resized_to(out, found)
    return overwrite(out, found if found.dtype == out.dtype else found.to(out.dtype))


def resized_to(tensor: Any, other: Any) -> Any:
    """Give a sparse tensor the size and the pieces of another."""
    tensor.data = other
    return overwrite(tensor, other)


def _called(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        known.update(dict.fromkeys(names, function))
        return function

    return listed


def _kept(tensor: Any) -> Any:
    """Return a tensor whose values may be differentiated each by itself."""
    is_repeated = tensor.layout is layouts.sparse_coo and tensor.requires_grad
    return coalesce(tensor) if is_repeated else tensor


@_called("transpose_", "swapaxes_", "swapdims_", "t_")
def _transposed_in_place(tensor: Any, *dims: int) -> Any:
    found = _transpose(tensor.detach(), *dims) if dims else _turn(tensor.detach())
    return resized_to(tensor, found)


@named
class Permute(Function):
    """Dimensions in another order."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, order: Sequence[int]) -> Any:
        ctx.order = order
        return permuted(tensor, order)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        back = sorted(range(len(ctx.order)), key=lambda place: ctx.order[place])
        return Permute.apply(gradient, back) if is_sparse(gradient) else gradient.permute(back), None


@_called("permute")
def _permute(tensor: Any, *dims: Any) -> Any:
    order = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    if len(order) != tensor.dim():
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {tensor.dim()} is not equal to len(dims) = "
            f"{len(order)}"
        )
    if tensor.layout is not layouts.sparse_coo:
        _refuse("as_strided", tensor)
    if len({one % tensor.dim() for one in order}) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return Permute.apply(tensor, [_dim(one, tensor.dim()) for one in order])


@_called("transpose", "swapaxes", "swapdims")
def _transpose(tensor: Any, dim0: int, dim1: int) -> Any:
    order = list(range(tensor.dim()))
    first, second = _dim(dim0, tensor.dim()), _dim(dim1, tensor.dim())
    kept = len(tensor._pieces.places) if tensor.layout is layouts.sparse_coo else tensor.dim()
    if (first < kept) != (second < kept):
        raise RuntimeError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {kept}, d0: {first}, "
            f"d1: {second}"
        )
    order[first], order[second] = order[second], order[first]
    return Permute.apply(tensor, order)


@_called("t")
def _turn(tensor: Any) -> Any:
    if tensor.layout is layouts.sparse_coo and not tensor.dim() == len(tensor._pieces.places) <= 2:
        kept = len(tensor._pieces.places)
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {kept} sparse and "
            f"{tensor.dim() - kept} dense dimensions"
        )
    return Permute.apply(tensor, list(range(tensor.dim()))[::-1])


def _dim(dim: int, count: int) -> int:
    if not -count <= dim < max(count, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
        )
    return dim % max(count, 1)


def check_coordinates(tensor: Any, name: str) -> None:
    """Refuse compressed layouts, as whatever has no kernel for them."""
    if tensor.layout is not layouts.sparse_coo:
        _refuse(name, tensor)


@_called("unsqueeze")
def _widen(tensor: Any, dim: int) -> Any:
    if tensor.layout is not layouts.sparse_coo:
        raise RuntimeError("Sparse CSR tensors do not have strides")
    dim = _dim(dim, tensor.dim() + 1)
    wide = widened(tensor.detach(), dim)
    kept = _kept(tensor)
    if kept is not tensor:
        wide = widened(kept.detach(), dim)
    return made(Values.apply(kept), wide._pieces, wide.shape) if tensor.requires_grad else wide


@_called("sum")
def _sum(tensor: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if dim is None or dim == ():
        return native.sum(tensor, dtype=dtype)
    each = [_dim(one, tensor.dim()) for one in ([dim] if isinstance(dim, int) else dim)]
    dims = sorted(set(each))
    if len(dims) < len(each):
        twice = next(one for place, one in enumerate(each) if one in each[:place])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    if tensor.layout is not layouts.sparse_coo:
        return _sum_of_lines(tensor, dims, keepdim, dtype)
    kept = coalesce(tensor)
    pieces, values = kept._pieces, Values.apply(kept)
    values = values if dtype is None else values.to(dtype)
    first = len(pieces.places)
    inner = [one - first + 1 for one in dims if one >= first]
    values = values.sum(inner) if inner else values
    size = [length for place, length in enumerate(tensor.shape) if place not in dims]
    left = [place for place in range(first) if place not in dims]
    if not left:
        result = values.sum(0)
        return (
            result.reshape([1 if place in dims else length for place, length in enumerate(tensor.shape)])
            if keepdim
            else result
        )
    if len(left) < first:
        raw = sparse(Pieces(pieces.places[left], values.detach()), size)
        result = coalesce(made(values, raw._pieces, size))
    else:
        result = made(values, pieces, size)
    for place in dims if keepdim else ():
        result = _widen(result, place)
    return result


def _sum_of_lines(tensor: Any, dims: Sequence[int], keepdim: bool, dtype: Any) -> Any:
    """Return the sums of rows, of columns or of everything as a matrix."""
    if tensor.layout is not layouts.sparse_csr:
        raise RuntimeError(
            "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got "
            f"layout {in_words(tensor)}"
        )
    if not keepdim:
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    if tensor.dim() != 2:
        raise RuntimeError("input_dim == 2 INTERNAL ASSERT FAILED")
    dtype = dtype or native.sum(native.zeros((), dtype=tensor.dtype)).dtype
    found = _sum(to_coordinates(tensor), dims, True, dtype=dtype)
    found = found if is_sparse(found) else to_coordinates(found)
    return rearranged(found, tensor.layout)


@_called("norm")
def _norm(
    tensor: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None, **_: Any
) -> Tensor:
    each = [] if dim is None else [dim] if isinstance(dim, int) else dim
    if each and len(each) < tensor.dim():
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain "
            "all dimensions of the input"
        )
    kept = coalesce(tensor) if tensor.layout is layouts.sparse_coo else tensor
    found: Tensor = Values.apply(kept).norm(2 if p in ("fro", None) else p)
    return found


@_called("copy_")
def _copy(tensor: Any, other: Any, *args: Any, **options: Any) -> Any:
    if any(is_sparse(one) and one.layout is not layouts.sparse_coo for one in (tensor, other)):
        check_copied(tensor, other)
    return tensor.copy_(other, *args, **options)


@_called("squeeze", "unfold", "as_strided")
def _refuse_strides(tensor: Any, *_: Any, **__: Any) -> Any:
    _refuse("as_strided", tensor)


@_called("squeeze_", "unsqueeze_", "as_strided_")
def _refuse_other_strides(tensor: Any, *_: Any, **__: Any) -> Any:
    _refuse("as_strided_", tensor)


@_called("__setitem__")
def _set_item(tensor: Any, index: Any, value: Any) -> Any:
    raise TypeError("Cannot assign to a sparse tensor")


@_called("gather")
def _refuse_gather(tensor: Any, *_: Any, **__: Any) -> Any:
    raise NotImplementedError("Could not run 'aten::gather' with arguments from the 'SparseCPU' backend.")


def _formed(name: str) -> Callable[..., Any]:
    """Return the function that makes a dense tensor of a sparse one's form, where that is asked for."""
    make = getattr(native, name)

    def make_like(tensor: Any, *args: Any, layout: Any = None, **options: Any) -> Any:
        if options.get("memory_format") is not None and layout is not native.strided:
            raise RuntimeError("memory format option is only supported by strided tensors")
        if layout is native.strided and tensor.layout is layouts.sparse_coo:
            return make(native.empty(tensor.shape, dtype=tensor.dtype), *args, **options)
        check_layout(tensor, layout)
        return make(tensor, *args, **options)

    return make_like


for _name in ("empty_like", "ones_like", "full_like", "rand_like", "randn_like"):
    known[_name] = _formed(_name)


@_called("zeros_like", "new_zeros", "new_empty")
def _none(
    tensor: Any,
    *size: Any,
    dtype: Any = None,
    layout: Any = None,
    memory_format: Any = None,
    requires_grad: bool = False,
    **_: Any,
) -> Any:
    if memory_format is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    if layout is native.strided and tensor.layout is not layouts.sparse_coo:
        check_layout(tensor, layout)
    shape = size[0] if size and not isinstance(size[0], int) else size
    if layout is native.strided:
        made = native.zeros(shape or tensor.shape, dtype=dtype or tensor.dtype)
    else:
        made = none_of(tensor, shape or None, dtype=dtype, layout=layout)
    return made.requires_grad_(requires_grad)


@_called("softmax", "log_softmax")
def _softmax(tensor: Any, *_: Any, **__: Any) -> Any:
    raise NotImplementedError("Could not run 'aten::_softmax' with arguments from the 'SparseCPU' backend.")


@_called("type")
def _type(tensor: Any, dtype: Any = None, **_: Any) -> Any:
    if dtype is not None:
        return tensor.to(dtype)
    return str(native.zeros(0, dtype=tensor.dtype).type()).replace("torch.", "torch.sparse.")


def _refusing(error: type[Exception], text: str) -> Callable[..., Any]:
    def refuse(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        raise error(text.format(layout=in_words(tensor)))

    return refuse


known.update(
    numpy=_refusing(TypeError, "can't convert {layout} layout tensor to numpy. Use Tensor.to_dense() first."),
    __array__=_refusing(
        TypeError, "can't convert {layout} layout tensor to numpy. Use Tensor.to_dense() first."
    ),
    tolist=_refusing(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
    data_ptr=_refusing(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
    storage=_refusing(NotImplementedError, "Cannot access storage of {layout}TensorImpl"),
    untyped_storage=_refusing(NotImplementedError, "Cannot access storage of {layout}TensorImpl"),
    reshape=_refusing(RuntimeError, "reshape is not implemented for sparse tensors"),
    flatten=_refusing(RuntimeError, "reshape is not implemented for sparse tensors"),
    expand=_refusing(RuntimeError, "expand is unsupported for Sparse tensors"),
    contiguous=_refusing(RuntimeError, "unsupported memory format option Contiguous"),
    view=_refusing(
        NotImplementedError, "Could not run 'aten::view' with arguments from the '{layout}CPU' backend."
    ),
)


def _to(dtype: Any) -> Callable[..., Any]:
    def convert(tensor: Any, **_: Any) -> Any:
        if not tensor.requires_grad or dtype is tensor.dtype:
            return tensor.to(dtype)
        kept = _kept(tensor)
        return made(Values.apply(kept).to(dtype), kept._pieces, kept.shape)

    return convert


known.update(
    double=_to(native.float64),
    float=_to(native.float32),
    half=_to(native.float16),
    bfloat16=_to(native.bfloat16),
    bool=_to(native.bool),
    byte=_to(native.uint8),
    char=_to(native.int8),
    short=_to(native.int16),
    int=_to(native.int32),
    long=_to(native.int64),
    cfloat=_to(native.complex64),
    cdouble=_to(native.complex128),
)


def _sum_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def add(one: Any, other: Any, **options: Any) -> Any:
        refuse_dense(one, other)
        return function(one, other, **options)

    return add


known.update(
    add=_sum_of(native.add), __add__=_sum_of(native.add), sub=_sum_of(native.sub), __sub__=_sum_of(native.sub)
)


@_called("floor_divide", "__floordiv__")
def _floor(one: Any, other: Any) -> Any:
    return native.div(one, other, rounding_mode="floor")


@_called("fill_")
def _fill(tensor: Any, value: Any) -> Any:
    if tensor.layout is layouts.sparse_coo:
        _refuse("fill_.Scalar", tensor)
    return overwrite(tensor, like(tensor, native.full_like(tensor._pieces.values, value)))


def _refuse(name: str, tensor: Any) -> NoReturn:
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{in_words(tensor)}CPU' backend."
    )


@_called("is_nonzero", "__bool__")
def _truth(tensor: Any) -> bool:
    return bool(dense(tensor))


@_called("item", "__float__", "__int__", "__complex__")
def _number(tensor: Any) -> Any:
    if tensor.numel() != 1:
        raise RuntimeError(f"a Tensor with {tensor.numel()} elements cannot be converted to Scalar")
    return dense(tensor).item()


__all__ = ["answer", "like", "nothing"]
