//! Sums of products in Einstein's notation.

use crate::error::{Error, Result};
use crate::ops::{part, permute, products, reduce, reshape, squeeze, view};
use crate::shape;
use crate::tensor::Tensor;

/// What stands for a dimension of the ellipsis, counted from the last; letters are below.
const ELLIPSIS: u32 = 1000;

/// The labels of one operand as they are written, with a place for the ellipsis.
fn labels(text: &[char], offset: usize) -> Result<Vec<Option<char>>> {
    let mut labels = Vec::new();
    let mut place = 0;
    while place < text.len() {
        match text[place] {
            ' ' => {}
            '.' => {
                let dots = text[place..].starts_with(&['.', '.', '.']);
                if !dots || labels.contains(&None) {
                    return Err(Error::EinsumEllipsis { index: offset + place }.into());
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
            if one != two && one != 1 && two != 1 {
                let label = char::from_u32(self.labels[first]).unwrap_or('.').to_string();
                return Err(Error::EinsumRepeated { label, operand, size: two, expected: one }.into());
            }
            self.x = part::diagonal(&self.x, 0, first as i64, second as i64)?;
            let label = self.labels.remove(second);
            self.labels.remove(first);
            self.labels.push(label);
        }
        Ok(())
    }

    fn repeated(&self) -> Option<(usize, usize)> {
        let find =
            |second: usize| self.labels[..second].iter().position(|label| *label == self.labels[second]);
        (0..self.labels.len()).find_map(|second| Some((find(second)?, second)))
    }

    fn size(&self, label: u32) -> usize {
        let place = self.labels.iter().position(|other| *other == label);
        place.map_or(1, |place| self.x.layout().shape()[place])
    }

    /// The sum over the labels that nobody else has.
    fn summed(self, wanted: impl Fn(u32) -> bool) -> Result<Term> {
        let gone: Vec<i64> = (0..self.labels.len())
            .filter(|&place| !wanted(self.labels[place]))
            .map(|place| place as i64)
            .collect();
        if gone.is_empty() {
            return Ok(self);
        }
        let x = reduce::sum(&self.x, Some(&gone), false, Some(self.x.dtype()))?;
        Ok(Term { x, labels: self.labels.into_iter().filter(|&label| wanted(label)).collect() })
    }

    /// The dimensions in the order of these labels, those that are missing of size one.
    fn arranged(&self, labels: &[u32]) -> Result<Tensor> {
        let (mut order, mut x) = (Vec::new(), self.x.clone());
        for label in labels {
            match self.labels.iter().position(|other| other == label) {
                Some(place) => order.push(place as i64),
                None => {
                    x = squeeze::unsqueeze(&x, -1)?;
                    order.push(x.ndim() as i64 - 1);
                }
            }
        }
        permute::permute(&x, &order)
    }
}

/// The product of two terms, summed over the labels that are not wanted any more.
fn contracted(left: Term, right: Term, wanted: impl Fn(u32) -> bool) -> Result<Term> {
    let left = left.summed(|label| wanted(label) || right.labels.contains(&label))?;
    let right = right.summed(|label| wanted(label) || left.labels.contains(&label))?;
    let both = |label: &u32| left.labels.contains(label) && right.labels.contains(label);
    let batch: Vec<u32> = left.labels.iter().copied().filter(|label| both(label) && wanted(*label)).collect();
    let sum: Vec<u32> = left.labels.iter().copied().filter(|label| both(label) && !wanted(*label)).collect();
    let only = |term: &Term, other: &Term| -> Vec<u32> {
        term.labels.iter().copied().filter(|label| !other.labels.contains(label)).collect()
    };
    let (rows, columns) = (only(&left, &right), only(&right, &left));
    let size = |labels: &[u32]| -> i64 {
        labels.iter().map(|&label| left.size(label).max(right.size(label)) as i64).product()
    };
    let sizes = |labels: &[u32]| {
        labels.iter().map(|&label| left.size(label).max(right.size(label)) as i64).collect::<Vec<_>>()
    };
    let matrix = |term: &Term, order: [&[u32]; 3]| -> Result<Tensor> {
        let all = order.concat();
        // Dimensions of size one stand for any size.
        let whole: Vec<i64> = sizes(&all);
        let x = view::expand(&term.arranged(&all)?, &whole)?;
        reshape::reshape(&x, &order.map(size))
    };
    let (a, b) = (matrix(&left, [&batch, &rows, &sum])?, matrix(&right, [&batch, &sum, &columns])?);
    // Where nothing is summed it is a product of elements, which may be of two types.
    let product = if sum.is_empty() { super::super::mul(&a, &b)? } else { products::bmm(&a, &b)? };
    let labels = [batch, rows, columns].concat();
    Ok(Term { x: reshape::reshape(&product, &sizes(&labels))?, labels })
}

/// The sums of products that `equation` says.
pub fn einsum(equation: &str, operands: &[&Tensor]) -> Result<Tensor> {
    let text: Vec<char> = equation.chars().collect();
    let arrow = text.windows(2).position(|pair| pair == ['-', '>']);
    let (left, right) = (&text[..arrow.unwrap_or(text.len())], arrow.map(|arrow| &text[arrow + 2..]));
    let mut written = Vec::new();
    let mut offset = 0;
    for part in left.split(|&letter| letter == ',') {
        written.push(labels(part, offset)?);
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
    let mut terms: Vec<Term> =
        terms.map(|(number, (x, written))| Term::new(x, written, number)).collect::<Result<_>>()?;
    check_sizes(&terms)?;
    let ellipsis =
        terms.iter().flat_map(|term| &term.labels).filter(|&&label| label >= ELLIPSIS).max().copied();
    let dots: Vec<u32> = ellipsis.map_or(Vec::new(), |most| (ELLIPSIS..=most).rev().collect());
    let output = match right {
        Some(text) => wanted_labels(&labels(text, arrow.unwrap_or(0) + 2)?, &dots, &terms)?,
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
    let mut result = terms.remove(0);
    while !terms.is_empty() {
        let next = terms.remove(0);
        let later: Vec<u32> = terms.iter().flat_map(|term| term.labels.iter().copied()).collect();
        result = contracted(result, next, |label| output.contains(&label) || later.contains(&label))?;
    }
    result.summed(|label| output.contains(&label))?.arranged(&output)
}

fn check_sizes(terms: &[Term]) -> Result<()> {
    let mut seen: Vec<(u32, usize)> = Vec::new();
    for (operand, term) in terms.iter().enumerate() {
        for (&label, &size) in term.labels.iter().zip(term.x.layout().shape()) {
            match seen.iter_mut().find(|(other, _)| *other == label) {
                Some((_, expected)) if *expected == size || size == 1 => {}
                Some((_, expected)) if *expected == 1 => *expected = size,
                Some(&mut (_, expected)) => {
                    let label =
                        char::from_u32(label).filter(char::is_ascii_alphabetic).unwrap_or('.').to_string();
                    return Err(Error::EinsumBroadcast { label, size, operand, expected }.into());
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

/// The sums of products over `first` dimensions of `a` and `second` of `b`, pair by pair.
pub fn tensordot(a: &Tensor, b: &Tensor, first: &[i64], second: &[i64]) -> Result<Tensor> {
    if first.len() != second.len() {
        return Err(Error::TensordotCount {}.into());
    }
    if a.dtype() != b.dtype() {
        return Err(Error::TensordotDTypes {}.into());
    }
    let (mut a, mut b) = (a.clone(), b.clone());
    for (&one, &two) in first.iter().zip(second) {
        let (p, q) = (shape::normalize_dim(one, a.ndim())?, shape::normalize_dim(two, b.ndim())?);
        let size = |x: &Tensor, dim: usize| x.layout().shape().get(dim).copied().unwrap_or(1);
        // One element along a dimension meets the sum of all along the other.
        match (size(&a, p), size(&b, q)) {
            (one, other) if one == other => {}
            (1, _) => b = reduce::sum(&b, Some(&[q as i64]), true, Some(b.dtype()))?,
            (_, 1) => a = reduce::sum(&a, Some(&[p as i64]), true, Some(a.dtype()))?,
            _ => {}
        }
    }
    let (a, b) = (&a, &b);
    let (left, right) = (a.layout(), b.layout());
    let (mut rows, mut columns, mut summed) = (Vec::new(), Vec::new(), (Vec::new(), Vec::new()));
    for (&one, &two) in first.iter().zip(second) {
        let (p, q) = (shape::normalize_dim(one, left.ndim())?, shape::normalize_dim(two, right.ndim())?);
        let size = |layout: &shape::Layout, dim: usize| layout.shape().get(dim).copied().unwrap_or(1);
        if size(&left, p) != size(&right, q) {
            let (size1, size2) = (size(&left, p), size(&right, q));
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
    rows.extend((0..left.ndim()).filter(|dim| !summed.0.contains(dim)));
    columns.extend((0..right.ndim()).filter(|dim| !summed.1.contains(dim)));
    let sizes = |layout: &shape::Layout, dims: &[usize]| {
        dims.iter().map(|&dim| layout.shape()[dim] as i64).collect::<Vec<_>>()
    };
    let count: i64 = if left.ndim() == 0 { 1 } else { sizes(&left, &summed.0).iter().product() };
    let order = |dims: &[usize]| dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
    let (height, width) = (sizes(&left, &rows), sizes(&right, &columns));
    let a = permute::permute(a, &order(&if left.ndim() == 0 { vec![] } else { [rows, summed.0].concat() }))?;
    let b =
        permute::permute(b, &order(&if right.ndim() == 0 { vec![] } else { [summed.1, columns].concat() }))?;
    let a = reshape::reshape(&a, &[height.iter().product(), count])?;
    let b = reshape::reshape(&b, &[count, width.iter().product()])?;
    reshape::reshape(&products::mm(&a, &b)?, &[height, width].concat())
}
