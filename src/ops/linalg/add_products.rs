//! Products that are added to something in one operation: `addmm`, `addmv`, `baddbmm`, `addbmm`.

mod entries;

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, portable, single};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::direct::{Beside, Direct, Lies, ROOM, Side, Source, Target, beside, misfit};
use crate::dispatch::in_place;
use crate::dispatch::modes::plain::{Plain, Reader, Row, plain};
use crate::dispatch::record::form;
use crate::dtype::{DType, Ring, Scalar};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::pointwise::{map, zip};
use crate::ops::linalg::bilinear::{
    Factors, Product, effort, gradients_of_factors, keep_factors, show_forms, tangent_of_product,
};
use crate::ops::linalg::products::{
    Matrices, MatrixVector, check_batches, check_mapped, check_matrix_sizes, refuse_bool,
};
use crate::ops::{self, creation::create, geometry::expand, pointwise::arithmetic};
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

pub use entries::ENTRIES;

/// The factors of the two summands.
#[derive(Clone, Copy)]
pub struct Weights {
    /// Of what is added to. Zero leaves it unread.
    pub beta: Scalar,
    /// Of the product.
    pub alpha: Scalar,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { beta: Scalar::Int(1), alpha: Scalar::Int(1) }
    }
}

/// Whether a type that is no integer holds both weights: none but a complex one has a place for an imaginary part.
pub fn check_weights(Weights { beta, alpha }: Weights, dtype: DType) -> Result<()> {
    let held = |weight| create::check_value(weight, dtype.wide());
    if dtype.is_differentiable() { held(beta).and(held(alpha)) } else { Ok(()) }
}

/// Names that a product has when it is added to something.
trait Addable: Product {
    /// torch's name of the node.
    fn added_name(&self) -> &'static str;
    /// torch's names of the factors.
    const ADDED_FACTORS: &'static [&'static str];

    /// `ADDED_FACTORS`, where they depend on the parameters.
    fn added_factors(&self) -> &'static [&'static str] {
        Self::ADDED_FACTORS
    }

    /// torch's names of the sizes and strides of each factor, if the node shows them.
    fn added_forms(&self) -> Option<[[&'static str; 2]; 2]> {
        None
    }
}

impl Addable for Matrices {
    const ADDED_FACTORS: &'static [&'static str] = &["mat1", "mat2"];

    fn added_name(&self) -> &'static str {
        if self.batched { "BaddbmmBackward0" } else { "AddmmBackward0" }
    }

    fn added_factors(&self) -> &'static [&'static str] {
        if self.batched { &["batch1", "batch2"] } else { Self::ADDED_FACTORS }
    }

    fn added_forms(&self) -> Option<[[&'static str; 2]; 2]> {
        let names = [["mat1_sym_sizes", "mat1_sym_strides"], ["mat2_sym_sizes", "mat2_sym_strides"]];
        (!self.batched).then_some(names)
    }
}

impl Addable for MatrixVector {
    const ADDED_FACTORS: &'static [&'static str] = &["mat", "vec"];

    fn added_name(&self) -> &'static str {
        "AddmvBackward0"
    }
}

/// y = βx + α a·b, with x broadcast
///
/// x̄ = βȳ, and the factors get what they get from αȳ
#[derive(Clone)]
struct AddProduct<P> {
    product: P,
    weights: Weights,
}

