"""Settings of another device, which is not there."""

from __future__ import annotations


class _Products:
    """How products of matrices would be computed."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """Tell whether the device could be used: never.

    >>> import rushlight as torch
    >>> torch.backends.cuda.is_built()
    False
    """
    return False
