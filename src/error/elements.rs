//! Failures of types and values of elements: see Note [Families of failures].

macro_rules! elements {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    // Types
    /// A result that may not be written into memory of that type.
    ResultCast { from: DType, to: DType },
    /// A difference of truth values.
    SubtractBool {},
    /// A difference of a truth value and something else.
    SubtractWithBool {},
    /// The negative of truth values.
    NegateBool {},
    /// The positive of truth values.
    PositiveBool {},
    /// `relu` of truth values.
    ReluBool {},
    /// A factor with a fraction for integers.
    AlphaFloat {},
    /// A truth value as factor for something else.
    AlphaBool {},
    /// Two tensors whose types must be the same.
    DTypesDiffer { left: DType, right: DType },
    /// Two types that no third one holds the numbers of.
    NoPromotion { types: &'static str, left: DType, right: DType },
    /// `where` with a condition that is not made of truth values.
    WhereCondition { dtype: DType },
    /// `masked_fill` with a mask that is not made of truth values.
    MaskedFillMask { dtype: DType },
    /// An operation that does not exist for this type.
    NotImplementedFor { operation: &'static str, dtype: DType },
    /// `fill_` with a tensor that has dimensions.
    FillValue { ndim: usize },

    // Values
    /// Integers divided by zero.
    IntegerDivision {},
    /// Integers to a negative power.
    IntegerPower {},
    /// A rounding that does not exist.
    RoundingMode { mode: String },
    /// `clamp` without bounds.
    ClampBounds {},
    /// `masked_fill` with a tensor that has dimensions.
    MaskedFillValue { ndim: usize },
    /// A tolerance below zero.
    NegativeTolerance { argument: &'static str, value: f64 },
    /// `item` of a tensor with another number of elements than one.
    ItemOfMany { numel: usize },
    /// The truth value of many elements.
    AmbiguousTruth {},
    /// The truth value of no element.
    EmptyTruth {},
    }} };
}
pub(super) use elements;
