//! Maps along axes, checked element by element.

use super::*;
use crate::kernels::testing::{at_thread_counts, written};

#[test]
fn elements_that_are_copied_along_several_axes_are_moved_once() {
    // Each axis between what a mirror at its ends shows.
    let mirrored = |size: usize| {
        let place = move |at: usize| at.abs_diff(1).min(2 * size - 1 - at);
        (size + 2, Taps::new(size + 2, move |at| std::iter::once((place(at), 1.0))).unwrap())
    };
    let sizes = [3, 4, 20];
    let [(depth, z), (height, y), (width, x)] = sizes.map(mirrored);
    let maps = [
        Along::<f32>::new(&x, false, sizes[2], 1).unwrap(),
        Along::new(&y, false, sizes[1], width).unwrap(),
        Along::new(&z, false, sizes[0], width * height).unwrap(),
    ];
    let elements: Vec<f32> = (0..2 * 240).map(|number| number as f32).collect();
    let count = 2 * depth * height * width;
    let found = written(count, |out| resample(&elements, out, 240, &maps));
    let outer_first = [
        Along::<f32>::new(&z, false, sizes[0], sizes[1] * sizes[2]).unwrap(),
        Along::new(&y, false, sizes[1], sizes[2]).unwrap(),
        Along::new(&x, false, sizes[2], 1).unwrap(),
    ];
    assert!(found == written(count, |out| resample(&elements, out, 240, &outer_first)));
    assert!(copied_lines(&maps).is_some() && copied_lines(&maps[1..]).is_none());
    let at = |taps: &Taps, place: usize| taps.inputs[place].0;
    for (place, &found) in found.iter().enumerate() {
        let [row, column] = [place / width, place % width];
        let [layer, row] = [row / height, row % height];
        let from = (at(&z, layer % depth) * 4 + at(&y, row)) * 20 + at(&x, column);
        assert_eq!(found, (layer / depth * 240 + from) as f32);
    }
}

#[test]
fn bytes_are_rounded_and_do_not_overflow() {
    let inputs: [&[_]; 3] = [&[(0, 0.5), (1, 0.5)], &[(0, -0.25), (1, 1.25)], &[(1, 0.75), (1, 0.25)]];
    let taps = |of: std::ops::Range<usize>| {
        Taps::new(of.len(), |output| inputs[of.start + output].iter().copied()).unwrap()
    };
    let mut y = [0; 3];
    gather_bytes(&[10, 255], &mut y, &taps(0..3), 2, 1).unwrap();
    assert_eq!(y, [133, 255, 255]);
    gather_bytes(&[255, 10], &mut y[..1], &taps(1..2), 2, 1).unwrap();
    assert_eq!(y[0], 0);
}

#[test]
fn the_transpose_undoes_which_goes_where() {
    let inputs: [&[_]; 2] = [&[(0, 1.0), (1, 1.0)], &[(1, 2.0)]];
    let taps = Taps::new(2, |output| inputs[output].iter().copied()).unwrap();
    let along = |x: &[i32], transposed: bool, inner: usize| {
        let map = Along::new(&taps, transposed, 3, inner).unwrap();
        let len = map.grown(x.len());
        written(len, |y| resample(x, y, x.len() / 2, &[map]))
    };
    assert_eq!(along(&[1, 2, 3, 4, 5, 6], false, 1), [3, 4, 9, 10]);
    assert_eq!(along(&[1, 10, 2, 20], true, 1), [1, 21, 0, 2, 42, 0]);
    let rows = along(&[1, 7, 2, 7, 3, 7, 4, 7, 5, 7, 6, 7], false, 2);
    assert_eq!(rows, [3, 14, 4, 14, 9, 14, 10, 14]);
    let rows = along(&[1, 1, 10, 1, 2, 1, 20, 1], true, 2);
    assert_eq!(rows, [1, 1, 21, 3, 0, 0, 2, 1, 42, 3, 0, 0]);
}

#[test]
fn planes_are_mapped_along_both_axes_however_many_inputs_there_are() {
    let (rows, columns) = (7, 9);
    let near = |each: usize, length: usize| {
        Taps::new(length * 2, move |output| {
            (0..each).map(move |step| ((output / 2 + step) % length, 0.5 + (output % 3 + step) as f64))
        })
        .unwrap()
    };
    let x: Vec<f64> = (0..5 * rows * columns).map(|index| ((index * 37) % 101) as f64).collect();
    for each in 1..6 {
        let (down, across) = (near(each, rows), near(each, columns));
        let maps = [(&across, columns, 1), (&down, rows, 2 * columns)]
            .map(|(taps, length, inner)| Along::new(taps, false, length, inner).unwrap());
        let all = at_thread_counts(|| written(x.len() * 4, |y| resample(&x, y, rows * columns, &maps)));
        assert!(all.iter().all(|y| *y == all[0]));
        for (place, y) in all[0].iter().enumerate() {
            let (plane, row, column) =
                (place / (4 * rows * columns), place / (2 * columns) % (2 * rows), place % (2 * columns));
            let sum = |taps: &Taps, at: usize, of: &dyn Fn(usize) -> f64| -> f64 {
                taps.each().nth(at).into_iter().flatten().map(|&(input, weight)| of(input) * weight).sum()
            };
            let element = |row: usize, column: usize| x[(plane * rows + row) * columns + column];
            let expected = sum(&down, row, &|row| sum(&across, column, &|column| element(row, column)));
            assert!((y - expected).abs() < 1e-9 * expected.abs().max(1.0));
        }
    }
}

#[test]
fn more_outputs_than_memory_has_room_for_are_an_error() {
    assert!(Taps::new(usize::MAX / 16, |_| std::iter::empty()).is_err());
}

#[test]
fn elements_are_repeated_as_often_along_each_axis() {
    let repeated = |size: usize, times: usize| {
        Taps::new(size * times, move |at| std::iter::once((at / times, 1.0))).unwrap()
    };
    for times in [2, 3] {
        let maps = [
            Along::<f32>::new(&repeated(5, times), false, 5, 1).unwrap(),
            Along::new(&repeated(4, times), false, 4, 5 * times).unwrap(),
        ];
        let elements: Vec<f32> = (0..40).map(|number| number as f32).collect();
        let found = written(40 * times * times, |out| resample(&elements, out, 20, &maps));
        for (place, &found) in found.iter().enumerate() {
            let [row, column] = [place / (5 * times), place % (5 * times)];
            assert_eq!(found, (row / times * 5 + column / times) as f32);
        }
    }
}
