"""Reductions and normalisations of the elements where a mask holds, and tensors that have a mask with them.

>>> import rushlight as torch
>>> x, mask = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[True, False], [True, True]])
>>> torch.masked.mean(x, 1, mask=mask)
tensor([1.0000, 3.5000])
"""

from __future__ import annotations

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from ._functions import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)
from ._tensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._conventions": "_canonical_dim _combine_input_and_mask _input_mask _output_mask "
        "_reduction_identity _where"
    },
)
_FUNCTIONS = " ".join(name for name in __all__ if "masked" not in name.lower())
add_module_aliases(
    globals(),
    {
        "_ops": {"._functions": _FUNCTIONS},
        "maskedtensor": {"._tensor": "MaskedTensor as_masked_tensor is_masked_tensor masked_tensor"},
    },
)
add_module_aliases(
    vars(maskedtensor),  # type: ignore[name-defined]  # noqa: F821
    {
        "core": {
            "._tensor": "MaskedTensor is_masked_tensor",
            "._families": "_get_data _masks_match _maybe_get_mask _tensors_match",
        },
        "creation": {"._tensor": "as_masked_tensor masked_tensor"},
        "unary": {
            "._families": "INPLACE_UNARY_NAMES NATIVE_INPLACE_UNARY_FNS NATIVE_UNARY_FNS UNARY_NAMES "
            "UNARY_NAMES_UNSUPPORTED"
        },
        "binary": {
            "._families": "BINARY_NAMES INPLACE_BINARY_NAMES NATIVE_BINARY_FNS NATIVE_INPLACE_BINARY_FNS"
        },
        "reductions": {"._families": "NATIVE_REDUCE_FNS REDUCE_NAMES TENSOR_REDUCE_FNS TORCH_REDUCE_FNS"},
        "passthrough": {"._families": "PASSTHROUGH_FNS"},
    },
)
