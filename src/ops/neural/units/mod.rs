//! Activations: elementwise units, and those with parameters or gates.

pub mod activation;
pub mod gated;
pub mod prelu;
pub mod rectifiers;
pub mod smooth_units;

use crate::dtype::Scalar;
use crate::error::Result;
use crate::ops::creation::create;
use crate::schema::Arguments;

/// A parameter of a unit, which the type has to hold that the tensor is calculated in.
fn parameter(a: &dyn Arguments, index: usize) -> Result<Scalar> {
    let number = a.number(index)?;
    create::check_value(number, a.tensor(0)?.dtype().wide())?;
    Ok(number)
}
