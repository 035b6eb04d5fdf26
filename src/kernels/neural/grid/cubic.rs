//! What points see of four elements in each of two dimensions, between which there are polynomials of the third degree.

use num_traits::AsPrimitive;

use super::{NOWHERE, Point, Slopes, View};
use crate::dtype::Real;

/// The elements along a dimension.
const ALONG: usize = 4;

/// All elements.
pub(super) const AROUND: usize = ALONG * ALONG;

/// The slope of the polynomials that torch has.
const SLOPE: f64 = -0.75;

/// What elements count along a dimension, and how that changes with the coordinate.
#[derive(Clone, Copy)]
struct Line<T> {
    elements: [usize; ALONG],
    weights: [T; ALONG],
    slopes: [T; ALONG],
}

/// What an element counts at a distance of less than two, and the slope of that.
#[inline(always)]
fn counted<T: Real>(distance: T) -> (T, T) {
    let (slope, number) = (T::from_f64(SLOPE), T::from_f64);
    let (x, sign) = if distance < T::ZERO { (-distance, -T::ONE) } else { (distance, T::ONE) };
    if x <= T::ONE {
        let (cube, square) = (slope + number(2.0), slope + number(3.0));
        let weight = (cube * x - square) * x * x + T::ONE;
        return (weight, sign * (number(3.0) * cube * x - number(2.0) * square) * x);
    }
    let weight = ((slope * x - number(5.0) * slope) * x + number(8.0) * slope) * x - number(4.0) * slope;
    (weight, sign * ((number(3.0) * slope * x - number(10.0) * slope) * x + number(8.0) * slope))
}

impl View {
    /// What a coordinate sees along a dimension of this size.
    #[inline(always)]
    fn line<T: Real>(&self, coordinate: T, size: usize) -> Line<T> {
        let (at, slope) = self.pointed(coordinate, size);
        let low = at.floor();
        let mut line = Line { elements: [0; ALONG], weights: [T::ZERO; ALONG], slopes: [T::ZERO; ALONG] };
        for step in 0..ALONG {
            let apart = T::from_f64(step as f64 - 1.0);
            let (weight, change) = counted(at - low - apart);
            (line.weights[step], line.slopes[step]) = (weight, change * slope);
            let (here, _) = self.bounded((low + apart, T::ZERO), size);
            // Of places between two elements, as in a mirror, the one before counts; what is no number is the first.
            let here: f64 = AsPrimitive::<f64>::as_(here);
            let is_inside = here >= 0.0 && here < size as f64;
            line.elements[step] = match is_inside {
                true => here as usize,
                false if here.is_nan() && self.beyond != super::Beyond::Zeros => 0,
                false => NOWHERE,
            };
        }
        line
    }

    /// The lines through a point, those of the last dimension last.
    #[inline(always)]
    fn lines<T: Real, const R: usize>(&self, coordinates: &[T; R]) -> [Line<T>; R] {
        let mut lines =
            [Line { elements: [0; ALONG], weights: [T::ZERO; ALONG], slopes: [T::ZERO; ALONG] }; R];
        for dim in 0..R {
            lines[dim] = self.line(coordinates[R - 1 - dim], self.sizes[3 - R + dim]);
        }
        lines
    }

    /// What a point of these coordinates sees.
    #[inline(always)]
    pub(super) fn cubic_point<T: Real, const K: usize, const R: usize>(
        &self,
        coordinates: &[T; R],
    ) -> Point<T, K> {
        let mut point = Point { elements: [0; K], weights: [T::ONE; K] };
        for (dim, line) in self.lines(coordinates).iter().enumerate() {
            let size = self.sizes[3 - R + dim];
            for corner in 0..K {
                let step = step_of::<R>(corner, dim);
                let (before, at) = (point.elements[corner], line.elements[step]);
                let is_somewhere = at != NOWHERE && before != NOWHERE;
                point.elements[corner] = if is_somewhere { before * size + at } else { NOWHERE };
                point.weights[corner] = point.weights[corner] * line.weights[step];
            }
        }
        point
    }

    /// How the weights of what is seen from there change.
    #[inline(always)]
    pub(super) fn cubic_slopes<T: Real, const K: usize, const R: usize>(
        &self,
        coordinates: &[T; R],
    ) -> Slopes<T, K, R> {
        let mut slopes = [[T::ONE; K]; R];
        for (dim, line) in self.lines(coordinates).iter().enumerate() {
            for corner in 0..K {
                let step = step_of::<R>(corner, dim);
                for (of, slopes) in slopes.iter_mut().enumerate() {
                    let factor = if of == dim { line.slopes[step] } else { line.weights[step] };
                    slopes[corner] = slopes[corner] * factor;
                }
            }
        }
        slopes
    }
}

/// Which of the elements along a dimension one of all is; the last dimension changes first.
#[inline(always)]
fn step_of<const R: usize>(corner: usize, dim: usize) -> usize {
    corner / ALONG.pow((R - 1 - dim) as u32) % ALONG
}
