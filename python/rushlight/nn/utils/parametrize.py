"""Parameters and buffers that modules compute of others: a weight that is symmetric, orthogonal, of a length.

A module whose tensor is parametrized becomes an instance of a class of its own, in which the tensor is a
property. What it is computed of, and by which modules, stands in `module.parametrizations`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from ..modules.containers import ModuleDict, ModuleList
from ..parameter import Parameter

if TYPE_CHECKING:
    from ..modules.module import Module

    M = TypeVar("M", bound=Module)

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class _Cache:
    """The tensors that were computed since the outermost `cached` began."""

    def __init__(self) -> None:
        self.depth = 0
        self.tensors: dict[tuple[int, str], Tensor] = {}


_CACHE = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Compute every parametrized tensor once at most while the block runs.

    >>> import rushlight as torch
    >>> from rushlight.nn.utils import parametrize
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    _CACHE.depth += 1
    try:
        yield
    finally:
        _CACHE.depth -= 1
        if not _CACHE.depth:
            _CACHE.tensors = {}


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _refuse_other(what: str, flag: str, wanted: tuple[str, Any], found: tuple[str, Any]) -> None:
    """Refuse a parametrization that changes the type or the shape of a tensor."""
    for attribute in ("dtype", "shape"):
        before, after = (getattr(tensor, attribute) for _, tensor in (wanted, found))
        if before != after:
            raise ValueError(
                f"{what.format(attribute)}, unless {flag} flag is enabled.\n"
                f"{wanted[0].format(attribute)}: {before}\n{found[0].format(attribute)}: {after}"
            )


_CHANGED = "Registering a parametrization may not change the {} of the tensor"


class ParametrizationList(ModuleList):
    """The modules that compute a tensor one after the other, and what the first of them starts with.

    That is `original`, or `original0`, `original1`, ... where the inverse of the modules makes several
    tensors of one.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()
        start = self._start(original)
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            self._keep_one(original, start)
        else:
            self._keep_several(original, start)
        if not unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            _refuse_other(_CHANGED, "`unsafe`", ("unparametrized {}", before), ("parametrized {}", result))

    @no_grad()
    def _start(self, original: Tensor) -> Any:
        """What the modules would make the original of; those without an inverse change nothing."""
        start: Any = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    start = module.right_inverse(start)
                except NotImplementedError:
                    continue
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(start).__name__}"
            )
        return start

    def _keep_one(self, original: Tensor, start: Tensor) -> None:
        """Keep the tensor itself, with new values: whoever optimises it need not know."""
        if original.dtype != start.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {start.dtype}"
            )
        _overwrite(original, start)
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, start: Sequence[Any]) -> None:
        for position, part in enumerate(start):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {position} of the sequence with type {type(part).__name__}."
                )
            kept = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
            kept.requires_grad_(original.requires_grad)
            _register(self, f"original{position}", kept)

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Set the originals such that the modules compute `value`, as far as their inverses know how."""
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                name = type(module).__name__
                raise RuntimeError(f"parametrization {name} does not implement right_inverse.")
            value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            _refuse_type("The tensor", value, "original", self.original)
            _overwrite(self.original, value)
            return
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                f"sequence of length {len(value)}."
            )
        for position, part in enumerate(value):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got "
                    f"element {position} of type {type(part).__name__}."
                )
            original = getattr(self, f"original{position}")
            _refuse_type(f"Tensor {position}", part, f"original{position}", original)
            _overwrite(original, part)

    def forward(self) -> Any:
        """Compute the tensor."""
        names = ["original"] if self.is_tensor else [f"original{number}" for number in range(self.ntensors)]
        first, *rest = self
        result = first(*(getattr(self, name) for name in names))
        for module in rest:
            result = module(result)
        return result


def _overwrite(original: Tensor, value: Tensor) -> None:
    """Give a tensor other memory; who holds it sees the new values."""
    original.data = value.data


def _refuse_type(what: str, value: Tensor, name: str, original: Tensor) -> None:
    if value.dtype != original.dtype:
        raise ValueError(
            f"{what} returned by `right_inverse` has dtype {value.dtype} while `{name}` has dtype "
            f"{original.dtype}"
        )


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    """`copy.deepcopy` of a module that may not be pickled."""
    if id(self) in memo:
        return memo[id(self)]
    copy = self.__new__(type(self))
    memo[id(self)] = copy
    copy.__dict__ = deepcopy(self.__dict__, memo)
    for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
        if hasattr(self, slot):
            setattr(copy, slot, deepcopy(getattr(self, slot), memo))
    return copy


def _not_pickled(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _give_class(module: Module) -> None:
    """Let a module be of a class of its own, which may have properties that others do not."""
    kind = type(module)
    own: dict[str, Any] = {"__getstate__": _not_pickled}
    if not hasattr(kind, "__deepcopy__"):
        own["__deepcopy__"] = _copied
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), own)


def _give_property(module: Module, name: str) -> None:
    def computed(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _CACHE.depth:
            return parametrization()
        key = (id(module), name)
        if key not in _CACHE.tensors:
            _CACHE.tensors[key] = parametrization()
        return _CACHE.tensors[key]

    def assigned(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(computed, assigned))


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Let a parameter or buffer of a module be what `parametrization` computes of it from now on.

    If that has a method `right_inverse`, the present value and those that are assigned later go through
    it first. A second parametrization computes with the result of the first. `unsafe` leaves the checks
    out that type and shape stay.

    >>> import rushlight as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = torch.nn.Linear(2, 2)
    >>> _ = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        parts = module.parametrizations[tensor_name]
        parts.append(parametrization)
        parts.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parts = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = parts
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(module: Module, name: str, parametrization: Any) -> None:
    """Refuse a further parametrization that changes type or shape, there or back."""
    present = getattr(module, name)
    own = f"module.{name}.{{}}"
    result = parametrization(present)
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    found = f"parametrization(module.{name}).{{}}"
    _refuse_other(_CHANGED, "the `unsafe`", (own, present), (found, result))
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(result)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    what = f"The tensor returned by parametrization.right_inverse must have the same {{}} as module.{name}"
    _refuse_other(what, "the `unsafe`", (own, present), ("returned {}", back))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Tell whether a module computes the tensor of that name, or any, by parametrizations.

    >>> import rushlight as torch
    >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(1, 1))
    False
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a tensor a plain one again: with its present value, or the one that this is computed of."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts = module.parametrizations[tensor_name]
    present = getattr(module, tensor_name) if leave_parametrized else None
    if parts.is_tensor:
        restored = parts.original
        if present is not None:
            _overwrite(restored, present)
    elif present is not None:
        restored = Parameter(present) if present.requires_grad else present
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, restored)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module, without what parametrizations made of it."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: M, tensor_name: str | None = None
) -> M:
    """Give a module the parametrizations of another, of one tensor or of all, and their originals."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for original in (
            ["original"] if source.is_tensor else map("original{}".format, range(source.ntensors))
        ):
            setattr(target, original, getattr(source, original))
    return to_module
