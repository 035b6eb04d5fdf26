//! Entries of elementwise operations, which follow from a line beside the block.

use crate::dispatch::operand::Operand;
use crate::error::Result;
use crate::schema::Entry;
use crate::tensor::Tensor;

/// An elementwise operation of one tensor.
pub struct ElementwiseEntry {
    /// The name.
    pub name: &'static str,
    /// The operation.
    pub function: fn(&Tensor) -> Result<Tensor>,
    /// The operation in place.
    pub in_place: fn(&Tensor) -> Result<()>,
    /// The entries of both; none if they stand elsewhere.
    pub entries: &'static [Entry],
}

/// An elementwise operation of two operands. Its entries stand beside it: they differ in what they take.
pub struct Elementwise2Entry {
    /// The name.
    pub name: &'static str,
    /// The operation.
    pub function: fn(Operand<'_>, Operand<'_>) -> Result<Tensor>,
    /// The operation in place of the first operand.
    pub in_place: fn(&Tensor, Operand<'_>) -> Result<()>,
}

/// Makes a function, an in-place function and their entries of each line: `sin, sin_: Sin, "…";` gives `sin(&x)`,
/// `sin_(&x)`, and a row of `ELEMENTWISE`, from which the rest of the house knows the operation. Where entries of its
/// own stand elsewhere, the line ends with `apart`.
macro_rules! elementwise {
    ($($name:ident, $in_place:ident: $op:expr, $doc:literal $(, $apart:ident)?;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(x: &$crate::tensor::Tensor) -> $crate::error::Result<$crate::tensor::Tensor> {
                $crate::dispatch::unary::apply($op, x)
            }
            #[doc = concat!($doc, " In place.")]
            pub fn $in_place(x: &$crate::tensor::Tensor) -> $crate::error::Result<()> {
                $crate::dispatch::unary::apply_in_place($op, x)
            }
        )*
        /// The elementwise operations of one tensor.
        pub const ELEMENTWISE: &[$crate::schema::ElementwiseEntry] = &[
            $($crate::schema::ElementwiseEntry {
                name: stringify!($name),
                function: $name,
                in_place: $in_place,
                entries: $crate::schema::elementwise!(@entries $name, $in_place: $op, $doc $(, $apart)?),
            }),*
        ];
    };
    (@entries $name:ident, $in_place:ident: $op:expr, $doc:literal) => {
        &[
            $crate::schema::both(stringify!($name), $crate::schema::signatures::ONE_OUT, $doc, |a| {
                $crate::schema::of(a, $name)
            })
            .written($crate::dispatch::unary::policy_of(&$op))
            .operators(&[(
                $crate::dispatch::unary::node_of(&$op),
                concat!(stringify!($name), "(Tensor self) -> Tensor"),
            )]),
            $crate::schema::both(
                stringify!($in_place),
                $crate::schema::signatures::ONE,
                concat!($doc, " In place."),
                |a| $crate::schema::receiver_in_own_order(a, $in_place(a.tensor(0)?)),
            ),
        ]
    };
    (@entries $name:ident, $in_place:ident: $op:expr, $doc:literal, $apart:ident) => {
        &[]
    };
}
pub(crate) use elementwise;

/// The same for operations of two operands, without entries: `mul, mul_: Mul, "…";` gives `mul(a, b)`, `mul_(&x, b)`
/// and a row of `ELEMENTWISE2`.
macro_rules! elementwise2 {
    ($($name:ident, $in_place:ident: $op:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub fn $name<'a, A, B>(a: A, b: B) -> $crate::error::Result<$crate::tensor::Tensor>
            where
                A: $crate::dispatch::operand::Argument<'a>,
                B: $crate::dispatch::operand::Argument<'a>,
            {
                // Not generic, so that it is compiled here, and not by whoever calls it again.
                fn compiled(
                    a: $crate::dispatch::operand::Operand<'_>,
                    b: $crate::dispatch::operand::Operand<'_>,
                    own_number: bool,
                ) -> $crate::error::Result<$crate::tensor::Tensor> {
                    $crate::dispatch::binary::apply_to($op, a, b, own_number)
                }
                compiled(a.into(), b.into(), A::OWN_NUMBER || B::OWN_NUMBER)
            }
            #[doc = concat!($doc, " In place of the first.")]
            pub fn $in_place<'a>(
                x: &$crate::tensor::Tensor,
                b: impl Into<$crate::dispatch::operand::Operand<'a>>,
            ) -> $crate::error::Result<()> {
                fn compiled(
                    x: &$crate::tensor::Tensor,
                    b: $crate::dispatch::operand::Operand<'_>,
                ) -> $crate::error::Result<()> {
                    $crate::dispatch::binary::apply_in_place($op, x, b)
                }
                compiled(x, b.into())
            }
        )*
        /// The elementwise operations of two operands.
        pub const ELEMENTWISE2: &[$crate::schema::Elementwise2Entry] = &[
            $($crate::schema::Elementwise2Entry {
                name: stringify!($name),
                function: |a, b| $name(a, b),
                in_place: |x, b| $in_place(x, b),
            }),*
        ];
    };
}
pub(crate) use elementwise2;
