//! Matrices as a product of reflections and a triangle, in row-major order. The signs are those of
//! LAPACK: a reflection turns a column onto the axis away from where its head points.

use super::Field;
use crate::kernels::interrupt;

/// Reflections as LAPACK keeps them: below the diagonal the vectors, whose heads are one, and on and
/// above it the triangle.
pub struct Reflections<T> {
    /// The vectors and the triangle, in the shape of the matrix.
    pub packed: Vec<T>,
    /// How much of itself a vector takes from what it is applied to, twice over its square.
    pub scales: Vec<T>,
}

/// Rows from `step` on, of `width` columns, less their part along a reflection's vector.
fn apply<T: Field>(rows: &mut [T], width: usize, from: usize, vector: &[T], scale: T) {
    let mut along = vec![T::ZERO; width];
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
pub fn reflect<T: Field>(matrix: &[T], rows: usize, columns: usize) -> Reflections<T> {
    let mut packed = matrix.to_vec();
    let mut scales = vec![T::ZERO; rows.min(columns)];
    for (step, scale) in scales.iter_mut().enumerate() {
        let head = packed[step * columns + step];
        let mut vector: Vec<T> = (step..rows).map(|row| packed[row * columns + step]).collect();
        let length = vector.iter().map(|x| x.mul(x.conj()).real()).sum::<f64>().sqrt();
        if vector[1..].iter().all(|&x| x == T::ZERO) && head == T::of(head.real()) {
            continue;
        }
        let turned = T::of(-length.copysign(head.real()));
        *scale = turned.sub(head).div(turned);
        vector.iter_mut().for_each(|x| *x = x.div(head.sub(turned)));
        vector[0] = T::ONE;
        apply(&mut packed[step * columns..], columns, step + 1, &vector, scale.conj());
        packed[step * columns + step] = turned;
        for (row, &x) in (step..rows).zip(&vector).skip(1) {
            packed[row * columns + step] = x;
        }
    }
    Reflections { packed, scales }
}

/// The first `width` columns of the product of reflections that lie in columns of `packed`.
pub fn product<T: Field>(packed: &[T], scales: &[T], rows: usize, columns: usize, width: usize) -> Vec<T> {
    let mut result = vec![T::ZERO; rows * width];
    for place in 0..rows.min(width) {
        result[place * width + place] = T::ONE;
    }
    for (step, &scale) in scales.iter().enumerate().rev() {
        let below = (step + 1..rows).map(|row| packed[row * columns + step]);
        let vector: Vec<T> = std::iter::once(T::ONE).chain(below).collect();
        if width > 0 {
            apply(&mut result[step * width..], width, 0, &vector, scale);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_and_the_triangle_make_the_matrix() {
        let matrix = [3.0_f64, 1.0, 4.0, 2.0, 0.0, 5.0];
        let Reflections { packed, scales } = reflect(&matrix, 3, 2);
        let q = product(&packed, &scales, 3, 2, 2);
        assert!(packed[0] < 0.0, "the first column is turned away from its head");
        for (place, &element) in matrix.iter().enumerate() {
            let (row, column) = (place / 2, place % 2);
            let made: f64 = (0..=column).map(|at| q[row * 2 + at] * packed[at * 2 + column]).sum();
            assert!((made - element).abs() < 1e-12);
        }
    }
}
