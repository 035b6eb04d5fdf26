//! Failures of autograd: histories, hooks, transforms: see Note [Families of failures].

macro_rules! autograd {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// `requires_grad` set on a tensor that an operation made.
    RequiresGradNonLeaf {},
    /// An in-place operation on a leaf.
    LeafModified {},
    /// An in-place operation on a view of a leaf.
    LeafViewModified {},
    /// An in-place operation on one of several views made at once, or on their base if it is stale.
    MultiView { function: String, output: u32, stale: bool },
    /// The same of a view made without gradient.
    NoGradView { function: String, output: u32, stale: bool },
    /// An in-place operation outside of inference mode on a tensor made in it.
    InferenceModified {},
    /// The same of a view made in inference mode.
    InferenceView { function: String, output: u32, stale: bool },
    /// `requires_grad` set outside of inference mode on a tensor made in it.
    InferenceRequiresGrad {},
    /// A tensor made in inference mode that backward would need.
    InferenceSaved {},
    /// The version of a tensor made in inference mode.
    InferenceVersion {},
    /// The same of a view that a function of the host returned.
    CustomView { function: String, output: u32, stale: bool },
    /// A leaf that a function of the host wrote to.
    LeafOverwritten {},
    /// A view that a function of the host wrote to and returned among others.
    DirtyViewOfMany {},
    /// What a function of the host wrote to and did not return.
    DirtyNotReturned {},
    /// An input that a function of the host returned as it is, and keeps.
    ReturnedInputKept {},
    /// A tangent of what was written to in place, in whose place another was returned.
    TangentReplaced {},
    /// A tangent of what was written to in place, which was not itself written to.
    TangentNotWritten {},
    /// A tangent of a view that is no view.
    TangentNoView {},
    /// A tangent of a view of an input that is no view of the tangent of the input, or not of its base.
    TangentElsewhere { whose: &'static str },
    /// A tangent of an output that has none.
    TangentOfConstant { position: usize },
    /// Hooks of saved tensors where somebody forbade them, in these words.
    PackingRefused { message: String },
    /// A hook that packs a saved tensor and writes to it.
    PackingWrote {},
    /// A saved tensor packed after it was freed.
    PackingFreed {},
    /// A saved tensor packed twice.
    PackedAlready {},
    /// An operation whose interceptor answered another number of tensors than it gives.
    Intercepted { node: String, got: usize, expected: usize },
    /// Something packed that is not there.
    PackedNothing {},
    /// A second derivative of what was said to have none.
    OnceDifferentiable {},
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
    /// A rule that returned another number of gradients.
    GradientCount { function: String, expected: usize, got: usize },
    /// An operation that has no derivative.
    NoDerivative { operation: &'static str },
    /// An operation through which no tangents pass.
    NoTangent { operation: &'static str },
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
    /// `item` of a tensor with another number of elements than one.
    ItemOfMany { numel: usize },
    /// A write of what differs between samples to a tensor that all samples share.
    UnbatchedWrite { operation: &'static str },
    /// The same by an operation that is run for each sample.
    UnbatchedFallback { operation: &'static str, level: usize },
    /// An operation on a batched tensor after the function was mapped.
    Escaped { plumbing: &'static str },
    /// A random operation where the caller of a mapping did not say what it is to do.
    RandomRefused {},
    /// The same random numbers for samples that have a say in them and differ.
    RandomSame {},
    /// Different random numbers for each sample in a tensor that all samples share.
    RandomUnbatched {},
    /// A running mean that all samples share and each would move.
    MappedRunning {},
    /// A number of a tensor that stands for many samples.
    MappedItem {},
    /// A number of, or a decision by, a tensor that stands for many samples and that a transform of
    /// derivatives within follows.
    MappedValue {},
    /// A decision by a tensor that stands for many samples.
    MappedTruth {},
    /// A comparison of whole tensors that stand for many samples.
    MappedDecision { operation: &'static str },
    /// `allclose` of tensors that stand for many samples.
    MappedCloseness {},
    /// A product of samples with other numbers of dimensions than it is one of.
    MappedProduct { operation: &'static str, ndim1: usize, ndim2: usize, rank1: usize, rank2: usize },
    /// An inner product of samples that are no vectors.
    MappedDot {},
    /// A result whose shape would differ between samples.
    MappedShape { operation: &'static str },
    /// An index by a mask that differs between samples.
    MappedMask {},
    /// `masked_select` by a mask that differs between samples.
    MappedSelect {},
    /// The memory of a tensor that stands for many samples.
    MappedMemory {},
    /// The truth value of many elements.
    AmbiguousTruth {},
    /// The truth value of no element.
    EmptyTruth {},
    }} };
}
pub(super) use autograd;
