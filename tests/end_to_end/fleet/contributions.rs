//! Contributions: what somebody found, for the maintainers.

use super::{entries, tuned};
use cltune_tests::fleet::Fleet;
use cltune_tests::tools;
use serde_json::Value;
use std::fs;
use std::process::Command;

#[test]
fn a_contribution_holds_values_and_facts_and_nothing_of_the_contributor() {
    let fleet = tuned();
    let merge = ["merge", "part-1", "part-2", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(0);
    let contribute = ["contribute", "--artifact", "app", "--output", "given.json"];
    let _ = fleet.cltune(&contribute).expect_code(0);
    let given = fleet.read("given.json");
    let value: Value = serde_json::from_str(&given).expect("a contribution is JSON");
    assert_eq!(value["cltune"], env!("CARGO_PKG_VERSION"));
    let facts = &value["devices"][0];
    assert!(
        facts["limits"]["compute_units"].as_i64() > Some(0),
        "{facts}"
    );
    for word in [
        "driver = ",
        "local_mem_size = ",
        "values = [2]",
        "cltune_e2e_fleet::third",
    ] {
        assert!(given.contains(word), "{word}: {given}");
    }
    let host = Command::new("uname")
        .arg("-n")
        .output()
        .expect("there is `uname`");
    let host = String::from_utf8_lossy(&host.stdout).trim().to_owned();
    let folder = fleet.path("").display().to_string();
    let target = tools::own_target().display().to_string();
    for word in [
        "__kernel",
        "waste",
        "/tmp",
        "src/lib.rs",
        "part-",
        &folder,
        &target,
        &host,
    ] {
        assert!(!given.contains(word), "{word}: {given}");
    }

    // What is read stays as it is.
    for output in ["given.json", "app"] {
        let merge = [
            "merge",
            "given.json",
            "--artifact",
            "app",
            "--output",
            output,
        ];
        let says = format!("--output {output}: this command reads that file");
        let _ = fleet.cltune(&merge).expect_code(2).expect_stderr(&[&says]);
    }
    assert_eq!(fleet.read("given.json"), given);
    // Its values come in where there are none, and replace none.
    let of_others = fleet.cltune(&["merge", "given.json", "--output", "theirs.lock"]);
    let _ = of_others.expect_code(0);
    assert_eq!(fleet.read("theirs.lock"), fleet.read("cltune.lock"));
    let own = fleet
        .read("part-1/cltune.lock")
        .replace("\ntime_us = ", "\ntime_us = 7777");
    fs::create_dir(fleet.path("own")).expect("a folder can be made");
    fleet.write("own/cltune.lock", &own);
    let merged = fleet.cltune(&[
        "merge",
        "given.json",
        "own/cltune.lock",
        "--output",
        "all.lock",
    ]);
    let merged = merged.expect_code(0).expect_stderr(&[
        "given.json (contributed by cltune ",
        "2 new entries",
        "4 left out: a contribution replaces nothing",
    ]);
    let all = fleet.read("all.lock");
    assert_eq!(entries(&all).len(), 3, "{merged}");
    assert_eq!(all.matches("\ntime_us = 7777").count(), 4, "{all}");
}

#[test]
fn a_contribution_that_was_changed_is_refused() {
    let fleet = Fleet::new();
    let contribute = ["contribute", "--artifact", "app"];
    let nothing = fleet.cltune(&contribute).expect_code(2);
    let _ = nothing.expect_stderr(&[
        "nothing to contribute",
        "cltune_e2e_fleet::first",
        "Tune first",
    ]);
    let _ = fleet
        .part("slice:1/1", ".", &["--kernel", "first"])
        .expect_code(0);
    let given = fleet.cltune(&contribute).expect_code(0).stdout;
    for (from, to, words) in [
        (
            "values = [2]",
            "values = [4]",
            "was changed after it was made",
        ),
        (
            "\"cltune_contribution\": 1",
            "\"cltune_contribution\": 3",
            "version 3 of the format",
        ),
        (
            "\"seal\"",
            "\"steal\"",
            "no contribution: unknown field `steal`",
        ),
    ] {
        assert!(given.contains(from), "{from}: {given}");
        fleet.write("given.json", &given.replace(from, to));
        let merged = fleet.cltune(&["merge", "given.json", "--output", "out.lock"]);
        let _ = merged
            .expect_code(2)
            .expect_stderr(&["given.json: ", words]);
        assert!(!fleet.path("out.lock").exists());
    }
    // What no program can take is not given away.
    let edited = fleet.read("cltune.lock").replacen("[2]", "[9]", 1);
    fleet.write("cltune.lock", &edited);
    for refused in [&contribute[..], &["show", "first", "--artifact", "app"]] {
        let refused = fleet.cltune(refused).expect_code(2);
        let _ = refused.expect_stderr(&[
            "cltune.lock: the entry of ",
            "value 9, which it cannot take",
        ]);
    }
    let listed = fleet.cltune(&["list", "--artifact", "app", "--kernel", "first"]);
    let _ = listed.expect_stdout(&["lockfile: damaged"]);
}
