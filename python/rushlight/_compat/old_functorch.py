"""What the package `functorch` had before its functions were torch's, with the warning that it is old."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any

from .. import func
from .._lazy import on_first_use
from ..torch_version import __version__
from ._functorch import make_functional as _former

if TYPE_CHECKING:
    from collections.abc import Callable

# What each is called by now.
_TODAY = {
    "combine_state_for_ensemble": "torch.func.stack_module_state",
    "functionalize": "torch.func.functionalize",
    "grad": "torch.func.grad",
    "grad_and_value": "torch.func.grad_and_value",
    "hessian": "torch.func.hessian",
    "jacfwd": "torch.func.jacfwd",
    "jacrev": "torch.func.jacrev",
    "jvp": "torch.func.jvp",
    "make_functional": "torch.func.functional_call",
    "make_functional_with_buffers": "torch.func.functional_call",
    "vjp": "torch.func.vjp",
    "vmap": "torch.vmap",
}
__all__ = ["__version__", *(name for name in _TODAY if hasattr(func, name))]


def _warning_first(name: str) -> Callable[..., Any]:
    function = getattr(func, name, None) or getattr(_former, name)

    @wraps(function)
    def former(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future version of "
            f"PyTorch >= 2.3. Please use `{_TODAY[name]}` instead; see the PyTorch 2.0 release notes and/or "
            "the `torch.func` migration guide for more details "
            "https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return former


globals().update((name, _warning_first(name)) for name in _TODAY)

__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "..fx.experimental.proxy_tensor": "make_fx",
        "._functorch.make_functional": "FunctionalModule FunctionalModuleWithBuffers",
    },
)
__path__: list[str] = []  # What is inside of it is elsewhere.
