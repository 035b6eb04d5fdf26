//! The elements of a tensor as plain Python objects: `item`, `tolist`, `int()`, `float()`, `bool()`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList};
use rushlight::dispatch;
use rushlight::dispatch::long_work;
use rushlight::dispatch::modes::intercept;
use rushlight::dtype::{Category, DType, Element, Scalar};
use rushlight::graph::{following, mode};
use rushlight::kernels::interrupt::Steps;
use rushlight::ops::creation::create;
use rushlight::storage;
use rushlight::tensor::Array;
use rushlight::{Error, Result, Tensor};

use super::memory_checks::{check_allocated, check_memory};
use super::number::number;
use super::object::{TensorBase, wrap};
use crate::error::{carry, raise};
use crate::interpreter::signals::Listening;
use crate::interpreter::warnings::Once;
use crate::modes::intercept::{check_readable, settle_method};
use crate::program::returned_number;
use crate::values::list::list_of;
use crate::values::returns::ToPython;

#[pymethods]
impl TensorBase {
    /// The only element as a Python number.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(number) = returned_number(py, self.tensor())? {
            return Ok(number);
        }
        element(self.tensor()).to_python(py)
    }

    /// `complex(x)`.
    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = only(self.tensor())?.to_complex();
        tell_of_history(py, self.tensor())?;
        Scalar::Complex(number).to_python(py)
    }

    /// Whether the only element is not zero.
    fn is_nonzero(&self) -> PyResult<bool> {
        is_true(self.tensor())
    }

    /// The elements as nested lists of Python numbers; the number itself without dimensions.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, tensor) = (slf.py(), slf.get().tensor());
        check_readable(tensor, || {
            let class = slf.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            format!(".tolist() is not supported for tensor subclasses, got {class}")
        })?;
        if tensor.differs() {
            check_memory(tensor)?;
        }
        check_allocated(tensor, "tolist")?;
        following::shows(tensor, "tolist()");
        let (array, mut listening) = (tensor.array(), Listening::default());
        let mut elements = Elements::new(array.clone()).map_err(raise)?;
        nested(py, array.layout.shape(), &mut elements, &mut listening)
    }
}

/// What is told of others than tensors of one element.
pub(super) const ONE_ELEMENT: &str = "only one element tensors can be converted to Python scalars";

/// Elements that are read together.
const NEAR: usize = 256;

/// Elements on their way to the interpreter.
enum Near {
    /// Numbers of floating-point types.
    Floats(Vec<f64>),
    /// Integers.
    Integers(Vec<i64>),
    /// Elements of any type.
    Any(Vec<Scalar>),
}

/// The elements of an array in row-major order. None of its memory is borrowed while the interpreter makes objects.
struct Elements {
    array: Array,
    /// Elements that were read.
    read: usize,
    /// All that do not lie in order or are of a type that seldom is listed, else those that were read last.
    near: Near,
    /// How many of these were taken.
    taken: usize,
}

impl Elements {
    fn new(array: Array) -> Result<Elements> {
        let is_usual = dispatch!(usual array.dtype, _T => true, else { false });
        if is_usual && array.layout.is_contiguous() {
            let room = array.layout.numel().min(NEAR);
            let near = match array.dtype {
                DType::Int64 => Near::Integers(storage::room(room)?),
                _ => Near::Floats(storage::room(room)?),
            };
            return Ok(Elements { array, read: 0, near, taken: 0 });
        }
        let all: Vec<Scalar> = long_work::patiently(array.layout.numel() as u64, || {
            let mut steps = Steps::default();
            dispatch!(stored array.dtype, T => {
                let view = array.view::<T>();
                let taken = view.iter().inspect(|_| steps.take(1));
                storage::collected(view.len(), taken.map(|element| element.to_scalar()))
            })
        })?;
        Ok(Elements { array, read: all.len(), near: Near::Any(all), taken: 0 })
    }

    /// Reads the next elements.
    #[inline(never)]
    fn read(&mut self) {
        /// The next elements of a slice in the place of others, as `read` has them.
        fn replace<T: Copy, U>(near: &mut Vec<U>, from: Option<&[T]>, first: usize, read: impl Fn(T) -> U) {
            let behind = from.and_then(|elements| elements.get(first..)).unwrap_or_default();
            near.clear();
            near.extend(behind.iter().take(NEAR).map(|&element| read(element)));
        }
        let (array, first) = (&self.array, self.read);
        self.taken = 0;
        self.read += match &mut self.near {
            Near::Floats(near) => {
                match array.dtype {
                    DType::Float32 => replace(near, array.slice::<f32>(), first, f64::from),
                    _ => replace(near, array.slice::<f64>(), first, |element| element),
                }
                near.len()
            }
            Near::Integers(near) => {
                replace(near, array.slice::<i64>(), first, |element| element);
                near.len()
            }
            Near::Any(near) => {
                near.clear();
                0
            }
        };
    }

