"""Every failure of the engine: its exception class and torch's words for it.

The engine raises facts, a kind and named fields; `render` makes the exception.
`_spelling` says how fields are written, as in `{dtype:Float}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._messages_complexes import COMPLEXES
from ._messages_composites import COMPOSITES
from ._messages_functions import FUNCTIONS
from ._messages_indexing import INDEXING
from ._messages_layers import LAYERS
from ._messages_making import MAKING
from ._messages_mapping import MAPPING
from ._messages_matrices import MATRICES
from ._messages_notes import notes
from ._messages_reducing import REDUCING
from ._messages_units import UNITS
from ._origins import add_notes
from ._spelling import spell

if TYPE_CHECKING:
    from collections.abc import Mapping

_INPLACE_HINTS = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False).",
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!",
)
_MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation: "
_BOOL_HINT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
_ONE_PLACE = "to a single memory location. Please clone() the tensor before performing the operation."
_TO_VIEW = "to view {from:Float} as {to:Float} (different element sizes)"
_DEVICES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, "
    "hpu, mtia, privateuseone"
)

MESSAGES: dict[str, tuple[type[Exception], str]] = {
    # -- backward ------------------------------------------------------------------------------------
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
    "GradientCount": (
        RuntimeError,
        "function {function} returned an incorrect number of gradients (expected {expected}, got {got})",
    ),
    "GradientShape": (
        RuntimeError,
        "Function {function} returned an invalid gradient at index {index} - got {got} but expected shape "
        "compatible with {expected}",
    ),
    "NoDerivative": (RuntimeError, "derivative for aten::{operation} is not implemented"),
    "NoTangent": (
        NotImplementedError,
        "Trying to use forward AD with aten::{operation} that does not support it.",
    ),
    # -- hooks ---------------------------------------------------------------------------------------
    "HookNoGrad": (RuntimeError, "cannot register a hook on a tensor that doesn't require gradient"),
    "HookOnNonLeaf": (RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors"),
    "HookResultType": (TypeError, "expected Variable, but hook returned '{got}'"),
    "HookResultSize": (RuntimeError, "hook '{hook}' has changed the size of value"),
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
    "OutRequiresGradient": (
        RuntimeError,
        "{operation}(): functions with out=... arguments don't support automatic differentiation, but one of "
        "the arguments requires grad.",
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
    "RequiresGradMethodDType": (RuntimeError, "only Tensors of floating point dtype can require gradients"),
    "RequiresGradFactoryDType": (
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    "RequiresGradType": (RuntimeError, "requires_grad must be a bool"),
    "RequiresGradNonLeaf": (
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
    ),
    "RetainGradNoGrad": (RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    "GradType": (TypeError, "assigned grad expected to be a Tensor or None but got grad of type {got}"),
    "GradSelf": (RuntimeError, "can't assign Variable as its own grad"),
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
    "DataType": (TypeError, "Variable data has to be a tensor, but got {got}"),
    "DataDType": (
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    ),
    "NonLeafGradAccessed": (
        UserWarning,
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
        "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
        "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
        "by mistake, make sure you access the leaf Tensor instead. See "
        "github.com/pytorch/pytorch/pull/30531 for more information.",
    ),
    "NumpyRequiresGrad": (
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    # -- shapes and dimensions -------------------------------------------------------------------------
    "NotBroadcastable": (
        RuntimeError,
        "The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension "
        "{dim}",
    ),
    "OutputShape": (
        RuntimeError,
        "output with shape {output} doesn't match the broadcast shape {broadcast}",
    ),
    "ExpandSize": (
        RuntimeError,
        "The expanded size of the tensor ({wanted}) must match the existing size ({size}) at "
        "non-singleton dimension {dim}.  Target sizes: {target}.  Tensor sizes: {shape}",
    ),
    "TooManyNegative": (RuntimeError, "numel: integer multiplication overflow"),
    "ViewDTypeScalar": (RuntimeError, "self.dim() cannot be 0 " + _TO_VIEW),
    "ViewDTypeSize": (
        RuntimeError,
        "self.size(-1) must be divisible by {ratio} " + _TO_VIEW + ", but got {size}",
    ),
    "ViewDTypeOffset": (
        RuntimeError,
        "self.storage_offset() must be divisible by {ratio} " + _TO_VIEW + ", but got {offset}",
    ),
    "ViewDTypeStride": (RuntimeError, "self.stride(-1) must be 1 " + _TO_VIEW + ", but got {stride}"),
    "ViewDTypeStep": (
        RuntimeError,
        "self.stride({dim}) must be divisible by {ratio} " + _TO_VIEW + ", but got {stride}",
    ),
    "ExpandLeading": (
        RuntimeError,
        "The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing dimension {dim}",
    ),
    "ExpandRank": (
        RuntimeError,
        "expand({dtype:type}{{{shape}}}, size={expand}): the number of sizes provided ({wanted}) must be "
        "greater or equal to the number of dimensions in the tensor ({ndim})",
    ),
    "ViewSize": (RuntimeError, "shape '{shape}' is invalid for input of size {numel}"),
    "ViewInferTwice": (RuntimeError, "only one dimension can be inferred"),
    "ViewNegative": (RuntimeError, "invalid shape dimension {size} at index {index} of shape {shape}"),
    "ViewAmbiguous": (
        RuntimeError,
        "cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension size -1 "
        "can be any value and is ambiguous",
    ),
    "ViewStride": (
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across two contiguous subspaces). Use .reshape(...) instead.",
    ),
    "ViewDType": (
        RuntimeError,
        "self.size(-1) must be divisible by {ratio} to view {source:Float} as {target:Float} "
        "(different element sizes), but got {size}",
    ),
    "DimOutOfRange": (
        IndexError,
        "Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})",
    ),
    "DimOfScalar": (IndexError, "Dimension specified as {dim} but tensor has no dimensions"),
    "DimRepeated": (RuntimeError, "dim {dim} appears multiple times in the list of dims"),
    "PermuteCount": (
        RuntimeError,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {given}",
    ),
    "PermuteRepeated": (RuntimeError, "permute(): duplicate dims are not allowed."),
    "TransposeDimensions": (
        RuntimeError,
        "t() expects a tensor with <= 2 dimensions, but self is {ndim}D",
    ),
    "MatrixTransposeDimensions": (
        RuntimeError,
        "tensor.{attribute} is only supported on matrices or batches of matrices. Got {ndim}-D tensor.",
    ),
    "FlattenOrder": (RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim"),
    "UnflattenSizes": (
        RuntimeError,
        "unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({size}) in the "
        "input tensor",
    ),
    "UnflattenEmpty": (RuntimeError, "unflatten: sizes must be non-empty"),
    "MovedimCount": (
        RuntimeError,
        "movedim: Invalid source or destination dims: source ({source} dims) should contain the same number "
        "of dims as destination ({destination} dims)",
    ),
    "MovedimRepeated": (RuntimeError, "movedim: repeated dim in `{argument}` ({dims})"),
    "DiagonalDimensions": (RuntimeError, "diagonal dimensions cannot be identical {dim1}, {dim2}"),
    "DiagDimensions": (RuntimeError, "diag(): Supports 1D or 2D tensors. Got {ndim}D"),
    "RepeatsNegative": (RuntimeError, "Repeats must be non-negative"),
    "RepeatsBelowZero": (RuntimeError, "repeats can not be negative"),
    "RepeatsCount": (
        RuntimeError,
        "repeats must have the same size as input along dim, but got repeats.size(0) = {repeats} and "
        "input.size({dim}) = {size}",
    ),
    "RepeatCount": (
        RuntimeError,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
    ),
    "RollNothing": (RuntimeError, "`shifts` required"),
    "RollScalar": (IndexError, "Dimension specified as {dim} but tensor has no dimensions"),
    "RollCount": (RuntimeError, "shifts and dimensions must align. shifts: {shifts}, dims:{ndim}"),
    "TriangleDimensions": (RuntimeError, "{operation}: input tensor must have at least 2 dimensions"),
    "StridedRank": (RuntimeError, "mismatch in length of strides and shape"),
    "StridedNegative": (
        RuntimeError,
        "as_strided: Negative strides are not supported at the moment, got strides: {strides}",
    ),
    "StridedOffset": (RuntimeError, "Tensor: invalid storage offset {offset}"),
    "StridedBounds": (
        RuntimeError,
        "setStorage: sizes {shape}, strides {strides}, storage offset {offset}, and itemsize {item} "
        "requiring a storage size of {needed} are out of bounds for storage of size {bytes}",
    ),
    # -- joining and splitting -------------------------------------------------------------------------
    "CatSizes": (
        RuntimeError,
        "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size "
        "{got} for tensor number {position} in the list.",
    ),
    "CatDimensions": (RuntimeError, "Tensors must have same number of dimensions: got {first} and {got}"),
    "CatScalar": (RuntimeError, "zero-dimensional tensor (at position {position}) cannot be concatenated"),
    "CatEmpty": (ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    "ListElementType": (
        TypeError,
        "expected Tensor as element {element} in argument {position}, but got {got}",
    ),
    "StackSizes": (
        RuntimeError,
        "stack expects each tensor to be equal size, but got {first} at entry 0 and {got} at entry "
        "{position}",
    ),
    "StackEmpty": (RuntimeError, "{operation} expects a non-empty TensorList"),
    "SplitSum": (
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
        "{dim}), but got split_sizes={sizes}",
    ),
    "SplitNegative": (RuntimeError, "split expects split_size be non-negative, but got split_size={size}"),
    "SplitScalar": (RuntimeError, "{operation} expects at least a 1-dimensional tensor"),
    "SplitZero": (
        RuntimeError,
        "split_size can only be 0 if dimension size is 0, but got dimension size of {size}",
    ),
    "SplitSizesNegative": (
        RuntimeError,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}",
    ),
    "TensorSplitScalar": (
        RuntimeError,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    ),
    "SectionCount": (RuntimeError, "number of sections must be larger than 0, got {sections}"),
    "MeshgridDimensions": (
        RuntimeError,
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor with {ndim} dimensions",
    ),
    "MeshgridDTypes": (RuntimeError, "meshgrid expects all tensors to have the same dtype"),
    "ChunkCount": (RuntimeError, "chunk expects `chunks` to be greater than 0, got: {chunks}"),
    # -- values ----------------------------------------------------------------------------------------
    "ItemOfMany": (RuntimeError, "a Tensor with {numel} elements cannot be converted to Scalar"),
    "NumberCount": (ValueError, "only one element tensors can be converted to Python scalars"),
    "IndexConversion": (TypeError, "only integer tensors of a single element can be converted to an index"),
    "AmbiguousTruth": (RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    "EmptyTruth": (RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
    # -- dtypes ----------------------------------------------------------------------------------------
    "ResultCast": (
        RuntimeError,
        "result type {from:Float} can't be cast to the desired output type {to:Float}",
    ),
    "NotImplementedFor": (NotImplementedError, "\"{operation}\" not implemented for '{dtype:Float}'"),
    "SubtractBool": (
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ),
    "SubtractWithBool": (
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. " + _BOOL_HINT,
    ),
    "NegateBool": (
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. " + _BOOL_HINT,
    ),
    "InvertDType": (TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    "PositiveBool": (RuntimeError, "The `+` operator, on a bool tensor is not supported."),
    "ReluBool": (RuntimeError, "Boolean inputs not supported for relu"),
    "AlphaBool": (RuntimeError, "Boolean alpha only supported for Boolean results."),
    "AlphaFloat": (
        RuntimeError,
        "For integral input tensors, argument alpha must not be a floating point number.",
    ),
    "LerpDType": (RuntimeError, "expected dtype {expected:C} for `{argument}` but got dtype {got:C}"),
    "DTypesDiffer": (RuntimeError, "{left:Float} did not match {right:Float}"),
    "DefaultDType": (TypeError, "only floating-point types are supported as the default type"),
    "DefaultDTypeObject": (
        TypeError,
        "invalid dtype object: only floating-point types are supported as the default type",
    ),
    # -- arithmetic ------------------------------------------------------------------------------------
    "IntegerDivision": (RuntimeError, "ZeroDivisionError"),
    "IntegerPower": (RuntimeError, "Integers to negative integer powers are not allowed."),
    "RoundingMode": (
        RuntimeError,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'",
    ),
    "NegativeTolerance": (
        RuntimeError,
        "{argument} must be greater than or equal to zero, but got {value:g}",
    ),
    "ClampBounds": (RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
    "TopkRange": (RuntimeError, "selected index k out of range"),
    # -- losses ----------------------------------------------------------------------------------------
    "TargetSize": (ValueError, "Target size ({target:Size}) must be the same as input size ({input:Size})"),
    "ClassDType": (RuntimeError, "one_hot is only applicable to index tensor of type LongTensor."),
    "ClassTooLarge": (RuntimeError, "Class values must be smaller than num_classes."),
    "ClassNegative": (RuntimeError, "Class values must be non-negative."),
    # -- devices, threads, arguments -------------------------------------------------------------------
    "CudaMissing": (AssertionError, "Torch not compiled with CUDA enabled"),
    "DeviceMissing": (RuntimeError, "PyTorch is not linked with support for {device} devices"),
    "DeviceType": (
        RuntimeError,
        "Expected one of " + _DEVICES + " device type at start of device string: {device}",
    ),
    "DeviceText": (RuntimeError, "Invalid device string: '{device}'"),
    "ThreadCount": (RuntimeError, "set_num_threads expects a positive integer"),
    "ThreadCountType": (RuntimeError, "set_num_threads expects an int, but got {got}"),
    "ArgumentType": (
        TypeError,
        "{operation}(): argument '{argument}' (position {position}) must be {expected}, not {got}",
    ),
    "KeywordType": (TypeError, "{operation}(): argument '{argument}' must be {expected}, not {got}"),
    "ArgumentMissing": (
        TypeError,
        '{operation}() missing {count} required positional arguments: "{argument}"',
    ),
    "ArgumentCount": (TypeError, "{operation}() takes {expected} positional argument but {got} were given"),
    "ArgumentCombination": (
        TypeError,
        "{operation}() received an invalid combination of arguments - got ({got}), but expected one "
        "of:\n{expected}",
    ),
    "KeywordUnknown": (TypeError, "{operation}() got an unexpected keyword argument '{argument}'"),
    "NotWritable": (
        AttributeError,
        "attribute '{attribute}' of 'torch._C.TensorBase' objects is not writable",
    ),
    **FUNCTIONS,
    **COMPLEXES,
    **COMPOSITES,
    **INDEXING,
    **MAKING,
    **MAPPING,
    **LAYERS,
    **MATRICES,
    **REDUCING,
    **UNITS,
}


def render(kind: str, fields: Mapping[str, Any]) -> Exception:
    """Make the exception of a failure; the caller raises it.

    >>> from rushlight._messages import render
    >>> render("NotBroadcastable", {"left": 2, "right": 3, "dim": 0})
    RuntimeError('The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0')
    """
    exception, template = MESSAGES[kind]
    made = exception(template.format_map({name: spell(value) for name, value in fields.items()}))
    add_notes(made, notes(kind, fields))
    return made
