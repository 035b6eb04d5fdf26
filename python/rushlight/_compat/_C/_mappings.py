"""Dimensions of samples moved into others and out of them, and whether samples may be computed one by one."""

from __future__ import annotations

from ..._rushlight import Tensor

__all__ = ["_is_vmap_fallback_enabled", "_set_vmap_fallback_enabled", "reshape_dim_into", "reshape_dim_outof"]

# Every operation has a rule for many samples: nothing is computed one by one, whatever is set, or warned of.
_settings = {"enabled": True, "warned of": False}


def _is_vmap_fallback_enabled() -> bool:
    """Tell whether operations without a rule for many samples may be computed for one after the other."""
    return _settings["enabled"]


def _set_vmap_fallback_enabled(enabled: bool) -> None:
    """Let operations without a rule for many samples be computed for one after the other, or not."""
    _settings["enabled"] = enabled


def _debug_only_are_vmap_fallback_warnings_enabled() -> bool:
    """Tell whether there would be a warning for that."""
    return _settings["warned of"]


def _debug_only_display_vmap_fallback_warnings(enabled: bool) -> None:
    """Ask for a warning for that, or for none."""
    _settings["warned of"] = enabled


def reshape_dim_into(src: int, dst: int, x: Tensor) -> Tensor:
    """Return a tensor one of whose dimensions has become the outer part of another.

    >>> import rushlight as torch
    >>> torch._C._functorch.reshape_dim_into(1, 0, torch.tensor([[0, 1], [2, 3]]))
    tensor([0, 2, 1, 3])
    """
    dst %= x.ndim - 1
    return x.movedim(src, dst).flatten(dst, dst + 1)


def reshape_dim_outof(src: int, size1: int, x: Tensor) -> Tensor:
    """Return a tensor whose dimension has become two, the outer of which is of this size.

    >>> import rushlight as torch
    >>> torch._C._functorch.reshape_dim_outof(0, 2, torch.arange(4))
    tensor([[0, 1],
            [2, 3]])
    """
    return x.unflatten(src, (size1, -1))
