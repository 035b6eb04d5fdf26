//! Sums of products in Einstein's notation.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{part, permute, reshape, squeeze};
use crate::ops::linalg::products;
use crate::ops::mul;
use crate::ops::reduction::reduce;
use crate::shape;
use crate::tensor::Tensor;

/// What stands for a dimension of the ellipsis, counted from the last; letters are below.
const ELLIPSIS: u32 = 1000;

/// The labels of one operand, or of the output if there is no `operand`, as they are written, with a place for
/// the ellipsis.
fn labels(text: &[char], offset: usize, operand: Option<usize>) -> Result<Vec<Option<char>>> {
    let mut labels = Vec::new();
    let mut place = 0;
    while place < text.len() {
        match text[place] {
            ' ' => {}
            '.' => {
                let wrong = match (labels.contains(&None), text[place..].starts_with(&['.', '.', '.'])) {
                    (false, true) => None,
                    (true, _) if operand.is_none() => Some("but an ellipsis (...) was already found"),
                    (true, _) => Some("for which an ellipsis was already found"),
                    _ if operand.is_none() => Some("that is not part of any ellipsis (...)"),
                    _ => Some("that is not part of any ellipsis"),
                };
                if let Some(what) = wrong {
                    let place = operand.map_or("output".to_owned(), |number| format!("operand {number}"));
                    return Err(Error::EinsumEllipsis { place, what }.into());
                }
                labels.push(None);
                place += 2;
            }
            letter if letter.is_ascii_alphabetic() => labels.push(Some(letter)),
            _ => return Err(Error::EinsumSubscript { index: offset + place }.into()),
        }
        place += 1;
    }
    Ok(labels)
}

/// An operand with a label for each dimension, every one once.
#[derive(Clone)]
struct Term {
    x: Tensor,
    labels: Vec<u32>,
}

impl Term {
    fn new(x: &Tensor, written: &[Option<char>], operand: usize) -> Result<Term> {
        let letters = written.iter().flatten().count();
        let ellipsis = written.contains(&None);
        let rest = x.ndim().checked_sub(letters).filter(|&rest| ellipsis || rest == 0);
        let Some(rest) = rest else {
            let (subscripts, ndim) = (letters, x.ndim());
            let how = match ellipsis {
                true => "is more than",
                false => "does not match",
            };
            let tail = if ellipsis { "" } else { " and no ellipsis was given" };
            return Err(Error::EinsumRank { subscripts, how, ndim, operand, tail }.into());
        };
        let mut labels = Vec::new();
        for label in written {
            match label {
                Some(letter) => labels.push(u32::from(*letter)),
                None => labels.extend((0..rest as u32).rev().map(|place| ELLIPSIS + place)),
            }
        }
        let mut term = Term { x: x.clone(), labels };
        term.take_diagonals(operand)?;
        Ok(term)
    }

    /// Dimensions of one label as their diagonal.
    fn take_diagonals(&mut self, operand: usize) -> Result<()> {
        while let Some((first, second)) = self.repeated() {
            let layout = self.x.layout();
            let (one, two) = (layout.shape()[first], layout.shape()[second]);
            if one != two {
                let label = char::from_u32(self.labels[first]).unwrap_or('.').to_string();
                return Err(Error::EinsumRepeated { label, operand, size: two, expected: one }.into());
            }
            // The diagonal comes last; it stays where the first of the two was.
            let diagonal = part::diagonal(&self.x, 0, first as i64, second as i64)?;
            self.x = permute::movedim(&diagonal, &[-1], &[first as i64])?;
            self.labels.remove(second);
        }
        Ok(())
    }

    fn repeated(&self) -> Option<(usize, usize)> {
        let find =
            |second: usize| self.labels[..second].iter().position(|label| *label == self.labels[second]);
        (0..self.labels.len()).find_map(|second| Some((find(second)?, second)))
    }

    /// The dimensions in the order of these labels, those that are missing of size one.
    fn arranged(&self, labels: &[u32]) -> Result<Tensor> {
        let (mut order, mut x) = (Vec::new(), self.x.clone());
        for label in labels {
            match self.labels.iter().position(|other| other == label) {
                Some(place) => order.push(place as i64),
                None => {
                    x = squeeze::unsqueeze(&x, x.ndim() as i64)?;
                    order.push(x.ndim() as i64 - 1);
                }
            }
        }
        permute::permute(&x, &order)
    }
}

