//! Gradients of images and points against differences.

use super::*;
use crate::kernels::testing::{at_thread_counts, written};

fn view(way: Way, beyond: Beyond, align_corners: bool) -> View {
    View { sizes: [1, 4, 5], counts: [2, 3, 300], rank: 2, way, beyond, align_corners }
}

/// None of them is where a point leaves one element for the next: there is no slope.
fn numbers(len: usize, by: f64) -> Vec<f64> {
    (0..len).map(|index| (index as f64 * by + 0.2).sin() * 1.3).collect()
}

#[test]
fn gradients_are_slopes_of_what_is_seen() {
    for (way, beyond) in [Way::Linear, Way::Cubic]
        .into_iter()
        .flat_map(|way| [Beyond::Zeros, Beyond::Edge, Beyond::Mirror].map(|beyond| (way, beyond)))
    {
        for align_corners in [false, true] {
            let view = view(way, beyond, align_corners);
            let (images, points) = (numbers(2 * 3 * 20, 0.7), numbers(2 * 300 * 2, 0.37));
            let g = numbers(2 * 3 * 300, 1.1);
            let seen = |images: &[f64], points: &[f64]| -> f64 {
                let seen = written(g.len(), |out| view.seen(images, points, out));
                seen.iter().zip(&g).map(|(seen, g)| seen * g).sum()
            };
            let (mut to_images, mut to_points) = (vec![0.0; images.len()], vec![0.0; points.len()]);
            view.gradients([&images, &points, &g], &mut to_images, &mut to_points);
            let slope = |x: &[f64], place: usize, of: &dyn Fn(&[f64]) -> f64| {
                let [mut more, mut less] = [x.to_vec(), x.to_vec()];
                more[place] += 1e-6;
                less[place] -= 1e-6;
                (of(&more) - of(&less)) / 2e-6
            };
            for place in (0..images.len()).step_by(7) {
                let slope = slope(&images, place, &|images| seen(images, &points));
                assert!((slope - to_images[place]).abs() < 1e-6);
            }
            for place in (0..points.len()).step_by(11) {
                let slope = slope(&points, place, &|points| seen(&images, points));
                assert!((slope - to_points[place]).abs() < 1e-5, "{way:?} {beyond:?} {place}");
            }
        }
    }
}

#[test]
fn the_bits_are_the_same_at_any_number_of_threads() {
    let view = view(Way::Linear, Beyond::Zeros, false);
    let (images, points) = (numbers(2 * 3 * 20, 0.7), numbers(2 * 300 * 2, 0.37));
    let [one, two, four] = at_thread_counts(|| written(2 * 3 * 300, |out| view.seen(&images, &points, out)));
    assert!(one == two && one == four);
}
