//! The tables of native functions and methods: one entry an operation. Elementwise operations of one
//! tensor come from the engine's own list; the others stand by family in the files beside this one, which
//! say how arguments become a call.

mod anomaly;
mod attributes;
mod composites;
mod construction;
mod conversion;
mod copies;
mod creation;
mod entries;
mod extremes;
mod factory;
mod indexing;
mod layers;
mod matrices;
mod orders;
mod parts;
mod pointwise;
mod random;
mod reductions;
mod spreads;
mod superseded;
mod views;

use crate::calls::body::Body;
use crate::calls::callable::{self, FUNCTION, Function, METHOD};
use crate::calls::outputs::{OutPolicy, types};
use crate::tensor::object::TensorBase;
use crate::tensor::shown;
pub(crate) use pointwise::complexes::{is_conj, is_neg};
use pyo3::prelude::*;
use rushlight::dispatch::unary::Integers;
use rushlight::ops;

/// The families.
static TABLES: &[&[Function]] = &[
    anomaly::TABLE,
    pointwise::arithmetic::TABLE,
    attributes::TABLE,
    pointwise::blends::PAIRS,
    pointwise::blends::TABLE,
    pointwise::bounds::TABLE,
    pointwise::complexes::TABLE,
    composites::TABLE,
    construction::TABLE,
    conversion::TABLE,
    copies::TABLE,
    creation::TABLE,
    pointwise::elementwise::CHOICES,
    pointwise::elementwise::PAIRS,
    pointwise::elementwise::STRICT,
    pointwise::elementwise::TESTS,
    extremes::TABLE,
    matrices::factors::TABLE,
    layers::images::TABLE,
    indexing::TABLE,
    matrices::linalg::TABLE,
    layers::losses::TABLE,
    pointwise::mathematics::TABLE,
    layers::neural::TABLE,
    orders::TABLE,
    parts::TABLE,
    layers::pooling::TABLE,
    matrices::products::TABLE,
    random::TABLE,
    reductions::TABLE,
    spreads::TABLE,
    superseded::TABLE,
    layers::units::PAIRS,
    layers::units::TABLE,
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
    let functions = unary().chain(listed());
    let base = py.get_type::<TensorBase>();
    // Pickled methods are looked up through the class they belong to.
    module.setattr("TensorBase", &base)?;
    callable::install(functions, module, &neural, &base)?;
    shown::install_methods(&base)
}

/// Whether a name has no entry of its own in a family's table, as `round` has for its `decimals`.
fn is_plain(name: &str) -> bool {
    !listed().any(|other| other.name == name)
}

fn unary() -> impl Iterator<Item = Function> {
    ops::ELEMENTWISE.iter().filter(|entry| is_plain(entry.name)).flat_map(|entry| {
        let (name, doc) = (entry.name, entry.doc);
        let plain = Body::Unary(entry.function);
        let in_place = Body::UnaryInPlace(entry.in_place);
        let signatures = &["(Tensor input, *, Tensor out=None)"];
        // Only what calculates with numbers of another type than its own converts them.
        let policy = match entry.integers {
            Integers::Promote => &OutPolicy::ALIGNED,
            _ => &const { OutPolicy::ALIGNED.typed(types::found) },
        };
        [
            Function { name, signatures, doc, body: plain, kind: FUNCTION | METHOD, policy },
            Function {
                name: underscored(name),
                signatures: &["(Tensor input)"],
                doc,
                body: in_place,
                kind: FUNCTION | METHOD,
                policy: &OutPolicy::PLAIN,
            },
        ]
    })
}

/// The name of the operation in place. It lives as long as the process, like the entry.
fn underscored(name: &str) -> &'static str {
    Box::leak(format!("{name}_").into_boxed_str())
}
