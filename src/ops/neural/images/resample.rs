//! Linear maps along spatial dimensions, one after the other: each output element is a weighted sum
//! of a few input elements. Averages, interpolation and padding with what is there are such maps.

mod portable;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::dispatch::memory_order;
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::neural::taps;
use crate::kernels::neural::taps::{Along, Taps};
use crate::ops::conjugate::by_parts;
use crate::ops::creation::{copy, create};
use crate::shape::{SharedLayout, checked_shape, signed};
use crate::tensor::{Array, Tensor};
pub(crate) use portable::ROWS;

/// What torch calls a map: in messages, its node, and that of its transpose.
pub(in crate::ops::neural) type Called = [&'static str; 3];

/// The map of one dimension.
pub(in crate::ops::neural) struct Axis {
    /// How many dimensions are behind it.
    pub(in crate::ops::neural) behind: usize,
    /// Its size.
    pub(in crate::ops::neural) size: usize,
    /// The inputs of each output.
    pub(in crate::ops::neural) taps: Taps,
}

/// Refuses images of sizes that there is no memory for, before anything is made that is as large as one of them.
pub(in crate::ops::neural) fn check_room(x: &Tensor, sizes: &[i64]) -> Result<()> {
    let layout = x.layout();
    let mut shape = signed(layout.shape());
    let lead = shape.len() - sizes.len();
    shape[lead..].copy_from_slice(sizes);
    Array::uninit_shape(&checked_shape(&shape)?, x.dtype()).map(drop)
}

/// y = A x with the map A, or its transpose
///
/// dy = A dx, x̄ = Aᵀ ȳ
#[derive(Clone)]
pub(in crate::ops::neural) struct Resample {
    pub(in crate::ops::neural) called: Called,
    pub(in crate::ops::neural) axes: Arc<[Axis]>,
    pub(in crate::ops::neural) transposed: bool,
    /// Whether torch keeps the input, and minds that it is written to.
    pub(in crate::ops::neural) keeps: bool,
    /// Whether complex numbers are taken.
    pub(in crate::ops::neural) takes_complex: bool,
}

impl Resample {
    /// Whether it is an average over windows.
    fn is_pool(&self) -> bool {
        self.called[0].contains("pool")
    }

    /// How many dimensions images have. Windows take those of one dimension for images of one row.
    fn spatial(&self) -> usize {
        match self.axes.len() {
            // Means of volumes are in order.
            3 if self.is_pool() => usize::from(u8::MAX),
            count if self.is_pool() => count,
            3 => 3,
            _ => 2,
        }
    }

    /// The elements of `x` along one axis after the other, with so many dimensions of parts behind.
    fn run<T: Number>(&self, x: &Array, parts: usize) -> Result<Array> {
        let x = copy::in_order(x)?;
        let mut shape = x.layout.shape().to_vec();
        let dim = |axis: &Axis| shape.len() - 1 - axis.behind - parts;
        let lead = self.axes.iter().map(dim).min().unwrap_or_default();
        let plane = shape[lead..].iter().product();
        let size = |axis: &Axis| if self.transposed { axis.size } else { axis.taps.count() };
        // Rows are added up faster than what lies beside each other, so that they go first where they become fewer.
        let before: usize = shape[lead..shape.len() - parts].iter().product();
        let grows = self.axes.iter().map(size).product::<usize>() > before;
        let mut order: SmallVec<[&Axis; 3]> = self.axes.iter().collect();
        if grows {
            order.reverse();
        }
        let mut maps: SmallVec<[Along<T>; 3]> = SmallVec::new();
        for axis in order {
            let dim = shape.len() - 1 - axis.behind - parts;
            let inner = shape[dim + 1..].iter().product();
            maps.push(Along::new(&axis.taps, self.transposed, axis.size, inner)?);
            shape[dim] = size(axis);
        }
        let mut y = Array::uninit_shape(&shape, T::DTYPE)?;
        let Some(elements) = x.slice::<T>() else { unreachable!("the operand was laid out in order") };
        taps::resample(elements, y.fresh(), plane, &maps);
        Ok(y)
    }

    /// `run` of images of bytes, the last axis first, as rounding in between makes a difference.
    fn run_bytes(&self, x: &Array) -> Result<Array> {
        let mut array = x.clone();
        for axis in self.axes.iter().rev() {
            let mut shape = array.layout.shape().to_vec();
            let dim = shape.len() - 1 - axis.behind;
            let inner = shape[dim + 1..].iter().product();
            shape[dim] = axis.taps.count();
            let mut result = Array::zeroed(&SharedLayout::contiguous(&shape)?, DType::UInt8)?;
            if let Some(from) = array.slice() {
                taps::gather_bytes(from, result.owned(), &axis.taps, axis.size, inner)?;
            }
            array = result;
        }
        Ok(array)
    }

    /// The transposed map.
    pub(in crate::ops::neural) fn turned(&self) -> Resample {
        Resample { transposed: !self.transposed, keeps: false, ..self.clone() }
    }

    /// The map of a tensor, recorded.
    pub(in crate::ops::neural) fn of(&self, x: &Tensor) -> Result<Tensor> {
        apply_one(self.clone(), &[x])
    }

    /// The same, showing these parameters.
    pub(in crate::ops::neural) fn of_given(&self, x: &Tensor, given: Attributes) -> Result<Tensor> {
        apply_one_with_attributes(self.clone(), given, &[x])
    }
}

impl Op for Resample {
    type Saved = Option<SavedTensor>;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        self.called[1 + usize::from(self.transposed)]
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        if let Some(x) = memory_order::by_channels(x, self.spatial()) {
            // Channels that come last are parts of what is weighed.
            let run = dispatch!(float x.dtype, T => Some(self.run::<T>(&x, 1)?), else { None });
            if let Some(y) = run {
                return Ok(smallvec![memory_order::from_channels(y)?]);
            }
        }
        let layout = x.layout.clone();
        let x = copy::in_order(x)?;
        if self.takes_complex && x.dtype.is_complex() {
            let parts = |x: &Array| {
                dispatch!(float x.dtype, T => self.run::<T>(x, 1), else {
                    unreachable!("the parts of complex numbers are floating-point numbers")
                })
            };
            let y = memory_order::as_images(by_parts(&x, parts)?, &layout, self.spatial())?;
            return Ok(smallvec![y]);
        }
        let y = match x.dtype {
            DType::UInt8 if !self.transposed => self.run_bytes(&x)?,
            _ => dispatch!(number x.dtype, T => self.run::<T>(&x, 0)?, else {
                return Err(Error::NotImplementedFor { operation: self.called[0], dtype: x.dtype }.into())
            }),
        };
        Ok(smallvec![memory_order::as_images(y, &layout, self.spatial())?])
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if self.keeps { Self::SAVED } else { &[""] }
    }

    fn is_together(&self) -> bool {
        true
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.input_if(self.keeps, 0)
    }

    fn vjp(&self, x: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, g) = (x.as_ref().map(|x| at.load(x)).transpose()?, single(gradients));
        let back = self.turned().of(g)?;
        let back = match &x {
            Some(x) => memory_order::gradient_as_images(back, &x.layout(), self.spatial())?,
            None => back,
        };
        let mut found: Gradients = smallvec![Some(back)];
        for edge in at.node.edges().iter().skip(1) {
            let form = edge.as_ref().map(|edge| edge.node.form(edge.output));
            let zeros = form.map(|form| create::zeros(&signed(form.layout.shape()), form.dtype));
            found.push(zeros.transpose()?);
        }
        Ok(found)
    }

    fn jvp(&self, _x: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(smallvec![tangents[0].as_ref().map(|tangent| self.of(tangent)).transpose()?])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}
