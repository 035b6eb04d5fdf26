//! What an in-place write does to the graph: it becomes the history of the tensor. A write to a view becomes the history
//! of the base, as a node that replaced a window of it (torch's `CopySlices`). See Note [Views and writes].

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::single;
use crate::dispatch::record::{form, records};
use crate::dispatch::{batch, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::observe::writes;
use crate::graph::saved::COPY_SLICES;
use crate::graph::{At, Edge, Forms, Gradients, Inputs, Node, NodeRef, Rule, Traits};
use crate::ops::creation::{cast, create};
use crate::shape::{self, Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// Makes `write`, whose first edge is that of `x` before, the history of `x` or of its base.
pub(crate) fn rebase(x: &Tensor, write: NodeRef) -> Result<()> {
    let Some(base) = x.base() else {
        writes::led_to(&x.array().storage, &write);
        x.set_edge(Some(Edge { node: write, output: 0 }));
        return Ok(());
    };
    let mut edges: SmallVec<[Option<Edge>; 2]> = SmallVec::from_elem(base.gradient_edge()?, 1);
    edges.extend(write.edges().iter().skip(1).cloned());
    let (memory, window) = (base.memory(), x.memory());
    // Gradients have nothing that is still to be done: what is to be done with one of the two counts.
    let dtype = match memory.dtype.is_pending() {
        true => window.dtype.conjugated().negated(),
        false => window.dtype,
    };
    let rule = CopySlices { base: memory.layout, window: window.layout, dtype, write };
    let node = Node::record(rule, edges, Forms::one(form(&base)));
    writes::led_to(&x.array().storage, &node);
    base.set_edge(Some(Edge { node, output: 0 }));
    Ok(())
}

/// A base of which `write` overwrote the window of a view.
///
/// The gradient outside of the window is passed on; inside it goes through the rule of `write`.
struct CopySlices {
    base: SharedLayout,
    window: SharedLayout,
    /// As which element type the window shows the memory.
    dtype: DType,
    write: NodeRef,
}

impl CopySlices {
    /// A copy of a gradient or tangent of the base, and the window of it.
    fn window(&self, whole: &Tensor) -> Result<(Tensor, Tensor)> {
        let whole = laid_out(whole, &self.base)?;
        let start = start(&self.base) * whole.dtype().size() / self.dtype.size();
        let Some(offset) = self.window.offset().checked_sub(start) else {
            let offset = self.window.offset() as i64 - start as i64;
            return Err(Error::StridedOffset { offset }.into());
        };
        let layout = Layout::strided(self.window.shape().into(), self.window.strides().into(), offset)?;
        let window = view::window_as(&whole, layout, self.dtype)?;
        Ok((whole, window))
    }

    /// The gradient of the base with other numbers, or zeros, in the window.
    fn overwritten(&self, whole: Tensor, window: Tensor, inside: Option<Tensor>) -> Result<Tensor> {
        let Some(inside) = inside else {
            cast::zero_(&window)?;
            return Ok(whole);
        };
        let roomy = batch::with_room(whole.clone(), &[&inside])?;
        let (whole, window) = if roomy.is(&whole) { (whole, window) } else { self.window(&roomy)? };
        cast::copy_(&window, &inside)?;
        Ok(whole)
    }

    fn inside<'a>(&'a self, at: &At<'a>) -> At<'a> {
        At { node: &self.write, ..*at }
    }
}

impl Rule for CopySlices {
    fn name(&self) -> &str {
        COPY_SLICES
    }

    fn inputs(&self) -> Option<Inputs> {
        self.write.rule().inputs()
    }

    fn keeps(&self) -> bool {
        // The write goes with the graph, whether it keeps anything or not.
        true
    }

    fn visit_memory(&self, visit: &mut dyn FnMut(&'static str, Array)) {
        self.write.rule().visit_memory(visit);
    }

    fn visit_nodes(&self, visit: &mut dyn FnMut(&NodeRef)) {
        visit(&self.write);
    }

    fn traits(&self) -> Traits {
        Traits::NONE.with(Traits::CALLER_ONLY, self.write.traits().has(Traits::CALLER_ONLY))
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (whole, window) = self.window(single(gradients))?;
        let mut result = self.write.rule().vjp(&self.inside(at), &smallvec![Some(cast::clone(&window)?)])?;
        if at.needs(0) {
            let inside = result.first_mut().and_then(Option::take);
            result[0] = Some(self.overwritten(whole, window, inside)?);
        }
        Ok(result)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let before = match tangents.first().cloned().flatten() {
            Some(tangent) => tangent,
            None => create::zeros(&shape::signed(self.base.shape()), at.node.form(0).dtype)?,
        };
        let (whole, window) = self.window(&before)?;
        let mut inside = tangents.to_vec();
        inside[0] = Some(cast::clone(&window)?);
        let mut result = self.write.rule().jvp(&self.inside(at), &inside)?;
        let inside = result.first_mut().and_then(Option::take);
        Ok(smallvec![Some(self.overwritten(whole, window, inside)?)])
    }
}

/// Where a copy of what a base shows begins: at the base, or one element before, so that pairs of
/// elements stay pairs.
fn start(base: &Layout) -> usize {
    base.offset() - base.offset() % 2
}

/// A tensor in memory of its own that is laid out as a base is, so that the window of the base is a
/// window of it.
fn laid_out(x: &Tensor, base: &Layout) -> Result<Tensor> {
    // Recorded, it is a write to new memory.
    if !records(&[x]) {
        if base.is_plain() {
            return cast::clone_contiguous(x);
        }
        if base.is_non_overlapping() && start(base) == base.offset() {
            return cast::clone_as(x, base);
        }
    }
    if let Some(copy) = batch::front(x, |x, size| laid_out(x, &batch::stacked(base, size)?)) {
        let copy = copy?;
        // That was done below the mapping. What has a history above it is written there.
        if records(&[x]) {
            cast::copy_(&copy, x)?;
        }
        return Ok(copy);
    }
    let start = start(base);
    let layout = Layout::strided(base.shape().into(), base.strides().into(), base.offset() - start)?;
    let bytes = (base.end() - start).saturating_mul(x.dtype().size());
    let storage = Storage::zeroed(bytes)?;
    let copy = Tensor::from_array(Array { storage, layout: SharedLayout::new(layout), dtype: x.dtype() });
    cast::copy_(&copy, x)?;
    Ok(copy)
}
