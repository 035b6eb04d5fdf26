"""Calling a module: its forward, between its hooks and those that every module has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, _look_for_hooks_in
from ._every import EVERY, Hooks, with_module

if TYPE_CHECKING:
    from ..._hooks import RemovableHandle
    from ...utils.hooks import BackwardHook
    from .module import Module

_DEPRECATED = "is deprecated and will be removed in future versions. This hook will be missing some "
_USE_FULL = "Please use register_full_backward_hook to get the documented behavior."

# Every call asks for these tables, which are never replaced: names of a file are found before attributes.
_every_forward_pre_hooks = EVERY._forward_pre_hooks
_every_forward_hooks = EVERY._forward_hooks
_every_backward_hooks = EVERY._backward_hooks
_every_backward_pre_hooks = EVERY._backward_pre_hooks
_look_for_hooks_in(
    [_every_forward_pre_hooks, _every_forward_hooks, _every_backward_hooks, _every_backward_pre_hooks]
)


class Called(Hooks):
    """The part of `Module` that is called, and that says what else is called then."""

    forward: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, between the hooks if there are any."""
        if not (
            self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _every_forward_pre_hooks
            or _every_forward_hooks
            or _every_backward_hooks
            or _every_backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        return _Call(self, args, kwargs).run()  # type: ignore[arg-type]

    _call_impl = __call__

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """Run what a class calls its instances by: it may bring a `_call_impl` of its own."""
        return self._call_impl(*args, **kwargs)

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        """Run `forward`: how modules are called while they are traced, which here is nothing else."""
        return self.forward(*input, **kwargs)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns takes the arguments' place."""
        return self._add_hook("_forward_pre_hooks", hook, prepend=prepend, with_kwargs=with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after `forward`; what it returns takes the result's place.

        With `always_call` it is called, too, when `forward` or another hook raises.
        """
        return self._add_hook(
            "_forward_hooks", hook, prepend=prepend, with_kwargs=with_kwargs, always_called=always_call
        )

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the results are there.

        What it returns takes their place.
        """
        return self._add_hook("_backward_pre_hooks", hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are there.

        What it returns takes the place of `grad_input`.

        >>> import rushlight as torch
        >>> layer = torch.nn.Identity()
        >>> handle = layer.register_full_backward_hook(lambda module, inputs, outputs: print(inputs))
        >>> layer(torch.ones(2, requires_grad=True)).sum().backward()
        (tensor([1., 1.]),)
        """
        return self._add_backward_hook(hook, full=True, where="on a single Module", prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook` with the gradients of the last operation in `forward`. Use a full backward hook."""
        return self._add_backward_hook(hook, full=False, where="on a single Module")


class _Call:
    """One call of a module where there are hooks."""

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        try:
            return self.between_hooks()
        except Exception:
            self.call_what_is_left()
            raise

    def between_hooks(self) -> Any:
        watch = self.watch()
        nodes_hooks = self.backward_hooks(full=False)
        self.before()
        if watch:
            self.args = watch.setup_input_hook(self.args)
        self.result = self.module.forward(*self.args, **self.kwargs)
        for number, hook, with_kwargs in self.forward_hooks():
            self.called.add(number)
            self.after(hook, with_kwargs)
        if watch:
            if not isinstance(self.result, (Tensor, tuple)):
                self.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of "
                    f"Tensors but received {type(self.result)}",
                    UserWarning,
                )
            self.result = watch.setup_output_hook(self.result)
        if nodes_hooks:
            self.hook_last_node(nodes_hooks)
        return self.result

    def warn(self, text: str, category: type[Warning]) -> None:
        """Warn whoever called the module."""
        warnings.warn(text, category, stacklevel=5)

    def watch(self) -> BackwardHook | None:
        """Return what calls the full backward hooks, if there are any."""
        hooks = self.backward_hooks(full=True)
        before = [*EVERY._backward_pre_hooks.values(), *self.module._backward_pre_hooks.values()]
        if not hooks and not before:
            return None
        from ...utils.hooks import BackwardHook

        return BackwardHook(self.module, hooks, before)

    def backward_hooks(self, full: bool) -> list[Callable[..., Any]]:
        owners = [owner for owner in (EVERY, self.module) if owner._is_full_backward_hook is full]
        return [hook for owner in owners for hook in owner._backward_hooks.values()]

    def before(self) -> None:
        """Call the hooks that come before the forward."""
        for owner in (EVERY, self.module):
            for number, hook in tuple(owner._forward_pre_hooks.items()):
                if number not in owner._forward_pre_hooks_with_kwargs:
                    changed = hook(self.module, self.args)
                    if changed is not None:
                        self.args = changed if isinstance(changed, tuple) else (changed,)
                    continue
                changed = hook(self.module, self.args, self.kwargs)
                if changed is None:
                    continue
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{changed}."
                    )
                self.args, self.kwargs = changed

    def forward_hooks(self) -> Iterator[tuple[int, Callable[..., Any], bool]]:
        for owner in (EVERY, self.module):
            for number, hook in tuple(owner._forward_hooks.items()):
                yield number, hook, number in owner._forward_hooks_with_kwargs

    def after(self, hook: Callable[..., Any], with_kwargs: bool) -> None:
        if with_kwargs:
            changed = hook(self.module, self.args, self.kwargs, self.result)
        else:
            changed = hook(self.module, self.args, self.result)
        if changed is not None:
            self.result = changed

    def call_what_is_left(self) -> None:
        """Call the hooks that are always called, where an exception came before them."""
        for number, hook, with_kwargs in self.forward_hooks():
            of_every = number in EVERY._forward_hooks_always_called
            if number in self.called or not (of_every or number in self.module._forward_hooks_always_called):
                continue
            try:
                self.after(hook, with_kwargs)
            except Exception as failure:
                owner = "global module" if of_every else "module"
                self.warn(
                    f"{owner} forward hook with ``always_call=True`` raised an exception that was silenced "
                    f"as another error was raised in forward: {failure}",
                    UserWarning,
                )

    def hook_last_node(self, hooks: list[Callable[..., Any]]) -> None:
        """Put the hooks that are not full ones on the node of the result."""
        found = self.result
        while not isinstance(found, Tensor):
            if isinstance(found, dict):
                found = next(value for value in found.values() if isinstance(value, Tensor))
            else:
                found = found[0]
        node = found.grad_fn
        if node is None:
            return
        for hook in hooks:
            node.register_hook(with_module(hook, self.module))
        self.warn_of_what_is_missing(node)

    def warn_of_what_is_missing(self, node: Any) -> None:
        """Warn where the node of the result does not see all gradients of the module."""
        results = (self.result,) if isinstance(self.result, Tensor) else self.result
        if not _are_tensors(results):
            self.warn(
                "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple "
                f"of Tensors {_DEPRECATED}of the grad_output. {_USE_FULL}",
                FutureWarning,
            )
            return
        if not _are_tensors(self.args):
            self.warn(
                "Using non-full backward hooks on a Module that does not take as input a single Tensor or a "
                f"tuple of Tensors {_DEPRECATED}of the grad_input. {_USE_FULL}",
                FutureWarning,
            )
            return
        last = {result.grad_fn for result in results if result.grad_fn is not None}
        first = {arg.grad_fn for arg in self.args if arg.grad_fn is not None}
        if len(last) > 1:
            self.warn(
                "Using a non-full backward hook when outputs are generated by different autograd Nodes "
                f"{_DEPRECATED}grad_output. {_USE_FULL}",
                FutureWarning,
            )
        elif node not in last:
            self.warn(
                "Using a non-full backward hook when outputs are nested in python data structure "
                f"{_DEPRECATED}grad_output.",
                FutureWarning,
            )
        elif first != {following for following, _ in node.next_functions}:
            self.warn(
                "Using a non-full backward hook when the forward contains multiple autograd Nodes "
                f"{_DEPRECATED}grad_input. {_USE_FULL}",
                FutureWarning,
            )


def _are_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)
