//! The rooms of the engine and of the bindings and who may use whom, read from their sources, and where `unsafe` may
//! stand. The tables are those of `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room and what its files may name. A longer path allows that one file of a room only.
const MAY_USE: &[(&str, &[&str])] = &[
    ("origin", &[]),
    ("error", &["dtype", "shape", "origin"]),
    ("dtype", &["error", "shape"]),
    ("shape", &["error", "dtype", "sharing", "threads"]),
    ("threads", &[]),
    ("sharing", &["threads"]),
    ("storage", &["error", "dtype", "sharing", "threads"]),
    ("kernels", &["error", "dtype", "shape", "storage", "sharing", "threads"]),
    ("tensor", &["error", "dtype", "shape", "sharing", "storage", "kernels", "graph"]),
    ("graph", &["error", "dtype", "shape", "sharing", "storage", "tensor", "origin", "threads"]),
    ("dispatch", &["error", "dtype", "shape", "storage", "kernels", "tensor", "graph", "ops", "schema"]),
    ("schema", &["error", "dtype", "tensor", "graph", "dispatch", "ops"]),
    (
        "program",
        &[
            "error",
            "dtype",
            "shape",
            "origin",
            "storage",
            "tensor",
            "graph",
            "kernels::parallel",
            "dispatch",
            "ops",
            "engine",
        ],
    ),
    ("ops", &["error", "dtype", "shape", "storage", "kernels", "tensor", "graph", "dispatch", "schema"]),
    (
        "engine",
        &[
            "error",
            "origin",
            "shape",
            "sharing",
            "storage",
            "tensor",
            "graph",
            "kernels::interrupt",
            "kernels::parallel",
            "threads",
            "dispatch::accumulate",
            "dispatch::long_work",
        ],
    ),
];

/// The rooms of the bindings: files of each use those of the rooms above it, and each other.
const BINDINGS: &[(&str, &[&str])] = &[
    ("interpreter", &["interpreter", "tensor::number"]),
    ("object", &["tensor::object"]),
    ("values", &["error", "signature", "values"]),
    ("seeing", &["modes", "overrides", "transforms"]),
    ("calls", &["calls", "tensor::shown"]),
    ("graph", &["autograd", "program"]),
    ("tensor", &["functions", "tensor"]),
];

/// What the bindings use of the engine's kernels: how many threads there are, and how long loops are interrupted. All
/// else goes through operations.
const KERNELS_OF_BINDINGS: &[&str] = &["kernels::interrupt", "kernels::parallel"];

/// Where `unsafe` may stand: whole folders, and files.
const UNSAFE: &[&str] = &[
    "src/graph/arena",
    "src/graph/leaf",
    "src/graph/node",
    "src/kernels/linalg/gemm",
    "src/kernels/parallel",
    "src/kernels/testing",
    "src/shape/shared",
    "src/sharing",
    "src/storage",
    "src/tensor/array",
    "src/threads",
    "bindings/src/autograd/backward",
    "bindings/src/calls/callable",
    "bindings/src/autograd/collector",
    "bindings/src/interpreter/frame",
    "bindings/src/interpreter/module_attributes",
    "bindings/src/interpreter/module_calls",
    "bindings/src/modes/mode",
    "bindings/src/interpreter/origin",
    "bindings/src/overrides/showing",
    "bindings/src/program/sight",
    "bindings/src/program/watch",
    "bindings/src/values/list",
    "bindings/src/values/received",
    "bindings/src/values/size",
    "bindings/src/tensor/construct",
    "bindings/src/tensor/dlpack",
    "bindings/src/tensor/numpy",
    "bindings/src/tensor/object",
    "bindings/src/tensor/operators",
    "bindings/src/tensor/shown",
];

/// Macros that the whole crate uses; they are at its root whatever room they are written in.
const MACROS: &[&str] = &["dispatch", "home"];

/// What comes before the unit tests, which may use anything, without comments.
pub fn code(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths behind every `crate::`, with braces multiplied out.
fn paths(code: &str) -> BTreeSet<String> {
    paths_behind("crate::", code)
}

/// The paths behind every mention of a crate.
pub fn paths_behind(crate_name: &str, code: &str) -> BTreeSet<String> {
    code.match_indices(crate_name).flat_map(|(at, prefix)| expand(&code[at + prefix.len()..])).collect()
}

/// The paths that a piece of code begins with: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn expand(code: &str) -> Vec<String> {
    let code = code.trim_start();
    let word: String = code.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    let rest = &code[word.len()..];
    if let Some(list) = code.strip_prefix('{') {
        return elements(list).iter().flat_map(|element| expand(element)).collect();
    }
    match rest.strip_prefix("::") {
        Some(next) if !word.is_empty() => {
            let further = expand(next);
            let joined = further.iter().map(|path| format!("{word}::{path}")).collect::<Vec<_>>();
            if joined.is_empty() { vec![word] } else { joined }
        }
        _ if word.is_empty() => vec![],
        _ => vec![word],
    }
}

