//! Operations as plain data: what a recorded one is called and what its parameters are, written and read again. A program
//! that was written down somewhere is run elsewhere of that alone (`program::portable`).
//!
//! Note [Plain data]
//! ----
//! A recorded operation is kept as what it is, a value of its own type (`What`). Blocks say beside themselves which of them
//! can be written (`Row`): a row knows one type, its name in files, and how its parameters become bytes and back. Where
//! nobody has a row for a type, programs that have it stay where they are. Elementwise operations without parameters have
//! theirs from the line that declares them.
//!
//! What is read may have been made by anybody. Lengths are held against what is left to read before room is made for
//! them, every number has to be one that could have been written, and tensors among parameters are operands: what is read
//! has none.

use std::any::{Any, TypeId};
use std::sync::Arc;

use smallvec::{Array as Inline, SmallVec};

use crate::dispatch::direct::Direct;
use crate::dispatch::modes::intercept::Compute;
use crate::dispatch::operand::Value;
use crate::dtype::{Complex, DType, Scalar};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::geometry::part;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Outputs, Tensor};

/// A value that is written as bytes.
pub trait Plain: Sized {
    /// Adds it to what is written.
    fn write(&self, to: &mut Vec<u8>);

    /// Reads one that was written so.
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

/// What is left to read.
pub struct Reader<'a> {
    left: &'a [u8],
}

/// What is wrong with bytes that are read.
pub fn damaged(what: &'static str) -> Box<Error> {
    Error::ProgramFileDamaged { what }.into()
}

impl<'a> Reader<'a> {
    /// These bytes are left.
    pub fn new(left: &'a [u8]) -> Reader<'a> {
        Reader { left }
    }

    /// The next ones.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (found, left) = self.left.split_at_checked(count).ok_or_else(|| damaged("it ends too early"))?;
        self.left = left;
        Ok(found)
    }

    /// How many things follow, each of which takes a byte at least.
    pub fn count(&mut self) -> Result<usize> {
        let count = usize::read(self)?;
        if count > self.left.len() {
            return Err(damaged("a length is greater than what follows"));
        }
        Ok(count)
    }

    /// Whether all was read.
    pub fn is_at_the_end(&self) -> bool {
        self.left.is_empty()
    }
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Plain for $kind {
            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut Reader<'_>) -> Result<Self> {
                let bytes = from.bytes(size_of::<$kind>())?;
                bytes.try_into().map(<$kind>::from_le_bytes).map_err(|_| damaged("a number is cut short"))
            }
        }
    )*};
}
numbers!(u8, u32, u64, i64);

impl Plain for f64 {
    fn write(&self, to: &mut Vec<u8>) {
        self.to_bits().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<f64> {
        u64::read(from).map(f64::from_bits)
    }
}

impl Plain for usize {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u64).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<usize> {
        usize::try_from(u64::read(from)?).map_err(|_| damaged("a size cannot be counted with"))
    }
}

impl Plain for bool {
    fn write(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Result<bool> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("a truth value is another number")),
        }
    }
}

impl Plain for String {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<String> {
        let count = from.count()?;
        String::from_utf8(from.bytes(count)?.to_vec()).map_err(|_| damaged("a name is no text"))
    }
}

