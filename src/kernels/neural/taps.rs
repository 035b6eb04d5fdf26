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
    pub fn each(&self) -> impl Iterator<Item = &[(usize, f64)]> {
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
    /// If so, and if each is as many outputs, in turn: how many.
    times: Option<usize>,
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
        let times = ends.len() / length.max(1);
        let is_in_turn = |(output, &(input, _)): (usize, &(usize, T))| output / times == input;
        let is_repeated = times > 1 && is_copied && inner == 1 && inputs.iter().enumerate().all(is_in_turn);
        Ok(Along { ends, inputs, each, is_copied, runs, times: is_repeated.then_some(times), length, inner })
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
                if self.is_copied && self.inner == 1 {
                    self.copy_line(x, out);
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

    /// Outputs that are inputs, in rows of one element.
    fn copy_line<V: Place<T>>(&self, x: &[T], out: &mut [V]) {
        match (&self.runs, self.times) {
            (Some(runs), _) => copy_runs(runs, x, out),
            (None, Some(times)) => vectorised(
                out.len(),
                #[inline(always)]
                || match times {
                    2 => out.as_chunks_mut().0.iter_mut().zip(x).for_each(|([first, second], &x)| {
                        first.put(x);
                        second.put(x);
                    }),
                    _ => out.chunks_exact_mut(times).zip(x).for_each(|(out, &x)| {
                        out.iter_mut().for_each(|out| out.put(x));
                    }),
                },
            ),
            (None, None) => out.iter_mut().zip(&self.inputs).for_each(|(out, &(input, _))| out.put(x[input])),
        }
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
    if let Some((map, lines)) = copied_lines(maps) {
        let width = map.ends.len();
        return parallel_parts(y, (GRAIN / to).max(1) * to, |start, part| {
            let mut steps = Steps::default();
            for (y, x) in part.chunks_mut(to).zip(x[start / to * plane..].chunks(plane)) {
                steps.take(to);
                for (index, &line) in lines.iter().enumerate() {
                    let at = index * width;
                    match lines[..index].last() {
                        Some(&before) if before == line => y.copy_within(at - width..at, at),
                        _ => map.copy_line(&x[line * map.length..][..map.length], &mut y[at..at + width]),
                    }
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
/// and where each line of a result is from.
fn copied_lines<T: Number>(maps: &[Along<T>]) -> Option<(&Along<T>, Vec<usize>)> {
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
    Some((last, lines))
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
mod tests;
