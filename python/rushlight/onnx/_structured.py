"""What layers, products, and operators that move elements are in the ONNX format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._ops import ops
from ._recording import Varying

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._translating import Translation

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}
_LAST = 2**63 - 1


def writes(*names: str) -> Callable[[Any], Any]:
    """Register what writes operators of these names."""

    def register(function: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return register


@writes("addmm", "baddbmm")
def _product_and_sum(
    t: Translation, x: Any, left: Any, right: Any, *, beta: float = 1, alpha: float = 1
) -> str:
    if t.operator == "addmm":
        # A weight is written as the module has it.
        across = (
            right.op == "call_function"
            and right.target is ops.aten.t.default
            and right.args[0].op == "get_attr"
        )
        names = t.name(left), t.name(right.args[0] if across else right), t.name(x)
        return t.add("Gemm", *names, alpha=float(alpha), beta=float(beta), transB=int(across))
    dtype = t.result_type()
    product = t.add("MatMul", t.name(left), t.name(right))
    scaled = [
        name if factor == 1 else t.add("Mul", name, t.number(factor, dtype))
        for name, factor in ((t.name(x), beta), (product, alpha))
    ]
    return t.add("Add", *scaled)


@writes("mm", "bmm", "mv", "dot", "matmul")
def _product(t: Translation, left: Any, right: Any) -> str:
    return t.add("MatMul", t.name(left), t.name(right))


@writes("convolution")
def _convolution(
    t: Translation, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> str:  # fmt: skip
    names = [t.name(x), t.name(weight), *([t.name(bias)] if bias is not None else [])]
    own: dict[str, Any] = {"output_padding": list(output_padding)} if transposed else {}
    return t.add(
        "ConvTranspose" if transposed else "Conv",
        *names,
        strides=list(stride),
        pads=[*padding, *padding],
        dilations=list(dilation),
        group=groups,
        kernel_shape=list(weight.meta["val"].shape[2:]),
        **own,
    )


@writes("native_batch_norm", "_native_batch_norm_legit_no_training", "cudnn_batch_norm")
def _batch_norm(
    t: Translation, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: Any = False,
    momentum: float = 0.1, eps: float = 1e-5, *_: Any,
) -> str:  # fmt: skip
    if training is True or mean is None:
        raise t.unknown("with statistics of the batch: export the model in eval mode")
    value = x.meta["val"]
    count = value.shape[1]
    scale = t.name(weight) if weight is not None else t.constant(native.ones(count, dtype=value.dtype))
    shift = t.name(bias) if bias is not None else t.constant(native.zeros(count, dtype=value.dtype))
    return t.add("BatchNormalization", t.name(x), scale, shift, t.name(mean), t.name(variance), epsilon=eps)


@writes("native_layer_norm", "layer_norm")
def _layer_norm(
    t: Translation, x: Any, shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> str:
    scale = (
        t.name(weight) if weight is not None else t.constant(native.ones(*shape, dtype=x.meta["val"].dtype))
    )
    shift = (t.name(bias),) if bias is not None else ()
    return t.add("LayerNormalization", t.name(x), scale, *shift, axis=-len(shape), epsilon=eps)


@writes("native_group_norm", "group_norm")
def _group_norm(t: Translation, x: Any, weight: Any = None, bias: Any = None, *sizes: Any) -> str:
    groups, eps = sizes[-2:]
    value = x.meta["val"]
    # All of a group is one channel of an instance, without the scale of channels.
    flat = t.add("Reshape", t.name(x), t.ints([0, groups, -1]))
    ones, zeros = (t.constant(native.full((groups,), float(one), dtype=value.dtype)) for one in (1, 0))
    normal = t.add("InstanceNormalization", flat, ones, zeros, epsilon=eps)
    found = t.add("Reshape", normal, t.add("Shape", t.name(x)))
    places = t.ints([-1, *[1] * (value.ndim - 2)])
    for operator, parameter in (("Mul", weight), ("Add", bias)):
        if parameter is not None:
            found = t.add(operator, found, t.add("Reshape", t.name(parameter), places))
    return found


@writes("_fused_rms_norm", "rms_norm")
def _rms_norm(
    t: Translation, x: Any, shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> str:
    value = x.meta["val"]
    eps = native.finfo(value.dtype).eps if eps is None else eps
    squares = t.add(
        "ReduceMean", t.add("Mul", t.name(x), t.name(x)), t.ints(range(-len(shape), 0)), keepdims=1
    )
    found = t.add("Div", t.name(x), t.add("Sqrt", t.add("Add", squares, t.number(eps, value.dtype))))
    return found if weight is None else t.add("Mul", found, t.name(weight))


@writes("_softmax", "_safe_softmax", "softmax", "_log_softmax", "log_softmax")
def _softmax(t: Translation, x: Any, dim: int, *_: Any, **__: Any) -> str:
    name = t.name(x)
    if x.meta["val"].dtype != t.result_type():
        name = t.cast(name, t.result_type())
    return t.add("LogSoftmax" if "log" in t.operator else "Softmax", name, axis=dim)


@writes(
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_attention_math",
)
def _attention(
    t: Translation, query: Any, key: Any, value: Any, dropout: float = 0.0, is_causal: bool = False, *,
    attn_mask: Any = None, scale: float | None = None,
) -> str:  # fmt: skip
    dtype, (length, width) = query.meta["val"].dtype, query.meta["val"].shape[-2:]
    if dropout:
        raise t.unknown("with dropout")
    dims = list(range(key.meta["val"].ndim))
    across = t.add("Transpose", t.name(key), perm=[*dims[:-2], dims[-1], dims[-2]])
    scores = t.add("MatMul", t.name(query), across)
    scores = t.add("Mul", scores, t.number(scale or 1 / math.sqrt(width), dtype))
    if is_causal:
        hidden = native.full((length, key.meta["val"].shape[-2]), float("-inf"), dtype=dtype).triu(1)
        scores = t.add("Add", scores, t.constant(hidden))
    if attn_mask is not None:
        if attn_mask.meta["val"].dtype is native.bool:
            scores = t.add("Where", t.name(attn_mask), scores, t.number(float("-inf"), dtype))
        else:
            scores = t.add("Add", scores, t.name(attn_mask))
    return t.add("MatMul", t.add("Softmax", scores, axis=-1), t.name(value))


def _window(kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> dict[str, Any]:
    sizes = list(kernel)
    pads = list(padding) * (1 if len(padding) == len(sizes) else len(sizes))
    steps = list(stride) or sizes
    return {"kernel_shape": sizes, "strides": steps, "pads": [*pads, *pads], "ceil_mode": int(ceil_mode)}


@writes("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d_with_indices")
def _max_pool(
    t: Translation,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = (0,),
    dilation: Any = (1,),
    ceil_mode: bool = False,
) -> str:
    steps = list(dilation) * (1 if len(dilation) == len(kernel) else len(kernel))
    return t.add("MaxPool", t.name(x), dilations=steps, **_window(kernel, stride, padding, ceil_mode))


@writes("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(
    t: Translation, x: Any, kernel: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False,
    count_include_pad: bool = True, divisor: int | None = None,
) -> str:  # fmt: skip
    if divisor is not None:
        raise t.unknown("with a divisor")
    window = _window(kernel, stride, padding, ceil_mode)
    return t.add("AveragePool", t.name(x), count_include_pad=int(count_include_pad), **window)


@writes("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_max_pool2d")
def _adaptive_pool(t: Translation, x: Any, wanted: Sequence[int]) -> str:
    kind = "Max" if "max" in t.operator else "Average"
    sizes = x.meta["val"].shape[-len(wanted) :]
    if all(one == 1 for one in wanted):
        return t.add(f"Global{kind}Pool", t.name(x))
    if any(size % one for size, one in zip(sizes, wanted, strict=True)):
        raise t.unknown("where windows are of several sizes")
    steps = [size // one for size, one in zip(sizes, wanted, strict=True)]
    return t.add(f"{kind}Pool", t.name(x), kernel_shape=steps, strides=steps)


@writes(
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_bilinear2d",
    "upsample_linear1d",
)
def _resized(t: Translation, x: Any, size: Sequence[int], *rest: Any) -> str:
    linear = "linear" in t.operator
    corners = linear and bool(rest and rest[0] is True)
    where = "align_corners" if corners else "half_pixel" if linear else "asymmetric"
    shape = [*x.meta["val"].shape[:2], *size]
    return t.add(
        "Resize", t.name(x), "", "", t.ints(shape), mode="linear" if linear else "nearest",
        coordinate_transformation_mode=where, nearest_mode="floor",
    )  # fmt: skip


@writes("constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d")
def _padded(t: Translation, x: Any, sizes: Sequence[int], value: float = 0) -> str:
    before: list[int] = [0] * x.meta["val"].ndim
    after = list(before)
    for place in range(len(sizes) // 2):
        before[-1 - place], after[-1 - place] = sizes[2 * place : 2 * place + 2]
    mode = {"const": "constant", "refle": "reflect", "repli": "edge"}[t.operator[:5]]
    filling = (t.number(value, x.meta["val"].dtype),) if mode == "constant" else ()
    return t.add("Pad", t.name(x), t.ints([*before, *after]), *filling, mode=mode)


@writes("pixel_shuffle")
def _shuffled(t: Translation, x: Any, factor: int) -> str:
    return t.add("DepthToSpace", t.name(x), blocksize=factor, mode="CRD")


@writes("view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "flatten")
def _reshaped(t: Translation, x: Any, size: Any = (), *_: Any) -> str:
    sizes = list(size) or list(t.result_shape())
    varying = [place for place, one in enumerate(sizes) if isinstance(one, Varying)]
    if len(varying) > 1 or (varying and -1 in sizes):
        raise t.unknown("of several sizes that vary")
    return t.add(
        "Reshape", t.name(x), t.ints(-1 if place in varying else one for place, one in enumerate(sizes))
    )


@writes("expand")
def _expanded(t: Translation, x: Any, size: Sequence[int], **_: Any) -> str:
    own = x.meta["val"].shape
    sizes = list(size)
    lead = len(sizes) - len(own)
    for place, one in enumerate(sizes):
        if isinstance(one, Varying) and (place < lead or own[place - lead] == 1):
            raise t.unknown("to a size that varies")
        if one == -1 or isinstance(one, Varying):
            sizes[place] = 1
    return t.add("Expand", t.name(x), t.ints(sizes))


@writes("t", "numpy_T")
def _transposed(t: Translation, x: Any) -> str:
    return t.add("Transpose", t.name(x))


@writes("transpose")
def _swapped(t: Translation, x: Any, one: int, other: int) -> str:
    dims = list(range(x.meta["val"].ndim))
    dims[one], dims[other] = dims[other], dims[one]
    return t.add("Transpose", t.name(x), perm=dims)


@writes("permute")
def _permuted(t: Translation, x: Any, dims: Sequence[int]) -> str:
    return t.add("Transpose", t.name(x), perm=[dim % len(dims) for dim in dims])


@writes("unsqueeze")
def _unsqueezed(t: Translation, x: Any, dim: int) -> str:
    return t.add("Unsqueeze", t.name(x), t.ints([dim]))


@writes("squeeze")
def _squeezed(t: Translation, x: Any, dim: Any = None) -> str:
    shape = x.meta["val"].shape
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    return t.add("Squeeze", t.name(x), t.ints(one for one in dims if shape[one] == 1))


@writes("cat", "concat")
def _joined(t: Translation, parts: Sequence[Any], dim: int = 0) -> str:
    return t.add("Concat", *t.promoted(*parts), axis=dim)


@writes("stack")
def _stacked(t: Translation, parts: Sequence[Any], dim: int = 0) -> str:
    dim %= t.ndim()
    return t.add(
        "Concat", *(t.add("Unsqueeze", name, t.ints([dim])) for name in t.promoted(*parts)), axis=dim
    )


@writes("split", "split_with_sizes", "unsafe_split", "chunk")
def _split(t: Translation, x: Any, sizes: Any, dim: int = 0) -> list[str]:
    size = x.meta["val"].shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, size - start) for start in range(0, size, sizes)]
    return t.add_several("Split", t.name(x), t.ints(sizes), outputs=len(sizes), axis=dim)


@writes("unbind")
def _unbound(t: Translation, x: Any, dim: int = 0) -> list[str]:
    count = x.meta["val"].shape[dim]
    return [t.add("Gather", t.name(x), t.number(place, native.int64), axis=dim) for place in range(count)]


@writes("slice")
def _sliced(
    t: Translation, x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> str:
    ends = [start or 0, _LAST if end is None else end]
    if any(isinstance(one, Varying) for one in ends):
        raise t.unknown("to an end that varies")
    return t.add("Slice", t.name(x), t.ints(ends[:1]), t.ints(ends[1:]), t.ints([dim]), t.ints([step]))


@writes("select")
def _selected(t: Translation, x: Any, dim: int, index: int) -> str:
    return t.add("Gather", t.name(x), t.number(int(index), native.int64), axis=dim)


@writes("embedding")
def _embedded(t: Translation, weight: Any, indices: Any, *_: Any) -> str:
    return t.add("Gather", t.name(weight), t.name(indices))


@writes("index_select")
def _gathered(t: Translation, x: Any, dim: int, indices: Any) -> str:
    return t.add("Gather", t.name(x), t.name(indices), axis=dim)


@writes("gather")
def _gathered_elements(t: Translation, x: Any, dim: int, indices: Any, **_: Any) -> str:
    return t.add("GatherElements", t.name(x), t.name(indices), axis=dim)


@writes("index")
def _indexed(t: Translation, x: Any, indices: Sequence[Any]) -> str:
    given = [(dim, one) for dim, one in enumerate(indices) if one is not None]
    if len(given) != 1 or given[0][1].meta["val"].dtype is native.bool:
        raise t.unknown("with other than one tensor of places")
    (dim, places) = given[0]
    return t.add("Gather", t.name(x), t.name(places), axis=dim)


@writes("tril", "triu")
def _triangle(t: Translation, x: Any, diagonal: int = 0) -> str:
    return t.add("Trilu", t.name(x), t.number(diagonal, native.int64), upper=int(t.operator == "triu"))


@writes("topk")
def _greatest(
    t: Translation, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> list[str]:
    found: list[str] = t.add_several(
        "TopK", t.name(x), t.ints([k]), outputs=2, axis=dim, largest=int(largest), sorted=int(sorted)
    )
    return found


@writes("repeat")
def _repeated(t: Translation, x: Any, repeats: Sequence[int]) -> str:
    name, lead = t.name(x), len(repeats) - x.meta["val"].ndim
    if lead:
        name = t.add("Unsqueeze", name, t.ints(range(lead)))
    return t.add("Tile", name, t.ints(repeats))
