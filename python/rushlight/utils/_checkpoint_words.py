"""What `checkpoint` says when something is wrong."""

from __future__ import annotations

NOT_CHOSEN = (
    "{name}: the use_reentrant parameter should be passed explicitly. {change} use_reentrant=False is "
    "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. "
    "Refer to docs for more details on the differences between the two variants."
)
NO_INPUT_REQUIRES_GRAD = "None of the inputs have requires_grad=True. Gradients will be None"
NO_OUTPUT_REQUIRES_GRAD = "none of output has requires_grad=True, this checkpoint() is not necessary"
UNEXPECTED = "Unexpected keyword arguments: {names}"
NOT_A_TUPLE = "Only tuple of tensors is supported. Got Unsupported input type: {kind}"
REENTRANT_ONLY = "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
NOT_WITH_INPUTS = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
    "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
    ".backward() without passing the `inputs` argument."
)
DEBUG_WITH_CONTEXT = "debug=True is incompatible with non-default context_fn"
CHECKS = "determinism_check should be one of {names}, but got {got}"
SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
    "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
    "failed forward."
)
GROUP_NESTED = "GraphExecGroup contexts cannot be nested. Already inside group {group}"

TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
FEWER = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
    "recomputation.\nNumber of tensors saved during forward: {saved}\nNumber of tensors saved during "
    "recomputation: {again}.\n" + TIP
)
MORE = (
    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
    "forward pass.\n" + TIP
)
DIFFERENT = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during "
    "the forward pass.\n{tensors}.\n" + TIP
)
DIFFERENCE = "tensor at position {index}:\nsaved metadata: {saved}\nrecomputed metadata: {again}\n"
UNPACKED_TWICE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {group}"
    "If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open "
    "an issue with details on your use case."
)
UNPACKED_TWICE_IN_GROUP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
    "gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)
