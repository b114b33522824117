//! `cargo cltune verify --oclgrind`: defects that no result shows. `scripts/setup oclgrind`
//! installs what these tests need; without it they only check that its absence is reported.

use cltune_tests::{Output, Project, samples};
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
    let library = "use cltune::{Buffer, Event, Queue, Result, tunable};\n\
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

pub(super) fn is_installed() -> bool {
    let installed = Command::new("oclgrind").arg("--version").output().is_ok();
    if !installed {
        cltune_tests::skip("Oclgrind is not installed");
    }
    installed
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
    // Oclgrind's optimiser makes an absolute value of it, which Oclgrind does not know: it has to
    // do without.
    let kernel = "__kernel void plain(const uint n, __global int* y) {\n\
                  const size_t i = get_global_id(0);\n\
                  y[i] = (int)n + (y[n + 3] == 12345);\n}\n\
                  __kernel void run(const uint n, __global int* y) {\n\
                  const int d = (int)get_global_id(0) - (int)n;\n\
                  y[get_global_id(0)] = d + (d < 0 ? -d : d) + (int)n;\n\
                  if (get_global_id(0) == 1) y[n] = WG;\n}\n";
    let clauses = "params(WG = [16]), local(WG), reference(kernel = \"plain\", global(n))";
    let project = samples::inline("cltune-e2e-oclgrind-reference", clauses, kernel);
    // Tuning refuses both, so the lockfile is written by kernels that are right, and then says that
    // it is of these.
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

/// A package with a tunable `run` of several `clauses`, tuned for 4096 elements of `float`.
fn floats(name: &str, clauses: &str, kernel: &str) -> Project {
    let library = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};\n\
         #[tunable(global(n), tune(n = 4096), {clauses})]\n\
         pub fn run(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>)\n\
         -> Result<Event> {{\n    {kernel:?}\n}}\n"
    );
    Project::new(name).file("src/lib.rs", library)
}

/// What `verify --oclgrind` says of the one configuration of a package, and its exit code.
fn simulated(project: &Project, code: i32) -> serde_json::Value {
    let arguments = ["verify", "--oclgrind", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(code);
    let [result] = &verified.messages("verified")[..] else {
        panic!("{verified}")
    };
    result.clone()
}

#[test]
fn the_problem_is_one_that_the_reference_can_be_run_on() {
    if !is_installed() {
        return;
    }
    // Its own sizes say which; 64 elements would do for the configuration.
    let kernel = "__kernel void plain(const uint n, __global float* y) {
            for (int k = 0; k < 512; k++) y[get_global_id(0) * 512 + k] = n;
        }
        __kernel void run(const uint n, __global float* y) { y[get_global_id(0)] = n; }";
    let clauses = "params(WG = [32]), local(WG), \
                   reference(kernel = \"plain\", global(n / 512), local(2))";
    let result = simulated(&floats("cltune-e2e-oclgrind-sizes", clauses, kernel), 0);
    assert_eq!(result["status"], "ok", "{result}");
    assert_eq!(result["problem"]["n"], 1024, "{result}");

    // Nothing says it but that it does not work.
    let kernel = "__kernel void plain(const uint n, __global float* y) {
            if (n >= 500) y[get_global_id(0)] = n;
        }
        __kernel void run(const uint n, __global float* y) { y[get_global_id(0)] = n; }";
    let clauses = "params(WG = [32]), local(WG), reference(kernel = \"plain\", global(n))";
    let result = simulated(&floats("cltune-e2e-oclgrind-larger", clauses, kernel), 0);
    assert_eq!(result["status"], "ok", "{result}");
    assert_eq!(result["problem"]["n"], 512, "{result}");

    // On none: the first reason, which is not the kernel's.
    let project = floats(
        "cltune-e2e-oclgrind-none",
        clauses,
        &kernel.replace("500", "5000"),
    );
    let result = simulated(&project, 1);
    assert_eq!(result["status"], "not-run", "{result}");
    assert_eq!(result["problem"]["n"], 64, "{result}");
}

