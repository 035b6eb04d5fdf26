"""The words of failures of matrices, and the class of those that lie in their numbers."""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """A matrix whose numbers do not allow what was asked."""

    __module__ = "rushlight._C"


LinAlgError = _LinAlgError

MATRICES: dict[str, tuple[type[Exception], str]] = {
    # -- products --------------------------------------------------------------------------------------
    "MatrixSizes": (
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied ({rows1}x{columns1} and {rows2}x{columns2})",
    ),
    "MatmulScalar": (
        RuntimeError,
        "both arguments to {operation} need to be at least 1D, but they are {ndim1}D and {ndim2}D",
    ),
    "MatrixDTypes": (
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: {dtype1:C} != {dtype2:C}",
    ),
    "LinearDTypes": (
        RuntimeError,
        "mat1 and mat2 must have the same dtype, but got {dtype1:Float} and {dtype2:Float}",
    ),
    "AddmmDTypes": (
        RuntimeError,
        "self and mat2 must have the same dtype, but got {dtype1:Float} and {dtype2:Float}",
    ),
    "BatchDTypes": (
        RuntimeError,
        "Input dtypes must be the same, got: input {dtype:C}, batch1: {dtype1:C}, batch2: {dtype2:C}",
    ),
    "NotMatrix": (RuntimeError, "{argument} must be a matrix"),
    "MatrixRank": (RuntimeError, "{argument} must be a matrix, got {ndim}-D tensor"),
    "SparsePlaces": (
        RuntimeError,
        "{values} values of a sparse matrix cannot have {rows} rows and {columns} columns",
    ),
    "ProductInPlace": (
        RuntimeError,
        "Bad in-place call: input tensor size {input} and output tensor size {output} should match",
    ),
    "BatchSizes": (
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: [{batch1}, {columns1}] but got: "
        "[{batch2}, {rows2}].",
    ),
    "NotBatch": (RuntimeError, "{argument} must be a 3D tensor"),
    "LowPrecision": (RuntimeError, "{operation}: Low precision dtypes not supported. Got {dtype:Float}"),
    "ScalarTypeExpected": (RuntimeError, "expected scalar type {expected:Float} but found {got:Float}"),
    "ChainLength": (RuntimeError, "multi_dot(): expected at least 2 tensors but got {count}"),
    "ChainEnd": (RuntimeError, "multi_dot(): the {end} tensor must be 1D or 2D but got {ndim}D"),
    "ChainRank": (RuntimeError, "multi_dot(): tensor {position} must be 2D but got {ndim}D"),
    "ChainDTypes": (
        RuntimeError,
        "multi_dot(): all tensors must have be the same dtype but tensor 0 is {first:C} and tensor "
        "{position} {dtype:C}",
    ),
    "ChainSizes": (
        RuntimeError,
        "multi_dot(): tensors {position} and {next} with shapes {shape} and {following} cannot be multiplied",
    ),
    "MatrixVectorSizes": (
        RuntimeError,
        "size mismatch, got input ({size}), mat ({rows}x{columns}), vec ({length})",
    ),
    "MatrixVectorDimensions": (
        RuntimeError,
        "vector + matrix @ vector expected, got {ndim}, {ndim1}, {ndim2}",
    ),
    "MatrixVectorDTypes": (
        RuntimeError,
        "addmv input tensors must have the same dtype, but got {dtype:Float}, {dtype1:Float}, and "
        "{dtype2:Float}",
    ),
    "DotSizes": (
        RuntimeError,
        "inconsistent tensor size, expected tensor [{length1}] and src [{length2}] to have the same "
        "number of elements, but got {length1} and {length2} elements respectively",
    ),
    "DotDimensions": (RuntimeError, "1D tensors expected, but got {ndim1}D and {ndim2}D tensors"),
    "DotDTypes": (
        RuntimeError,
        "dot : expected both vectors to have same dtype, but found {dtype1:Float} and {dtype2:Float}",
    ),
    "OuterDimensions": (RuntimeError, "outer: Expected 1-D argument {argument}, but got {ndim}-D"),
    "InnerSizes": (
        RuntimeError,
        "inner() the last dimension must match on both input tensors but got shapes {shape1} and {shape2}",
    ),
    # -- linear algebra --------------------------------------------------------------------------------
    "LinearRank": (RuntimeError, "{operation}: The input tensor A must have at least 2 dimensions."),
    "MatrixSquare": (
        RuntimeError,
        "{operation}: A must be batches of square matrices, but they are {rows} by {columns} matrices",
    ),
    "MatrixDType": (
        RuntimeError,
        "{operation}: Expected a floating point or complex tensor as input. Got {dtype:Float}",
    ),
    "InverseSingular": (
        LinAlgError,
        "{operation}: {place}The diagonal element {step} is zero, the inversion could not "
        "be completed because the input matrix is singular.",
    ),
    "SolveSingular": (
        LinAlgError,
        "{operation}: {place}The solver failed because the input matrix is singular.",
    ),
    "SolveDTypes": (
        RuntimeError,
        "linalg.solve: Expected A and B to have the same dtype, but found A of type "
        "{left:Float} and B of type {right:Float} instead",
    ),
    "SolveShapes": (
        RuntimeError,
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
        "({side}x{side} and {rows}x{columns})",
    ),
    "NotPositive": (
        LinAlgError,
        "{operation}: {place}The factorization could not be completed because the "
        "input is not positive-definite (the leading minor of order {order} is not positive-definite).",
    ),
    "LinearArgumentRank": (
        RuntimeError,
        "{operation}: The input tensor {argument} must have at least 2 dimensions.",
    ),
    "EquationDTypes": (
        RuntimeError,
        "{operation}: Expected A and B to have the same dtype, but found A of type "
        "{left:Float} and B of type {right:Float} instead",
    ),
    "EquationShapes": (
        RuntimeError,
        "{operation}: Incompatible shapes of A and B for the equation {equation} "
        "({side}x{side} and {rows}x{columns})",
    ),
    "QrMode": (
        RuntimeError,
        "qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'",
    ),
    "UnpackPivots": (
        RuntimeError,
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
        "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor",
    ),
    "TriangleSquare": (
        RuntimeError,
        "A must be batches of square matrices, but they are {rows} by {columns} matrices",
    ),
    "RightSideRank": (RuntimeError, "b should have at least 2 dimensions, but has {ndim} dimensions instead"),
    "TriangleRank": (RuntimeError, "u should have at least 2 dimensions, but has {ndim} dimensions instead"),
    "TriangularRank": (
        RuntimeError,
        "torch.triangular_solve: Expected {argument} to have at least 2 dimensions, but it has {ndim} "
        "dimensions instead",
    ),
    "RightSideDType": (
        RuntimeError,
        "Expected b and A to have the same dtype, but found b of type {right:Float} and A of type "
        "{left:Float} instead.",
    ),
    "RightSideShape": (
        RuntimeError,
        "Incompatible matrix sizes for {operation}: each A matrix is {side} by {side} but each b matrix "
        "is {rows} by {columns}",
    ),
    "QrTriangle": (
        RuntimeError,
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
        "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.",
    ),
    "QrComplete": (
        RuntimeError,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
    ),
    "TriangleName": (RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got {name}"),
    "EigenvectorPhase": (
        RuntimeError,
        "{operation}_backward: The eigenvectors in the complex case are specified up to multiplication by "
        "e^{{i phi}}. The specified loss function depends on this quantity, so it is ill-defined.",
    ),
    "SingularVectorPhase": (
        RuntimeError,
        "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
        "e^{{i phi}}. The specified loss function depends on this phase term, making it ill-defined.",
    ),
    "FourierDType": (RuntimeError, "Only supports {kinds} dtypes, but found: {dtype:Float}"),
    "FourierPoints": (RuntimeError, "Invalid number of data points ({points}) specified"),
    "FourierNothing": (
        RuntimeError,
        "MKL FFT error: Intel oneMKL DFTI ERROR: Inconsistent configuration parameters",
    ),
    "NoComplexType": (RuntimeError, "Unknown Complex ScalarType for {dtype:Float}"),
    "EigenvaluesNotFinite": (RuntimeError, "{operation}: input tensor should not contain infs or NaNs."),
    "EigenvaluesNotFound": (
        LinAlgError,
        "{operation}: {place}The algorithm failed to converge because the input matrix is ill-conditioned or "
        "has too many repeated eigenvalues (error code: {code}).",
    ),
    "SvdNotFinite": (
        LinAlgError,
        "linalg.svd: {place}The algorithm failed to converge because the input matrix contained "
        "non-finite values.",
    ),
    "PinvInput": (
        RuntimeError,
        "linalg.pinv({dtype:Float}{{{shape}}}): expected a tensor with 2 or more dimensions of float, "
        "double, cfloat or cdouble types",
    ),
    "EliminationRank": (
        RuntimeError,
        "{operation}: Expected tensor with 2 or more dimensions. Got size: {shape} instead",
    ),
    "EliminationZero": (
        RuntimeError,
        "{operation}: {place}U[{step},{step}] is zero and using it on lu_solve would result in a "
        "division by zero. If you still want to perform the factorization, consider calling "
        "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
    ),
    "PivotDType": (RuntimeError, "{operation}: pivots should be a Tensor of scalar type torch.int32"),
    "PivotCount": (
        RuntimeError,
        "{operation}: Number of pivots per batch should be same as the dimension of the matrix",
    ),
    "PivotShape": (
        RuntimeError,
        "{operation}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
        "{shape} instead",
    ),
    "FactorDTypes": (
        RuntimeError,
        "{operation}: Expected LU and B to have the same dtype, but found LU of type {left:Float} and B of "
        "type {right:Float} instead",
    ),
    "PivotBelow": (
        RuntimeError,
        "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of "
        "lu_factor?",
    ),
    "PivotAbove": (
        RuntimeError,
        "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the "
        "result of lu_factor?",
    ),
    "UnpackRange": (
        RuntimeError,
        "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the "
        "result of lu_factor?",
    ),
    "NormDimensions": (RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple. Got {dims}"),
    "NormRepeated": (RuntimeError, "linalg.matrix_norm: dims must be different. Got ({dim}, {dim})"),
    "NormOrder": (RuntimeError, "linalg.matrix_norm: Order {order} not supported."),
    "CholeskySuperseded": (
        UserWarning,
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\n"
        "L = torch.cholesky(A)\n"
        "should be replaced with\n"
        "L = torch.linalg.cholesky(A)\n"
        "and\n"
        "U = torch.cholesky(A, upper=True)\n"
        "should be replaced with\n"
        "U = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite) "
        "inputs.",
    ),
    "QrSuperseded": (
        UserWarning,
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch "
        "release.\n"
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\n"
        "should be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    ),
    "LuSolveSuperseded": (
        UserWarning,
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
        "future PyTorch release.\n"
        "Note that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\n"
        "should be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)",
    ),
    "TriangularSolveSuperseded": (
        UserWarning,
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be "
        "removed in a future PyTorch release.\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one "
        "of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\n"
        "should be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B).",
    ),
    "GerSuperseded": (
        UserWarning,
        "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead.",
    ),
}
