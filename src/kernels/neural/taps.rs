//! Linear maps along one axis of which each output has a few inputs: averages over windows,
//! interpolation, padding with what is there.

use std::iter::repeat_n;
use std::mem::MaybeUninit;

use crate::dtype::Number;
use crate::error::Result;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::place::Place;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;
use crate::storage;

/// The inputs of every output, and what each counts: those of one output behind those of the one before.
#[derive(Clone, Debug)]
pub struct Taps {
    ends: Vec<usize>,
    inputs: Vec<(usize, f64)>,
}

impl Taps {
    /// The inputs of so many outputs.
    pub fn new<I: Iterator<Item = (usize, f64)>>(count: usize, of: impl Fn(usize) -> I) -> Result<Taps> {
        let mut taps = Taps { ends: storage::room(count)?, inputs: Vec::new() };
        for output in 0..count {
            for input in of(output) {
                storage::push(&mut taps.inputs, input)?;
            }
            taps.ends.push(taps.inputs.len());
        }
        Ok(taps)
    }

    /// How many outputs there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The same with each input of an output once.
    fn merged(&self) -> Result<Taps> {
        let start = |output: usize| output.checked_sub(1).map_or(0, |before| self.ends[before]);
        let of = |output: usize| merged(&self.inputs[start(output)..self.ends[output]]).into_iter();
        Taps::new(self.count(), of)
    }

    /// The outputs of each of so many inputs, and what it counts in each.
    fn transposed(&self, length: usize) -> Result<Taps> {
        let mut ends = storage::filled(length, 0)?;
        self.inputs.iter().for_each(|&(input, _)| ends[input] += 1);
        let mut total = 0;
        for end in &mut ends {
            (*end, total) = (total, total + *end);
        }
        let mut inputs = storage::filled(total, (0, 0.0))?;
        for (output, taps) in self.each().enumerate() {
            for &(input, weight) in taps {
                inputs[ends[input]] = (output, weight);
                ends[input] += 1;
            }
        }
        Ok(Taps { ends, inputs })
    }

    /// The inputs of each output in turn.
    fn each(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.inputs[start..end])
    }
}

/// A map along one axis of planes, with its weights as numbers of the planes.
pub struct Along<T> {
    ends: Vec<usize>,
    inputs: Vec<(usize, T)>,
    /// How many inputs every output has, if all have as many.
    each: Option<usize>,
    /// Whether outputs are inputs, one each.
    is_copied: bool,
    /// If so, and if most of them are as many in a row: the first of each row, and how many it has.
    runs: Option<Vec<(usize, usize)>>,
    /// The size of the axis.
    length: usize,
    /// Elements of its rows.
    inner: usize,
}

impl<T: Number> Along<T> {
    /// The map along an axis of `length` rows of `inner` elements. `transposed` says that of its transpose `length` is
    /// the number of outputs.
    pub fn new(taps: &Taps, transposed: bool, length: usize, inner: usize) -> Result<Along<T>> {
        let turned = if transposed { Some(taps.transposed(length)?) } else { None };
        let length = if transposed { taps.count() } else { length };
        let taps = turned.as_ref().unwrap_or(taps);
        let mut ends = storage::room(taps.count())?;
        ends.extend_from_slice(&taps.ends);
        let weighed = taps.inputs.iter().map(|&(input, weight)| (input, T::from_f64(weight)));
        let inputs = storage::collected(taps.inputs.len(), weighed)?;
        let first = taps.each().next().map_or(0, <[_]>::len);
        let each = (first > 0 && taps.each().all(|inputs| inputs.len() == first)).then_some(first);
        let is_copied = each == Some(1) && inputs.iter().all(|&(_, weight)| weight == T::ONE);
        let runs = if is_copied && inner == 1 { runs(&inputs)? } else { None };
        Ok(Along { ends, inputs, each, is_copied, runs, length, inner })
    }

    /// How many elements there are behind the map of so many.
    fn grown(&self, elements: usize) -> usize {
        elements / self.length.max(1) * self.ends.len()
    }

