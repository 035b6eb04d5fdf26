//! What a native function accepts: parameters, overloads and how error messages print them.
//! Parsing the text is in `grammar`, matching a call in `matching`, wording in `errors`.
//! Nothing here calls an operation.
pub(crate) mod accept;
pub(crate) mod errors;
pub(crate) mod grammar;
pub(crate) mod listing;
pub(crate) mod matching;
pub(crate) mod order;

use pyo3::Py;
use pyo3::types::PyString;
use std::fmt::{Display, Formatter, Result};

/// How a native callable is reached, which decides what its signatures look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `rushlight.sum(x, 1)`: every parameter is part of the call.
    Function,
    /// `x.sum(1)`: the receiver is given, and there is no `out`.
    Method,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A tensor.
    Tensor,
    /// A tensor, or a number that stands for one (`Tensor|Number`); printed as `Tensor`.
    Operand,
    /// A tuple or list of tensors.
    Tensors,
    /// A Python number, or a tensor without dimensions that does not require a gradient.
    Number,
    /// An integer; `bool` is none.
    Int,
    /// An integer, or what Python can index with (`SymInt`); printed as `int`.
    Index,
    /// Any real number.
    Float,
    /// `True` or `False`, nothing else.
    Bool,
    /// A string.
    Text,
    /// An element type, or `float`, `int`, `bool` for one.
    DType,
    /// A device, its name or its index.
    Device,
    /// A memory layout.
    Layout,
    /// A memory format.
    MemoryFormat,
    /// The memory of tensors.
    Storage,
    /// A random number generator.
    Generator,
    /// A tuple or list of integers. With a size, a single integer is taken that many times.
    Ints(u8),
    /// A tuple or list of real numbers, with the same meaning of the size.
    Floats(u8),
    /// A tuple or list of numbers.
    Numbers,
    /// Whatever it is.
    Object,
}

impl Kind {
    /// The name that error messages use.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Kind::Tensor | Kind::Operand => "Tensor",
            Kind::Tensors => "tuple of Tensors",
            Kind::Number => "Number",
            Kind::Int | Kind::Index => "int",
            Kind::Float => "float",
            Kind::Bool => "bool",
            Kind::Text => "str",
            Kind::DType => "torch.dtype",
            Kind::Device => "torch.device",
            Kind::Layout => "torch.layout",
            Kind::MemoryFormat => "torch.memory_format",
            Kind::Generator => "torch.Generator",
            Kind::Storage => "torch.Storage",
            Kind::Ints(_) => "tuple of ints",
            Kind::Floats(_) => "tuple of floats",
            Kind::Numbers => "tuple of Scalars",
            Kind::Object => "object",
        }
    }
}

/// The value of a parameter that a call leaves out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Default {
    /// There is none: the argument must be given.
    Required,
    /// `None`, and whatever only the operation itself can fill in.
    Absent,
    /// A truth value.
    Bool(bool),
    /// An integer; for `int[2]` it counts twice.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A string.
    Text(&'static str),
    /// A list of integers.
    Ints(Vec<i64>),
}

/// One parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// The name as written.
    pub(crate) name: &'static str,
    /// The same name as the interpreter's own string, which keywords are first compared with.
    pub(crate) interned: Py<PyString>,
    /// What it takes.
    pub(crate) kind: Kind,
    /// Whether `None` stands for "not given".
    pub(crate) nullable: bool,
    /// Whether it stands behind the `*`.
    pub(crate) keyword_only: bool,
    /// The value when it is left out.
    pub(crate) default: Default,
    /// The default as written, for messages.
    pub(crate) default_text: &'static str,
    /// Where its argument goes: the position in the signature as written.
    pub(crate) slot: usize,
}

impl Parameter {
    /// Whether a call may leave it out.
    pub(crate) fn optional(&self) -> bool {
        self.default != Default::Required
    }

    /// Other names that a keyword may use: those of numpy.
    pub(crate) fn aliases(&self) -> &'static [&'static str] {
        match self.name {
            "dim" => &["axis"],
            "keepdim" => &["keepdims"],
            "input" => &["x", "a", "x1"],
            "other" => &["x2"],
            _ => &[],
        }
    }
}

impl Display for Parameter {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{} {}", self.kind.title(), self.name)?;
        if self.optional() { write!(out, " = {}", self.default_text) } else { Ok(()) }
    }
}

/// One overload, in one form.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The parameters that a call gives, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// How many of them may be given by position; these come first.
    pub(crate) positional: usize,
    /// How many must be given.
    pub(crate) required: usize,
    /// How many arguments by position are enough: none behind them is required.
    pub(crate) enough: usize,
    /// Where the receiver of a method goes.
    pub(crate) receiver: Option<usize>,
    /// Where tensors to write the result into go.
    pub(crate) out: Option<usize>,
    /// Which of the written overloads it is.
    pub(crate) overload: usize,
    /// What it returns, as a Python annotation for the stub.
    pub(crate) returns: &'static str,
    /// Whether it is still accepted but no longer told.
    pub(crate) deprecated: bool,
}

impl Signature {
    /// Whether one list of integers of any length is all that can be given by position, so that its elements
    /// can be given spread out: `x.view(2, 3)`.
    pub(crate) fn spreads(&self) -> bool {
        self.positional == 1 && self.parameters.first().is_some_and(|first| first.kind == Kind::Ints(0))
    }
}

impl Display for Signature {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "(")?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let star = if index == self.positional { "*, " } else { "" };
            write!(out, "{separator}{star}{parameter}")?;
        }
        write!(out, ")")
    }
}
