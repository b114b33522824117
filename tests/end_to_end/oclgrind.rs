//! `cargo cltune verify --oclgrind`: defects that no result shows. `scripts/setup oclgrind` installs
//! what these tests need; without it they only check that its absence is reported.

use cltune_tests::{Output, Project, samples, tools};
use std::process::Command;

/// `A` is the defect, 0 is right. None of them shows in results on the devices at hand.
const KERNEL: &str = r"
__kernel void run(const uint n, __global int* y) {
    __local int t[64];
    const size_t i = get_global_id(0), l = get_local_id(0);
#if A == 2
    if (l < 32) t[l] = 1;
#else
    t[l] = (int)n;
#endif
#if A != 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if A == 3
    int left = y[n + 1] == 12345;
    y[i] = (int)n + left;
#elif A == 2
    y[i] = t[l] == 12345 ? (int)n + 1 : (int)n;
#else
    y[i] = t[63 - l];
#endif
}
";

/// The line of the kernel's file that has this text.
fn line(text: &str) -> usize {
    let found = KERNEL.lines().position(|line| line.contains(text));
    found.expect("the kernel has this text") + 1
}

/// A package whose default is right.
fn untuned(name: &str) -> Project {
    let library = "use cltune_runtime::{Buffer, Event, Queue, Result, tunable};\n\
         #[tunable(source = \"kernels/run.cl\", global(n), local(64), params(A = 0..=3),\n\
         defaults(A = 0), tune(n = [1024, 2048, 4096, 8192]))]\n\
         pub fn run(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>)\n\
         -> Result<Event>;\n";
    Project::new(name)
        .file("src/lib.rs", library)
        .file("kernels/run.cl", KERNEL)
}

/// The same with an entry for each defect, in a lockfile that nothing was tuned for.
fn project(name: &str) -> Project {
    let project = untuned(name);
    let _ = project
        .cltune(&["tune", "--budget", "1", "--device", "0"])
        .expect_code(0);
    let lockfile = project.read("cltune.lock");
    let mut defect = 0;
    let lines = lockfile.lines().map(|line| {
        if line.starts_with("values") {
            defect += 1;
            format!("values = [{}]\n", defect - 1)
        } else {
            format!("{line}\n")
        }
    });
    project.write("cltune.lock", lines.collect::<String>());
    assert_eq!(defect, 4);
    project
}

fn is_installed() -> bool {
    Command::new("oclgrind").arg("--version").output().is_ok()
}

