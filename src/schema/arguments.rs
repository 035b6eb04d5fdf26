//! What an entry reads of a call, and what it answers. Hosts implement the reading: they keep the arguments as they
//! were given until an entry asks for one.

use smallvec::SmallVec;

use crate::dispatch::in_place::{check_history, first_refusal};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::host::host;
use crate::graph::mode;
use crate::ops::Operand;
use crate::ops::creation::cast::Order;
use crate::ops::sampling::random::Generator;
use crate::schema::Creation;
use crate::tensor::Tensor;

/// A list of sizes, dimensions or strides.
pub type Ints = SmallVec<[i64; 6]>;

/// The arguments of one call, by their places in the signature that the call has matched. What was left out is
/// what the signature says it then is.
pub trait Arguments {
    /// The name that was called.
    fn name(&self) -> &'static str;
    /// Which of the overloads it is, by its place in the entry's list.
    fn overload(&self) -> usize;
    /// How many places there are.
    fn count(&self) -> usize;
    /// Whether something other than the default was given.
    fn given(&self, index: usize) -> bool;
    /// A tensor that may be left out.
    fn optional_tensor(&self, index: usize) -> Option<&Tensor>;
    /// The tensors of a list; none if it was left out.
    fn tensors(&self, index: usize) -> Result<Vec<Tensor>>;
    /// A number that may be left out.
    fn optional_number(&self, index: usize) -> Result<Option<Scalar>>;
    /// A real number that may be left out.
    fn optional_float(&self, index: usize) -> Result<Option<f64>>;
    /// An integer that may be left out.
    fn optional_int(&self, index: usize) -> Result<Option<i64>>;
    /// A truth value that may be left out.
    fn optional_boolean(&self, index: usize) -> Option<bool>;
    /// An element type; `None` if it was left out.
    fn dtype(&self, index: usize) -> Option<DType>;
    /// A string that may be left out.
    fn optional_text(&self, index: usize) -> Result<Option<String>>;
    /// A string where something else may stand too; `None` if that or nothing was given.
    fn word(&self, index: usize) -> Option<String>;
    /// A list of integers; `None` if it was left out without a default.
    fn dims(&self, index: usize) -> Result<Option<Ints>>;
    /// The integers of a list, of which some may be left open, or the only one; `None` if all were left out.
    fn open_ints(&self, index: usize) -> Result<Option<Vec<Option<i64>>>>;
    /// The same of real numbers.
    fn open_floats(&self, index: usize) -> Result<Option<Vec<Option<f64>>>>;
    /// The options of a tensor that is made, of which the first stands there: element type, layout, device, whether
    /// memory is pinned, and whether a gradient is wanted. A failure if they ask for what there is none of.
    fn creation(&self, first: usize) -> Result<Creation>;
    /// Refuses a device that tensors cannot be on.
    fn device(&self, index: usize) -> Result<()>;
    /// All elements of memory, in order: of its type if it has one, else of `dtype`.
    fn storage(&self, index: usize, dtype: DType) -> Result<Tensor>;
    /// The order of elements in memory, if one is named.
    fn order(&self, index: usize) -> Option<Order>;
    /// The generator of random numbers, if one was given.
    fn generator(&self, index: usize) -> Option<Generator>;
    /// The failure of an entry that asks for an argument which its own signature does not promise.
    fn absent(&self, index: usize) -> Box<Error>;

    /// A tensor.
    fn tensor(&self, index: usize) -> Result<&Tensor> {
        self.optional_tensor(index).ok_or_else(|| self.absent(index))
    }

    /// A tensor or a number.
    fn operand(&self, index: usize) -> Result<Operand<'_>> {
        match self.optional_tensor(index) {
            Some(tensor) => Ok(Operand::Tensor(tensor)),
            None => self.number(index).map(Operand::Scalar),
        }
    }

    /// A number.
    fn number(&self, index: usize) -> Result<Scalar> {
        self.optional_number(index)?.ok_or_else(|| self.absent(index))
    }

    /// A real number.
    fn float(&self, index: usize) -> Result<f64> {
        self.optional_float(index)?.ok_or_else(|| self.absent(index))
    }

    /// An integer.
    fn int(&self, index: usize) -> Result<i64> {
        self.optional_int(index)?.ok_or_else(|| self.absent(index))
    }

    /// A truth value; false if it was left out and has no default.
    fn boolean(&self, index: usize) -> bool {
        self.optional_boolean(index).unwrap_or(false)
    }

    /// An element type that is required.
    fn element_type(&self, index: usize) -> Result<DType> {
        self.dtype(index).ok_or_else(|| self.absent(index))
    }

    /// A string.
    fn text(&self, index: usize) -> Result<String> {
        self.optional_text(index)?.ok_or_else(|| self.absent(index))
    }

    /// A list of integers that is required or has a default.
    fn ints(&self, index: usize) -> Result<Ints> {
        self.dims(index)?.ok_or_else(|| self.absent(index))
    }
}

