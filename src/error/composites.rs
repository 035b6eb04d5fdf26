//! Failures of orders and composites: see Note [Families of failures].

macro_rules! composites {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// More elements asked for than there are.
    TopkCount {},
    /// The greatest of truth values.
    TopkBool {},
    /// A dimension of a tensor that has none.
    PickScalar { operation: &'static str, dim: i64 },
    /// An element picked of a dimension without elements.
    PickEmpty { operation: &'static str, dim: usize },
    /// An element asked for beyond the last.
    KthvalueCount { dim: usize },
    /// Indices that are not of the widest type.
    TakeAlongDType { dtype: DType },
    /// Indices of another number of dimensions.
    TakeAlongRank { input: usize, indices: usize },
    /// The mean of integers.
    NanmeanDType { dtype: DType },
    /// The extremes of no element.
    AminmaxEmpty {},
    /// A share outside of 0 and 1.
    QuantileShare { q: f64 },
    /// One of several shares outside of 0 and 1.
    QuantileShares {},
    /// Shares in more than one dimension.
    QuantileRank {},
    /// Quantiles of no element.
    QuantileEmpty {},
    /// Quantiles of what is not floating-point.
    QuantileDType {},
    /// Shares of another element type.
    QuantileDTypes {},
    /// A place between elements that has no such name.
    QuantileInterpolation { name: String },
    /// Gathered elements for a tensor of another element type.
    GatherOutput { expected: DType, got: DType },
    /// A gamma function of truth values.
    MvlgammaBool {},
    /// A gamma function of no dimension.
    MvlgammaDimensions {},
    /// A gamma function in place of integers.
    MvlgammaCast { dtype: DType, to: DType },
    /// An order in memory of another number of dimensions.
    PhysicalRank { ndim: usize, count: usize },
    /// An order in memory of a dimension that is not there.
    PhysicalRange { last: i64, dim: i64, index: usize },
    /// An order in memory that names a dimension twice.
    PhysicalTwice {},
    /// Another size for a tensor that requires grad.
    ResizeRecorded {},
    /// A size below zero.
    ResizeNegative {},
    /// More elements than there are of memory that belongs to the host.
    ResizeLent {},
    /// Slopes of channels in more than one dimension.
    PreluRank { ndim: usize },
    /// Another order in memory that is the one there is.
    ResizeKept {},
    /// An order in memory that tensors of another number of dimensions have.
    FormatRank { ndim: usize, format: &'static str },
    /// A tensor product of different element types.
    TensordotDTypes {},
    /// A dimension summed over twice.
    TensordotTwice { dim: usize },
    /// A search for complex numbers among others.
    AmongDType { dtype: DType },
    /// Distances of what is not floating-point.
    CdistDType { name: &'static str, dtype: DType },
    /// Distances of rows of different element types.
    CdistDTypes { first: DType, second: DType },
    /// Distances by a norm below zero.
    CdistOrder {},
    /// A bound below zero.
    RenormBound { bound: f64 },
    /// Parts of a vector.
    RenormRank { ndim: usize },
    /// An image padded to its own size, and weights of another number of dimensions.
    ConvolutionSameRank { ndim: usize, weight: Vec<usize>, input: Vec<usize> },
    /// A split of too few dimensions.
    SplitRank { operation: &'static str, least: usize, ndim: usize },
    /// A split into parts of different sizes.
    SplitUneven { operation: &'static str, dim: usize, size: usize, sections: i64 },
    /// A number of repetitions that is no vector.
    RepeatsRank {},
    /// Another size than that of what was repeated.
    RepeatsSize {},
    /// Another size than that of what was repeated equally often.
    RepeatsOutput { expected: i64, got: i64 },
    /// `unflatten` of a number.
    UnflattenScalar { dim: i64 },
    /// Two sizes to be inferred.
    UnflattenInferTwice {},
    /// `unflatten` of an empty dimension into sizes one of which could be anything.
    UnflattenAmbiguous { shape: Vec<i64> },
    /// Fewer than no numbers.
    BincountLeast {},
    /// Weights for other numbers.
    BincountWeights {},
    /// Places of other points.
    TrapezoidPlaces { operation: &'static str },
    /// An area of truth values.
    TrapezoidBool { operation: &'static str, arguments: &'static str },
    /// A distance of points that is no real number.
    TrapezoidStep { operation: &'static str },
    /// Indices of sections in more than one dimension.
    SectionsRank { ndim: usize },
    /// Sections that are no integers.
    SectionsDType { dtype: DType },
    /// A start that is no integer.
    NarrowStartTensor {},
    /// Vectors crossed that none of the dimensions has.
    CrossNone {},
    /// Bounds that elements cannot be moved to.
    ClampCast { from: DType, to: DType },
    /// A step of complex numbers.
    HeavisideComplex {},
    /// The exponents of integers.
    FrexpDType {},
    /// The signs of complex numbers.
    SignbitComplex {},
    /// A weight of integers that is none.
    IntegerWeight { argument: &'static str },
    /// A truth value as a weight of something else.
    BooleanWeight { argument: &'static str },
    /// Powers in place of less than double precision.
    FloatPowerDType { dtype: DType, wide: DType },
    /// The trace of what is no matrix.
    TraceRank { ndim: usize },
    /// An ellipsis that is none.
    EinsumEllipsis { place: String, what: &'static str },
    /// A subscript that is no letter.
    EinsumSubscript { index: usize },
    /// Another number of subscripts than of dimensions.
    EinsumRank { subscripts: usize, ndim: usize, how: &'static str, operand: usize, tail: &'static str },
    /// A diagonal of dimensions of different sizes.
    EinsumRepeated { label: String, operand: usize, size: usize, expected: usize },
    /// An equation without operands.
    EinsumNone {},
    /// More or fewer operands than the equation has.
    EinsumCount { how: &'static str },
    /// Dimensions of one subscript that do not broadcast.
    EinsumBroadcast { label: String, size: usize, operand: usize, expected: usize },
    /// Dimensions that an ellipsis stands for and that do not broadcast.
    EinsumCovered { dim: usize, size: usize, operand: usize, expected: usize },
    /// A subscript of the result that is there twice.
    EinsumOutputTwice { label: String },
    /// A subscript of the result that no operand has.
    EinsumOutputUnknown { label: String },
    /// Different numbers of dimensions to sum over.
    TensordotCount {},
    /// Dimensions to sum over that have different sizes.
    TensordotSizes { size1: usize, dim1: i64, size2: usize, dim2: i64 },
    /// An outer product of what is no vector.
    AddrRank { argument: &'static str, ndim: usize },
    /// An outer product that is to be added in place of what is no matrix.
    AddrInPlaceRank { ndim: usize },
    /// An outer product of two vectors of other lengths than the matrix to which it is to be added in place.
    AddrSizes { rows: usize, columns: usize, length1: usize, length2: usize },
    /// A turn in other than two dimensions.
    RotationCount { count: usize },
    /// A turn of less than a matrix.
    RotationRank { ndim: usize },
    /// A turn from a dimension to itself.
    RotationSame { first: i64, second: i64 },
    /// Elements for a part of another shape.
    ScatterSlice { source: Vec<usize>, slice: Vec<usize> },
    /// Differences along no dimension.
    DiffScalar {},
    /// What is put beside elements, to be subtracted, has other dimensions.
    DiffRank {},
    /// The same of another size in a dimension.
    DiffShape { dim: usize, expected: usize, got: usize },
    /// Differences a negative number of times over.
    DiffOrder { order: i64 },
    /// Covariances or correlations of more than a matrix.
    StatisticRank { operation: &'static str, ndim: usize },
    /// Covariances of truth values.
    CovBool {},
    /// Weights of observations in more than one dimension.
    CovWeightsRank { weights: &'static str, ndim: usize },
    /// Weights of observations of another element type.
    CovWeightsDType { weights: &'static str, expected: &'static str, dtype: DType },
    /// More or fewer weights than observations.
    CovWeightsCount { weights: &'static str, count: usize, observations: usize },
    /// Weights below zero.
    CovWeightsNegative { weights: &'static str },
    /// Weights that leave nothing.
    CovWeightsZero {},
    /// Distances of what has no rows.
    CdistRank { name: &'static str, ndim: usize },
    /// Distances of rows of different lengths.
    CdistColumns { first: usize, second: usize },
    /// A bound on a norm that is none.
    RenormOrder {},
    /// Vectors crossed with tensors of other numbers of dimensions.
    CrossRank {},
    /// Vectors crossed that have not three elements.
    CrossSize { dim: i64, left: usize, right: usize },
    /// Numbers that cannot be counted.
    BincountInput {},
    /// A flip of too few dimensions.
    FlipRank { least: usize },
    /// Covariances without degrees of freedom: told.
    CovarianceUndetermined {},
    /// A cross product along the first dimension that fits: told once.
    CrossWithoutDim {},
    }} };
}
pub(super) use composites;
