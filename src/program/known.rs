//! What known tensors have to look like for a program to be run of them.

use smallvec::SmallVec;

use super::{Gradient, Program, is_same};
use crate::dtype::DType;
use crate::shape::SharedLayout;
use crate::tensor::Tensor;

/// A known tensor, as it was when the program was recorded.
pub(super) struct Known {
    pub(super) layout: SharedLayout,
    pub(super) dtype: DType,
    pub(super) requires_grad: bool,
    /// Whether it has a history.
    pub(super) stands: bool,
    /// Its gradient: its form, if there was one.
    pub(super) gradient: Option<(SharedLayout, DType)>,
    /// The first known tensor that shows the same memory.
    pub(super) first: usize,
}

impl Program {
    /// Whether a tensor is as the known tensor in this place was. Which memory it shares is not looked at.
    pub fn fits(&self, index: usize, tensor: &Tensor) -> bool {
        let known = &self.known[index];
        let like = |tensor: &Tensor, layout: &SharedLayout, dtype: DType| {
            let reading = tensor.read();
            let array = reading.array();
            array.dtype == dtype && is_same(&array.layout, layout)
        };
        let hooked = || tensor.hooks_if_any().is_some_and(|hooks| !hooks.is_empty());
        let is_leaf = tensor.is_known_as_leaf();
        if !like(tensor, &known.layout, known.dtype)
            || is_leaf == known.stands
            || tensor.requires_grad() != known.requires_grad
            || known.requires_grad && hooked()
        {
            return false;
        }
        if known.stands {
            return true;
        }
        let gradient = tensor.grad();
        match (&gradient, &known.gradient) {
            (None, None) => true,
            (Some(gradient), Some((layout, dtype))) => like(gradient, layout, *dtype),
            _ => false,
        }
    }

    /// Whether the known tensors share memory as they did, and no other.
    pub fn shares_alike(&self, known: &[Tensor]) -> bool {
        let keys: SmallVec<[usize; 16]> =
            known.iter().map(|tensor| tensor.read().array().storage.holding().0).collect();
        let mut firsts: SmallVec<[(usize, usize); 16]> = SmallVec::new();
        for (index, &key) in keys.iter().enumerate() {
            let first = self.known[index].first;
            if first == index {
                firsts.push((key, index));
            } else if keys[first] != key {
                return false;
            }
        }
        firsts.sort_unstable();
        firsts.windows(2).all(|pair| pair[0].0 != pair[1].0)
    }

    /// Whether a run leaves all known tensors as the next one has to find them.
    pub fn leaves_forms(&self) -> bool {
        let is_steady = |(index, gradient): &(usize, Gradient)| match (gradient, &self.known[*index].gradient)
        {
            (Gradient::Is(left), Some((layout, dtype))) => {
                let left = &self.forms[left.form];
                left.dtype == *dtype && is_same(&left.layout, layout)
            }
            _ => false,
        };
        self.gradients.iter().all(is_steady)
    }
}
