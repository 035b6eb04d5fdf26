//! Products of matrices and vectors whose ranks are fixed: `mm`, `bmm`, `mv`; `dot` in `vectors`. Operands of any
//! rank stand in `matmul`, what the rules of all products share in `bilinear`.

pub mod chain;
mod checks;
pub(in crate::ops) mod vectors;

use crate::dispatch::modes::plain::{Row, plain};
use crate::ops::linalg::bilinear;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both};
use std::mem::MaybeUninit;
use std::sync::Arc;

use ndarray::{ArrayView, Axis, Dimension, Ix1, Ix2, Ix3};
use smallvec::smallvec;

pub(crate) use checks::{check_batches, check_mapped, check_matrix_sizes, refuse_bool};
pub use vectors::{dot, vdot};

use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::modes::intercept;
use crate::dispatch::record::{form, records};
use crate::dtype::{DType, Ring};
use crate::error::{Error, Result};
use crate::kernels::linalg::gemm;
use crate::ops::creation::copy;
use crate::ops::geometry::squeeze;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{permute, reshape};
use crate::ops::linalg::bilinear::Product;
use crate::ops::linalg::matmul::matmul;
use crate::ops::mul;
use crate::shape::{Dims, Layout};
use crate::tensor::{Array, Tensor};

/// C = A B for matrices, or for every pair of two batches
///
/// Ā = C̄ Bᵀ, B̄ = Aᵀ C̄
///
/// Each factor counts as it is or transposed, so derivatives are products of the same kind, and no
/// transposed view is made for them.
#[derive(Clone, Copy)]
pub(crate) struct Matrices {
    pub(crate) batched: bool,
    turned: [bool; 2],
    /// Whether the elements of C are to lie column by column.
    by_columns: bool,
}

/// Whether somebody sees how a product of these factors is made: a graph, or whoever is shown operations.
fn is_shown(factors: &[&Tensor]) -> bool {
    intercept::is_active() || records(factors)
}

impl Matrices {
    /// Of two matrices, as they are.
    pub(crate) const TWO: Matrices = Matrices { batched: false, turned: [false; 2], by_columns: false };
    /// Of two batches, as they are.
    pub(crate) const BATCHES: Matrices = Matrices { batched: true, ..Matrices::TWO };

    /// The transposed matrix, or every one of a batch, as torch's rules record it.
    fn transposed(self, x: &Tensor) -> Result<Tensor> {
        if self.batched { permute::transpose(x, 1, 2) } else { permute::t(x) }
    }

    fn turned(self, turned: [bool; 2]) -> Matrices {
        Matrices { turned, by_columns: false, ..self }
    }

    /// The gradient of a factor that lies column by column does so too, as its owner will want it.
    fn laid_out(self, like: &Layout) -> Matrices {
        let by_columns = !self.batched
            && matches!((like.strides(), like.shape()), (&[1, step], &[rows, _]) if step == rows);
        Matrices { by_columns, ..self }
    }
}

