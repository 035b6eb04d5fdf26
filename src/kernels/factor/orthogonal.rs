//! Matrices as a product of reflections and a triangle, in row-major order. The signs are those of
//! LAPACK: a reflection turns a column onto the axis away from where its head points.

/// Reflections as LAPACK keeps them: below the diagonal the vectors, whose heads are one, and on and
/// above it the triangle.
pub struct Reflections {
    /// The vectors and the triangle, in the shape of the matrix.
    pub packed: Vec<f64>,
    /// How much of itself a vector takes from what it is applied to, twice over its square.
    pub scales: Vec<f64>,
}

/// Rows from `step` on, of `width` columns, less their part along a reflection's vector.
fn apply(rows: &mut [f64], width: usize, from: usize, vector: &[f64], scale: f64) {
    let mut along = vec![0.0; width];
    for (row, &weight) in rows.chunks_exact(width).zip(vector) {
        along[from..].iter_mut().zip(&row[from..]).for_each(|(sum, &x)| *sum += weight * x);
    }
    for (row, &weight) in rows.chunks_exact_mut(width).zip(vector) {
        row[from..].iter_mut().zip(&along[from..]).for_each(|(x, &sum)| *x -= scale * weight * sum);
    }
}

/// The reflections that turn a matrix into a triangle.
pub fn reflect(matrix: &[f64], rows: usize, columns: usize) -> Reflections {
    let mut packed = matrix.to_vec();
    let mut scales = vec![0.0; rows.min(columns)];
    for (step, scale) in scales.iter_mut().enumerate() {
        let head = packed[step * columns + step];
        let mut vector: Vec<f64> = (step..rows).map(|row| packed[row * columns + step]).collect();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if vector[1..].iter().all(|&x| x == 0.0) {
            continue;
        }
        let turned = -length.copysign(head);
        *scale = (turned - head) / turned;
        vector.iter_mut().for_each(|x| *x /= head - turned);
        vector[0] = 1.0;
        apply(&mut packed[step * columns..], columns, step + 1, &vector, *scale);
        packed[step * columns + step] = turned;
        for (row, &x) in (step..rows).zip(&vector).skip(1) {
            packed[row * columns + step] = x;
        }
    }
    Reflections { packed, scales }
}

/// The first `width` columns of the product of reflections that lie in columns of `packed`.
pub fn product(packed: &[f64], scales: &[f64], rows: usize, columns: usize, width: usize) -> Vec<f64> {
    let mut result = vec![0.0; rows * width];
    for place in 0..rows.min(width) {
        result[place * width + place] = 1.0;
    }
    for (step, &scale) in scales.iter().enumerate().rev() {
        let below = (step + 1..rows).map(|row| packed[row * columns + step]);
        let vector: Vec<f64> = std::iter::once(1.0).chain(below).collect();
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
        let matrix = [3.0, 1.0, 4.0, 2.0, 0.0, 5.0];
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