    /// y = the weighted sums of the inputs of each output.
    fn apply<V: Place<T>>(&self, x: &[T], y: &mut [V]) {
        let (from, to) = (self.length * self.inner, self.ends.len() * self.inner);
        parallel_parts(y, (GRAIN / to.max(1)).max(1) * to, |start, part| {
            let mut steps = Steps::default();
            for (out, x) in part.chunks_mut(to).zip(x[start / to * from..].chunks(from)) {
                steps.take(to);
                if let Some(runs) = &self.runs {
                    copy_runs(runs, x, out);
                    continue;
                }
                match (self.inner, self.each) {
                    (1, Some(1)) => self.line::<V, 1>(x, out),
                    (1, Some(2)) => self.line::<V, 2>(x, out),
                    (1, Some(3)) => self.line::<V, 3>(x, out),
                    (1, Some(4)) => self.line::<V, 4>(x, out),
                    (1, _) => self.uneven_line(x, out),
                    _ => self.rows(x, out),
                }
            }
        });
    }

    /// Outputs of as many inputs each, in rows of one element.
    fn line<V: Place<T>, const EACH: usize>(&self, x: &[T], out: &mut [V]) {
        let (taps, _) = self.inputs.as_chunks::<EACH>();
        for (out, taps) in out.iter_mut().zip(taps) {
            out.put(weighed(x, taps));
        }
    }

    fn uneven_line<V: Place<T>>(&self, x: &[T], out: &mut [V]) {
        let mut start = 0;
        for (out, &end) in out.iter_mut().zip(&self.ends) {
            out.put(weighed(x, &self.inputs[start..end]));
            start = end;
        }
    }

    fn rows<V: Place<T>>(&self, x: &[T], out: &mut [V]) {
        let row = |input: usize| &x[input * self.inner..][..self.inner];
        let mut start = 0;
        for (out, &end) in out.chunks_mut(self.inner).zip(&self.ends) {
            match self.inputs[start..end] {
                [] => out.iter_mut().for_each(|out| out.put(T::ZERO)),
                [(input, weight)] => {
                    let out = V::copied(out, row(input));
                    if weight != T::ONE {
                        out.iter_mut().for_each(|out| *out = out.mul(weight));
                    }
                }
                [(first, share), (second, weight), ref rest @ ..] => {
                    let (out, second) = (V::copied(out, row(first)), row(second));
                    vectorised(
                        out.len(),
                        #[inline(always)]
                        || {
                            let both = |(out, &x): (&mut T, &T)| *out = out.mul(share).add(x.mul(weight));
                            out.iter_mut().zip(second).for_each(both);
                            for &(input, weight) in rest {
                                let add = |(out, &x): (&mut T, &T)| *out = out.add(x.mul(weight));
                                out.iter_mut().zip(row(input)).for_each(add);
                            }
                        },
                    );
                }
            }
            start = end;
        }
    }
}

/// Inputs that are taken as they are, as rows of such, if there are few.
fn runs<T>(inputs: &[(usize, T)]) -> Result<Option<Vec<(usize, usize)>>> {
    /// So many inputs at least have the rows on average.
    const WORTH: usize = 4;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &(input, _) in inputs {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == input => *count += 1,
            _ => storage::push(&mut runs, (input, 1))?,
        }
    }
    Ok((runs.len() * WORTH <= inputs.len()).then_some(runs))
}

fn copy_runs<T: Number, V: Place<T>>(runs: &[(usize, usize)], x: &[T], mut out: &mut [V]) {
    for &(first, count) in runs {
        let (now, rest) = out.split_at_mut(count);
        match now {
            [place] => place.put(x[first]),
            _ => {
                V::copied(now, &x[first..first + count]);
            }
        }
        out = rest;
    }
}

/// The weighted sum of a few elements.
#[inline(always)]
fn weighed<T: Number>(x: &[T], taps: &[(usize, T)]) -> T {
    let Some((&(first, weight), rest)) = taps.split_first() else { return T::ZERO };
    rest.iter().fold(x[first].mul(weight), |sum, &(input, weight)| sum.add(x[input].mul(weight)))
}

