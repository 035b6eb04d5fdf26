//! Native functions and methods: those of the engine's entries, which stand with their operations, and those that
//! speak with Python, by family in the files beside this one. These are all:
//!
//! - `tensor`, `as_tensor`, `asarray`, `from_numpy`: they read whatever Python has numbers in.
//! - `numpy`, `type`: they answer with an array of numpy, and with the name of a class.
//! - `size`, `stride`: they answer with Python's containers, `Size` and a tuple.
//! - `as_subclass`: it is given a class, and answers with an object of it.
//! - `requires_grad_`, `detach`, `detach_`, `is_nonzero`: what they do is what the attributes of a tensor's object do.
//! - `manual_seed`: it takes whatever `int` takes, and answers with the object of the generator.
//! - `set_anomaly_enabled`: it is no operation of tensors.

mod attributes;
mod construction;
mod conversion;
mod entries;
mod switches;

use crate::calls::body::Body;
use crate::calls::callable;
use crate::calls::table::{FUNCTION, Function, NN, Seen};
use crate::tensor::object::TensorBase;
use crate::tensor::shown;
use pyo3::prelude::*;
use rushlight::ops;
use rushlight::schema::Entry;
use std::borrow::Cow;

/// The families.
static TABLES: &[&[Function]] = &[attributes::TABLE, construction::TABLE, conversion::TABLE, switches::TABLE];

/// Functions that `special` has too, by the names that they have there.
const SPECIAL: &[(&str, &str)] = &[
    ("digamma", "special_digamma"),
    ("digamma", "special_psi"),
    ("erf", "special_erf"),
    ("erfc", "special_erfc"),
    ("erfinv", "special_erfinv"),
    ("exp2", "special_exp2"),
    ("expm1", "special_expm1"),
    ("i0", "special_i0"),
    ("lgamma", "special_gammaln"),
    ("log1p", "special_log1p"),
    ("log_softmax", "special_log_softmax"),
    ("logit", "special_logit"),
    ("logsumexp", "special_logsumexp"),
    ("polygamma", "special_polygamma"),
    ("sigmoid", "special_expit"),
    ("sinc", "special_sinc"),
    ("softmax", "special_softmax"),
    ("xlogy", "special_xlogy"),
];

/// The engine's entry, and what `special` has of it.
fn with_special(entry: &Entry) -> impl Iterator<Item = Function> {
    let entry = of_engine(entry);
    let is_function = entry.kind & FUNCTION != 0;
    let others = SPECIAL.iter().filter(move |(name, _)| is_function && *name == entry.name);
    std::iter::once(entry).chain(others.map(move |&(_, name)| Function { name, kind: NN, ..entry }))
}

fn listed() -> impl Iterator<Item = Function> {
    TABLES.iter().copied().flatten().copied()
}

/// Makes all of them: attributes of the module, of its room for `nn`, and of the tensor class.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let neural = PyModule::new(py, "rushlight._rushlight._nn")?;
    module.add("_nn", &neural)?;
    py.import("sys")?.getattr("modules")?.set_item(neural.name()?, &neural)?;
    let functions = ops::entries().flat_map(with_special).chain(listed());
    let base = py.get_type::<TensorBase>();
    // Pickled methods are looked up through the class they belong to.
    module.setattr("TensorBase", &base)?;
    callable::install(functions, module, &neural, &base)?;
    shown::install_methods(&base)
}

/// The engine's entry as the bindings keep it.
fn of_engine(entry: &Entry) -> Function {
    let Entry { name, signatures, doc, call, reach, policy, operators } = *entry;
    Function {
        name,
        signatures,
        doc,
        body: Body::Engine(call),
        kind: reach,
        policy,
        operators,
        seen: Seen::ByAll,
    }
}

/// What torch's dispatcher calls the operators of the engine and of native functions: the name of the node that each
/// leaves, or `-`, and its schema.
#[pyfunction]
#[pyo3(name = "_operators")]
pub(crate) fn operators() -> Vec<(&'static str, Cow<'static, str>)> {
    let own = listed().flat_map(|function| function.operators);
    ops::operators().chain(own.map(|&(node, schema)| (node, Cow::Borrowed(schema)))).collect()
}

/// The schemas of the operators that are functions of elements: their results have the shape to which the operands
/// broadcast.
#[pyfunction]
#[pyo3(name = "_pointwise_operators")]
pub(crate) fn pointwise_operators() -> Vec<Cow<'static, str>> {
    ops::pointwise_operators().collect()
}
