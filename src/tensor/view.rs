//! What a view knows of its base, and how it finds its history again after the base was written to.
//!
//! Note [Views and writes]
//! ----
//! A view is a tensor on its base's memory. Its base is always the tensor at the root: views of
//! views have the same one. A write to a view in place gives the base a new history (see
//! `dispatch::in_place`), and the other views' edges are then out of date. They are not looked up and
//! mended: each view remembers the version of the memory at which its edge was right, and an edge
//! that is asked for at another version is made anew: as a strided window on the base, or where that was asked
//! for by doing again what made the view.

use std::sync::atomic::{AtomicU32, Ordering};

use once_cell::race::OnceBox;
use parking_lot::Mutex;

use super::batched::Wrapper;
use super::history::Cold;
use super::{Array, Tensor};
use crate::error::{Error, Result};
use crate::graph::{At, Edge, Level, mode};

/// How a view came to be, which decides whether it may be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// By an operation with one output, recording.
    Default,
    /// While nothing was recorded.
    NoGrad,
    /// In inference mode.
    Inference,
    /// As one of several outputs, such as those of `unbind`.
    MultiOutput,
    /// By a function of the host, whose own backward a write would pass over.
    Custom,
}

/// Makes the edge of a view anew from its base. The operation room gives it, since it records a
/// node for a strided window.
pub type Refresh = fn(view: &Array, base: &Tensor) -> Result<Option<Edge>>;

pub(super) struct View {
    pub(super) base: Tensor,
    /// The level at which the view has a tangent of its own, not that of its base. Zero is none.
    apart: Level,
    /// The nearest of the views that this one is a view of that has a tangent of its own.
    dual: Option<Tensor>,
    creation: Mutex<Creation>,
    /// The version of the memory at which the edge was right.
    seen: AtomicU32,
    refresh: Refresh,
}

impl View {
    pub(super) fn creation(&self) -> Creation {
        *self.creation.lock()
    }

    fn of(source: &Tensor, version: u32, creation: Creation, (refresh, apart): (Refresh, Level)) -> View {
        let (base, creation) = match source.view() {
            // A view of a view that may not be written to may not be written to either.
            Some(view) => match (view.creation(), creation) {
                (before, Creation::Default) | (before @ Creation::Inference, _) => {
                    (view.base.clone(), before)
                }
                (_, now) => (view.base.clone(), now),
            },
            None => (source.clone(), creation),
        };
        let dual = match source.view() {
            Some(view) if view.apart != 0 => Some(source.clone()),
            Some(view) => view.dual.clone(),
            None => None,
        };
        View { base, apart, dual, creation: Mutex::new(creation), seen: AtomicU32::new(version), refresh }
    }

    /// Shows the tensors that the view keeps.
    pub(super) fn visit_tensors(&self, visit: &mut dyn FnMut(&Tensor)) {
        visit(&self.base);
        self.dual.iter().for_each(visit);
    }
}

impl Tensor {
    /// A view of `source` at `array`, which shows the same memory. What is shown of an inference tensor
    /// is another one: nobody counts the writes to it, so that it could not follow its base.
    pub fn view_of(
        source: &Tensor,
        array: Array,
        edge: Option<Edge>,
        creation: Creation,
        refresh: Refresh,
    ) -> Tensor {
        Tensor::build_view(source, array, edge, creation, (refresh, 0), None)
    }

    /// `view_of` around a view of the value that the source is around.
    pub(super) fn view_with(
        source: &Tensor,
        array: Array,
        creation: Creation,
        refresh: Refresh,
        wrapper: Wrapper,
    ) -> Tensor {
        Tensor::build_view(source, array, None, creation, (refresh, 0), Some(wrapper))
    }

    /// A view of `source` at `array` that has a tangent of its own at a level.
    pub fn view_apart(
        source: &Tensor,
        array: Array,
        creation: Creation,
        refresh: Refresh,
        level: Level,
    ) -> Tensor {
        let wrapper = source.wrapper().map(Wrapper::again);
        Tensor::build_view(source, array, None, creation, (refresh, level), wrapper)
    }

    fn build_view(
        source: &Tensor,
        array: Array,
        edge: Option<Edge>,
        creation: Creation,
        (refresh, apart): (Refresh, Level),
        wrapper: Option<Wrapper>,
    ) -> Tensor {
        if !array.storage.is_counted() {
            return Tensor::with_history(array, edge);
        }
        let view = View::of(source, array.storage.version(), creation, (refresh, apart));
        let batched = wrapper.is_some();
        let cold = OnceBox::with_value(Box::new(Cold::of_view(view, wrapper)));
        let tensor = Tensor::build(array, edge, cold, true);
        if batched { tensor.marked_as_batched() } else { tensor }
    }

    /// Makes this tensor, which the host has made and nobody has used, a view of `source`: memory that
    /// nobody reads becomes that of the source, whose writes both then count. At the level `apart`, zero for none,
    /// it has a tangent of its own.
    pub fn become_view(&self, source: &Tensor, creation: Creation, refresh: Refresh, apart: Level) {
        if self.is(source) || self.is_view() {
            return;
        }
        self.share_memory(source);
        let memory = self.memory();
        if !memory.storage.is_counted() {
            return;
        }
        let view = View::of(source, memory.storage.version(), creation, (refresh, apart));
        if self.0.cold.set(Box::new(Cold::of_view(view, None))).is_ok() {
            let mut core = self.0.core.write();
            core.birth = core.birth.of_view();
        }
    }

