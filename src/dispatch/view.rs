//! What all views share: making a tensor with another layout on the same memory, and its rule. The operations are in
//! `ops::geometry`: `reshape`, `expand`, `permute`, `part` and `split`.

use smallvec::smallvec;

use crate::dispatch::apply::{apply_one, one, single, tangent};
use crate::dispatch::modes::{intercept, subclass};
use crate::dispatch::record::{stop, trace};
use crate::dispatch::{batch, in_place};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::node::{RuleBox, boxed};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Edge, Form, Forms, Gradients, Level, Node, Rule, mode};
use crate::ops::conjugate;
use crate::ops::geometry::strided;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Creation, Tensor};

pub use crate::ops::geometry::expand::expand;
pub(crate) use crate::ops::geometry::expand::expand_to;
pub(crate) use crate::ops::geometry::reshape::reshape_to;
use crate::ops::geometry::reshape::{Along, Reshape};
pub use crate::ops::geometry::reshape::{reshape, view};

/// A view of `source` with another layout, not yet recorded.
pub(crate) fn show(source: &Tensor, layout: Layout) -> Tensor {
    show_as(source, layout, Creation::Default)
}

/// `show` by an operation of that kind.
pub(crate) fn show_as(source: &Tensor, layout: Layout, creation: Creation) -> Tensor {
    show_memory(source, source.memory().with_layout(layout), creation)
}

/// A view of `source` with this array on its memory, not yet recorded.
pub(crate) fn show_memory(source: &Tensor, memory: Array, creation: Creation) -> Tensor {
    Tensor::view_of(source, memory, None, created_now(creation), refresh)
}

/// A view of `source` that the host made; it may have memory of its own.
pub(crate) fn adopt(source: &Tensor, given: Tensor, creation: Creation) -> Tensor {
    if given.is_subclassed() {
        given.become_view(source, created_now(creation), refresh, 0);
        return given;
    }
    Tensor::view_of(source, given.array(), None, created_now(creation), refresh)
}

/// A view of `source` that came to be like this somewhere else.
pub(crate) fn as_created(source: &Tensor, array: Array, creation: Creation) -> Tensor {
    Tensor::view_of(source, array, None, creation, refresh)
}

/// How a view is created on this thread: as `creation` says, unless grad mode or inference mode says otherwise.
fn created_now(creation: Creation) -> Creation {
    match mode::is_grad_enabled() {
        true => creation,
        false if mode::is_inference() => Creation::Inference,
        false => Creation::NoGrad,
    }
}

/// The edge of a view whose base was written to after the view was made: an `as_strided` of the base as it is now. If
/// the base has lost its history, the edge begins there.
pub(crate) fn refresh(view: &Array, base: &Tensor) -> Result<Option<Edge>> {
    let edge = base.gradient_edge()?;
    let memory = base.memory().dtype;
    if edge.is_some() && (memory != view.dtype || memory.is_pending()) {
        let _on = mode::GradModeGuard::new(true);
        let base = if memory.is_pending() { conjugate::pending(base)? } else { base.clone() };
        return window_as(&base, (*view.layout).clone(), view.dtype)?.edge();
    }
    let rule = strided::rule(base.layout(), view.layout.clone());
    let dtype = view.dtype.resolved();
    let forms = Forms::one(Form { layout: view.layout.clone(), dtype });
    Ok(Some(Edge { node: Node::record(rule, smallvec![edge], forms), output: 0 }))
}

/// The window of `x` with this layout, which the caller derived from that of `x`.
pub(crate) fn window(x: &Tensor, layout: Layout) -> Result<Tensor> {
    apply_one(strided::AsStrided { layout: SharedLayout::new(layout), in_place: false }, &[x])
}

/// `window` of memory that is shown as another element type: the parts of complex numbers, or the other
/// way round, conjugates, negatives.
pub(crate) fn window_as(x: &Tensor, layout: Layout, dtype: DType) -> Result<Tensor> {
    let y = match (x.dtype().is_complex(), dtype.resolved().is_complex()) {
        (true, false) => window(&conjugate::view_as_real(x)?, layout)?,
        (false, true) => conjugate::view_as_complex(&window(x, conjugate::parts(&layout)?)?)?,
        _ => window(x, layout)?,
    };
    if dtype.is_pending() { conjugate::pending(&y) } else { Ok(y) }
}

