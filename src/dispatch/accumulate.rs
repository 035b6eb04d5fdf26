//! The vector space that the engine adds gradients in: all that it may call of the operations.

use crate::dispatch::modes::subclass;
use crate::dispatch::view;
use crate::dtype::{DType, Ring, Scalar};
use crate::error::Result;
use crate::graph::following::Known;
use crate::graph::{FormRef, mode, tangents};
use crate::kernels::pointwise::{map, zip};
use crate::ops;
use crate::ops::creation::cast;
use crate::ops::creation::create;
use crate::ops::geometry::expand;
use crate::ops::reduction::reduce;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// a + b
pub fn add(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ops::add(a, b)
}

/// a + b, in the memory of `a` if nobody else holds it and nothing is recorded. Then it keeps its type, also
/// where something unusual goes on and new memory is taken.
pub fn add_owned(a: Tensor, b: &Tensor) -> Result<Tensor> {
    if mode::is_grad_enabled() || !a.is_only_handle() {
        return ops::add(&a, b);
    }
    if !mode::special() && add_dense(&a, b, true)? {
        return Ok(a);
    }
    if !(a.is_sole() && a.is_contiguous() && b.dtype().can_cast(a.dtype())) {
        return ops::add(&a, b);
    }
    if mode::special() {
        return cast::to_dtype(&ops::add(&a, b)?, a.dtype());
    }
    ops::add_(&a, b)?;
    Ok(a)
}

/// a ← a + b, unrecorded
pub fn add_in_place(a: &Tensor, b: &Tensor) -> Result<()> {
    if !mode::special() && add_dense(a, b, false)? {
        return Ok(());
    }
    let _off = mode::GradModeGuard::off();
    ops::add_(a, b)
}

/// The gradient, or a copy that `add_in_place` adds to such a tensor without further memory.
pub fn addable(gradient: Tensor, to: &Tensor) -> Result<Tensor> {
    if mode::special() || is_addable(gradient.read().array(), to.read().array()) {
        return Ok(gradient);
    }
    let _off = mode::GradModeGuard::off();
    cast::clone_as(&cast::to_dtype(&gradient, to.dtype())?, &to.layout())
}

/// Whether no copy of a gradient would take less memory to add than the gradient does.
fn is_addable(gradient: &Array, to: &Array) -> bool {
    let is_plain = gradient.dtype == to.dtype && !gradient.overlaps(to);
    if is_plain && gradient.layout == to.layout {
        return true;
    }
    if to.layout.shape() != gradient.layout.shape() || !to.layout.is_dense() {
        return true;
    }
    let lies = gradient.layout.strides() == to.layout.strides() || gradient.repeated_element().is_some();
    is_plain && lies || gradient.dtype.is_pending() || !gradient.dtype.can_cast(to.dtype)
}

/// One in every element of a gradient of this form.
pub fn ones(form: FormRef<'_>) -> Result<Tensor> {
    let sizes: Vec<i64> = form.layout.shape().iter().map(|&size| size as i64).collect();
    create::full(&sizes, Scalar::Float(1.0), form.dtype)
}

/// The common case of `add_in_place`, if this is one; if `sole`, only where nobody else holds the memory.
/// Both tensors are read where they lie.
fn add_dense(a: &Tensor, b: &Tensor, sole: bool) -> Result<bool> {
    // The same tensor is not read twice at a time.
    if a.is(b) {
        return Ok(false);
    }
    let (target, operand) = (a.read(), b.read());
    let may = !sole || target.array().storage.is_unique();
    if !(may && add_elements(target.array(), operand.array())) {
        return Ok(false);
    }
    target.bump_version().map(|()| true)
}

/// Adds to elements that lie one after another as many such elements, or one element again and again as
/// the gradient of a sum is. Answers whether they lie so.
fn add_elements(a: &Array, b: &Array) -> bool {
    if a.dtype != b.dtype || a.dtype.is_pending() || !a.layout.is_alike(&b.layout) {
        return false;
    }
    dispatch!(field a.dtype, T => {
        if let Some(elements) = b.slice::<T>() {
            return a.overwrite_slice([b], |target| zip::zip_slice_in_place(target, elements, Ring::add));
        }
        let Some(element) = b.repeated_element() else { return false };
        let element: T = element.to();
        a.overwrite_slice([b], |target| map::map_slice_in_place(target, move |a| Ring::add(a, element)))
    }, else { false })
}

/// Whether a gradient lies as that of a leaf is to lie: as the leaf does, if that has neither gaps nor
/// repetitions, and in row-major order otherwise.
fn lies_as(gradient: &Layout, leaf: &Layout) -> bool {
    if !leaf.is_dense() {
        return gradient.is_contiguous();
    }
    let mut dims = gradient.shape().iter().zip(gradient.strides()).zip(leaf.strides());
    gradient.ndim() == leaf.ndim()
        && dims.all(|((&size, &own), &leaf)| if size == 1 { own != 0 } else { own == leaf })
}

