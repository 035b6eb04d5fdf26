//! Systems of linear equations, and inverse matrices.

use smallvec::smallvec;

use super::{
    adjoint, check_float, check_square, elements, in_order, moved_sides, settled_by_columns, turned,
};
use crate::dtype::Complex;
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown, mode};
use crate::kernels::factor;
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::matmul::matmul;
use crate::ops::{create, neg, squeeze, view};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// A x = b
///
/// dx = A⁻¹ (db - dA x), b̄ = A⁻ᵀ x̄, Ā = -b̄ xᵀ
#[derive(Clone)]
struct Solve {
    /// Whether it is A x = b, not x A = b, which is the same of transposes.
    left: bool,
    /// Whether b is a vector for each matrix, not a matrix.
    vector: bool,
    /// Whether matrices that have no inverse are refused. What they lead to otherwise is infinite, or no numbers.
    checked: bool,
}

impl Solve {
    /// Of the matrices as columns.
    const PLAIN: Solve = Solve { left: true, vector: false, checked: true };

    fn matrix(&self, a: &Tensor) -> Result<Tensor> {
        if self.left { Ok(a.clone()) } else { turned(a) }
    }

    /// A right side or solutions as a matrix.
    fn widened(&self, b: &Tensor) -> Result<Tensor> {
        if self.vector { squeeze::unsqueeze(b, if self.left { -1 } else { -2 }) } else { Ok(b.clone()) }
    }

    /// A matrix as the right side and the solutions are.
    fn narrowed(&self, x: &Tensor) -> Result<Tensor> {
        let dim = squeeze::Squeezed::One(if self.left { -1 } else { -2 });
        if self.vector { squeeze::squeeze(x, dim) } else { Ok(x.clone()) }
    }

    /// A right side or solutions as columns.
    fn columns(&self, b: &Tensor) -> Result<Tensor> {
        self.matrix(&self.widened(b)?)
    }

    /// Columns as the right side and the solutions are.
    fn given(&self, x: &Tensor) -> Result<Tensor> {
        self.narrowed(&self.matrix(x)?)
    }
}

/// The numbers of the solutions, for batches of one shape. `operation` refuses matrices that have no inverse.
fn numbers<T: factor::Field>(a: &Array, b: &Array, operation: Option<&'static str>) -> Result<Array> {
    let shape = b.layout.shape();
    let (n, columns) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let mut x = Vec::with_capacity(b.layout.numel());
    let batch: usize = shape[..shape.len() - 2].iter().product();
    for item in 0..batch {
        let matrix = &elements::<T>(a)[item * n * n..(item + 1) * n * n];
        let right = &elements::<T>(b)[item * n * columns..(item + 1) * n * columns];
        let factors = factor::eliminate(matrix, n);
        if let (Some(operation), Some(step)) = (operation, factors.singular()) {
            let place = if batch > 1 { format!("(Batch element {item}): ") } else { String::new() };
            return Err(match operation {
                "linalg.inv" => Error::InverseSingular { place, step: step + 1 }.into(),
                _ => Error::SolveSingular { place }.into(),
            });
        }
        x.extend(factors.solve(right, columns));
    }
    Array::from_slice(shape, &x)
}

/// Both with the same leading dimensions.
pub(super) fn broadcast(a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (left, right) = (a.layout(), b.layout());
    let split = |shape: &[usize]| (shape[..shape.len() - 2].to_vec(), shape[shape.len() - 2..].to_vec());
    let ((a_lead, a_end), (b_lead, b_end)) = (split(left.shape()), split(right.shape()));
    let lead = shape::broadcast(&a_lead, &b_lead)?;
    if a_lead == b_lead {
        return Ok((a.clone(), b.clone()));
    }
    let whole = |end: Vec<usize>| shape::signed(&[lead.to_vec(), end].concat());
    Ok((view::expand(a, &whole(a_end))?, view::expand(b, &whole(b_end))?))
}

impl Op for Solve {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["A", "result"];

