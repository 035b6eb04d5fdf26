//! Element types of matrices: of factors, solutions and products, each in the words of its family.

use super::{Conversion, refuse_unless, same};
use pyo3::prelude::*;

/// Matrices that are checked before they are found in the tensor itself.
pub(super) fn safe_matrix(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || format!("{}: {}", c.bare, c.unsafe_cast("result")))
}

/// `safe_matrix` of an operation that torch names by its module.
pub(super) fn safe_linalg(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || format!("linalg.{}: {}", c.bare, c.unsafe_cast("result")))
}

/// `safe_matrix`, then `same`.
pub(super) fn safe_and_same(c: &Conversion<'_>) -> PyResult<()> {
    safe_matrix(c)?;
    same(c)
}

/// Older factorisations.
pub(super) fn safe_result(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || {
        let (name, wanted, is) = (c.bare, c.wanted(), c.is());
        format!(
            "{name}: Expected result to be safely castable from {wanted} dtype, but got result with dtype {is}"
        )
    })
}

/// `safe_result`, by the name of its module.
pub(super) fn reflected(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || {
        let (name, wanted, is) = (c.bare, c.wanted(), c.is());
        format!(
            "torch.linalg.{name}: Expected result to be safely castable from {wanted} dtype, but got result with dtype {is}"
        )
    })
}

/// Eigenvalues.
pub(super) fn eigenvalues(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || format!("torch.linalg.eigvals: {}", c.unsafe_cast("eigenvalues")))
}

/// Eigenvalues and eigenvectors.
pub(super) fn eigenvectors(c: &Conversion<'_>) -> PyResult<()> {
    let part = if c.place == Some(0) { "eigenvalues" } else { "eigenvectors" };
    refuse_unless(c.safe(), || format!("torch.linalg.eig: {}", c.unsafe_cast(part)))
}

/// Reflections of matrices: what may be converted has to be of the type all the same.
pub(super) fn reflections(c: &Conversion<'_>) -> PyResult<()> {
    let part = if c.place == Some(0) { "a" } else { "tau" };
    refuse_unless(c.safe(), || format!("torch.geqrf: {}", c.unsafe_cast(part)))?;
    same(c)
}

/// Products with reflections.
pub(super) fn reflected_product(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{} and result has \
             dtype {}",
            c.wanted(),
            c.is()
        )
    })
}

/// What comes nearest to solutions.
pub(super) fn nearest(c: &Conversion<'_>) -> PyResult<()> {
    let parts = ["solution", "residuals", "rank", "singular_values"];
    let part = c.place.and_then(|place| parts.get(place)).copied().unwrap_or("solution");
    refuse_unless(c.safe(), || format!("torch.linalg.lstsq: {}", c.unsafe_cast(part)))
}

/// Solutions by triangular matrices.
pub(super) fn triangular(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("expected scalar type {} but found {}", c.wanted(), c.is()))
}

/// Products of vectors.
pub(super) fn dot(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("result dtype {} does not match input dtype {}", c.is(), c.wanted()))
}

/// Products of a matrix and a vector.
pub(super) fn vector(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        let wanted = c.wanted();
        format!("addmv input tensors must have the same dtype, but got {}, {wanted}, and {wanted}", c.is())
    })
}

/// Sums of products of matrices.
pub(super) fn batched(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!("self and mat2 must have the same dtype, but got {} and {}", c.is(), c.wanted())
    })
}

/// Products over dimensions.
pub(super) fn contracted(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "tensordot: Expected the output tensor to have dtype {}, but got an output tensor with dtype {}",
            c.wanted(),
            c.is()
        )
    })
}
