//! The factors of symmetric matrices of either sign. What they are functions of, the host says.

use super::Matrices;
use crate::dispatch::apply::Outputs;
use crate::dispatch::modes::recording;
use crate::dtype::{Complex, DType};
use crate::error::Result;
use crate::kernels::linalg::factor::{Field, indefinite};
use crate::ops::creation::copy;
use crate::schema::{Entry, IntoReply, inner};
use crate::tensor::{Array, Tensor};

/// Both factors in one matrix, the exchanges of rows, and the numbers of blocks that are zero: calculated in double
/// precision.
fn factors(x: &Tensor, hermitian: bool) -> Result<Outputs> {
    recording::as_one("linalg_ldl_factor_ex", &[x], 3, move |given| {
        let found = match given[0].dtype().is_complex() {
            true => factored::<Complex<f64>>(&given[0].array(), hermitian),
            false => factored::<f64>(&given[0].array(), hermitian),
        };
        Ok(found?.into_iter().map(Tensor::from_array).collect())
    })
}

fn factored<T: Field>(array: &Array, hermitian: bool) -> Result<[Array; 3]> {
    let wide = copy::as_type_in_order(array, T::DTYPE)?;
    let a = Matrices::of(&wide)?;
    let mut factors = a.columns(a.rows, a.rows)?;
    let (mut pivots, mut failed) = (a.room(&[a.rows], DType::Int32)?, a.room(&[], DType::Int32)?);
    let room = a.parts::<i32>(&mut pivots).zip(a.numbers(&mut failed));
    a.run(a.each::<T>().zip(a.parts::<T>(&mut factors).zip(room)), |(matrix, (into, (pivots, failed)))| {
        *failed = indefinite::factor(matrix, hermitian, into, pivots);
    });
    let factors = copy::as_type(&factors, array.dtype)?.into_owned();
    Ok([a.by_columns(factors), pivots, failed])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "ldl_factors",
    &["(Tensor input, bool hermitian) -> tuple[Tensor, Tensor, Tensor]"],
    "The factors of symmetric matrices in one, the exchanges of rows, and the numbers of blocks that are zero.",
    |a| factors(a.tensor(0)?, a.boolean(1)).map(|found| found.into_vec()).reply(),
)];
