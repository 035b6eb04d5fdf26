"""Which functions `__torch_function__` sees, where they are found, and how they are called."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from functools import cache
from inspect import Parameter, Signature, signature
from keyword import iskeyword
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import _rushlight
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["all_names", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides"]

# What is called without a tensor, or says how tensors are made: by module, `Tensor` for methods.
_IGNORED = {
    "": (
        "arange as_tensor asarray can_cast empty empty_strided eye finfo from_numpy frombuffer full "
        "get_default_dtype get_num_threads get_rng_state get_printoptions iinfo initial_seed "
        "is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled is_inference_mode_enabled is_tensor "
        "linspace logspace manual_seed normal ones promote_types rand randint randn randperm range "
        "scalar_tensor "
        "seed set_anomaly_enabled set_default_dtype set_num_threads set_printoptions set_rng_state tensor "
        "tril_indices triu_indices typename vmap zeros no_grad enable_grad set_grad_enabled inference_mode "
        "load save graph device dtype Generator Size layout as_strided empty_permuted error_kinds fill "
        "from_capsule is_warn_always_enabled memory_format rand_like randint_like randn_like result_type "
        "set_warn_always to_capsule vander broadcast_shapes"
    ),
    "fft": "fftfreq rfftfreq",
    "nn.functional": (
        "grouped_mm handle_torch_function hardsigmoid hardswish has_torch_function has_torch_function_unary "
        "has_torch_function_variadic scaled_grouped_mm scaled_mm sigmoid tanh upsample upsample_bilinear "
        "upsample_nearest"
    ),
    "Tensor": (
        "__class__ __delattr__ __dir__ __getattribute__ __init__ __init_subclass__ __new__ __setattr__ "
        "__subclasshook__ __torch_function__ __torch_dispatch__ _make_subclass as_subclass new new_empty "
        "new_full new_ones new_tensor new_zeros new_empty_strided __delitem__ __hash__ __iter__ __copy__ "
        "_addmm_activation _conj _conj_physical _is_all_true _is_any_true _is_zerotensor _lazy_clone "
        "_make_wrapper_subclass _neg_view _philox_normal_ _philox_uniform_ _rev_view_func_unsafe _strides "
        "_to_sparse _to_sparse_bsc _to_sparse_bsr _to_sparse_csc _to_sparse_csr _typed_storage _view_func "
        "_view_func_unsafe eig lstsq reinforce solve stride symeig to_padded_tensor to_sparse_bsc "
        "to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr unflatten"
    ),
}


def _places() -> Iterator[tuple[str, Any, list[str]]]:
    """Name the rooms that are looked through, and the names in each."""
    from .. import fft, functional, linalg, nn, special

    torch = __import__(__package__.partition(".")[0])
    yield "torch", torch, torch.__all__
    yield "torch.functional", functional, functional.__all__
    yield "torch.nn.functional", nn.functional, nn.functional.__all__
    yield "torch.Tensor", Tensor, dir(Tensor)
    yield "torch.linalg", linalg, linalg.__all__
    yield "torch.fft", fft, fft.__all__
    yield "torch.special", special, special.__all__


@cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the functions that `__torch_function__` does not see.

    >>> import rushlight as torch
    >>> torch.zeros in torch.overrides.get_ignored_functions()
    True
    """
    torch = __import__(__package__.partition(".")[0])
    rooms = (
        (torch, _IGNORED[""]),
        (torch.fft, _IGNORED["fft"]),
        (torch.nn.functional, _IGNORED["nn.functional"]),
        (Tensor, _IGNORED["Tensor"]),
    )
    found = [getattr(room, name, None) for room, names in rooms for name in names.split()]
    return {function for function in found if callable(function)}


@cache
def _found() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Any, str]]:
    """Return the functions that can be overridden, by room, and the names of all."""
    overridable: dict[Any, list[Callable[..., Any]]] = defaultdict(list)
    names: dict[Any, str] = {}
    ignored = get_ignored_functions()
    for place, room, listed in _places():
        for name in listed:
            member: Any = getattr(room, name, None)
            if isinstance(member, ModuleType) or getattr(object, name, None) is member:
                continue
            if not callable(member):
                if hasattr(member, "__get__"):
                    names[member.__get__] = f"{place}.{name}.__get__"
                    names[member.__set__] = f"{place}.{name}.__set__"
                    overridable[member].append(member.__get__)
                continue
            if room is not Tensor and name.startswith("__"):
                continue
            names.setdefault(member, f"{place}.{name}")
            # Elsewhere such names are private, or those of classes and of writes.
            private = name.startswith("_") or name.endswith("_") or not name[0].islower()
            if member not in ignored and (room is Tensor or not private):
                overridable[room].append(member)
    return overridable, names


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that `__torch_function__` sees, by the module or class that has them.

    >>> import rushlight as torch
    >>> torch.add in torch.overrides.get_overridable_functions()[torch]
    True
    """
    return _found()[0]


def all_names() -> dict[Any, str]:
    """Return where every function is found, from the package on."""
    return _found()[1]


@cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return, for every function that can be overridden, one that is called alike and answers -1.

    >>> import rushlight as torch
    >>> torch.overrides.get_testing_overrides()[torch.add](torch.ones(2), 1)
    -1
    """
    compiled = {(place, name): overloads for place, name, overloads in _rushlight._signatures()}
    overrides: dict[Callable[..., Any], Callable[..., Any]] = {}
    for room, functions in get_overridable_functions().items():
        for function in functions:
            name = getattr(function, "__name__", "")
            place = "method" if room is Tensor else "nn" if ("function", name) not in compiled else "function"
            overrides[function] = _stand_in(function, compiled.get((place, name)), place == "method")
    return overrides


def _stand_in(function: Any, overloads: Any, is_method: bool) -> Callable[..., Any]:
    """Return a function that answers -1 and looks as if it were called like `function`."""

    def answer(*_args: Any, **_kwargs: Any) -> int:
        return -1

    # What is compiled says nothing of its parameters; where nothing does, there may be any.
    with suppress(TypeError, ValueError):
        answer.__signature__ = signature(function)  # type: ignore[attr-defined]
        return answer
    if overloads:
        first = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)] if is_method else []
        answer.__signature__ = Signature(first + [_parameter(*row) for row in overloads[0][0]])  # type: ignore[attr-defined]
    return answer


def _parameter(name: str, _kind: str, _nullable: bool, _keyword_only: bool, default: str | None) -> Parameter:
    value = Parameter.empty if default is None else None if default == "None" else _Written(default)
    name = f"{name}_" if iskeyword(name) else name
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value)


class _Written(str):
    """A default as it is written."""

    def __repr__(self) -> str:
        return str(self)
