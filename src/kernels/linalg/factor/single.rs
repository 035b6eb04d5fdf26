//! Complex numbers of single precision: their spectra are found in double precision, for which the library is compiled.

use ndarray::ArrayView2;

use super::{Known, Spectrum, interrupt, laid, library, zeros};
use crate::dtype::{Complex, Element};

/// Numbers in double precision.
fn wide(numbers: &[Complex<f32>]) -> Vec<Complex<f64>> {
    interrupt::collected(numbers.iter().map(|x| x.to_complex()))
}

/// Writes numbers of double precision.
fn write<T: Element>(into: &mut [T], numbers: &[impl Element]) {
    into.iter_mut().zip(numbers).for_each(|(place, x)| *place = T::from_complex(x.to_complex()));
}

impl Known for Complex<f32> {
    type Wide = Complex<f64>;

    fn spectrum(matrix: &[Self], n: usize, vectors: bool) -> Option<Spectrum<Complex<f64>>> {
        library::complex_spectrum(&wide(matrix), n, vectors)
    }

    fn symmetric(matrix: &[Self], n: usize, values: &mut [f32], vectors: Option<&mut [Self]>) -> bool {
        let mut own: Vec<f64> = zeros(values.len());
        let mut columns: Vec<Complex<f64>> = zeros(vectors.as_ref().map_or(0, |vectors| vectors.len()));
        let wanted = vectors.is_some().then_some(&mut *columns);
        let is_found = library::symmetric(&wide(matrix), n, &mut own, wanted);
        write(values, &own);
        write(vectors.unwrap_or_default(), &columns);
        is_found
    }

    fn singular(
        matrix: ArrayView2<'_, Self>,
        values: &mut [f32],
        vectors: Option<(&mut [Self], &mut [Self])>,
    ) -> bool {
        let mut own: Vec<f64> = zeros(values.len());
        let count = vectors.as_ref().map_or((0, 0), |(left, right)| (left.len(), right.len()));
        let (mut left, mut right): (Vec<Complex<f64>>, Vec<Complex<f64>>) = (zeros(count.0), zeros(count.1));
        let wanted = vectors.is_some().then_some((&mut *left, &mut *right));
        let is_found = library::singular(&wide(&laid(matrix)), matrix.dim(), &mut own, wanted);
        write(values, &own);
        if let Some(vectors) = vectors {
            write(vectors.0, &left);
            write(vectors.1, &right);
        }
        is_found
    }
}
