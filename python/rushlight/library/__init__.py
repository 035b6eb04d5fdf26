"""Operators of one's own: functions that autograd, mappings and modes see as one operation.

>>> import rushlight as torch
>>> @torch.library.custom_op("mylib::cube", mutates_args=())
... def cube(x: torch.Tensor) -> torch.Tensor:
...     return x * x * x
>>> def setup_context(ctx, inputs, output):
...     ctx.save_for_backward(*inputs)
>>> def backward(ctx, gradient):
...     (x,) = ctx.saved_tensors
...     return gradient * 3 * x * x
>>> cube.register_autograd(backward, setup_context=setup_context)
>>> x = torch.tensor(2.0, requires_grad=True)
>>> torch.ops.mylib.cube(x).backward()
>>> x.grad
tensor(12.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._operators.schemas import FunctionSchema
from .._ops import OpOverload
from .checks import opcheck
from .fakes import get_ctx
from .kernels import key_of
from .libraries import Library
from .libraries import _scoped_library as _scoped_library
from .operator import CustomOpDef, find, parted, when_known
from .schema import has_named_tensors, infer_schema, written_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator of a function. `mutates_args` names the arguments that it writes to.

    >>> import rushlight as torch
    >>> @torch.library.custom_op("mylib::halved", mutates_args=())
    ... def halved(x: torch.Tensor) -> torch.Tensor:
    ...     return x / 2
    >>> halved(torch.ones(2))
    tensor([0.5000, 0.5000])
    """

    def make(fn: Callable[..., Any]) -> CustomOpDef:
        said = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        namespace, separator, own = name.partition("::")
        if not separator:
            raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name}")
        written = written_to(FunctionSchema(f"{own}{said}", namespace))
        if schema is not None and mutates_args != "unknown" and written != set(mutates_args):
            raise ValueError(
                f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. "
                f"The schema suggests that the op mutates {written}which is different from what was provided "
                "to us in `mutates_args`. Please make these consistent."
            )
        declared = FunctionSchema(f"{own}{said}", namespace)
        if has_named_tensors(declared):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
                f"{own}{said}"
            )
        from .._compat._C._conventions import Tag

        compliant = Tag["pt2_compliant_tag"]
        return CustomOpDef(namespace, own, said, fn, tags=[compliant] if tags is None else tags)

    return make if fn is None else make(fn)


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """Make an operator of a function that calls kernels of Triton, where there is a device for them.

    On the CPU it is `custom_op`: such a function is run there only if it calls none.
    """
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Any, /) -> Any:
    """Return a kernel of Triton as it is: nothing here looks into the functions that call it."""
    return triton_kernel


def _named(op: str | OpOverload | CustomOpDef) -> str:
    if isinstance(op, CustomOpDef):
        return op._qualname
    return op.name() if isinstance(op, OpOverload) else "::".join(parted(op))


def _definition(op: str | OpOverload | CustomOpDef) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    return find(op.name() if isinstance(op, OpOverload) else op)


