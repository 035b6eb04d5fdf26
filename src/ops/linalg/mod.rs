//! Linear algebra of matrices, the last two dimensions of a tensor.

/// How much of a turn in the complex plane counts as none.
const PHASE: f64 = 1e-2;

/// What an expression makes of numbers of a type, with `$T` for it.
macro_rules! over {
    ($dtype:expr, $T:ident => $body:expr) => {
        dispatch!(field $dtype, $T => $body, else { unreachable!("the type was checked") })
    };
}

pub mod add_products;
pub(crate) mod bilinear;
pub mod cholesky;
pub mod determinant;
pub mod eigen;
pub mod elimination;
pub mod exponential;
pub mod factors;
pub mod indefinite;
pub mod linear;
pub mod matmul;
pub mod norms;
pub mod old_triangular;
pub mod orthogonal;
pub mod products;
pub mod pseudo;
pub mod singular;
pub mod solve;
pub mod sparse;
pub mod symmetric;
pub mod triangular;
mod values_only;

use ndarray::ArrayView2;

use crate::dispatch::modes::recording;
use crate::dtype::{Complex, DType, Element};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::kernels::linalg::factor;
use crate::kernels::linalg::factor::Field;
use crate::ops::complex::I;
use crate::ops::conjugate::{conj, imag};
use crate::ops::creation::copy;
use crate::ops::geometry::{part, permute, squeeze, triangle};
use crate::ops::{mul, neg, sub};
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// Matrices as kernels read them: one after the other, each of which lies row by row or column by column.
struct Matrices {
    lead: Dims,
    rows: usize,
    columns: usize,
    dtype: DType,
    /// In row-major order; transposed, if they lie column by column.
    numbers: Array,
    turned: bool,
}

impl Matrices {
    fn of(array: &Array) -> Result<Matrices> {
        let dtype = array.dtype;
        let &[ref lead @ .., rows, columns] = array.layout.shape() else {
            unreachable!("the number of dimensions was checked")
        };
        let lead: Dims = lead.into();
        let turned = !array.layout.is_contiguous() && exchanged(&array.layout).is_contiguous();
        let numbers = match turned {
            true => array.with_layout(exchanged(&array.layout)),
            false => copy::in_order(array)?.into_owned(),
        };
        Ok(Matrices { lead, rows, columns, dtype, numbers, turned })
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.lead.iter().product()
    }

    /// One after the other.
    fn each<T: Element>(&self) -> impl Iterator<Item = ArrayView2<'_, T>> {
        let size = self.rows * self.columns;
        let numbers = self.numbers.slice::<T>().unwrap_or_else(|| unreachable!("the numbers are in order"));
        let shape = if self.turned { (self.columns, self.rows) } else { (self.rows, self.columns) };
        (0..self.count()).map(move |item| {
            let view = ArrayView2::from_shape(shape, &numbers[item * size..(item + 1) * size]);
            let view = view.unwrap_or_else(|_| unreachable!("there are so many numbers"));
            if self.turned { view.reversed_axes() } else { view }
        })
    }

    /// Room for results of this shape for each matrix.
    fn room(&self, shape: &[usize], dtype: DType) -> Result<Array> {
        let mut sizes = Dims::from_slice(&self.lead);
        sizes.extend_from_slice(shape);
        Array::zeroed(&SharedLayout::contiguous(&sizes)?, dtype)
    }

    /// `room` for matrices that lie column by column, of the type of these.
    fn columns(&self, rows: usize, columns: usize) -> Result<Array> {
        self.room(&[columns, rows], self.dtype)
    }

    /// What was written to such `room` as matrices.
    fn by_columns(&self, array: Array) -> Array {
        array.with_layout(exchanged(&array.layout))
    }

    /// Solutions of equations, of which each lies where its right side lay.
    fn above(&self, solutions: Array) -> Result<Array> {
        if self.rows <= self.columns {
            return Ok(solutions);
        }
        let shape = solutions.layout.shape();
        let room = self.by_columns(self.columns(self.rows, shape[shape.len() - 1])?);
        let part = Layout::strided(shape.into(), room.layout.strides().into(), room.layout.offset())?;
        let placed = room.with_layout(part);
        copy::write(&placed, &solutions)?;
        Ok(placed)
    }

    /// The part of `room` of each matrix.
    fn parts<'a, T: Element>(&self, room: &'a mut Array) -> impl Iterator<Item = &'a mut [T]> + use<'a, T> {
        let numbers = room.owned::<T>();
        let (size, empty) = self.part_of(numbers.len());
        numbers.chunks_exact_mut(size).chain((0..empty).map(|_| <&mut [T]>::default()))
    }

    /// What was written to the part of such `room` of each matrix.
    fn shown<'a, T: Element>(&self, room: &'a Array) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let numbers = room.slice::<T>().unwrap_or_else(|| unreachable!("it lies in order"));
        let (size, empty) = self.part_of(numbers.len());
        numbers.chunks_exact(size).chain((0..empty).map(|_| <&[T]>::default()))
    }

    /// How many of so many numbers belong to each matrix, at least one, and how many matrices have none.
    fn part_of(&self, numbers: usize) -> (usize, usize) {
        match numbers / self.count().max(1) {
            0 => (1, self.count()),
            size => (size, 0),
        }
    }

    /// Calls `body` with each of what belongs to matrices.
    fn run<I: Send>(&self, items: impl Iterator<Item = I>, body: impl Fn(I) + Sync) {
        factor::each(items, self.size(), body);
    }

    /// How many there are, and how many rows and columns they have.
    fn size(&self) -> (usize, usize, usize) {
        (self.count(), self.rows, self.columns)
    }

    /// The part of `room` of each matrix where that is one number.
    fn numbers<'a>(&self, room: &'a mut Array) -> impl Iterator<Item = &'a mut i32> + use<'a> {
        self.parts::<i32>(room).flatten()
    }

    /// The first matrix that has a number that is infinite, or none.
    fn not_finite<T: Field>(&self) -> Option<usize> {
        let numbers = self.numbers.slice::<T>().unwrap_or_else(|| unreachable!("the numbers are in order"));
        if factor::are_finite(numbers) {
            return None;
        }
        let at = numbers.iter().position(|x| !x.magnitude().is_finite())?;
        Some(at / (self.rows * self.columns).max(1))
    }
}

