//! Function transforms, vmap and forward mode, as `rushlight.func` and `autograd.forward_ad` use them.

pub(crate) mod forward;
pub(crate) mod mapping;
pub(crate) mod transform;