/// Maps along one axis after the other of planes of so many elements, each plane by itself: what is in between stays
/// at hand.
pub fn resample<T: Number>(x: &[T], y: &mut [MaybeUninit<T>], plane: usize, maps: &[Along<T>]) {
    let to = maps.iter().fold(plane, |elements, map| map.grown(elements));
    let (Some((last, others)), true) = (maps.split_last(), plane > 0 && to > 0) else {
        return y.iter_mut().for_each(|y| y.put(T::ZERO));
    };
    if let Some((map, runs, lines)) = copied_lines(maps) {
        return parallel_parts(y, (GRAIN / to).max(1) * to, |start, part| {
            let mut steps = Steps::default();
            for (y, x) in part.chunks_mut(to).zip(x[start / to * plane..].chunks(plane)) {
                steps.take(to);
                for (out, &line) in y.chunks_mut(map.ends.len()).zip(&lines) {
                    copy_runs(runs, &x[line * map.length..][..map.length], out);
                }
            }
        });
    }
    parallel_parts(y, (GRAIN / to).max(1) * to, |start, part| {
        let between = |count: usize| others[..count].iter().fold(plane, |elements, map| map.grown(elements));
        let mut held: Vec<Vec<T>> =
            (1..=others.len()).map(|count| interrupt::filled(between(count), T::ZERO)).collect();
        for (y, x) in part.chunks_mut(to).zip(x[start / to * plane..].chunks(plane)) {
            let mut source = x;
            for (map, target) in others.iter().zip(&mut held) {
                map.apply(source, target.as_mut_slice());
                source = target;
            }
            last.apply(source, y);
        }
    });
}

/// If maps along axes next to each other, the last of all among them, take inputs as they are: that along the last axis,
/// its runs, and where each line of a result is from.
#[expect(clippy::type_complexity)]
fn copied_lines<T: Number>(maps: &[Along<T>]) -> Option<(&Along<T>, &[(usize, usize)], Vec<usize>)> {
    let mut outer = interrupt::collected(maps.iter());
    let is_last_first = maps.last()?.inner != 1;
    if is_last_first {
        outer.reverse();
    }
    let mut inner = 1;
    for map in outer.iter().rev() {
        if !map.is_copied || map.inner != inner {
            return None;
        }
        inner *= if is_last_first { map.ends.len() } else { map.length };
    }
    let last = outer.pop()?;
    let mut lines = vec![0];
    for map in outer {
        let within = |line: usize| map.inputs.iter().map(move |&(input, _)| line * map.length + input);
        lines = interrupt::gathered(lines.into_iter().flat_map(within));
    }
    Some((last, last.runs.as_deref()?, lines))
}

/// A row of `inner` elements.
fn row<T>(elements: &[T], inner: usize, row: usize) -> &[T] {
    &elements[row * inner..][..inner]
}

/// `gather` of bytes, with weights that are whole numbers of as many bits as sixteen leave for the greatest, and sums
/// that are rounded once.
pub fn gather_bytes(x: &[u8], y: &mut [u8], taps: &Taps, length: usize, inner: usize) -> Result<()> {
    if inner == 0 || taps.count() == 0 {
        return Ok(());
    }
    let taps = taps.merged()?;
    let most = taps.inputs.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
    let bits = (0..22).find(|bits| 0.5 + most * f64::from(2 << bits) >= f64::from(1 << 15)).unwrap_or(22);
    let whole = |weight: f64| (weight * f64::from(1 << bits) + 0.5f64.copysign(weight)) as i32;
    let mut sums = storage::collected(inner, repeat_n(0i32, inner))?;
    let mut steps = Steps::default();
    for (out, x) in y.chunks_mut(taps.count() * inner).zip(x.chunks(length * inner)) {
        for (out, inputs) in out.chunks_mut(inner).zip(taps.each()) {
            sums.fill(if bits == 0 { 0 } else { 1 << (bits - 1) });
            for &(input, weight) in inputs {
                steps.take(inner);
                let weight = whole(weight);
                for (sum, &byte) in sums.iter_mut().zip(row(x, inner, input)) {
                    *sum += weight * i32::from(byte);
                }
            }
            for (byte, sum) in out.iter_mut().zip(&sums) {
                *byte = (sum >> bits).clamp(0, 255) as u8;
            }
        }
    }
    Ok(())
}

/// Each input once, with all that it counts.
fn merged(inputs: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut merged: Vec<(usize, f64)> = Vec::new();
    for &(input, weight) in inputs {
        match merged.iter_mut().find(|(known, _)| *known == input) {
            Some((_, sum)) => *sum += weight,
            None => merged.push((input, weight)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
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
}
