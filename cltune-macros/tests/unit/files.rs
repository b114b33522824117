//! Kernel files: which are read, which are tracked, and what is said of those that cannot be used.

use super::{environment, error, expanded};
use std::fs;
use tempfile::TempDir;

const ATTRIBUTE: &str = "source = \"kernels/k.cl\", global(64)";
const ITEM: &str = "fn k(queue: &Queue) -> Result<Event>;";

fn package() -> TempDir {
    // The space is part of the test.
    let folder = tempfile::Builder::new()
        .prefix("my package ")
        .tempdir()
        .expect("a folder");
    fs::create_dir_all(folder.path().join("kernels/include")).expect("folders");
    folder
}

#[test]
fn the_source_and_what_it_includes_are_tracked() {
    let package = package();
    fs::write(
        package.path().join("kernels/k.cl"),
        "#include \"include/a.h\"\r\n#include <b.h>\r\n__kernel void k() {}\r\n",
    )
    .expect("written");
    fs::write(package.path().join("kernels/include/a.h"), "#define A 1\n").expect("written");
    let text = expanded(ATTRIBUTE, ITEM, &environment(package.path()));
    for file in ["kernels/k.cl", "kernels/include/a.h"] {
        let path = package.path().join(file);
        let tracked = format!("include_bytes ! ({:?})", path.to_str().expect("UTF-8"));
        assert!(text.contains(&tracked), "{tracked}: {text}");
    }
    assert!(text.contains("option_env ! (\"CLTUNE_LOCK\")"), "{text}");
    assert_eq!(
        text.matches("include_bytes").count(),
        2,
        "files that do not exist are not tracked"
    );
    assert!(!text.contains("\\r\\n"), "line ends are normalised");
}

#[test]
fn a_missing_file_is_named_with_the_place_that_was_looked_at() {
    let package = package();
    let message = error(ATTRIBUTE, ITEM, &environment(package.path()));
    let path = package.path().join("kernels/k.cl").display().to_string();
    assert!(message.contains("there is no such file"), "{message}");
    assert!(message.contains(&path), "{message}");
}

#[test]
fn a_missing_include_is_named_with_the_line_that_includes_it() {
    let package = package();
    fs::write(
        package.path().join("kernels/k.cl"),
        "\n#include \"include/a.h\"\n",
    )
    .expect("written");
    let message = error(ATTRIBUTE, ITEM, &environment(package.path()));
    assert!(message.contains("`kernels/include/a.h`"), "{message}");
    assert!(
        message.contains("included from kernels/k.cl:2"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_not_utf_8_is_an_error_with_the_place() {
    let package = package();
    fs::write(package.path().join("kernels/k.cl"), b"// ok\n// \xe9\n").expect("written");
    let message = error(ATTRIBUTE, ITEM, &environment(package.path()));
    assert!(message.contains("not UTF-8"), "{message}");
    assert!(message.contains("line 2, byte 10"), "{message}");
}

#[test]
fn a_folder_is_not_a_source() {
    let package = package();
    fs::create_dir(package.path().join("kernels/k.cl")).expect("a folder");
    let message = error(ATTRIBUTE, ITEM, &environment(package.path()));
    assert!(message.contains("it is a folder"), "{message}");
}

#[test]
fn the_reference_has_a_source_of_its_own() {
    let package = package();
    fs::write(package.path().join("kernels/k.cl"), "__kernel void k() {}").expect("written");
    let attribute = "source = \"kernels/k.cl\", global(64), \
                     reference(kernel = \"r\", source = \"kernels/r.cl\", global(64))";
    let message = error(attribute, ITEM, &environment(package.path()));
    assert!(message.contains("`kernels/r.cl`"), "{message}");
    fs::write(package.path().join("kernels/r.cl"), "__kernel void r() {}").expect("written");
    let text = expanded(attribute, ITEM, &environment(package.path()));
    assert!(!text.contains("compile_error"), "{text}");
    assert_eq!(text.matches("include_bytes").count(), 2);
}

#[test]
fn an_inline_source_includes_from_the_package() {
    let package = package();
    fs::write(package.path().join("kernels/include/a.h"), "#define A 17\n").expect("written");
    let item = "fn k(queue: &Queue) -> Result<Event> { \
                \"#include \\\"kernels/include/a.h\\\"\\n__kernel void k() {}\" }";
    let text = expanded("global(64)", item, &environment(package.path()));
    assert!(text.contains("#define A 17"), "{text}");
    assert_eq!(text.matches("include_bytes").count(), 1);
}
