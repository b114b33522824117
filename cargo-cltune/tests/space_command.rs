//! `cargo cltune space` on published, extreme and damaged definitions.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(file: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-cltune"))
        .args(["cltune", "space"])
        .arg(file)
        .args(arguments)
        .output()
        .expect("the program starts")
}

struct Written {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

fn write(text: &str) -> Written {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("space.json");
    std::fs::write(&file, text).expect("the file is written");
    Written {
        _folder: folder,
        file,
    }
}

fn parameter(name: &str, values: &[i64]) -> Value {
    json!({"name": name, "values": values})
}

/// What the command prints as JSON, and its exit code.
fn report(parameters: &[Value], restrictions: &[&str], arguments: &[&str]) -> (Value, Option<i32>) {
    let definition = json!({"name": "s", "parameters": parameters, "restrictions_c": restrictions});
    let written = write(&definition.to_string());
    let output = run(&written.file, &[&["--format", "json"], arguments].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"));
    (value, output.status.code())
}

fn valid(parameters: &[Value], restrictions: &[&str]) -> u64 {
    let (report, code) = report(parameters, restrictions, &[]);
    assert_eq!(code, Some(0));
    report["valid"].as_u64().expect("a number")
}

#[test]
fn published_spaces_have_their_published_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/spaces");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of definitions") {
        let file = entry.expect("an entry").path();
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        files += 1;
        let output = run(&file, &["--format", "json", "--sample", "3", "--explain"]);
        assert_eq!(output.status.code(), Some(0), "{}", file.display());
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["sample"].as_array().map(Vec::len), Some(3));
        assert_eq!(report["differences"], json!([]));
    }
    assert!(files >= 10);
}

#[test]
fn another_count_than_the_stated_one_is_reported() {
    let written = write(
        r#"{"name": "s", "parameters": [{"name": "A", "values": [1, 2]}], "valid_count": 3}"#,
    );
    let output = run(&written.file, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("valid_count is 3, found 2"), "{text}");
}

#[test]
fn damaged_definitions_say_what_and_where() {
    for (text, part) in [
        (
            "\n",
            "it is empty, and no definition; `cargo cltune help space` says",
        ),
        (
            "{\n  \"name\": ",
            "line 2 column 10; `cargo cltune help space` says what a definition has",
        ),
        ("[]", "line 1"),
        (r#"{"name": "s"}"#, "parameters"),
        (
            r#"{"name": "s", "parameters": [{"name": "A", "values": [1]}], "restrictions_c": ["A == BC"]}"#,
            "column 6: there is no parameter `BC`",
        ),
        (
            r#"{"name": "s", "parameters": [{"name": "A", "values": [1, 1]}]}"#,
            "the value 1 occurs twice",
        ),
    ] {
        let written = write(text);
        let output = run(&written.file, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {stderr}");
        assert!(
            stderr.contains(part) && stderr.contains("space.json"),
            "{stderr}"
        );
    }
    assert_eq!(run(Path::new("missing.json"), &[]).status.code(), Some(2));
}

#[test]
fn corners() {
    let zero_to_two = parameter("A", &[0, 1, 2]);
    // Without a value where A is 0.
    assert_eq!(valid(std::slice::from_ref(&zero_to_two), &["4 / A > 0"]), 2);
    assert_eq!(
        valid(
            std::slice::from_ref(&zero_to_two),
            &["4 % A == 0 || A == 0"]
        ),
        2
    );
    assert_eq!(
        valid(
            std::slice::from_ref(&zero_to_two),
            &["A == 0 || 4 % A == 0"]
        ),
        3
    );
    assert_eq!(valid(std::slice::from_ref(&zero_to_two), &["A == 1"]), 1);
    assert_eq!(valid(&[parameter("A", &[7])], &[]), 1);
    assert_eq!(valid(&[], &[]), 1);
    assert_eq!(valid(&[parameter("A", &[])], &[]), 0);
    let extremes = parameter("A", &[i64::MIN, -1, 0, i64::MAX]);
    assert_eq!(valid(std::slice::from_ref(&extremes), &["A + 1 > 0"]), 1);
    assert_eq!(valid(&[extremes], &["A * 2 / 2 == A"]), 2);
    let booleans: Vec<Value> = (0..60)
        .map(|n| parameter(&format!("B{n}"), &[0, 1]))
        .collect();
    assert_eq!(valid(&booleans, &["B0 == 0"]), 1 << 59);
    let sum: Vec<String> = (0..60).map(|n| format!("B{n}")).collect();
    assert_eq!(
        valid(&booleans, &[&format!("{} <= 2", sum.join(" + "))]),
        1 + 60 + 60 * 59 / 2
    );
}

#[test]
fn empty_spaces_say_why() {
    let parameters = [parameter("A", &[1, 2]), parameter("B", &[1, 2])];
    let restrictions = ["A > B", "B > 0", "A < 2"];
    let (report, code) = report(&parameters, &restrictions, &["--explain", "--sample", "2"]);
    assert_eq!(code, Some(0));
    assert_eq!(report["valid"], 0);
    assert_eq!(report["sample"], json!([]));
    assert_eq!(report["conflict"], json!(["A > B", "A < 2"]));
    assert_eq!(report["removed"][0]["configurations"], 3);
}

#[test]
fn samples_follow_the_seed() {
    let parameters = [parameter("A", &[1, 2, 3, 4]), parameter("B", &[1, 2, 3, 4])];
    let drawn =
        |arguments: &[&str]| report(&parameters, &["A >= B"], arguments).0["sample"].clone();
    let first = drawn(&["--sample", "5", "--seed", "1"]);
    assert_eq!(first, drawn(&["--sample", "5", "--seed", "1"]));
    assert_ne!(first, drawn(&["--sample", "5", "--seed", "2"]));
    let distinct = drawn(&["--sample", "50", "--distinct"]);
    let mut all: Vec<String> = distinct
        .as_array()
        .expect("a list")
        .iter()
        .map(Value::to_string)
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 10);
}
