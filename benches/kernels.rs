//! How long the kernels take: `cargo bench --bench kernels`.

fn main() {}
