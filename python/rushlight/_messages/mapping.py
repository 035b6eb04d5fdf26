"""The words of failures while a function is mapped over samples."""

from __future__ import annotations

_TELL_US = "Please file an issue at https://github.com/pytorch/pytorch/issues"

MAPPING: dict[str, tuple[type[Exception], str]] = {
    "UnbatchedWrite": (
        RuntimeError,
        "vmap: {operation}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over "
        "but `self` not being vmapped over in a vmap. Please try to use out-of-place operators instead "
        "of {operation}. If said operator is being called inside the PyTorch framework, please file a "
        "bug report instead.",
    ),
    "UnbatchedFallback": (
        RuntimeError,
        "vmap: aten::{operation}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over "
        "but `self` not being vmapped over at level {level}. Please try to use out-of-place operators "
        "instead of aten::{operation}. If said operator is being called inside the PyTorch framework, please "
        "file a bug report instead.",
    ),
    "Escaped": (
        RuntimeError,
        "Either your tensor may have escaped from inside a function being vmapped and this is a user "
        "error (see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal "
        "functorch error in `{plumbing}` Please file an issue if it looks like the latter",
    ),
    "RandomRefused": (
        RuntimeError,
        "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
        "'different' randomness flags on vmap or perform the randomness operation out of vmap",
    ),
    "RandomUnasked": (
        RuntimeError,
        "vmap: We do not yet support calling random operations inside of vmap. Please perform random "
        "operations outside of vmap as a workaround",
    ),
    "RandomSame": (
        RuntimeError,
        "Vmap does not currently support same randomness with a batched tensor input. Please file an "
        "issue with functorch",
    ),
    "RandomUnbatched": (
        RuntimeError,
        "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like "
        "same randomness. If this is necessary for your usage, please file an issue with functorch.",
    ),
    "MappedRunning": (
        RuntimeError,
        "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
        "updated in place, were not batched.\nIf you are using a module and do not need eval mode, please "
        "set `track_running_stats` to be False.If you are using a prebuilt module and do not need eval "
        "mode, please see the functorch website for resources on how to patch your module to work with vmap",
    ),
    "MappedItem": (
        RuntimeError,
        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
        ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error is "
        "occurring somewhere inside PyTorch internals, please file a bug report.",
    ),
    "MappedValue": (
        RuntimeError,
        "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor "
        "in some data-dependent control flow or (3) encountering this error in PyTorch internals. For (1): "
        "we don't support vmap over calling .item() on a Tensor, please try to rewrite what you're doing "
        "with other operations. For (2): we don't support data-dependent control flow in vmap yet, please "
        "file an issue at https://github.com/pytorch/pytorch/issues . For (3): please file an issue.",
    ),
    "MappedTruth": (
        RuntimeError,
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
        "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues .",
    ),
    "MappedDecision": (
        RuntimeError,
        "Batching rule not implemented for aten::{operation}. We could not generate a fallback.",
    ),
    "MappedView": (
        RuntimeError,
        "Batching rule not implemented for aten::{operation}; the fallback path doesn't work on out= or view "
        "ops.",
    ),
    "MappedResize": (RuntimeError, "NYI: resize_ batch rule for batch dim != 0"),
    "MappedCloseness": (
        RuntimeError,
        f"vmap over torch.allclose isn't supported yet. {_TELL_US} if you need this feature.",
    ),
    "MappedProduct": (
        RuntimeError,
        "Shape mismatch: Got incorrect dims for {operation}(a, b). a has dim {ndim1}and b has dim {ndim2}but "
        "expected them to have dim {rank1} and dim {rank2}",
    ),
    "MappedDot": (RuntimeError, "Got wrong shapes for dot"),
    "MappedShape": (
        RuntimeError,
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
        f"over aten::{{operation}}. {_TELL_US} if you need this feature.",
    ),
    "MappedMask": (
        RuntimeError,
        "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch "
        "over indexing with a boolean mask.",
    ),
    "MappedSelect": (
        RuntimeError,
        "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this "
        f"because for each batch this would return a differently shaped Tensor. {_TELL_US} if you need "
        "this feature.",
    ),
    "MappedNoSamples": (
        RuntimeError,
        "Batching rule not implemented for aten::{operation}. The fallback path does not support vmap over "
        "dims of size 0.",
    ),
    "MappedExpandRank": (
        RuntimeError,
        "expand: the number of sizes provided ({wanted}) must be greater or equal to the number of "
        "dimensions in the tensor ({ndim})",
    ),
    "MappedStridedRank": (
        RuntimeError,
        "Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got size {size} "
        "and stride {stride}",
    ),
    "MappedStridedBounds": (
        RuntimeError,
        "result = tensor.as_strided({size}, {stride}, {offset}) can access memory outside of `tensor`. "
        "`result` can access some memory in range [{offset}, {end}], but `tensor` can only access some "
        "memory in range [{low}, {high}]. This is not supported inside of vmap, please try to rewrite the "
        "`as_strided` call as a sequence of PyTorch view operations",
    ),
    "MappedMemory": (RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"),
    "MappedClone": (
        RuntimeError,
        "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format "
        "torch.preserve_format or torch.contiguous_format (got {format})",
    ),
    "MappedOrder": (
        RuntimeError,
        "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format",
    ),
}
