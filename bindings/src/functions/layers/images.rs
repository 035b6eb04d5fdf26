//! Images: padded, taken apart into windows and put together, in other sizes, with channels for pixels.

use crate::calls::callable::Function;
use crate::functions::entries::inner;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::neural::images::upsample::{Between, Filter, upsample};

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[inner(
    "upsample",
    &["(Tensor input, int[] output_size, str mode, bool align_corners=False, object scale_factors=None)"],
    "Resizes the last dimensions by interpolation.",
    upsampled,
)];

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
