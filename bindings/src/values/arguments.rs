//! The arguments of a call after matching, read by position in the written signature. Reading can
//! only fail where a value does not fit into the type it is converted to.
use crate::error::carry;

use crate::signature::matching::{SLOTS, Slots};
use crate::signature::{Default, Kind, Parameter, Signature};
use crate::tensor::object::as_tensor;
use crate::values::convert::{self, Ints};
use crate::values::device::{Device, MemoryFormat};
use crate::values::dtype::element_type;
use crate::values::generator::Generator;
use crate::values::memory::elements_of;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::creation::cast::Order;
use rushlight::ops::sampling::random;
use rushlight::schema;
use rushlight::{Error, Result, Tensor};

/// The arguments of one call.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) name: &'static str,
    pub(crate) signature: &'a Signature,
    pub(crate) slots: Slots<'a, 'py>,
    /// The list parameter whose elements were given spread out, and the elements.
    pub(crate) spread: Option<(usize, &'a [Bound<'py, PyAny>])>,
}

impl<'a, 'py> Arguments<'a, 'py> {
    /// The token that the interpreter is held.
    pub(crate) fn py(&self) -> Python<'py> {
        self.py
    }

    /// The same arguments as those of the overload that took the place of a deprecated one: parameters keep
    /// their names.
    #[cold]
    pub(crate) fn renewed(self, signatures: &'a [Signature]) -> Self {
        let slot = |one: &Signature, name: &str| {
            one.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.slot)
        };
        let old = self.signature;
        let has_all = |one: &&Signature| {
            !one.deprecated && old.parameters.iter().all(|parameter| slot(one, parameter.name).is_some())
        };
        let Some(new) = signatures.iter().find(has_all) else { return self };
        let mut slots: Slots<'a, 'py> = [None; SLOTS];
        for parameter in &old.parameters {
            if let Some(slot) = slot(new, parameter.name) {
                slots[slot] = self.slots[parameter.slot];
            }
        }
        if let (Some(from), Some(to)) = (old.receiver, new.receiver) {
            slots[to] = self.slots[from];
        }
        Arguments { signature: new, slots, ..self }
    }

    /// All arguments by the names of the parameters; a method's receiver is called `self`.
    pub(crate) fn named(&self) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
        let py = self.py;
        let mut named = Vec::new();
        if let Some(receiver) = self.signature.receiver.and_then(|slot| self.slots[slot]) {
            named.push(("self", receiver.clone()));
        }
        for parameter in &self.signature.parameters {
            let value = match (self.slots[parameter.slot], &parameter.default) {
                (Some(_), _)
                    if let Some((slot, elements)) = self.spread
                        && slot == parameter.slot =>
                {
                    PyTuple::new(py, elements)?.into_any()
                }
                (Some(object), _) => object.clone(),
                (None, Default::Bool(value)) => value.to_python(py)?,
                (None, Default::Int(value)) => value.to_python(py)?,
                (None, Default::Float(value)) => value.to_python(py)?,
                (None, Default::Ints(values)) => PyTuple::new(py, values)?.into_any(),
                (None, _) => continue,
            };
            named.push((parameter.name, value));
        }
        Ok(named)
    }

    /// The generator of random numbers, if one was given.
    pub(crate) fn generator(&self, index: usize) -> Option<random::Generator> {
        let generator = self.slots[index]?.cast::<Generator>().ok()?;
        Some(generator.get().stream().clone())
    }

    /// The Python object itself.
    pub(crate) fn object(&self, index: usize) -> Option<&'a Bound<'py, PyAny>> {
        self.slots[index]
    }

    /// The object in a slot that must not be empty.
    pub(crate) fn needed(&self, index: usize) -> PyResult<&'a Bound<'py, PyAny>> {
        self.slots[index].ok_or_else(|| self.absent(index))
    }

    /// A tensor.
    pub(crate) fn tensor(&self, index: usize) -> PyResult<&'a Tensor> {
        self.optional_tensor(index).ok_or_else(|| self.absent(index))
    }

    /// A tensor that may be left out.
    pub(crate) fn optional_tensor(&self, index: usize) -> Option<&'a Tensor> {
        self.slots[index].and_then(as_tensor)
    }

    /// The tensors of a tuple or list; none if it was left out.
    pub(crate) fn tensors(&self, index: usize) -> PyResult<Vec<Tensor>> {
        let Some(object) = self.slots[index] else { return Ok(Vec::new()) };
        let cloned = |element: PyResult<Bound<'py, PyAny>>| {
            as_tensor(&element?).cloned().ok_or_else(|| self.absent(index))
        };
        object.try_iter()?.map(cloned).collect()
    }

    /// A number that may be left out.
    pub(crate) fn optional_number(&self, index: usize) -> PyResult<Option<Scalar>> {
        match (self.slots[index], self.default(index)) {
            (Some(object), _) => convert::number(object).map(Some),
            (None, Default::Int(value)) => Ok(Some(Scalar::Int(*value))),
            (None, Default::Float(value)) => Ok(Some(Scalar::Float(*value))),
            (None, Default::Bool(value)) => Ok(Some(Scalar::Bool(*value))),
            (None, _) => Ok(None),
        }
    }

    /// A real number that may be left out.
    pub(crate) fn optional_float(&self, index: usize) -> PyResult<Option<f64>> {
        match (self.slots[index], self.default(index)) {
            (Some(object), _) => convert::float(object).map(Some),
            (None, Default::Int(value)) => Ok(Some(*value as f64)),
            (None, Default::Float(value)) => Ok(Some(*value)),
            (None, _) => Ok(None),
        }
    }

    /// An integer that may be left out.
    pub(crate) fn optional_int(&self, index: usize) -> PyResult<Option<i64>> {
        match (self.slots[index], self.default(index)) {
            (Some(object), _) => convert::int(object).map(Some),
            (None, Default::Int(value)) => Ok(Some(*value)),
            (None, _) => Ok(None),
        }
    }

    /// A truth value; false if it was left out and the default is `None`.
    pub(crate) fn boolean(&self, index: usize) -> bool {
        self.optional_boolean(index).unwrap_or(false)
    }

    /// A truth value that may be left out.
    pub(crate) fn optional_boolean(&self, index: usize) -> Option<bool> {
        match (self.slots[index], self.default(index)) {
            (Some(object), _) => object.is_truthy().ok(),
            (None, Default::Bool(value)) => Some(*value),
            (None, _) => None,
        }
    }

    /// An element type; `None` if it was left out.
    pub(crate) fn dtype(&self, index: usize) -> Option<DType> {
        self.slots[index].and_then(element_type)
    }

    /// A string that may be left out.
    pub(crate) fn optional_text(&self, index: usize) -> PyResult<Option<String>> {
        match (self.slots[index], self.default(index)) {
            (Some(object), _) => convert::text(object).map(Some),
            (None, Default::Text(text)) => Ok(Some((*text).to_owned())),
            (None, _) => Ok(None),
        }
    }

    /// A list of integers; `None` if it was left out without a default.
    pub(crate) fn dims(&self, index: usize) -> PyResult<Option<Ints>> {
        let size = match self.parameter(index).map(|parameter| parameter.kind) {
            Some(Kind::Ints(size)) => usize::from(size.max(1)),
            _ => 1,
        };
        let (Some(parameter), Some(object)) = (self.parameter(index), self.slots[index]) else {
            return Ok(match self.default(index) {
                Default::Int(value) => Some(Ints::from_elem(*value, size)),
                Default::Ints(values) => Some(Ints::from_slice(values)),
                _ => None,
            });
        };
        match self.spread {
            Some((slot, elements)) if slot == index => {
                convert::ints(self.name, parameter.name, elements.iter().cloned())
            }
            _ => convert::int_list(self.name, parameter.name, object, size),
        }
        .map(Some)
    }

    /// The elements of a list, each of which may be left open, or the only one; `None` if all were left out.
    fn open<T>(
        &self,
        index: usize,
        read: fn(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Option<Vec<Option<T>>>> {
        let Some(object) = self.slots[index].filter(|object| !object.is_none()) else { return Ok(None) };
        let one = |object: &Bound<'py, PyAny>| match object.is_none() {
            true => Ok(None),
            false => read(object).map(Some),
        };
        if object.len().is_err() {
            return Ok(Some(vec![one(object)?]));
        }
        object.try_iter()?.map(|item| one(&item?)).collect::<PyResult<_>>().map(Some)
    }

    fn parameter(&self, index: usize) -> Option<&'a Parameter> {
        // Only the receiver and `out` of a method are missing from the list, so it is at its slot or before.
        let parameters = &self.signature.parameters;
        parameters[..parameters.len().min(index + 1)].iter().rfind(|parameter| parameter.slot == index)
    }

    fn default(&self, index: usize) -> &'a Default {
        self.parameter(index).map_or(&Default::Absent, |parameter| &parameter.default)
    }

    /// An operation asked for an argument that its own signature does not promise.
    #[cold]
    fn absent(&self, index: usize) -> PyErr {
        PyRuntimeError::new_err(format!(
            "{}(): argument {index} is not what the signature promises",
            self.name
        ))
    }
}

