//! Dispatch subclasses (Note [Dispatch subclasses]) as saved tensors: a rule keeps the tensor object itself, not
//! only its memory, and shows it again as what it is.

use crate::dispatch::modes::intercept;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::saved_tensor_hooks;
use crate::graph::saved_tensor_hooks::expect_kept;
use crate::graph::{Attributes, NodeRef, Packed, Source};
use crate::ops::creation::create;
use crate::shape::{Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor, any_subclassed};

/// A tensor that a rule keeps whole.
struct SubclassTensor {
    /// Of an output, one beside it: it would hold the node that keeps it.
    tensor: Tensor,
    is_output: bool,
    /// The memory that was saved, and the version that it had.
    memory: Array,
    version: u32,
}

impl Packed for SubclassTensor {
    fn unpack(&self) -> Result<Tensor> {
        if self.is_output { detach(&self.tensor) } else { Ok(self.tensor.clone()) }
    }

    fn written(&self) -> Option<(&Array, u32)> {
        (self.memory.storage.version() != self.version).then_some((&self.memory, self.version))
    }
}

fn whole(tensor: &Tensor, is_output: bool) -> Result<Box<dyn Packed>> {
    let (memory, version) = (tensor.memory(), tensor.version());
    let tensor = if is_output { detach(tensor)? } else { tensor.clone() };
    Ok(Box::new(SubclassTensor { tensor, is_output, memory, version }))
}

/// Says how such tensors are kept. Called once, before there is any.
pub fn prepare() {
    saved_tensor_hooks::register_subclass_packer(whole);
}

/// A tensor of this form without numbers, for a dispatch subclass: see Note [Dispatch
/// subclasses].
pub fn without_data(sizes: &[i64], strides: Option<&[i64]>, offset: usize, dtype: DType) -> Result<Tensor> {
    let made = match strides {
        Some(strides) => create::empty_strided(sizes, strides, dtype)?,
        None => create::empty(sizes, dtype)?,
    };
    if offset == 0 {
        return Ok(made);
    }
    let Array { layout, dtype, .. } = made.memory();
    let bytes = layout.end().saturating_add(offset).saturating_mul(dtype.size());
    let layout = Layout::strided(layout.shape().into(), layout.strides().into(), offset)?;
    let storage = Storage::zeroed(bytes)?;
    Ok(Tensor::from_array(Array { storage, layout: SharedLayout::new(layout), dtype }))
}

/// The tensor on the same memory without history, as its class gives it if that is a dispatch subclass.
pub fn detach(x: &Tensor) -> Result<Tensor> {
    if x.batch().is_some() || !x.is_subclassed() && !intercept::is_intercepting() {
        return Ok(x.detach());
    }
    let y = intercept::beside("Detach", Attributes::new(), x, |x| Ok(x.detach()))?;
    y.share_memory(x);
    Ok(y)
}

/// Has the rule of a new node keep whole what it has saved of tensors of dispatch subclasses.
#[cold]
pub(crate) fn keep_whole(node: &NodeRef, inputs: &[Option<&Tensor>], outputs: &[Tensor]) -> Result<()> {
    let mut tensors = inputs.iter().copied().flatten().chain(outputs);
    if !any_subclassed() || !tensors.any(Tensor::is_subclassed) {
        return Ok(());
    }
    let mut kept = Vec::new();
    for (place, (_, saved)) in node.rule().saved().into_iter().enumerate() {
        let Some(memory) = saved.held() else { continue };
        let (tensor, is_output) = match saved.source() {
            Source::Input(index) => (inputs.get(usize::from(index)).copied().flatten(), false),
            Source::Output(index) => (outputs.get(usize::from(index)), memory.dtype.is_differentiable()),
            Source::Constant => (None, false),
        };
        if let Some(tensor) = tensor.filter(|tensor| tensor.is_subclassed()) {
            kept.push((place, whole(tensor, is_output)?));
        }
    }
    expect_kept();
    node.change_saved(|mut saved| {
        for (place, whole) in kept {
            *saved[place] = saved[place].packed(whole);
        }
    });
    Ok(())
}
