//! Failures of functions mapped over samples: see Note [Families of failures].

macro_rules! mapping {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// A write of what differs between samples to a tensor that all samples share.
    UnbatchedWrite { operation: &'static str },
    /// The same by an operation that is run for each sample.
    UnbatchedFallback { operation: &'static str, level: usize },
    /// An operation on a batched tensor after the function was mapped.
    Escaped { plumbing: &'static str },
    /// A random operation where the caller of a mapping did not say what it is to do.
    RandomRefused {},
    /// A random operation in a rule that backward maps over gradients.
    RandomUnasked {},
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
    /// An operation that cannot run for one sample after the other, as one that decides.
    MappedDecision { operation: String },
    /// The same of a view, or of one that writes its result into a tensor that exists.
    MappedView { operation: String },
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
    /// An operation that runs for one sample after the other, of none.
    MappedNoSamples { operation: String },
    /// `expand` of samples to fewer dimensions than they have.
    MappedExpandRank { wanted: usize, ndim: usize },
    /// A window on a sample with as many strides as sizes not given.
    MappedStridedRank { size: Vec<i64>, stride: Vec<i64> },
    /// A window on a sample that shows what is not of it.
    MappedStridedBounds { size: Vec<i64>, stride: Vec<i64>, offset: i64, end: i64, low: i64, high: i64 },
    /// Another size for samples that do not lie one behind the other.
    MappedResize {},
    /// The memory of a tensor that stands for many samples.
    MappedMemory {},
    /// A copy of a sample whose channels shall come last.
    MappedClone { format: &'static str },
    /// A sample that shall lie in another order than the usual one.
    MappedOrder {},
    }} };
}
pub(super) use mapping;
