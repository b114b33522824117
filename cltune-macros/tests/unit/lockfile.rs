//! The baked side: which results of which lockfile end up in the program.

use super::{environment, error, expanded};
use crate::environment::Environment;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const ATTRIBUTE: &str = "params(WG = [32, 64], U = [false, true], T = [\"float\", \"half\"]), \
                         global(n), tune(n = 1024)";
const ITEM: &str =
    "fn k(queue: &Queue, n: u32) -> Result<Event> { \"__kernel void k(uint n) {}\" }";

fn package() -> (TempDir, Environment) {
    let folder = tempfile::tempdir().expect("a folder");
    let environment = environment(folder.path());
    (folder, environment)
}

/// The fingerprint in the generated model.
fn fingerprint(environment: &Environment) -> String {
    let text = expanded(ATTRIBUTE, ITEM, environment);
    let start = text.find("b3:").expect("a fingerprint");
    text[start..start + "b3:".len() + 64].to_owned()
}

fn lockfile(fingerprint: &str, wg: i64) -> String {
    format!(
        "version = 1\n\n\
         [[device]]\nid = \"gpu\"\nplatform = \"P\"\nname = \"Fast \\\"GPU\\\"\"\nvendor = \"V\"\n\
         type = \"gpu\"\ndriver = \"1\"\ncompute_units = 132\nmax_work_group_size = 1024\n\
         local_mem_size = 49152\n\n\
         [[kernel]]\nname = \"my_crate::k\"\nfingerprint = \"{fingerprint}\"\n\
         params = [\"WG\", \"U\", \"T\"]\n\n\
         [[kernel.tuned]]\ndevice = \"gpu\"\nproblem = {{ n = 1024 }}\n\
         values = [{wg}, true, \"half\"]\ntime_us = 7.5\nevaluated = 8\nvalid = 8\n\
         strategy = \"full\"\n"
    )
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}

#[test]
fn current_results_are_constants_of_the_program() {
    let (folder, environment) = package();
    write(
        &folder.path().join("cltune.lock"),
        &lockfile(&fingerprint(&environment), 64),
    );
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        text.contains("values : Borrowed (& [64 , 1 , 1])"),
        "{text}"
    );
    assert!(
        text.contains("params : Params { WG : 64 , U : true , T : T :: half }"),
        "{text}"
    );
    assert!(text.contains("device : \"Fast \\\"GPU\\\"\""), "{text}");
    assert!(!text.contains("deprecated"), "nothing is stale");
    let path = folder.path().join("cltune.lock");
    assert!(text.contains(&format!(
        "include_bytes ! ({:?})",
        path.display().to_string()
    )));
}

#[test]
fn without_a_lockfile_there_are_no_results_and_nothing_is_wrong() {
    let (_folder, environment) = package();
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(text.contains("results : Borrowed (& [])"), "{text}");
    assert!(
        !text.contains("compile_error") && !text.contains("deprecated"),
        "{text}"
    );
    assert!(
        !text.contains("include_bytes"),
        "an absent file cannot be tracked"
    );
    assert!(text.contains("lockfile_seen = \\\"absent\\\""), "{text}");
}

#[test]
fn stale_results_are_warned_of_and_not_used() {
    let (folder, environment) = package();
    let stale = format!("b3:{}", "0".repeat(64));
    write(&folder.path().join("cltune.lock"), &lockfile(&stale, 64));
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(text.contains("results : Borrowed (& [])"), "{text}");
    assert!(text.contains("deprecated"), "{text}");
    assert!(text.contains("run `cargo cltune`"), "{text}");
    assert!(!text.contains("compile_error"), "a warning, not an error");
}

#[test]
fn a_lockfile_that_cannot_be_used_is_an_error_with_file_line_and_remedy() {
    let (folder, environment) = package();
    let path = folder.path().join("cltune.lock");
    let good = lockfile(&fingerprint(&environment), 64);
    let cases = [
        (
            good.replace("version = 1", "version = 2"),
            "line 1",
            "update cltune",
        ),
        (
            good.replace("time_us = 7.5", "time_us ="),
            "line 23",
            "cargo cltune",
        ),
        (
            format!("<<<<<<< HEAD\n{good}=======\n{good}>>>>>>> b\n"),
            "line 1",
            "cltune merge",
        ),
    ];
    for (text, line, remedy) in cases {
        write(&path, &text);
        let message = error(ATTRIBUTE, ITEM, &environment);
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(message.contains(line), "{message}");
        assert!(message.contains(remedy), "{message}");
    }
    write(&path, &good.replace("values = [64,", "values = [48,"));
    let message = error(ATTRIBUTE, ITEM, &environment);
    assert!(
        message.contains("`WG`") && message.contains("48"),
        "{message}"
    );
    // A package that cannot be built cannot be tuned either.
    assert!(message.contains("delete this entry"), "{message}");
    fs::write(&path, b"version = 1 # \xe9\n").expect("written");
    let message = error(ATTRIBUTE, ITEM, &environment);
    assert!(
        message.contains("UTF-8") && message.contains("cltune.lock"),
        "{message}"
    );
}

#[test]
fn an_override_goes_first_where_it_has_the_tunable() {
    let (folder, mut environment) = package();
    let fingerprint = fingerprint(&environment);
    let own = folder.path().join("cltune.lock");
    let other = folder.path().join("other.lock");
    write(&own, &lockfile(&fingerprint, 64));
    environment.override_lock = Some(other.clone());

    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        text.contains("WG : 64"),
        "an absent override changes nothing: {text}"
    );
    assert!(
        text.contains("deprecated") && text.contains("other.lock"),
        "it is said: {text}"
    );
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(!text.contains("deprecated"), "it is said once: {text}");
    environment.override_lock = Some("relative.lock".into());
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        !text.contains("deprecated"),
        "another package may have the file: {text}"
    );
    environment.override_lock = Some(other.clone());

    write(&other, &lockfile(&fingerprint, 32));
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        text.contains("WG : 32") && !text.contains("WG : 64"),
        "{text}"
    );
    assert_eq!(text.matches("include_bytes").count(), 2, "both are tracked");

    write(&other, "version = 1\n");
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        text.contains("WG : 64"),
        "an override without the tunable leaves it alone: {text}"
    );

    write(&other, &lockfile(&format!("b3:{}", "0".repeat(64)), 32));
    let text = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        text.contains("WG : 64") && text.contains("deprecated"),
        "{text}"
    );
    assert!(
        text.contains("other.lock"),
        "the warning names the stale file: {text}"
    );
}

#[test]
fn the_record_says_which_lockfile_was_seen() {
    let (folder, environment) = package();
    let text = lockfile(&fingerprint(&environment), 64);
    write(&folder.path().join("cltune.lock"), &text);
    let seen = cltune_formats::fingerprint::of_text(&text);
    let expansion = expanded(ATTRIBUTE, ITEM, &environment);
    assert!(
        expansion.contains(&format!("lockfile_seen = \\\"{seen}\\\"")),
        "{expansion}"
    );
}
