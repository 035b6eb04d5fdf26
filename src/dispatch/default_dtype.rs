//! The floating-point type of what does not name one.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::dtype::DType;
use crate::error::{Error, Result};

/// The place of the type in `DType::ALL`.
static DEFAULT: AtomicU8 = AtomicU8::new(DType::Float32 as u8);

/// The default type.
pub fn get() -> DType {
    DType::ALL[usize::from(DEFAULT.load(Ordering::Relaxed))]
}

/// Sets the default type, which must be a floating-point one.
pub fn set(dtype: DType) -> Result<()> {
    if !dtype.is_float() {
        return Err(Error::DefaultDType {}.into());
    }
    DEFAULT.store(dtype as u8, Ordering::Relaxed);
    Ok(())
}
