//! The print options, and the ones that are in force for the whole process.

use parking_lot::RwLock;

/// How tensors are printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintOptions {
    /// Digits after the decimal point.
    pub precision: usize,
    /// The number of elements above which the middle is left out; may be infinite.
    pub threshold: f64,
    /// How many entries of a dimension stay at either end when the middle is left out.
    pub edgeitems: usize,
    /// Characters on a line.
    pub linewidth: usize,
    /// Scientific notation: always, never, or as the elements want it.
    pub sci_mode: Option<bool>,
}

impl PrintOptions {
    /// The profile `default`.
    pub const DEFAULT: PrintOptions =
        PrintOptions { precision: 4, threshold: 1000.0, edgeitems: 3, linewidth: 80, sci_mode: None };
    /// The profile `short`.
    pub const SHORT: PrintOptions = PrintOptions { precision: 2, edgeitems: 2, ..PrintOptions::DEFAULT };
    /// The profile `full`.
    pub const FULL: PrintOptions = PrintOptions { threshold: f64::INFINITY, ..PrintOptions::DEFAULT };

    /// The profile of that name.
    pub fn profile(name: &str) -> Option<PrintOptions> {
        match name {
            "default" => Some(PrintOptions::DEFAULT),
            "short" => Some(PrintOptions::SHORT),
            "full" => Some(PrintOptions::FULL),
            _ => None,
        }
    }
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions::DEFAULT
    }
}

static IN_FORCE: RwLock<PrintOptions> = RwLock::new(PrintOptions::DEFAULT);

/// The options in force.
pub fn print_options() -> PrintOptions {
    *IN_FORCE.read()
}

/// Puts other options in force, for all threads.
pub fn set_print_options(options: PrintOptions) {
    *IN_FORCE.write() = options;
}
