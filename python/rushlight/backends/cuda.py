"""Settings of another device, which is not there."""

from __future__ import annotations


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
