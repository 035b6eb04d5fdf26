//! Systems of linear equations, and inverse matrices.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::signatures::{MATRIX, ONE_OUT};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both, inner};
use smallvec::smallvec;

use super::elimination::lu_solve;
use super::turned_numbers;
use super::{
    HalfTypes, Matrices, Routine, adjoint, check_float, check_square, moved_sides, refuse_failed, turned,
};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, single, tangent, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::dispatch::view;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::kernels::linalg::factor::elimination;
use crate::kernels::linalg::factor::elimination::{Eliminated, Inverted, System};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::part;
use crate::ops::geometry::part::Part;
use crate::ops::geometry::squeeze;
use crate::ops::linalg::matmul::matmul;
use crate::ops::neg;
use crate::shape;
use crate::tensor::{Array, Tensor};

/// A x = b
///
/// dx = A⁻¹ (db - dA x), b̄ = A⁻ᵀ x̄, Ā = -b̄ xᵀ
///
/// Beside the solutions it gives the triangles and pivots of elimination, by which gradients that are not recorded
/// are had without another, and zero, or the step at which nothing was left to divide by: solutions are then infinite,
/// or no numbers.
#[derive(Clone)]
struct Solve {
    /// Whether it is A x = b, not x A = b, which is the same of transposes.
    left: bool,
    /// Whether b is a vector for each matrix, not a matrix.
    vector: bool,
}

impl Solve {
    /// Of the matrices as columns.
    const PLAIN: Solve = Solve { left: true, vector: false };

    /// The solutions, and where elimination came to an end.
    fn solved(self, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
        let mut outputs = apply(self, &[a, b])?;
        match outputs.pop() {
            Some(info) => Ok((outputs.swap_remove(0), info)),
            None => unreachable!("the operation has four outputs"),
        }
    }

    /// The solutions, infinite or no numbers where there are none.
    fn solution(self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.solved(a, b).map(|(x, _)| x)
    }

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

/// The leading dimensions, and those of matrices.
fn split(shape: &[usize]) -> (&[usize], &[usize]) {
    shape.split_at(shape.len() - 2)
}

/// Both with the same leading dimensions.
pub(super) fn broadcast(a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let (left, right) = (a.layout(), b.layout());
    let ((a_lead, a_end), (b_lead, b_end)) = (split(left.shape()), split(right.shape()));
    if a_lead == b_lead {
        return Ok((a.clone(), b.clone()));
    }
    let lead = shape::broadcast(a_lead, b_lead)?;
    let whole = |end: &[usize]| shape::signed(&[&lead, end].concat());
    Ok((view::expand(a, &whole(a_end))?, view::expand(b, &whole(b_end))?))
}

impl Op for Solve {
    type Saved = [SavedTensor; 4];
    const SAVED: &'static [&'static str] = &["A", "result", "", ""];

