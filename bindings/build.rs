//! Tells the sources which version of Python they are compiled for: `cfg(Py_3_11)`.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
