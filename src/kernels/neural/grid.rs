//! Images as seen at points: between the elements around each, or at the nearest one; and the gradients of images and
//! points. Points come in stretches: where a stretch looks is found once for all channels.

mod cubic;

use std::mem::MaybeUninit;

use num_traits::AsPrimitive;

use crate::dtype::{Real, Ring};
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_items;
use crate::kernels::simd::vectorised;

/// Points of a stretch.
const STRETCH: usize = 256;

/// Reads that are worth a turn of a thread.
const TURN: usize = 1 << 15;

/// What is beyond the edges of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The element at the edge.
    Edge,
    /// The image in a mirror.
    Mirror,
}

/// Which elements are seen of those around a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The two next to it in each dimension.
    Linear,
    /// The nearest.
    Nearest,
    /// Four in each of two dimensions.
    Cubic,
}

/// How images are seen.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The sizes of an image; the first is one where there are two.
    pub sizes: [usize; 3],
    /// Samples, channels, and points of a sample.
    pub counts: [usize; 3],
    /// How many coordinates a point has, those of the last dimension first.
    pub rank: usize,
    /// Which elements are seen.
    pub way: Way,
    /// What is beyond the edges.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the middles of the outermost elements, and not their edges.
    pub align_corners: bool,
}

/// Where a point looks in a dimension.
#[derive(Clone, Copy)]
struct Place<T> {
    /// The element in front of it, and how far behind that it lies.
    low: T,
    share: T,
    /// What it moves by when the coordinate does.
    slope: T,
}

/// An element that a point does not see.
const NOWHERE: usize = usize::MAX;

/// The elements that a point sees, and what they count.
#[derive(Clone, Copy)]
struct Point<T, const K: usize> {
    elements: [usize; K],
    weights: [T; K],
}

/// The slopes of the weights of a point by each of its coordinates.
type Slopes<T, const K: usize, const R: usize> = [[T; K]; R];

/// Lines of memory that is still to be written.
type Lines<'a, T> = Vec<&'a mut [MaybeUninit<T>]>;

