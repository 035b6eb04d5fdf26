//! Failures of autograd: histories, gradients, hooks and writes: see Note [Families of failures].

macro_rules! autograd {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// `requires_grad` set on a tensor that an operation made.
    RequiresGradNonLeaf {},
    /// A gradient asked of integers.
    RequiresGradDType {},
    /// A gradient asked of integers at the making of a tensor.
    RequiresGradFactoryDType {},
    /// An in-place operation on a leaf.
    LeafModified {},
    /// An in-place operation on a view of a leaf.
    LeafViewModified {},
    /// An in-place operation outside of inference mode on a tensor made in it.
    InferenceModified {},
    /// `requires_grad` set outside of inference mode on a tensor made in it.
    InferenceRequiresGrad {},
    /// A tensor made in inference mode that backward would need.
    InferenceSaved {},
    /// The version of a tensor made in inference mode.
    InferenceVersion {},
    /// A saved tensor that was overwritten.
    Modified {
        dtype: DType,
        shape: Vec<usize>,
        source: String,
        output: u32,
        version: u32,
        expected: u32,
        anomaly: bool,
        node: String,
        saved: Origin,
        written: Origin,
    },
    /// A gradient for a leaf that an operation has written to since.
    LeafMoved {},
    /// The graph was freed by an earlier backward.
    BackwardTwice { node: String, recorded: Origin, run: Origin },
    /// A gradient that is not a number, where that is looked for.
    NanGradient { function: String, index: usize },
    /// A root without history.
    NoGrad { index: usize, reason: &'static str, stopped: Origin },
    /// More roots than gradients, or fewer.
    RootAndGradientCounts { roots: usize, gradients: usize },
    /// An input that does not require grad.
    InputNoGrad {},
    /// An input that is something else.
    InputNotTensor { got: String },
    /// A gradient asked for that the graph does not reach.
    Unused { index: usize },
    /// A root that is not a scalar and has no gradient given.
    ImplicitGradient {},
    /// A root that is not a floating-point scalar and has no gradient given.
    ImplicitGradientDType { dtype: DType },
    /// A rule that returned a gradient of the wrong shape.
    GradientShape { function: String, index: usize, got: Vec<usize>, expected: Vec<usize> },
    /// An operation that has no derivative.
    NoDerivative { operation: &'static str },
    /// A derivative that a function does not have with respect to one of its arguments.
    NoDerivativeOf { function: &'static str },
    /// A saved tensor that has forgotten its history in place since.
    SavedDetached {},
    /// An operation through which no tangents pass.
    NoTangent { operation: &'static str },
    /// An operation that has no forward direction.
    NoForward { operation: &'static str, in_place: bool },
    /// Another size for a tensor that has a tangent.
    ResizeForward {},
    /// `retain_grad` on a tensor without gradient.
    RetainGradNoGrad {},
    /// A hook on a tensor without gradient.
    HookNoGrad {},
    /// A write to memory that shows one element several times.
    OverlapModified {},
    /// A write to memory some of whose elements are read from other places of it.
    OverlapRead {},
    /// `detach_` on a view.
    DetachView {},
    /// `.data` of a tensor that requires grad assigned integers.
    DataDType {},
    /// The gradient of a leaky rectifier in place that turns signs round.
    LeakyReluInPlace {},
    /// The gradient of an exponential unit in place that turns signs round.
    EluInPlace {},
    /// Backward through an operation without a derivative.
    DerivativeMissing { operation: &'static str },
    /// `set_` with a tensor of another type.
    SetDType { got: DType, expected: DType },
    /// `.grad` assigned a tensor of another type.
    GradDType { got: DType, expected: DType },
    /// A type of gradients that the present gradient does not have.
    GradDTypeTaken { wanted: DType, got: DType },
    /// `.grad` assigned a tensor of another shape.
    GradSize { got: Vec<usize>, expected: Vec<usize> },
    /// No failure: a gradient that lies in memory otherwise than its leaf.
    GradLayout { sizes: Vec<usize>, strides: Vec<usize>, leaf_sizes: Vec<usize>, leaf_strides: Vec<usize> },
    /// A dual tensor made of a tensor that has a tangent at that level.
    DualOfDual {},
    /// A tangent that itself has a tangent at that level.
    DualTangent {},
    /// A tangent of another shape than its tensor.
    TangentShape { got: Vec<usize>, expected: Vec<usize> },
    }} };
}
pub(super) use autograd;
