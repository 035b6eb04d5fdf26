//! Linear algebra of matrices, the last two dimensions of a tensor.

/// How much of a turn in the complex plane counts as none.
const PHASE: f64 = 1e-2;

/// What an expression makes of matrices, with `$T` the type in which these are factored.
macro_rules! factored {
    ($matrices:expr, $T:ident => $body:expr) => {
        if $matrices.dtype.is_complex() {
            type $T = crate::dtype::Complex<f64>;
            $body
        } else {
            type $T = f64;
            $body
        }
    };
}

pub mod cholesky;
pub mod determinant;
pub mod eigen;
pub mod elimination;
pub mod exponential;
pub mod factors;
pub mod norms;
pub mod old_triangular;
pub mod orthogonal;
pub mod pseudo;
pub mod singular;
pub mod solve;
pub mod symmetric;
pub mod triangular;

use crate::dtype::{Complex, DType, Element};
use crate::error::{Error, Result};
use crate::ops::complex::I;
use crate::ops::conjugate::{conj, imag};
use crate::ops::{copy, create, memory_order, mul, neg, part, permute, squeeze, sub, triangle};
use crate::shape::{self, Dims};
use crate::tensor::{Array, Tensor};

/// Matrices as numbers of double precision, real or complex, in which factors are computed whatever the type.
struct Matrices {
    lead: Dims,
    rows: usize,
    columns: usize,
    dtype: DType,
    numbers: Array,
}

impl Matrices {
    fn of(x: &Tensor) -> Result<Matrices> {
        let array = x.array();
        let (&[ref lead @ .., rows, columns], dtype) = (array.layout.shape(), array.dtype) else {
            unreachable!("the number of dimensions was checked")
        };
        let lead = lead.into();
        let wide = if dtype.is_complex() { DType::Complex128 } else { DType::Float64 };
        let wide = copy::as_type(&array, wide)?;
        let numbers = copy::in_order(&wide)?.into_owned();
        Ok(Matrices { lead, rows, columns, dtype, numbers })
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.lead.iter().product()
    }

    /// One after the other.
    fn each<T: Element>(&self) -> impl Iterator<Item = &[T]> {
        let (size, numbers) = (self.rows * self.columns, elements::<T>(&self.numbers));
        (0..self.count()).map(move |item| &numbers[item * size..(item + 1) * size])
    }

    /// A tensor of results of this shape for each matrix, in the type of the matrices.
    fn made<T: Element>(&self, shape: &[usize], numbers: &[T]) -> Result<Tensor> {
        self.made_in(self.dtype, shape, numbers)
    }

    /// `made` of magnitudes: real numbers, whatever the matrices are of.
    fn made_real(&self, shape: &[usize], numbers: &[f64]) -> Result<Tensor> {
        self.made_in(self.dtype.to_real(), shape, numbers)
    }

    /// `made` of matrices that lie column by column.
    fn made_by_columns<T: Element>(&self, shape: &[usize], numbers: &[T]) -> Result<Tensor> {
        memory_order::by_columns(self.made(shape, numbers)?.array()).map(Tensor::from_array)
    }

    fn made_in<T: Element>(&self, dtype: DType, shape: &[usize], numbers: &[T]) -> Result<Tensor> {
        let array = Array::from_slice(&[&self.lead[..], shape].concat(), numbers)?;
        Ok(Tensor::from_array(copy::as_type(&array, dtype)?.into_owned()))
    }
}

/// Refuses factors of sizes that there is no memory for, before anything is calculated.
fn check_room(x: &Tensor, rows: usize, columns: usize) -> Result<()> {
    let mut sizes = shape::signed(x.layout().shape());
    let lead = sizes.len() - 2;
    sizes[lead..].copy_from_slice(&[rows as i64, columns as i64]);
    let wide = if x.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    Array::uninit_shape(&shape::checked_shape(&sizes)?, wide).map(drop)
}

/// The matrix that was the `item`th of so many, in messages.
fn place(item: usize, count: usize) -> String {
    if count > 1 { format!("(Batch element {item}): ") } else { String::new() }
}

