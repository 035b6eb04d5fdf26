"""What the package `functorch` had before its functions were torch's: `torch.func` by its former name."""

from __future__ import annotations

from .._lazy import on_first_use
from ..torch_version import __version__

_NAMES = "functionalize grad grad_and_value hessian jacfwd jacrev jvp vjp vmap"
__all__ = ["__version__", *_NAMES.split()]

_MODULES = "FunctionalModule FunctionalModuleWithBuffers combine_state_for_ensemble make_functional "
_MODULES += "make_functional_with_buffers"

__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "..func": _NAMES,
        "..fx.experimental.proxy_tensor": "make_fx",
        "._functorch.make_functional": _MODULES,
    },
)
__path__: list[str] = []  # What is inside of it is elsewhere.
