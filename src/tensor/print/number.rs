//! One number as text: Python's `%f` and `%e`, and the choice between them that all elements
//! of a tensor make together.

use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::storage;

/// No `f64` has more digits after its decimal point; the rest are zeros.
const MOST_DIGITS: usize = 1074;

/// How the elements of one tensor are written: complex ones part by part, each in a format of its own.
pub(super) struct ElementFormat {
    first: NumberFormat,
    imaginary: Option<NumberFormat>,
}

impl ElementFormat {
    /// The format before any element was seen.
    pub(super) fn new(dtype: DType, precision: usize) -> Self {
        let part = || NumberFormat::new(dtype.to_real(), precision);
        ElementFormat { first: part(), imaginary: dtype.is_complex().then(part) }
    }

    /// Makes the format fit these elements.
    pub(super) fn fit(&mut self, elements: &[Scalar], scientific: Option<bool>) -> Result<()> {
        let Some(imaginary) = &mut self.imaginary else {
            self.first.fit(elements, scientific);
            return Ok(());
        };
        let parts = |part: fn(Scalar) -> f64| {
            storage::collected(elements.len(), elements.iter().map(|&element| Scalar::Float(part(element))))
        };
        self.first.fit(&parts(|element| element.to_complex().re)?, scientific);
        imaginary.fit(&parts(|element| element.to_complex().im)?, scientific);
        Ok(())
    }

    /// The characters every element takes, except those that do not fit.
    pub(super) fn width(&self) -> usize {
        self.first.width + self.imaginary.as_ref().map_or(0, |imaginary| imaginary.width + 1)
    }

    /// One element, right-aligned.
    pub(super) fn format(&self, element: Scalar) -> String {
        let Some(imaginary) = &self.imaginary else { return self.first.format(element) };
        let number = element.to_complex();
        let part = imaginary.format(Scalar::Float(number.im));
        let part = part.trim_start();
        let sign = if part.starts_with('-') { "" } else { "+" };
        format!("{}{sign}{part}j", self.first.format(Scalar::Float(number.re)))
    }
}

/// How real numbers are written.
struct NumberFormat {
    floating: bool,
    precision: usize,
    /// Whether every element is an integer, so that `1.` is enough.
    integral: bool,
    scientific: bool,
    width: usize,
}

impl NumberFormat {
    fn new(dtype: DType, precision: usize) -> Self {
        NumberFormat { floating: dtype.is_float(), precision, integral: true, scientific: false, width: 1 }
    }

    /// Makes the format fit these elements. For floating-point numbers, those that are zero or
    /// not finite have no say: they may come out wider than the others.
    fn fit(&mut self, elements: &[Scalar], scientific: Option<bool>) {
        let floating = self.floating;
        let counted = || elements.iter().filter(move |element| !floating || has_magnitude(element.to_f64()));
        if counted().next().is_none() {
            return;
        }
        if floating {
            let magnitudes = || counted().map(|element| element.to_f64().abs());
            let least = magnitudes().fold(f64::INFINITY, f64::min);
            let greatest = magnitudes().fold(0.0, f64::max);
            let wide = || greatest / least > 1000.0 || greatest > 1e8 || least < 1e-4;
            self.scientific = scientific.unwrap_or_else(wide);
            self.integral = magnitudes().all(|magnitude| magnitude.fract() == 0.0);
        }
        let widest = counted().map(|element| self.bare(*element).len()).max();
        self.width = self.width.max(widest.unwrap_or_default());
    }

    /// One number, right-aligned.
    fn format(&self, element: Scalar) -> String {
        let bare = self.bare(element);
        " ".repeat(self.width.saturating_sub(bare.len())) + &bare
    }

    fn bare(&self, element: Scalar) -> String {
        match element {
            Scalar::Bool(true) => "True".to_owned(),
            Scalar::Bool(false) => "False".to_owned(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Unsigned(value) => value.to_string(),
            Scalar::Complex(value) => self.bare(Scalar::Float(value.re)),
            Scalar::Float(value) if self.scientific => exponent(value, self.precision),
            Scalar::Float(value) if self.integral && value.is_finite() => fixed(value, 0) + ".",
            Scalar::Float(value) => fixed(value, self.precision),
        }
    }
}

fn has_magnitude(value: f64) -> bool {
    value.is_finite() && value != 0.0
}

/// `f"{value:.{precision}f}"`
fn fixed(value: f64, precision: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let digits = precision.min(MOST_DIGITS);
    let zeros = if value.is_finite() { precision - digits } else { 0 };
    format!("{value:.digits$}{}", "0".repeat(zeros))
}

/// `f"{value:.{precision}e}"`
fn exponent(value: f64, precision: usize) -> String {
    let digits = precision.min(MOST_DIGITS);
    let text = format!("{value:.digits$e}");
    // What has no exponent is infinite or not a number.
    let Some((mantissa, power)) = text.split_once('e') else { return fixed(value, 0) };
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{mantissa}{}e{sign}{power:0>2}", "0".repeat(precision - digits))
}
