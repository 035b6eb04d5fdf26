//! trial
use crate::arguments::*;
use crate::callable::*;
use pyo3::prelude::*;

fn nothing(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    Ok(arguments.py().None())
}
fn show(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let mut out = vec![a.overload().to_string()];
    for parameter in &a.signature.parameters {
        use crate::signature::Kind::*;
        let i = parameter.slot;
        out.push(format!(
            "{}={}",
            parameter.name,
            match parameter.kind {
                Ints(_) => format!("{:?}", a.dims(i)?),
                Int => format!("{:?}", a.optional_int(i)?),
                Number => format!("{:?}", a.optional_number(i)?),
                Float => format!("{:?}", a.optional_float(i)?),
                Bool => format!("{:?}", a.optional_boolean(i)),
                DType => format!("{:?}", a.dtype(i)),
                Text => format!("{:?}", a.optional_text(i)?),
                Tensors => format!("{}", a.tensors(i)?.len()),
                Operand =>
                    if a.given(i) {
                        match a.operand(i)? {
                            crate::arguments::Operand::Tensor(_) => "tensor".into(),
                            crate::arguments::Operand::Scalar(s) => format!("{s:?}"),
                        }
                    } else {
                        "-".into()
                    },
                _ => format!("{}", a.given(i)),
            }
        ));
    }
    if let Some(r) = a.signature.receiver {
        a.tensor(r)?;
    }
    Ok(pyo3::types::PyString::new(a.py(), &out.join(" ")).into_any().unbind())
}
fn pair(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    use crate::returns::*;
    let x = a.tensor(0)?;
    Ok(Named { class: "max", elements: (x.clone(), x.clone()) }.to_python(a.py())?.unbind())
}
fn boom(_: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    panic!("boom")
}
macro_rules! t { ($($name:literal $kind:expr, $call:ident: [$($sig:expr),*];)*) => { &[$(Function { name: $name, signatures: &[$(concat!($name, $sig)),*], doc: "doc", call: $call, kind: $kind }),*] } }
const B: u8 = FUNCTION | METHOD;
static TABLE: &[Function] = include!("trial_entries.in");

pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let nn = PyModule::new(py, "_nn")?;
    module.add("_nn", &nn)?;
    module.add_class::<crate::trial::PyTensor>()?;
    module.add_class::<crate::trial::PyDType>()?;
    module.add_function(wrap_pyfunction!(crate::inventory::signatures, module)?)?;
    crate::callable::install(&[TABLE], module, &nn, &py.get_type::<crate::trial::PyTensor>())
}
