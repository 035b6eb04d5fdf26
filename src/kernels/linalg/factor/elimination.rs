//! Matrices as the product of two triangles with their rows exchanged, and what is read from these: solutions,
//! inverses, determinants. Both triangles stand in one matrix, as LAPACK leaves them.

use ndarray::ArrayView2;

use super::interrupt;
use super::lanes::{self, Lanes, in_lanes};
use super::{Field, Known, are_finite, lay, library, square, triangles, zeros};

/// Matrices with fewer columns than this are eliminated by a plain loop, alone and with others.
const SMALL: usize = lanes::MOST + 1;

/// A matrix, and room for what elimination leaves of it.
pub struct Eliminated<'a, T> {
    pub matrix: ArrayView2<'a, T>,
    pub triangles: &'a mut [T],
    pub pivots: &'a mut [i32],
}

/// The matrix of equations, their right sides, and room for the solutions and for the first step at which nothing was
/// left to divide by, or zero.
pub struct System<'a, T> {
    pub left: Eliminated<'a, T>,
    pub right: ArrayView2<'a, T>,
    pub solutions: &'a mut [T],
    pub step: &'a mut i32,
}

/// A matrix, and room for its inverse and for the first step at which nothing was left to divide by, or zero.
pub struct Inverted<'a, T> {
    pub matrix: ArrayView2<'a, T>,
    pub inverse: &'a mut [T],
    pub step: &'a mut i32,
}

/// The triangles and pivots of a matrix, right sides, and room for the solutions.
pub struct Factored<'a, T> {
    pub triangles: ArrayView2<'a, T>,
    pub pivots: &'a [i32],
    pub right: ArrayView2<'a, T>,
    pub solutions: &'a mut [T],
}

/// How many matrices there are, and how many rows and columns they have.
pub type Size = (usize, usize, usize);

/// Eliminates in many matrices of one size: see `eliminate`.
pub fn eliminate_each<'a, T: Known>(
    items: impl Iterator<Item = Eliminated<'a, T>>,
    exchange: bool,
    size: Size,
) {
    let one = |of: &mut Eliminated<'a, T>| eliminate(of.matrix, exchange, of.triangles, of.pivots);
    lanes::each::<T, _>(items, size, |items| exchange && in_lanes!(T, eliminated(items)), one);
}

/// Solves many systems of one size: see `solve_system`.
pub fn solve_each<'a, T: Known>(items: impl Iterator<Item = System<'a, T>>, size: Size) {
    let one = |System { left, right, solutions, step }: &mut System<'a, T>| {
        **step = solve_system(left.matrix, *right, left.triangles, left.pivots, solutions);
    };
    lanes::each::<T, _>(items, size, |items| in_lanes!(T, solved(items)), one);
}

/// Inverts many matrices of one size: see `invert_matrix`.
pub fn invert_each<'a, T: Known>(items: impl Iterator<Item = Inverted<'a, T>>, size: Size) {
    let one = |of: &mut Inverted<'a, T>| *of.step = invert_matrix(of.matrix, of.inverse);
    lanes::each::<T, _>(items, size, |items| in_lanes!(T, inverted(items)), one);
}

/// Solves many systems of one size whose matrices were factored: see `solve_factored`.
pub fn solve_each_factored<'a, T: Known>(
    items: impl Iterator<Item = Factored<'a, T>>,
    adjoined: bool,
    size: Size,
) {
    let one = |of: &mut Factored<'a, T>| {
        solve_factored(of.triangles, of.pivots, of.right, adjoined, of.solutions);
    };
    let possible = T::IS_REAL || !adjoined;
    let group = |items: &mut [Factored<'a, T>]| possible && in_lanes!(T, solved_again(items, adjoined));
    lanes::each::<T, _>(items, size, group, one);
}

/// Writes pivots that stand lane by lane.
fn write<'a, const L: usize>(pivots: &[[i32; L]], places: impl Iterator<Item = &'a mut [i32]>) {
    for (lane, places) in places.enumerate() {
        places.iter_mut().zip(pivots).for_each(|(place, pivot)| *place = pivot[lane]);
    }
}

