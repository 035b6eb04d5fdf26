"""The methods of `Tensor` that torch, too, writes in Python.

`install` puts every public function of this file, and the special methods, on the class.
"""

from __future__ import annotations

from ._calls import written as _written
from ._calls.showing import shown, shown_as_given, shown_as_method, shown_like, shown_to
from ._functions import METHODS as _OF_FUNCTIONS
from ._functions import under_vmap as _under_vmap
from ._lazy import on_first_use
from ._rushlight import (
    Tensor,
    _accumulate,
    _disabled_torch_dispatch_impl,
    _handle_torch_function,
    _has_torch_function,
)
from .autograd.differentiate import backward as _backward

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


_COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor)."
)


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | dict[str, Tensor] | None = None,
) -> Any:
    """Add the gradients of this tensor to the `.grad` of the leaves it was computed from.

    `gradient` weighs the elements; it may be left out for a scalar. The graph is freed
    unless `retain_graph` (or `create_graph`, which records the gradients themselves).

    >>> import rushlight as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor(6.)
    """
    if gradient is None and inputs is None and create_graph is False and _accumulate(self, retain_graph):
        return None
    if _has_torch_function(self):
        options = {
            "gradient": gradient,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "inputs": inputs,
        }
        return _handle_torch_function(Tensor.backward, "torch.Tensor.backward", self, (self,), options)
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)
    return None


@shown_as_given
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return this tensor as the type of `other`.

    >>> import rushlight as torch
    >>> torch.tensor([1, 2]).type_as(torch.tensor(0.5))
    tensor([1., 2.])
    """
    if not isinstance(other, Tensor):
        found = type(other).__name__
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {found}")
    return self.to(other.dtype)


@shown_as_given
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor of `data` with the type of this one, unless another is given.

    >>> import rushlight as torch
    >>> torch.tensor([1.5]).new_tensor([1, 2])
    tensor([1., 2.])
    """
    from ._rushlight import tensor

    if isinstance(data, Tensor):
        import warnings

        warnings.warn(_COPY_CONSTRUCT, UserWarning, stacklevel=2)
        copied = data.detach().to(dtype or self.dtype, copy=True)
        return copied.requires_grad_() if requires_grad else copied
    return tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)


