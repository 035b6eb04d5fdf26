"""Functions of one's own: a forward, and a backward that is written rather than recorded.

`Function.apply` is compiled; this file holds the classes that users derive from and the
context's methods.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count

from .._rushlight import Tensor, _FunctionBase, _refuse_derivative, is_grad_enabled
from .grad_mode import no_grad

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What a function's `forward` (or `setup_context`) can ask of autograd."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `backward`, which finds them in `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`, which finds them in `ctx.saved_tensors`."""
        for tensor in tensors:
            if not (tensor is None or isinstance(tensor, Tensor)):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs were written to. Each must be returned as well."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs do not depend on the inputs in a differentiable way."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether `backward` gets zeros (the default) or `None` for a gradient that is not there."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: shared memory is recognised."""
        import warnings

        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. "
            "Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )


class _HookMixin:
    @staticmethod
    def _register_hook(backward_hooks: Any, hook: Callable[..., Any]) -> Any:
        from .._hooks import register

        hooks: OrderedDict[int, Any] = OrderedDict() if backward_hooks is None else backward_hooks
        return hooks, register(hooks, hook)


class BackwardCFunction(_FunctionBase, FunctionCtx, _HookMixin):
    """What a context is: for every function a class below this one, which its nodes have."""

    _forward_cls: type[Function]

    def apply(self, *args: Any) -> Any:  # type: ignore[override]
        """Call the user's backward."""
        if self._forward_cls.boxed_grads_call:
            args = (list(args),)
        return self._get_user_fn()(self, *args)

    def apply_boxed(self, *args: Any) -> Any:
        """Call the user's backward, which takes a list."""
        return self._get_user_fn()(self, *args)

    def apply_jvp(self, *args: Any) -> Any:
        """Call the user's jvp."""
        return self._forward_cls.jvp(self, *args)


# Contexts print as they do in torch, as users see them in the same place.
BackwardCFunction.__module__ = "rushlight.autograd.function"


# The number of the next class of functions.
AUTOGRAD_FUNCTION_COUNTER = count()


class FunctionMeta(type):
    """Gives every function the class of its contexts, which is named for it."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        own = {"_forward_cls": cls, "_autograd_function_id": next(AUTOGRAD_FUNCTION_COUNTER)}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), own)
        super().__init__(name, bases, attrs)

    @property
    def _generated_cls(cls) -> Any:
        """The class of its contexts inside of transforms, which is named for that."""
        found = cls.__dict__.get("_generated")
        if found is None:
            found = cls._generated = type(f"{cls.__name__}GeneratedBackward", (cls._backward_cls,), {})
        return found


class _SingleLevelFunction(_FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results: of `(ctx, *inputs)`, or of `inputs` where `setup_context` is written too."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Prepare `ctx` for backward, after `forward` has made `output` of `inputs`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs from those of the outputs, one for each argument."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to "
            "use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs from those of the inputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function, inside of transforms only where that is allowed."""
        from .._compat._C._levels import check_single_level

        check_single_level()
        return super().apply(*args, **kwargs)


class Function(_SingleLevelFunction):
    """A function with a derivative of its own. Derive from it, then call `apply` on the class.

    >>> import rushlight as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return gradient * 3 * x**2
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    generate_vmap_rule = False

    apply = _FunctionBase.__dict__["apply"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
            "should invoke them on the class itself. Instantiating an autograd function will raise an error "
            "in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute a batch of results at once: `(results, dimensions of the batch in them)`."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )


def _is_setup_context_defined(setup_context: Any) -> bool:
    """Tell whether a function writes its forward and its context's preparation apart."""
    return bool(setup_context != _SingleLevelFunction.setup_context)


def _bind(forward: Any, apart: bool, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, ...]:
    """Return the arguments of a call of `forward` by position, defaults included."""
    named = dict(kwargs or {})
    if apart:
        from inspect import signature

        bound = signature(forward).bind(*args, **named)
        bound.apply_defaults()
        args, named = bound.args, bound.kwargs
    if not named:
        return args
    code = forward.__code__
    names = code.co_varnames[not apart : code.co_argcount]
    for name in named:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    filled = list(args)
    last = max(names.index(name) for name in named)
    for position in range(len(args), last + 1):
        name = names[position]
        if name in named:
            filled.append(named[name])
        else:
            # Also where there is a default: what is named is passed by position.
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
    return tuple(filled)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Make of a `backward` one that refuses to be differentiated, and need not be able to.

    >>> import rushlight as torch
    >>> from rushlight.autograd.function import Function, once_differentiable
    >>> class Double(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, gradient):
    ...         return 2 * gradient
    >>> x = torch.tensor(1.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(Double.apply(x), x, create_graph=True)
    >>> slope
    tensor(2.)
    """
    from functools import wraps

    @wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args, **kwargs)
        if not is_grad_enabled():
            return outputs
        if not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            return outputs
        refused = _refuse_derivative(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        return refused if len(refused) > 1 else refused[0]

    return wrapper


class InplaceFunction(Function):
    """The base of functions that wrote in place, long ago. Use `Function`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """The base of functions of nested tuples, long ago. Use `Function`."""

    def forward_extended(self, *input: Any) -> None:
        """Compute the results."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> None:
        """Compute the gradients."""
        raise NotImplementedError


def _nested_map(condition: Callable[[Any], bool], fn: Callable[[Any], Any], condition_msg: Any = None) -> Any:
    """Return a function that applies `fn` to all that meets a condition, in whatever nest of containers."""
    from .._tensors.typename import typename

    def mapped(value: Any) -> Any:
        if condition(value):
            return fn(value)
        if value is None:
            return None
        if isinstance(value, (list, tuple)):
            inside = map(mapped, value)
            return type(value)(*inside) if hasattr(value, "_fields") else type(value)(inside)
        if isinstance(value, dict):
            return {key: mapped(one) for key, one in value.items()}
        said = f". Accepted types: {condition_msg}, or lists/tuples of them" if condition_msg else ""
        raise ValueError(
            f"Auto nesting doesn't know how to process an input object of type {typename(value)}{said}"
        )

    return mapped
