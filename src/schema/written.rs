//! How an operation writes to tensors that it is given, through `out=` and in place: what its entry says of that, as
//! data. The host does so, and has the words of its refusals.
use super::arguments::Arguments;
use super::types::Types;
use crate::error::Error;
use crate::tensor::Tensor;

/// What an entry says of the tensors that it writes to. Entries that say nothing have `PLAIN`.
#[derive(Clone, Copy)]
pub struct OutPolicy {
    pub history: History,
    pub memory: Memory,
    /// Whether no element may be written twice, also where the tensor would get another shape.
    pub once: bool,
    /// Which element types the result is converted to.
    pub types: Types,
    pub shape: Shape,
    /// Whether tensors are made from nothing but numbers, and may be asked to require a gradient.
    pub made: bool,
    /// Whether a named element type is that of the tensor, from which nothing is converted.
    pub exact: bool,
    /// How the result gets into a tensor of another shape.
    pub placed: Placed,
    /// Whether a tensor of another shape gets that of the result before its element type is looked at.
    pub resizes_first: bool,
    /// What torch's dispatcher calls the overload that writes in place.
    pub in_place: Overload,
    /// What it calls the overload that writes to `out`.
    pub out: Overload,
    /// Whether what is written to `out` is drawn at random.
    pub drawn: fn(&OtherArguments<'_>) -> bool,
    /// What the host is told whenever it writes to `out`.
    pub notice: Option<fn() -> Error>,
    /// What a write in place changes, given its arguments.
    pub changed: fn(&dyn Arguments) -> Changed,
    /// Whose words a write in place gets that has no room for what every sample would write.
    pub unbatched: fn(&OtherArguments<'_>) -> UnbatchedTarget,
}

/// The overload of a name, by what is given beside what is written to.
pub type Overload = fn(&OtherArguments<'_>) -> &'static str;

/// What a write is given beside its target.
#[derive(Default)]
pub struct OtherArguments<'a> {
    /// The tensors.
    pub tensors: Vec<&'a Tensor>,
    /// How many arguments there are.
    pub count: usize,
    /// Whether the first is a number.
    pub number: bool,
    /// Whether the first is a sequence.
    pub sequence: bool,
}

impl<'a> OtherArguments<'a> {
    /// A single operand, which is a tensor or a number.
    pub fn operand(operand: Option<&'a Tensor>) -> OtherArguments<'a> {
        let tensors: Vec<&Tensor> = operand.into_iter().collect();
        OtherArguments { number: tensors.is_empty(), tensors, count: 1, sequence: false }
    }

    /// The first name where there are that many tensors, else the second.
    pub fn named(&self, tensors: usize, enough: &'static str, fewer: &'static str) -> &'static str {
        if self.tensors.len() >= tensors { enough } else { fewer }
    }
}

/// What a method whose name says that it writes does to the numbers of its receiver.
pub enum Changed {
    /// It writes.
    Receiver,
    /// It writes as another operation does, which is given a tensor or a number.
    As(&'static str),
    /// Nothing.
    Nothing,
}

/// Whose words a write gets that has no room for what every sample would write.
pub enum UnbatchedTarget {
    /// Those of an output of the wrong shape.
    Shape,
    /// Those of the rule for batches that arithmetic has.
    Arithmetic,
    /// Those of another rule for batches, by its name.
    Rule(&'static str),
    /// Those of torch's way for operations without a rule.
    Fallback,
    /// Those that the operation finds itself.
    Found,
}

/// What autograd makes of the write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// Nothing is written that would have to be recorded. The name is that which torch refuses by: that of
    /// the operation that writes last, if it is not this one.
    Refused(Option<&'static str>),
    /// The same of an operation that is another one when it is given two tensors.
    RefusedOfTwo(&'static str),
    /// Tensors with a history are not even looked at.
    NotResized,
    /// There is nothing to record.
    None,
    /// The write is recorded, and whoever asks for its derivative is refused. This is the operation.
    Unknown(&'static str),
    /// The copy is recorded, as if it had been asked for.
    Copied,
}

/// Which memory may be written to, given what is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Any.
    Any,
    /// None of what is read.
    Apart,
    /// What is read, in the same order: it is read and written element by element.
    Aligned,
    /// The same of the first tensor, from which the operation goes on.
    OfFirst,
}

/// What is said of a tensor of another shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// That it should not have been given, unless there is nothing in it or the result is made of nothing
    /// but numbers.
    Told,
    /// Nothing.
    Silent,
    /// Nothing if it has as many elements as the result.
    InLine,
    /// The same, and how many elements there are if not.
    Counted,
}

/// How a result gets into a tensor of another shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// As the operation has laid it out.
    AsItLies,
    /// In order: older operations copy element by element what newer ones find in the tensor itself.
    InOrder,
    /// In order, if there is anything in the tensor or it is converted.
    InOrderUnlessEmpty,
    /// By a copy into what is there, which keeps its shape.
    Copied,
}

impl OutPolicy {
    /// That of most operations.
    pub const PLAIN: OutPolicy = OutPolicy {
        history: History::Refused(None),
        memory: Memory::Any,
        once: false,
        types: Types::Cast,
        shape: Shape::Told,
        made: false,
        exact: false,
        placed: Placed::AsItLies,
        resizes_first: false,
        in_place: |_| "",
        out: |_| ".out",
        drawn: |_| false,
        notice: None,
        changed: |_| Changed::Receiver,
        unbatched: |_| UnbatchedTarget::Fallback,
    };
    /// That of operations that read and write element by element.
    pub const ALIGNED: OutPolicy = OutPolicy { memory: Memory::Aligned, ..OutPolicy::PLAIN };
    /// That of operations whose result may show none of the memory of what they read.
    pub const APART: OutPolicy = OutPolicy { memory: Memory::Apart, ..OutPolicy::PLAIN };
    /// That of operations that go on from their first tensor, element by element.
    pub const OF_FIRST: OutPolicy = OutPolicy { memory: Memory::OfFirst, ..OutPolicy::PLAIN };
    /// The same of operations that have no gradients.
    pub const COMPARED: OutPolicy = OutPolicy::ALIGNED.unrecorded();
    /// That of operations that make tensors of nothing but numbers.
    pub const MADE: OutPolicy = OutPolicy { made: true, types: Types::Any, ..OutPolicy::PLAIN };
    /// That of views that are copied.
    pub const VIEWED: OutPolicy = OutPolicy::PLAIN.typed(Types::Same).resizing_first();
    /// That of what torch writes with its one way for joined tensors.
    pub const JOINED: OutPolicy = OutPolicy::APART.typed(Types::Joined);

    /// That of operations that read and write element by element, in one type.
    pub const FOUND: OutPolicy = OutPolicy::ALIGNED.typed(Types::Found);
    /// That of arithmetic, which torch has one overload of in place.
    pub const CALCULATED: OutPolicy =
        OutPolicy::ALIGNED.in_place_as(|_| ".Tensor").unbatched_target(|_| UnbatchedTarget::Arithmetic);

    /// Refuses to be recorded by the name of another operation.
    pub const fn refused_as(self, name: &'static str) -> OutPolicy {
        OutPolicy { history: History::Refused(Some(name)), ..self }
    }

    /// Is another operation when it is given two tensors.
    pub const fn refused_of_two_as(self, name: &'static str) -> OutPolicy {
        OutPolicy { history: History::RefusedOfTwo(name), ..self }
    }

    /// Has no gradients.
    pub const fn unrecorded(self) -> OutPolicy {
        OutPolicy { history: History::None, ..self }
    }

    /// Is not known to torch's formulas when it is given an `out`, under this name of theirs.
    pub const fn unknown(self, name: &'static str) -> OutPolicy {
        OutPolicy { history: History::Unknown(name), ..self }
    }

    /// Calculates first and then copies what it found.
    pub const fn copied(self) -> OutPolicy {
        OutPolicy { history: History::Copied, ..self }
    }

    /// Resizes what it is given, without looking at more.
    pub const fn resizing(self) -> OutPolicy {
        OutPolicy { history: History::NotResized, ..self }
    }

    /// Writes no element twice, also where it would give the tensor another shape.
    pub const fn once(self) -> OutPolicy {
        OutPolicy { once: true, ..self }
    }

    /// Converts as this says.
    pub const fn typed(self, types: Types) -> OutPolicy {
        OutPolicy { types, ..self }
    }

    /// Says this of other shapes.
    pub const fn shaped(self, shape: Shape) -> OutPolicy {
        OutPolicy { shape, ..self }
    }

    /// Converts nothing to what the caller has named.
    pub const fn exact(self) -> OutPolicy {
        OutPolicy { exact: true, ..self }
    }

    /// Gets into tensors of another shape like this.
    pub const fn placed(self, placed: Placed) -> OutPolicy {
        OutPolicy { placed, ..self }
    }

    /// Gives a tensor the shape of the result before it looks at the element type.
    pub const fn resizing_first(self) -> OutPolicy {
        OutPolicy { resizes_first: true, ..self }
    }

    /// Has this overload where it writes in place.
    pub const fn in_place_as(self, in_place: Overload) -> OutPolicy {
        OutPolicy { in_place, ..self }
    }

    /// Has this overload where it writes to `out`.
    pub const fn out_as(self, out: Overload) -> OutPolicy {
        OutPolicy { out, ..self }
    }

    /// Has an overload for a tensor beside the first operand, and one for a number.
    pub const fn overloaded(self) -> OutPolicy {
        self.in_place_as(|given| given.named(1, ".Tensor", ".Scalar"))
            .out_as(|given| given.named(2, ".Tensor_out", ".Scalar_out"))
    }

    /// Has overloads that are named for both operands where it writes to `out`.
    pub const fn out_of_pairs(self) -> OutPolicy {
        self.out_as(|given| given.named(2, ".Tensor_Tensor_out", ".Tensor_Scalar_out"))
    }

    /// Writes what is drawn at random, given this, to `out`.
    pub const fn drawn(self, drawn: fn(&OtherArguments<'_>) -> bool) -> OutPolicy {
        OutPolicy { drawn, ..self }
    }

    /// Tells the host this whenever it writes to `out`.
    pub const fn noticed(self, notice: fn() -> Error) -> OutPolicy {
        OutPolicy { notice: Some(notice), ..self }
    }

    /// Changes this in place.
    pub const fn changing(self, changed: fn(&dyn Arguments) -> Changed) -> OutPolicy {
        OutPolicy { changed, ..self }
    }

    /// Is refused in these words where it has no room for what every sample would write.
    pub const fn unbatched_target(self, unbatched: fn(&OtherArguments<'_>) -> UnbatchedTarget) -> OutPolicy {
        OutPolicy { unbatched, ..self }
    }
}
