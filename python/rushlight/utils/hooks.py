"""The handles that registering a hook answers, what becomes of hooks when a tensor is pickled, and how the
backward hooks of a module see its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._rushlight import RemovableHandle, Tensor, is_grad_enabled
from ..autograd.function import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Hook = TypeVar("Hook", bound=Callable[..., Any])

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Hook) -> Hook:
    """Mark a hook as one that may be left behind without a word when its tensor is pickled.

    >>> import rushlight as torch
    >>> @torch.utils.hooks.unserializable_hook
    ... def double(gradient):
    ...     return gradient * 2
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of hooks of `tensor` that will be left behind."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            import warnings

            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


def _handle_again(number: int, dictionaries: list[Any]) -> RemovableHandle:
    """Return the handle of a copied or unpickled hook, which removes it from these dictionaries."""
    return RemovableHandle._restored(number, dictionaries)


class BackwardHookFunction(Function):
    """Passes tensors on, and their gradients back: its node sees all of them at once."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> Any:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class _Side:
    """The inputs or the results of one call of a module: how many there are, and where its tensors are."""

    def __init__(self) -> None:
        self.count = 0
        # None while no gradient passes.
        self.places: list[int] | None = None

    def watch(self, values: Any, hook: Callable[..., Any]) -> Any:
        """Return the values behind a node that has the hook, if any of them requires grad."""
        self.count = len(values)
        tensors = [value for value in values if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
            return values
        self.places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
        passed = BackwardHookFunction.apply(*tensors)
        # Those that require no grad have no history.
        node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
        node.register_hook(hook)
        all_values = list(values)
        for place, tensor in zip(self.places, passed, strict=True):
            all_values[place] = tensor
        # A named tuple wants its values one by one.
        return tuple(all_values) if type(values) is tuple else type(values)(*all_values)

    def spread(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Return a gradient for each value: none for those that are no tensors."""
        all_gradients = [None] * self.count
        for place, gradient in zip(self.places or (), gradients, strict=True):
            all_gradients[place] = gradient
        return tuple(all_gradients)

    def gather(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Return the gradients of the tensors alone."""
        return tuple(gradients[place] for place in self.places or ())


class BackwardHook:
    """Calls the full backward hooks of one call of a module.

    `setup_input_hook` and `setup_output_hook` return the module's inputs and results behind nodes of their
    own. When the gradients of the results have arrived the hooks that come before are called; when those of
    the inputs have, the others.
    """

    def __init__(
        self,
        module: Any,
        user_hooks: Sequence[Callable[..., Any]],
        user_pre_hooks: Sequence[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: Any = None
        self._inputs = _Side()
        self._results = _Side()

    def setup_input_hook(self, args: Any) -> Any:
        """Return the inputs, whose gradients are watched."""
        return self._inputs.watch(args, self._after)

    def setup_output_hook(self, args: Any) -> Any:
        """Return the results, whose gradients are watched."""
        if isinstance(args, tuple):
            return self._results.watch(args, self._before)
        return self._results.watch((args,), self._before)[0]

    def _before(self, _: Any, grad_outputs: Any) -> Any:
        self.grad_outputs = self._results.spread(grad_outputs)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                self._check("pre hook", "grad_output", changed, self.grad_outputs)
                self.grad_outputs = changed
        changed_outputs = self.grad_outputs
        if self._inputs.places is None:
            self._call_without_inputs()
            self.grad_outputs = None
        return self._results.gather(changed_outputs)

    def _after(self, grad_inputs: Any, _: Any) -> Any:
        if self.grad_outputs is None:
            # A gradient got here that passed none of the results, as those of a gradient do.
            return None
        all_inputs = self._inputs.spread(grad_inputs)
        for hook in self.user_hooks:
            changed = hook(self.module, all_inputs, self.grad_outputs)
            if changed is not None:
                self._check("hook", "grad_input", changed, all_inputs)
                all_inputs = changed
        self.grad_outputs = None
        return self._inputs.gather(all_inputs)

    def _check(self, hook: str, role: str, changed: Any, gradients: Any) -> None:
        if len(changed) != len(gradients):
            raise RuntimeError(
                f"Backward {hook} returned an invalid number of {role}, got {len(changed)}, but expected "
                f"{len(gradients)}"
            )

    def _call_without_inputs(self) -> None:
        """Call the hooks although no gradient will get to the inputs."""
        import warnings

        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since "
            "no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/"
            "torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=6,
        )
        for hook in self.user_hooks:
            answer = hook(self.module, self._inputs.spread(()), self.grad_outputs)
            if answer is None or (isinstance(answer, tuple) and all(one is None for one in answer)):
                continue
            raise RuntimeError(
                "Backward hook for Modules where no input requires gradient should always return None or "
                "None for all gradients."
            )


# What errors that tell of a changed gradient call them.
BackwardHook._before.__name__ = BackwardHook._after.__name__ = "hook"
