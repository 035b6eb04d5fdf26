"""The words of failures of complex numbers."""

from __future__ import annotations

COMPLEXES: dict[str, tuple[type[Exception], str]] = {
    # -- other readings of memory ----------------------------------------------------------------------
    "RealParts": (RuntimeError, "view_as_real is only supported for complex tensors"),
    "UnresolvedParts": (
        RuntimeError,
        "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you "
        "can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT "
        "alias the original.",
    ),
    "PairsDType": (
        RuntimeError,
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar "
        "type: {dtype:Float}",
    ),
    "PairsWithoutDimension": (RuntimeError, "Input tensor must have one or more dimensions"),
    "PairsSize": (RuntimeError, "Tensor must have a last dimension of size 2"),
    "PairsStride": (RuntimeError, "Tensor must have a last dimension with stride 1"),
    "PairsOuterStride": (RuntimeError, "Tensor must have a stride divisible by 2 for all but last dimension"),
    "PairsOffset": (RuntimeError, "Tensor must have a storage_offset divisible by 2"),
    "ImaginaryOfReal": (RuntimeError, "imag is not implemented for tensors with non-complex dtypes."),
    "UnresolvedView": (
        RuntimeError,
        "torch.Tensor.view is not supported for {what} when converting to a different dtype.",
    ),
    # -- making ----------------------------------------------------------------------------------------
    "PartsDType": (
        RuntimeError,
        "Expected both inputs to be Half, Float or Double tensors but got {left:Float} and {right:Float}",
    ),
    "PartsDiffer": (
        RuntimeError,
        "Expected object of scalar type {left:Float} but got scalar type {right:Float} for second argument",
    ),
    "AlphaComplex": (
        RuntimeError,
        "For non-complex input tensors, argument alpha must not be a complex number.",
    ),
    "RandomComplex": (
        RuntimeError,
        "check_random_bounds handles only integral, floating-point and boolean types",
    ),
    "CauchyDType": (
        RuntimeError,
        "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but "
        "you specified {dtype:C}",
    ),
    "ComplexGradientOfReal": (
        RuntimeError,
        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, "
        "but got false.  (Could this error message be improved?  If so, please report an enhancement "
        "request to PyTorch.)",
    ),
    # -- refusals --------------------------------------------------------------------------------------
    "RoundedComplex": (NotImplementedError, "{operation} is not supported for complex inputs"),
    "ClampedComplex": (NotImplementedError, "clamp is not supported for complex types"),
    "SignOfComplex": (
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    "DegreesOfComplex": (RuntimeError, "{operation} is not supported for complex tensors."),
    "ExtremeOfComplex": (RuntimeError, "{operation} not implemented for complex tensors."),
    "PlaceOfComplex": (RuntimeError, "{operation}(): does not support complex input"),
    "ComplexInputs": (RuntimeError, "{operation} does not support complex inputs."),
    "SortedComplex": (RuntimeError, " {operation} does not support complex dtypes on CPU"),
    "AbsInPlace": (RuntimeError, "In-place abs is not supported for complex tensors."),
    "NanSumOfComplex": (RuntimeError, "nansum on CPU does not support complex inputs"),
    "ImaginaryLost": (UserWarning, "Casting complex values to real discards the imaginary part"),
    "AdjointOfNumber": (
        UserWarning,
        "adjoint() is deprecated on 0-D tensors. Consider using x.conj().",
    ),
    "AdjointOfVector": (
        RuntimeError,
        "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.",
    ),
}