    fn name(&self) -> &'static str {
        "LinalgSolveExBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("left", Shown::Bool(self.left)), ("LU", Shown::Computed), ("pivots", Shown::Computed)]
    }

    fn compute(&self, name: &str, [a, _]: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        super::determinant::factored(name, &at.load(a)?)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let (a, b) = (self.matrix(&inputs[0].detach())?, self.columns(&inputs[1].detach())?);
        let (a, b) = (in_order(&a)?, in_order(&b)?);
        let operation = self.checked.then_some("torch.linalg.solve");
        let x = dispatch!(float a.dtype, T => numbers::<T>(&a, &b, operation)?, else {
            numbers::<Complex<f64>>(&a, &b, operation)?
        });
        // Solutions from the left lie column by column, those from the right row by row: turned, as they are found.
        Ok(smallvec![Tensor::from_array(self.given(&settled_by_columns(x, inputs[0])?)?.array())])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, x, g) = (at.load(a)?, self.widened(&at.load(x)?)?, self.widened(single(gradients))?);
        let right = apply_one(Solve { vector: false, ..*self }, &[&adjoint(&a)?, &g])?;
        let product = || match self.left {
            true => matmul(&right, &adjoint(&x)?),
            false => matmul(&adjoint(&x)?, &right),
        };
        let left = at.needs(0).then(|| neg(&product()?)).transpose()?;
        Ok(smallvec![left, at.needs(1).then(|| self.narrowed(&right)).transpose()?])
    }

    fn jvp(&self, [a, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, x) = (self.matrix(&at.load(a)?)?, self.columns(&at.load(x)?)?);
        let moved = tangents[0].as_ref().map(|a| matmul(&self.matrix(a)?, &x)).transpose()?;
        let of_right = tangents[1].as_ref().map(|b| self.columns(b)).transpose()?;
        let Some(right) = moved_sides(of_right.as_ref(), moved)? else { return Ok(smallvec![None]) };
        one(self.given(&apply_one(Solve { checked: self.checked, ..Solve::PLAIN }, &[&a, &right])?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The solutions of `a x = b`, or of `x a = b` if not `left`.
pub fn solve(a: &Tensor, b: &Tensor, left: bool) -> Result<Tensor> {
    check_float(a.dtype(), "linalg.solve")?;
    let n = check_square(a, "linalg.solve")?;
    if a.dtype() != b.dtype() {
        return Err(Error::SolveDTypes { left: a.dtype(), right: b.dtype() }.into());
    }
    let (a_layout, b_layout) = (a.layout(), b.layout());
    let lead = &a_layout.shape()[..a_layout.ndim() - 1];
    let vector = b_layout.ndim() == 1 || b_layout.ndim() + 1 == a_layout.ndim() && b_layout.shape() == lead;
    if !vector && b_layout.ndim() < 2 {
        return Err(Error::LinearArgumentRank { operation: "linalg.solve", argument: "B" }.into());
    }
    let solve = Solve { left, vector, ..Solve::PLAIN };
    let (rows, width) = {
        let shape = b_layout.shape();
        match (vector, left) {
            (true, _) => (shape[shape.len() - 1], 1),
            (_, true) => (shape[shape.len() - 2], shape[shape.len() - 1]),
            _ => (shape[shape.len() - 1], shape[shape.len() - 2]),
        }
    };
    if rows != n {
        return Err(Error::SolveShapes { side: n, rows, columns: width }.into());
    }
    if vector {
        let b = match b_layout.shape() == lead {
            true => b.clone(),
            false => view::expand(b, &shape::signed(lead))?,
        };
        return apply_one(solve, &[a, &b]);
    }
    let (matrix, right) = broadcast(a, b)?;
    apply_one(solve, &[&matrix, &right])
}

/// The solutions of `a x = b` of matrices of one batch, infinite or no numbers where there are none.
pub(super) fn solve_unchecked(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    apply_one(Solve { checked: false, ..Solve::PLAIN }, &[a, b])
}

/// y = A⁻¹
///
/// dy = -y dA y, Ā = -yᵀ ȳ yᵀ
#[derive(Clone)]
struct Inverse;

impl Op for Inverse {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["inverse"];

    fn name(&self) -> &'static str {
        "LinalgInvExBackward0"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        let side = a.layout.shape()[a.layout.ndim() - 1] as i64;
        let unit = create::eye(side, side, a.dtype)?;
        let unit = in_order(&view::expand(&unit, &shape::signed(a.layout.shape()))?)?;
        let operation = Some("linalg.inv");
        let y = dispatch!(float a.dtype, T => numbers::<T>(&a, &unit, operation)?, else {
            numbers::<Complex<f64>>(&a, &unit, operation)?
        });
        Ok(smallvec![settled_by_columns(y, inputs[0])?])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let y = at.load(saved)?;
        one(neg(&matmul(&adjoint(&y)?, &matmul(single(gradients), &adjoint(&y)?)?)?)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let y = at.load(saved)?;
        one(neg(&matmul(&matmul(&y, tangent(tangents))?, &y)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The inverse matrices.
pub fn inverse(a: &Tensor) -> Result<Tensor> {
    check_square(a, "linalg.inv")?;
    apply_one(Inverse, &[a])
}

/// Products of a matrix with itself; negative powers are those of the inverse.
pub fn matrix_power(a: &Tensor, power: i64) -> Result<Tensor> {
    let side = check_square(a, "linalg.matrix_power")? as i64;
    if power == 1 {
        return crate::ops::cast::clone(a);
    }
    let base = if power < 0 { inverse(a)? } else { a.clone() };
    if power == 0 {
        let unit = create::eye(side, side, a.dtype())?;
        let result = crate::ops::cast::clone(a)?;
        crate::ops::cast::copy_(&result, &unit)?;
        return Ok(result);
    }
    if power == 3 {
        return matmul(&matmul(a, a)?, a);
    }
    let (mut rest, mut square, mut result) = (power.unsigned_abs(), base, None::<Tensor>);
    loop {
        if rest & 1 == 1 {
            result = Some(match result {
                Some(result) => matmul(&result, &square)?,
                None => square.clone(),
            });
        }
        rest >>= 1;
        match (rest, result) {
            (0, Some(result)) => return Ok(result),
            (_, kept) => result = kept,
        }
        square = matmul(&square, &square)?;
    }
}
