"""Settings of another device, which is not there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Products:
    """How products of matrices would be computed."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


class SDPAParams:
    """What attention would be calculated of."""

    def __init__(self, *operands: object) -> None:
        self.operands = operands


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Tell whether a kernel of that device can be used: never."""
    return False


can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention


def is_built() -> bool:
    """Tell whether the device could be used: never.

    >>> import rushlight as torch
    >>> torch.backends.cuda.is_built()
    False
    """
    return False


def is_flash_attention_available() -> bool:
    """Tell whether attention has a kernel of that device: never."""
    return False


is_ck_sdpa_available = fp16_bf16_reduction_math_sdp_allowed = is_flash_attention_available


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allow sums in half precision, which nothing here makes."""


def _preference(name: str, first: str) -> Callable[..., Any]:
    """Return what tells which library is preferred, and what sets it: nothing here asks."""
    chosen: list[Any] = []

    def preferred(backend: Any = None) -> Any:
        """Say or ask which library is preferred on that device."""
        from .._compat import _C

        kinds = getattr(_C, name)
        known = {kind.name.lower(): kind for kind in kinds}
        if isinstance(backend, str):
            if backend not in known:
                raise RuntimeError(f"Unknown input value. Choose from: {', '.join(known)}.")
            backend = known[backend]
        if backend is not None and not isinstance(backend, kinds):
            raise RuntimeError("Unknown input value type.")
        if backend is not None:
            chosen[:] = [backend]
        return chosen[0] if chosen else kinds[first]

    return preferred


preferred_linalg_library = _preference("_LinalgBackend", "Default")
preferred_blas_library = _preference("_BlasBackend", "Cublas")


def _switch(name: str) -> tuple[Callable[[], bool], Callable[[bool], None]]:
    """Return what tells whether a way of computing attention is allowed, and what allows or forbids it."""

    def is_enabled() -> bool:
        """Tell whether attention may be computed in this way."""
        from ..nn.attention import SDPBackend, _cur_sdpa_kernel_backends

        return SDPBackend[name] in _cur_sdpa_kernel_backends()

    def enable(enabled: bool) -> None:
        """Allow or forbid to compute attention in this way."""
        from ..nn.attention import SDPBackend, _allow, _cur_sdpa_kernel_backends

        others = [way for way in _cur_sdpa_kernel_backends() if way is not SDPBackend[name]]
        _allow((*others, SDPBackend[name]) if enabled else tuple(others))

    return is_enabled, enable


flash_sdp_enabled, enable_flash_sdp = _switch("FLASH_ATTENTION")
math_sdp_enabled, enable_math_sdp = _switch("MATH")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("EFFICIENT_ATTENTION")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("CUDNN_ATTENTION")


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[Any]:
    """Allow some ways of computing attention in a block; its name is `nn.attention.sdpa_kernel` now."""
    import warnings

    from ..nn.attention import SDPBackend, sdpa_kernel

    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be "
        "removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated "
        "signature.",
        FutureWarning,
        stacklevel=3,
    )
    asked = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.MATH: enable_math,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    with sdpa_kernel([way for way, allowed in asked.items() if allowed]) as context:
        yield context