impl View {
    fn plane(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Where a coordinate points along a dimension of this size, and what that moves by when the coordinate does.
    #[inline(always)]
    fn pointed<T: Real>(&self, coordinate: T, size: usize) -> (T, T) {
        let (whole, half) = (T::from_f64(size as f64), T::from_f64(0.5));
        let last = whole - T::ONE;
        match self.align_corners {
            true => ((coordinate + T::ONE) * half * last, half * last),
            false => (((coordinate + T::ONE) * whole - T::ONE) * half, half * whole),
        }
    }

    /// What is within the image instead of a place beyond its edges, unless there are zeros, and how that moves.
    #[inline(always)]
    fn bounded<T: Real>(&self, (mut at, mut slope): (T, T), size: usize) -> (T, T) {
        let (whole, half) = (T::from_f64(size as f64), T::from_f64(0.5));
        let last = whole - T::ONE;
        if self.beyond == Beyond::Mirror {
            let (first, span) = if self.align_corners { (T::ZERO, last) } else { (-half, whole) };
            if span == T::ZERO {
                (at, slope) = (T::ZERO, T::ZERO);
            } else {
                let from = at - first;
                let distance = if from < T::ZERO { -from } else { from };
                let turns = (distance / span).floor();
                let rest = distance - turns * span;
                let is_even = turns - (turns * half).floor() * T::from_f64(2.0) == T::ZERO;
                at = if is_even { rest } else { span - rest } + first;
                let is_turned = (from < T::ZERO) == is_even;
                slope = if from == T::ZERO {
                    T::ZERO
                } else if is_turned {
                    -slope
                } else {
                    slope
                };
            }
        }
        if self.beyond != Beyond::Zeros && !(at > T::ZERO && at < last) {
            slope = T::ZERO;
            at = if at < T::ZERO {
                T::ZERO
            } else if at > last {
                last
            } else {
                at
            };
        }
        (at, slope)
    }

    /// Where a coordinate looks along a dimension of this size.
    #[inline(always)]
    fn place<T: Real>(&self, coordinate: T, size: usize) -> Place<T> {
        let (at, slope) = self.bounded(self.pointed(coordinate, size), size);
        if self.way == Way::Nearest {
            let half = T::from_f64(0.5);
            let (low, far) = (at.floor(), at - at.floor());
            // Of two that are as near it is the even one.
            let is_odd = (low * half).floor() * T::from_f64(2.0) != low;
            let low = if far > half || far == half && is_odd { low + T::ONE } else { low };
            return Place { low, share: T::ZERO, slope: T::ZERO };
        }
        let low = at.floor();
        Place { low, share: at - low, slope }
    }

    /// Where a point of these coordinates looks.
    #[inline(always)]
    fn places<T: Real, const R: usize>(&self, coordinates: &[T; R]) -> [Place<T>; R] {
        let mut places = [Place { low: T::ZERO, share: T::ZERO, slope: T::ZERO }; R];
        for dim in 0..R {
            places[dim] = self.place(coordinates[R - 1 - dim], self.sizes[3 - R + dim]);
        }
        places
    }

    /// Where a point looks that is no number in some coordinate, if there is something everywhere: at the first element
    /// of an image, at the last one where there are three dimensions.
    #[inline(always)]
    fn found<T: Real, const R: usize>(&self, mut places: [Place<T>; R]) -> [Place<T>; R] {
        for (place, size) in places.iter_mut().zip(&self.sizes[3 - R..]) {
            if self.beyond != Beyond::Zeros && Ring::is_nan(place.low) {
                let low = if R == 2 { T::ZERO } else { T::from_f64((size - 1) as f64) };
                *place = Place { low, share: T::ZERO, slope: T::ZERO };
            }
        }
        places
    }

    /// What points see of these coordinates, one after the other. On the way back those see nothing that are no
    /// numbers, but the nearest element of an image.
    fn points<T: Real, const K: usize, const R: usize>(
        &self,
        coordinates: &[T],
        is_back: bool,
    ) -> Vec<Point<T, K>> {
        let is_lost = is_back && !(self.way == Way::Nearest && R == 2);
        let coordinates = coordinates.as_chunks::<R>().0;
        let none = Point { elements: [NOWHERE; K], weights: [T::ZERO; K] };
        let mut points = interrupt::filled(coordinates.len(), none);
        if const { K == cubic::AROUND } {
            points.iter_mut().zip(coordinates).for_each(|(point, here)| *point = self.cubic_point(here));
            return points;
        }
        vectorised(
            usize::MAX,
            #[inline(always)]
            || {
                for (point, coordinates) in points.iter_mut().zip(coordinates) {
                    let places = self.places::<T, R>(coordinates);
                    *point = self.point(&if is_lost { places } else { self.found(places) });
                }
            },
        );
        points
    }

    /// What is seen from there.
    #[inline(always)]
    fn point<T: Real, const K: usize, const R: usize>(&self, places: &[Place<T>; R]) -> Point<T, K> {
        let mut point = Point { elements: [0; K], weights: [T::ONE; K] };
        for dim in 0..R {
            let (size, place) = (self.sizes[3 - R + dim], &places[dim]);
            // What is no number is the lesser one here, and outside.
            let low = AsPrimitive::<f64>::as_(place.low).max(-2.0).min(size as f64) as i64;
            let ways = [(low, T::ONE - place.share), (low + 1, place.share)].map(|(at, weight)| {
                let is_inside = (0..size as i64).contains(&at);
                (if is_inside { at as usize } else { NOWHERE }, weight)
            });
            for corner in 0..K {
                // The last dimension changes first.
                let (at, weight) = ways[corner >> (R - 1 - dim) & 1];
                let before = point.elements[corner];
                let is_somewhere = at != NOWHERE && before != NOWHERE;
                point.elements[corner] = if is_somewhere { before * size + at } else { NOWHERE };
                point.weights[corner] = point.weights[corner] * weight;
            }
        }
        point
    }

    /// How the weights of what is seen from there change.
    #[inline(always)]
    fn slopes<T: Real, const K: usize, const R: usize>(&self, places: &[Place<T>; R]) -> Slopes<T, K, R> {
        let mut slopes = [[T::ONE; K]; R];
        for corner in 0..K {
            for (dim, place) in places.iter().enumerate() {
                let (weight, slope) = match corner >> (R - 1 - dim) & 1 == 1 {
                    true => (place.share, place.slope),
                    false => (T::ONE - place.share, -place.slope),
                };
                for (of, slopes) in slopes.iter_mut().enumerate() {
                    slopes[corner] = slopes[corner] * if of == dim { slope } else { weight };
                }
            }
        }
        slopes
    }

    /// What is seen at all points, in every channel.
    pub fn seen<T: Real>(&self, images: &[T], points: &[T], out: &mut [MaybeUninit<T>]) {
        match (self.way, self.rank) {
            (Way::Nearest, 2) => self.seen_by::<T, 1, 2>(images, points, out),
            (Way::Nearest, _) => self.seen_by::<T, 1, 3>(images, points, out),
            (Way::Cubic, _) => self.seen_by::<T, { cubic::AROUND }, 2>(images, points, out),
            (Way::Linear, 2) => self.seen_by::<T, 4, 2>(images, points, out),
            (Way::Linear, _) => self.seen_by::<T, 8, 3>(images, points, out),
        }
    }

    fn seen_by<T: Real, const K: usize, const R: usize>(
        &self,
        images: &[T],
        points: &[T],
        out: &mut [MaybeUninit<T>],
    ) {
        let ([_, channels, count], plane) = (self.counts, self.plane());
        // Of every stretch of points its lines in all channels.
        let mut stretches: Vec<(usize, usize, Lines<'_, T>)> = Vec::new();
        for (sample, out) in out.chunks_exact_mut(channels * count).enumerate() {
            let first = stretches.len();
            stretches
                .extend((0..count).step_by(STRETCH).map(|start| (sample, start, interrupt::room(channels))));
            for line in out.chunks_exact_mut(count) {
                for (part, (_, _, lines)) in line.chunks_mut(STRETCH).zip(&mut stretches[first..]) {
                    lines.push(part);
                }
            }
        }
        let grain = (TURN / (STRETCH.min(count) * channels * K)).max(1);
        parallel_items(stretches, grain, |(sample, start, lines)| {
            let len = lines.first().map_or(0, |line| line.len());
            let points = self.points::<T, K, R>(&points[(sample * count + start) * R..][..len * R], false);
            let images = images[sample * channels * plane..].chunks_exact(plane);
            for (line, image) in lines.into_iter().zip(images) {
                interrupt::unwind_if_due();
                for (out, point) in line.iter_mut().zip(&points) {
                    // Beyond the edges of images there are zeros, of volumes nothing: zeros times what is no number are none.
                    let mut sum = if R == 2 { point.weights[0] * T::ZERO } else { T::ZERO };
                    for corner in 0..K {
                        if let Some(&x) = image.get(point.elements[corner]) {
                            sum = sum + x * point.weights[corner];
                        }
                    }
                    out.write(sum);
                }
            }
        });
    }

    /// Adds the gradients of images and points to zeros, where there is room for them, from those of what is seen.
    pub fn gradients<T: Real>(
        &self,
        [images, points, gradients]: [&[T]; 3],
        to_images: &mut [T],
        to_points: &mut [T],
    ) {
        let given = [images, points, gradients];
        match (self.way, self.rank) {
            (Way::Nearest, 2) => self.gradients_by::<T, 1, 2>(given, to_images, to_points),
            (Way::Nearest, _) => self.gradients_by::<T, 1, 3>(given, to_images, to_points),
            (Way::Cubic, _) => self.gradients_by::<T, { cubic::AROUND }, 2>(given, to_images, to_points),
            (Way::Linear, 2) => self.gradients_by::<T, 4, 2>(given, to_images, to_points),
            (Way::Linear, _) => self.gradients_by::<T, 8, 3>(given, to_images, to_points),
        }
    }

    fn gradients_by<T: Real, const K: usize, const R: usize>(
        &self,
        [images, points, gradients]: [&[T]; 3],
        to_images: &mut [T],
        to_points: &mut [T],
    ) {
        let ([samples, channels, count], plane) = (self.counts, self.plane());
        let mut each_image = to_images.chunks_exact_mut(channels * plane);
        let mut each_point = to_points.chunks_exact_mut(count * R);
        let items = (0..samples).map(|sample| {
            (sample, each_image.next().unwrap_or_default(), each_point.next().unwrap_or_default())
        });
        parallel_items(interrupt::collected(items), 1, |(sample, to_image, to_points)| {
            let points = &points[sample * count * R..][..count * R];
            let images = &images[sample * channels * plane..][..channels * plane];
            let gradients = &gradients[sample * channels * count..][..channels * count];
            for start in (0..count).step_by(STRETCH) {
                interrupt::unwind_if_due();
                let len = STRETCH.min(count - start);
                let here = &points[start * R..][..len * R];
                let seen = self.points::<T, K, R>(here, true);
                let lines = gradients.chunks_exact(count).map(|line| &line[start..start + len]);
                for (image, line) in to_image.chunks_exact_mut(plane).zip(lines.clone()) {
                    for (point, &gradient) in seen.iter().zip(line) {
                        for corner in 0..K {
                            if let Some(sum) = image.get_mut(point.elements[corner]) {
                                *sum = *sum + gradient * point.weights[corner];
                            }
                        }
                    }
                }
                if to_points.is_empty() || self.way == Way::Nearest {
                    continue;
                }
                // Of every element that a point sees, what it adds over all channels.
                let mut sums = [[T::ZERO; K]; STRETCH];
                for (image, line) in images.chunks_exact(plane).zip(lines) {
                    for ((sums, point), &gradient) in sums.iter_mut().zip(&seen).zip(line) {
                        for (sum, &element) in sums.iter_mut().zip(&point.elements) {
                            if let Some(&x) = image.get(element) {
                                *sum = *sum + gradient * x;
                            }
                        }
                    }
                }
                let to_points = to_points[start * R..][..len * R].as_chunks_mut::<R>().0;
                vectorised(
                    usize::MAX,
                    #[inline(always)]
                    || {
                        let seen = sums.iter().zip(&seen);
                        for ((to, (sums, point)), here) in
                            to_points.iter_mut().zip(seen).zip(here.as_chunks::<R>().0)
                        {
                            let all: Slopes<T, K, R> = match const { K == cubic::AROUND } {
                                true => self.cubic_slopes(here),
                                false => self.slopes(&self.places(here)),
                            };
                            for (dim, slopes) in all.iter().enumerate() {
                                to[R - 1 - dim] = (0..K).fold(T::ZERO, |sum, corner| {
                                    let is_counted = R == 2 || point.elements[corner] != NOWHERE;
                                    sum + if is_counted { sums[corner] * slopes[corner] } else { T::ZERO }
                                });
                            }
                        }
                    },
                );
            }
        });
    }
}

#[cfg(test)]
mod tests;
