//! What element types are called: in programs, in messages, in C.

use super::DType;

impl DType {
    /// The name after `torch.`, such as `float32`.
    pub const fn name(self) -> &'static str {
        match self.resolved() {
            DType::Bool => "bool",
            DType::UInt8 => "uint8",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Float8E8M0FnU => "float8_e8m0fnu",
            DType::Float8E5M2FnUz => "float8_e5m2fnuz",
            DType::Float8E4M3FnUz => "float8_e4m3fnuz",
            DType::Float8E5M2 => "float8_e5m2",
            DType::Float8E4M3Fn => "float8_e4m3fn",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex32 => "complex32",
            DType::Complex64 => "complex64",
            _ => "complex128",
        }
    }

    /// The name that error messages use, such as `Float`.
    pub const fn title(self) -> &'static str {
        match self.resolved() {
            DType::Bool => "Bool",
            DType::UInt8 => "Byte",
            DType::Int8 => "Char",
            DType::Int16 => "Short",
            DType::Int32 => "Int",
            DType::Int64 => "Long",
            DType::UInt16 => "UInt16",
            DType::UInt32 => "UInt32",
            DType::UInt64 => "UInt64",
            DType::Float8E8M0FnU => "Float8_e8m0fnu",
            DType::Float8E5M2FnUz => "Float8_e5m2fnuz",
            DType::Float8E4M3FnUz => "Float8_e4m3fnuz",
            DType::Float8E5M2 => "Float8_e5m2",
            DType::Float8E4M3Fn => "Float8_e4m3fn",
            DType::Float16 => "Half",
            DType::BFloat16 => "BFloat16",
            DType::Float32 => "Float",
            DType::Float64 => "Double",
            DType::Complex32 => "ComplexHalf",
            DType::Complex64 => "ComplexFloat",
            _ => "ComplexDouble",
        }
    }

    /// What C calls the type.
    pub const fn name_in_c(self) -> &'static str {
        match self.resolved() {
            DType::Bool => "bool",
            DType::UInt8 => "uint8_t",
            DType::Int8 => "int8_t",
            DType::Int16 => "int16_t",
            DType::Int32 => "int",
            DType::Int64 => "int64_t",
            DType::UInt16 => "uint16_t",
            DType::UInt32 => "uint32_t",
            DType::UInt64 => "uint64_t",
            DType::Float8E8M0FnU => "c10::Float8_e8m0fnu",
            DType::Float8E5M2FnUz => "c10::Float8_e5m2fnuz",
            DType::Float8E4M3FnUz => "c10::Float8_e4m3fnuz",
            DType::Float8E5M2 => "c10::Float8_e5m2",
            DType::Float8E4M3Fn => "c10::Float8_e4m3fn",
            DType::Float16 => "c10::Half",
            DType::BFloat16 => "c10::BFloat16",
            DType::Float32 => "float",
            DType::Float64 => "double",
            DType::Complex32 => "c10::complex<c10::Half>",
            DType::Complex64 => "c10::complex<float>",
            _ => "c10::complex<double>",
        }
    }
}