    /// Has a tensor without numbers lie where another one does, if there is room for it.
    pub fn share_memory(&self, source: &Tensor) {
        let memory = source.memory();
        if !self.has_no_data() || !source.has_no_data() || self.is(source) {
            return;
        }
        let mut core = self.0.core.write();
        if core.array.layout.end() * core.array.dtype.size() <= memory.storage.bytes() {
            core.array.storage = memory.storage;
        }
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.0.cold.get().and_then(|cold| cold.view.as_ref())
    }

    /// Whether this is a view of another tensor.
    pub fn is_view(&self) -> bool {
        self.0.core.read().birth.is_view()
    }

    /// The tensor whose memory this is a view of.
    pub fn base(&self) -> Option<Tensor> {
        if self.is_view() { self.view().map(|view| view.base.clone()) } else { None }
    }

    /// Whether this is a view that has a tangent of its own at a level, or none.
    pub(crate) fn is_apart(&self, level: Level) -> bool {
        self.view().is_some_and(|view| view.apart == level)
    }

    /// The tensor of whose tangent at a level that of this view is a view.
    pub fn forward_base(&self, level: Level) -> Option<Tensor> {
        let mut view = self.view().filter(|view| view.apart != level)?;
        while let Some(dual) = &view.dual {
            match dual.view() {
                Some(further) if further.apart != level => view = further,
                _ => return Some(dual.clone()),
            }
        }
        Some(view.base.clone())
    }

    /// How the view came to be.
    pub fn creation(&self) -> Creation {
        if self.is_view() { self.view().map_or(Creation::Default, View::creation) } else { Creation::Default }
    }

    /// Says anew how a view came to be, by what made it after all.
    pub fn set_creation(&self, creation: Creation) {
        if let Some(view) = self.view() {
            *view.creation.lock() = creation;
        }
    }

    /// Whether the way in which the view came to be allows a write to it, or to its base if it is `stale`.
    pub(crate) fn check_creation(&self, stale: bool) -> Result<()> {
        let creation = self.creation();
        let edge = self.0.core.read().edge.clone();
        let output = edge.as_ref().map_or(0, |edge| edge.output);
        let function = edge.map_or_else(String::new, |edge| edge.node.name());
        Err(match creation {
            Creation::Default => return Ok(()),
            Creation::NoGrad => Error::NoGradView { function, output, stale },
            Creation::Inference => Error::InferenceView { function, output, stale },
            Creation::MultiOutput => Error::MultiView { function, output, stale },
            Creation::Custom => Error::CustomView { function, output, stale },
        }
        .into())
    }

    /// Makes the edge anew if the base was written to since.
    pub(super) fn refresh_edge(&self) -> Result<()> {
        let Some(view) = self.view() else { return Ok(()) };
        let version = self.version();
        if view.seen.load(Ordering::Acquire) == version {
            return Ok(());
        }
        if self.0.core.read().edge.is_none() && !view.base.requires_grad() {
            return Ok(());
        }
        self.check_creation(true)?;
        let replays = mode::flags().view_replay || self.shows_otherwise();
        let replayed = if replays { self.replayed(&view.base)? } else { None };
        let edge =
            replayed.map_or_else(|| (view.refresh)(&self.memory(), &view.base), |edge| Ok(Some(edge)))?;
        self.replace_edge(edge);
        view.seen.store(version, Ordering::Release);
        Ok(())
    }

    /// Whether what the view shows are other elements than those that it was made of: no window is that.
    fn shows_otherwise(&self) -> bool {
        let made_of = |edge: &Edge| {
            let from = edge.node.edges().first()?.as_ref()?;
            Some(from.node.form(from.output).dtype)
        };
        let core = self.0.core.read();
        core.edge.as_ref().and_then(made_of).is_some_and(|dtype| dtype != core.array.dtype)
    }

    /// The edge of the view that comes about by doing again with the base, as it is now, what led from it
    /// to here; none if no record of that was made, or the base was given another shape.
    #[cold]
    fn replayed(&self, base: &Tensor) -> Result<Option<Edge>> {
        let mut made = Vec::new();
        let mut next = self.0.core.read().edge.clone();
        while let Some(edge) = next.filter(|edge| edge.node.rule().is_view()) {
            next = edge.node.edges().first().cloned().flatten();
            made.push(edge.node);
        }
        let source = made.last().and_then(|node| node.edges().first()?.as_ref());
        if source.is_some_and(|it| it.node.form(it.output).layout.shape() != base.layout().shape()) {
            return Ok(None);
        }
        let mut view = base.clone();
        for node in made.iter().rev() {
            let at = At { node, needed: 1, tracking: true, seen: false };
            let Some(again) = node.rule().jvp(&at, &[Some(view)])?.pop().flatten() else { return Ok(None) };
            view = again;
        }
        if made.is_empty() { Ok(None) } else { view.gradient_edge() }
    }

    /// The edge is right as of now.
    pub(super) fn mark_seen(&self) {
        if let Some(view) = self.view() {
            view.seen.store(self.version(), Ordering::Release);
        }
    }
}