/// The product of two tensors of one rank, summed over some dimensions, which stay with size one. A
/// dimension of size one meets any size of the other.
fn contracted(left: &Tensor, right: &Tensor, summed: &[usize]) -> Result<Tensor> {
    if summed.is_empty() {
        // It may be of two types.
        return mul(left, right);
    }
    let (first, second) = (left.layout(), right.layout());
    let (first, second) = (first.shape(), second.shape());
    let apart = || (0..first.len()).filter(|dim| !summed.contains(dim));
    let batch: Vec<usize> = apart().filter(|&dim| first[dim] != 1 && second[dim] != 1).collect();
    let rows: Vec<usize> = apart().filter(|&dim| first[dim] != 1 && second[dim] == 1).collect();
    let columns: Vec<usize> = apart().filter(|&dim| first[dim] == 1).collect();
    let size = |shape: &[usize], dims: &[usize]| dims.iter().map(|&dim| shape[dim]).product::<usize>();
    let ordered = |x: &Tensor, dims: [&[usize]; 4], sizes: [usize; 3]| {
        reshape::reshape_to(&permute::permute(x, &shape::signed(&dims.concat()))?, &sizes)
    };
    let (height, width, depth) = (size(first, &rows), size(second, &columns), size(first, summed));
    let count = size(first, &batch);
    let a = ordered(left, [&batch, &rows, summed, &columns], [count, height, depth])?;
    let b = ordered(right, [&batch, summed, &columns, &rows], [count, depth, width])?;
    let order = [batch, rows, summed.to_vec(), columns].concat();
    let result = |dim: usize| match first[dim] {
        _ if summed.contains(&dim) => 1,
        1 => second[dim],
        size => size,
    };
    let sizes: Vec<usize> = order.iter().map(|&dim| result(dim)).collect();
    let mut back = vec![0; order.len()];
    for (place, &dim) in order.iter().enumerate() {
        back[dim] = place as i64;
    }
    permute::permute(&reshape::view(&products::bmm(&a, &b)?, &shape::signed(&sizes))?, &back)
}

/// The product of all tensors, of which the first `kept` dimensions stay and the others are summed.
fn product_of_all(mut terms: VecDeque<Tensor>, kept: usize) -> Result<Tensor> {
    let rank = terms[0].ndim();
    let is_one = |x: &Tensor, dim: usize| x.layout().shape()[dim] == 1;
    // How many tensors are still to be multiplied that have the dimension.
    let mut left: Vec<usize> =
        (0..rank).map(|dim| terms.iter().filter(|x| !is_one(x, dim)).count()).collect();
    let alone = terms.len() == 1;
    while let Some(mut a) = terms.pop_front() {
        let Some(mut b) = terms.pop_front() else {
            let gone: Vec<i64> = (kept as i64..rank as i64).collect();
            return match alone {
                _ if gone.is_empty() => Ok(a),
                true => reduce::sum(&a, Some(&gone), false, None),
                false => reshape::view(&a, &shape::signed(&a.layout().shape()[..kept])),
            };
        };
        let (mut both, mut only_first, mut only_second) = (Vec::new(), Vec::new(), Vec::new());
        for (dim, left) in left.iter_mut().enumerate().skip(kept) {
            match (is_one(&a, dim), is_one(&b, dim)) {
                (false, false) => {
                    *left -= 1;
                    if *left == 1 {
                        both.push(dim);
                        *left = 0;
                    }
                }
                (first, second) if *left == 1 && first != second => {
                    let dims = if second { &mut only_first } else { &mut only_second };
                    dims.push(dim as i64);
                    *left = 0;
                }
                _ => {}
            }
        }
        for (x, dims) in [(&mut a, only_first), (&mut b, only_second)] {
            if !dims.is_empty() {
                *x = reduce::sum(x, Some(&dims), true, None)?;
            }
        }
        terms.push_front(contracted(&a, &b, &both)?);
    }
    unreachable!("there is an operand")
}