/// What an entry answers.
pub enum Reply {
    /// Nothing.
    Nothing,
    /// The very object that was given at this place.
    Given(usize),
    /// A tensor.
    Tensor(Tensor),
    /// Several tensors.
    Tensors(Vec<Tensor>),
    /// Several tensors with names, in the host's class of this name.
    Named(&'static str, Vec<Tensor>),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The seed of random numbers.
    Seed(u64),
    /// An element type.
    DType(DType),
}

/// From what an operation gives to the answer of its entry.
pub trait IntoReply: Sized {
    /// The answer.
    fn reply(self) -> Result<Reply>;

    /// The answer with names for its tensors, in the host's class of this name.
    fn named(self, class: &'static str) -> Result<Reply> {
        Ok(match self.reply()? {
            Reply::Tensors(tensors) => Reply::Named(class, tensors),
            other => other,
        })
    }
}

impl<T: Into<Reply>> IntoReply for Result<T> {
    fn reply(self) -> Result<Reply> {
        self.map(Into::into)
    }
}

/// Declares what results are as answers.
macro_rules! replies {
    ($($pattern:pat => $T:ty: $reply:expr;)*) => {
        $(impl From<$T> for Reply {
            fn from($pattern: $T) -> Reply {
                $reply
            }
        })*
    };
}

replies! {
    () => (): Reply::Nothing;
    tensor => Tensor: Reply::Tensor(tensor);
    tensors => Vec<Tensor>: Reply::Tensors(tensors);
    (a, b) => (Tensor, Tensor): Reply::Tensors(vec![a, b]);
    (a, b, c) => (Tensor, Tensor, Tensor): Reply::Tensors(vec![a, b, c]);
    (a, b, c, d) => (Tensor, Tensor, Tensor, Tensor): Reply::Tensors(vec![a, b, c, d]);
    value => bool: Reply::Bool(value);
    value => i64: Reply::Int(value);
    value => DType: Reply::DType(value);
}

/// What an operation in place answers: its receiver, the object that it was given first. Whether that may have another
/// history is told before what is wrong with anything else.
pub fn receiver(arguments: &dyn Arguments, result: Result<()>) -> Result<Reply> {
    let result = result.map_err(|error| {
        let tensors = (0..arguments.count()).filter_map(|index| arguments.optional_tensor(index));
        first_refusal(&tensors.collect::<Vec<_>>(), error)
    });
    receiver_in_own_order(arguments, result)
}

/// `receiver` of an operation that is not recorded, or is refused in an order of its own.
pub fn receiver_in_own_order(_: &dyn Arguments, result: Result<()>) -> Result<Reply> {
    result.map(|()| Reply::Given(0))
}

/// Both operands of a call.
pub(crate) fn pair(arguments: &dyn Arguments) -> Result<(Operand<'_>, Operand<'_>)> {
    Ok((arguments.operand(0)?, arguments.operand(1)?))
}

/// What an operation of the first tensor alone answers.
pub(crate) fn of(
    arguments: &dyn Arguments,
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Reply> {
    operation(arguments.tensor(0)?).reply()
}

/// What an operation of the tensors of the first argument answers.
pub(crate) fn joined<T: Into<Reply>>(
    arguments: &dyn Arguments,
    operation: impl FnOnce(&[&Tensor]) -> Result<T>,
) -> Result<Reply> {
    let tensors = arguments.tensors(0)?;
    operation(&tensors.iter().collect::<Vec<_>>()).reply()
}

/// Tells the host of what is no failure but ought to be known.
#[cold]
pub fn warn(what: Error) -> Result<()> {
    host().map_or(Ok(()), |host| host.notice(what))
}

/// The same, once in the life of a process.
#[cold]
pub(crate) fn warn_once(what: Error) -> Result<()> {
    host().map_or(Ok(()), |host| host.notice_once(what))
}

/// Warns of a write by `method` to a tensor that shows elements several times, unless it will be refused. `such`
/// is what else does that.
pub fn warn_repeated(target: &Tensor, method: &'static str, such: &'static str) -> Result<()> {
    let layout = target.layout();
    if layout.shape().iter().zip(layout.strides()).all(|(&size, &stride)| size < 2 || stride > 0) {
        return Ok(());
    }
    if mode::is_grad_enabled() && target.requires_grad() && check_history(target).is_err() {
        return Ok(());
    }
    warn(Error::RepeatedWrite { method, such })
}
