//! Moving elements: dense copies, conversions, writes into memory that is shown elsewhere. Numbers
//! only; the recorded forms (`clone`, `copy_`, `to`) are in `cast`.

use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::map;
use crate::tensor::Array;

/// The elements in row-major order, in memory of their own.
pub(crate) fn dense(array: &Array) -> Result<Array> {
    converted(array, array.dtype)
}

/// The elements in row-major order and another type, in memory of their own.
pub(super) fn converted(array: &Array, dtype: DType) -> Result<Array> {
    let mut copy = Array::uninit(&array.layout, dtype)?;
    dispatch!(all array.dtype, S => dispatch!(all dtype, T => map::copy(array.view::<S>(), copy.fresh::<T>())));
    Ok(copy)
}

/// Writes elements of the same shape into memory that is shown elsewhere. The caller counts the write.
pub(super) fn write(target: &Array, source: &Array) -> Result<()> {
    let own;
    let source = match target.overlaps(source) {
        true => {
            own = dense(source)?;
            &own
        }
        false => source,
    };
    dispatch!(all target.dtype, T => dispatch!(all source.dtype, S => {
        map::copy_into(target.writable::<T>(), source.view::<S>());
    }));
    Ok(())
}
