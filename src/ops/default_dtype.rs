//! The floating-point type of what does not name one.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::dtype::DType;

static DOUBLE: AtomicBool = AtomicBool::new(false);

/// The default type.
pub fn get() -> DType {
    if DOUBLE.load(Ordering::Relaxed) { DType::Float64 } else { DType::Float32 }
}

/// Sets the default type. Anything but a floating-point type is refused by the caller.
pub fn set(dtype: DType) {
    DOUBLE.store(dtype == DType::Float64, Ordering::Relaxed);
}
