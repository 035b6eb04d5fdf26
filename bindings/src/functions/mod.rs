//! Native functions and methods: those of the engine's entries, which stand with their operations, and those that
//! speak with Python, by family in the files beside this one.

mod anomaly;
mod attributes;
mod construction;
mod conversion;
mod creation;
mod entries;
mod factory;
mod layers;
mod norms;
mod random;
mod superseded;
mod views;

use crate::calls::body::Body;
use crate::calls::callable::{self, Function};
use crate::tensor::object::TensorBase;
use crate::tensor::shown;
use pyo3::prelude::*;
use rushlight::ops;
use rushlight::schema::{Entry, Operator};

/// The families.
static TABLES: &[&[Function]] = &[
    anomaly::TABLE,
    attributes::TABLE,
    construction::TABLE,
    conversion::TABLE,
    creation::TABLE,
    layers::images::TABLE,
    layers::neural::TABLE,
    layers::pooling::TABLE,
    norms::TABLE,
    random::TABLE,
    superseded::TABLE,
    views::TABLE,
];

fn listed() -> impl Iterator<Item = Function> {
    TABLES.iter().copied().flatten().copied()
}

/// Makes all of them: attributes of the module, of its room for `nn`, and of the tensor class.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let neural = PyModule::new(py, "rushlight._rushlight._nn")?;
    module.add("_nn", &neural)?;
    py.import("sys")?.getattr("modules")?.set_item(neural.name()?, &neural)?;
    let functions = ops::entries().map(of_engine).chain(listed());
    let base = py.get_type::<TensorBase>();
    // Pickled methods are looked up through the class they belong to.
    module.setattr("TensorBase", &base)?;
    callable::install(functions, module, &neural, &base)?;
    shown::install_methods(&base)
}

/// The engine's entry as the bindings keep it.
fn of_engine(entry: &Entry) -> Function {
    let Entry { name, signatures, doc, call, reach, policy, operators } = *entry;
    Function { name, signatures, doc, body: Body::Engine(call), kind: reach, policy, operators }
}

/// What torch's dispatcher calls the operators of the engine and of native functions: the name of the node that each
/// leaves, or `-`, and its schema.
#[pyfunction]
#[pyo3(name = "_operators")]
pub(crate) fn operators() -> Vec<Operator> {
    ops::operators().chain(listed().flat_map(|function| function.operators)).copied().collect()
}
