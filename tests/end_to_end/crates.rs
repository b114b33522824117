//! The dependencies of the crates: a plain launch and the macro compile nothing that only searching
//! needs.

use cltune_tests::manifest::plain_manifest;
use cltune_tests::{Output, Project, tools};
use std::process::Command;

/// The names of the crates that a crate of this repository is built from, itself included.
fn compiled(package: &str, arguments: &[&str]) -> Vec<String> {
    let tree = Output::of(
        Command::new(tools::cargo())
            .args(["tree", "--package", package, "--edges", "normal"])
            .args(["--prefix", "none", "--format", "{lib}", "--no-dedupe"])
            .args(arguments)
            .current_dir(tools::repository()),
    )
    .expect_code(0);
    tree.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn who_only_launches_does_not_compile_what_only_searching_needs() {
    let searching = ["cltune_search", "rand", "rand_pcg", "rayon"];
    let has = |compiled: &[String], name: &str| compiled.iter().any(|of| of == name);
    for package in ["cltune-macros", "cltune", "cltune-kernels"] {
        let compiled = compiled(package, &[]);
        assert!(has(&compiled, "cltune_core"), "{package}: {compiled:?}");
        for name in searching {
            assert!(!has(&compiled, name), "{package} compiles {name}");
        }
    }
    // Who measures, does: or the names above would be those of nothing.
    for (package, features) in [
        ("cltune", &["--features", "tuning"][..]),
        ("cargo-cltune", &[]),
    ] {
        let compiled = compiled(package, features);
        for name in searching {
            assert!(has(&compiled, name), "{package} lacks {name}: {compiled:?}");
        }
    }
}

/// The macro reads formulas and the lockfile for a program that only launches.
#[test]
fn who_only_launches_does_not_compile_formats() {
    let compiled = |features: &[&str]| {
        let arguments = [&["--edges", "normal,no-proc-macro"], features].concat();
        compiled("cltune", &arguments)
    };
    let has = |compiled: &[String], name: &str| compiled.iter().any(|of| of == name);
    let plain = compiled(&[]);
    let offline = compiled(&["--features", "offline"]);
    for name in ["cltune_formats", "syn", "toml"] {
        assert!(!has(&plain, name), "{name} is there");
        assert!(has(&offline, name), "{name} is missing: {offline:?}");
    }
}

#[test]
fn opencl3_is_compiled_for_those_who_have_not_left_it_out() {
    let has = |package, arguments: &[&str]| {
        let compiled = compiled(package, arguments);
        compiled.iter().any(|name| name == "opencl3")
    };
    assert!(has("cltune", &[]));
    assert!(!has("cltune", &["--no-default-features"]));
    // A library does not decide for the programs that use it.
    assert!(!has("cltune-kernels", &[]));
}

#[test]
fn who_only_searches_compiles_nothing_of_opencl_and_no_parser() {
    // `thiserror`'s macro has a parser, which is not part of the program.
    let compiled = compiled("cltune-search", &["--edges", "normal,no-proc-macro"]);
    for name in ["cltune_core", "rayon"] {
        assert!(compiled.iter().any(|of| of == name), "{compiled:?}");
    }
    for name in ["cl3", "cltune_runtime", "cltune_files", "syn", "toml"] {
        assert!(!compiled.iter().any(|of| of == name), "{name} is there");
    }
}

#[test]
fn who_uses_what_a_feature_has_without_it_is_told_which() {
    let name = "cltune-e2e-features";
    let program = "\
use cltune::{Buffer, Event, Queue, Result, tunable};
#[tunable(
    params(WG = [32, 64]), global(n), local(WG), tune(n = 64),
    split(n = WG),
)]
fn ones(queue: &Queue, n: u32, #[arg(len = n, split(n))] x: &mut Buffer<f32>) -> Result<Event> {
    \"kernel void ones(uint n, global float* x) { x[get_global_id(0)] = 1; }\"
}
fn main() {
    let _: Option<(cltune::DeviceSet, cltune::schedule::Scheduler)> = None;
    let _: (cltune::f16, cltune::bf16);
    use cltune::fused;
}
";
    let project = Project::empty(name)
        .file("Cargo.toml", plain_manifest(name))
        .file("src/main.rs", program);
    let _ = project.cargo(&["check"]).expect_code(101).expect_stderr(&[
        "error: `split(…)` needs cltune's feature `several-devices`: `cargo add cltune --features several-devices`",
        // At the clause.
        "src/main.rs:4:11",
        "gated behind the `several-devices` feature",
        "gated behind the `f16` feature",
        "gated behind the `fused` feature",
    ]);
}
