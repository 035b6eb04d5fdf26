//! Images as the columns of their windows, and back.

use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::ops::complex;
use crate::schema::{Arguments, Entry, IntoReply, inner};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients};
use crate::kernels::neural::windows::Windows;
use crate::ops::creation::copy;
use crate::ops::neural::pooling::mean_pool::check_numbers;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Tensor};

/// y = the windows of x as columns, or x = columns added to where they came from
///
/// Each is the transpose of the other.
#[derive(Clone, Copy)]
struct Columns {
    windows: Windows,
    folds: bool,
    /// Whether there is one sample only, without a dimension of samples.
    single: bool,
}

impl Columns {
    /// Zeros for samples, of this shape, as there are samples.
    fn zeros<T: Number>(&self, shape: &[usize]) -> Result<Array> {
        Array::zeroed(&SharedLayout::contiguous(&shape[usize::from(self.single)..])?, T::DTYPE)
    }

    fn run<T: Number>(&self, x: &Array) -> Result<Array> {
        let elements = x.slice::<T>().unwrap_or_else(|| unreachable!("the operand was laid out in order"));
        let (windows, mut shape) = (&self.windows, x.layout.shape().to_vec());
        if self.single {
            shape.insert(0, 1);
        }
        let (elements_of_window, places) = (windows.elements(), windows.places());
        if self.folds {
            let channels = shape[1] / elements_of_window;
            let shape = [shape[0], channels, windows.size[1], windows.size[2]];
            let mut y = self.zeros::<T>(&shape)?;
            windows.fold(elements, y.owned());
            return Ok(y);
        }
        let rows = shape[1] * elements_of_window;
        let shape = [shape[0], rows, places];
        let mut y = self.zeros::<T>(&shape)?;
        windows.unfold(elements, y.owned());
        Ok(y)
    }

    fn of(self, x: &Tensor) -> Result<Tensor> {
        apply_one(self, &[x])
    }
}

impl Op for Columns {
    type Saved = ();

