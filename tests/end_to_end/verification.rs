//! `cargo cltune verify`: what was right while tuning, and is wrong on other inputs or problems.

use cltune_tests::{Project, Running, samples};

/// The kernel of several values of `A`; 0 is right for every size.
const KERNEL: &str = "__kernel void run(const uint n, __global int* y) {
    const size_t i = get_global_id(0);
#if A == 1
    // Nobody noticed while n was small.
    if (i >= 300) return;
#elif A == 2
    if (i == 7) { y[i] = 3; return; }
#elif A == 3
    if (i == 0) y[n] = 1;
#elif A == 4
    if (i == 0) *(volatile __global int*)(8 * (n - 255)) = 1;
#elif A == 5
    // Pairs: the last of an odd number has no partner.
    if (i >= n / 2 * 2) return;
#endif
    y[i] = (int)n;
}";

/// A package whose lockfile says that `A` is best, as tuning would have it if it were right.
fn tuned(name: &str, a: i64) -> Project {
    let project = samples::inline(name, "params(A = 0..=5), defaults(A = 0)", KERNEL);
    let _ = project
        .cltune(&["tune", "--strategy", "full", "--device", "0"])
        .expect_code(0);
    let lockfile = project.read("cltune.lock");
    let values = lockfile.lines().find(|line| line.starts_with("values"));
    let values = values.expect("an entry").to_owned();
    project.edit("cltune.lock", &values, &format!("values = [{a}]"));
    project
}

#[test]
fn what_is_right_on_all_inputs_and_sizes_passes() {
    let project = tuned("cltune-e2e-verify-right", 0);
    let verified = project.cltune(&["verify", "--seed", "5"]).expect_code(0);
    let _ = verified.expect_stdout(&[
        "seed 5",
        "n = 256",
        "n = 512 (larger)",
        "n = 251 (uneven)",
        "1 of 1",
        "3 right, 0 not",
    ]);

    let arguments = [
        "verify",
        "--draws",
        "3",
        "--larger",
        "1",
        "--message-format",
        "json",
    ];
    let verified = project.cltune(&arguments).expect_code(0);
    let begin = &verified.messages("verification")[0];
    assert_eq!(begin["runs"], 1, "{begin}");
    assert!(begin["seed"].is_u64(), "{begin}");
    let [result] = &verified.messages("verified")[..] else {
        panic!("{verified}")
    };
    assert_eq!(result["status"], "ok");
    assert_eq!(result["draws"], 1, "no input is random");
    assert_eq!(result["problem"]["n"], 256);
    assert_eq!(result["kernel"], "cltune_e2e_verify_right::run");
    // Where there is nothing to measure, the other problems are measured all the same.
    let some = project
        .cltune(&["rules", "--problem", "n=0", "--problem", "n=256"])
        .expect_code(1);
    let some = some.expect_stderr(&["cltune_e2e_verify_right::run for n = 0 on "]);
    let _ = some
        .expect_stderr(&["no configuration"])
        .expect_stdout(&["n = 256"]);
}

/// Draws are run some dozens at a time, since memory does not hold all.
#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_between_draws() {
    let kernel =
        "__kernel void run(const uint n, __global int* y) { y[get_global_id(0)] = (int)n; }";
    let project = samples::inline("cltune-e2e-verify-interrupt", "params(A = [1, 2])", kernel);
    let arguments = ["verify", "--problem", "n=1048576", "--draws", "65535"];
    let mut running = Running::start(&mut project.cltune_command(&arguments));
    running.wait_for("inputs: seed");
    running.signal("INT");
    let ended = running.end().expect_code(130);
    let _ = ended.expect_stdout(&["0 right, 0 not; interrupted after 0 of "]);
}

#[test]
fn what_is_wrong_on_larger_problems_only_is_found() {
    let project = tuned("cltune-e2e-verify-larger", 1);
    let verified = project.cltune(&["verify"]).expect_code(1);
    let _ = verified.expect_stdout(&[
        "wrong-result",
        "y[300] is never written (212 of 512",
        "2 right, 1 not",
    ]);
    let small = ["verify", "--problem", "n=200", "--problem", "n=300"];
    let _ = project.cltune(&small).expect_code(0);
    let _ = project
        .cltune(&["verify", "--problem", "n=301"])
        .expect_code(1);
}

