//! The table of native functions and methods: one entry an operation. Elementwise operations come
//! from the engine's own lists; the others say here how arguments become a call.
use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{self, FUNCTION, Function, METHOD};
use crate::returns::ToPython;
use crate::tensor::object::TensorBase;
use pyo3::prelude::*;
use rushlight::ops;

/// Makes all of them: attributes of the module, of its room for `nn`, and of the tensor class.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let neural = PyModule::new(py, "rushlight._rushlight._nn")?;
    module.add("_nn", &neural)?;
    py.import("sys")?.getattr("modules")?.set_item(neural.name()?, &neural)?;
    let functions = unary().chain(binary()).chain(OTHERS.iter().copied());
    callable::install(functions, module, &neural, &py.get_type::<TensorBase>())
}

fn unary() -> impl Iterator<Item = Function> {
    ops::ELEMENTWISE.iter().flat_map(|entry| {
        let (name, doc) = (entry.name, entry.doc);
        let plain = Body::Unary(entry.function);
        let in_place = Body::UnaryInPlace(entry.in_place);
        let signatures = &["(Tensor input, *, Tensor out=None)"];
        [
            Function { name, signatures, doc, body: plain, kind: FUNCTION | METHOD },
            Function {
                name: underscored(name),
                signatures: &["(Tensor input)"],
                doc,
                body: in_place,
                kind: FUNCTION | METHOD,
            },
        ]
    })
}

fn binary() -> impl Iterator<Item = Function> {
    let listed = |name| OTHERS.iter().any(|other| other.name == name);
    ops::ELEMENTWISE2.iter().filter(move |entry| !listed(entry.name)).flat_map(|entry| {
        let (name, doc) = (entry.name, entry.doc);
        let plain = Body::Binary(entry.function);
        let in_place = Body::BinaryInPlace(entry.in_place);
        let signatures = &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)"];
        [
            Function { name, signatures, doc, body: plain, kind: FUNCTION | METHOD },
            Function {
                name: underscored(name),
                signatures: &["(Tensor input, Tensor|Number other)"],
                doc,
                body: in_place,
                kind: METHOD,
            },
        ]
    })
}

/// The name of the operation in place. It lives as long as the process, like the entry.
fn underscored(name: &str) -> &'static str {
    Box::leak(format!("{name}_").into_boxed_str())
}

/// What is not elementwise.
const OTHERS: &[Function] = &[Function {
    name: "sum",
    signatures: &[
        "(Tensor input, *, dtype? dtype=None)",
        "(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
    ],
    doc: "The sum of all elements, or of those along some dimensions.",
    body: Body::Any(sum),
    kind: FUNCTION | METHOD,
}];

fn sum(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    let result = if arguments.overload() == 0 {
        ops::reduce::sum(x, None, false, arguments.dtype(1))
    } else {
        ops::reduce::sum(x, arguments.dims(1)?.as_deref(), arguments.boolean(2), arguments.dtype(3))
    };
    Ok(result.to_python(arguments.py())?.unbind())
}
