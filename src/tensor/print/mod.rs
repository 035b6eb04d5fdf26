//! The text of a tensor: what Python's `repr` shows. A pure function of elements, shape and
//! options, so it knows neither tensors nor the graph; who calls it reads those.

mod number;
mod options;
#[cfg(test)]
mod tests;

use number::ElementFormat;
pub use options::{PrintOptions, print_options, set_print_options};

use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::kernels::interrupt;
use crate::storage;

/// How many elements are gone through before it is asked whether anybody still wants them.
const PATIENCE: usize = 4096;

/// What is said of a tensor beside its elements.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// The word before the opening parenthesis: `tensor`, or the name of a subclass.
    pub name: &'a str,
    /// The name of the node that made the tensor, such as `AddBackward0`.
    pub grad_fn: Option<&'a str>,
    /// Whether the tensor wants a gradient; shown when there is no `grad_fn`.
    pub requires_grad: bool,
    /// The text of the tangent that the tensor carries.
    pub tangent: Option<&'a str>,
    /// The element type that needs no mention.
    pub default_dtype: DType,
}

impl Default for Heading<'_> {
    fn default() -> Self {
        Heading {
            name: "tensor",
            grad_fn: None,
            requires_grad: false,
            tangent: None,
            default_dtype: DType::Float32,
        }
    }
}

/// Brackets within brackets that are printed at most: each is a call within a call.
const DEEPEST: usize = 1000;

/// The `repr` of a tensor whose element at row-major position `i` is `element(i)`.
///
/// Only elements that are shown are asked for, some of them twice. It is given up as long work is.
pub fn render(
    element: impl Fn(usize) -> Scalar,
    dtype: DType,
    shape: &[usize],
    heading: &Heading<'_>,
    options: &PrintOptions,
) -> Result<String> {
    if shape.len() > DEEPEST {
        return Err(Error::PrintedDimensions {}.into());
    }
    let indent = heading.name.chars().count() + 1;
    let mut text = format!("{}(", heading.name);
    if shape.contains(&0) {
        text.push_str("[]");
    } else {
        let body = Body::new(&element, dtype, shape, options)?;
        body.reserve(indent, &mut text)?;
        body.write(0, 0, indent, &mut text);
    }
    push_suffixes(&mut text, &suffixes(dtype, shape, heading, options), indent, options.linewidth);
    text.push(')');
    Ok(text)
}

/// The elements on their way into the text.
struct Body<'a> {
    element: &'a dyn Fn(usize) -> Scalar,
    shape: &'a [usize],
    options: &'a PrintOptions,
    /// Whether the middle of long dimensions is left out.
    summarize: bool,
    numbers: ElementFormat,
}

impl<'a> Body<'a> {
    fn new(
        element: &'a dyn Fn(usize) -> Scalar,
        dtype: DType,
        shape: &'a [usize],
        options: &'a PrintOptions,
    ) -> Result<Self> {
        let numel: usize = shape.iter().product();
        let numbers = ElementFormat::new(dtype, options.precision);
        let mut body = Body { element, shape, options, summarize: numel as f64 > options.threshold, numbers };
        let mut seen = storage::room(body.count())?;
        body.collect(0, 0, &mut seen);
        body.numbers.fit(&seen, options.sci_mode)?;
        Ok(body)
    }

    /// How many elements are shown.
    fn count(&self) -> usize {
        let shown = |axis| {
            let (head, tail) = self.shown(axis);
            head.len() + tail.len()
        };
        (0..self.shape.len()).map(shown).fold(1, usize::saturating_mul)
    }

    /// Makes room for all elements, each on a line of its own.
    fn reserve(&self, indent: usize, text: &mut String) -> Result<()> {
        let line = self.numbers.width() + indent + 2 * self.shape.len() + 2;
        let bytes = self.count().saturating_mul(line);
        text.try_reserve(bytes).map_err(|_| Error::OutOfMemory { bytes: bytes as u64 }.into())
    }

    /// An element. There may be so many that nobody wants to wait for all of them.
    fn at(&self, position: usize) -> Scalar {
        if position.is_multiple_of(PATIENCE) {
            interrupt::unwind_if_due();
        }
        (self.element)(position)
    }

    /// How many entries of a dimension are shown before and after its "..."; `None` for all.
    fn edges(&self, axis: usize) -> Option<usize> {
        let edge = self.options.edgeitems;
        (self.summarize && self.shape[axis] > edge.saturating_mul(2)).then_some(edge)
    }

    /// The indices of a dimension that are shown: before the "...", and after it.
    fn shown(&self, axis: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let size = self.shape[axis];
        match self.edges(axis) {
            Some(edge) => (0..edge, size - edge..size),
            None => (0..size, size..size),
        }
    }

