//! Places of tunables: targets, modules, features, workspaces, renamed dependencies.

use cltune_tests::Project;
use cltune_tests::manifest::manifest;
use serde_json::Value;

/// A tunable without arguments.
fn tunable(name: &str) -> String {
    format!(
        "#[cltune::tunable(global(64), params(P = [1, 2]))]\n\
         fn {name}(queue: &cltune::Queue) -> cltune::Result<cltune::Event> \
         {{ \"__kernel void {name}(void) {{}}\" }}\n"
    )
}

/// The names of the tunables that `list` finds, less the package's.
fn listed(project: &Project, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["list", "--format", "json"], arguments].concat();
    let list = project.cltune(&arguments).expect_code(0).json();
    let tunables = list["tunables"]
        .as_array()
        .expect("a list of tunables")
        .clone();
    let name = |tunable: &Value| {
        let name = tunable["name"].as_str().unwrap_or_default().to_owned();
        name.split_once("::")
            .map_or(name.clone(), |(_, name)| name.to_owned())
    };
    let mut names: Vec<String> = tunables.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn every_target_of_a_package_without_library_is_searched() {
    let name = "cltune-e2e-places";
    let manifest = manifest(name)
        + "\n[features]\nextra = []\n\n[[bench]]\nname = \"measured\"\nharness = false\n";
    let main = format!(
        "#![forbid(unsafe_code)]\n#![allow(dead_code)]\n\
         mod outer {{ mod inner {{ {} }} }}\n#[cfg(feature = \"extra\")]\n{}\n\
         fn main() {{\n{}\n}}\n#[cfg(test)]\nmod tests {{ {} }}\n",
        tunable("in_a_private_module"),
        tunable("behind_a_feature"),
        tunable("in_a_function"),
        tunable("in_a_unit_test")
    );
    let with_main =
        |item: &str| format!("#![allow(dead_code)]\n{}\nfn main() {{}}\n", tunable(item));
    let project = Project::new(name)
        .file("Cargo.toml", manifest)
        .file("src/main.rs", main)
        .file("src/bin/second.rs", with_main("in_a_second_program"))
        .file("examples/shown.rs", with_main("in_an_example"))
        .file("benches/measured.rs", with_main("in_a_benchmark"))
        .file(
            "tests/tested.rs",
            format!(
                "#![allow(dead_code)]\n{}#[test]\nfn test() {{}}\n",
                tunable("in_a_test")
            ),
        );
    let all = [
        "in_a_benchmark",
        "in_a_function",
        "in_a_private_module",
        "in_a_second_program",
        "in_a_test",
        "in_a_unit_test",
        "in_an_example",
    ];
    assert_eq!(listed(&project, &[]), all);
    let mut with_extra = vec!["behind_a_feature"];
    with_extra.extend(all);
    assert_eq!(listed(&project, &["--features", "extra"]), with_extra);
    assert_eq!(listed(&project, &["--all-features"]), with_extra);
    assert_eq!(listed(&project, &["--example", "shown"]), ["in_an_example"]);
    assert_eq!(
        listed(&project, &["--bin", "second", "--bench", "measured"]),
        ["in_a_benchmark", "in_a_second_program"]
    );
    // What is not for the package's users need not be tuned, unless it is named.
    let _ = project
        .cltune(&["tune", "--bins", "--budget", "2"])
        .expect_code(0);
    let check = project.cltune(&["check"]).expect_code(0);
    for name in [
        "in_a_benchmark",
        "in_a_test",
        "in_a_unit_test",
        "in_an_example",
    ] {
        let note = format!("note: cltune_e2e_places::{name}: never tuned");
        assert!(check.stdout.contains(&note), "no {note}: {check}");
    }
    assert_eq!(check.stdout.matches("never tuned").count(), 4, "{check}");
    let check = project.cltune(&["check", "--bins"]).expect_code(0);
    assert!(!check.stdout.contains("note"), "{check}");
    for targets in [&["--all-targets"][..], &["--example", "shown"]] {
        let check = project.cltune(&[&["check"], targets].concat());
        let _ = check
            .expect_code(1)
            .expect_stdout(&["in_an_example: never tuned"]);
    }
    // Targets that have none: never a silent zero.
    project.write("src/bin/third.rs", "fn main() {}");
    let none = project.cltune(&["list", "--bin", "third"]).expect_code(2);
    let _ = none.expect_stderr(&["no tunable", "--features", "--all-targets", "-p"]);
}

/// Wherever a tunable stands and however visible it is, what is generated is as clean as the code
/// around it.
#[test]
fn nothing_is_warned_of_in_any_kind_of_target_of_an_older_edition() {
    let name = "cltune-e2e-older";
    let target = |visibility: &str, rest: &str| {
        let documented = format!("/// Documented.\n{visibility}fn k");
        format!(
            "//! A target.\n#![forbid(unsafe_code)]\n\
             #![deny(missing_docs, unreachable_pub, warnings)]\n{}{rest}\n",
            tunable("k").replace("fn k", &documented)
        )
    };
    let private = "fn main() { let _ = k; }";
    let bench = "\n[[bench]]\nname = \"bench\"\nharness = false\n";
    let test = "#[test]\nfn test() { assert_eq!(k::BAKED.len(), 0); }";
    let project = Project::empty(name)
        .file(
            "Cargo.toml",
            manifest(name).replace("\"2024\"", "\"2021\"") + bench,
        )
        .file("src/lib.rs", target("pub ", ""))
        .file("src/main.rs", target("", private))
        .file("examples/example.rs", target("pub(crate) ", private))
        .file("benches/bench.rs", target("", private))
        .file("tests/test.rs", target("", test));
    let built = project.cargo(&["build", "--all-targets"]).expect_code(0);
    assert!(!built.stderr.contains("warning"), "{built}");
}

