//! Matrices as a product of reflections and a triangle. The signs are those of
//! LAPACK: a reflection turns a column onto the axis away from where its head points.

use ndarray::ArrayView2;

use super::{Field, Known, laid, lay, library};
use crate::kernels::interrupt;

/// Matrices whose smaller side is less than this are turned by a plain loop if they are not by `reflected`, and so are
/// all complex ones: the library turns their columns onto other directions than the real one.
const SMALL: usize = 16;

/// Reflections as LAPACK keeps them: below the diagonal the vectors, whose heads are one, and on and
/// above it the triangle.
pub struct Reflections<T> {
    /// The vectors and the triangle, row by row, so that a reflection goes over neighbours.
    packed: Vec<T>,
    /// How much of itself a vector takes from what it is applied to, twice over its square.
    pub scales: Vec<T>,
    rows: usize,
    columns: usize,
}

/// Rows from `step` on, of `width` columns, less their part along a reflection's vector.
fn apply<T: Field>(rows: &mut [T], width: usize, from: usize, vector: &[T], scale: T) {
    let mut along = interrupt::filled(width, T::ZERO);
    interrupt::unwind_if_due();
    for (row, weight) in rows.chunks_exact(width).zip(vector) {
        let weight = weight.conj();
        along[from..].iter_mut().zip(&row[from..]).for_each(|(sum, &x)| *sum = sum.add(weight.mul(x)));
    }
    for (row, &weight) in rows.chunks_exact_mut(width).zip(vector) {
        let weight = scale.mul(weight);
        row[from..].iter_mut().zip(&along[from..]).for_each(|(x, &sum)| *x = x.sub(weight.mul(sum)));
    }
}

/// The reflections that turn a matrix into a triangle.
pub fn reflect<T: Known>(matrix: ArrayView2<'_, T>) -> Reflections<T> {
    let (rows, columns) = matrix.dim();
    plainly(laid(matrix.reversed_axes()), rows, columns)
}

fn plainly<T: Field>(mut packed: Vec<T>, rows: usize, columns: usize) -> Reflections<T> {
    let mut scales = interrupt::filled(rows.min(columns), T::ZERO);
    for (step, scale) in scales.iter_mut().enumerate() {
        let head = packed[step * columns + step];
        let mut vector = interrupt::collected((step..rows).map(|row| packed[row * columns + step]));
        if vector[1..].iter().all(|&x| x == T::ZERO) && head == T::of(head.real()) {
            continue;
        }
        let turned = T::of(-length(&vector).copysign(head.real()));
        *scale = turned.sub(head).div(turned);
        vector.iter_mut().for_each(|x| *x = x.div(head.sub(turned)));
        vector[0] = T::ONE;
        apply(&mut packed[step * columns..], columns, step + 1, &vector, scale.conj());
        packed[step * columns + step] = turned;
        for (row, &x) in (step..rows).zip(&vector).skip(1) {
            packed[row * columns + step] = x;
        }
    }
    Reflections { packed, scales, rows, columns }
}

/// The length of a vector, of which no square is too large or too small for its numbers.
fn length<T: Field>(vector: &[T]) -> f64 {
    let most = vector.iter().map(|x| x.weight()).fold(0.0, f64::max);
    if most == 0.0 || !most.is_finite() {
        return most;
    }
    vector.iter().map(|x| (x.magnitude() / most).powi(2)).sum::<f64>().sqrt() * most
}

impl<T: Field> Reflections<T> {
    /// Writes the vectors and the triangle, column by column.
    pub fn packed(&self, into: &mut [T]) {
        lay(self.view(), into);
    }

    fn view(&self) -> ArrayView2<'_, T> {
        ArrayView2::from_shape((self.rows, self.columns), &self.packed)
            .unwrap_or_else(|_| unreachable!("there are so many numbers"))
    }

    /// Writes the first columns of the product of the reflections, as many as there is room for.
    fn product(&self, into: &mut [T]) {
        let (rows, columns) = (self.rows, self.columns);
        let width = into.len() / rows.max(1);
        let mut result = interrupt::filled(rows * width, T::ZERO);
        for place in 0..rows.min(width) {
            result[place * width + place] = T::ONE;
        }
        for (step, &scale) in self.scales.iter().enumerate().rev() {
            let mut vector = interrupt::collected((step..rows).map(|row| self.packed[row * columns + step]));
            vector[0] = T::ONE;
            // Columns before this one have nothing yet where the vector has something.
            if width > step {
                apply(&mut result[step * width..], width, step, &vector, scale);
            }
        }
        let result = ArrayView2::from_shape((rows, width), &result);
        lay(result.unwrap_or_else(|_| unreachable!("there are so many numbers")), into);
    }
}

/// Writes a triangle of as many rows as it has room for and, if wanted, as many columns at right angles to each other
/// whose product with it is the matrix.
pub fn decompose<T: Known>(matrix: ArrayView2<'_, T>, triangle: &mut [T], mut orthogonal: Option<&mut [T]>) {
    let (rows, columns) = matrix.dim();
    if T::decompose(&laid(matrix), (rows, columns), triangle, orthogonal.as_deref_mut()) {
        return;
    }
    let height = triangle.len() / columns.max(1);
    let mut read = |at: &dyn Fn(usize, usize) -> T| {
        for (column, into) in triangle.chunks_exact_mut(height.max(1)).enumerate() {
            for (row, place) in into.iter_mut().enumerate() {
                *place = if row > column { T::ZERO } else { at(row, column) };
            }
        }
    };
    if T::IS_REAL
        && rows.min(columns) >= SMALL
        && let Some(found) = library::reflect(laid(matrix), rows, columns)
    {
        read(&|row, column| found.at(row, column));
        let Some(orthogonal) = orthogonal else { return };
        orthogonal.fill(T::ZERO);
        orthogonal.chunks_exact_mut(rows).enumerate().for_each(|(place, column)| column[place] = T::ONE);
        if !found.apply(orthogonal, false) {
            reflect(matrix).product(orthogonal);
        }
        return;
    }
    let found = reflect(matrix);
    let view = found.view();
    read(&|row, column| view[(row, column)]);
    if let Some(orthogonal) = orthogonal {
        found.product(orthogonal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn columns_at_right_angles_and_the_triangle_make_the_matrix() {
        for (rows, columns) in [(3, 2), (2, 3), (40, 30), (30, 40)] {
            let matrix =
                Array2::from_shape_fn((rows, columns), |(row, column)| ((row * 7 + column * 3) as f64).cos());
            for height in [rows.min(columns), rows] {
                let (mut r, mut q) = (vec![0.0; height * columns], vec![0.0; rows * height]);
                decompose(matrix.view(), &mut r, Some(&mut q));
                assert!(r[0] < 0.0, "the first column is turned away from its head");
                for ((row, column), x) in matrix.indexed_iter() {
                    let made: f64 = (0..height).map(|at| q[at * rows + row] * r[column * height + at]).sum();
                    assert!((made - x).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn both_ways_leave_the_same_signs() {
        let matrix = Array2::from_shape_fn((50, 40), |(row, column)| {
            (((row * 40 + column) as f64).powi(2) * 0.37).sin()
        });
        let (mut r, plain) = (vec![0.0; 40 * 40], reflect(matrix.view()));
        decompose(matrix.view(), &mut r, None);
        assert!((0..40).all(|at| r[at * 40 + at] * plain.packed[at * 40 + at] > 0.0));
    }
}