    /// Gathers the elements that are shown; they decide the width of all.
    fn collect(&self, axis: usize, position: usize, seen: &mut Vec<Scalar>) {
        if axis == self.shape.len() {
            seen.push(self.at(position));
            return;
        }
        let (head, tail) = self.shown(axis);
        for index in head.chain(tail) {
            self.collect(axis + 1, position * self.shape[axis] + index, seen);
        }
    }

    /// Writes the part of the tensor that is left when the first `axis` indices are fixed.
    fn write(&self, axis: usize, position: usize, indent: usize, text: &mut String) {
        match self.shape.len() - axis {
            0 => text.push_str(&self.numbers.format(self.at(position))),
            1 => self.write_vector(axis, position, indent, text),
            depth => {
                let separator = format!(",{}{}", "\n".repeat(depth - 1), " ".repeat(indent + 1));
                let write = |index: usize, text: &mut String| {
                    self.write(axis + 1, position * self.shape[axis] + index, indent + 1, text);
                };
                self.write_list(axis, "...", |_| &separator, write, text);
            }
        }
    }

    /// Writes the innermost dimension, as many elements to a line as fit.
    fn write_vector(&self, axis: usize, position: usize, indent: usize, text: &mut String) {
        let room = self.options.linewidth.saturating_sub(indent);
        let per_line = (room / (self.numbers.width() + 2)).max(1);
        // The leading space aligns the dots, where there is something to align with.
        let ellipsis = if self.options.edgeitems == 0 { "..." } else { " ..." };
        let line_break = format!(",\n{}", " ".repeat(indent + 1));
        let separator =
            |entry: usize| if entry.is_multiple_of(per_line) { line_break.as_str() } else { ", " };
        let write = |index: usize, text: &mut String| {
            let element = self.at(position * self.shape[axis] + index);
            text.push_str(&self.numbers.format(element));
        };
        self.write_list(axis, ellipsis, separator, write, text);
    }

    /// Writes one dimension in brackets. `separator(n)` stands before the n-th entry.
    fn write_list<'s>(
        &self,
        axis: usize,
        ellipsis: &str,
        separator: impl Fn(usize) -> &'s str,
        write: impl Fn(usize, &mut String),
        text: &mut String,
    ) {
        let (head, tail) = self.shown(axis);
        let gap = self.edges(axis).map(|_| None);
        text.push('[');
        for (entry, index) in head.map(Some).chain(gap).chain(tail.map(Some)).enumerate() {
            if entry > 0 {
                text.push_str(separator(entry));
            }
            match index {
                Some(index) => write(index, text),
                None => text.push_str(ellipsis),
            }
        }
        text.push(']');
    }
}

/// What follows the elements, in order.
fn suffixes(dtype: DType, shape: &[usize], heading: &Heading<'_>, options: &PrintOptions) -> Vec<String> {
    let mut suffixes = Vec::new();
    let empty = shape.contains(&0);
    if (empty && shape.len() != 1) || (!empty && options.edgeitems == 0) {
        suffixes.push(format!("size={}", tuple(shape)));
    }
    // Elements that are shown tell integers and truth values apart by themselves.
    let evident = !empty && matches!(dtype, DType::Int64 | DType::Bool);
    let usual = match dtype.is_complex() && !empty {
        true => heading.default_dtype.to_complex(),
        false => heading.default_dtype,
    };
    if dtype != usual && !evident {
        suffixes.push(format!("dtype=torch.{}", dtype.name()));
    }
    match heading.grad_fn {
        Some(name) => suffixes.push(format!("grad_fn=<{name}>")),
        None if heading.requires_grad => suffixes.push("requires_grad=True".to_owned()),
        None => {}
    }
    suffixes.extend(heading.tangent.map(|tangent| format!("tangent={tangent}")));
    suffixes
}

/// A shape as Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Appends the suffixes, each on a new line if the last one has no room for it.
fn push_suffixes(text: &mut String, suffixes: &[String], indent: usize, linewidth: usize) {
    let last_line = text.rsplit('\n').next().unwrap_or_default();
    // torch counts two more than are there; so the text breaks where torch breaks it.
    let mut used = last_line.chars().count() + 2;
    for suffix in suffixes {
        let length = suffix.chars().count();
        if used + length + 2 > linewidth {
            text.push_str(&format!(",\n{}{suffix}", " ".repeat(indent)));
            used = indent + length;
        } else {
            text.push_str(&format!(", {suffix}"));
            used += length + 2;
        }
    }
}