/// The sums of products that `equation` says.
pub fn einsum(equation: &str, operands: &[&Tensor]) -> Result<Tensor> {
    let text: Vec<char> = equation.chars().collect();
    let arrow = text.windows(2).position(|pair| pair == ['-', '>']);
    let (left, right) = (&text[..arrow.unwrap_or(text.len())], arrow.map(|arrow| &text[arrow + 2..]));
    let mut written = Vec::new();
    let mut offset = 0;
    for (operand, part) in left.split(|&letter| letter == ',').enumerate() {
        written.push(labels(part, offset, Some(operand))?);
        offset += part.len() + 1;
    }
    if operands.is_empty() {
        return Err(Error::EinsumNone {}.into());
    }
    if written.len() != operands.len() {
        let how = if written.len() > operands.len() { "fewer" } else { "more" };
        return Err(Error::EinsumCount { how }.into());
    }
    let terms = operands.iter().zip(&written).enumerate();
    let terms: Vec<Term> =
        terms.map(|(number, (x, written))| Term::new(x, written, number)).collect::<Result<_>>()?;
    check_sizes(&terms)?;
    let ellipsis =
        terms.iter().flat_map(|term| &term.labels).filter(|&&label| label >= ELLIPSIS).max().copied();
    let dots: Vec<u32> = ellipsis.map_or(Vec::new(), |most| (ELLIPSIS..=most).rev().collect());
    let output = match right {
        Some(text) => wanted_labels(&labels(text, arrow.unwrap_or(0) + 2, None)?, &dots, &terms)?,
        None => {
            // What stands once, in the order of the alphabet.
            let all: Vec<u32> = written.iter().flatten().flatten().map(|&letter| u32::from(letter)).collect();
            let mut once: Vec<u32> = all
                .iter()
                .copied()
                .filter(|label| all.iter().filter(|other| *other == label).count() == 1)
                .collect();
            once.sort_unstable();
            [dots, once].concat()
        }
    };
    let mut summed: Vec<u32> = terms.iter().flat_map(|term| term.labels.iter().copied()).collect();
    // Letters in the order of the alphabet, then the ellipsis.
    summed.sort_unstable_by_key(|&label| if label < ELLIPSIS { label } else { u32::MAX - label });
    summed.dedup();
    summed.retain(|label| !output.contains(label));
    let order = [&output[..], &summed].concat();
    let terms = terms.iter().map(|term| term.arranged(&order)).collect::<Result<_>>()?;
    product_of_all(terms, output.len())
}

fn check_sizes(terms: &[Term]) -> Result<()> {
    let mut seen: Vec<(u32, usize)> = Vec::new();
    for (operand, term) in terms.iter().enumerate() {
        for (dim, (&label, &size)) in term.labels.iter().zip(term.x.layout().shape()).enumerate() {
            match seen.iter_mut().find(|(other, _)| *other == label) {
                Some((_, expected)) if *expected == size || size == 1 => {}
                Some((_, expected)) if *expected == 1 => *expected = size,
                Some(&mut (_, expected)) => {
                    let letter = char::from_u32(label).filter(char::is_ascii_alphabetic);
                    let error = match letter.map(String::from) {
                        Some(label) => Error::EinsumBroadcast { label, size, operand, expected },
                        None => Error::EinsumCovered { dim, size, operand, expected },
                    };
                    return Err(error.into());
                }
                None => seen.push((label, size)),
            }
        }
    }
    Ok(())
}

fn wanted_labels(written: &[Option<char>], dots: &[u32], terms: &[Term]) -> Result<Vec<u32>> {
    let mut output = Vec::new();
    for label in written {
        let Some(letter) = label else {
            output.extend(dots);
            continue;
        };
        let label = u32::from(*letter);
        if output.contains(&label) {
            return Err(Error::EinsumOutputTwice { label: letter.to_string() }.into());
        }
        if !terms.iter().any(|term| term.labels.contains(&label)) {
            return Err(Error::EinsumOutputUnknown { label: letter.to_string() }.into());
        }
        output.push(label);
    }
    Ok(output)
}

/// The factors of `tensordot`. One element along a dimension meets the sum of all along the other.
fn summed_alone(a: &Tensor, b: &Tensor, first: &[i64], second: &[i64]) -> Result<(Tensor, Tensor)> {
    let (mut a, mut b) = (a.clone(), b.clone());
    for (&one, &two) in first.iter().zip(second) {
        let (p, q) = (shape::normalize_dim(one, a.ndim())?, shape::normalize_dim(two, b.ndim())?);
        match (a.layout().size(p), b.layout().size(q)) {
            (one, other) if one == other => {}
            (1, _) => b = reduce::sum(&b, Some(&[q as i64]), true, Some(b.dtype()))?,
            (_, 1) => a = reduce::sum(&a, Some(&[p as i64]), true, Some(a.dtype()))?,
            _ => {}
        }
    }
    Ok((a, b))
}