#[test]
fn races_uninitialised_reads_and_accesses_out_of_bounds_are_found_with_their_lines() {
    if !is_installed() {
        return;
    }
    let project = project("cltune-e2e-oclgrind");
    let arguments = ["verify", "--oclgrind", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(1);
    let results = verified.messages("verified");
    assert_eq!(results.len(), 4, "{verified}");
    let expected = [
        (0, "ok", "", vec![]),
        (
            1,
            "unsound",
            "data race at local memory",
            vec![line("t[l] = (int)n;"), line("t[63 - l]")],
        ),
        (
            2,
            "unsound",
            "Uninitialized value",
            vec![line("t[l] == 12345")],
        ),
        (
            3,
            "unsound",
            "Invalid read of size 4 at global memory",
            vec![line("y[n + 1]")],
        ),
    ];
    for (result, (value, status, what, lines)) in results.iter().zip(expected) {
        assert_eq!(result["values"][0], value, "{result}");
        if status == "ok" {
            assert_eq!(result["status"], status, "{result}");
            continue;
        }
        // Uninitialised local memory may hold what makes the result wrong as well.
        assert_ne!(result["status"], "ok", "{result}");
        let findings = result["findings"].as_array().expect("a list");
        let of = findings.iter().find(|finding| {
            let text = finding["what"].as_str().unwrap_or_default();
            text.contains(what)
        });
        let finding = of.unwrap_or_else(|| panic!("no `{what}`: {result}"));
        let places = finding["places"].as_array().expect("a list");
        let found: Vec<_> = places.iter().map(|place| place["line"].as_u64()).collect();
        let lines: Vec<_> = lines.iter().map(|line| Some(*line as u64)).collect();
        assert_eq!(found, lines, "{finding}");
        assert!(places.iter().all(|place| place["file"] == "kernels/run.cl"));
        assert_eq!(finding["in_reference"], false);
    }
    // For people: the line and the configuration.
    let verified = project.cltune(&["verify", "--oclgrind"]).expect_code(1);
    let place = format!("kernels/run.cl:{}", line("y[n + 1]"));
    let _ = verified.expect_stdout(&["simulated", "1 right, 3 not", "(A = 3): ", &place]);
}

#[test]
fn a_kernel_that_was_never_tuned_is_run_with_its_default() {
    if !is_installed() {
        return;
    }
    let project = untuned("cltune-e2e-oclgrind-untuned");
    let right = project.cltune(&["verify", "--oclgrind"]).expect_code(0);
    let default = "A = 0 (not tuned: the declared default)";
    let _ = right.expect_stdout(&[default, "1 right, 0 not"]);
    project.edit("src/lib.rs", "defaults(A = 0)", "defaults(A = 1)");
    let race = project.cltune(&["verify", "--oclgrind"]).expect_code(1);
    let _ = race.expect_stdout(&["data race at local memory", "0 right, 1 not"]);
    assert!(!project.path("cltune.lock").exists());
    // Of a device, what was tuned on it is meant.
    let _ = project
        .cltune(&["verify", "--oclgrind", "--device", "nvidia"])
        .expect_code(2)
        .expect_stderr(&["nothing to verify", "--device"]);
}

#[test]
fn what_the_reference_does_wrong_is_the_references() {
    if !is_installed() {
        return;
    }
    // Oclgrind's optimiser makes an absolute value of it, which Oclgrind does not know: it has to do without.
    let kernel = "__kernel void plain(const uint n, __global int* y) {\n\
                  const size_t i = get_global_id(0);\n\
                  y[i] = (int)n + (y[n + 3] == 12345);\n}\n\
                  __kernel void run(const uint n, __global int* y) {\n\
                  const int d = (int)get_global_id(0) - (int)n;\n\
                  y[get_global_id(0)] = d + (d < 0 ? -d : d) + (int)n;\n\
                  if (get_global_id(0) == 1) y[n] = WG;\n}\n";
    let clauses = "params(WG = [16]), local(WG), reference(kernel = \"plain\", global(n))";
    let project = samples::inline("cltune-e2e-oclgrind-reference", clauses, kernel);
    // Tuning refuses both, so the lockfile is written by kernels that are right, and then says that it is of
    // these.
    let wrong = [
        " + (y[n + 3] == 12345)",
        "if (get_global_id(0) == 1) y[n] = WG;",
    ];
    let library = project.read("src/lib.rs");
    for wrong in wrong {
        project.edit("src/lib.rs", wrong, "");
    }
    let _ = project.cltune(&["tune", "--device", "0"]).expect_code(0);
    project.write("src/lib.rs", library);
    let listed = project
        .cltune(&["list", "--format", "json"])
        .expect_code(0)
        .json();
    let fingerprint = listed["tunables"][0]["fingerprint"]
        .as_str()
        .expect("a text");
    let lockfile = project.read("cltune.lock");
    let old = lockfile
        .lines()
        .find(|line| line.starts_with("fingerprint"));
    let new = format!("fingerprint = \"{fingerprint}\"");
    project.edit("cltune.lock", old.expect("an entry"), &new);

    let arguments = ["verify", "--oclgrind", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(1);
    let result = &verified.messages("verified")[0];
    let findings = result["findings"].as_array().expect("a list");
    let found: Vec<_> = findings
        .iter()
        .map(|finding| {
            let what = finding["what"].as_str().expect("a text");
            (
                what,
                finding["kernel_function"].as_str(),
                finding["in_reference"] == true,
            )
        })
        .collect();
    let read = "Invalid read of size 4 at global memory";
    assert!(found.contains(&(read, Some("plain"), true)), "{result}");
    let write = "Invalid write of size 4 at global memory";
    assert!(found.contains(&(write, Some("run"), false)), "{result}");
    // A kernel in a function's body has no file of its own.
    let place = &findings[0]["places"][0];
    assert_eq!(place["file"], "body of run", "{place}");
    assert_eq!(place["line"], 3);
}

#[test]
fn without_oclgrind_the_message_says_how_to_get_it() {
    let project = project("cltune-e2e-no-oclgrind");
    let empty = tempfile::tempdir().expect("a folder");
    // A library that is built already, since cargo and the linker would not be found either.
    let library = tools::target().join("debug/libcltune_e2e_no_oclgrind.rlib");
    let library = library.to_str().expect("the path is UTF-8");
    let mut command = project.cltune_command(&["verify", "--oclgrind", "--artifact", library]);
    command.env("PATH", empty.path());
    let _ = Output::of(&mut command)
        .expect_code(2)
        .expect_stderr(&["Oclgrind is not installed", "apt-get install oclgrind"]);
}