/// The tensor as the first `.grad` of a leaf with this layout: itself if nobody else holds it and its
/// elements lie as the leaf's do (or need not, see `Flags::gradient_layout`), else a copy.
pub fn take_over(gradient: Tensor, like: &Layout) -> Result<Tensor> {
    if gradient.is_subclassed() && gradient.layout().is_non_overlapping() && gradient.is_only_with_object() {
        return subclass::detach(&gradient);
    }
    let own = gradient.layout();
    let lies = own.offset() == 0 && lies_as(&own, like);
    let fits = lies || !mode::flags().gradient_layout && own.is_non_overlapping();
    // torch takes over what shares its memory too, as a view that nobody else holds.
    let (taken, shared) = (fits && gradient.is_only_handle(), !gradient.is_sole());
    let first = match taken && !shared {
        true if mode::special() => subclass::detach(&gradient)?,
        true => gradient.detach(),
        // What shares its memory is copied, and looks as if it had been taken over.
        false => copy_like(&gradient, if taken && lies { &own } else { like })?,
    };
    if taken && mode::special() {
        // A copy has the tangents of the gradient; what is taken over loses them with its history.
        tangents::live().into_iter().for_each(|level| first.set_tangent(level, None));
    }
    Ok(first)
}

/// A copy in row-major order, for a tensor that retains its gradient.
pub fn copy(gradient: &Tensor) -> Result<Tensor> {
    cast::clone_contiguous(gradient)
}

/// A copy whose elements lie as those of a leaf with this layout do: one that was given another shape since
/// refuses what cannot be broadcast to it.
pub fn copy_like(gradient: &Tensor, like: &Layout) -> Result<Tensor> {
    if !like.is_dense() {
        return cast::clone_as(gradient, &gradient.layout().fresh());
    }
    if gradient.batch().is_some() || !mode::is_grad_enabled() && gradient.layout().shape() == like.shape() {
        let copy = cast::clone_as(gradient, like)?;
        // As where it is recorded, the copy counts as a write.
        let _known = Known::new();
        copy.read().bump_version()?;
        return Ok(copy);
    }
    // It is a write to a tensor that lies as the leaf does.
    let layout = SharedLayout::new(Layout::strided(like.shape().into(), like.strides().into(), 0)?);
    let copy = Array { layout, ..Array::uninit_shape(like.shape(), gradient.dtype())? };
    let copy = Tensor::from_array(copy);
    cast::copy_(&copy, gradient)?;
    Ok(copy)
}

/// The sum over the dimensions along which a tensor of `shape` was repeated.
pub fn sum_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let layout = x.layout();
    if shape.is_empty() && layout.ndim() > 0 {
        return reduce::sum(x, None, false, None);
    }
    let lead = layout.ndim() - shape.len();
    let repeated = |dim: usize| dim < lead || shape[dim - lead] == 1 && layout.shape()[dim] != 1;
    let dims: Vec<i64> = (0..layout.ndim()).filter(|&dim| repeated(dim)).map(|dim| dim as i64).collect();
    if dims.is_empty() {
        return Ok(x.clone());
    }
    let sum = reduce::sum(x, Some(&dims), true, None)?;
    if lead > 0 { view::reshape_to(&sum, shape) } else { Ok(sum) }
}

/// The same numbers again and again, in a larger shape that they can be expanded to.
pub fn spread_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    expand::expanded(x, shape)
}

/// The gradient that a root starts with: one.
pub fn implicit(root: &Tensor) -> Result<Tensor> {
    create::implicit(root)
}

/// Zeros of the shape and type of `x`.
pub fn zeros_like(x: &Tensor) -> Result<Tensor> {
    create::zeros_like(x)
}

/// The tensor as another type.
pub fn to_dtype(x: Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype {
        return Ok(x);
    }
    // The gradient of a real number is the real part of what arrives.
    let x = if dtype.is_complex() { x } else { ops::conjugate::real(&x)? };
    cast::to_dtype(&x, dtype)
}

/// Whether any element is not a number.
pub fn has_nan(x: &Tensor) -> bool {
    if let Some(batch) = x.batch() {
        return has_nan(&batch.value);
    }
    let reading = x.read();
    let array = reading.array();
    if array.layout.is_contiguous() {
        return any_nan(array);
    }
    let layout = array.layout.without_repetition();
    // In which order they are looked at does not matter.
    any_nan(&match layout.is_dense() {
        true => array.with_layout(layout.line()),
        false => array.with_layout(layout),
    })
}

fn any_nan(array: &Array) -> bool {
    dispatch!(field array.dtype, T => match array.slice::<T>() {
        // Without a way out in the middle the loop is done several elements at a time.
        Some(elements) => elements.iter().fold(false, |found, element| found | Ring::is_nan(*element)),
        None => array.view::<T>().iter().any(|element| Ring::is_nan(*element)),
    }, else {
        array.dtype.is_stored() && array.dtype.is_differentiable() && array.widened().is_ok_and(|wide| any_nan(&wide))
    })
}
