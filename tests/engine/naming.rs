//! Where operations are named: in their blocks and entries, and nowhere else. Read from the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::layering::{code, sources};

/// Files that name a node of an operation outside of the operation's block, and why.
const NAMES_NODES: &[(&str, &str)] = &[
    ("src/dispatch/forward_mode/tangents", "a dual tensor is a view that torch names so"),
    ("src/engine/zero_edge", "a node of the engine's own"),
    ("src/graph/saved/plain", "what torch's message calls the view that was written to"),
    ("src/graph/transform_level", "a node of the engine's own, which passes gradients out of a transform"),
];

/// The names of nodes, such as `"MulBackward0"`, in a piece of code.
fn nodes(code: &str) -> Vec<&str> {
    let is_node = |text: &&str| {
        let stem = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
        stem.len() < text.len()
            && stem.ends_with("Backward")
            && text.chars().all(|letter| letter.is_ascii_alphanumeric())
    };
    code.split('"').filter(is_node).collect()
}

/// The blocks of operations that name nodes, by their types, with these names; read from the sources.
pub fn blocks() -> Vec<(String, Vec<String>)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    let mut found = vec![];
    for path in sources(&top) {
        let source = code(&fs::read_to_string(path).unwrap());
        for item in source.split("\nimpl").skip(1) {
            // It ends where the next item begins that is not indented.
            let block = item.split("\n}").next().unwrap_or_default();
            let Some((_, rest)) = block.split('{').next().and_then(|head| head.split_once(" for ")) else {
                continue;
            };
            let name = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            let nodes: Vec<String> = nodes(block).into_iter().map(str::to_owned).collect();
            if !nodes.is_empty() {
                found.push((name.to_owned(), nodes));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn operations_are_named_in_their_blocks() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut wrong, mut excused) = (vec![], BTreeSet::new());
    for path in [top.join("src"), top.join("bindings/src")].iter().flat_map(|root| sources(root)) {
        let inside = path.strip_prefix(top).unwrap().with_extension("");
        let source = fs::read_to_string(&path).unwrap();
        let code = code(&source);
        let found = nodes(&code);
        if found.is_empty() || inside.starts_with("src/ops") {
            continue;
        }
        match NAMES_NODES.iter().find(|(file, _)| inside == Path::new(file)) {
            Some((file, _)) => drop(excused.insert(file)),
            None => wrong.push(format!("{} names {found:?}", inside.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(excused.len(), NAMES_NODES.len(), "an exception that is none any more");
    assert_eq!(nodes(r#"f("MulBackward0", "mul", "Backward", "x + Backward0")"#), ["MulBackward0"]);
}

/// Files that say the name of an operation outside of the operation's block, those names, and why.
const NAMES_OPERATIONS: &[(&str, &[&str], &str)] = &[
    (
        "bindings/src/calls/outputs/composed",
        &["conj_physical", "linalg_lstsq", "linalg_pinv", "mm"],
        "operations of Python write by these",
    ),
    ("bindings/src/calls/outputs/types", &["complex"], "a kind of number"),
    ("bindings/src/calls/writes", &["float", "int"], "classes of Python"),
    ("bindings/src/overrides/annotated", &["bool", "float", "int"], "classes of Python"),
    ("bindings/src/program/sight", &["equal"], "a kind of check"),
    (
        "bindings/src/signature/accept",
        &["bool", "complex", "float", "int", "long", "numpy"],
        "classes and modules of Python, and types",
    ),
    ("bindings/src/signature/grammar", &["bool", "float", "int"], "kinds of parameters"),
    ("bindings/src/signature/listing", &["float", "int"], "kinds of parameters"),
    ("bindings/src/signature/mod", &["bool", "float", "int"], "kinds of parameters"),
    ("bindings/src/tensor/construct", &["size"], "an argument"),
    ("bindings/src/tensor/history", &["detach", "detach_"], "methods that stand there"),
    (
        "bindings/src/tensor/index",
        &["copy_", "fill_", "index_put_", "masked_fill_"],
        "what torch calls the operator behind an assignment",
    ),
    (
        "bindings/src/tensor/numpy",
        &["asarray", "conj", "neg", "negative", "numpy", "type"],
        "names in numpy, and words of torch's messages",
    ),
    (
        "bindings/src/tensor/operators",
        &[
            "abs",
            "add",
            "add_",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "div",
            "div_",
            "eq",
            "floor_divide_",
            "ge",
            "gt",
            "le",
            "lt",
            "matmul",
            "mul",
            "mul_",
            "ne",
            "neg",
            "positive",
            "pow",
            "pow_",
            "remainder",
            "remainder_",
            "sub",
            "sub_",
        ],
        "what operators of the language are shown as",
    ),
    ("bindings/src/tensor/text", &["tensor"], "how a tensor is printed"),
    ("bindings/src/tensor/values", &["is_nonzero"], "what torch calls the operator behind `bool(x)`"),
    ("bindings/src/values/convert", &["double"], "a type"),
    ("bindings/src/values/device", &["cpu", "cuda"], "devices"),
    (
        "bindings/src/values/dtype",
        &["cdouble", "cfloat", "chalf", "double", "float", "half", "int", "long", "short"],
        "types",
    ),
    ("bindings/src/values/element_types", &["to"], "a parameter"),
    ("bindings/src/values/generator", &["int"], "a class of Python"),
    ("bindings/src/values/limits", &["type"], "a parameter"),
    ("bindings/src/values/size", &["numel"], "a method of sizes"),
    ("src/dispatch/apply", &["tensor"], "the name of what a node saves"),
    ("src/dispatch/batch/writes", &["copy_"], "the operator that torch names when arithmetic has no room"),
    ("src/dispatch/view", &["size"], "an argument"),
    ("src/dtype/names", &["bfloat16", "bool", "double", "float", "int"], "types"),
    ("src/engine/mod", &["ones_like"], "a step of a profile"),
    ("src/graph/observe/detach_site", &["detach"], "why a history stopped"),
    ("src/program/node", &["tensor"], "the name of what a node saves"),
    ("src/schema/operators", &["float", "int"], "kinds of parameters"),
    ("src/tensor/print/mod", &["tensor"], "how a tensor is printed"),
    ("src/tensor/print/options", &["full", "short"], "how much is printed"),
];

#[test]
fn no_file_but_an_operation_s_own_says_its_name() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names: BTreeSet<String> = rushlight::ops::entries().map(|entry| entry.name.to_owned()).collect();
    names.extend(entries_of_bindings());
    assert!(names.len() > 600, "only {} operations were found", names.len());
    let (mut wrong, mut excused) = (vec![], BTreeSet::new());
    for path in [top.join("src"), top.join("bindings/src")].iter().flat_map(|root| sources(root)) {
        let inside = path.strip_prefix(top).unwrap().with_extension("");
        let is_test = inside.file_name().is_some_and(|name| name == "tests");
        if inside.starts_with("src/ops") || inside.starts_with("bindings/src/functions") || is_test {
            continue;
        }
        let (source, file) = (fs::read_to_string(&path).unwrap(), inside.display().to_string());
        let fine =
            NAMES_OPERATIONS.iter().find(|(other, _, _)| *other == file).map_or(&[][..], |line| line.1);
        for name in code(&source).split('"').filter(|text| names.contains(*text)) {
            match fine.contains(&name) {
                true => drop(excused.insert((file.clone(), name.to_owned()))),
                false => wrong.push(format!("{file} says {name}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (file, names, _) in NAMES_OPERATIONS {
        for name in *names {
            assert!(
                excused.contains(&((*file).to_owned(), (*name).to_owned())),
                "{file} does not say {name}"
            );
        }
    }
}

/// Files of operations that compare with a string that happens to be the name of an operation, those strings, and why.
const COMPARES: &[(&str, &[&str], &str)] = &[
    ("src/ops/composite/statistics", &["linear"], "a way between two elements, as callers name it"),
    (
        "src/ops/indexing/gather/scatter",
        &["add", "multiply"],
        "ways to combine elements, as callers name them",
    ),
    ("src/ops/linalg/determinant", &["sign"], "a name of what a node shows"),
    ("src/ops/neural/units/smooth_units/entries", &["tanh"], "an approximation, as callers name it"),
    ("src/ops/pointwise/division", &["floor", "trunc"], "ways to round, as callers name them"),
];

/// The strings that a piece of code compares with something or matches on.
fn compared(code: &str) -> Vec<&str> {
    let pieces: Vec<&str> = code.split('"').collect();
    let is_compared = |place: &usize| {
        let before = pieces[place - 1].trim_end();
        let after = pieces.get(place + 1).unwrap_or(&"").trim_start();
        ["==", "!=", "starts_with("].iter().any(|end| before.ends_with(end))
            || ["=>", "==", "!="].iter().any(|begin| after.starts_with(begin))
            || after.starts_with('|') && !after.starts_with("||")
    };
    (1..pieces.len()).step_by(2).filter(is_compared).map(|place| pieces[place]).collect()
}

#[test]
fn no_operation_asks_for_its_own_name() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: BTreeSet<&str> = rushlight::ops::entries().map(|entry| entry.name).collect();
    let (mut wrong, mut excused) = (vec![], BTreeSet::new());
    for path in sources(&top.join("src/ops")) {
        let file = path.strip_prefix(top).unwrap().with_extension("").display().to_string();
        let source = fs::read_to_string(&path).unwrap();
        let fine = COMPARES.iter().find(|(other, _, _)| *other == file).map_or(&[][..], |line| line.1);
        for text in compared(&code(&source)) {
            let entry = text.trim_start_matches("torch.").replace('.', "_");
            if !(names.contains(&*entry)
                || text.ends_with("_cpu")
                || !nodes(&format!("\"{text}\"")).is_empty())
            {
                continue;
            }
            match fine.contains(&text) {
                true => drop(excused.insert((file.clone(), text.to_owned()))),
                false => wrong.push(format!("{file} compares with {text}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = COMPARES.iter().map(|(_, texts, _)| texts.len()).sum::<usize>();
    assert_eq!(excused.len(), listed, "an exception that is none any more: {excused:?}");
    let planted = r#"match n { "a" | "b" => f("c"), _ if n == "d" => 1, _ => g(n, "e") || h }"#;
    assert_eq!(compared(planted), ["a", "b", "d"]);
}

/// The names of the entries in a piece of code of the bindings.
fn entries_in(code: &str) -> BTreeSet<String> {
    let kinds = ["function(", "method("];
    let behind = kinds.iter().flat_map(|kind| code.split(kind).skip(1));
    let named = behind.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    named.map(str::to_owned).collect()
}

/// The folder of the entries that speak with Python.
fn functions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings/src/functions")
}

/// The names of these entries.
fn entries_of_bindings() -> BTreeSet<String> {
    let read = |path: &PathBuf| entries_in(&code(&fs::read_to_string(path).unwrap()));
    sources(&functions()).iter().flat_map(read).collect()
}

#[test]
fn what_speaks_with_python_is_listed_with_its_reason() {
    let found = entries_of_bindings();
    let head = fs::read_to_string(functions().join("mod.rs")).unwrap();
    let lines = head.lines().filter_map(|line| line.strip_prefix("//! - "));
    let listed: BTreeSet<String> = lines
        .filter_map(|line| line.split_once(": "))
        .flat_map(|(names, _)| names.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(found, listed, "entries of the bindings, and those that the head of mod.rs has");
}