/// The elements of a list up to the brace that closes it.
fn elements(list: &str) -> Vec<String> {
    let (mut depth, mut found) = (0, vec![String::new()]);
    for letter in list.chars() {
        match letter {
            '}' if depth == 0 => break,
            ',' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(letter);
        }
    }
    found
}

/// The paths in a file of `room` that the table does not allow.
fn violations(room: &str, source: &str) -> Vec<String> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room) else {
        return vec![format!("{room} is not in the table of rooms")];
    };
    let within = |path: &str, allowed: &str| {
        path == allowed || path.strip_prefix(allowed).is_some_and(|rest| rest.starts_with("::"))
    };
    let fits = |path: &String| {
        MACROS.contains(&path.as_str())
            || std::iter::once(&room).chain(allowed.iter()).any(|allowed| within(path, allowed))
    };
    paths(&code(source)).into_iter().filter(|path| !fits(path)).collect()
}

/// Which room of the bindings a path of modules is of, the most particular one: `tensor::object::life` is of `object`.
fn room_of(path: &str) -> Option<usize> {
    let within =
        |module: &str| path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"));
    let found = BINDINGS.iter().enumerate().flat_map(|(room, (_, modules))| {
        modules.iter().filter(|module| within(module)).map(move |module| (module.len(), room))
    });
    found.max().map(|(_, room)| room)
}

/// What a file of the bindings uses of rooms below its own.
fn used_below(module: &str, source: &str) -> Vec<String> {
    let Some(room) = room_of(module) else { return vec![format!("{module} is in no room")] };
    let is_below = |path: &String| room_of(path).is_none_or(|other| other > room);
    paths(&code(source)).into_iter().filter(is_below).collect()
}

pub fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_room_uses_only_the_rooms_that_it_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut read, mut rooms, mut wrong) = (0, BTreeSet::new(), vec![]);
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().with_extension("");
        let room = inside.iter().next().unwrap().to_str().unwrap().to_owned();
        // The root lists the rooms; files of tests stand outside of the house.
        if room == "lib" || inside.file_name().is_some_and(|name| name == "tests" || name == "testing") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        wrong.extend(
            violations(&room, &source).iter().map(|used| format!("{} uses {used}", inside.display())),
        );
        rooms.insert(room);
        read += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rooms.len(), MAY_USE.len(), "every room was visited: {rooms:?}");
    assert!(read >= 80, "only {read} files were read");
}

