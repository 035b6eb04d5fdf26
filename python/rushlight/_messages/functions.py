"""The words of failures of writes to views, of functions of one's own and of packed saved tensors."""

from __future__ import annotations

_WRITTEN = "and {stale:is being|its base or another view of its base has been} modified inplace"
_VIEW = (
    "{function:view {output}} {function:if |was created in no_grad mode }"
    + _WRITTEN
    + "{function:if | with grad mode enabled}. "
)


def _made_in(mode: str, block: str, ending: str) -> tuple[type[Exception], str]:
    """Word the failure of a view that was made in a mode."""
    return (
        RuntimeError,
        "{function:view {output}} {function:if of a view which |}was created in "
        f"{mode} mode {_WRITTEN} {ending}. Given that this use case is ambiguous and error-prone, it is "
        "forbidden. You can clarify your code by moving both the view and the inplace either both inside "
        f"the {block} block (if you don't want the inplace to be tracked) or both outside (if you want the "
        "inplace to be tracked).",
    )


_MULTI_VIEW = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
_CUSTOM_VIEW = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom "
    "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
    "output of the custom Function."
)

FUNCTIONS: dict[str, tuple[type[Exception], str]] = {
    "NoGradView": _made_in("no_grad", "no_grad", "with grad mode enabled"),
    "InferenceView": _made_in("inference", "inference_mode", "in normal mode"),
    "MultiView": (RuntimeError, _VIEW + _MULTI_VIEW),
    "CustomView": (RuntimeError, _VIEW + _CUSTOM_VIEW),
    "LeafOverwritten": (
        RuntimeError,
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ),
    "DirtyViewOfMany": (
        RuntimeError,
        "If your Function modifies inplace an input that is a view of another Tensor, your Function "
        "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
        "should either make sure the input is not a view (using .clone() for example) or make your "
        "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
        "inplace that returns a single Tensor and a second one that does the other operations). You can "
        "ask on the forum https://discuss.pytorch.org/ if you need help to do this change.",
    ),
    "DirtyNotReturned": (
        RuntimeError,
        "Some elements marked as dirty during the forward method were not returned as output. The inputs "
        "that are modified inplace must all be outputs of the Function.",
    ),
    "DirtyViewOfOther": (
        RuntimeError,
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
        "should be passed to ctx.mark_dirty().",
    ),
    "DirtyNoInput": (
        RuntimeError,
        "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no "
        "need to pass it to mark_dirty().",
    ),
    "ReturnedInputKept": (
        RuntimeError,
        "An input that has been returned as-is as output is being saved for backward. This is not supported "
        "if you override setup_context. You should return and save a view of the input instead, e.g. with "
        "x.view_as(x) or setup ctx inside the forward function itself.",
    ),
    "TangentReplaced": (
        RuntimeError,
        "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is "
        "modifying an input inplace, then the jvp function must modify the gradient inplace and return it "
        "as-is.",
    ),
    "TangentNotWritten": (
        RuntimeError,
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
        "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace.",
    ),
    "TangentNoView": (
        RuntimeError,
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
        "view.",
    ),
    "TangentElsewhere": (
        RuntimeError,
        "A custom Function is returning a view but the jvp is not returning a view of the {whose} grad "
        "input.",
    ),
    "TangentOfConstant": (
        RuntimeError,
        "Function's jvp returned a gradient at position {position}, but  the corresponding forward output is "
        "not a differentiable Tensor.You should return None at that position instead.",
    ),
    "PackingRefused": (RuntimeError, "{message}"),
    "PackingWrote": (
        RuntimeError,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
        "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
        "an issue if you need to perform in-place operations on the input to a pack hook.",
    ),
    "UnpackedOtherwise": (
        RuntimeError,
        "A saved tensor is expected to be a {like:Float} tensor of shape {expected}, as when it was saved, "
        "but is a {dtype:Float} tensor of shape {got} now",
    ),
    "PackingFreed": (
        RuntimeError,
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
        "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
        "to backward through the graph a second time or if you need to access saved variables after calling "
        "backward.",
    ),
    "PackedAlready": (
        RuntimeError,
        "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
        "hooks is allowed at a time.",
    ),
    "Intercepted": (
        RuntimeError,
        "__torch_dispatch__ answered {got} tensors in the place of {expected} of {node}",
    ),
    "ProgramDiverged": (
        RuntimeError,
        "{node} gave a tensor of another form than when the program was recorded; call the function itself, "
        "which was compiled, or change it so that shapes do not depend on numbers",
    ),
    "ProgramFileDamaged": (ValueError, "this is no program, or it is damaged: {what}"),
    "ProgramFileVersion": (
        ValueError,
        "this program has the form {found}, which is not known here: export it anew",
    ),
    "ProgramFileOperation": (ValueError, "this program has an operation that is not known here: {name}"),
    "ProgramTooLarge": (ValueError, "this program takes {bytes} bytes, more than the {most} allowed"),
    "NotPortable": (RuntimeError, "{node} cannot be exported: {why}"),
    "ProgramArguments": (ValueError, "the program takes other tensors: {what}"),
    "CalledOtherwise": (
        RuntimeError,
        "a compiled function has to be called once more for this backward, since its graph is wanted or its "
        "gradients lie otherwise than usual, and what the function sees has changed since; call the function "
        "itself, which was compiled",
    ),
    "OperandWithoutData": (
        RuntimeError,
        "Cannot access data pointer of Tensor that doesn't have storage",
    ),
    "PackedNothing": (
        RuntimeError,
        "Calling register_hooks on a saved tensor with value None is forbidden",
    ),
    "OnceDifferentiable": (
        RuntimeError,
        "trying to differentiate twice a function that was marked with @once_differentiable",
    ),
}