/// What the engine's entries read. A failure of Python's goes through the engine and comes back as it was.
impl schema::Arguments for Arguments<'_, '_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn overload(&self) -> usize {
        self.signature.overload
    }

    fn count(&self) -> usize {
        SLOTS
    }

    fn given(&self, index: usize) -> bool {
        self.slots[index].is_some()
    }

    fn optional_tensor(&self, index: usize) -> Option<&Tensor> {
        self.slots[index].and_then(as_tensor)
    }

    fn tensors(&self, index: usize) -> Result<Vec<Tensor>> {
        Arguments::tensors(self, index).map_err(carry)
    }

    fn optional_number(&self, index: usize) -> Result<Option<Scalar>> {
        Arguments::optional_number(self, index).map_err(carry)
    }

    fn optional_float(&self, index: usize) -> Result<Option<f64>> {
        Arguments::optional_float(self, index).map_err(carry)
    }

    fn optional_int(&self, index: usize) -> Result<Option<i64>> {
        Arguments::optional_int(self, index).map_err(carry)
    }

    fn optional_boolean(&self, index: usize) -> Option<bool> {
        Arguments::optional_boolean(self, index)
    }

    fn dtype(&self, index: usize) -> Option<DType> {
        Arguments::dtype(self, index)
    }

    fn optional_text(&self, index: usize) -> Result<Option<String>> {
        Arguments::optional_text(self, index).map_err(carry)
    }

    fn word(&self, index: usize) -> Option<String> {
        self.slots[index]?.cast::<PyString>().ok().map(|text| text.to_string_lossy().into_owned())
    }

    fn dims(&self, index: usize) -> Result<Option<Ints>> {
        Arguments::dims(self, index).map_err(carry)
    }

    fn open_ints(&self, index: usize) -> Result<Option<Vec<Option<i64>>>> {
        self.open(index, convert::int).map_err(carry)
    }

    fn open_floats(&self, index: usize) -> Result<Option<Vec<Option<f64>>>> {
        self.open(index, convert::float).map_err(carry)
    }

    fn creation(&self, first: usize) -> Result<schema::Creation> {
        <Self as schema::Arguments>::device(self, first + 2)?;
        // What is made for a tensor is made of its type.
        let out = || as_tensor(self.slots[self.signature.out?]?).map(Tensor::dtype);
        let dtype = Arguments::dtype(self, first).or_else(out);
        Ok(schema::Creation { dtype, requires_grad: self.boolean(first + 4) })
    }

    fn device(&self, index: usize) -> Result<()> {
        self.slots[index].map_or(Ok(()), |device| Device::of(device).and_then(Device::usable)).map_err(carry)
    }

    fn storage(&self, index: usize, dtype: DType) -> Result<Tensor> {
        self.needed(index).and_then(|storage| elements_of(storage, dtype)).map_err(carry)
    }

    fn order(&self, index: usize) -> Option<Order> {
        let format = self.slots[index]?.cast::<MemoryFormat>().ok()?;
        Some(format.get().order())
    }

    fn generator(&self, index: usize) -> Option<random::Generator> {
        Arguments::generator(self, index)
    }

    fn absent(&self, index: usize) -> Box<Error> {
        carry(Arguments::absent(self, index))
    }
}

/// The tensors that an argument is or has.
pub(crate) fn tensors_in(object: &Bound<'_, PyAny>) -> Vec<Tensor> {
    // Tensors can be iterated over too, which would take them apart.
    if let Some(tensor) = as_tensor(object) {
        return vec![tensor.clone()];
    }
    let items = object.try_iter().into_iter().flatten();
    items.flatten().filter_map(|item| as_tensor(&item).cloned()).collect()
}
