//! Failures of writes to views, of functions that the host has written and of packed tensors: see Note
//! [Families of failures].

macro_rules! functions {
    ($next:ident $($later:ident)* { $($earlier:tt)* }) => { $next! { $($later)* { $($earlier)*
    /// An in-place operation on one of several views made at once, or on their base if it is stale.
    MultiView { function: String, output: u32, stale: bool },
    /// The same of a view made without gradient.
    NoGradView { function: String, output: u32, stale: bool },
    /// The same of a view made in inference mode.
    InferenceView { function: String, output: u32, stale: bool },
    /// The same of a view that a function of the host returned.
    CustomView { function: String, output: u32, stale: bool },
    /// A leaf that a function of the host wrote to.
    LeafOverwritten {},
    /// A view that a function of the host wrote to and returned among others.
    DirtyViewOfMany {},
    /// What a function of the host wrote to and did not return.
    DirtyNotReturned {},
    /// What a function of the host says to have written to, which is no input, where tangents pass.
    DirtyNoInput {},
    /// A view of something that is no input, said to be written to.
    DirtyViewOfOther {},
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
    /// A saved tensor unpacked as one of another shape or type.
    UnpackedOtherwise { got: Vec<usize>, dtype: DType, expected: Vec<usize>, like: DType },
    /// A saved tensor packed after it was freed.
    PackingFreed {},
    /// A saved tensor packed twice.
    PackedAlready {},
    /// An operation whose interceptor answered another number of tensors than it gives.
    Intercepted { node: String, got: usize, expected: usize },
    /// An operation of a recorded program that gave something of another form than when it was recorded.
    ProgramDiverged { node: String },
    /// Bytes that are no program, or no longer.
    ProgramFileDamaged { what: &'static str },
    /// A program in a form that is not known here.
    ProgramFileVersion { found: u64 },
    /// A program with an operation that is not known here.
    ProgramFileOperation { name: String },
    /// A program that would take more memory than was allowed.
    ProgramTooLarge { bytes: u64, most: u64 },
    /// An operation that cannot be written down as plain data.
    NotPortable { node: String, why: &'static str },
    /// A program that is called with other tensors than it takes.
    ProgramArguments { what: String },
    /// Backward of a compiled function that needs another call of it, where that would do something else.
    CalledOtherwise {},
    /// An operation computed on a tensor without numbers, which its class did not answer.
    OperandWithoutData {},
    /// Something packed that is not there.
    PackedNothing {},
    /// A second derivative of what was said to have none.
    OnceDifferentiable {},
    }} };
}
pub(super) use functions;
