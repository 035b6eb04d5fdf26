//! The tangents that a tensor carries: one a level (Note [Levels]), in memory like its own (Note [Tangents in
//! memory]).

use std::sync::Arc;

use super::Tensor;
use crate::graph::{Level, Tangents, tangents};

impl Tensor {
    /// The tangent that this very tensor carries at a level, if the level counts on this thread. A
    /// view may have one through its base without carrying it: see `ops::tangents`.
    pub fn own_tangent(&self, level: Level) -> Option<Tensor> {
        self.tangents().filter(|_| tangents::is_live(level))?.at(level)
    }

    /// Gives the tensor a tangent at a level, or takes it away. The caller made it lie in memory as
    /// the tensor does.
    pub fn set_tangent(&self, level: Level, tangent: Option<Tensor>) {
        self.tangents_or_new().set(level, tangent);
    }

    /// All tangents, if the tensor ever had any.
    pub(crate) fn tangents(&self) -> Option<Arc<Tangents>> {
        self.0.cold.get()?.tangents.lock().clone()
    }

    pub(crate) fn tangents_or_new(&self) -> Arc<Tangents> {
        self.cold().tangents.lock().get_or_insert_default().clone()
    }

    /// Has a new tensor carry these tangents.
    pub(crate) fn carry(&self, tangents: Arc<Tangents>) {
        *self.cold().tangents.lock() = Some(tangents);
    }
}