impl Product for Matrices {
    const FACTORS: &'static [&'static str] = &["self", "mat2"];

    fn name(&self) -> &'static str {
        if self.batched { "BmmBackward0" } else { "MmBackward0" }
    }

    fn forms(&self) -> Option<[[&'static str; 2]; 2]> {
        let names = [["self_sym_sizes", "self_sym_strides"], ["mat2_sym_sizes", "mat2_sym_strides"]];
        (!self.batched).then_some(names)
    }

    fn compute(&self, a: &Array, b: &Array) -> Result<Array> {
        let [m, _, n] = self.sizes(&a.layout, &b.layout);
        let mut shape: Dims = if self.batched { smallvec![a.layout.shape()[0]] } else { Dims::new() };
        shape.extend(if self.by_columns { [n, m] } else { [m, n] });
        let [left, right] = self.turned;
        let c = match self.by_columns {
            // Cᵀ = Bᵀ Aᵀ
            true => product(&shape, (b, !right), (a, !left))?,
            false => product(&shape, (a, left), (b, right))?,
        };
        if !self.by_columns {
            return Ok(c);
        }
        Ok(c.with_layout(Layout::strided(smallvec![m, n], smallvec![1, m], 0)?))
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(*self))
    }

    fn left(&self, b: &Tensor, g: &Tensor, like: &Layout) -> Result<Tensor> {
        if is_shown(&[b, g]) && self.turned == [false; 2] {
            return match self.laid_out(like).by_columns {
                true => self.transposed(&self.call(b, &self.transposed(g)?)?),
                false => self.call(g, &self.transposed(b)?),
            };
        }
        match self.turned {
            [false, right] => self.turned([false, !right]).laid_out(like).multiply(g, b),
            [true, right] => self.turned([right, true]).laid_out(like).multiply(b, g),
        }
    }

    fn right(&self, a: &Tensor, g: &Tensor, like: &Layout) -> Result<Tensor> {
        if is_shown(&[a, g]) && self.turned == [false; 2] {
            return match self.laid_out(like).by_columns {
                true => self.transposed(&self.call(&self.transposed(g)?, a)?),
                false => self.call(&self.transposed(a)?, g),
            };
        }
        match self.turned {
            [left, false] => self.turned([!left, false]).laid_out(like).multiply(a, g),
            [left, true] => self.turned([true, left]).laid_out(like).multiply(g, a),
        }
    }

    fn batch(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let [left, right] = self.turned;
        match self.by_columns {
            // Cᵀ = Bᵀ Aᵀ
            true => permute::transpose(&matmul(&as_is(b, !right)?, &as_is(a, !left)?)?, -2, -1),
            false => matmul(&as_is(a, left)?, &as_is(b, right)?),
        }
    }

    fn multiplications(&self, a: &Layout, b: &Layout) -> u64 {
        let batch = if self.batched { a.shape()[0] } else { 1 };
        self.sizes(a, b).into_iter().fold(batch as u64, |product, size| product.saturating_mul(size as u64))
    }
}

impl Matrices {
    /// The product. A dispatch subclass is shown it in steps that it knows.
    fn multiply(self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        if !(a.is_subclassed() || b.is_subclassed()) {
            return self.call(a, b);
        }
        let [left, right] = self.turned;
        let plain = Matrices { turned: [false; 2], by_columns: false, ..self };
        match self.by_columns {
            true => as_is(&plain.call(&as_is(b, !right)?, &as_is(a, !left)?)?, true),
            false => plain.call(&as_is(a, left)?, &as_is(b, right)?),
        }
    }

    /// Rows of A, columns of A, columns of B.
    fn sizes(&self, a: &Layout, b: &Layout) -> [usize; 3] {
        let size = |layout: &Layout, turned: bool, axis: usize| {
            let first = layout.ndim() - 2;
            layout.shape()[first + if turned { 1 - axis } else { axis }]
        };
        let [left, right] = self.turned;
        [size(a, left, 0), size(a, left, 1), size(b, right, 1)]
    }
}

/// Whether factors and their product are of one type that products are calculated in, and the product lies without
/// gaps from the start of its memory.
fn is_direct(operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
    let is_alike = |operand: &Lies<'_>| matches!(operand, Lies::Tensor(_, dtype) if *dtype == result.1);
    let is_whole = result.0.offset() == 0 && result.0.end() == result.0.numel();
    is_whole && matches!(result.1, DType::Float32 | DType::Float64) && operands.iter().all(is_alike)
}

