//! What torch's messages call functions: where it keeps them, which is not always where they live here.

use pyo3::prelude::*;

/// One that is compiled there, by the name that it has in its room.
pub(crate) fn compiled(name: &str) -> String {
    let room = name.split('_').next().filter(|room| matches!(*room, "fft" | "linalg" | "special"));
    format!("torch.{}.{name}", room.unwrap_or("nn"))
}

/// One that is compiled there and written in Python here.
pub(super) fn of_given(function: &Bound<'_, PyAny>) -> PyResult<String> {
    let [module, path, name] = texts(function, ["__module__", "__qualname__", "__name__"])?;
    let module = module.trim_start_matches("rushlight.");
    Ok(match module.split('.').next() {
        _ if path.starts_with("Tensor.") => format!("torch.{path}"),
        Some(room @ ("fft" | "linalg" | "special")) => format!("torch.{room}.{room}_{name}"),
        _ if module == "_functions.chains" => format!("torch.linalg.linalg_{name}"),
        _ if matches!(name.as_str(), "one_hot" | "scaled_dot_product_attention") => compiled(&name),
        _ => format!("torch.{name}"),
    })
}

/// One that is written in Python there, too.
pub(super) fn of_written(function: &Bound<'_, PyAny>) -> PyResult<String> {
    let [module, path, name] = texts(function, ["__module__", "__qualname__", "__name__"])?;
    let room = match module.trim_start_matches("rushlight.") {
        _ if path.starts_with("Tensor.") => "_tensor.",
        module if module.starts_with("nn.functional") => "nn.functional.",
        "_functions.lowrank" => "_lowrank.",
        "_functions.eigenpairs" => "_lobpcg.",
        "_functions.assertions" => "",
        _ => "functional.",
    };
    Ok(format!("torch.{room}{name}"))
}

fn texts<const N: usize>(function: &Bound<'_, PyAny>, attributes: [&str; N]) -> PyResult<[String; N]> {
    let mut texts = [const { String::new() }; N];
    for (text, attribute) in texts.iter_mut().zip(attributes) {
        *text = function.getattr(attribute)?.extract()?;
    }
    Ok(texts)
}
