//! How operations are called: what an entry says, and what follows from a line of an elementwise operation.

use rushlight::ops;
use rushlight::schema::{FUNCTION, METHOD, schema_of};

#[test]
fn every_entry_says_what_follows_from_it() {
    let entries: Vec<_> = ops::entries().collect();
    assert!(entries.len() > 400, "{} entries", entries.len());
    for entry in entries {
        let name = entry.name;
        assert!(entry.doc.ends_with('.'), "{name} is documented by a sentence");
        assert!(!entry.signatures.is_empty() && entry.signatures.iter().all(|text| text.starts_with('(')));
        assert!(entry.reach != 0, "{name} is reached from somewhere");
    }
}

#[test]
fn a_line_makes_an_elementwise_operation_and_all_that_is_known_of_it() {
    for line in ops::elementwise().filter(|line| !line.entries.is_empty()) {
        let [plain, in_place] = line.entries else { panic!("{} has two entries", line.name) };
        assert_eq!((plain.name, in_place.name), (line.name, format!("{}_", line.name).as_str()));
        assert_eq!(plain.reach, FUNCTION | METHOD);
        let [(node, schema)] = plain.operators else { panic!("{} is one operator", line.name) };
        assert!(node.contains("Backward"), "{node}");
        assert_eq!(schema_of(plain, schema), format!("{}(Tensor self) -> Tensor", line.name));
    }
}