#[test]
fn what_the_simulator_itself_cannot_is_not_the_kernels() {
    if !is_installed() {
        return;
    }
    // Its check for values that were never written crashes on these vectors, and gives up on this
    // pointer.
    let race = "__local float t[32]; t[get_local_id(0)] = n + RACE * get_local_id(0);
        if (RACE == 0) barrier(CLK_LOCAL_MEM_FENCE);
        y[get_global_id(0)] = t[31 - get_local_id(0)] - n;";
    let shuffled = "uint4 m = (uint4)(3, 2, 1, 0); float4 v = (float4)(n);
        y[get_global_id(0)] += shuffle(v, m).x + shuffle2(v, v, m).y;";
    let pointer = "int e; y[get_global_id(0)] += frexp((float)n, &e) + e;";
    for (name, instructions) in [
        ("cltune-e2e-oclgrind-shuffle", shuffled),
        ("cltune-e2e-oclgrind-frexp", pointer),
    ] {
        let kernel = format!(
            "__kernel void run(const uint n, __global float* y) {{ {race} {instructions} }}"
        );
        let project = floats(
            name,
            "params(RACE = [0, 1]), defaults(RACE = 0), local(32)",
            &kernel,
        );
        let result = simulated(&project, 0);
        assert_eq!(result["status"], "ok", "{result}");
        let detail = result["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("never written"), "{result}");
        // All else is looked for.
        project.edit("src/lib.rs", "defaults(RACE = 0)", "defaults(RACE = 1)");
        let result = simulated(&project, 1);
        let what = result["findings"][0]["what"].as_str().unwrap_or_default();
        assert!(what.contains("data race at local memory"), "{result}");
    }

    // What Oclgrind does not have at all.
    let kernel = "__kernel void plain(const uint n, __global float* y) { y[get_global_id(0)] = n; }
        __kernel void run(const uint n, __global float* y) {
            y[get_global_id(0)] = sub_group_broadcast((float)n, 0);
        }";
    let clauses = "params(WG = [32]), local(WG), reference(kernel = \"plain\", global(n))";
    let project = floats("cltune-e2e-oclgrind-beyond", clauses, kernel);
    let result = simulated(&project, 1);
    assert_eq!(result["status"], "not-run", "{result}");
    let detail = result["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("Oclgrind itself fails"), "{result}");
    // That is no finding, beside what it can run.
    let mut library = project.read("src/lib.rs");
    library += "#[tunable(global(n), tune(n = 4096), params(A = [0]))]\n\
         pub fn other(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>)\n\
         -> Result<Event> {\n\
         \"__kernel void other(const uint n, __global float* y) { y[get_global_id(0)] = n; }\"\n}\n";
    project.write("src/lib.rs", library);
    let verified = project.cltune(&["verify", "--oclgrind"]).expect_code(0);
    let _ = verified.expect_stdout(&["1 right, 0 not, 1 not run"]);
}

#[test]
fn a_reference_with_many_findings_hides_none_of_the_configurations() {
    if !is_installed() {
        return;
    }
    // More than the thousand after which Oclgrind says no more by itself.
    let kernel = "__kernel void plain(const uint n, __global float* y) {
            float s = 0;
            for (int k = 0; k < 64; k++) s += y[n + k];
            y[get_global_id(0)] = s == 12345.0f ? 1 : n;
        }
        __kernel void run(const uint n, __global float* y) {
            y[get_global_id(0)] = y[n] == 12345.0f ? 1 : n;
        }";
    let clauses = "params(WG = [32]), local(WG), reference(kernel = \"plain\", global(n))";
    let result = simulated(&floats("cltune-e2e-oclgrind-many", clauses, kernel), 1);
    assert_eq!(result["status"], "unsound", "{result}");
    let findings = result["findings"].as_array().expect("a list");
    let own = findings
        .iter()
        .find(|finding| finding["in_reference"] == false);
    let own = own.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(
        own["what"], "Invalid read of size 4 at global memory",
        "{result}"
    );
    assert!(!result.to_string().contains("suppressing"), "{result}");
}

#[test]
fn without_oclgrind_the_message_says_how_to_get_it() {
    let project = project("cltune-e2e-no-oclgrind");
    let empty = tempfile::tempdir().expect("a folder");
    // A library that is built already, since cargo and the linker would not be found either.
    let library = project
        .target()
        .join("debug/libcltune_e2e_no_oclgrind.rlib");
    let library = library.to_str().expect("the path is UTF-8");
    let mut command = project.cltune_command(&["verify", "--oclgrind", "--artifact", library]);
    command.env("PATH", empty.path());
    let _ = Output::of(&mut command)
        .expect_code(2)
        .expect_stderr(&["Oclgrind is not installed", "apt-get install oclgrind"]);
}

/// A package whose fastest configuration is `A = 1` with these instructions in the kernel; `A = 0`,
/// the default, is slow, and `A = 2` in between. `t` is a local array of 65 elements, of which item
/// `l` has written its own; a result of `left` other than 0 is wrong.
fn suspect(name: &str, instructions: &str) -> Project {
    let kernel = format!(
        "__kernel void run(const uint n, __global float* y) {{
            __local int t[65];
            const size_t i = get_global_id(0), l = get_local_id(0);
            float waste = i;
            for (int k = 0; k < (A == 1 ? 20 : A == 2 ? 500 : 3000); k++)
                waste = waste * 0.75f + 0.125f * waste + 1.0f;
            int left = 0;
            t[l] = n;
            {instructions}
            y[i] = waste > 1e30f ? 0 : n + left;
        }}"
    );
    floats(
        name,
        "params(A = [0, 1, 2]), defaults(A = 0), local(64)",
        &kernel,
    )
}

