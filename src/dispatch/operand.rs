//! What arithmetic accepts: tensors and plain numbers, and how their types combine.

use crate::dispatch::default_dtype;
use crate::dtype::{Category, Complex, DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::observe::detach_site::Standing;
use crate::graph::{At, SavedTensor};
use crate::ops;
use crate::ops::creation::cast;
use crate::tensor::{Array, Tensor};

/// A tensor or a number. Numbers stay numbers: they are never made into tensors.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number.
    Scalar(Scalar),
}

impl<'a> Operand<'a> {
    /// The tensor, if it is one.
    pub fn tensor(self) -> Option<&'a Tensor> {
        match self {
            Operand::Tensor(tensor) => Some(tensor),
            Operand::Scalar(_) => None,
        }
    }
}

/// What arithmetic is called with. A number of the engine's own is not what a number of the host is:
/// torch records it under another name, see `numbers`. An operand that is handed on counts as the host's.
pub trait Argument<'a>: Into<Operand<'a>> {
    /// Whether it is a number of the engine's own.
    const OWN_NUMBER: bool = false;
}

impl<'a> Argument<'a> for &'a Tensor {}
impl<'a> Argument<'a> for &'a Value {}
impl<'a> Argument<'a> for Operand<'a> {}

impl Argument<'_> for Scalar {
    const OWN_NUMBER: bool = true;
}

impl Argument<'_> for f64 {
    const OWN_NUMBER: bool = true;
}

impl Argument<'_> for i64 {
    const OWN_NUMBER: bool = true;
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Operand::Tensor(tensor)
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(scalar: Scalar) -> Self {
        Operand::Scalar(scalar)
    }
}

impl From<f64> for Operand<'_> {
    fn from(value: f64) -> Self {
        Operand::Scalar(Scalar::Float(value))
    }
}

impl From<i64> for Operand<'_> {
    fn from(value: i64) -> Self {
        Operand::Scalar(Scalar::Int(value))
    }
}

impl<'a> From<&'a Value> for Operand<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Tensor(tensor) => Operand::Tensor(tensor),
            Value::Scalar(scalar) => Operand::Scalar(*scalar),
        }
    }
}

/// An operand that owns its tensor.
#[derive(Clone)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A number.
    Scalar(Scalar),
}

impl From<Operand<'_>> for Value {
    fn from(operand: Operand<'_>) -> Self {
        match operand {
            Operand::Tensor(tensor) => Value::Tensor(tensor.clone()),
            Operand::Scalar(scalar) => Value::Scalar(scalar),
        }
    }
}

/// An operand as a rule saves it.
pub enum SavedOperand {
    /// It was not needed.
    Nothing,
    /// A tensor.
    Tensor(SavedTensor),
    /// A number.
    Scalar(SavedNumber),
}

/// Two operands that are kept have to fit into the record of a node.
const _: () = assert!(size_of::<SavedOperand>() == 24);

/// A number as a rule saves it: a complex one, which few are, behind a box.
pub enum SavedNumber {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// An integer that is greater than those.
    Unsigned(u64),
    /// A complex number.
    Complex(Box<Complex<f64>>),
}

impl SavedNumber {
    /// The number.
    pub fn get(&self) -> Scalar {
        match self {
            SavedNumber::Bool(value) => Scalar::Bool(*value),
            SavedNumber::Int(value) => Scalar::Int(*value),
            SavedNumber::Unsigned(value) => Scalar::Unsigned(*value),
            SavedNumber::Float(value) => Scalar::Float(*value),
            SavedNumber::Complex(value) => Scalar::Complex(**value),
        }
    }
}

impl From<Scalar> for SavedNumber {
    fn from(number: Scalar) -> SavedNumber {
        match number {
            Scalar::Bool(value) => SavedNumber::Bool(value),
            Scalar::Int(value) => SavedNumber::Int(value),
            Scalar::Unsigned(value) => SavedNumber::Unsigned(value),
            Scalar::Float(value) => SavedNumber::Float(value),
            Scalar::Complex(value) => SavedNumber::Complex(Box::new(value)),
        }
    }
}

impl SavedOperand {
    /// The operand, ready for calculation.
    pub fn load(&self, at: &At<'_>) -> Result<Value> {
        match self {
            SavedOperand::Tensor(saved) => cast::load(saved, at).map(Value::Tensor),
            SavedOperand::Scalar(number) => Ok(Value::Scalar(number.get())),
            SavedOperand::Nothing => unreachable!("a rule loads what it declared to keep"),
        }
    }

    /// The conjugate of the operand: itself if it is real.
    pub(crate) fn load_conjugate(&self, at: &At<'_>) -> Result<Value> {
        Ok(match self.load(at)? {
            Value::Tensor(tensor) if self.is_complex() => Value::Tensor(ops::conjugate::conj(tensor)?),
            Value::Scalar(scalar) => Value::Scalar(scalar.conj()),
            real => real,
        })
    }

    fn is_complex(&self) -> bool {
        self.tensor().is_some_and(|saved| saved.dtype().resolved().is_complex())
    }

