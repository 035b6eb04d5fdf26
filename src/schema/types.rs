//! The ways in which results are converted to the element types of tensors that they are written to.

/// Which element types a tensor may have that a result is written to, and in whose words others are refused: the
/// host has the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// What promotion converts.
    Cast,
    /// Anything.
    Any,
    /// No other type.
    Same,
    /// No other type, in the words of elementwise operations that do not promote.
    Found,
    /// `Found` of an operation of one tensor, `Cast` of several.
    FoundOfOne,
    /// `Found` of a result of the same type as the tensor, `Cast` of another.
    FoundOfSame,
    /// Fourier transforms: what is complex stays that, and integers take none.
    Transform,
    /// The same of transforms back, which torch names after those forth.
    TransformBack,
    /// Numbers of elements between bounds.
    Counted,
    /// Products with powers of two.
    Ldexp,
    /// The gamma function of several dimensions.
    Mvlgamma,
    /// Places of what is not zero.
    Nonzero,
    /// Places in a sorted row.
    Searched,
    /// Choices between two tensors.
    Chosen,
    /// Extremes along dimensions.
    Extreme,
    /// The extreme of all elements; of two tensors, what promotion converts.
    ExtremeOfAll,
    /// Elements that are picked.
    Picked,
    /// Elements that are picked by their places in memory.
    Taken,
    /// Quantiles.
    Quantile,
    /// Places that are drawn.
    Drawn,
    /// Random numbers between two others.
    Uniform,
    /// Random numbers about one.
    Normal,
    /// Frequencies, which are no integers and made of none.
    Frequencies,
    /// Powers in double precision.
    FloatPower,
    /// Steps.
    Heaviside,
    /// Questions about signs.
    Truth,
    /// Whether all or any elements hold: once that was told in bytes.
    TruthOfAll,
    /// Complex numbers of two parts.
    Combined,
    /// Extremes up to each element, and logarithms of sums.
    Running,
    /// Numbers in place of what is none.
    Cleaned,
    /// Logarithms of sums.
    Logsumexp,
    /// Joined tensors.
    Joined,
    /// Mantissas and exponents.
    Mantissa,
    /// The element of a rank, and its place.
    Ranked,
    /// The most frequent element, and its place.
    Frequent,
    /// Parts of a dimension, copied.
    Narrowed,
    /// Matrices that are checked before they are found in the tensor itself.
    SafeMatrix,
    /// `SafeMatrix` of an operation that torch names by its module.
    SafeLinalg,
    /// `SafeMatrix`, then `Same`.
    SafeAndSame,
    /// Older factorisations.
    SafeResult,
    /// `SafeResult`, by the name of its module.
    Reflected,
    /// Eigenvalues.
    Eigenvalues,
    /// Eigenvalues and eigenvectors.
    Eigenvectors,
    /// Reflections of matrices: what may be converted has to be of the type all the same.
    Reflections,
    /// Products with reflections.
    ReflectedProduct,
    /// What comes nearest to solutions.
    Nearest,
    /// Solutions by triangular matrices.
    Triangular,
    /// Products of vectors.
    Dot,
    /// Products of a matrix and a vector.
    Vector,
    /// Sums of products of matrices.
    Batched,
    /// Products over dimensions.
    Contracted,
}