/// Zeros, with the last dimension of a tensor on the diagonal.
fn diagonal(x: &Tensor) -> Result<Tensor> {
    triangle::diag_embed(x, 0, -2, -1)
}

/// The unit matrix, of the type of a tensor.
fn unit(side: usize, like: &Tensor) -> Result<Tensor> {
    create::eye(side as i64, side as i64, like.dtype())
}

/// A vector for every matrix as one row of it.
fn as_row(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -2)
}

/// A vector for every matrix as one column of it.
fn as_column(x: &Tensor) -> Result<Tensor> {
    squeeze::unsqueeze(x, -1)
}

/// Estimated nanoseconds to factor matrices: so many passes over each as it has columns, and more.
fn effort(x: &Tensor) -> u64 {
    let (rows, columns) = sides(x);
    8 * x.numel() as u64 * rows.min(columns) as u64
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
fn check_square(x: &Tensor, operation: &'static str) -> Result<usize> {
    let layout = x.layout();
    let &[.., rows, columns] = layout.shape() else {
        return Err(Error::LinearRank { operation }.into());
    };
    if rows != columns {
        return Err(Error::MatrixSquare { operation, rows, columns }.into());
    }
    check_float(x.dtype(), operation)?;
    Ok(rows)
}

/// Refuses what is no floating-point or complex matrix, or many; answers rows and columns.
fn check_matrix(x: &Tensor, operation: &'static str) -> Result<(usize, usize)> {
    if x.ndim() < 2 {
        return Err(Error::LinearRank { operation }.into());
    }
    check_float(x.dtype(), operation)?;
    Ok(sides(x))
}

fn check_float(dtype: DType, operation: &'static str) -> Result<()> {
    match dtype.is_float() || dtype.is_complex() {
        true if dtype.is_half() => check_half(dtype, operation),
        true => Ok(()),
        false => Err(Error::MatrixDType { operation, dtype }.into()),
    }
}

/// Refuses half types, but for what consists of products and sums.
fn check_half(dtype: DType, operation: &'static str) -> Result<()> {
    let operation = match operation {
        "linalg.matrix_norm" | "linalg.matrix_exp" | "linalg.matrix_power" => return Ok(()),
        "linalg.inv" | "linalg.slogdet" | "logdet" => {
            return Err(Error::LowPrecision { operation, dtype }.into());
        }
        "linalg.cholesky" => "cholesky_cpu",
        "cholesky_inverse" => "cholesky_inverse_out_cpu",
        "linalg.det" | "linalg.solve" => "lu_cpu",
        "linalg.eigh" => "linalg_eigh_cpu",
        "linalg.svd" => "linalg_svd_cpu",
        "linalg.qr" | "geqrf" => "geqrf_cpu",
        "linalg.eig" | "linalg.eigvals" => "linalg_eig_out_cpu",
        "linalg.solve_triangular" => "triangular_solve_cpu",
        other => other,
    };
    Err(Error::NotImplementedFor { operation, dtype }.into())
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

/// The type in which matrices are factored: complex ones in double precision only.
fn wide(dtype: DType) -> DType {
    if dtype.is_complex() { DType::Complex128 } else { dtype }
}

/// The elements of an array, in order.
fn elements<T: Element>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the operand was laid out in order"))
}

/// A result in the type of the operand.
fn settled(y: Array, like: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_array(crate::ops::copy::as_type(&y, like.dtype())?.into_owned()))
}

/// `settled` of matrices, which lie column by column.
fn settled_by_columns(y: Array, like: &Tensor) -> Result<Tensor> {
    memory_order::by_columns(settled(y, like)?.array()).map(Tensor::from_array)
}

/// The elements in order, in the type in which matrices are factored.
fn in_order(x: &Tensor) -> Result<Array> {
    let x = x.array();
    let x = crate::ops::copy::as_type(&x, wide(x.dtype))?;
    Ok(crate::ops::copy::in_order(&x)?.into_owned())
}
