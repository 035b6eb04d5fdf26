//! Views of batched tensors. The layout of a view follows from the layout that it is of, and the
//! samples are one dimension more of both: no kind of view has to know.

use std::sync::Arc;

use super::{Answer, Samples, below, check_open};
use crate::dispatch::in_place;
use crate::dispatch::record::trace;
use crate::dispatch::view;
use crate::dispatch::view::{ViewKind, ViewRule};
use crate::error::Result;
use crate::graph::mode;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Batch, Creation, Mapping, Outputs, Tensor};

/// A kind of view, of each of many samples.
struct Each {
    kind: Arc<dyn ViewKind>,
    /// The layout of a sample before.
    source: SharedLayout,
    /// Where the samples lay before. They come first afterwards.
    dim: usize,
}

impl Each {
    /// What the kind makes of a gradient or tangent of samples along a dimension.
    fn run(
        &self,
        x: &Tensor,
        from: usize,
        to: usize,
        f: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        Mapping::for_now(x.layout().shape()[from], |mapping| {
            let batch = f(&Tensor::batched(x.clone(), Some(from), mapping)?)?.batch_at(mapping);
            Samples::first(Samples::of(batch).front(mapping.size())?).moved(to)
        })
    }
}

impl ViewKind for Each {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn vjp(&self, _source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        self.run(gradient, 0, self.dim, |gradient| self.kind.vjp(&self.source, gradient))
    }

    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor> {
        self.run(tangent, self.dim, 0, |tangent| self.kind.jvp(tangent, &shape[1..]))
    }
}

impl ViewKind for Arc<dyn ViewKind> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        (**self).vjp(source, gradient)
    }

    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor> {
        (**self).jvp(tangent, shape)
    }
}

/// A view of a batched tensor with this layout, which the caller derived from that of the tensor.
#[cold]
pub(crate) fn view(kind: impl ViewKind, x: &Tensor, batch: Batch, layout: Layout) -> Result<Tensor> {
    check_open(&batch.mapping)?;
    let kind: Arc<dyn ViewKind> = Arc::new(kind);
    let source = x.layout();
    let value = below(&batch.mapping, || match batch.dim {
        Some(dim) => {
            let each = Each { kind: kind.clone(), source: source.clone(), dim };
            view::apply(each, &batch.value, batch.value.layout().around(batch.dim, &layout)?)
        }
        None => view::apply(kind.clone(), &batch.value, layout),
    })?;
    let creation = if mode::is_grad_enabled() { Creation::Default } else { Creation::NoGrad };
    let batch = Batch { value, dim: batch.dim.map(|_| 0), mapping: batch.mapping };
    let y = Tensor::batched_view(x, batch, creation, view::refresh)?;
    trace(&[x], std::slice::from_ref(&y), |_| ViewRule { kind, source })?;
    Ok(y)
}

/// Values of views of a batched tensor as views of it.
pub(super) fn shown(
    x: &Tensor,
    answer: Answer,
    mapping: &Arc<Mapping>,
    creation: Creation,
) -> Result<Outputs> {
    let creation = if mode::is_grad_enabled() { creation } else { Creation::NoGrad };
    let view = |Samples { value, dim }: Samples| {
        let batch = Batch { value, dim, mapping: mapping.clone() };
        Tensor::batched_view(x, batch, creation, view::refresh)
    };
    answer.into_iter().map(view).collect()
}

/// Shows a batched tensor itself in another layout from now on.
#[cold]
pub(crate) fn lay_out(kind: impl ViewKind, x: &Tensor, batch: Batch, layout: Layout) -> Result<()> {
    check_open(&batch.mapping)?;
    in_place::check_layout(x)?;
    let kind: Arc<dyn ViewKind> = Arc::new(kind);
    let source = x.layout();
    below(&batch.mapping, || match batch.dim {
        Some(dim) => {
            let each = Each { kind: kind.clone(), source: source.clone(), dim };
            view::apply_in_place(each, &batch.value, batch.value.layout().around(batch.dim, &layout)?)
        }
        None => view::apply_in_place(kind.clone(), &batch.value, layout.clone()),
    })?;
    x.set_batch_first();
    in_place::lay_out(x, layout, ViewRule { kind, source })
}
