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
NO_DEVICE = "Torch not compiled with {device} enabled"
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

CACHED_MUTATED = "Tensor cached during selective activation checkpoint has been mutated"
_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global "
    "state that changed between forward and backward."
)
NOT_KEPT = "{func} encountered during backward but not found in storage. " + _MISMATCH
NOT_KEPT_THAT_OFTEN = (
    "{func} invocation index {index} encountered during backward but not found in storage. " + _MISMATCH
)
CACHE_CONSUMED = (
    "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
    "selective activation checkpoint."
)
NOT_AN_OVERLOAD = "Expected op in `op_list` to be an OpOverload but got: {op} of type {kind}. {hint}"
OVERLOAD_HINT = (
    "Please update the OpOverloadPacket to a specific OpOverload."
    "For example, if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
)
NO_POLICY = "policy_fn_or_list must be either a function or a list of ops."

_WAVES = "+" + "~" * 78 + "+"
_DASHES = "+" + "-" * 78 + "+"
LOGS = (
    """ \
An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

"""
    f"{_WAVES}\n"
    "|        1. Stack traces of the operators that ran in the original forward     |\n"
    f"{_DASHES}\n\n"
    "{first_places}\n"
    f"{_WAVES}\n"
    "|        2. Stack traces of the operators that ran during recomputation        |\n"
    f"{_DASHES}\n\n"
    "{second_places}\n"
    f"{_WAVES}\n|       3. Log of operators in the original forward and recomputation          |\n{_DASHES}\n"
    """(Scroll up to correlate stack traces with each operation listed below. This
 helps identify their source in the code.)

IMPORTANT: Differences in "detach" calls between the original forward and the
           recomputation are expected. They are introduced by the checkpointing
           mechanism and can be ignored.

Operations executed during the original forward:

{first}

Operations executed during recomputation:

{second}

"""
    f"{_DASHES}\n"
    """ ERROR: Detected non-determinism while running activation checkpointing

 You are seeing this error because you passed `debug=True` to checkpoint and
 tensors to be saved during the original forward and differ between those saved
 during recomputation. This can happen if different operators were ran in the
 original forward and in the recomputation.

 To identify where the mismatch may be coming from, you can do the following:

 1) Compare the operators ran during original forward and recomputation to
    see where they differ. These operators are printed above in the order they
    were executed.

 2) Review the stack trace for each operator to locate its invocation source.
    Each operator's stack trace is printed in their execution order.

 Note that the logs can be quite long. Here's how they are structured:
 (Tip: you can Ctrl-f for these headers)

 1. Stack traces of the operators that ran in the original forward
 2. Stack traces of the operators that ran during recomputation
 3. Log of operators in the original forward and recomputation
 4. Error message                                             <--- You are here
""" + "-" * 80 + "\n"
)