/// The layout of matrices with rows in the place of columns.
fn exchanged(layout: &Layout) -> Layout {
    layout.exchanged(layout.ndim() - 2, layout.ndim() - 1)
}

/// Refuses factors of sizes that there is no memory for, before anything is calculated.
fn check_room(x: &Tensor, rows: usize, columns: usize) -> Result<()> {
    let mut sizes = shape::signed(x.layout().shape());
    let lead = sizes.len() - 2;
    sizes[lead..].copy_from_slice(&[rows as i64, columns as i64]);
    let wide = if x.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    Array::uninit_shape(&shape::checked_shape(&sizes)?, wide).map(drop)
}

/// The matrix that was the `item`th, in messages, if it was one of a batch.
fn place(item: usize, batched: bool) -> String {
    if batched { format!("(Batch element {item}): ") } else { String::new() }
}

/// The first matrix for which a number is not zero, in messages, and that number: the step at which a factorisation
/// came to an end.
fn failed(info: &Tensor) -> Result<Option<(String, usize)>> {
    let array = info.memory();
    let is_zero = |steps: &[i32]| steps.iter().all(|&step| step == 0);
    // Nearly always, and then at once.
    if !mode::special() && array.dtype == DType::Int32 && array.slice().is_some_and(is_zero) {
        return Ok(None);
    }
    let batched = info.ndim() > 0;
    let info = info.to_vec::<i64>()?;
    let item = info.iter().position(|&step| step != 0);
    Ok(item.map(|item| (place(item, batched), info[item] as usize)))
}

/// Refuses, with the error that is made of it, what `failed` finds.
fn refuse_failed(
    info: &Tensor,
    error: impl Fn(String, usize) -> Error + Send + Sync + 'static,
) -> Result<()> {
    if let Some(batch) = info.batch() {
        return refuse_failed(&batch.value, error);
    }
    recording::checked("torch::autograd::Checked", &[info], move |info| match failed(info[0])? {
        Some((place, step)) => Err(error(place, step).into()),
        None => Ok(()),
    })
}

/// Zeros, with the last dimension of a tensor on the diagonal.
fn diagonal(x: &Tensor) -> Result<Tensor> {
    triangle::diag_embed(x, 0, -2, -1)
}

/// A vector for every matrix as one row of it.
fn as_row(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -2)
}

/// A vector for every matrix as one column of it.
fn as_column(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -1)
}

/// Estimated nanoseconds to find the values of matrices: so many passes over each as it has columns.
fn effort(x: &Array) -> u64 {
    let &[.., rows, columns] = x.layout.shape() else { unreachable!("the number of dimensions was checked") };
    x.layout.numel() as u64 * rows.min(columns) as u64
}

/// Rows and columns.
fn sides(x: &Tensor) -> (usize, usize) {
    match *x.layout().shape() {
        [.., rows, columns] => (rows, columns),
        _ => unreachable!("the number of dimensions was checked"),
    }
}

/// The transposed matrices.
fn turned(x: &Tensor) -> Result<Tensor> {
    permute::transpose(x, -2, -1)
}

/// Refuses what is no floating-point or complex square matrix, or many; answers its side.
fn check_square(x: &Tensor, routine: impl Into<Routine>) -> Result<usize> {
    let routine = routine.into();
    let operation = routine.operation;
    let layout = x.layout();
    let &[.., rows, columns] = layout.shape() else {
        return Err(Error::LinearRank { operation }.into());
    };
    if rows != columns {
        return Err(Error::MatrixSquare { operation, rows, columns }.into());
    }
    check_float(x, routine)?;
    Ok(rows)
}

