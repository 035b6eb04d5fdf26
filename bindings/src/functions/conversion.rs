//! Tensors as what Python has: arrays of numpy, and types that anything may name.
use super::entries::method;
use crate::calls::body::answer;
use crate::calls::table::Function;
use crate::tensor::numpy::to_numpy;
use crate::tensor::object::tensor_class;
use crate::values::arguments::Arguments;
use crate::values::dtype::{as_dtype, tensor_type_name};
use crate::values::returns::ToPython;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rushlight::dispatch::default_dtype;
use rushlight::dtype::DType;
use rushlight::ops::creation::cast::converted;

/// The entries.
pub(super) const TABLE: &[Function] = &[
    method(
        "numpy",
        &["(Tensor input, *, bool force=False) -> numpy.ndarray"],
        "The tensor as a numpy array that shares its memory.",
        |a| to_numpy(a.py(), a.tensor(0)?, a.boolean(1)).map(Bound::unbind),
    ),
    method(
        "type",
        &["(Tensor input, object dtype=None, bool non_blocking=False) -> Tensor | str"],
        "The name of the tensor type, or the tensor converted to the type of a name.",
        r#type,
    ),
];

fn r#type(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let Some(wanted) = arguments.object(1) else {
        let name = tensor_type_name(arguments.tensor(0)?.dtype());
        return name.as_str().to_python(arguments.py()).map(Bound::unbind);
    };
    let unknown = |name: &str| PyValueError::new_err(format!("invalid type: '{name}'"));
    let dtype = if let Ok(name) = wanted.cast::<PyString>() {
        match name.to_str()? {
            "torch.Tensor" => default_dtype::get(),
            name => DType::ALL
                .into_iter()
                .find(|&dtype| tensor_type_name(dtype) == name)
                .ok_or_else(|| unknown(name))?,
        }
    } else if let Ok(class) = wanted.cast::<PyType>() {
        // The class of all tensors of a type, as `FloatTensor` is; `Tensor` makes those of the default type.
        let named = || as_dtype(&class.getattr("dtype").ok()?);
        match class.is(tensor_class(arguments.py())) {
            true => default_dtype::get(),
            false => named().ok_or_else(|| {
                class.name().map_or_else(|error| error, |name| unknown(&name.to_string_lossy()))
            })?,
        }
    } else {
        as_dtype(wanted).ok_or_else(|| PyTypeError::new_err("dtype must be a type, str, or dtype object"))?
    };
    answer(arguments, converted(arguments, dtype))
}
