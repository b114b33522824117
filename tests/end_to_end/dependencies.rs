//! A program that uses a library with tunables: whose they are, and what is asked of the program's
//! author.

use cltune_tests::manifest::{manifest, manifest_with_kernels};
use cltune_tests::{Output, Project, samples, tools};
use std::path::Path;

/// A program and a library outside its workspace, which it depends on by path.
fn program_and_library(program: &str, library: &str) -> Project {
    let depending = manifest(program).replace(
        "\n[workspace]",
        &format!("{library} = {{ path = \"library\" }}\n\n[workspace]\nexclude = [\"library\"]"),
    );
    let crate_name = library.replace('-', "_");
    Project::empty(program)
        .file("Cargo.toml", depending)
        .file(
            "src/main.rs",
            samples::PROGRAM
                .replace("mod tunables;\nuse ", "use ")
                .replace("tunables::", &format!("{crate_name}::")),
        )
        .file("library/Cargo.toml", manifest(library))
        .file("library/src/lib.rs", samples::LIBRARY)
        .file("library/kernels/scale.cl", samples::KERNEL)
        .file("library/kernels/waste.h", samples::INCLUDE)
}

/// A tunable of the program's own.
const OWN: &str = r#"
#[cltune::tunable(global(64), params(P = [1, 2]))]
#[allow(dead_code)]
fn own(queue: &cltune::Queue) -> cltune::Result<cltune::Event> {
    "__kernel void own(void) {}"
}
"#;

#[test]
fn tunables_of_dependencies_are_tuned_where_they_are_named_and_judged_nowhere_else() {
    let (program, library) = ("cltune-e2e-uses", "cltune-e2e-used");
    let project = program_and_library(program, library);

    // The program has no tunable of its own: that is nothing to complain about, and nothing to work
    // on.
    let check = project.cltune(&["check"]).expect_code(0);
    let _ = check.expect_stdout(&[
        "cltune-e2e-uses: no tunables of its own",
        "cltune-e2e-used 0.1.0: 1 tunable of a dependency",
    ]);
    for command in [
        &["list"][..],
        &["tune", "--budget", "2"],
        &["verify"],
        &["report"],
    ] {
        let refused = project.cltune(command).expect_code(2);
        let _ = refused.expect_stderr(&[
            "cltune-e2e-uses",
            "1 in cltune-e2e-used",
            "`-p cltune-e2e-used`",
        ]);
    }
    assert!(!project.path("library/cltune.lock").exists());

    // Named, it is treated as a package of one's own.
    let named = |arguments: &[&str]| project.cltune(&[arguments, &["-p", library]].concat());
    let _ = named(&["list"])
        .expect_code(0)
        .expect_stdout(&["cltune_e2e_used::scale"]);
    let _ = named(&["check"])
        .expect_code(1)
        .expect_stdout(&["there is no lockfile"]);
    let tuned = named(&["tune", "--budget", "4"]).expect_code(0);
    let _ = tuned.expect_stderr(&["library/cltune.lock"]);
    assert!(!project.path("cltune.lock").exists());
    let _ = named(&["check"])
        .expect_code(0)
        .expect_stdout(&["lockfile up to date"]);
    let _ = named(&["verify"]).expect_code(0);
    let _ = named(&["report"]).expect_code(0);
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);

    // Stale results are its author's business. Who uses it is told, and not stopped.
    project.edit("library/kernels/scale.cl", "a * x[i]", "x[i] * a");
    let check = project.cltune(&["check"]).expect_code(0);
    let _ = check.expect_stdout(&[
        "note: cltune_e2e_used::scale: stale",
        "`-p cltune-e2e-used`",
    ]);
    let json = project
        .cltune(&["check", "--format", "json"])
        .expect_code(0)
        .json();
    assert_eq!(json["ok"], true, "{json}");
    let of_library = &json["dependencies"][0];
    assert_eq!(of_library["package"], library, "{json}");
    assert_eq!(of_library["notes"][0]["kind"], "stale", "{json}");
    let _ = named(&["check"])
        .expect_code(1)
        .expect_stdout(&["cltune_e2e_used::scale: stale"]);

    // With a tunable of the program's own, that one is what is judged and tuned.
    project.edit("src/main.rs", "fn main()", &format!("{OWN}\nfn main()"));
    let check = project.cltune(&["check"]).expect_code(1);
    let _ = check.expect_stdout(&["there is no lockfile", "1 tunable of a dependency"]);
    let _ = project.cltune(&["tune", "--budget", "2"]).expect_code(0);
    let own = project.read("cltune.lock");
    assert!(
        own.contains("cltune_e2e_uses::own") && !own.contains("scale"),
        "{own}"
    );
    let check = project.cltune(&["check"]).expect_code(0);
    let _ = check.expect_stdout(&["cltune-e2e-uses: 1 tunable, lockfile up to date"]);
    // Both by name.
    let both = ["check", "-p", program, "-p", library];
    let both = project.cltune(&both).expect_code(1);
    let _ = both.expect_stdout(&["cltune-e2e-uses: 1 tunable, lockfile up to date", "stale"]);

    // Without cargo, in a folder of its own: the lockfile says what was tuned there.
    let _ = project.cargo(&["build"]).expect_code(0);
    let artifact = project.executable("debug").display().to_string();
    let _ = project
        .cltune(&["check", "--artifact", &artifact])
        .expect_code(0)
        .expect_stdout(&[
            "1 tunable, lockfile up to date",
            "cltune-e2e-used 0.1.0: 1 tunable of a dependency",
        ]);
    project.write("cltune.lock", "version = 1\n");
    let none = project
        .cltune(&["check", "--artifact", &artifact])
        .expect_code(1);
    let _ = none.expect_stdout(&["own: never tuned", "scale: never tuned"]);
}