/// Refuses what is no floating-point or complex matrix, or many; answers rows and columns.
fn check_matrix(x: &Tensor, routine: impl Into<Routine>) -> Result<(usize, usize)> {
    let routine = routine.into();
    if x.ndim() < 2 {
        return Err(Error::LinearRank { operation: routine.operation }.into());
    }
    check_float(x, routine)?;
    Ok(sides(x))
}

fn check_float(x: &Tensor, routine: impl Into<Routine>) -> Result<()> {
    let (routine, dtype) = (routine.into(), x.dtype());
    match dtype.is_float() || dtype.is_complex() {
        true if dtype.is_stored() => routine.check_half(x),
        true => Ok(()),
        false => Err(match routine.kernel {
            Some(operation) => Error::NotImplementedFor { operation, dtype }.into(),
            None => Error::MatrixDType { operation: routine.operation, dtype }.into(),
        }),
    }
}

/// What takes matrices, and who in torch is the first to refuse their types, which its messages name.
#[derive(Clone, Copy)]
pub struct Routine {
    operation: &'static str,
    /// The kernel that is the first to look at a type at all.
    kernel: Option<&'static str>,
    half: HalfTypes,
}

/// What becomes of half types.
#[derive(Clone, Copy)]
pub(super) enum HalfTypes {
    /// They are taken: there are but products and sums.
    Taken,
    /// The operation itself refuses them.
    Refused,
    /// The kernel of that name does.
    RefusedBy(&'static str),
    /// So does this, but it is not called where there are no elements.
    ElementsRefusedBy(&'static str),
}

impl Routine {
    /// One that refuses types itself.
    const fn of(operation: &'static str) -> Routine {
        Routine { operation, kernel: None, half: HalfTypes::RefusedBy(operation) }
    }

    const fn half_types(self, half: HalfTypes) -> Routine {
        Routine { half, ..self }
    }

    /// The one that leaves it to this kernel to refuse types.
    const fn refused_by(self, kernel: &'static str) -> Routine {
        Routine { kernel: Some(kernel), half: HalfTypes::RefusedBy(kernel), ..self }
    }

    /// The same, where the kernel is not called if there are no elements, and then refuses no half types.
    const fn elements_refused_by(self, kernel: &'static str) -> Routine {
        Routine { kernel: Some(kernel), half: HalfTypes::ElementsRefusedBy(kernel), ..self }
    }

    fn check_half(self, x: &Tensor) -> Result<()> {
        let (operation, dtype) = (self.operation, x.dtype());
        match self.half {
            HalfTypes::Taken => Ok(()),
            HalfTypes::Refused => Err(Error::LowPrecision { operation, dtype }.into()),
            HalfTypes::ElementsRefusedBy(_) if x.numel() == 0 => Ok(()),
            HalfTypes::ElementsRefusedBy(operation) | HalfTypes::RefusedBy(operation) => {
                Err(Error::NotImplementedFor { operation, dtype }.into())
            }
        }
    }
}

impl From<&'static str> for Routine {
    fn from(operation: &'static str) -> Routine {
        Routine::of(operation)
    }
}

/// The numbers of transposed matrices.
fn turned_numbers(x: &Array) -> Array {
    x.with_layout(exchanged(&x.layout))
}

/// The numbers of transposed matrices with conjugates.
fn adjoint_numbers(x: &Array) -> Array {
    let turned = turned_numbers(x);
    if x.dtype.is_complex() { Array { dtype: x.dtype.conjugated(), ..turned }.resolved() } else { turned }
}

/// The transposed matrices with conjugates.
fn adjoint(x: &Tensor) -> Result<Tensor> {
    conj(turned(x)?)
}

/// How the right sides of equations move whose matrices move too: these take up as much of it.
fn moved_sides(sides: Option<&Tensor>, taken: Option<Tensor>) -> Result<Option<Tensor>> {
    Ok(match (sides, taken) {
        (Some(sides), Some(taken)) => Some(sub(sides, &taken)?),
        (sides, None) => sides.cloned(),
        (None, Some(taken)) => Some(neg(&taken)?),
    })
}

/// The numbers on the diagonal of matrices as far as they are imaginary, times i, as matrices of these.
fn imaginary_diagonal(x: &Tensor) -> Result<Tensor> {
    mul(&diagonal(&imag(&part::diagonal(x, 0, -2, -1)?)?)?, I)
}

/// Refuses gradients that would turn vectors in the complex plane, where these could have any direction.
fn check_phase(turn: &Tensor, failure: Error) -> Result<()> {
    if !turn.dtype().is_complex() {
        return Ok(());
    }
    if let Some(batch) = turn.batch() {
        return check_phase(&batch.value, failure);
    }
    let array = copy::as_type(&turn.array(), DType::Complex128)?.into_owned();
    match array.view::<Complex<f64>>().iter().any(|turn| turn.im.abs() > PHASE) {
        true => Err(failure.into()),
        false => Ok(()),
    }
}