@shown_as_given
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Tell whether both show the same elements of the same memory in the same way.

    >>> import rushlight as torch
    >>> x = torch.zeros(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x[1:])
    (True, False)
    """
    if not isinstance(tensor, Tensor):
        got = type(tensor).__name__
        raise TypeError(f"is_set_to(): argument 'tensor' (position 1) must be Tensor, not {got}")
    if _under_vmap.is_any_batched(self, tensor):
        _under_vmap.refuse("MappedDecision", "is_set_to")
    same = self.data_ptr() == tensor.data_ptr() and self.dtype == tensor.dtype
    return same and self.shape == tensor.shape and self.stride() == tensor.stride()


def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@shown
def __reversed__(self: Tensor) -> Tensor:
    return self if self.dim() == 0 else self.flip(0)


@shown_to("self")
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, bool, int, float)):
        equal: Any = element == self
        return bool(equal.any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def __rdiv__(self: Tensor, other: Any) -> Tensor:
    quotient: Tensor = self.reciprocal() * other
    return quotient


@shown
def __format__(self: Tensor, format_spec: str) -> str:
    if self.ndim == 0 and type(self) is Tensor:
        return format(self.item(), format_spec)
    return object.__format__(self, format_spec)


@shown_as_given
def untyped_storage(self: Tensor) -> Any:
    """Return the memory of this tensor as bytes: one object for all tensors that share it."""
    from . import storage

    _under_vmap.check_storage(self)
    return storage.untyped_storage(self)


def _typed_storage(self: Tensor) -> Any:
    """Return the memory of this tensor as elements of its type."""
    from . import storage

    _under_vmap.check_storage(self)
    return storage.typed_storage(self)


@shown
def storage(self: Tensor) -> Any:
    """Return the memory of this tensor as elements of its type. It is deprecated."""
    from . import storage

    _under_vmap.check_storage(self)
    return storage.deprecated_storage(self)


def __copy__(self: Tensor) -> Tensor:
    from ._tensors.copying import copied

    return copied(self)


_compiled_repr = Tensor.__repr__


def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    if tensor_contents is None:
        return _compiled_repr(self)
    from ._tensor_str import with_contents

    return with_contents(self, tensor_contents)


_METHODS = (
    __repr__,
    untyped_storage,
    _typed_storage,
    storage,
    backward,
    type_as,
    new_tensor,
    __iter__,
    __reversed__,
    __contains__,
    __format__,
    __rdiv__,
    __copy__,
    is_set_to,
)
# What is compiled here, and written in Python there.
_COMPILED = ("norm", "register_hook", "register_post_accumulate_grad_hook", "split", "unflatten")


# What no processor computes, by names that torch's table of methods has.
_ABSENT = (
    "_autocast_to_full_precision _autocast_to_reduced_precision _dimI _dimV _nested_tensor_size "
    "_nested_tensor_storage_offsets _nested_tensor_strides _philox_normal_ _philox_uniform_ "
    "_sparse_mask_projection _to_dense int_repr q_per_channel_axis q_per_channel_scales "
    "q_per_channel_zero_points q_scale q_zero_point qscheme slice_inverse to_mkldnn to_padded_tensor"
)

# What is rare comes from files that load when it is first called.
_RARE = {
    "__deepcopy__": "._tensors.copying",
    "__dlpack__": ".utils.dlpack",
    "__dlpack_device__": ".utils.dlpack",
    "__reduce_ex__": "._tensors.copying",
    "_rev_view_func_unsafe": "._tensors.view_functions",
    "_view_func": "._tensors.view_functions",
    "_view_func_unsafe": "._tensors.view_functions",
    "apply_": "._functions.elements",
    "dim_order": "._tensors.layouts",
    **dict.fromkeys(
        [
            "_is_zerotensor",
            "_lazy_clone",
            "const_data_ptr",
            "dequantize",
            "ipu",
            "mtia",
            "record_stream",
            "storage_type",
            "xpu",
        ],
        "._devices.of_tensors",
    ),
    **dict.fromkeys(_ABSENT.split(), "._compat.absent_operators"),
    **dict.fromkeys(["_is_all_true", "_is_any_true"], "._functions.assertions"),
    **dict.fromkeys(["_addmm_activation", "_conj_physical"], "._compat.inner_operators"),
    "eig": "._functions.deprecated",
    "hash_tensor": "._functions.segments",
    "is_distributed": "._machine",
    "is_shared": "._tensors.sharing",
    "istft": "._functions.spectra",
    "lstsq": "._functions.deprecated",
    "map2_": "._functions.elements",
    "map_": "._functions.elements",
    "module_load": "._tensors.legacy",
    "new": "._tensors.legacy",
    "orgqr": "._functions.lowrank",
    "ormqr": "._functions.lowrank",
    "pin_memory": "._tensors.sharing",
    "reinforce": "._functions.deprecated",
    "resize": "._tensors.legacy",
    "resize_as": "._tensors.legacy",
    "share_memory_": "._tensors.sharing",
    "solve": "._functions.deprecated",
    "stft": "._functions.spectra",
    "symeig": "._functions.deprecated",
    **dict.fromkeys(
        [
            "_coalesced_",
            "_indices",
            "_nnz",
            "_to_sparse",
            "_to_sparse_bsc",
            "_to_sparse_bsr",
            "_to_sparse_csc",
            "_to_sparse_csr",
            "_values",
            "ccol_indices",
            "coalesce",
            "col_indices",
            "crow_indices",
            "dense_dim",
            "indices",
            "is_coalesced",
            "resize_as_sparse_",
            "row_indices",
            "smm",
            "sparse_dim",
            "sparse_mask",
            "sparse_resize_",
            "sparse_resize_and_clear_",
            "sspaddmm",
            "to_dense",
            "to_sparse",
            "to_sparse_bsc",
            "to_sparse_bsr",
            "to_sparse_coo",
            "to_sparse_csc",
            "to_sparse_csr",
            "values",
        ],
        ".sparse.methods",
    ),
}

# What no tensor is: in the memory of another device, or in another layout.
_NEVER = ("is_ipu", "is_maia", "is_mkldnn", "is_mtia", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu")


def _never(self: Tensor) -> bool:
    """Tell what is not so for any tensor."""
    return False


def _cdata(self: Tensor) -> int:
    from .utils._swapping import number_beneath

    return number_beneath(self)


def _rare(name: str, place: str) -> Callable[..., Any]:
    """Return the method that calls a function of another file."""

    function: Callable[..., Any] | None = None

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        if function is None:
            from importlib import import_module

            function = getattr(import_module(place, __package__), name)
            getattr(Tensor, name).__doc__ = function.__doc__
        return function(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    form = vars(_written).get(name)
    return shown_like(method, form, "Tensor.") if form else shown_as_given(method)


def __torch_function__(
    cls: type[Tensor], func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None
) -> Any:
    from .overrides import default

    return default(cls, func, types, args, kwargs)


def _make_wrapper_subclass(*args: Any, **kwargs: Any) -> Any:
    from ._tensors.wrappers import make_wrapper_subclass

    return make_wrapper_subclass(*args, **kwargs)


def install(tensor_class: type[Tensor]) -> None:
    """Give `tensor_class` the methods of this file."""
    setattr(tensor_class, "__torch_function__", classmethod(__torch_function__))  # noqa: B010
    setattr(tensor_class, "__torch_dispatch__", _disabled_torch_dispatch_impl)  # noqa: B010
    setattr(tensor_class, "_make_wrapper_subclass", staticmethod(_make_wrapper_subclass))  # noqa: B010
    for method in _METHODS:
        method.__qualname__ = f"Tensor.{method.__name__}"
        setattr(tensor_class, method.__name__, method)
    for name in _COMPILED:
        setattr(
            tensor_class,
            name,
            shown_like(getattr(tensor_class, name), vars(_written)[name], "Tensor."),
        )
    for name in _NEVER:
        setattr(tensor_class, name, property(_never))
    setattr(tensor_class, "_cdata", property(_cdata))  # noqa: B010
    for name, place in _RARE.items():
        setattr(tensor_class, name, _rare(name, place))
    for function in _OF_FUNCTIONS:
        setattr(tensor_class, function.__name__, shown_as_method(function))


__getattr__, __dir__ = on_first_use(globals(), places={"._files.pickles": "_rebuild_from_type_v2"})
