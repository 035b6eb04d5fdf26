//! The text against recorded cases. `cases.txt` says of each tensor its type, shape, elements and
//! options, and below that line the text to expect.

use super::{Heading, PrintOptions, render};
use crate::dtype::{DType, Scalar};

const CASES: &str = include_str!("cases.txt");

/// Renders the tensor that a case's first line describes.
fn render_case(line: &str) -> String {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [dtype, shape, elements, settings] = fields[..] else { panic!("four fields: {line}") };
    let dtype = dtype_named(dtype);
    let shape: Vec<usize> = shape.split_whitespace().map(|size| size.parse().unwrap()).collect();
    let elements: Vec<Scalar> = elements.split_whitespace().map(|word| scalar(dtype, word)).collect();
    assert_eq!(elements.len(), shape.iter().product::<usize>(), "{line}");
    let mut options = PrintOptions::default();
    let mut heading = Heading::default();
    for (key, value) in settings.split_whitespace().map(|setting| setting.split_once('=').unwrap()) {
        match key {
            "profile" => options = PrintOptions::profile(value).unwrap(),
            "precision" => options.precision = value.parse().unwrap(),
            "threshold" => options.threshold = value.parse().unwrap(),
            "edgeitems" => options.edgeitems = value.parse().unwrap(),
            "linewidth" => options.linewidth = value.parse().unwrap(),
            "sci_mode" => options.sci_mode = Some(value.parse().unwrap()),
            "name" => heading.name = value,
            "grad_fn" => heading.grad_fn = Some(value),
            "requires_grad" => heading.requires_grad = value.parse().unwrap(),
            "default" => heading.default_dtype = dtype_named(value),
            _ => panic!("unknown setting: {line}"),
        }
    }
    render(|index| elements[index], dtype, &shape, &heading, &options).unwrap()
}

fn dtype_named(name: &str) -> DType {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name).unwrap()
}

fn scalar(dtype: DType, word: &str) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(word == "1"),
        _ if dtype.is_float() => Scalar::Float(word.parse().unwrap()),
        _ => Scalar::Int(word.parse().unwrap()),
    }
}

fn check_cases(cases: &str) -> usize {
    let cases = cases.strip_prefix("> ").unwrap().trim_end_matches('\n');
    let mut count = 0;
    for case in cases.split("\n> ") {
        let (line, expected) = case.split_once('\n').unwrap();
        assert_eq!(render_case(line), expected, "\n{line}");
        count += 1;
    }
    count
}

#[test]
fn every_recorded_tensor_is_printed_to_the_letter() {
    assert!(check_cases(CASES) >= 60);
}

#[test]
fn only_elements_that_are_shown_are_asked_for() {
    let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let element = |index: usize| {
        asked.borrow_mut().insert(index);
        Scalar::Int(index as i64)
    };
    let text =
        render(element, DType::Int64, &[1_000_000_000], &Heading::default(), &PrintOptions::DEFAULT).unwrap();
    assert_eq!(
        text,
        "tensor([        0,         1,         2,  ..., 999999997, 999999998,\n        999999999])"
    );
    assert_eq!(asked.borrow().len(), 6);
}

#[test]
fn the_middle_is_left_out_above_a_thousand_elements_but_never_in_full() {
    let text = |size: usize, options| {
        render(|_| Scalar::Bool(true), DType::Bool, &[size], &Heading::default(), &options).unwrap()
    };
    assert!(!text(1000, PrintOptions::DEFAULT).contains("..."));
    assert_eq!(text(1001, PrintOptions::DEFAULT), "tensor([True, True, True,  ..., True, True, True])");
    assert_eq!(text(5000, PrintOptions::FULL).matches("True").count(), 5000);
}

#[test]
fn precision_beyond_what_a_number_has_adds_zeros() {
    let options = PrintOptions { precision: 100_000, ..PrintOptions::DEFAULT };
    let text = render(|_| Scalar::Float(0.5), DType::Float32, &[], &Heading::default(), &options).unwrap();
    assert_eq!(text, format!("tensor(0.5{})", "0".repeat(99_999)));
}