#[test]
fn a_dependency_may_be_renamed() {
    let name = "cltune-e2e-renamed";
    let manifest = manifest(name)
        .replace("cltune =", "opencl = ")
        .replace("{ features", "{ package = \"cltune\", features");
    let tunable = tunable("renamed")
        .replace("cltune::", "opencl::")
        .replace("global(64)", "global(64), crate = ::opencl")
        .replace("fn renamed", "pub fn renamed");
    let project = Project::new(name)
        .file("Cargo.toml", manifest)
        .file("src/lib.rs", tunable);
    assert_eq!(listed(&project, &[]), ["renamed"]);
    let _ = project.cltune(&["--budget", "2"]).expect_code(0);
    assert!(
        project
            .read("cltune.lock")
            .contains("name = \"cltune_e2e_renamed::renamed\"")
    );
}

#[test]
fn packages_of_a_workspace_have_lockfiles_of_their_own() {
    let member = |name: &str| manifest(name).replace("[workspace]\n", "");
    let library = format!("#![allow(dead_code)]\n{}", tunable("same_name"));
    // The second depends on the first, so that its artifacts hold both.
    let second = member("cltune-e2e-second") + "cltune-e2e-first = { path = \"../first\" }\n";
    let project = Project::empty("cltune-e2e-first")
        .file(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"first\", \"second\"]\n",
        )
        .file("first/Cargo.toml", member("cltune-e2e-first"))
        .file("first/src/lib.rs", &library)
        .file("second/Cargo.toml", second)
        .file("second/src/main.rs", format!("{library}\nfn main() {{}}\n"));

    let _ = project
        .cltune(&["-p", "cltune-e2e-second", "--budget", "2"])
        .expect_code(0);
    let lockfile = project.read("second/cltune.lock");
    assert!(
        lockfile.contains("name = \"cltune_e2e_second::same_name\""),
        "{lockfile}"
    );
    assert!(!lockfile.contains("cltune_e2e_first"), "{lockfile}");
    assert!(!project.path("first/cltune.lock").exists());
    let check = project
        .cltune(&["check", "--workspace", "--format", "json"])
        .expect_code(1)
        .json();
    let findings = |package: usize| {
        check["packages"][package]["findings"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!((findings(0), findings(1)), (Some(1), Some(0)), "{check}");

    let _ = project
        .cltune(&["--workspace", "--budget", "2"])
        .expect_code(0);
    let lockfile = project.read("first/cltune.lock");
    assert!(
        lockfile.contains("name = \"cltune_e2e_first::same_name\""),
        "{lockfile}"
    );
    assert!(!project.path("cltune.lock").exists(), "never at the root");
    // As cargo has it.
    let check = ["check", "--workspace", "--exclude", "elsewhere"];
    let check = project.cltune(&check).expect_code(0);
    let _ = check
        .expect_stderr(&["warning: excluded package(s) `elsewhere` not found in workspace `/"]);
    for pattern in [
        ["list", "-p", "*-sec?nd"].as_slice(),
        &["list", "--workspace", "--exclude", "*-f*"],
    ] {
        let listed = project.cltune(pattern).expect_code(0);
        let listed = listed.expect_stdout(&["cltune_e2e_second::same_name"]);
        assert!(!listed.stdout.contains("cltune_e2e_first::"), "{listed}");
    }
    // From a member's folder, as cargo does.
    let mut inside = project.cltune_command(&["list"]);
    let inside = cltune_tests::Output::of(inside.current_dir(project.path("second")));
    let inside = inside
        .expect_code(0)
        .expect_stdout(&["cltune_e2e_second::same_name"]);
    assert!(!inside.stdout.contains("cltune_e2e_first::"), "{inside}");

    let unknown = project.cltune(&["list", "-p", "elsewhere"]).expect_code(2);
    let _ = unknown.expect_stderr(&["elsewhere", "cltune-e2e-first", "cltune-e2e-second"]);
    let unknown = project.cltune(&["list", "-p", "else*"]).expect_code(2);
    let _ = unknown.expect_stderr(&["else*", "cltune-e2e-first", "cltune-e2e-second"]);
}

#[test]
fn one_name_for_two_tunables_of_a_package_is_an_error_that_names_both_places() {
    let project = Project::new("cltune-e2e-same-name")
        .file("src/lib.rs", "#![allow(dead_code)]\nmod one;\nmod two;\n")
        .file("src/one.rs", tunable("same"))
        .file("src/two.rs", tunable("same").replace("[1, 2]", "[1, 3]"));
    let failed = project.cltune(&["list"]).expect_code(2);
    let _ = failed.expect_stderr(&[
        "`cltune_e2e_same_name::same`",
        "src/one.rs",
        "src/two.rs",
        "name =",
    ]);
    project.edit("src/two.rs", "global(64)", "global(64), name = \"other\"");
    assert_eq!(listed(&project, &[]), ["other", "same"]);
}

#[test]
fn what_does_not_compile_is_shown_as_cargo_shows_it() {
    let project = Project::new("cltune-e2e-broken").file(
        "src/lib.rs",
        format!("{}\nfn broken() -> u32 {{ \"text\" }}\n", tunable("fine")),
    );
    let failed = project.cltune(&[]).expect_code(2);
    let _ = failed.expect_stderr(&["error[E0308]", "src/lib.rs"]);
    assert!(!project.path("cltune.lock").exists());
}
