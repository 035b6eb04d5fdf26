//! What a tensor is: its shape, its type, its place in memory. Nothing here records or computes.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::dtype::DType;
use rushlight::graph::following;
use rushlight::ops::conjugate;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::permute;
use rushlight::{Error, Tensor};

use super::memory_checks::check_memory;
use super::number::number;
use super::object::{TensorBase, as_tensor, wrap};
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::device::{Device, Layout, strided};
use crate::values::dtype::wrap_dtype;
use crate::values::returns::ToPython;
use crate::values::size::wrap_size;
use rushlight::ops::conjugate::{is_conj, is_neg};

const T_OF_NUMBER: &std::ffi::CStr =
    c"Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.";
const MT_OF_NUMBER: &std::ffi::CStr =
    c"Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.";
const H_OF_NUMBER: &std::ffi::CStr = c"Tensor.H is deprecated on 0-D tensors. Consider using x.conj().";
const MH_OF_NUMBER: &std::ffi::CStr = c"Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().";
const T_OF_MANY: &std::ffi::CStr = c"The use of `x.T` on tensors of dimension other than 2 to reverse their \
    shape is deprecated and it will throw an error in a future release. Consider `x.mT` to transpose batches of \
    matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.";

#[pymethods]
impl TensorBase {
    /// The size of every dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_size(py, self.tensor().layout().shape())
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.tensor().ndim()
    }

    /// The number of dimensions.
    fn dim(&self) -> usize {
        self.tensor().ndim()
    }

    /// The number of dimensions.
    fn ndimension(&self) -> usize {
        self.tensor().ndim()
    }

    /// The number of elements.
    fn numel(&self) -> usize {
        self.tensor().numel()
    }

    /// The number of elements.
    fn nelement(&self) -> usize {
        self.tensor().numel()
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_dtype(py, self.tensor().dtype())
    }

    /// Where the memory lies.
    #[getter]
    fn device(&self) -> Device {
        Device::CPU
    }

    /// How the elements lie in memory.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<Py<Layout>> {
        strided(py)
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.tensor().dtype().size()
    }

    /// Bytes of one element.
    fn element_size(&self) -> usize {
        self.tensor().dtype().size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.tensor().numel() * self.tensor().dtype().size()
    }

    /// How many elements of the memory lie before the first.
    fn storage_offset(&self) -> usize {
        self.tensor().layout().offset()
    }

    /// The address of the first element.
    fn data_ptr(&self) -> PyResult<usize> {
        check_memory(self.tensor())?;
        following::leaves("data_ptr()");
        Ok(if self.tensor().has_no_data() { 0 } else { self.tensor().data_ptr().addr() })
    }

    /// How often the memory was written to in place.
    #[getter]
    fn _version(&self) -> PyResult<u32> {
        following::leaves("_version");
        match self.tensor().is_counted() {
            true => Ok(self.tensor().version()),
            false => Err(raise(Error::InferenceVersion {}.into())),
        }
    }

    /// Whether elements have a fraction.
    fn is_floating_point(&self) -> bool {
        self.tensor().dtype().is_float()
    }

    /// Whether elements have an imaginary part.
    fn is_complex(&self) -> bool {
        self.tensor().dtype().is_complex()
    }

    /// Whether elements can be negative.
    fn is_signed(&self) -> bool {
        !matches!(self.tensor().dtype(), DType::Bool | DType::UInt8)
    }

    /// Whether the memory is a view that is conjugated when read.
    fn is_conj(&self) -> bool {
        is_conj(self.tensor())
    }

    /// Whether the memory is a view that is negated when read.
    fn is_neg(&self) -> bool {
        is_neg(self.tensor())
    }

    /// Whether the tensor was made in inference mode.
    fn is_inference(&self) -> bool {
        self.tensor().is_inference()
    }

    /// Whether the memory is one that devices reach at once.
    fn is_pinned(&self) -> bool {
        false
    }

    /// Whether the memory is shared between processes.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether the memory lies on a CUDA device.
    #[getter]
    fn is_cuda(&self) -> bool {
        false
    }

    /// Whether the memory lies on the CPU.
    #[getter]
    fn is_cpu(&self) -> bool {
        true
    }

    /// Whether only some elements are stored.
    #[getter]
    fn is_sparse(&self) -> bool {
        false
    }

    /// Whether elements are stored with a scale.
    #[getter]
    fn is_quantized(&self) -> bool {
        false
    }

    /// Whether there is a shape without memory.
    #[getter]
    fn is_meta(&self) -> bool {
        false
    }

    /// Whether the memory lies on a Metal device.
    #[getter]
    fn is_mps(&self) -> bool {
        false
    }

    /// Whether tensors of several shapes are held as one.
    #[getter]
    fn is_nested(&self) -> bool {
        false
    }

    /// The real parts, on the same memory; the tensor itself if its elements are real.
    #[getter]
    fn real<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        conjugate::real(self.tensor()).to_python(py)
    }

    #[setter]
    fn set_real(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        overwrite(&conjugate::real(self.tensor()).map_err(raise)?, value)
    }

    /// The imaginary parts, on the same memory.
    #[getter]
    fn imag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        conjugate::imag(self.tensor()).to_python(py)
    }

    #[setter]
    fn set_imag(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        overwrite(&conjugate::imag(self.tensor()).map_err(raise)?, value)
    }

    /// The tensor with its dimensions in the opposite order.
    #[getter]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn T<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static TOLD_OF_NUMBER: Once = Once::new();
        static TOLD_OF_MANY: Once = Once::new();
        match self.tensor().ndim() {
            0 => TOLD_OF_NUMBER.warn(py, T_OF_NUMBER)?,
            2 => {}
            _ => TOLD_OF_MANY.warn(py, T_OF_MANY)?,
        }
        permute::T(self.tensor()).to_python(py)
    }

    /// The tensor with its last two dimensions exchanged.
    #[getter]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn mT<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.transposed(py, "mT")
    }

    /// That with conjugates.
    #[getter]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn mH<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.transposed(py, "mH")
    }

    /// The matrix transposed, with conjugates.
    #[getter]
    #[allow(non_snake_case, reason = "the name in Python")]
    fn H<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.tensor().ndim() {
            0 => {
                static TOLD: Once = Once::new();
                TOLD.warn(py, H_OF_NUMBER)?;
                conjugate::conj(self.tensor().clone()).to_python(py)
            }
            2 => permute::transpose(self.tensor(), -2, -1).and_then(conjugate::conj).to_python(py),
            ndim => {
                let hint = if ndim > 2 { " For batches of matrices, consider using tensor.mH" } else { "" };
                Err(PyRuntimeError::new_err(format!(
                    "tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{hint}"
                )))
            }
        }
    }

    /// The tensor whose memory this is a view of.
    #[getter]
    fn _base<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tensor().base().map(|base| wrap(py, base)).transpose()
    }

    /// Whether this is a view of another tensor.
    fn _is_view(&self) -> bool {
        self.tensor().is_view()
    }

    /// A name, which tensors do not have.
    #[getter]
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// The number of elements to step over, by dimension.
    fn _strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor().layout().strides())
    }
}

/// Overwrites elements with those of a tensor or with a number.
fn overwrite(target: &Tensor, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match (as_tensor(value), number(value)?) {
        (Some(value), _) => cast::copy_(target, value).map_err(raise),
        (None, Some(number)) => cast::fill_(target, number).map_err(raise),
        (None, None) => Err(PyTypeError::new_err("can't assign this to the part of a tensor")),
    }
}

impl TensorBase {
    fn transposed<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.tensor().ndim() {
            0 => {
                static TOLD_OF_MH: Once = Once::new();
                static TOLD_OF_MT: Once = Once::new();
                match name {
                    "mH" => TOLD_OF_MH.warn(py, MH_OF_NUMBER)?,
                    _ => TOLD_OF_MT.warn(py, MT_OF_NUMBER)?,
                }
                let number = self.tensor().clone();
                if name == "mH" { conjugate::conj(number) } else { Ok(number) }.to_python(py)
            }
            1 => Err(PyRuntimeError::new_err(format!(
                "tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
            ))),
            _ => {
                let transposed = permute::transpose(self.tensor(), -2, -1).map_err(raise)?;
                if name == "mH" { conjugate::conj(transposed) } else { Ok(transposed) }.to_python(py)
            }
        }
    }
}
