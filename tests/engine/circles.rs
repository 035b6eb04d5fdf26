//! Files of the engine that use each other in a circle: read from their sources, a file and what it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::layering::{code, paths_behind, sources};

/// How many files are in the largest circles. The first is that of entry points and the operations that they call; then
/// those of `graph` with `tensor`, of recorded programs, and of factorisations. Fewer is better: lower the number then.
const LARGEST: &[usize] = &[41, 12, 10, 9];

/// What no circle of entry points has in it any more: what knows arrays only.
const OUTSIDE: &[&str] = &["ops::creation::copy", "tensor::array", "tensor::repeated"];

type Uses = BTreeMap<String, BTreeSet<String>>;

/// The module that a path names something of: the longest beginning of it that is one.
fn module_of(path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut path = path;
    loop {
        if modules.contains_key(path) {
            return Some(path.to_owned());
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// Which file uses which, by paths from the root of the crate and from the module around.
fn uses(modules: &BTreeMap<String, String>) -> Uses {
    let used = |module: &String, source: &String| {
        let mut code = code(source).replace("(in crate::", "(");
        let mut paths = paths_behind("crate::", &code);
        let parts: Vec<&str> = module.split("::").collect();
        for up in (1..=parts.len()).rev() {
            let around = parts[..parts.len() - up].join("::");
            let prefix = "super::".repeat(up);
            let named = paths_behind(&prefix, &code);
            paths.extend(
                named.iter().map(|path| format!("{around}::{path}").trim_start_matches("::").to_owned()),
            );
            // What is left of it is not the end of this.
            code = code.replace(&prefix, "");
        }
        let found = paths.iter().filter_map(|path| module_of(path, modules));
        found.filter(|other| other != module).collect()
    };
    modules.iter().map(|(module, source)| (module.clone(), used(module, source))).collect()
}

/// What is used by a module, directly or through others.
fn reached<'a>(uses: &'a Uses, module: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![module]);
    while let Some(module) = waiting.pop() {
        waiting.extend(uses[module].iter().map(String::as_str).filter(|other| found.insert(*other)));
    }
    found
}

/// The circles, the largest first.
fn circles(uses: &Uses) -> Vec<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|module| (module.as_str(), reached(uses, module))).collect();
    let mut found: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (module, others) in &reached {
        let circle: BTreeSet<&str> =
            others.iter().copied().filter(|other| reached[other].contains(module)).collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

#[test]
fn circles_of_files_do_not_grow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = BTreeMap::new();
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let module = parts.join("::");
        let module = module.strip_suffix("::mod").unwrap_or(&module);
        if !["lib", "tests", "testing"].contains(parts.last().unwrap()) {
            modules.insert(module.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
    assert!(modules.len() > 400, "only {} files were read", modules.len());
    let uses = uses(&modules);
    let found = circles(&uses);
    let sizes: Vec<usize> = found.iter().take(LARGEST.len()).map(BTreeSet::len).collect();
    assert_eq!(sizes, LARGEST, "the largest is {:?}", found.first());
    for module in OUTSIDE {
        assert!(modules.contains_key(*module), "{module} is not there");
        assert!(!found[0].contains(module), "{module} calls what calls it");
    }
}

#[test]
fn a_planted_circle_is_found() {
    let planted = [
        ("a", "use crate::b::{self, c::f};"),
        ("b", "// use crate::a;\npub(in crate::a) fn g() {}"),
        ("b::c", "use super::super::a;"),
        ("d", "use crate::a;"),
    ];
    let modules = planted.map(|(module, source)| (module.to_owned(), source.to_owned())).into();
    let uses = uses(&modules);
    assert_eq!(circles(&uses), [BTreeSet::from(["a", "b::c"])]);
}
