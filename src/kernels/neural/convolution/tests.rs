use super::*;
use crate::kernels::testing::{at_thread_counts, written};

/// A convolution in all three roles: the sizes, and numbers for input, weight and output.
struct Case {
    windows: Windows,
    groups: usize,
    channels: [usize; 2],
    numbers: [Vec<f64>; 3],
}

const BATCH: usize = 2;

impl Case {
    fn new(size: [usize; 3], [kernel, stride, padding, dilation]: [[usize; 3]; 4], groups: usize) -> Case {
        let reach = |dim: usize| (kernel[dim] - 1) * dilation[dim] + 1;
        let count = [0, 1, 2].map(|dim| (size[dim] + 2 * padding[dim] - reach(dim)) / stride[dim] + 1);
        let windows = Windows { size, kernel, stride, padding, dilation, count };
        let channels = [3, 13];
        let lens = [
            BATCH * groups * channels[0] * windows.area(),
            groups * channels[0] * channels[1] * windows.elements(),
            BATCH * groups * channels[1] * windows.places(),
        ];
        let numbers = lens.map(|len| (0..len).map(|index| ((index * 7919) % 101) as f64 - 50.0).collect());
        Case { windows, groups, channels, numbers }
    }

    /// The array in one role, from the others, by the definition.
    fn expected(&self, gives: usize) -> Vec<f64> {
        let Case { windows, groups, channels: [from, to], numbers: [x, w, y] } = self;
        let Windows { size, kernel, stride, padding, dilation, count } = *windows;
        let mut found = vec![0.0; self.numbers[gives].len()];
        let split = |index: usize, sizes: [usize; 3]| {
            [index / (sizes[1] * sizes[2]), index / sizes[2] % sizes[1], index % sizes[2]]
        };
        for pair in 0..BATCH * groups * to * from {
            let (image, o, i) = (pair / (to * from), pair / from % to, pair % from);
            for (place, element) in
                (0..windows.places()).flat_map(|place| (0..windows.elements()).map(move |e| (place, e)))
            {
                let (at, within) = (split(place, count), split(element, kernel));
                let padded = [0, 1, 2].map(|dim| at[dim] * stride[dim] + within[dim] * dilation[dim]);
                if (0..3).any(|dim| padded[dim] < padding[dim] || padded[dim] - padding[dim] >= size[dim]) {
                    continue;
                }
                let here = (0..3).fold(0, |here, dim| here * size[dim] + padded[dim] - padding[dim]);
                let places = [
                    (image * from + i) * windows.area() + here,
                    ((image % groups * to + o) * from + i) * windows.elements() + element,
                    (image * to + o) * windows.places() + place,
                ];
                found[places[gives]] += match gives {
                    0 => w[places[1]] * y[places[2]],
                    1 => x[places[0]] * y[places[2]],
                    _ => x[places[0]] * w[places[1]],
                };
            }
        }
        found
    }

    /// The same by a plan.
    fn found(&self, gives: usize) -> Option<Vec<f64>> {
        let Case { windows, groups, channels: [from, to], numbers: [x, w, y] } = self;
        let (groups, len) = (*groups, self.numbers[gives].len());
        let sizes = |from: usize, to: usize| Sizes { batch: BATCH, groups, from, to };
        let images = BATCH * groups;
        let lay = |room: Option<usize>, numbers: &[f64], lay: &dyn Fn(&mut [MaybeUninit<f64>])| {
            room.map_or(numbers.to_vec(), |room| written(room, lay))
        };
        if gives == 0 {
            let sizes = sizes(*to, *from);
            let plan = Plan::backward(windows, sizes)?;
            let data = lay(plan.room(images * to), y, &|room| plan.lay(y, room));
            let weights = written(plan.room_of_weights(sizes), |room| {
                plan.lay_weights(sizes, (w, true), windows.elements(), room);
            });
            return Some(written(len, |out| plan.sum(sizes, &data, &weights, None, out)));
        }
        let sizes = sizes(*from, *to);
        let plan = Plan::forward(windows, sizes)?;
        let data = lay(plan.room(images * from), x, &|room| plan.lay(x, room));
        if gives == 1 {
            let gradient = lay(plan.room_of_results(images * to), y, &|room| plan.lay_results(y, room));
            return Some(written(len, |out| plan.weigh(sizes, &data, &gradient, out)));
        }
        let weights = written(plan.room_of_weights(sizes), |room| {
            plan.lay_weights(sizes, (w, false), windows.elements(), room);
        });
        let bias = vec![0.5; groups * to];
        let mut y = written(len, |out| plan.sum(sizes, &data, &weights, Some(&bias), out));
        y.iter_mut().for_each(|y| *y -= 0.5);
        Some(y)
    }
}

#[test]
fn all_three_roles_are_sums_by_the_definition_at_any_number_of_threads() {
    let one = [1; 3];
    let cases = [
        ([1, 1, 40], [[1, 1, 5], one, [0, 0, 2], one], 1),
        ([1, 1, 1700], [[1, 1, 3], [1, 1, 2], [0; 3], one], 1),
        ([1, 9, 17], [[1, 3, 3], one, [0, 1, 1], one], 2),
        ([1, 9, 10], [[1, 3, 2], [1, 2, 3], [0, 2, 1], [1, 2, 1]], 3),
        ([1, 4, 8], [one, one, [0; 3], one], 2),
        ([1, 5, 6], [one, [1, 2, 2], [0; 3], one], 1),
        ([4, 5, 6], [[2, 3, 2], [2, 1, 2], [1; 3], one], 1),
        ([1, 30, 40], [[1, 3, 3], one, [0, 1, 1], one], 1),
        ([1, 7, 16], [[1, 5, 5], one, [0, 2, 2], one], 1),
        ([1, 6, 7], [[1, 3, 3], one, [0, 3, 3], one], 2),
        ([1, 9, 9], [[1, 3, 3], [1, 2, 2], [0, 1, 1], one], 1),
    ];
    let mut planned = 0;
    for (size, options, groups) in cases {
        let case = Case::new(size, options, groups);
        for gives in 0..3 {
            let [found, two, four] = at_thread_counts(|| case.found(gives));
            assert!(found == two && found == four);
            // Sums of whole numbers are exact in any order.
            let Some(found) = found else { continue };
            assert_eq!(found, case.expected(gives), "{size:?} {options:?} {gives}");
            planned += 1;
        }
    }
    assert!(planned > 26 || together() == 0, "{planned}");
}

#[test]
fn much_padding_around_little_is_not_laid_out() {
    let far = [0, 0, 1 << 40];
    let windows = Windows {
        size: [1, 1, 4],
        kernel: [1; 3],
        stride: [1, 1, 1 << 40],
        padding: far,
        dilation: [1; 3],
        count: [1, 1, 3],
    };
    let sizes = Sizes { batch: 1, groups: 1, from: 1, to: 1 };
    assert!(Plan::forward(&windows, sizes).is_none_or(|plan| plan.room(1).is_none_or(|room| room < 1 << 17)));
    let spaced =
        Windows { kernel: [1, 1, 3], stride: [1; 3], dilation: [1, 1, 1 << 40], count: [1, 1, 4], ..windows };
    assert!(Plan::forward(&spaced, sizes).is_none());
}