#[test]
fn a_lockfile_that_the_program_overrides_its_dependencies_with_has_to_be_current() {
    let (program, library) = ("cltune-e2e-overrides", "cltune-e2e-overridden");
    let project = program_and_library(program, library);
    let mine = project.path("mine.lock").display().to_string();
    let tune = ["tune", "-p", library, "--budget", "3", "--lockfile", &mine];
    let _ = project.cltune(&tune).expect_code(0);
    assert!(!project.path("library/cltune.lock").exists());
    let with_override = |arguments: &[&str]| {
        let mut command = project.cltune_command(arguments);
        Output::of(command.env("CLTUNE_LOCK", &mine))
    };
    let check = with_override(&["check"]).expect_code(0);
    let check = check.expect_stdout(&["cltune-e2e-overridden: 1 tunable, lockfile up to date"]);
    assert!(!check.stdout.contains("not judged"), "{check}");
    project.edit("library/kernels/scale.cl", "a * x[i]", "x[i] * a");
    let check = with_override(&["check"]).expect_code(1);
    let _ = check.expect_stdout(&["mine.lock", "cltune_e2e_overridden::scale: stale"]);
    // Without it the file means nothing to the program.
    let _ = project.cltune(&["check"]).expect_code(0);
}

#[test]
fn a_program_that_multiplies_matrices_passes_the_check() {
    let name = "cltune-e2e-multiplies";
    let kernels = tools::repository().join("kernels");
    let project = Project::new(name)
        .file("Cargo.toml", manifest_with_kernels(name))
        .file(
            "src/main.rs",
            "fn main() {\n    let queue = cltune::Queue::default_device().unwrap();\n    \
             let _ = cltune_kernels::gemm::Gemm::<f32>::new(&queue);\n}\n",
        );
    let before = std::fs::metadata(Path::new(&kernels).join("cltune.lock"))
        .unwrap()
        .modified()
        .unwrap();
    let check = project.cltune(&["check"]).expect_code(0);
    let _ = check
        .clone()
        .expect_stdout(&["no tunables of its own", "cltune-kernels 0.1.0:"]);
    assert!(!check.stdout.contains("not tuned on"), "{check}");
    let _ = project
        .cltune(&["--kernel", "gemm"])
        .expect_code(2)
        .expect_stderr(&["`-p cltune-kernels`"]);
    let after = std::fs::metadata(kernels.join("cltune.lock"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after);
}