    fn name(&self) -> &'static str {
        if self.folds { "Col2ImBackward0" } else { "Im2ColBackward0" }
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        let times = if self.folds { 1 } else { self.windows.elements() };
        inputs[0].layout.numel().saturating_mul(times) as u64
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        if x.dtype.is_complex() {
            let part = |index: usize| {
                let part = x.component(index)?;
                let part = copy::in_order(&part)?;
                dispatch!(float part.dtype, T => self.run::<T>(&part), else {
                    unreachable!("the parts of complex numbers are floating-point numbers")
                })
            };
            return Ok(smallvec![complex::of_parts(&part(0)?, &part(1)?)?]);
        }
        if x.dtype == DType::Bool {
            let y = self.run::<u8>(&*copy::in_order(&*copy::as_type(x, DType::UInt8)?)?)?;
            return Ok(smallvec![copy::as_type(&y, DType::Bool)?.into_owned()]);
        }
        let x = copy::in_order(x)?;
        let y = dispatch!(float x.dtype, T => self.run::<T>(&x)?, else {
            let operation = if self.folds { "col2im_out_cpu" } else { "im2col_out_cpu" };
            return Err(Error::NotImplementedFor { operation, dtype: x.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(Columns { folds: !self.folds, ..*self }.of(single(gradients))?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.of(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        match self.single {
            // Samples are what this operation knows already.
            true => call.front(Columns { single: false, ..*self }),
            false => call.folded(*self),
        }
    }
}

/// How windows slide over an image: height and width.
#[derive(Clone, Copy, Debug)]
pub struct Sliding {
    /// The sizes of a window.
    pub kernel: [i64; 2],
    /// The steps from one element of it to the next.
    pub dilation: [i64; 2],
    /// What is added before and behind.
    pub padding: [i64; 2],
    /// The steps from one window to the next.
    pub stride: [i64; 2],
}

impl Sliding {
    /// The parameters, under torch's names.
    fn shown(&self) -> Attributes {
        shown! {
            kernel_size: &self.kernel[..],
            dilation: &self.dilation[..],
            padding: &self.padding[..],
            stride: &self.stride[..],
        }
    }

    /// Refuses numbers of the wrong sign.
    fn check_signs(&self) -> Result<()> {
        check_numbers(&[&self.kernel, &self.dilation, &self.padding, &self.stride])?;
        let (positive, other) = ("greater than zero", "non-negative");
        for (what, name, values, least, wanted) in [
            ("kernel size", "kernel", self.kernel, 1, positive),
            ("dilation", "dilation", self.dilation, 1, positive),
            ("padding", "pad", self.padding, 0, other),
            ("stride", "stride", self.stride, 1, positive),
        ] {
            if values.iter().any(|&value| value < least) {
                let [height, width] = values;
                return Err(Error::FoldSign { what, wanted, name, height, width }.into());
            }
        }
        Ok(())
    }

    fn over(&self, size: [i64; 2]) -> Result<Windows> {
        let count = |dim: usize| {
            let reach = self.dilation[dim] * (self.kernel[dim] - 1) + 1;
            (size[dim] + 2 * self.padding[dim] - reach).div_euclid(self.stride[dim]) + 1
        };
        let counts = [count(0), count(1)];
        if counts.iter().any(|&count| count < 1) {
            let [kernel, dilation, padding] =
                [self.kernel, self.dilation, self.padding].map(|two| two.to_vec());
            let (size, counts) = (size.to_vec(), counts.to_vec());
            return Err(Error::FoldEmpty { size, kernel, dilation, padding, counts }.into());
        }
        if counts[0].checked_mul(counts[1]).is_none() {
            return Err(Error::TooManyElements { shape: counts.to_vec() }.into());
        }
        let three = |two: [i64; 2], first: usize| [first, two[0] as usize, two[1] as usize];
        Ok(Windows {
            size: three(size, 1),
            kernel: three(self.kernel, 1),
            stride: three(self.stride, 1),
            padding: three(self.padding, 0),
            dilation: three(self.dilation, 1),
            count: three(counts, 1),
        })
    }
}

/// The windows of an image as columns.
pub fn unfold(x: &Tensor, sliding: &Sliding) -> Result<Tensor> {
    let layout = x.layout();
    let shape = layout.shape();
    sliding.check_signs()?;
    match *shape {
        [channels, high, wide] | [_, channels, high, wide] if ![channels, high, wide].contains(&0) => {
            let windows = sliding.over([high as i64, wide as i64])?;
            let mut given = sliding.shown();
            given.extend(shown! { self_sym_argsize_minus_1: wide, self_sym_argsize_minus_2: high });
            apply_one_with_attributes(
                Columns { windows, folds: false, single: shape.len() == 3 },
                given,
                &[x],
            )
        }
        _ => Err(Error::UnfoldRank { shape: shape.to_vec() }.into()),
    }
}

/// Columns added to where they came from in an image of that height and width.
pub fn fold(x: &Tensor, size: [i64; 2], sliding: &Sliding) -> Result<Tensor> {
    let layout = x.layout();
    sliding.check_signs()?;
    let (&[rows, columns] | &[_, rows, columns]) = layout.shape() else {
        return Err(Error::FoldRank { shape: layout.shape().to_vec() }.into());
    };
    if rows == 0 || columns == 0 {
        return Err(Error::FoldRank { shape: layout.shape().to_vec() }.into());
    }
    let windows = sliding.over(size)?;
    let (kernel, elements) = (sliding.kernel.to_vec(), windows.elements());
    if !rows.is_multiple_of(elements) {
        return Err(Error::FoldChannels { got: rows, kernel }.into());
    }
    if columns != windows.places() {
        return Err(Error::FoldPlaces {
            size: size.to_vec(),
            kernel,
            dilation: sliding.dilation.to_vec(),
            padding: sliding.padding.to_vec(),
            stride: sliding.stride.to_vec(),
            rows: windows.count[1],
            columns: windows.count[2],
            places: windows.places(),
            got: columns,
        }
        .into());
    }
    apply_one_with_attributes(
        Columns { windows, folds: true, single: layout.ndim() == 2 },
        sliding.shown(),
        &[x],
    )
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "im2col",
        &[
            "(Tensor input, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor out=None)",
        ],
        "Extracts sliding blocks of images as columns.",
        |a| unfold(a.tensor(0)?, &sliding(a, 1)?).reply(),
    )
    .operators(&[("Im2ColBackward0", "im2col")]),
    inner(
        "col2im",
        &[
            "(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride, *, Tensor out=None)",
        ],
        "Sums columns of sliding blocks into images.",
        |a| fold(a.tensor(0)?, two(a, 1)?, &sliding(a, 2)?).reply(),
    )
    .operators(&[("Col2ImBackward0", "col2im")]),
];

/// The windows of a call: four arguments from `first` on.
fn sliding(a: &dyn Arguments, first: usize) -> Result<Sliding> {
    let [kernel, dilation, padding, stride] =
        [two(a, first)?, two(a, first + 1)?, two(a, first + 2)?, two(a, first + 3)?];
    Ok(Sliding { kernel, dilation, padding, stride })
}

/// One or two numbers as two.
fn two(a: &dyn Arguments, index: usize) -> Result<[i64; 2]> {
    match a.ints(index)?.as_slice() {
        [one] => Ok([*one, *one]),
        [first, second] => Ok([*first, *second]),
        more => Err(Error::TwoNumbers { count: more.len() }.into()),
    }
}