impl Direct for Matrices {
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        is_direct(operands, result)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let &[Source::Array(a, ..), Source::Array(b, ..)] = sources else { return Err(misfit()) };
        let [left, right] = self.turned;
        let factors = if self.by_columns { ((b, !right), (a, !left)) } else { ((a, left), (b, right)) };
        dispatch!(float a.dtype, T => {
            target.write(&[a, b], |c| multiply::<T>(factors.0, factors.1, c));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

impl Direct for MatrixVector {
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        is_direct(operands, result)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let &[Source::Array(a, ..), Source::Array(x, ..)] = sources else { return Err(misfit()) };
        dispatch!(float a.dtype, T => {
            let column = fixed::<T, Ix1>((x, false)).insert_axis(Axis(1));
            target.write(&[a, x], |y| gemm::matmul(fixed::<T, Ix2>((a, self.turned)), column, y));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

/// y = A x
///
/// Ā = ȳ xᵀ, x̄ = Aᵀ ȳ
#[derive(Clone, Copy, Default)]
pub(crate) struct MatrixVector {
    turned: bool,
}

impl Product for MatrixVector {
    const FACTORS: &'static [&'static str] = &["self", "vec"];

    fn name(&self) -> &'static str {
        "MvBackward0"
    }

    fn compute(&self, a: &Array, x: &Array) -> Result<Array> {
        let rows = a.layout.shape()[usize::from(self.turned)];
        let column = Layout::strided(
            smallvec![x.layout.shape()[0], 1],
            smallvec![x.layout.strides()[0], 1],
            x.layout.offset(),
        )?;
        product(&[rows], (a, self.turned), (&x.with_layout(column), false))
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(*self))
    }

    fn left(&self, x: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        let (column, row) = if self.turned { (x, g) } else { (g, x) };
        mul(&reshape::reshape_to(column, &[column.numel(), 1])?, row)
    }

    fn right(&self, a: &Tensor, g: &Tensor, _like: &Layout) -> Result<Tensor> {
        if records(&[a, g]) && !self.turned {
            return self.call(&permute::t(a)?, g);
        }
        match a.is_subclassed() || g.is_subclassed() {
            true => MatrixVector { turned: false }.call(&as_is(a, !self.turned)?, g),
            false => MatrixVector { turned: !self.turned }.call(a, g),
        }
    }

    fn batch(&self, a: &Tensor, x: &Tensor) -> Result<Tensor> {
        let y = matmul(&as_is(a, self.turned)?, &squeeze::unsqueeze(x, -1)?)?;
        squeeze::squeeze(&y, Squeezed::One(-1))
    }

    fn multiplications(&self, a: &Layout, _x: &Layout) -> u64 {
        a.numel() as u64
    }
}

/// A matrix or batch of them that counts as transposed, as it is.
fn as_is(a: &Tensor, turned: bool) -> Result<Tensor> {
    match (turned, a.ndim()) {
        (false, _) => Ok(a.clone()),
        (true, 2) if a.is_subclassed() => permute::t(a),
        (true, _) => permute::transpose(a, -2, -1),
    }
}

/// The product of two matrices or batches, each as it is or transposed, in a shape with as many
/// elements. Integers are multiplied as the widest ones: what wraps around there wraps around here.
fn product(shape: &[usize], a: (&Array, bool), b: (&Array, bool)) -> Result<Array> {
    let dtype = a.0.dtype;
    let wide = if dtype.is_float() || dtype.is_complex() { dtype } else { DType::Int64 };
    let mut c = Array::uninit_shape(shape, wide)?;
    let (wide_a, wide_b) = (copy::as_type(a.0, wide)?, copy::as_type(b.0, wide)?);
    let factors = ((&*wide_a, a.1), (&*wide_b, b.1));
    dispatch!(field wide, T => multiply::<T>(factors.0, factors.1, c.fresh()), else {
        multiply::<i64>(factors.0, factors.1, c.fresh());
    });
    if wide == dtype { Ok(c) } else { copy::converted(&c, dtype) }
}

fn multiply<T: Ring>(a: (&Array, bool), b: (&Array, bool), out: &mut [MaybeUninit<T>]) {
    if a.0.layout.ndim() == 3 {
        gemm::batched_matmul(fixed::<T, Ix3>(a), fixed::<T, Ix3>(b), out);
    } else {
        gemm::matmul(fixed::<T, Ix2>(a), fixed::<T, Ix2>(b), out);
    }
}

/// The elements as a view of fixed rank, the last two dimensions swapped if asked for.
fn fixed<T: Ring, D: Dimension>((array, turned): (&Array, bool)) -> ArrayView<'_, T, D> {
    let Some(mut view) = array.view_of_rank::<T, D>() else {
        unreachable!("the caller has checked the ranks")
    };
    if turned {
        let last = view.ndim() - 1;
        view.swap_axes(last - 1, last);
    }
    view
}

/// The product of two matrices.
pub fn mm(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    check_mapped("mm", [2, 2], a, b)?;
    let [left, right] = [a, b].map(form);
    for (form, argument) in [(&left, "self"), (&right, "mat2")] {
        if form.layout.ndim() != 2 {
            return Err(Error::NotMatrix { argument }.into());
        }
    }
    check_matrix_sizes(left.layout.shape(), right.layout.shape())?;
    if left.dtype != right.dtype {
        return Err(Error::MatrixDTypes { dtype1: left.dtype, dtype2: right.dtype }.into());
    }
    refuse_bool(left.dtype, "addmm_impl_cpu_")?;
    Matrices::TWO.call(a, b)
}

/// The products of the matrices of two batches, pair by pair.
pub fn bmm(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    check_mapped("bmm", [3, 3], a, b)?;
    check_batches(a, b)?;
    if a.dtype() != b.dtype() {
        return Err(Error::ScalarTypeExpected { expected: a.dtype(), got: b.dtype() }.into());
    }
    refuse_bool(a.dtype(), "bmm")?;
    Matrices::BATCHES.call(a, b)
}

/// The product of a matrix and a vector.
pub fn mv(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    check_mapped("mv", [2, 1], a, x)?;
    let (matrix, vector) = (a.layout(), x.layout());
    let (&[rows, columns], &[length]) = (matrix.shape(), vector.shape()) else {
        let (ndim1, ndim2) = (matrix.ndim(), vector.ndim());
        return Err(Error::MatrixVectorDimensions { ndim: 1, ndim1, ndim2 }.into());
    };
    if columns != length {
        return Err(Error::MatrixVectorSizes { size: rows, rows, columns, length }.into());
    }
    if a.dtype() != x.dtype() {
        let (dtype, dtype1, dtype2) = (x.dtype(), a.dtype(), x.dtype());
        return Err(Error::MatrixVectorDTypes { dtype, dtype1, dtype2 }.into());
    }
    refuse_bool(a.dtype(), "addmv_impl_cpu")?;
    MatrixVector::default().call(a, x)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("mm", &["(Tensor input, Tensor mat2, *, Tensor out=None)"], "The product of two matrices.", |a| {
        mm(a.tensor(0)?, a.tensor(1)?).reply()
    })
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("MmBackward0", "mm")]),
    both(
        "bmm",
        &["(Tensor input, Tensor mat2, *, Tensor out=None)"],
        "The products of the matrices of two batches.",
        |a| bmm(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("BmmBackward0", "bmm")]),
    both(
        "mv",
        &["(Tensor input, Tensor vec, *, Tensor out=None)"],
        "The product of a matrix and a vector.",
        |a| mv(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Vector))
    .operators(&[("MvBackward0", "mv")]),
    both(
        "dot",
        &["(Tensor input, Tensor tensor, *, Tensor out=None)"],
        "The dot product of two vectors.",
        |a| dot(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Dot).resizing_first()),
    both(
        "vdot",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "The dot product of two vectors, the first conjugated.",
        |a| vdot(a.tensor(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Dot).resizing_first()),
];

plain! {
    struct Matrices { batched, turned, by_columns }
    struct MatrixVector { turned }
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[bilinear::row::<Matrices>("product"), bilinear::row::<MatrixVector>("matrix-vector product")];