#[test]
fn what_is_wrong_on_uneven_problems_only_is_found_where_the_constraints_allow_them() {
    let project = tuned("cltune-e2e-verify-uneven", 5);
    let verified = project.cltune(&["verify"]).expect_code(1);
    let _ = verified.expect_stdout(&[
        "n = 251 (uneven)",
        "y[250] is never written (1 of 251",
        "2 right, 1 not",
        "`constraints(n % 4 == 0)`",
    ]);
    let arguments = ["verify", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(1);
    let results = verified.messages("verified");
    let found: Vec<_> = results
        .iter()
        .map(|result| {
            let word = |name: &str| result[name].as_str().unwrap_or_default();
            let n = result["problem"]["n"].as_i64().unwrap_or_default();
            (n, word("purpose"), word("status"))
        })
        .collect();
    let expected = [
        (256, "own", "ok"),
        (512, "larger", "ok"),
        (251, "uneven", "wrong-result"),
    ];
    assert_eq!(found, expected, "{verified}");

    // What the kernel is not meant for is not run, and nothing is said about it.
    let problems = |project: &Project| -> Vec<i64> {
        let verified = project.cltune(&arguments).expect_code(0);
        let begin = &verified.messages("verification")[0];
        assert_eq!(begin["left_out"], serde_json::json!([]), "{verified}");
        let results = verified.messages("verified");
        let sizes = results.iter().filter_map(|of| of["problem"]["n"].as_i64());
        sizes.collect()
    };
    let limited = |name: &str, condition: &str| {
        let clauses = format!("params(A = [5]), constraints({condition})");
        samples::inline(name, &clauses, KERNEL)
    };
    let project = limited("cltune-e2e-verify-even", "n % 64 == 0");
    assert_eq!(problems(&project), [256, 512, 192]);
    let project = limited("cltune-e2e-verify-powers", "n == 256 || n == 512");
    assert_eq!(problems(&project), [256, 512]);
}

#[test]
fn every_way_of_being_wrong_is_reported() {
    let project = tuned("cltune-e2e-verify-wrong", 2);
    let expected = [
        (2, "wrong-result", "y[7] is 3"),
        (3, "wrong-result", "written right after its end"),
        (4, "crashed", "the worker process ended"),
    ];
    let mut before = 2;
    for (value, status, detail) in expected {
        let values = |value| format!("values = [{value}]");
        project.edit("cltune.lock", &values(before), &values(value));
        before = value;
        let arguments = ["verify", "--message-format", "json", "--larger", "1"];
        let verified = project.cltune(&arguments).expect_code(1);
        let result = &verified.messages("verified")[0];
        assert_eq!(result["status"], status, "{result}");
        let text = result["detail"].as_str().unwrap_or_default();
        assert!(text.contains(detail), "{result}");
    }
}

#[test]
fn a_larger_problem_that_has_no_reference_is_no_failure_and_the_own_is() {
    let kernel = "__kernel void run(const uint n, __global int* y) { y[get_global_id(0)] = n; }
        __kernel void plain(const uint n, __global int* y) {
            y[get_global_id(0)] = n;
            if (n > 300 && get_global_id(0) == 0) y[n] = 1;
        }";
    let clauses = "params(A = [0, 1]), reference(kernel = \"plain\", global(n))";
    let project = samples::inline("cltune-e2e-verify-not-run", clauses, kernel);
    let _ = project.cltune(&["tune", "--device", "0"]).expect_code(0);
    let verified = project.cltune(&["verify"]).expect_code(0);
    let _ = verified.expect_stdout(&[
        "not-run",
        "the reference is wrong",
        "2 right, 0 not, 1 not run",
    ]);
    let verified = project
        .cltune(&["verify", "--problem", "n=512"])
        .expect_code(1);
    let _ = verified.expect_stdout(&["0 right, 0 not, 1 not run"]);
}

#[test]
fn what_cannot_be_verified_says_why() {
    let project = samples::inline("cltune-e2e-verify-none", "params(A = [0])", KERNEL);
    let _ = project
        .cltune(&["tune", "--strategy", "full", "--device", "0"])
        .expect_code(0);
    let _ = project
        .cltune(&["verify", "--kernel", "other"])
        .expect_code(2)
        .expect_stderr(&["`other`", "cltune_e2e_verify_none::run"]);
    let _ = project
        .cltune(&["verify", "--problem", "m=3"])
        .expect_code(2)
        .expect_stderr(&["has no dimension `m`"]);
    // No configuration is valid for it, thus none is right.
    let _ = project
        .cltune(&["verify", "--problem", "n=0"])
        .expect_code(1)
        .expect_stdout(&[
            "not run: cltune_e2e_verify_none::run (A = 0; ",
            "0 right, 0 not",
        ]);

    // A device that is not here.
    let lockfile = project.read("cltune.lock");
    let name = lockfile.lines().find(|line| line.starts_with("name = "));
    project.edit(
        "cltune.lock",
        name.expect("a device"),
        "name = \"Abacus 9\"",
    );
    let _ = project.cltune(&["verify"]).expect_code(0).expect_stdout(&[
        "not run: what was tuned on Abacus 9",
        "A = 0 (not tuned here: tuned on a",
        "3 right, 0 not",
    ]);

    // A kernel that has changed.
    project.write("cltune.lock", lockfile);
    project.edit("src/lib.rs", "Nobody noticed", "Nobody saw");
    let _ = project.cltune(&["verify"]).expect_code(1).expect_stdout(&[
        "stale: cltune_e2e_verify_none::run",
        "A = 0 (not tuned: the first valid configuration)",
    ]);
}

#[test]
fn what_was_never_tuned_is_verified_as_it_would_be_launched() {
    let kernel = "__kernel void plain(const uint n, __global int* y) { y[get_global_id(0)] = n; }
        __kernel void run(const uint n, __global int* y) {
            const size_t i = get_global_id(0);
            y[i] = A == 1 && i == 7 ? 3 : (int)n;
        }";
    let clauses = "params(A = [0, 1]), defaults(A = 1), reference(kernel = \"plain\", global(n))";
    let project = samples::inline("cltune-e2e-verify-untuned", clauses, kernel);
    let verified = project.cltune(&["verify"]).expect_code(1);
    let _ = verified.expect_stdout(&[
        "A = 1 (not tuned: the declared default)",
        "y[7] is 3",
        "0 right, 3 not",
    ]);
    let arguments = ["verify", "--problem", "n=128", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(1);
    let [result] = &verified.messages("verified")[..] else {
        panic!("{verified}")
    };
    assert_eq!(result["status"], "wrong-result", "{result}");
    assert_eq!(result["rule"], "the declared default", "{result}");
    assert_eq!(result["problem"]["n"], 128, "{result}");
    assert!(result["tuned_on"].is_null(), "{result}");

    project.edit("src/lib.rs", "defaults(A = 1)", "defaults(A = 0)");
    let verified = project.cltune(&["verify"]).expect_code(0);
    assert!(!verified.stdout.contains("own reference"), "{verified}");
    let none = project
        .cltune(&["verify", "--problem", "n=0"])
        .expect_code(1);
    let _ = none.expect_stdout(&["it is not tuned, and no configuration is valid"]);
    // It is not in the lockfile afterwards, and a comparison of rules needs results.
    let none = project.cltune(&["rules"]).expect_code(2);
    let _ = none.expect_stderr(&["nothing is tuned", "cltune_e2e_verify_untuned::run"]);
    project.edit(
        "src/lib.rs",
        "tune(",
        "tune_if(device.compute_units < 0), tune(",
    );
    let none = project.cltune(&["verify"]).expect_code(2);
    let _ = none.expect_stderr(&["nothing to verify", "--problem"]);
}
