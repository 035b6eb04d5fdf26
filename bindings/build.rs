//! Tells the sources which version of Python they are compiled for: `cfg(Py_3_11)`. And the linker to
//! keep functions that turned out the same once, where it is known to be one that can.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    // Where threads of Python run at once, and the interpreter offers what that takes.
    println!("cargo:rustc-check-cfg=cfg(threads_at_once)");
    let python = pyo3_build_config::get();
    if python.is_free_threaded() && (python.version().major, python.version().minor) >= (3, 14) {
        println!("cargo:rustc-cfg=threads_at_once");
    }
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    // rustc comes with its own linker there, unless it was told otherwise.
    if is("TARGET", "x86_64-unknown-linux-gnu") && is("PROFILE", "release") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--icf=all");
    }
}