    fn name(&self) -> &'static str {
        "LinalgSolveExBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("left", Shown::Bool(self.left)), ("LU", Shown::Computed), ("pivots", Shown::Computed)]
    }

    fn compute(&self, name: &str, [a, ..]: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        super::determinant::factored(name, &at.load(a)?)
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        4
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) / 8
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        // Of x A = b the transposes are solved for, and a vector is a column.
        let seen = |x: &Array| if self.left { x.clone() } else { turned_numbers(x) };
        let dim = inputs[1].layout.ndim() - usize::from(!self.left);
        let b = if self.vector { squeeze::with_one(&inputs[1], dim)? } else { inputs[1].clone() };
        let (a, b) = (Matrices::of(&seen(&inputs[0]))?, Matrices::of(&seen(&b))?);
        let mut x = b.columns(b.rows, b.columns)?;
        let (mut triangles, mut pivots) = (a.columns(a.rows, a.rows)?, a.room(&[a.rows], DType::Int32)?);
        let mut steps = a.room(&[], DType::Int32)?;
        over!(a.dtype, T => {
            let left = a.parts::<T>(&mut triangles).zip(a.parts::<i32>(&mut pivots));
            let right = a.parts::<T>(&mut x).zip(a.numbers(&mut steps));
            let all = a.each::<T>().zip(b.each::<T>()).zip(left.zip(right));
            let all = all.map(|((matrix, right), ((triangles, pivots), (solutions, step)))| {
                System { left: Eliminated { matrix, triangles, pivots }, right, solutions, step }
            });
            elimination::solve_each(all, (a.count(), a.rows, a.rows.max(b.columns)));
        });
        // Solutions from the left lie column by column, those from the right row by row: turned, as they are found.
        let x = seen(&b.by_columns(x));
        let x = if self.vector { Part::Select { dim, index: 0 }.of(&x)? } else { x };
        Ok(smallvec![x, a.by_columns(triangles), pivots, steps])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0), keep.constant(1), keep.constant(2)]
    }

    fn vjp(&self, [a, x, lu, pivots]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, x, g) = (at.load(a)?, self.widened(&at.load(x)?)?, self.widened(single(gradients))?);
        let right = match recording::is_undivided(&[&a, &g]) {
            true => {
                self.matrix(&lu_solve(&at.load(lu)?, &at.load(pivots)?, &self.matrix(&g)?, true, true)?)?
            }
            false => Solve { vector: false, ..*self }.solution(&adjoint(&a)?, &g)?,
        };
        let product = || match self.left {
            true => matmul(&right, &adjoint(&x)?),
            false => matmul(&adjoint(&x)?, &right),
        };
        let left = at.needs(0).then(|| neg(&product()?)).transpose()?;
        Ok(smallvec![left, at.needs(1).then(|| self.narrowed(&right)).transpose()?])
    }

    fn jvp(&self, [a, x, ..]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, x) = (self.matrix(&at.load(a)?)?, self.columns(&at.load(x)?)?);
        let moved = tangents[0].as_ref().map(|a| matmul(&self.matrix(a)?, &x)).transpose()?;
        let of_right = tangents[1].as_ref().map(|b| self.columns(b)).transpose()?;
        let Some(right) = moved_sides(of_right.as_ref(), moved)? else {
            return Ok(smallvec![None, None, None, None]);
        };
        let moved = self.given(&Solve::PLAIN.solution(&a, &right)?)?;
        Ok(smallvec![Some(moved), None, None, None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The solutions of `a x = b`, or of `x a = b` if not `left`.
pub fn solve(a: &Tensor, b: &Tensor, left: bool) -> Result<Tensor> {
    let (x, info) = solve_ex(a, b, left)?;
    check_solution(&info, "torch.linalg.solve")?;
    Ok(x)
}

/// Refuses equations without a solution.
pub fn check_solution(info: &Tensor, operation: &'static str) -> Result<()> {
    refuse_failed(info, move |place, _| Error::SolveSingular { operation, place })
}

/// `solve`, and zero, or the step at which nothing was left to divide by: solutions are then infinite, or no numbers.
pub fn solve_ex(a: &Tensor, b: &Tensor, left: bool) -> Result<(Tensor, Tensor)> {
    const SOLVE: Routine = Routine::of("linalg.solve").half_types(HalfTypes::ElementsRefusedBy("lu_cpu"));
    check_float(a, SOLVE)?;
    let n = check_square(a, SOLVE)?;
    if a.dtype() != b.dtype() {
        return Err(Error::SolveDTypes { left: a.dtype(), right: b.dtype() }.into());
    }
    let (a_layout, b_layout) = (a.layout(), b.layout());
    let lead = &a_layout.shape()[..a_layout.ndim() - 1];
    let vector = b_layout.ndim() == 1 || b_layout.ndim() + 1 == a_layout.ndim() && b_layout.shape() == lead;
    if !vector && b_layout.ndim() < 2 {
        return Err(Error::LinearArgumentRank { operation: "linalg.solve", argument: "B" }.into());
    }
    let solve = Solve { left, vector };
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
        return solve.solved(a, &b);
    }
    let (matrix, right) = broadcast(a, b)?;
    let (x, info) = solve.solved(&matrix, &right)?;
    Ok((x, of_each_matrix(info, &lead[..lead.len() - 1])?))
}

/// What was found of matrices, of which each may have met several right sides.
fn of_each_matrix(found: Tensor, lead: &[usize]) -> Result<Tensor> {
    if found.layout().shape() == lead {
        return Ok(found);
    }
    let mut found = found;
    while found.ndim() > lead.len() {
        found = part::select(&found, 0, 0)?;
    }
    for (dim, &size) in lead.iter().enumerate() {
        if size == 1 && found.layout().size(dim) > 1 {
            found = part::narrow(&found, dim as i64, 0, 1)?;
        }
    }
    cast::clone(&found)
}

/// The solutions of `a x = b` of matrices of one batch, infinite or no numbers where there are none.
pub(super) fn solve_unchecked(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    Solve::PLAIN.solution(a, b)
}

/// y = A⁻¹, and zero, or the step at which nothing was left to divide by
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

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) / 4
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let (mut y, mut steps) = (a.columns(a.rows, a.rows)?, a.room(&[], DType::Int32)?);
        over!(a.dtype, T => {
            let room = a.parts::<T>(&mut y).zip(a.numbers(&mut steps));
            let all = a.each::<T>().zip(room);
            let all = all.map(|(matrix, (inverse, step))| Inverted { matrix, inverse, step });
            elimination::invert_each(all, a.size());
        });
        Ok(smallvec![a.by_columns(y), steps])
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
        Ok(smallvec![Some(neg(&matmul(&matmul(&y, tangent(tangents))?, &y)?)?), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The inverse matrices.
pub fn inverse(a: &Tensor) -> Result<Tensor> {
    let (y, info) = inverse_ex(a)?;
    check_inverse(&info, "linalg.inv")?;
    Ok(y)
}

/// Refuses matrices without inverses.
pub fn check_inverse(info: &Tensor, operation: &'static str) -> Result<()> {
    refuse_failed(info, move |place, step| Error::InverseSingular { operation, place, step })
}

/// `inverse`, and zero, or the step at which nothing was left to divide by: inverses are then infinite, or no numbers.
pub fn inverse_ex(a: &Tensor) -> Result<(Tensor, Tensor)> {
    check_square(a, Routine::of("linalg.inv").half_types(HalfTypes::Refused))?;
    apply(Inverse, &[a]).map(two)
}

/// Products of a matrix with itself; negative powers are those of the inverse.
pub fn matrix_power(a: &Tensor, power: i64) -> Result<Tensor> {
    if a.dtype().is_differentiable() {
        check_square(a, Routine::of("linalg.matrix_power").half_types(HalfTypes::Taken))?;
    }
    let &[.., rows, columns] = a.layout().shape() else {
        return Err(Error::LinearRank { operation: "linalg.matrix_power" }.into());
    };
    if rows != columns {
        return Err(Error::MatrixSquare { operation: "linalg.matrix_power", rows, columns }.into());
    }
    let side = rows as i64;
    if power == 1 {
        return crate::ops::creation::cast::clone(a);
    }
    let base = if power < 0 { inverse(a)? } else { a.clone() };
    if power == 0 {
        let unit = create::eye(side, side, a.dtype())?;
        let result = crate::ops::creation::cast::clone(a)?;
        crate::ops::creation::cast::copy_(&result, &unit)?;
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

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("linalg_inv", MATRIX, "The inverses of matrices.", |a| inverse(a.tensor(0)?).reply())
        .written(&OutPolicy::PLAIN.refused_as("linalg_inv_ex").typed(Types::Same)),
    both("inverse", ONE_OUT, "The inverses of matrices: `linalg.inv`.", |a| inverse(a.tensor(0)?).reply())
        .written(&OutPolicy::PLAIN.refused_as("linalg_inv_ex").typed(Types::Same)),
    inner(
        "linalg_solve",
        &["(Tensor A, Tensor B, *, bool left=True, Tensor out=None)"],
        "Solves systems of linear equations that have a unique solution.",
        |a| solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2)).reply(),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_solve_ex").typed(Types::Same)),
    inner(
        "linalg_inv_ex",
        &[
            "(Tensor A, *, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_inv_ex",
        ],
        "The inverses of matrices, and zero or the step at which a matrix turned out to be singular.",
        |a| {
            let (inverse, info) = inverse_ex(a.tensor(0)?)?;
            if a.boolean(1) {
                check_inverse(&info, "linalg.inv_ex")?;
            }
            Ok((inverse, info)).named("linalg_inv_ex")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("LinalgInvExBackward0", "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")]),
    inner(
        "linalg_solve_ex",
        &[
            "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_solve_ex",
        ],
        "The solutions of linear equations, and zero or the step at which a matrix turned out to be singular.",
        |a| {
            let (x, info) = solve_ex(a.tensor(0)?, a.tensor(1)?, a.boolean(2))?;
            if a.boolean(3) {
                check_solution(&info, "torch.linalg.solve_ex")?;
            }
            Ok((x, info)).named("linalg_solve_ex")
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_solve_ex").typed(Types::Same))
    .operators(&[("LinalgSolveExBackward0", "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)")]),
    inner(
        "linalg_matrix_power",
        &["(Tensor input, int n, *, Tensor out=None)"],
        "The n-th powers of square matrices.",
        power,
    )
    .written(&OutPolicy::PLAIN.refused_as("matmul").typed(Types::SafeAndSame)),
    both(
        "matrix_power",
        &["(Tensor input, int n, *, Tensor out=None)"],
        "The n-th powers of square matrices: `linalg.matrix_power`.",
        power,
    )
    .written(&OutPolicy::PLAIN.refused_as("matmul").typed(Types::SafeAndSame)),
];

fn power(a: &dyn Arguments) -> Result<Reply> {
    matrix_power(a.tensor(0)?, a.int(1)?).reply()
}

plain! {
    struct Solve { left, vector }
    struct Inverse {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Solve>("solve"), portable::row::<Inverse>("inverse")];
