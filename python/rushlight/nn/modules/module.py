"""`Module`: the base of layers and models, which knows its parameters, buffers and children."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, _call_forward_natively, _look_into_tables
from ..._tensors.typename import typename
from ..parameter import Buffer, Parameter
from ._calling import Called
from ._converting import Converted
from ._every import Hooks, ShowingHooks, at_registration, no_hooks
from ._every import _global_buffer_registration_hooks as _global_buffer_registration_hooks
from ._every import _global_module_registration_hooks as _global_module_registration_hooks
from ._every import _global_parameter_registration_hooks as _global_parameter_registration_hooks
from ._every import register_module_backward_hook as register_module_backward_hook
from ._every import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from ._every import register_module_forward_hook as register_module_forward_hook
from ._every import register_module_forward_pre_hook as register_module_forward_pre_hook
from ._every import register_module_full_backward_hook as register_module_full_backward_hook
from ._every import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from ._every import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from ._every import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from ._state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from ._state import StateDict
from ._state import _IncompatibleKeys as _IncompatibleKeys

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Module"]

sys.modules[__name__].__class__ = ShowingHooks


class Module(Called, Converted, StateDict):
    """Assign parameters and modules to attributes, write `forward`, call the module.

    >>> import rushlight as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.tensor([1.0, 3.0]))
    tensor([2., 6.], grad_fn=<MulBackward0>)
    """

    training: bool
    dump_patches = False
    # Whether what `super().__init__` is given reaches the next class, for classes with several bases.
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                given = len(args) + 1
                raise TypeError(f"{name}.__init__() takes 1 positional argument but {given} were given")
        # The attribute rules of this class do not hold for its own bookkeeping.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
            **no_hooks(),
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Have attributes looked up and `forward` called natively, unless the class has a way of its own."""
        super().__init_subclass__(**kwargs)
        if cls.__call__ is Called.__call__:
            if cls._call_impl is Called._call_impl:
                _call_forward_natively(cls)
            else:
                cls.__call__ = Called._wrapped_call_impl  # type: ignore[method-assign]
        if cls.__getattr__ is Module.__getattr__ and cls.__getattribute__ is object.__getattribute__:
            _look_into_tables(cls)

    def _forward_unimplemented(self, *input: Any) -> None:
        """Compute the module's result; every module that is called defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    _forward_unimplemented.__qualname__ = "_forward_unimplemented"
    forward: Any = _forward_unimplemented

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what was pickled; what modules of that time did not have is empty."""
        self.__dict__.update(no_hooks(), _non_persistent_buffers_set=set())
        self.__dict__.update(state)

    # -- attributes ------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        self._parameters[name] = None if param is None else at_registration("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state, but is no parameter."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None "
                "required)"
            )
        self._buffers[name] = at_registration("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = at_registration("module", self, name, module)

    register_module = add_module

    def _check_name(self, role: str, name: str, registry: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {role} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{role} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self.__dict__[registry]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            detail = f", got: {name}" if role == "module" else ""
            raise KeyError(f'{role} name can\'t contain "."{detail}')
        if name == "":
            raise KeyError(f'{role} name can\'t be empty string ""')

    def __getattr__(self, name: str) -> Any:
        # What `_look_into_tables` does natively; classes with a `__getattr__` of their own ask for it.
        own = self.__dict__
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry in own and name in own[registry]:
                return own[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or "
                    "None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep="_modules")
            own["_modules"][name] = at_registration("module", self, name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or "
                    "None expected)"
                )
            own["_modules"][name] = value
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            own["_buffers"][name] = value
        elif isinstance(value, Buffer):
            if "_buffers" not in own:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)  # type: ignore[attr-defined]
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for registry in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(registry, ()):
                del self.__dict__[registry][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def _forget(self, name: str, keep: str) -> None:
        """Drop `name` from every place but one, where its value is about to go."""
        self.__dict__.pop(name, None)
        for registry in {"_parameters", "_buffers", "_modules"} - {keep}:
            self.__dict__[registry].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        # What has a number for a name is no attribute that one could write.
        return sorted(name for name in names if not name[:1].isdigit())

    # -- walking the tree ------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Name this module and all below it, parents first."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Return this module and all below it, each once, or as often as it is in them."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Name the modules directly below this one, each once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Return the modules directly below this one, each once."""
        return (child for _, child in self.named_children())

    def _named_members(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in module.__dict__[registry].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Name the parameters of this module and, with `recurse`, of all below it."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Return the parameters of this module and, with `recurse`, of all below it."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Name the buffers of this module and, with `recurse`, of all below it."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Return the buffers of this module and, with `recurse`, of all below it."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a dotted path."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        parameter = getattr(module, name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_submodule(self, target: str) -> Module:
        """Return the module at a dotted path."""
        found: Any = self
        for name in target.split(".") if target != "" else ():
            if not hasattr(found, name):
                raise AttributeError(f"{found._get_name()} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        module: Module = found
        return module

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a dotted path."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        found: Tensor = getattr(module, name)
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path; with `strict`, only where there is one.

        >>> import rushlight as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        >>> model.set_submodule("1", torch.nn.Tanh())
        >>> model[1]
        Tanh()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # -- changing all of it ----------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` with every module, children first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record, or do not record, what is done with the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of the parameters; with `set_to_none=False` fill them with zeros."""
        for parameter in self.parameters():
            gradient = parameter.grad
            if gradient is None:
                continue
            if set_to_none:
                parameter.grad = None
            elif gradient.grad_fn is not None:
                gradient.detach_().zero_()
            else:
                gradient.requires_grad_(False).zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile `forward`, as `compile` does with what it takes beside a function."""
        from ..._calls.compiled import compile

        written = getattr(self.forward, "_torchdynamo_orig_callable", self.forward)
        self.__dict__["forward"] = compile(written, *args, **kwargs)

    # -- printing --------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return what `repr` shows of this module beside its children."""
        return ""

    def _repr_children(self) -> list[str]:
        return [f"({name}): {_addindent(repr(child), 2)}" for name, child in self._modules.items()]

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = self._repr_children()
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


# Methods of the halves are those of the whole, as errors tell.
for _half in (*Module.__bases__, Hooks):
    for _name, _method in vars(_half).items():
        if isinstance(_method, FunctionType):
            _method.__qualname__ = f"Module.{_name}"
    # Their hints speak of it.
    vars(sys.modules[_half.__module__])["Module"] = Module
del _half, _name, _method
_IncompatibleKeys.__module__ = __name__


def _addindent(s_: str, numSpaces: int) -> str:
    return s_.replace("\n", "\n" + " " * numSpaces)


_look_into_tables(Module)
_call_forward_natively(Module)
