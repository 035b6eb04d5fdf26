"""`CustomOpDef`: an operator that is written in Python, with what autograd and mappings do with it."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _rushlight
from .._operators.schemas import FunctionSchema
from .._ops import Call, OpOverload, OpOverloadPacket, ops
from .._rushlight import Tensor, _is_batchedtensor, is_grad_enabled
from ..amp._state import cast, is_autocast_enabled
from ..amp.autocast_mode import autocast
from ..autograd.grad_mode import no_grad
from ..autograd.graph import increment_version
from ..utils._pytree import tree_leaves
from .derivatives import Arguments, differentiable
from .fakes import fake_result
from .kernels import Kernels
from .schema import bound, has_named_tensors, normal, written_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CustomOpDef", "find"]

_ALIASED = (
    "The output of this custom operator (1) must not also be an input to this custom operator and (2) may "
    "not alias any inputs to this custom operator or other returns. The most common way to trigger this "
    "error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of "
    "the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
)

_KNOWN: dict[str, CustomOpDef] = {}
# What is told of operators before they are, and by whom.
_WAITING: dict[str, list[tuple[Callable[[CustomOpDef], None], object]]] = {}


def parted(name: str) -> tuple[str, str]:
    """Return the namespace and the name of an operator within it."""
    namespace, _, own = name.partition("::")
    if not own or "::" in own:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {name}. The qualname passed '
            "to the torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return namespace, own


def find(name: str) -> CustomOpDef:
    """Return the operator of a name such as `mylib::sin`."""
    parted(name)
    if name not in _KNOWN:
        namespace, _, own = name.partition("::")
        raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{own}'")
    return _KNOWN[name]


def when_known(name: str, then: Callable[[CustomOpDef], None], owner: object = None) -> None:
    """Do something with an operator: now, or as soon as it is declared."""
    if name in _KNOWN:
        then(_KNOWN[name])
    else:
        _WAITING.setdefault(name, []).append((then, owner))


def disown(name: str, owner: object) -> None:
    """Have nothing of an operator that this owner told."""
    if name in _KNOWN:
        _KNOWN[name].kernels.forget(owner)
    _WAITING[name] = [one for one in _WAITING.pop(name, ()) if one[1] is not owner]


def place_of(name: str) -> str | None:
    """Return where an operator was declared, if it was."""
    return _KNOWN[name].place if name in _KNOWN else None


def declare(definition: CustomOpDef) -> None:
    """Have an operator that autograd follows, with what was told of it before."""
    definition._follows = True
    for then, _ in _WAITING.pop(definition._qualname, ()):
        then(definition)


def forget(name: str) -> None:
    """Have no operator of this name any more."""
    namespace, _, own = name.partition("::")
    own, _, overload = own.partition(".")
    _KNOWN.pop(name, None)
    known = getattr(ops, namespace).__dict__
    packet = known.get(own)
    if isinstance(packet, _Packet):
        packet._overloads.pop(overload or "default", None)
        if not packet._overloads:
            del known[own]


class _Overload(OpOverload):
    """An operator that a `CustomOpDef` computes."""

    definition: CustomOpDef
    own_tags: list[Any]
    _defined_in_python = True

    @property
    def tags(self) -> list[Any]:
        """What was said of it when it was declared."""
        return self.own_tags

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.definition._run(*bound(self._schema, args, kwargs))


class _Packet(OpOverloadPacket):
    def _overload(self, schema: FunctionSchema) -> OpOverload:
        return _Overload(self, schema)

    def add(self, schema: FunctionSchema) -> None:
        """Have an operator of this name more, or another in the place of one."""
        added = self._overload(schema)
        self._overloads[added._overloadname] = added

    def chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpOverload:
        """Return the first of the operators that takes such arguments."""
        if len(self._overloads) == 1:
            return super().chosen(args, kwargs)
        refusals = []
        for overload in self._overloads.values():
            try:
                bound(overload._schema, args, kwargs)
            except RuntimeError as refusal:
                refusals.append(str(refusal))
            else:
                return overload
        raise RuntimeError(
            "Overloaded torch operator invoked from Python failed to match any schema:\n"
            + "\n\n".join(refusals)
        )


class CustomOpDef:
    """An operator of one's own. `custom_op` makes them."""

    def __init__(
        self, namespace: str, name: str, schema: str, fn: Callable[..., Any] | None, tags: Any = ()
    ) -> None:
        self._namespace, self._name, self._schema = namespace, name, schema
        self._qualname = f"{namespace}::{name}"
        self.place = "?"  # The line of the program that declared it.
        self._init_fn = fn
        self.kernels = Kernels()
        if fn is not None:
            self.kernels.add("CompositeExplicitAutograd", fn)
        self._needs_fake = fn is not None  # Or else what computes it may be run without numbers.
        self._is_kernel_off = False
        # As which type tensors are given in mixed precision, and what answers where modes or classes are.
        self._cast_inputs: _rushlight.dtype | None = None
        self._rules: dict[type, Callable[..., Any]] = {}
        self._follows = False  # Whether autograd follows what the kernel does.
        self._backward: Callable[..., Any] | None = None
        self._setup_context: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        own, _, overload = name.partition(".")
        declared = FunctionSchema(normal(f"{name}{schema}"), namespace)
        known = getattr(ops, namespace).__dict__
        packet = known.get(own)
        if isinstance(packet, _Packet) and list(packet._overloads) != [overload or "default"]:
            packet.add(declared)
        else:
            packet = known[own] = _Packet(own, [declared], namespace)
        self._opoverload = packet._overloads[overload or "default"]
        self._opoverload.definition = self  # type: ignore[attr-defined]
        self._opoverload.own_tags = list(tags) if isinstance(tags, (list, tuple)) else [tags]  # type: ignore[attr-defined]
        self._function = differentiable(self)
        _KNOWN[self._qualname] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the operator."""
        return self._opoverload(*args, **kwargs)

    def _destroy(self) -> None:
        """Have no such operator any more."""
        forget(self._qualname)

    # -- what is registered ------------------------------------------------------------------------

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Have `fn` compute the operator from now on."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if device_types is None or "cpu" in device_types:
                self.kernels.add("CPU", fn)
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Say what the results look like, where nothing is computed."""
        self.kernels.add("Meta", fn)
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Say how the operator is differentiated, as in a `Function`."""
        if written_to(self._opoverload._schema):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{self._opoverload._schema}. Please create a functional operator and register an autograd "
                "formula for that."
            )
        if has_named_tensors(self._opoverload._schema):
            raise NotImplementedError(
                "register_autograd with kwarg-only Tensor args. In the original definition of the op, "
                f"please make your tensors not kwarg-only. Got: {self._opoverload._schema}"
            )
        self._backward, self._setup_context, self._follows = backward, setup_context, False

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Say how the operator computes many samples at once, as in a `Function`."""

        def register(func: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap = func
            return func

        if func is None:
            return register
        self._vmap = func
        return None

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """In the block, have what `register_kernel` was told compute the operator, or what it was made of."""
        before = self._is_kernel_off
        if device_type == "cpu":
            self._is_kernel_off = not enabled
        try:
            yield
        finally:
            self._is_kernel_off = before

    def register_autocast(self, device_type: str, cast_inputs: _rushlight.dtype) -> None:
        """Give the operator tensors of one type in mixed precision. What is said first holds."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if _rushlight.device(device_type).type == "cpu" and self._cast_inputs is None:
            self._cast_inputs = cast_inputs

    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """Have `fn(mode or class, operator, types, args, kwargs)` answer within a mode, or for a class."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            self._rules[torch_dispatch_class] = fn
            return fn

        return register if fn is None else register(fn)

    # -- a call ------------------------------------------------------------------------------------

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        if self._cast_inputs is not None and is_autocast_enabled("cpu"):
            with autocast("cpu", enabled=False):
                return self._run(cast(args, self._cast_inputs), cast(kwargs, self._cast_inputs))
        if self._rules and (special := [tensor for tensor in tensors if type(tensor) in self._rules]):
            kind = type(special[0])
            return self._rules[kind](kind, self._opoverload, (kind,), args, kwargs)
        tracked = is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        mapped = any(map(_is_batchedtensor, tensors))
        # A rule for many samples is asked, unless derivatives are those of what the kernel does.
        if self._follows and (tracked or not mapped or self._vmap is None):
            return self._shown(args, kwargs)
        if written_to(self._opoverload._schema) or not (tracked or mapped):
            with no_grad():
                return self._shown(args, kwargs)
        arguments = Arguments(args, kwargs)
        results = self._function.apply(*arguments.flat, arguments)
        return arguments.results(results)

    def _shown(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Show the call to the modes of this thread, the innermost first, and to classes, then compute it."""
        modes = _rushlight._interceptors()
        if not modes:
            shown = _Shown(self, args, kwargs)
            return shown.show(None) if shown.subclassed() else self._compute(args, kwargs)
        rule = self._rules.get(type(modes[-1]))
        _rushlight._pop_interceptor()
        try:
            if rule is not None:
                return rule(modes[-1], self._opoverload, (), args, kwargs)
            return _Shown(self, args, kwargs).show(modes[-1])
        finally:
            _rushlight._push_interceptor(modes[-1])

    def without_numbers(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the results look like on tensors that have no numbers."""
        return fake_result(self, args, kwargs)

    def _compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kernel = self._init_fn if self._is_kernel_off else self.kernels.first
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the 'CPU' backend. This could be "
                "because the operator doesn't exist for this backend, or was omitted during the "
                f"selective/custom build process (if using custom build). '{self._qualname}' is only "
                f"available for these backends: [{', '.join(self.kernels.keys())}]."
            )
        schema = self._opoverload._schema
        result = kernel(*args, **kwargs)
        is_tensor = len(schema.returns) == 1 and schema.returns[0].kind == "Tensor"
        if is_tensor and not isinstance(result, (Tensor, type(None))):
            raise RuntimeError(f"Unable to cast {result} to Tensor")
        names = [one.name for one in schema.arguments if not one.kwarg_only]
        written = written_to(schema)
        given = {**dict(zip(names, args, strict=True)), **kwargs}
        for tensor in tree_leaves([given[name] for name in written]):
            if isinstance(tensor, Tensor):
                increment_version(tensor)
        self._check_apart(kernel, tree_leaves(list(given.values())), tree_leaves(result))
        return result

    def _check_apart(self, kernel: Callable[..., Any], inputs: list[Any], results: list[Any]) -> None:
        seen = {_rushlight._memory_of(tensor) for tensor in inputs if isinstance(tensor, Tensor)}
        for tensor in results:
            if not isinstance(tensor, Tensor) or not tensor.numel() or self._follows:
                continue
            memory = _rushlight._memory_of(tensor)
            if memory in seen:
                module = inspect.getmodule(kernel)
                raise RuntimeError(f"{self._name} (with implementation in {module}): {_ALIASED}")
            seen.add(memory)


class _Shown(Call):
    """A call of an operator that modes are shown."""

    def __init__(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(operator._opoverload, args, kwargs)
        self.operator = operator

    def proceed(self) -> Any:
        """Show it to the next mode, or compute it."""
        return self.operator._shown(self.args, self.kwargs)