    /// The next element, if it was read.
    #[inline]
    fn taken<'py>(&mut self, py: Python<'py>) -> Option<PyResult<Bound<'py, PyAny>>> {
        let place = self.taken;
        self.taken += 1;
        match &self.near {
            Near::Floats(near) => near.get(place).map(|&number| Ok(PyFloat::new(py, number).into_any())),
            Near::Integers(near) => near.get(place).map(|&number| Ok(PyInt::new(py, number).into_any())),
            Near::Any(near) => near.get(place).map(|element| element.to_python(py)),
        }
    }

    /// The next element.
    #[inline]
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(element) = self.taken(py) {
            return element;
        }
        self.read();
        self.taken(py).unwrap_or_else(|| Err(PyValueError::new_err("fewer elements than the shape has")))
    }
}

/// Lists in the form of `shape`. There may be more dimensions than calls fit on a stack.
fn nested<'py>(
    py: Python<'py>,
    shape: &[usize],
    elements: &mut Elements,
    listening: &mut Listening,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((&row, outer)) = shape.split_last() else { return elements.next(py) };
    let mut around: Vec<Bound<'py, PyList>> = Vec::new();
    loop {
        // What is complete goes into the list around it, which may then be complete as well.
        let mut list = if around.len() < outer.len() {
            listening.object(py)?;
            PyList::empty(py)
        } else {
            list_of(py, row, listening, &mut || elements.next(py))?
        };
        while around.len() == outer.len() || list.len() == outer[around.len()] {
            let Some(holder) = around.pop() else { return Ok(list.into_any()) };
            PyListMethods::append(&holder, list)?;
            list = holder;
        }
        around.push(list);
    }
}

/// The only element, as whoever intercepts operations has it.
fn element(tensor: &Tensor) -> Result<Scalar> {
    let subclassed = tensor.is_subclassed() && intercept::is_dispatching_to_subclasses();
    if tensor.numel() != 1 || !(subclassed || mode::special() && intercept::is_intercepting()) {
        return tensor.item();
    }
    let shown = |py: Python<'_>| {
        let own = if tensor.has_no_data() { Scalar::Int(0) } else { tensor.item().map_err(raise)? };
        let object = wrap(py, tensor.clone())?;
        let answer = settle_method("item", &object, own.to_python(py)?)?;
        number(&answer)?.ok_or_else(|| PyTypeError::new_err("must be real number"))
    };
    Python::attach(shown).map_err(carry)
}

/// The only element, for the conversions of the language.
fn only(tensor: &Tensor) -> PyResult<Scalar> {
    if tensor.differs() && tensor.numel() == 1 {
        return tensor.item().map_err(raise);
    }
    if tensor.numel() == 1 {
        return element(tensor).map_err(raise);
    }
    tensor.item().map_err(|_| PyValueError::new_err(ONE_ELEMENT))
}

/// Says, once, that a number has no history although the tensor had one.
pub(super) fn tell_of_history(py: Python<'_>, tensor: &Tensor) -> PyResult<()> {
    static TOLD: Once = Once::new();
    if !tensor.requires_grad() || !mode::is_grad_enabled() {
        return Ok(());
    }
    let text = c"Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n\
        Consider using tensor.detach() first.";
    TOLD.warn(py, text)
}

/// A number without an imaginary part other than zero, as the type is to have it.
fn real(element: Scalar, dtype: DType) -> PyResult<Scalar> {
    match element {
        Scalar::Complex(number) => {
            create::check_value(element, dtype).map_err(raise)?;
            Ok(Scalar::Float(number.re))
        }
        real => Ok(real),
    }
}

/// `int(x)`.
pub(super) fn to_int<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let element = real(only(tensor)?, DType::Int64)?.to_python(py)?;
    Ok(py.get_type::<PyInt>().call1((element,))?.into_any())
}

/// `float(x)`.
pub(super) fn to_float<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if tensor.dtype().category() == Category::Float
        && let Some(number) = returned_number(py, tensor)?
    {
        return Ok(number);
    }
    let number = real(only(tensor)?, DType::Float64)?.to_f64();
    tell_of_history(py, tensor)?;
    Ok(PyFloat::new(py, number).into_any())
}

/// `sequence[x]`.
pub(super) fn to_index<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let indexes = tensor.dtype().category() < Category::Float;
    if indexes && tensor.differs() {
        only(tensor)?;
    }
    match element(tensor) {
        Ok(element) if element.category() < Category::Float => {
            Ok(PyInt::new(py, element.to::<i64>()).into_any())
        }
        _ => {
            Err(PyTypeError::new_err("only integer tensors of a single element can be converted to an index"))
        }
    }
}

/// `bool(x)`.
pub(crate) fn is_true(tensor: &Tensor) -> PyResult<bool> {
    if tensor.differs() {
        let error = match tensor.mapping() {
            Some(mapping) if !mapping.is_asked_for() => {
                Error::MappedDecision { operation: "is_nonzero".to_owned() }
            }
            _ if tensor.is_followed() => Error::MappedValue {},
            _ => Error::MappedTruth {},
        };
        return Err(raise(error.into()));
    }
    match element(tensor) {
        Ok(element) => Ok(element.is_true()),
        Err(error) if tensor.numel() == 1 => Err(raise(error)),
        Err(_) if tensor.numel() == 0 => Err(raise(Error::EmptyTruth {}.into())),
        Err(_) => Err(raise(Error::AmbiguousTruth {}.into())),
    }
}