/// What `tune` says in the end, and the value of `A` that it has chosen.
fn finished(project: &Project, arguments: &[&str]) -> (Output, serde_json::Value, i64) {
    let usual = ["tune", "--strategy", "full", "--device", "0"];
    let json = ["--message-format", "json"];
    let tuned = project.cltune(&[&usual[..], &json, arguments].concat());
    let tuned = tuned.expect_code(0);
    let [finished] = &tuned.messages("finished")[..] else {
        panic!("{tuned}")
    };
    let finished = finished.clone();
    let chosen = finished["values"][0].as_i64().expect("a number");
    (tuned, finished, chosen)
}

const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

#[test]
fn a_winner_that_is_unsound_loses_to_the_next_best() {
    if !is_installed() {
        return;
    }
    // What is read beyond the end is not what it is compared with, so no result shows it.
    let beyond = format!("{BARRIER} left = t[A == 1 ? l + 64 : l] == 123456789;");
    let project = suspect("cltune-e2e-oclgrind-winner", &beyond);
    let (_, without, chosen) = finished(&project, &["--soundness", "off"]);
    assert_eq!((chosen, &without["soundness"]), (1, &"off".into()));
    let (tuned, with, chosen) = finished(&project, &[]);
    assert_eq!((chosen, &with["soundness"]), (2, &"sound".into()), "{with}");
    assert!(with["soundness_reason"].is_null(), "{with}");
    assert_eq!(with["failed"], 1, "{with}");
    // It is a failure for good, with the reason.
    let unsound = tuned.messages("revised");
    let unsound = unsound.iter().find(|of| of["status"] == "unsound");
    let unsound = unsound.unwrap_or_else(|| panic!("{tuned}"));
    assert_eq!(unsound["values"][0], 1, "{unsound}");
    let detail = unsound["detail"].as_str().unwrap_or_default();
    for text in [
        "n = 128",
        "body of run:9",
        "Invalid read of size 4 at local",
    ] {
        assert!(detail.contains(text), "{text}: {unsound}");
    }
    let tuned = project.cltune(&["tune", "--strategy", "full", "--device", "0"]);
    let _ = tuned
        .expect_code(0)
        .expect_stdout(&["1 unsound, the first: A = 1", "under Oclgrind"]);
    assert_eq!(chosen_in_lockfile(&project), 2);

    // Work-items that do not wait for each other, and that do not all come to the same barrier.
    let race = format!("if (A != 1) {BARRIER} left = t[63 - l] == 123456789; {BARRIER}");
    let (_, race, chosen) = finished(&suspect("cltune-e2e-oclgrind-race", &race), &[]);
    assert_eq!(chosen, 2, "{race}");
    let apart = format!("if (A != 1 || l != 5) {BARRIER}");
    let project = suspect("cltune-e2e-oclgrind-divergence", &apart);
    let (_, apart, chosen) = finished(&project, &[]);
    assert_eq!(chosen, 2, "{apart}");
}

fn chosen_in_lockfile(project: &Project) -> i64 {
    let lockfile = project.read("cltune.lock");
    let values = lockfile.lines().find_map(|line| {
        let values = line.strip_prefix("values = [")?;
        values.strip_suffix(']')?.parse().ok()
    });
    values.unwrap_or_else(|| panic!("{lockfile}"))
}