def register_autograd(
    op: str | OpOverload | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Say how an operator is differentiated: `backward(ctx, *gradients)`, as in a `Function`."""
    _definition(op).register_autograd(backward, setup_context=setup_context)


def register_autocast(
    op: str | OpOverload | CustomOpDef,
    device_type: str,
    cast_inputs: Any,
    /,
    *,
    lib: Library | None = None,
) -> None:
    """Give an operator tensors of one type in mixed precision, which is off inside of it.

    >>> import rushlight as torch
    >>> @torch.library.custom_op("mylib::shifted", mutates_args=())
    ... def shifted(x: torch.Tensor) -> torch.Tensor:
    ...     return x + 1
    >>> torch.library.register_autocast("mylib::shifted", "cpu", torch.bfloat16)
    >>> with torch.autocast("cpu"):
    ...     shifted(torch.ones(1))
    tensor([2.], dtype=torch.bfloat16)
    """
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(f"register_autocast({op}): got unexpected type for op: {type(op)}")
    _definition(op).register_autocast(device_type, cast_inputs)


def register_fake(
    op: str | OpOverload | CustomOpDef,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """Say what the results of an operator look like, where nothing is computed."""
    name = _named(op)

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        def add(definition: CustomOpDef) -> None:
            if "CompositeImplicitAutograd" in definition.kernels:
                raise RuntimeError(
                    f"We should not register a meta kernel directly to the operator '{name}', because it "
                    "has a CompositeImplicitAutograd kernel in core. Instead we should let the operator "
                    "decompose, and ensure that we have meta kernels for the base ops that it decomposes "
                    "into."
                )
            definition.register_fake(func)

        when_known(name, add)
        return func

    return register if func is None else register(func)


def register_kernel(
    op: str | OpOverload | CustomOpDef,
    device_types: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Have a function compute an operator from now on."""
    if func is None:
        return lambda function: register_kernel(op, device_types, function)
    when_known(_named(op), lambda definition: definition.register_kernel(device_types, func))
    return func if isinstance(op, CustomOpDef) else None


def impl_abstract(
    qualname: str,
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """Say what the results of an operator look like. Use `register_fake`."""
    import warnings

    warnings.warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that "
        "instead; we will remove `torch.library.impl_abstract` in a future version of PyTorch.",
        FutureWarning,
        stacklevel=2,
    )
    return register_fake(qualname, func, lib=lib)


def register_torch_dispatch(
    op: str | OpOverload | CustomOpDef,
    torch_dispatch_class: type,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Say what an operator does within a mode or for a class: `func(mode, op, types, args, kwargs)`."""
    return _definition(op).register_torch_dispatch(torch_dispatch_class, func)


def fallthrough_kernel() -> None:
    """Stand for an implementation that hands calls on; nobody calls it."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def register_vmap(
    op: str | OpOverload | CustomOpDef,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Say how an operator computes many samples at once: `func(info, in_dims, *args)`, as in a `Function`."""
    return _definition(op).register_vmap(func)


_kept: dict[str, Library] = {}


def _fragment(qualname: str) -> Library:
    """Return a library of a namespace that stays, to which operators are added that name none."""
    namespace = parted(qualname)[0]
    return _kept.get(namespace) or _kept.setdefault(namespace, Library(namespace, "FRAGMENT"))


def define(
    qualname: str | Library,
    schema: str,
    alias_analysis: str = "",
    *,
    lib: Library | None = None,
    tags: Any = (),
) -> Any:
    """Declare an operator, such as `mylib::sin`, by its schema without the name.

    In the older form a library comes first and the schema has the name; the function that is decorated
    computes it.
    """
    if isinstance(qualname, Library):
        library, name = qualname, schema.partition("(")[0]
        library.define(schema, alias_analysis, tags=tags)
        return lambda function: _added(library, name, function)
    if not isinstance(qualname, str):
        raise ValueError(
            f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}"
        )
    _, name = parted(qualname)
    if not re.fullmatch(r"\(.*\) -> .*", schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    (lib or _fragment(qualname)).define(f"{name}{schema}", alias_analysis, tags=tags)
    return None


def _added(library: Library, name: str, function: Callable[..., Any], key: str = "") -> Callable[..., Any]:
    library.impl(name, function, key)
    return function


def impl(
    qualname: str | Library,
    types: Any,
    func: Callable[..., Any] | str | None = None,
    *,
    lib: Library | None = None,
) -> Any:
    """Have a function compute an operator that was declared.

    In the older form a library, the name and the key come first: `impl(library, "sin", "CPU")`.
    """
    if isinstance(qualname, Library):
        older, key = qualname, func if isinstance(func, str) else ""
        return lambda function: _added(older, types, function, key)

    library = lib or _fragment(qualname)
    keys = [key_of(kind) for kind in ([types] if isinstance(types, str) else types)]

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        for key in keys:
            library.impl(qualname, func, key)
        return func

    if callable(func):
        register(func)
        return None
    return register
