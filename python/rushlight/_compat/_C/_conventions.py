"""How torch would compute a convolution, and what it says of its operators, as programs ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._kinds import Kind

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = ["Tag", "_ConvBackend", "_select_conv_backend"]

_TAGS = (
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace "
    "inplace_view maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides "
    "needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out out_variant pointwise "
    "pt2_compliant_tag reduction view_copy"
)
_WAYS = (
    "CudaDepthwise2d CudaDepthwise3d Cudnn CudnnTranspose Empty Miopen MiopenDepthwise MiopenTranspose "
    "Mkldnn MkldnnTranspose MkldnnEmpty NnpackSpatial Overrideable Slow2d Slow3d SlowDilated2d SlowDilated3d "
    "SlowTranspose2d SlowTranspose3d Winograd3x3Depthwise Xnnpack2d Mps MpsTranspose"
)


def _numbered(name: str, members: str, module: str) -> Any:
    enumeration: Any = Kind
    return enumeration(name, [(member, at) for at, member in enumerate(members.split())], module=module)


if TYPE_CHECKING:

    class Tag(Kind):
        """What is said of an operator."""

    class _ConvBackend(Kind):
        """A way to compute a convolution."""
else:
    Tag = _numbered("Tag", _TAGS, "rushlight")
    _ConvBackend = _numbered("_ConvBackend", _WAYS, "rushlight._C")


def _select_conv_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    bias_sizes: Any = None,
) -> _ConvBackend:
    """Return by which of torch's ways a convolution is computed: that without a library."""
    dims = 3 if input.ndim == 5 else 2
    if 0 in input.shape:
        way = "Empty"
    elif transposed:
        way = f"SlowTranspose{dims}d"
    else:
        is_dilated = any(step != 1 for step in ([dilation] if isinstance(dilation, int) else dilation))
        way = f"Slow{'Dilated' * is_dilated}{dims}d"
    found: _ConvBackend = _ConvBackend[way]
    return found


def tags_of(operator: Any) -> list[Tag]:
    """Return what is known of an operator."""
    schema = operator._schema
    name = schema.name.partition("::")[2]
    said = {
        "inplace": name.endswith("_") and schema.is_mutable,
        "out": any(argument.is_out for argument in schema.arguments),
        "nondeterministic_seeded": any(one.kind.startswith("Generator") for one in schema.arguments),
        "pt2_compliant_tag": operator.namespace == "aten",
        "view_copy": name.endswith("_copy") and name != "_to_copy",
    }
    said.update(dict.fromkeys(schema._tags, True))
    return [Tag[word] for word, holds in said.items() if holds]


class _LinalgBackend(Kind):
    """What would factor matrices on another device."""

    Default = 0
    Cusolver = 1
    Magma = 2


class _BlasBackend(Kind):
    """What would multiply matrices on another device."""

    Default = 0
    Cublas = 1
    Cublaslt = 2
    Ck = 3
