//! From a `DType` value to a Rust type.

/// Runs a block with `$T` bound to the Rust type of a `DType` value.
///
/// The first word picks which types take part, and with that how many copies of the kernel the program
/// has; the block after `else` answers for the other types:
///
/// | word | types | bound |
/// |---|---|---|
/// | `stored` (no `else`) | every one | `Element` |
/// | `all` (no `else`) | all but those that nothing is calculated in: see Note [Stored types] | `Element` |
/// | `bits` (no `else`) | one for each size, see `DType::bits`: for kernels that only move elements | `Element` |
/// | `ordered` | `all` but the complex ones | `Ordered` |
/// | `ring` | `all` but bool | `Ring` |
/// | `number` | integers and real numbers | `Number` |
/// | `integer` | | `Number` |
/// | `float` | real numbers | `Real` |
/// | `usual` | real numbers and integers of 64 bits: for operations that are rare of others | `Number` |
/// | `complex` | | `Ring` |
/// | `field` | real and complex numbers | `Ring` |
///
/// ```
/// use rushlight::{dispatch, dtype::{DType, Element}};
/// let bytes = dispatch!(all DType::Int16, T => std::mem::size_of::<T>());
/// assert_eq!(bytes, 2);
/// ```
#[macro_export]
macro_rules! dispatch {
    (@one $T:ident, $R:ty, $body:expr) => {{
        type $T = $R;
        $body
    }};
    (@float $dtype:expr, $T:ident => $body:expr, $rest:tt) => {
        match $dtype {
            $crate::dtype::DType::Float32 => $crate::dispatch!(@one $T, f32, $body),
            $crate::dtype::DType::Float64 => $crate::dispatch!(@one $T, f64, $body),
            _ => $rest,
        }
    };
    (@integer $dtype:expr, $T:ident => $body:expr, $rest:tt) => {
        match $dtype {
            $crate::dtype::DType::UInt8 => $crate::dispatch!(@one $T, u8, $body),
            $crate::dtype::DType::Int8 => $crate::dispatch!(@one $T, i8, $body),
            $crate::dtype::DType::Int16 => $crate::dispatch!(@one $T, i16, $body),
            $crate::dtype::DType::Int32 => $crate::dispatch!(@one $T, i32, $body),
            $crate::dtype::DType::Int64 => $crate::dispatch!(@one $T, i64, $body),
            _ => $rest,
        }
    };
    (float $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@float $dtype, $T => $body, $other)
    };
    (usual $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@float $dtype, $T => $body, {
            match $dtype {
                $crate::dtype::DType::Int64 => $crate::dispatch!(@one $T, i64, $body),
                _ => $other,
            }
        })
    };
    (integer $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@integer $dtype, $T => $body, $other)
    };
    (number $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@float $dtype, $T => $body, { $crate::dispatch!(@integer $dtype, $T => $body, $other) })
    };
    (complex $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        match $dtype {
            $crate::dtype::DType::Complex64 => $crate::dispatch!(@one $T, $crate::dtype::Complex<f32>, $body),
            $crate::dtype::DType::Complex128 => $crate::dispatch!(@one $T, $crate::dtype::Complex<f64>, $body),
            _ => $other,
        }
    };
    (field $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(float $dtype, $T => $body, else { $crate::dispatch!(complex $dtype, $T => $body, else $other) })
    };
    (ring $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(number $dtype, $T => $body, else { $crate::dispatch!(complex $dtype, $T => $body, else $other) })
    };
    (ordered $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(number $dtype, $T => $body, else {
            match $dtype {
                $crate::dtype::DType::Bool => $crate::dispatch!(@one $T, $crate::dtype::Bool, $body),
                _ => $other,
            }
        })
    };
    (all $dtype:expr, $T:ident => $body:expr) => {
        $crate::dispatch!(ring $dtype, $T => $body, else {
            match $dtype {
                $crate::dtype::DType::Bool => $crate::dispatch!(@one $T, $crate::dtype::Bool, $body),
                pending => unreachable!("{pending:?} is resolved before its elements are looked at"),
            }
        })
    };
    (stored $dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::dtype::DType::Float16 => $crate::dispatch!(@one $T, $crate::dtype::Half, $body),
            $crate::dtype::DType::BFloat16 => $crate::dispatch!(@one $T, $crate::dtype::BFloat16, $body),
            $crate::dtype::DType::UInt16 => $crate::dispatch!(@one $T, u16, $body),
            $crate::dtype::DType::UInt32 => $crate::dispatch!(@one $T, u32, $body),
            $crate::dtype::DType::UInt64 => $crate::dispatch!(@one $T, u64, $body),
            $crate::dtype::DType::Float8E8M0FnU => $crate::dispatch!(@one $T, $crate::dtype::Float8E8M0FnU, $body),
            $crate::dtype::DType::Float8E5M2FnUz => $crate::dispatch!(@one $T, $crate::dtype::Float8E5M2FnUz, $body),
            $crate::dtype::DType::Float8E4M3FnUz => $crate::dispatch!(@one $T, $crate::dtype::Float8E4M3FnUz, $body),
            $crate::dtype::DType::Float8E5M2 => $crate::dispatch!(@one $T, $crate::dtype::Float8E5M2, $body),
            $crate::dtype::DType::Float8E4M3Fn => $crate::dispatch!(@one $T, $crate::dtype::Float8E4M3Fn, $body),
            $crate::dtype::DType::Complex32 => {
                $crate::dispatch!(@one $T, $crate::dtype::Complex<$crate::dtype::Half>, $body)
            }
            other => $crate::dispatch!(all other, $T => $body),
        }
    };
    (bits $dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => $crate::dispatch!(@one $T, u8, $body),
            2 => $crate::dispatch!(@one $T, i16, $body),
            4 => $crate::dispatch!(@one $T, i32, $body),
            8 => $crate::dispatch!(@one $T, i64, $body),
            _ => $crate::dispatch!(@one $T, $crate::dtype::Complex<f64>, $body),
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::dtype::{DType, Element};

    #[test]
    fn every_type_is_dispatched_to_its_own_rust_type() {
        for dtype in DType::ALL {
            assert_eq!(dispatch!(stored dtype, T => T::DTYPE), dtype);
            assert_eq!(dispatch!(stored dtype, T => std::mem::size_of::<T>()), dtype.size());
            assert_eq!(dispatch!(bits dtype, T => T::DTYPE), dtype.bits());
            assert_eq!(dtype.bits().size(), dtype.size());
        }
    }
}
