"""What optimisers by others import of what those of torch share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ..autograd.grad_mode import set_grad_enabled

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_params_t = params_t = ParamsT


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    return ["cuda", "xpu", "hpu", *(["xla"] if supports_xla else [])]


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether to compute with one kernel, or with lists: neither is faster here."""
    return False, False


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Have a step recorded if its optimiser is differentiable, and else not."""
    from functools import wraps

    @wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _get_value(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _stack_if_compiling(value: Any) -> Any:
    return value


def _dispatch_sqrt(value: Any) -> Any:
    return value.sqrt() if isinstance(value, Tensor) else value**0.5


def _view_as_real(params: list[Tensor], *states: list[Tensor]) -> None:
    """Replace complex tensors by views of their parts, in all lists."""
    from .._rushlight import view_as_real

    for number, one in enumerate(params):
        if one.is_complex():
            for listed in (params, *states):
                listed[number] = view_as_real(listed[number])
