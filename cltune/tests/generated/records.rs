//! The records in this test's own executable.

use cltune_formats::declaration::Declaration;
use cltune_formats::record;
use object::{Object, ObjectSection};

/// The record of a tunable, which must be there exactly once.
pub(super) fn declaration(name: &str) -> Declaration {
    let mut found = all();
    found.retain(|declaration| declaration.model.name == name);
    assert_eq!(found.len(), 1, "{name}");
    found.remove(0)
}

fn all() -> Vec<Declaration> {
    let executable = std::env::current_exe().expect("this test runs from a file");
    let bytes = std::fs::read(executable).expect("it can be read");
    let file = object::File::parse(&*bytes).expect("it is an executable");
    let names = [".cltune", "__cltune"];
    let sections = file
        .sections()
        .filter(|section| section.name().is_ok_and(|name| names.contains(&name)));
    sections
        .flat_map(|section| record::decode_all(section.data().expect("data")).expect("records"))
        .collect()
}

#[test]
fn nothing_that_is_not_compiled_has_a_record() {
    let names: Vec<String> = all()
        .into_iter()
        .map(|found| found.model.name.into_owned())
        .collect();
    assert!(names.contains(&"cltune::behind_cfg".into()), "{names:?}");
    assert!(!names.contains(&"cltune::never".into()), "{names:?}");
    assert!(!names.contains(&"cltune::not_compiled".into()), "{names:?}");
}
