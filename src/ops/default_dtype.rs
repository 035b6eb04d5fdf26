//! The floating-point type of what does not name one.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::dtype::DType;
use crate::error::{Error, Result};

static DOUBLE: AtomicBool = AtomicBool::new(false);

/// The default type.
pub fn get() -> DType {
    if DOUBLE.load(Ordering::Relaxed) { DType::Float64 } else { DType::Float32 }
}

/// Sets the default type, which must be a floating-point one.
pub fn set(dtype: DType) -> Result<()> {
    if !dtype.is_float() {
        return Err(Error::DefaultDType {}.into());
    }
    DOUBLE.store(dtype == DType::Float64, Ordering::Relaxed);
    Ok(())
}