impl<T: Plain> Plain for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(own) = self {
            own.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Option<T>> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

fn write_all<T: Plain>(all: &[T], to: &mut Vec<u8>) {
    all.len().write(to);
    all.iter().for_each(|own| own.write(to));
}

impl<T: Plain> Plain for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        write_all(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Vec<T>> {
        let count = from.count()?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl<A: Inline> Plain for SmallVec<A>
where
    A::Item: Plain,
{
    fn write(&self, to: &mut Vec<u8>) {
        write_all(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<SmallVec<A>> {
        let count = from.count()?;
        (0..count).map(|_| A::Item::read(from)).collect()
    }
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|own| own.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<[T; N]> {
        let all = (0..N).map(|_| T::read(from)).collect::<Result<Vec<T>>>()?;
        all.try_into().map_err(|_| damaged("a list has another length"))
    }
}

impl<T: Plain, U: Plain> Plain for (T, U) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<(T, U)> {
        Ok((T::read(from)?, U::read(from)?))
    }
}

impl Plain for DType {
    fn write(&self, to: &mut Vec<u8>) {
        self.name().to_owned().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<DType> {
        let name = String::read(from)?;
        DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| damaged("a type is unknown"))
    }
}

impl Plain for Scalar {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Scalar::Bool(value) => (0u8, *value).write(to),
            Scalar::Int(value) => (1u8, *value).write(to),
            Scalar::Unsigned(value) => (2u8, *value).write(to),
            Scalar::Float(value) => (3u8, *value).write(to),
            Scalar::Complex(value) => (4u8, [value.re, value.im]).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Scalar> {
        Ok(match u8::read(from)? {
            0 => Scalar::Bool(bool::read(from)?),
            1 => Scalar::Int(i64::read(from)?),
            2 => Scalar::Unsigned(u64::read(from)?),
            3 => Scalar::Float(f64::read(from)?),
            4 => <[f64; 2]>::read(from).map(|[re, im]| Scalar::Complex(Complex::new(re, im)))?,
            _ => return Err(damaged("a number is of no kind")),
        })
    }
}

/// torch's names of nodes and functions, which are known here.
impl Plain for &'static str {
    fn write(&self, to: &mut Vec<u8>) {
        (*self).to_owned().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<&'static str> {
        let name = String::read(from)?;
        let all = || {
            ops::entries().flat_map(|entry| entry.operators.iter().map(|(node, _)| *node).chain([entry.name]))
        };
        let found = all().find(|known| *known == name);
        found
            .or_else(|| part::EMBEDDED.iter().copied().find(|known| *known == name))
            .ok_or_else(|| damaged("a name is unknown"))
    }
}

/// So many dimensions has a tensor at most.
const MOST_DIMENSIONS: usize = 64;

impl Plain for Layout {
    fn write(&self, to: &mut Vec<u8>) {
        write_all(self.shape(), to);
        write_all(self.strides(), to);
        self.offset().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Layout> {
        let (shape, strides) = (Vec::<usize>::read(from)?, Vec::<usize>::read(from)?);
        if shape.len() != strides.len() || shape.len() > MOST_DIMENSIONS {
            return Err(damaged("a shape has other strides"));
        }
        Layout::strided(shape.into(), strides.into(), usize::read(from)?)
    }
}

impl Plain for SharedLayout {
    fn write(&self, to: &mut Vec<u8>) {
        Layout::write(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<SharedLayout> {
        Layout::read(from).map(SharedLayout::new)
    }
}

/// A tensor among parameters is an operand, which stands in for what is read here.
impl Plain for Tensor {
    fn write(&self, _to: &mut Vec<u8>) {}

    fn read(_from: &mut Reader<'_>) -> Result<Tensor> {
        Array::uninit_shape(&[0], DType::Int64).map(Tensor::from_array)
    }
}

impl<T: Plain> Plain for Arc<[T]> {
    fn write(&self, to: &mut Vec<u8>) {
        write_all(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Arc<[T]>> {
        Vec::read(from).map(Arc::from)
    }
}

impl<T: Plain> Plain for Arc<T> {
    fn write(&self, to: &mut Vec<u8>) {
        T::write(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Arc<T>> {
        T::read(from).map(Arc::new)
    }
}

/// Has the fields of structures written and read, in this order, and the variants of enumerations without fields by their
/// number: the compiler sees that none is missing. Tuples around what is written itself are such, too.
macro_rules! plain {
    ($(tuple $name:ident<$of:ident> ( $($field:tt: $kind:ty),+ );)+) => {$(
        impl<$of: $crate::dispatch::modes::plain::Plain> $crate::dispatch::modes::plain::Plain for $name<$of> {
            fn write(&self, to: &mut Vec<u8>) {
                $($crate::dispatch::modes::plain::Plain::write(&self.$field, to);)+
            }

            fn read(from: &mut $crate::dispatch::modes::plain::Reader<'_>) -> $crate::error::Result<Self> {
                Ok($name($(<$kind as $crate::dispatch::modes::plain::Plain>::read(from)?),+))
            }
        }
    )+};
    ($(struct $name:ident { $($field:ident),* $(,)? })*) => {$(
        impl $crate::dispatch::modes::plain::Plain for $name {
            #[allow(unused_variables)] // There may be no fields.
            fn write(&self, to: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::dispatch::modes::plain::Plain::write($field, to);)*
            }

            #[allow(unused_variables)]
            fn read(from: &mut $crate::dispatch::modes::plain::Reader<'_>) -> $crate::error::Result<Self> {
                Ok($name { $($field: $crate::dispatch::modes::plain::Plain::read(from)?),* })
            }
        }
    )*};
    ($(enum $name:ident { $($variant:ident),* $(,)? })*) => {$(
        impl $crate::dispatch::modes::plain::Plain for $name {
            fn write(&self, to: &mut Vec<u8>) {
                match self { $($name::$variant => $crate::dispatch::modes::plain::Plain::write(&stringify!($variant).to_owned(), to)),* }
            }

            fn read(from: &mut $crate::dispatch::modes::plain::Reader<'_>) -> $crate::error::Result<Self> {
                let name = <String as $crate::dispatch::modes::plain::Plain>::read(from)?;
                $(if name == stringify!($variant) { return Ok($name::$variant); })*
                Err($crate::dispatch::modes::plain::damaged("a choice is unknown"))
            }
        }
    )*};
}
pub(crate) use plain;

/// A recorded operation as a value of its own type, for whoever knows that.
pub type What = Arc<dyn Any + Send + Sync>;

/// A recorded operation that can be made again of its parameters.
pub trait Portable: Plain + Clone + Send + Sync + 'static {
    /// How many of its operands, the first ones, it overwrites.
    const TARGETS: usize = 0;
    /// Whether it succeeds whatever numbers it is given.
    const IS_SURE: bool = false;

    /// Computes it of operands, or writes to the first of them.
    fn compute(&self, operands: &[Value]) -> Result<Outputs>;

    /// How many of its operands it overwrites, where that depends on the parameters.
    fn targets(&self) -> usize {
        Self::TARGETS
    }

    /// What computes it into memory that is there, if that can be.
    fn direct(&self) -> Option<Arc<dyn Direct>> {
        None
    }
}

/// An operation that was read.
pub struct Ready {
    /// What it is.
    pub what: What,
    /// What computes it.
    pub compute: Compute,
    /// The same into memory that is there.
    pub direct: Option<Arc<dyn Direct>>,
    /// How many of its operands, the first ones, it overwrites.
    pub targets: usize,
    /// Whether it succeeds whatever numbers it is given.
    pub is_sure: bool,
}

impl Ready {
    /// One of this type.
    pub(crate) fn of<P: Portable>(own: P) -> Ready {
        let (direct, targets, what) = (own.direct(), own.targets(), Arc::new(own.clone()));
        let compute = Arc::new(move |operands: &[Value]| own.compute(operands));
        Ready { what, compute, direct, targets, is_sure: P::IS_SURE }
    }
}

/// What makes an operation of what is read.
pub(crate) type Read = fn(&mut Reader<'_>) -> Result<Ready>;

/// How operations of one type are written and read.
#[derive(Clone, Copy)]
pub struct Row {
    /// What they are called in files.
    pub name: &'static str,
    pub(crate) kind: fn() -> TypeId,
    pub(crate) write: fn(&dyn Any, &mut Vec<u8>),
    pub(crate) read: Read,
}

impl Row {
    /// Those of a type that is written as its parameters.
    pub(crate) const fn of<P: Portable>(name: &'static str) -> Row {
        Row {
            name,
            kind: TypeId::of::<P>,
            write: |what, to| what.downcast_ref::<P>().into_iter().for_each(|own| own.write(to)),
            read: |from| P::read(from).map(Ready::of),
        }
    }

    /// Whether an operation is of this type.
    pub fn is_of(&self, what: &What) -> bool {
        (**what).type_id() == (self.kind)()
    }

    /// Adds the parameters of an operation of this type to what is written.
    pub fn write(&self, what: &What, to: &mut Vec<u8>) {
        (self.write)(&**what, to);
    }

    /// Reads an operation of this type.
    pub fn read(&self, from: &mut Reader<'_>) -> Result<Ready> {
        (self.read)(from)
    }
}