/// The same window of another tensor that has the layout of the base.
pub(crate) fn window_like(whole: &Tensor, view: &Tensor) -> Result<Tensor> {
    let shown = view.memory();
    let whole = if whole.is_pending() { conjugate::pending(whole)? } else { whole.clone() };
    window_as(&whole, (*shown.layout).clone(), shown.dtype)
}

/// A kind of view, as the linear map that it is.
pub(crate) trait ViewKind: Send + Sync + 'static {
    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// The parameters as the node shows them, under torch's names.
    fn shown(&self, source: &Layout) -> Attributes {
        shown! { self_sym_sizes: source }
    }

    /// The gradient of the input, which had the layout `source`, from that of the output.
    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor>;

    /// The tangent of the output, which has this shape, from that of the input.
    fn jvp(&self, tangent: &Tensor, shape: &[usize]) -> Result<Tensor>;
}

/// The rule of a view.
pub(crate) struct ViewRule<K> {
    pub(crate) kind: K,
    /// The layout before.
    pub(crate) source: SharedLayout,
}

impl<K: ViewKind> Rule for ViewRule<K> {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn shown(&self) -> Attributes {
        self.kind.shown(&self.source)
    }

    fn is_view(&self) -> bool {
        true
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(self.kind.vjp(&self.source, single(gradients))?)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.kind.jvp(tangent(tangents), at.node.form(0).layout.shape())?)
    }
}

/// A view of `x` with this layout, which the caller derived from that of `x`.
pub(crate) fn apply(kind: impl ViewKind, x: &Tensor, layout: Layout) -> Result<Tensor> {
    if mode::special() || mode::frozen_leaves() {
        return through_layers(kind, x, layout);
    }
    let (memory, source, known) = {
        let reading = x.read();
        let array = reading.array();
        (array.with_layout(layout), array.layout.clone(), reading.requires_grad())
    };
    if mode::is_grad_enabled() && known.unwrap_or_else(|| x.requires_grad()) {
        recorded(boxed(ViewRule { kind, source }), x, memory)
    } else {
        Ok(unrecorded(x, memory))
    }
}

/// A recorded view. Its node is made first, so that the view is made with its edge.
fn recorded(rule: RuleBox, x: &Tensor, memory: Array) -> Result<Tensor> {
    let edges = smallvec![x.gradient_edge()?];
    let form = Form { layout: memory.layout.clone(), dtype: memory.dtype.resolved() };
    let node = Node::record_boxed(rule, edges, Forms::one(form));
    Ok(Tensor::view_of(x, memory, Some(Edge { node, output: 0 }), Creation::Default, refresh))
}

fn unrecorded(x: &Tensor, memory: Array) -> Tensor {
    let y = show_memory(x, memory, Creation::Default);
    stop(x.standing(), std::slice::from_ref(&y));
    y
}

/// `apply` on a special thread (Note [Special threads]).
fn through_layers(kind: impl ViewKind, x: &Tensor, layout: Layout) -> Result<Tensor> {
    if let Some(batch) = x.batch() {
        return batch::view(kind, x, batch, layout);
    }
    let y = match intercept::is_active() {
        true => {
            let mut attributes = kind.shown(&x.layout());
            attributes.push(("size", layout.shape().into()));
            intercept::shown(kind.name(), attributes, x, move |x| show(x, layout.clone()))?
        }
        false => show(x, layout),
    };
    trace(&[x], std::slice::from_ref(&y), |_| ViewRule { kind, source: x.layout() })?;
    Ok(y)
}

/// A view of all of `x` with a tangent of its own at a level of forward mode; tangents of other levels are kept.
pub(crate) fn show_apart(name: &'static str, x: &Tensor, level: Level) -> Result<Tensor> {
    let creation = created_now(Creation::Default);
    let y = if x.is_subclassed() {
        let given = subclass::detach(x)?;
        given.become_view(x, creation, refresh, level);
        given
    } else {
        Tensor::view_apart(x, x.memory(), creation, refresh, level)
    };
    trace(&[x], std::slice::from_ref(&y), |_| ViewRule {
        kind: Reshape { name, along: Along::Nothing },
        source: x.layout(),
    })?;
    Ok(y)
}

/// Changes the layout of `x` itself, in place (`t_`, `squeeze_`).
pub(crate) fn apply_in_place(kind: impl ViewKind, x: &Tensor, layout: Layout) -> Result<()> {
    if mode::special()
        && let Some(batch) = x.batch()
    {
        return batch::lay_out(kind, x, batch, layout);
    }
    in_place::lay_out(x, layout, ViewRule { kind, source: x.layout() })
}
