"""The words of failures of autograd: of histories, gradients, hooks and writes."""

from __future__ import annotations

_INPLACE_HINTS = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False).",
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!",
)
_MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation: "
_ONE_PLACE = "to a single memory location. Please clone() the tensor before performing the operation."

AUTOGRAD: dict[str, tuple[type[Exception], str]] = {
    # -- backward --------------------------------------------------------------------------------------
    "ImplicitGradient": (RuntimeError, "grad can be implicitly created only for scalar outputs"),
    "ImplicitGradientDType": (
        RuntimeError,
        "grad can be implicitly created only for real scalar outputs but got {dtype}",
    ),
    "NoGrad": (
        RuntimeError,
        "element {index} of tensors does not require grad and does not have a grad_fn",
    ),
    "RootAndGradientCounts": (RuntimeError, "got {roots} tensors and {gradients} gradients"),
    "InputNoGrad": (RuntimeError, "One of the differentiated Tensors does not require grad"),
    "InputNotTensor": (RuntimeError, "all inputs have to be Tensors or GradientEdges, but got {got}"),
    "Unused": (
        RuntimeError,
        "The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
    ),
    "BackwardTwice": (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
        "graph a second time or if you need to access saved tensors after calling backward.",
    ),
    "Modified": (
        RuntimeError,
        _MODIFIED
        + "[{dtype:type} {shape}]{source:output {output}} is at version {version}; expected version "
        "{expected} instead. Hint: {anomaly:" + "|".join(_INPLACE_HINTS) + "}",
    ),
    "NanGradient": (RuntimeError, "Function '{function}' returned nan values in its {index}th output."),
    "GradientShape": (
        RuntimeError,
        "Function {function} returned an invalid gradient at index {index} - got {got} but expected shape "
        "compatible with {expected}",
    ),
    "LeafMoved": (RuntimeError, "leaf variable has been moved into the graph interior"),
    "SavedDetached": (
        RuntimeError,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
        "This is not supported, please use out-of-place `.detach()` instead",
    ),
    "NoDerivativeOf": (NotImplementedError, "the derivative for '{function}' is not implemented."),
    "NoDerivative": (RuntimeError, "derivative for aten::{operation} is not implemented"),
    "NoTangent": (
        NotImplementedError,
        "Trying to use forward AD with aten::{operation} that does not support it.",
    ),
    "NoForward": (
        NotImplementedError,
        "Trying to use forward AD with {operation}{in_place:|_} that does not support it because it has not "
        "been implemented yet.\nPlease file an issue to PyTorch at "
        "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
        "prioritize its implementation{in_place: or submit a PR adding the implementation to "
        "derivatives.yaml|.}",
    ),
    "ResizeForward": (RuntimeError, "cannot resize variables that has a forward grad"),
    # -- hooks -----------------------------------------------------------------------------------------
    "HookNoGrad": (RuntimeError, "cannot register a hook on a tensor that doesn't require gradient"),
    # -- in-place operations and views -----------------------------------------------------------------
    "LeafModified": (
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    "LeafViewModified": (
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    "InferenceModified": (
        RuntimeError,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get "
        "a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more "
        "details.",
    ),
    "InferenceRequiresGrad": (
        RuntimeError,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
    ),
    "InferenceSaved": (
        RuntimeError,
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
        "in computation tracked by autograd. To work around this, you can make a clone to get a normal "
        "tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
    ),
    "InferenceVersion": (RuntimeError, "Inference tensors do not track version counter."),
    "DetachView": (
        RuntimeError,
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) "
        "for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and "
        "hence detach_() cannot be called on these gradients. To fix this error, please refer to the "
        "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
    ),
    "OverlapModified": (
        RuntimeError,
        "unsupported operation: more than one element of the written-to tensor refers " + _ONE_PLACE,
    ),
    "OverlapRead": (
        RuntimeError,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        + _ONE_PLACE,
    ),
    # -- requires_grad, grad, data ---------------------------------------------------------------------
    "RequiresGradDType": (
        RuntimeError,
        "only Tensors of floating point and complex dtype can require gradients",
    ),
    "RequiresGradFactoryDType": (
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    "RequiresGradNonLeaf": (
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
    ),
    "RetainGradNoGrad": (RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    "DualOfDual": (
        RuntimeError,
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
        "is not supported.",
    ),
    "DualTangent": (
        RuntimeError,
        "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.",
    ),
    "TangentShape": (
        RuntimeError,
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
        "is not supported. Tensor is of size {expected} while the given forward gradient is of size {got}.",
    ),
    "GradLayout": (
        UserWarning,
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair "
        "performance.\ngrad.sizes() = {sizes}, strides() = {strides}\nparam.sizes() = {leaf_sizes}, "
        "strides() = {leaf_strides}",
    ),
    "GradSize": (
        RuntimeError,
        "attempting to assign a gradient of size '{got}' to a tensor of size '{expected}'. Please ensure "
        "that the gradient and the tensor are the same size",
    ),
    "GradDType": (
        RuntimeError,
        "attempting to assign a gradient with dtype '{got:C}' to a tensor with grad_dtype "
        "'{expected:Float}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's "
        "dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any "
        "dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
        "downstream systems that assume they match.",
    ),
    "GradDTypeTaken": (
        RuntimeError,
        "Cannot set grad_dtype to '{wanted:Float}' because there is already a gradient with dtype '{got:C}'. "
        "Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
        "matches the existing gradient's dtype.",
    ),
    "LeakyReluInPlace": (
        RuntimeError,
        "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. "
        "This is caused by calling in-place forward function with a negative slope, please call "
        "out-of-place version instead. File an issue at https://github.com/pytorch/pytorch if you do require "
        "supporting in-place leakRelu backward calculation with negative slope",
    ),
    "EluInPlace": (
        RuntimeError,
        "In-place elu backward calculation is triggered with a negative slope which is not supported. This "
        "is caused by calling in-place forward function with a negative slope, please call out-of-place "
        "version instead.",
    ),
    "DerivativeMissing": (RuntimeError, "derivative for {operation} is not implemented"),
    "SetDType": (RuntimeError, "Could not set tensor of type {got:C} to a tensor of type {expected:C}"),
    "DataDType": (
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    ),
}