impl<P: Addable> Op for AddProduct<P> {
    type Saved = Factors;
    const SAVED: &'static [&'static str] = P::ADDED_FACTORS;

    fn name(&self) -> &'static str {
        self.product.added_name()
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.product.added_factors()
    }

    fn shown(&self, kept: &Self::Saved) -> Attributes {
        let mut shown = shown! { alpha: self.weights.alpha, beta: self.weights.beta };
        shown.extend(self.product.added_forms().into_iter().flat_map(|names| show_forms(&kept.0, names)));
        shown
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let mut y = self.product.compute(&inputs[1], &inputs[2])?;
        dispatch!(ring y.dtype, T => add_to::<T>(&mut y, &inputs[0], self.weights)?, else {
            unreachable!("truth values are refused before")
        });
        Ok(smallvec![y])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        let product = self.product.direct()?;
        Some(Arc::new(Added { product, weights: self.weights }))
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep_factors(&self.product, keep, 1)
    }

    fn vjp(&self, kept: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let x = at.needs(0).then(|| arithmetic::times(g, self.weights.beta.conj())).transpose()?;
        let [left, right] = match at.needs(1) || at.needs(2) {
            true if at.tracking => {
                let factors = gradients_of_factors(&self.product, kept, at, g, 1)?;
                let times = |x: Tensor| arithmetic::times(&x, self.weights.alpha.conj());
                let [left, right] = factors.map(|factor| factor.map(times).transpose());
                [left?, right?]
            }
            // One product less.
            true => {
                let g = arithmetic::times(g, self.weights.alpha.conj())?;
                gradients_of_factors(&self.product, kept, at, &g, 1)?
            }
            false => [None, None],
        };
        Ok(smallvec![x, left, right])
    }

    fn jvp(&self, kept: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let tangent = |index: usize| tangents.get(index).and_then(Option::as_ref);
        let x = tangent(0).map(|dx| arithmetic::times(dx, self.weights.beta)).transpose()?;
        let product = tangent_of_product(&self.product, kept, at, [tangent(1), tangent(2)])?
            .map(|product| arithmetic::times(&product, self.weights.alpha))
            .transpose()?;
        let sum = match (x, product) {
            (Some(x), Some(product)) => Some(ops::add(&x, &product)?),
            (x, product) => x.or(product),
        };
        // A tangent is as large as the output, even where only what is broadcast has one.
        let output = at.node.form(0).layout.clone();
        Ok(smallvec![sum.map(|sum| expand::expand_to(&sum, output.shape())).transpose()?])
    }

    fn work(&self, kept: &Self::Saved) -> Option<u64> {
        Some(kept.1.0)
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        effort(&self.product, &inputs[1], &inputs[2])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let [a, b] = [call.inputs[1].moved(0)?, call.inputs[2].moved(0)?];
        let together = call.inputs[1].dim.is_some() || call.inputs[2].dim.is_some();
        let product = match together {
            true => self.product.batch(&a, &b)?,
            false => self.product.call(&a, &b)?,
        };
        let product = Samples { value: product, dim: together.then_some(0) };
        let y = arithmetic::times(&product.value, self.weights.alpha)?;
        if !self.weights.beta.is_true() {
            let y = Samples { value: y, ..product }.front(call.size)?;
            return Ok(smallvec![Samples::first(y)]);
        }
        let x = arithmetic::times(&call.inputs[0].aligned(product.rank())?, self.weights.beta)?;
        Ok(smallvec![Samples::first(ops::add(&x, &y)?)])
    }
}

/// A product that is computed into memory that is there, and added to something that goes with its rows.
struct Added {
    product: Arc<dyn Direct>,
    weights: Weights,
}

