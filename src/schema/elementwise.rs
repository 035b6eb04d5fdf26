//! Entries of elementwise operations, which follow from a line beside the block.

use crate::dispatch::modes::plain::Row;
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
    /// How it is written as plain data, in place too, and its derivative in one pass; none of one with parameters.
    pub rows: [Option<Row>; 3],
}

/// An elementwise operation of two operands. Its entries stand beside it: they differ in what they take.
pub struct Elementwise2Entry {
    /// The name.
    pub name: &'static str,
    /// The operation.
    pub function: fn(Operand<'_>, Operand<'_>) -> Result<Tensor>,
    /// The operation in place of the first operand.
    pub in_place: fn(&Tensor, Operand<'_>) -> Result<()>,
    /// How it is written as plain data, in place too; none of one with parameters.
    pub rows: [Option<Row>; 2],
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
                rows: $crate::dispatch::unary::portable::rows(
                    [stringify!($name), stringify!($in_place), concat!(stringify!($name), " slope")],
                    &$op,
                    [
                        |_| Ok($crate::dispatch::unary::portable::ready($op, false)),
                        |_| Ok($crate::dispatch::unary::portable::ready($op, true)),
                        |from| $crate::dispatch::unary::portable::ready_slope($op, from),
                    ],
                ),
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
                stringify!($name),
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
                rows: $crate::dispatch::binary::portable::rows(
                    [stringify!($name), stringify!($in_place)],
                    &$op,
                    [
                        |from| $crate::dispatch::binary::portable::ready($op, from),
                        |from| $crate::dispatch::binary::portable::ready_in_place($op, from),
                    ],
                ),
            }),*
        ];
    };
}
pub(crate) use elementwise2;

#[cfg(test)]
mod tests {
    #![expect(unreachable_pub, reason = "the block is written as it would stand among the operations")]

    use super::*;
    use crate::dispatch::batch;
    use crate::dispatch::unary::{Elementwise, Keeps};
    use crate::dtype::Real;
    use crate::engine;
    use crate::ops;
    use crate::schema::{FUNCTION, METHOD, schema_of};
    use crate::tensor::{Mapping, Randomness};

    /// y = x/(1 + |x|),  dy/dx = 1/(1 + |x|)²
    #[derive(Clone, Copy)]
    pub struct Softsign;

    impl Elementwise for Softsign {
        const NAME: &'static str = "softsign";
        const NODE: &'static str = "SoftsignBackward0";
        const KEEPS: Keeps = Keeps::Input;

        fn real<T: Real>(&self, x: T) -> T {
            x / (T::ONE + x.abs())
        }

        fn derivative(&self, x: &Tensor) -> Result<Tensor> {
            let side = ops::add(&ops::abs(x)?, 1.0)?;
            ops::reciprocal(&ops::mul(&side, &side)?)
        }
    }

    elementwise! {
        softsign, softsign_: Softsign, "The softsign of every element: x / (1 + abs(x)).";
    }

    fn numbers(x: &Tensor) -> Vec<f64> {
        x.to_vec::<f64>().unwrap()
    }

    #[test]
    fn the_block_is_the_one_that_contributing_shows() {
        let unindented = |text: &str| text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
        let page = unindented(include_str!("../../CONTRIBUTING.md"));
        let shown = page.split("```rust\n").find(|part| part.contains("struct Softsign")).unwrap();
        let shown = shown.split("```").next().unwrap();
        assert!(
            unindented(include_str!("elementwise.rs")).contains(shown.trim_end()),
            "another block is shown"
        );
    }

    #[test]
    fn a_block_and_its_line_are_a_function_and_a_method_with_all_that_is_said_of_them() {
        let [line] = ELEMENTWISE else { panic!("there is one line") };
        let [plain, in_place] = line.entries else { panic!("there are two entries") };
        for (entry, name) in [(plain, "softsign"), (in_place, "softsign_")] {
            assert_eq!((entry.name, entry.reach), (name, FUNCTION | METHOD));
            assert!(entry.doc.starts_with("The softsign of every element"));
        }
        // From these a host makes what can be called and writes its stubs; the dispatcher has the operator.
        assert_eq!(plain.signatures, ["(Tensor input, *, Tensor out=None)"]);
        assert_eq!(in_place.signatures, ["(Tensor input)"]);
        assert_eq!(plain.operators, [("SoftsignBackward0", "softsign")]);
        assert_eq!(schema_of(plain, "softsign"), "softsign(Tensor self) -> Tensor");
    }

    #[test]
    fn a_block_and_its_line_are_differentiated_and_mapped_over_samples() {
        let x = Tensor::from_slice(&[2, 2], &[1.0, -3.0, 0.0, 0.25]).unwrap();
        x.set_requires_grad(true).unwrap();
        let y = softsign(&x).unwrap();
        assert_eq!(numbers(&y), [0.5, -0.75, 0.0, 0.2]);
        let total = ops::reduction::reduce::sum(&y, None, false, None).unwrap();
        let found =
            engine::grad(&[total], std::slice::from_ref(&x), &[], engine::Options::default()).unwrap();
        assert_eq!(numbers(found[0].as_ref().unwrap()), [0.25, 0.0625, 1.0, 0.64]);

        let mapping = Mapping::open(2, Randomness::Error);
        let sample = batch::enter(&x.detach(), 0, &mapping).unwrap();
        let mapped = softsign(&sample).and_then(|y| batch::leave(&y, 0, &mapping));
        Mapping::close();
        assert_eq!(numbers(&mapped.unwrap()), numbers(&y));

        let z = x.detach();
        let z = ops::creation::cast::clone(&z).unwrap();
        softsign_(&z).unwrap();
        assert_eq!(numbers(&z), numbers(&y));
    }
}