    /// The saved tensor, if it is one.
    pub fn tensor(&self) -> Option<&SavedTensor> {
        match self {
            SavedOperand::Tensor(saved) => Some(saved),
            _ => None,
        }
    }

    pub(crate) fn tensor_mut(&mut self) -> Option<&mut SavedTensor> {
        match self {
            SavedOperand::Tensor(saved) => Some(saved),
            _ => None,
        }
    }
}

/// Numbers to calculate with: an operand without its history.
#[derive(Clone)]
pub(crate) enum Numbers {
    Array(Array),
    Scalar(Scalar),
}

impl From<&Array> for Numbers {
    fn from(array: &Array) -> Numbers {
        Numbers::Array(array.clone())
    }
}

impl<S: Into<Scalar>> From<S> for Numbers {
    fn from(number: S) -> Numbers {
        Numbers::Scalar(number.into())
    }
}

impl Operand<'_> {
    pub(crate) fn numbers(self) -> Numbers {
        match self {
            Operand::Tensor(tensor) => Numbers::Array(tensor.array()),
            Operand::Scalar(scalar) => Numbers::Scalar(scalar),
        }
    }

    /// The numbers, and whether operations on the operand are recorded.
    pub(crate) fn observe(self) -> (Numbers, bool) {
        match self {
            Operand::Tensor(tensor) => {
                let (array, requires_grad) = tensor.observe();
                (Numbers::Array(array), requires_grad)
            }
            Operand::Scalar(scalar) => (Numbers::Scalar(scalar), false),
        }
    }

    /// What unrecorded results inherit.
    pub(crate) fn standing(self) -> Standing {
        self.tensor().map_or_else(Standing::default, Tensor::standing)
    }

    /// The type of the elements, or of a tensor that the number would make.
    pub(crate) fn dtype(self) -> DType {
        match self {
            Operand::Tensor(tensor) => tensor.dtype(),
            Operand::Scalar(scalar) => scalar_type(scalar),
        }
    }
}

impl Numbers {
    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        match self {
            Numbers::Array(array) => array.layout.numel(),
            Numbers::Scalar(_) => 1,
        }
    }

    /// Number of elements of what is computed of these and others.
    pub(crate) fn count_with(&self, other: &Numbers) -> usize {
        let (left, right) = (self.shape(), other.shape());
        if left == right {
            return self.count();
        }
        let size = |shape: &[usize], behind: usize| shape.iter().rev().nth(behind).copied().unwrap_or(1);
        let sizes = (0..left.len().max(right.len())).map(|dim| size(left, dim).max(size(right, dim)));
        sizes.fold(1, usize::saturating_mul)
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Numbers::Array(array) => array.layout.shape(),
            Numbers::Scalar(_) => &[],
        }
    }
}

/// The type that two operands are calculated in.
pub fn result_dtype(a: Operand<'_>, b: Operand<'_>) -> Result<DType> {
    result_type([&a.numbers(), &b.numbers()])
}

/// The type that operands are calculated in. Within a category tensors with dimensions decide, then
/// tensors without, then numbers; a higher category wins over a lower one.
pub(crate) fn result_type<'a>(operands: impl IntoIterator<Item = &'a Numbers>) -> Result<DType> {
    let (mut dims, mut zero, mut number) = (None, None, None);
    let join = |slot: &mut Option<DType>, dtype: DType| -> Result<()> {
        *slot = Some(match *slot {
            Some(held) => promoted(held, dtype)?,
            None => dtype,
        });
        Ok(())
    };
    for operand in operands {
        match operand {
            Numbers::Array(array) if array.layout.ndim() > 0 => join(&mut dims, array.dtype)?,
            Numbers::Array(array) => join(&mut zero, array.dtype)?,
            Numbers::Scalar(scalar) => join(&mut number, scalar_type(*scalar))?,
        }
    }
    let prefer = |strong: Option<DType>, weak: Option<DType>| match (strong, weak) {
        // The precision is that of the strong one, wherever it has one.
        (Some(strong), Some(weak)) if strong.is_float() && weak.is_complex() => Some(strong.to_complex()),
        (Some(strong), Some(weak)) if weak.category() > strong.category() => Some(weak),
        (None, weak) => weak,
        (strong, _) => strong,
    };
    Ok(prefer(dims, prefer(zero, number)).unwrap_or(DType::Float32))
}

/// The smallest type that holds both, if there is one.
pub fn promoted(left: DType, right: DType) -> Result<DType> {
    match left.is_promoted_with(right) {
        true => Ok(left.promote(right)),
        false => {
            let is_brief = left.is_float8() || right.is_float8();
            let types = if is_brief { "Float8 Types" } else { "uint16, uint32, uint64 types" };
            Err(Error::NoPromotion { types, left, right }.into())
        }
    }
}

/// The type of a number that stands alone.
pub fn scalar_type(scalar: Scalar) -> DType {
    match scalar.category() {
        Category::Bool => DType::Bool,
        Category::Integer => DType::Int64,
        Category::Float => default_dtype::get(),
        Category::Complex | Category::Pending => default_dtype::get().to_complex(),
    }
}