impl Direct for Added {
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        let [Lies::Tensor(x, dtype), factors @ ..] = operands else { return false };
        let goes = matches!(beside(x, result.0), Some(Beside::Each | Beside::All | Beside::Row(_)));
        goes && *dtype == result.1 && result.0.is_plain() && self.product.takes(factors, result)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let [Source::Array(added, ..), factors @ ..] = sources else { return Err(misfit()) };
        self.product.compute(factors, target)?;
        let how = beside(&added.layout, &target.array.layout).ok_or_else(misfit)?;
        let added = Source::Array(added, 0, how);
        dispatch!(float target.array.dtype, T => {
            let x = Side::<T>::of(&added, target.count)?;
            let add = if x.length().is_some() { add_by_rows::<T> } else { add_along::<T> };
            target.array.overwrite_slice::<T>(added.array(), |y| add(y, x, self.weights));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

/// βx + αy
fn sum_of<T: Ring>(Weights { beta, alpha }: Weights) -> impl Fn(T, T) -> T + Copy + Sync {
    let read = beta.is_true();
    let (beta, alpha): (T, T) = (beta.to(), alpha.to());
    move |y, x| {
        let x = if read { x.mul(beta) } else { T::ZERO };
        x.add(y.mul(alpha))
    }
}

/// y ← βx + αy of elements in rows. Not inlined: what short rows need room for is not made where there are none.
#[inline(never)]
fn add_by_rows<T: Ring>(y: &mut [T], x: Side<'_, T>, weights: Weights) {
    let mut long = [T::ZERO; ROOM];
    let x = x.lengthened(y.len(), &mut long);
    let length = x.length().unwrap_or(y.len()).max(1);
    let rows = y.chunks_mut(length).enumerate();
    rows.for_each(|(index, y)| add_along(y, x.row(index, length, y.len()), weights));
}

/// y ← βx + αy of elements in a row.
fn add_along<T: Ring>(y: &mut [T], x: Side<'_, T>, weights: Weights) {
    let sum = sum_of::<T>(weights);
    match x {
        Side::Each(x) | Side::Row(x) => zip::zip_slice_in_place(y, x, sum),
        Side::All(x) => map::map_slice_in_place(y, move |y| sum(y, x)),
        // The only row.
        Side::Column(..) | Side::Apart(_) => add_along(y, x.row(0, y.len(), y.len()), weights),
    }
}

/// So many elements at most are added to row by row: there is nothing in it for several threads.
const FEW: usize = 1 << 12;

/// y ← βx + αy for a product y, which nobody else has a handle to, and an x that is broadcast.
fn add_to<T: Ring>(y: &mut Array, x: &Array, weights: Weights) -> Result<()> {
    let sum = sum_of::<T>(weights);
    let columns = y.layout.shape().last().copied().unwrap_or(0);
    // As a layer's bias is.
    let row = x.slice::<T>().filter(|row| row.len() == columns && x.layout.shape().last() == Some(&columns));
    match row {
        Some(row) if !row.is_empty() && y.layout.numel() <= FEW => {
            let rows = y.owned::<T>().chunks_exact_mut(columns);
            rows.for_each(|y| y.iter_mut().zip(row).for_each(|(y, &x)| *y = sum(*y, x)));
        }
        _ => {
            let x = x.expanded(y.layout.shape())?;
            zip::zip_in_place(y.owned::<T>(), &x.strided::<T>(), sum);
        }
    }
    Ok(())
}

/// `βx + α ab` for matrices a and b.
pub fn addmm(x: &Tensor, a: &Tensor, b: &Tensor, weights: Weights) -> Result<Tensor> {
    check_mapped("mm", [2, 2], a, b)?;
    let shape = check_addmm(x, a, b)?;
    expand::check(x, &shape)?;
    apply_one(AddProduct { product: Matrices::TWO, weights }, &[x, a, b])
}

/// `addmm` in place of x.
pub fn addmm_(x: &Tensor, a: &Tensor, b: &Tensor, weights: Weights) -> Result<()> {
    in_place::through(x, &[a, b], |x| {
        check_whole(x, &check_addmm(x, a, b)?)?;
        addmm(x, a, b, weights)
    })
}

/// Whether a product can be added to x in place.
fn check_whole(x: &Tensor, product: &[usize]) -> Result<()> {
    let layout = x.layout();
    if layout.shape() == product {
        return Ok(());
    }
    Err(Error::ProductInPlace { input: layout.shape().to_vec(), output: product.to_vec() }.into())
}

fn check_addmm(x: &Tensor, a: &Tensor, b: &Tensor) -> Result<[usize; 2]> {
    let [left, right] = [a, b].map(form);
    let (dtype, dtype2) = (x.dtype(), right.dtype);
    if dtype != dtype2 {
        return Err(Error::AddmmDTypes { dtype1: dtype, dtype2 }.into());
    }
    if left.dtype != dtype2 {
        return Err(Error::LinearDTypes { dtype1: left.dtype, dtype2 }.into());
    }
    for (form, argument) in [(&left, "mat1"), (&right, "mat2")] {
        if form.layout.ndim() != 2 {
            return Err(Error::MatrixRank { argument, ndim: form.layout.ndim() }.into());
        }
    }
    check_matrix_sizes(left.layout.shape(), right.layout.shape())?;
    refuse_bool(left.dtype, "addmm_impl_cpu_")?;
    Ok([left.layout.shape()[0], right.layout.shape()[1]])
}

/// `βx + α av` for a matrix a and a vector v.
pub fn addmv(x: &Tensor, a: &Tensor, v: &Tensor, weights: Weights) -> Result<Tensor> {
    check_mapped("mv", [2, 1], a, v)?;
    check_addmv(x, a, v)?;
    refuse_bool(a.dtype(), "addmv_impl_cpu")?;
    apply_one(AddProduct { product: MatrixVector::default(), weights }, &[x, a, v])
}

/// `addmv` in place of x.
pub fn addmv_(x: &Tensor, a: &Tensor, v: &Tensor, weights: Weights) -> Result<()> {
    in_place::through(x, &[a, v], |x| {
        check_whole(x, &[check_addmv(x, a, v)?])?;
        addmv(x, a, v, weights)
    })
}

/// How long the product of a matrix and a vector is to which x is added.
fn check_addmv(x: &Tensor, a: &Tensor, v: &Tensor) -> Result<usize> {
    let [added, matrix, vector] = [x, a, v].map(Tensor::layout);
    let (&[rows, columns], &[length], true) = (matrix.shape(), vector.shape(), added.ndim() <= 1) else {
        let [ndim, ndim1, ndim2] = [added, matrix, vector].map(|layout| layout.ndim());
        return Err(Error::MatrixVectorDimensions { ndim, ndim1, ndim2 }.into());
    };
    let size = added.numel();
    if columns != length || size != rows && size != 1 {
        return Err(Error::MatrixVectorSizes { size, rows, columns, length }.into());
    }
    let [dtype, dtype1, dtype2] = [x, a, v].map(Tensor::dtype);
    if dtype != dtype1 || dtype1 != dtype2 {
        return Err(Error::MatrixVectorDTypes { dtype, dtype1, dtype2 }.into());
    }
    Ok(rows)
}

/// `βx + α ab` for every pair of matrices of two batches a and b.
pub fn baddbmm(x: &Tensor, a: &Tensor, b: &Tensor, weights: Weights) -> Result<Tensor> {
    check_mapped("bmm", [3, 3], a, b)?;
    check_added(x, a, b)?;
    check_batches(a, b)?;
    let [dtype, dtype1, dtype2] = [x, a, b].map(Tensor::dtype);
    if dtype != dtype1 || dtype1 != dtype2 {
        return Err(Error::BatchDTypes { dtype, dtype1, dtype2 }.into());
    }
    refuse_bool(a.dtype(), "bmm")?;
    apply_one(AddProduct { product: Matrices::BATCHES, weights }, &[x, a, b])
}

/// `baddbmm` in place of x.
pub fn baddbmm_(x: &Tensor, a: &Tensor, b: &Tensor, weights: Weights) -> Result<()> {
    in_place::through(x, &[a, b], |x| {
        check_added(x, a, b)?;
        check_batches(a, b)?;
        let (left, right) = (a.layout(), b.layout());
        check_whole(x, &[left.shape()[0], left.shape()[1], right.shape()[2]])?;
        baddbmm(x, a, b, weights)
    })
}

/// Whether x can be shown as large as the product of two batches, if they are such.
fn check_added(x: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (left, right) = (a.layout(), b.layout());
    match (left.shape(), right.shape()) {
        (&[count, rows, ..], &[_, _, columns, ..]) => expand::check(x, &[count, rows, columns]),
        _ => Ok(()),
    }
}

plain! {
    struct Weights { beta, alpha }
}

impl<P: Plain> Plain for AddProduct<P> {
    fn write(&self, to: &mut Vec<u8>) {
        self.product.write(to);
        self.weights.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(AddProduct { product: P::read(from)?, weights: Weights::read(from)? })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[portable::row::<AddProduct<Matrices>>("addmm"), portable::row::<AddProduct<MatrixVector>>("addmv")];