/// The dimensions of either factor of `tensordot` that are summed.
fn pairs(
    left: &shape::Layout,
    right: &shape::Layout,
    first: &[i64],
    second: &[i64],
) -> Result<(Vec<usize>, Vec<usize>)> {
    let mut summed = (Vec::new(), Vec::new());
    for (&one, &two) in first.iter().zip(second) {
        let (p, q) = (shape::normalize_dim(one, left.ndim())?, shape::normalize_dim(two, right.ndim())?);
        let (size1, size2) = (left.size(p), right.size(q));
        if size1 != size2 {
            return Err(Error::TensordotSizes { size1, dim1: one, size2, dim2: two }.into());
        }
        for (dims, dim) in [(&summed.0, p), (&summed.1, q)] {
            if dims.contains(&dim) {
                return Err(Error::TensordotTwice { dim }.into());
            }
        }
        summed.0.push(p);
        summed.1.push(q);
    }
    Ok(summed)
}

/// The sums of products over `first` dimensions of `a` and `second` of `b`, pair by pair.
pub fn tensordot(a: &Tensor, b: &Tensor, first: &[i64], second: &[i64]) -> Result<Tensor> {
    if first.len() != second.len() {
        return Err(Error::TensordotCount {}.into());
    }
    if a.dtype() != b.dtype() {
        return Err(Error::TensordotDTypes {}.into());
    }
    let (a, b) = &summed_alone(a, b, first, second)?;
    let (left, right) = (a.layout(), b.layout());
    let summed = pairs(&left, &right, first, second)?;
    let rows: Vec<usize> = (0..left.ndim()).filter(|dim| !summed.0.contains(dim)).collect();
    let columns: Vec<usize> = (0..right.ndim()).filter(|dim| !summed.1.contains(dim)).collect();
    let sizes = |layout: &shape::Layout, dims: &[usize]| {
        dims.iter().map(|&dim| layout.shape()[dim]).collect::<Vec<_>>()
    };
    let count: usize = if left.ndim() == 0 { 1 } else { sizes(&left, &summed.0).iter().product() };
    let (height, width) = (sizes(&left, &rows), sizes(&right, &columns));
    let (rows, columns) = (shape::signed(&rows), shape::signed(&columns));
    // A tensor without dimensions has none to order; what is summed is named as it was given.
    let dims = |x: &Tensor, dims: [&[i64]; 2]| if x.ndim() == 0 { Vec::new() } else { dims.concat() };
    let a = permute::permute(a, &dims(a, [&rows, first]))?;
    let b = permute::permute(b, &dims(b, [second, &columns]))?;
    let one = height.iter().chain(&width).all(|&size| size == 1);
    let product = if one && a.is_contiguous() && b.is_contiguous() {
        let flat = |x: &Tensor| if x.ndim() == 1 { Ok(x.clone()) } else { reshape::reshape_to(x, &[count]) };
        products::dot(&flat(&a)?, &flat(&b)?)?
    } else if one {
        let all = |x: &Tensor| squeeze::squeeze(x, Squeezed::All);
        let dtype = Some(a.dtype()).filter(|dtype| !dtype.is_differentiable());
        reduce::sum(&mul(&all(&a)?, &all(&b)?)?, None, false, dtype)?
    } else {
        let a = reshape::reshape_to(&a, &[height.iter().product(), count])?;
        products::mm(&a, &reshape::reshape_to(&b, &[count, width.iter().product()])?)?
    };
    reshape::reshape_to(&product, &[height, width].concat())
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("einsum", &["(str equation, Tensor[] tensors)"], "Sums of products in Einstein notation.", |a| {
        let tensors = a.tensors(1)?;
        einsum(&a.text(0)?, &tensors.iter().collect::<Vec<_>>()).reply()
    })
    .operators(&[("=", "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")]),
    inner(
        "tensordot",
        &["(Tensor input, Tensor other, int[] dims_self, int[] dims_other, *, Tensor out=None)"],
        "The contraction of two tensors over pairs of dimensions.",
        |a| tensordot(a.tensor(0)?, a.tensor(1)?, &a.ints(2)?, &a.ints(3)?).reply(),
    )
    .written(&OutPolicy::PLAIN.copied().typed(Types::Contracted)),
];