#[test]
fn a_winner_is_not_blamed_for_what_the_default_does_or_what_is_no_certain_defect() {
    if !is_installed() {
        return;
    }
    let both = format!("{BARRIER} left = t[l + 64] == 123456789;");
    let no_reader = format!("if (A == 1) t[64] = l; {BARRIER} left = t[l] == 123456789;");
    let in_step = format!(
        "volatile __local int* v = t; {BARRIER}
         if (A == 1 && l < 16) v[l] += v[l + 8]; {BARRIER}"
    );
    // The optimiser lets all work-items read what one of them needs.
    let one_reads = format!(
        "{BARRIER} for (uint k = 0; k < 2 + n % 2; k++) if (l == 0) t[k % 2] += k;
         left = A == 1 && l == 0 ? t[0] == 123456789 : 0; {BARRIER}"
    );
    for (name, instructions, reason) in [
        ("both", both, "the default does so, too"),
        ("no-reader", no_reader, "need not be a defect"),
        ("in-step", in_step, "need not be a defect"),
        ("one-reads", one_reads, ""),
    ] {
        let project = suspect(&format!("cltune-e2e-oclgrind-{name}"), &instructions);
        let (tuned, finished, chosen) = finished(&project, &[]);
        assert_eq!(chosen, 1, "{name}: {tuned}");
        assert_eq!(finished["soundness"], "sound", "{name}: {finished}");
        let said = finished["soundness_reason"].as_str().unwrap_or_default();
        assert_eq!(said.is_empty(), reason.is_empty(), "{name}: {finished}");
        assert!(said.contains(reason), "{name}: {finished}");
    }
}

#[test]
fn a_winner_that_cannot_be_checked_is_chosen_and_the_summary_says_so() {
    if !is_installed() {
        return;
    }
    let fill = "__kernel void run(const uint n, __global float* y) { y[get_global_id(0)] = n; }";
    let clauses = "params(A = [0]), constraints(n >= 1048576)";
    let large = floats("cltune-e2e-oclgrind-large", clauses, fill);
    large.edit("src/lib.rs", "tune(n = 4096)", "tune(n = 1048576)");
    let slow = "__kernel void run(const uint n, __global float* y) {
            float waste = n;
            for (int k = 0; k < 1000000; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
            y[get_global_id(0)] = waste > 1e30f ? 0 : n;
        }";
    let slow = floats("cltune-e2e-oclgrind-slow", "params(A = [0])", slow);
    slow.edit("src/lib.rs", "tune(n = 4096)", "tune(n = 64)");
    for (project, reason) in [
        (large, "n = 1048576, has 1048576 work-items"),
        (slow, "it takes longer under Oclgrind than"),
    ] {
        let (_, finished, _) = finished(&project, &[]);
        assert_eq!(finished["soundness"], "not-checked", "{finished}");
        let said = finished["soundness_reason"].as_str().unwrap_or_default();
        assert!(said.contains(reason), "{finished}");
        let tuned = project.cltune(&["tune", "--device", "0"]).expect_code(0);
        let _ = tuned.expect_stdout(&["not checked under Oclgrind: ", reason]);
    }
}

#[test]
fn without_oclgrind_winners_are_not_checked_unless_that_is_asked_for() {
    let project = untuned("cltune-e2e-oclgrind-absent");
    let _ = project.cargo(&["build"]).expect_code(0);
    let library = project
        .target()
        .join("debug/libcltune_e2e_oclgrind_absent.rlib");
    let library = library.to_str().expect("the path is UTF-8");
    // PoCL needs its linker.
    let linker = tempfile::tempdir().expect("a folder");
    for name in ["ld", "clang", "cc", "sh"] {
        let found = ["/usr/bin", "/bin", "/usr/local/bin"].map(|folder| format!("{folder}/{name}"));
        if let Some(found) = found
            .iter()
            .find(|file| std::path::Path::new(file).exists())
        {
            std::os::unix::fs::symlink(found, linker.path().join(name)).expect("a link");
        }
    }
    let tune = |arguments: &[&str]| {
        let usual = [
            "tune",
            "--artifact",
            library,
            "--budget",
            "1",
            "--device",
            "0",
        ];
        let usual = [
            &usual[..],
            &["--problem", "n=1024", "--message-format", "json"],
        ]
        .concat();
        let mut command = project.cltune_command(&[&usual[..], arguments].concat());
        Output::of(command.env("PATH", linker.path()))
    };
    let tuned = tune(&[]).expect_code(0);
    assert_eq!(tuned.messages("finished")[0]["soundness"], "off", "{tuned}");
    let _ = tune(&["--soundness", "oclgrind"])
        .expect_code(2)
        .expect_stderr(&["Oclgrind is not installed", "apt-get install oclgrind"]);
}
