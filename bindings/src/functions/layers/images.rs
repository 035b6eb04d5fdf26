//! Images: padded, taken apart into windows and put together, in other sizes, with channels for pixels.

use crate::calls::callable::Function;
use crate::functions::entries::inner;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::ops::neural::images::fold::{Sliding, fold, unfold};
use rushlight::ops::neural::images::upsample::{Between, Filter, upsample};

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner(
        "im2col",
        &[
            "(Tensor input, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor out=None)",
        ],
        "Extracts sliding blocks of images as columns.",
        |a| unfold(a.tensor(0)?, &sliding(a, 1)?).answer(a.py()),
    )
    .operators(&[("Im2ColBackward0", "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")]),
    inner(
        "col2im",
        &[
            "(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor out=None)",
        ],
        "Sums columns of sliding blocks into images.",
        |a| fold(a.tensor(0)?, two(a, 1)?, &sliding(a, 2)?).answer(a.py()),
    )
    .operators(&[("Col2ImBackward0", "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor")]),
    inner(
        "upsample",
        &["(Tensor input, int[] output_size, str mode, bool align_corners=False, object scale_factors=None)"],
        "Resizes the last dimensions by interpolation.",
        upsampled,
    ),
];

/// One or two numbers as two.
fn two(a: &Arguments<'_, '_>, index: usize) -> PyResult<[i64; 2]> {
    match a.ints(index)?.as_slice() {
        [one] => Ok([*one, *one]),
        [first, second] => Ok([*first, *second]),
        more => Err(PyRuntimeError::new_err(format!("expected two numbers, but got {}", more.len()))),
    }
}

/// The windows of a call: four arguments from `first` on.
fn sliding(a: &Arguments<'_, '_>, first: usize) -> PyResult<Sliding> {
    let [kernel, dilation, padding, stride] =
        [two(a, first)?, two(a, first + 1)?, two(a, first + 2)?, two(a, first + 3)?];
    Ok(Sliding { kernel, dilation, padding, stride })
}

/// The body of `upsample`, which the package calls for every mode of `interpolate`.
fn upsampled(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let between = match a.text(2)?.as_str() {
        "nearest" => Between::Nearest,
        "nearest-exact" => Between::NearestExact,
        "bicubic" => Between::Cubic { align_corners: a.boolean(3) },
        "smooth bilinear" => Between::Smooth { filter: Filter::Line, align_corners: a.boolean(3) },
        "smooth bicubic" => Between::Smooth { filter: Filter::Cubic, align_corners: a.boolean(3) },
        "smooth lanczos" => Between::Smooth { filter: Filter::Lanczos, align_corners: a.boolean(3) },
        _ => Between::Linear { align_corners: a.boolean(3) },
    };
    let scales: Vec<Option<f64>> = match a.object(4) {
        Some(list) => list.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?,
        None => Vec::new(),
    };
    upsample(a.tensor(0)?, &a.ints(1)?, &scales, between).answer(a.py())
}