fn eliminated<T: Known, const L: usize>(items: &mut [Eliminated<'_, T>]) -> bool {
    let mut matrices = Lanes::<T, L>::gather(items.iter().map(|of| of.matrix));
    let mut pivots = [[0; L]; lanes::MOST];
    let pivots = &mut pivots[..items[0].pivots.len()];
    if !matrices.eliminate(pivots) {
        return false;
    }
    matrices.scatter(items.iter_mut().map(|of| &mut *of.triangles));
    write(pivots, items.iter_mut().map(|of| &mut *of.pivots));
    true
}

fn solved<T: Known, const L: usize>(items: &mut [System<'_, T>]) -> bool {
    let mut matrices = Lanes::<T, L>::gather(items.iter().map(|of| of.left.matrix));
    let mut pivots = [[0; L]; lanes::MOST];
    let pivots = &mut pivots[..items[0].left.pivots.len()];
    if !matrices.eliminate(pivots) {
        return false;
    }
    let mut solutions = Lanes::gather(items.iter().map(|of| of.right));
    solutions.exchange(pivots, false);
    solutions.solve(&matrices, false, false, true);
    solutions.solve(&matrices, false, true, false);
    matrices.scatter(items.iter_mut().map(|of| &mut *of.left.triangles));
    solutions.scatter(items.iter_mut().map(|of| &mut *of.solutions));
    write(pivots, items.iter_mut().map(|of| &mut *of.left.pivots));
    items.iter_mut().for_each(|of| *of.step = 0);
    true
}

fn inverted<T: Known, const L: usize>(items: &mut [Inverted<'_, T>]) -> bool {
    let mut matrices = Lanes::<T, L>::gather(items.iter().map(|of| of.matrix));
    let mut inverses = matrices.unit();
    let mut pivots = [[0; L]; lanes::MOST];
    let pivots = &mut pivots[..items[0].matrix.nrows()];
    if !matrices.eliminate(pivots) {
        return false;
    }
    inverses.exchange(pivots, false);
    inverses.solve(&matrices, false, false, true);
    inverses.solve(&matrices, false, true, false);
    inverses.scatter(items.iter_mut().map(|of| &mut *of.inverse));
    items.iter_mut().for_each(|of| *of.step = 0);
    true
}

fn solved_again<T: Known, const L: usize>(items: &mut [Factored<'_, T>], adjoined: bool) -> bool {
    let triangles = Lanes::<T, L>::gather(items.iter().map(|of| of.triangles));
    let mut solutions = Lanes::gather(items.iter().map(|of| of.right));
    // The lanes that are left over exchange nothing.
    let mut pivots: [[i32; L]; lanes::MOST] = std::array::from_fn(|step| [step as i32 + 1; L]);
    let pivots = &mut pivots[..items[0].pivots.len()];
    for (lane, of) in items.iter().enumerate() {
        pivots.iter_mut().zip(of.pivots).for_each(|(pivot, &given)| pivot[lane] = given);
    }
    if !adjoined {
        solutions.exchange(pivots, false);
    }
    solutions.solve(&triangles, adjoined, false, !adjoined);
    solutions.solve(&triangles, adjoined, true, adjoined);
    if adjoined {
        solutions.exchange(pivots, true);
    }
    solutions.scatter(items.iter_mut().map(|of| &mut *of.solutions));
    true
}

/// Eliminates below the diagonal, the largest element of each column first if rows are exchanged. `pivots` say with
/// which row, counted from one and from itself on, each one was exchanged in its turn.
pub fn eliminate<T: Known>(
    matrix: ArrayView2<'_, T>,
    exchange: bool,
    triangles: &mut [T],
    pivots: &mut [i32],
) {
    let (rows, columns) = matrix.dim();
    lay(matrix, triangles);
    if exchange && pivots.len() >= SMALL {
        let found = library::eliminate(triangles, rows, columns, pivots);
        // It divides by zeros where there is nothing else to divide by.
        if found && are_finite(triangles) {
            return;
        }
        lay(matrix, triangles);
    }
    plainly(triangles, rows, exchange, pivots);
}

/// Eliminates column by column, where nothing is left to divide by going on with the next one.
fn plainly<T: Field>(triangles: &mut [T], rows: usize, exchange: bool, pivots: &mut [i32]) {
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let (known, others) = triangles[step * rows..].split_at_mut(rows);
        let mut best = step;
        if exchange {
            let mut most = known[step].weight();
            for (row, x) in known.iter().enumerate().skip(step + 1) {
                if x.weight() > most {
                    (best, most) = (row, x.weight());
                }
            }
        }
        *pivot = best as i32 + 1;
        known.swap(step, best);
        let head = known[step];
        if head != T::ZERO {
            known[step + 1..].iter_mut().for_each(|x| *x = x.div(head));
        }
        for column in others.chunks_exact_mut(rows) {
            column.swap(step, best);
            let above = column[step];
            let below = column[step + 1..].iter_mut().zip(&known[step + 1..]);
            if head != T::ZERO {
                below.for_each(|(x, &factor)| *x = x.sub(factor.mul(above)));
            }
        }
        // What is left of it was exchanged too.
        triangles[..step * rows].chunks_exact_mut(rows).for_each(|column| column.swap(step, best));
    }
}

/// The first step at which nothing was left to divide by, counted from one, or zero.
pub fn first_zero<T: Field>(triangles: ArrayView2<'_, T>) -> i32 {
    triangles.diag().iter().position(|&head| head == T::ZERO).map_or(0, |step| step as i32 + 1)
}

/// Replaces columns by the solutions of equations with them on the right.
pub fn solve<T: Known>(triangles: ArrayView2<'_, T>, pivots: &[i32], columns: &mut [T]) {
    for column in columns.chunks_exact_mut(pivots.len().max(1)) {
        for (step, &pivot) in pivots.iter().enumerate() {
            column.swap(step, pivot as usize - 1);
        }
    }
    triangles::solve(triangles, columns, false, true);
    triangles::solve(triangles, columns, true, false);
}

/// Writes the solutions of equations with columns on the right, whose matrix was factored, or its adjoint. Pivots are
/// rows of the matrix.
pub fn solve_factored<T: Known>(
    triangles: ArrayView2<'_, T>,
    pivots: &[i32],
    right: ArrayView2<'_, T>,
    adjoined: bool,
    solutions: &mut [T],
) {
    lay(right, solutions);
    if !adjoined {
        return solve(triangles, pivots, solutions);
    }
    solve_adjoined(triangles, pivots, solutions);
}

/// `solve` of the adjoint of the matrix.
pub(super) fn solve_adjoined<T: Known>(triangles: ArrayView2<'_, T>, pivots: &[i32], columns: &mut [T]) {
    // Conjugates of both sides leave a transposed matrix.
    let conjugate = |numbers: &mut [T]| {
        if !T::IS_REAL {
            numbers.iter_mut().for_each(|x| *x = Field::conj(*x));
        }
    };
    conjugate(columns);
    triangles::solve(triangles.reversed_axes(), columns, false, false);
    triangles::solve(triangles.reversed_axes(), columns, true, true);
    conjugate(columns);
    for column in columns.chunks_exact_mut(pivots.len().max(1)) {
        for (step, &pivot) in pivots.iter().enumerate().rev() {
            column.swap(step, pivot as usize - 1);
        }
    }
}

/// Writes the inverse of the matrix that the triangles stand for, if it `exists`, else what is infinite or no number.
pub(super) fn invert<T: Known>(triangles: &[T], pivots: &[i32], exists: bool, inverse: &mut [T]) {
    let n = pivots.len();
    if exists && n >= SMALL && library::invert(triangles, pivots, inverse) {
        return;
    }
    inverse.fill(T::ZERO);
    (0..n).for_each(|place| inverse[place * n + place] = T::ONE);
    solve(by_columns(triangles, n), pivots, inverse);
}

/// Writes the triangles, the pivots and the solutions of equations with columns on the right. Answers the first step
/// at which nothing was left to divide by, or zero.
pub fn solve_system<T: Known>(
    matrix: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    triangles: &mut [T],
    pivots: &mut [i32],
    solutions: &mut [T],
) -> i32 {
    eliminate(matrix, true, triangles, pivots);
    lay(right, solutions);
    let triangles = by_columns(triangles, pivots.len());
    solve(triangles, pivots, solutions);
    first_zero(triangles)
}

/// Writes the inverse, and answers the first step at which nothing was left to divide by, or zero.
pub fn invert_matrix<T: Known>(matrix: ArrayView2<'_, T>, inverse: &mut [T]) -> i32 {
    let n = matrix.nrows();
    let (mut triangles, mut pivots) = (zeros(n * n), zeros(n));
    eliminate(matrix, true, &mut triangles, &mut pivots);
    let step = first_zero(by_columns(&triangles, n));
    invert(&triangles, &pivots, step == 0, inverse);
    step
}

/// Writes the exchange of rows and the triangles, row by row, to memory of zeros.
pub fn unpack<T: Field>(
    triangles: ArrayView2<'_, T>,
    pivots: &[i32],
    exchange: &mut [T],
    lower: &mut [T],
    upper: &mut [T],
) {
    let (rows, columns) = triangles.dim();
    let least = rows.min(columns);
    let mut order = interrupt::collected(0..rows);
    pivots.iter().enumerate().for_each(|(step, &pivot)| order.swap(step, pivot as usize - 1));
    order.iter().enumerate().for_each(|(place, &row)| exchange[row * rows + place] = T::ONE);
    for (row, given) in triangles.rows().into_iter().enumerate() {
        let below = row.min(least);
        if let Some(lower) = lower.get_mut(row * least..(row + 1) * least) {
            lower.iter_mut().zip(given).take(below).for_each(|(place, &x)| *place = x);
            lower.iter_mut().skip(row).take(1).for_each(|place| *place = T::ONE);
        }
        if let Some(upper) = upper.get_mut(row * columns..(row + 1) * columns) {
            upper.iter_mut().zip(given).skip(row).for_each(|(place, &x)| *place = x);
        }
    }
}

/// A square matrix that lies column by column.
pub fn by_columns<T>(numbers: &[T], n: usize) -> ArrayView2<'_, T> {
    square(numbers, n).reversed_axes()
}

/// One, or minus one where an odd number of rows was exchanged.
fn parity<T: Field>(pivots: &[i32]) -> T {
    let odd = pivots.iter().enumerate().filter(|&(step, &pivot)| pivot as usize != step + 1).count() % 2 == 1;
    if odd { T::ZERO.sub(T::ONE) } else { T::ONE }
}

/// The determinant, by the triangles.
pub fn determinant<T: Field>(triangles: ArrayView2<'_, T>, pivots: &[i32]) -> T {
    triangles.diag().iter().fold(parity(pivots), |product, &head| product.mul(head))
}

/// The determinant's sign and the logarithm of its magnitude, by the triangles.
pub fn sign_and_logarithm<T: Field>(triangles: ArrayView2<'_, T>, pivots: &[i32]) -> (T, f64) {
    let (mut sign, mut sum) = (parity::<T>(pivots), 0.0);
    for &head in triangles.diag() {
        let magnitude = head.magnitude();
        sign = if head == T::ZERO { T::ZERO } else { sign.mul(head.div(T::of(magnitude))) };
        sum += magnitude.ln();
    }
    (sign, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn factored(matrix: ArrayView2<'_, f64>) -> (Vec<f64>, Vec<i32>) {
        let (rows, columns) = matrix.dim();
        let (mut triangles, mut pivots) = (vec![0.0; rows * columns], vec![0; rows.min(columns)]);
        eliminate(matrix, true, &mut triangles, &mut pivots);
        (triangles, pivots)
    }

    #[test]
    fn a_system_is_solved_and_its_determinant_known() {
        let matrix = ndarray::arr2(&[[0.0, 2.0], [3.0, 1.0]]);
        let (right, mut x) = (ndarray::arr2(&[[4.0], [5.0]]), [0.0; 2]);
        let (mut lu, mut pivots) = ([0.0; 4], [0; 2]);
        assert_eq!(solve_system(matrix.view(), right.view(), &mut lu, &mut pivots, &mut x), 0);
        assert_eq!((x, determinant(by_columns(&lu, 2), &pivots)), ([1.0, 2.0], -6.0));
        let singular = ndarray::arr2(&[[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!(solve_system(singular.view(), right.view(), &mut lu, &mut pivots, &mut x), 2);
    }

    #[test]
    fn many_together_are_what_each_is_alone() {
        for n in [1, 3, 16] {
            let number = |item: usize, at: usize| ((item * 31 + at * at * 7 + at) as f64).sin();
            let matrix =
                |item: usize| Array2::from_shape_fn((n, n), |(row, column)| number(item, row * n + column));
            let matrices: Vec<_> = (0..21).map(matrix).collect();
            let mut found = vec![(vec![0.0; n * n], vec![0; n]); matrices.len()];
            let items = matrices.iter().zip(&mut found).map(|(matrix, (triangles, pivots))| Eliminated {
                matrix: matrix.view(),
                triangles: &mut triangles[..],
                pivots: &mut pivots[..],
            });
            eliminate_each(items, true, (matrices.len(), n, n));
            assert!(
                matrices.iter().zip(found).all(|(matrix, found)| factored(matrix.view()) == found),
                "{n}"
            );
        }
    }

    #[test]
    fn both_ways_exchange_the_same_rows_and_leave_the_same_triangles() {
        for (rows, columns) in [(40, 40), (90, 30), (30, 90)] {
            // No two numbers of a column come near each other on the way: roundings choose no rows.
            let angle = |row: usize, column: usize| row * 29 + column * column * 17 + row * column * 13;
            let number = |(row, column): (usize, usize)| (angle(row, column) as f64).sin();
            let matrix = Array2::from_shape_fn((rows, columns), number);
            let (triangles, pivots) = factored(matrix.view());
            let (mut plain, mut exchanged) = (super::super::laid(matrix.view()), vec![0; pivots.len()]);
            plainly(&mut plain, rows, true, &mut exchanged);
            assert_eq!(pivots, exchanged);
            assert!(triangles.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-9), "{rows} {columns}");
        }
    }

    #[test]
    fn a_column_of_zeros_is_left_where_it_is() {
        let mut matrix =
            Array2::from_shape_fn((40, 40), |(row, column)| ((row * 7 + column * 11) % 13) as f64);
        matrix.column_mut(5).fill(0.0);
        let (triangles, _) = factored(matrix.view());
        assert!(are_finite(&triangles));
        assert_eq!(first_zero(by_columns(&triangles, 40)), 6);
    }
}
