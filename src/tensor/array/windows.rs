//! Arrays on the memory of others: shown in a larger shape, and of complex numbers a part.

use super::Array;
use crate::error::Result;
use crate::shape::{self, Dims, Layout};

impl Array {
    /// The array shown in a larger shape, to which it can be expanded.
    pub(crate) fn expanded(&self, shape: &[usize]) -> Result<Array> {
        if self.layout.shape() == shape {
            return Ok(self.clone());
        }
        shape::counted(shape)?;
        shape::check_expandable(self.layout.shape(), shape)?;
        let strides = shape::expanded_strides(self.layout.shape(), self.layout.strides(), shape);
        Ok(self.with_layout(Layout::strided(shape.into(), strides, self.layout.offset())?))
    }

    /// The real parts of complex numbers, or with 1 the imaginary ones, where they lie.
    pub(crate) fn component(&self, index: usize) -> Result<Array> {
        let layout = &self.layout;
        let strides: Dims = layout.strides().iter().map(|stride| 2 * stride).collect();
        let parts = Array { dtype: self.dtype.to_real(), ..self.clone() };
        Ok(parts.with_layout(Layout::strided(layout.shape().into(), strides, 2 * layout.offset() + index)?))
    }
}
