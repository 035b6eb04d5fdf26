//! Failures of products of matrices and linear algebra: see Note [Families of failures].

macro_rules! matrices {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    // Matrices
    /// Two matrices whose sizes do not fit.
    MatrixSizes { rows1: usize, columns1: usize, rows2: usize, columns2: usize },
    /// A product of tensors of any rank with a tensor without dimensions.
    MatmulScalar { operation: &'static str, ndim1: usize, ndim2: usize },
    /// Two matrices of different types.
    MatrixDTypes { dtype1: DType, dtype2: DType },
    /// Two matrices of different types, where something is added to their product.
    LinearDTypes { dtype1: DType, dtype2: DType },
    /// What is added to a product is of another type.
    AddmmDTypes { dtype1: DType, dtype2: DType },
    /// What is added to the products of batches, or one of the batches, is of another type.
    BatchDTypes { dtype: DType, dtype1: DType, dtype2: DType },
    /// An argument that is not a matrix.
    NotMatrix { argument: &'static str },
    /// An argument that is not a matrix, where something is added to the product.
    MatrixRank { argument: &'static str, ndim: usize },
    /// Values of a sparse matrix, of which each has a row and a column.
    SparsePlaces { values: usize, rows: usize, columns: usize },
    /// A product that does not have the shape of what it would overwrite.
    ProductInPlace { input: Vec<usize>, output: Vec<usize> },
    /// Two batches of matrices whose sizes do not fit.
    BatchSizes { batch1: usize, columns1: usize, batch2: usize, rows2: usize },
    /// An argument that is not a batch of matrices.
    NotBatch { argument: &'static str },
    /// Half types, where numbers have to be exact.
    LowPrecision { operation: &'static str, dtype: DType },
    /// An argument of another type than the one before.
    ScalarTypeExpected { expected: DType, got: DType },
    /// A matrix and a vector whose sizes do not fit, and the size of what is added.
    MatrixVectorSizes { size: usize, rows: usize, columns: usize, length: usize },
    /// Arguments that are not a matrix and a vector.
    MatrixVectorDimensions { ndim: usize, ndim1: usize, ndim2: usize },
    /// A matrix and a vector of different types.
    MatrixVectorDTypes { dtype: DType, dtype1: DType, dtype2: DType },
    /// Two vectors of different lengths.
    DotSizes { length1: usize, length2: usize },
    /// Arguments that are not two vectors.
    DotDimensions { ndim1: usize, ndim2: usize },
    /// Two vectors of different types.
    DotDTypes { dtype1: DType, dtype2: DType },
    /// A product of several of fewer than two.
    ChainLength { count: usize },
    /// An end of a product of several that is neither a vector nor a matrix.
    ChainEnd { end: &'static str, ndim: usize },
    /// A factor between others that is not a matrix.
    ChainRank { position: usize, ndim: usize },
    /// Factors of different types.
    ChainDTypes { position: usize, first: DType, dtype: DType },
    /// A factor whose size does not fit the next one's.
    ChainSizes { position: usize, next: usize, shape: Vec<usize>, following: Vec<usize> },
    /// An argument of an outer product that is not a vector.
    OuterDimensions { argument: &'static str, ndim: usize },
    /// Two tensors whose last dimensions differ.
    InnerSizes { shape1: Vec<usize>, shape2: Vec<usize> },

    // Linear algebra
    /// Linear algebra of less than a matrix.
    LinearRank { operation: &'static str },
    /// Linear algebra of a matrix that is not square.
    MatrixSquare { operation: &'static str, rows: usize, columns: usize },
    /// Linear algebra of integers.
    MatrixDType { operation: &'static str, dtype: DType },
    /// A matrix without inverse.
    InverseSingular { operation: &'static str, place: String, step: usize },
    /// Equations without a solution.
    SolveSingular { operation: &'static str, place: String },
    /// Equations of different types.
    SolveDTypes { left: DType, right: DType },
    /// Equations with more or fewer right sides than left ones.
    SolveShapes { side: usize, rows: usize, columns: usize },
    /// A matrix that is not positive.
    NotPositive { operation: &'static str, place: String, order: usize },
    /// An argument of linear algebra that is less than a matrix.
    LinearArgumentRank { operation: &'static str, argument: &'static str },
    /// Equations of different types, where an operation says so.
    EquationDTypes { operation: &'static str, left: DType, right: DType },
    /// Equations whose sides do not fit.
    EquationShapes {
        operation: &'static str, equation: &'static str, side: usize, rows: usize, columns: usize
    },
    /// A name that says no amount of factors.
    QrMode { mode: String },
    /// Exchanged rows to be unpacked that are not integers of 32 bits.
    UnpackPivots {},
    /// A triangle for equations that is not square.
    TriangleSquare { rows: usize, columns: usize },
    /// A right side that is less than a matrix.
    RightSideRank { ndim: usize },
    /// A triangle that is less than a matrix.
    TriangleRank { ndim: usize },
    /// An operand of `triangular_solve` that is less than a matrix.
    TriangularRank { argument: &'static str, ndim: usize },
    /// A right side of another type than a triangle.
    RightSideDType { right: DType, left: DType },
    /// A right side that has more or fewer rows than a triangle.
    RightSideShape { operation: &'static str, rows: usize, columns: usize, side: usize },
    /// Derivatives of a triangle whose other factor was not asked for.
    QrTriangle {},
    /// Derivatives of more columns than the matrix had.
    QrComplete {},
    /// A name that no triangle has.
    TriangleName { name: String },
    /// Gradients of eigenvectors that depend on which of all directions in the complex plane they have.
    EigenvectorPhase { operation: &'static str },
    /// Gradients of singular vectors that depend on which of all directions in the complex plane they have.
    SingularVectorPhase {},
    /// A Fourier transform of numbers that it is not for.
    FourierDType { kinds: &'static str, dtype: DType },
    /// A Fourier transform of so many elements.
    FourierPoints { points: i64 },
    /// A Fourier transform of no line.
    FourierNothing {},
    /// Complex results of numbers of a type that no complex type belongs to.
    NoComplexType { dtype: DType },
    /// Eigenvalues of what is not a number.
    EigenvaluesNotFinite { operation: &'static str },
    /// Eigenvalues that were not found, and how many.
    EigenvaluesNotFound { operation: &'static str, place: String, code: usize },
    /// Singular values of what is not a number.
    SvdNotFinite { place: String },
    /// A pseudoinverse of what is no floating-point matrix.
    PinvInput { dtype: DType, shape: Vec<usize> },
    /// Elimination in less than a matrix.
    EliminationRank { operation: &'static str, shape: Vec<usize> },
    /// Triangles that no equation can be solved by.
    EliminationZero { operation: &'static str, place: String, step: usize },
    /// Exchanged rows that are not integers of 32 bits.
    PivotDType { operation: &'static str },
    /// More or fewer exchanged rows than a matrix has.
    PivotCount { operation: &'static str },
    /// Exchanges of other matrices.
    PivotShape { operation: &'static str, shape: Vec<usize> },
    /// Factors and a right side of different types.
    FactorDTypes { operation: &'static str, left: DType, right: DType },
    /// An exchanged row that there is not, because it would lie before the first one.
    PivotBelow {},
    /// An exchanged row that there is not, because it would lie behind the last one.
    PivotAbove {},
    /// An exchanged row that there is not, where rows are exchanged by a matrix.
    UnpackRange {},
    /// Norms of matrices along other than two dimensions.
    NormDimensions { dims: String },
    /// Norms of matrices of which rows and columns are one dimension.
    NormRepeated { dim: usize },
    /// A word that is no order of a norm.
    NormOrder { order: String },
    /// The former way to Cholesky factors: told once.
    CholeskySuperseded {},
    /// The former QR decomposition: told once.
    QrSuperseded {},
    /// The former way to solve by LU decompositions: told once.
    LuSolveSuperseded {},
    /// The former way to solve with triangles: told once.
    TriangularSolveSuperseded {},
    /// The former outer product.
    GerSuperseded {},
    }} };
}
pub(super) use matrices;