/// The modules of the bindings and their sources; those of the root are in no room.
fn bindings() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings/src");
    let mut found = vec![];
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let module = parts.join("::");
        let module = module.strip_suffix("::mod").unwrap_or(&module);
        if module != "lib" {
            found.push((module.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

#[test]
fn the_bindings_have_one_direction() {
    let wrong: Vec<String> = bindings()
        .iter()
        .flat_map(|(module, source)| {
            used_below(module, source).into_iter().map(move |used| format!("{module} uses {used}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(used_below("error", "use crate::{calls::callable, values::dtype};"), ["calls::callable"]);
    assert_eq!(used_below("tensor::object::life", "use crate::tensor::operators;"), ["tensor::operators"]);
    assert!(used_below("tensor::values", "use crate::tensor::object::wrap;").is_empty());
}

/// What a piece of code of the bindings uses of kernels that operations stand before.
fn kernels_used(source: &str) -> Vec<String> {
    let is_refused = |path: &String| {
        let within = |allowed: &&str| path == *allowed || path.starts_with(&format!("{allowed}::"));
        path.starts_with("kernels") && !KERNELS_OF_BINDINGS.iter().any(within)
    };
    paths_behind("rushlight::", &code(source)).into_iter().filter(is_refused).collect()
}

#[test]
fn the_bindings_reach_kernels_through_operations() {
    let modules = bindings();
    let wrong: Vec<String> = modules
        .iter()
        .flat_map(|(module, source)| {
            kernels_used(source).into_iter().map(move |used| format!("{module} uses {used}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for allowed in KERNELS_OF_BINDINGS {
        let mention = format!("rushlight::{allowed}");
        assert!(modules.iter().any(|(_, source)| source.contains(&mention)), "nothing uses {allowed}");
    }
    let planted = "use rushlight::{Tensor, kernels::{neural::descent::Sgd, parallel}};";
    assert_eq!(kernels_used(planted), ["kernels::neural::descent::Sgd"]);
}

/// Which module uses which: a file and the folder of the same name are one, and a room's own file is above them.
fn uses(modules: &[(String, String)]) -> BTreeMap<String, BTreeSet<String>> {
    let unit = |path: &str| path.split("::").take(2).collect::<Vec<_>>().join("::");
    let units: BTreeSet<String> = modules.iter().map(|(module, _)| unit(module)).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, source) in modules {
        let user = unit(module);
        let used = paths(&code(source)).into_iter().map(|path| unit(&path));
        let used = used.filter_map(|path| {
            // What is not a module is something in the room's own file.
            if units.contains(&path) { Some(path) } else { path.split("::").next().map(str::to_owned) }
        });
        found.entry(user.clone()).or_default().extend(used.filter(|used| *used != user));
    }
    found
}

/// The modules that are left when all are taken away that use none of the others.
fn in_circles(mut uses: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        uses.retain(|_, used| !used.is_disjoint(&left));
        if uses.len() == left.len() {
            return left.into_iter().collect();
        }
    }
}

#[test]
fn no_modules_of_the_bindings_use_each_other_in_a_circle() {
    let found = in_circles(uses(&bindings()));
    assert!(found.is_empty(), "in circles, or above one: {}", found.join(", "));
    let planted = [
        ("autograd", "use crate::autograd::node::Node;"),
        ("autograd::node", "use crate::{autograd::saved::Saved, error::raise};"),
        ("autograd::node::shown", "use crate::autograd::saved::Saved;"),
        ("autograd::saved", ""),
        ("error", ""),
    ];
    let planted = |saved: &str| {
        let with = |(module, source): (&str, &str)| {
            let source = if module == "autograd::saved" { saved } else { source };
            (module.to_owned(), source.to_owned())
        };
        in_circles(uses(&planted.map(with)))
    };
    assert!(planted("use crate::error::raise;").is_empty());
    assert_eq!(
        planted("use crate::autograd::node::shown::show;"),
        ["autograd", "autograd::node", "autograd::saved"]
    );
}

#[test]
fn unsafe_stands_in_its_rooms() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = vec![];
    for path in [top.join("src"), top.join("bindings/src")].iter().flat_map(|root| sources(root)) {
        let inside = path.strip_prefix(top).unwrap().with_extension("");
        let is_named = UNSAFE.iter().any(|room| inside.starts_with(room));
        let source = fs::read_to_string(&path).unwrap();
        let has_any = code(&source).lines().any(|line| {
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|word| line.contains(word))
        });
        if has_any && !is_named {
            wrong.push(inside.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "unsafe in {}", wrong.join(", "));
}

/// Operations whose numbers are written in operations, which is what `on_tensors` is for, and why.
const COMPOSITES: &[(&str, &str)] = &[
    ("src/dispatch/composites/checkpointed", "operations that consist of others"),
    ("src/dispatch/composites/composite", "operations that consist of others"),
    ("src/ops/geometry/strided", "windows that overlap are sums, in the steps that a graph would record"),
    ("src/ops/geometry/view_copy", "what is copied is what views show"),
    ("src/ops/linalg/pseudo", "what solutions leave is a sum of squares of a product"),
    ("src/ops/neural/attention", "what has no kernel of its own consists of products and a softmax"),
    ("src/ops/neural/normalise", "what has no kernel of its own consists of means"),
];

/// The bodies of forwards in a piece of code.
fn forwards(code: &str) -> Vec<&str> {
    let bodies = code.split("fn forward(&self, inputs: &[Array])").skip(1);
    let bodies = bodies.filter(|rest| rest.find('{') < rest.find(';'));
    bodies.map(|rest| rest.split("\n    }\n").next().unwrap_or_default()).collect()
}

#[test]
fn forwards_compute_with_arrays() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut read, mut wrong, mut excused) = (0, vec![], BTreeSet::new());
    for path in sources(&top.join("src")) {
        let inside = path.strip_prefix(top).unwrap().with_extension("");
        let source = fs::read_to_string(&path).unwrap();
        for body in forwards(&code(&source)) {
            read += 1;
            if !(body.contains("Tensor") || body.contains("on_tensors(")) {
                continue;
            }
            match COMPOSITES.iter().find(|(file, _)| inside == Path::new(file)) {
                Some((file, _)) => drop(excused.insert(file)),
                None => wrong.push(inside.display().to_string()),
            }
        }
    }
    assert!(wrong.is_empty(), "forwards that make tensors: {}", wrong.join(", "));
    assert_eq!(excused.len(), COMPOSITES.len(), "an exception that is none any more");
    assert!(read >= 90, "only {read} forwards were read");
}

#[test]
fn a_planted_violation_is_caught() {
    let planted = [
        ("kernels", "use crate::tensor::Tensor;", "tensor::Tensor"),
        ("kernels", "use crate::{dtype::DType, graph::Node};", "graph::Node"),
        ("graph", "use crate::dispatch::{self, accumulate::{add, ones_like}};", "dispatch::accumulate::add"),
        ("engine", "use crate::dispatch::{accumulate, record};", "dispatch::record"),
        (
            "engine",
            "fn f() { crate::kernels::linalg::gemm::dot::<f32>(&[], &[]); }",
            "kernels::linalg::gemm::dot",
        ),
        ("shape", "type T = crate::storage::Storage;", "storage::Storage"),
    ];
    for (room, source, expected) in planted {
        let found = violations(room, source);
        assert!(found.iter().any(|path| path == expected), "{room}, {source}: {found:?}");
    }
    assert_eq!(violations("cellar", ""), ["cellar is not in the table of rooms"]);
    let harmless = "// use crate::tensor::Tensor;\nuse crate::dtype::{Element, Number};\ncrate::dispatch!(all d, T => 1);";
    assert!(violations("kernels", harmless).is_empty());
    let unit_tests = "use crate::dtype::DType;\n#[cfg(test)]\nmod tests {\n    use crate::tensor::Tensor;\n}";
    assert!(violations("kernels", unit_tests).is_empty());
}
