//! The modes of a thread, dispatch modes, and profiles.

pub(crate) mod intercept;
pub(crate) mod mode;
pub(crate) mod profile;
