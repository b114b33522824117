//! Kernels that are right, or fast, only where somebody looks: none of them wins.

use cltune_tests::{Project, samples};
use serde_json::Value;
use std::fmt::Write;

/// A package whose tunable `run` has inputs: the arguments after `n`, clauses and the kernel.
fn project(name: &str, arguments: &str, clauses: &str, kernel: &str) -> Project {
    let source = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};\n\
         #[tunable(global(n), tune(n = 256), {clauses})]\n\
         pub fn run(queue: &Queue, n: u32, {arguments}) -> Result<Event> {{\n    {kernel:?}\n}}\n"
    );
    Project::new(name).file("src/lib.rs", source)
}

/// The status and the detail of each configuration of the only parameter.
fn statuses(configurations: &[Value]) -> String {
    let mut all = String::new();
    for found in configurations {
        let detail = found["detail"].as_str().unwrap_or_default();
        let (value, status) = (&found["values"][0], &found["status"]);
        writeln!(all, "{value} {status} {detail}").unwrap();
    }
    all
}

#[test]
fn a_kernel_that_skips_work_that_is_done_is_told_and_never_chosen() {
    let kernel = "__kernel void run(const uint n, __global int* y) {
        const size_t i = get_global_id(0);
        if (A == 1 && y[i] == (int)n) return;
        float waste = i;
        // Who skips its work has the least to do: who takes much longer in a first launch that a busy
        // machine delays is given up before a second one. Yet it takes longer than such a delay.
        const int steps = A == 0 ? 100000 : A == 1 ? 30000 : 60000;
        for (int step = 0; step < steps; step++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        y[i] = waste > 1e30f ? 0 : (int)n;
    }";
    let clauses = "params(A = 0..=2), defaults(A = 0)";
    let project = samples::inline("cltune-e2e-skips-work", clauses, kernel);
    let arguments = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let all = statuses(&tuned.messages("configuration"));
    assert!(all.contains("1 \"skips-work\" it takes "), "{all}");
    assert!(all.contains("skips work that is done"), "{all}");
    let finished = &tuned.messages("finished")[0];
    assert_eq!(finished["values"], Value::from(vec![2]), "{tuned}");
    let tuned = project.cltune(&["--strategy", "full"]).expect_code(0);
    let _ = tuned.expect_stdout(&["1 skips-work"]);
    let exported = project.cltune(&["export", "--format", "t4", "--output", "t4.json"]);
    let _ = exported.expect_code(0);
    let t4 = project.read("t4.json");
    assert!(
        t4.contains("skips-work") && t4.contains("correctness"),
        "{t4}"
    );
}

/// Maxima and sums of blocks. 1 is wrong where all inputs of a block are negative, 2 where one is
/// zero, 3 where they are large, and 4 is right.
const BLOCKS: &str = "
    __kernel void plain(const uint n, __global const float* x, __global float* y) {
        const uint block = get_global_id(0) / 16 * 16;
        float sum = 0, most = x[block];
        for (uint i = block; i < block + 16; i++) { sum += x[i]; most = max(most, x[i]); }
        y[get_global_id(0)] = sum + most;
    }
    __kernel void run(const uint n, __global const float* x, __global float* y) {
        const uint block = get_global_id(0) / 16 * 16;
        float waste = block;
        for (int step = 0; step < (A == 0 ? 40000 : 20000); step++) {
            waste = waste * 0.75f + 0.125f * waste + 1.0f;
        }
        float sum = waste > 1e30f ? 1 : 0, most = A == 1 ? 0 : x[block];
        for (uint i = block; i < block + 16; i++) {
            sum += A == 2 && x[i] == 0 ? 1 : x[i];
            most = max(most, x[i]);
        }
        y[get_global_id(0)] = (A == 3 ? min(sum, 10.0f) : sum) + most;
    }";

/// The package with that kernel.
fn blocks(name: &str) -> Project {
    let arguments = "#[arg(len = n)] x: &Buffer<f32>, #[arg(out, len = n)] y: &mut Buffer<f32>";
    let clauses = "params(A = 0..=4), defaults(A = 0), reference(kernel = \"plain\", global(n))";
    project(name, arguments, clauses, BLOCKS)
}

#[test]
fn who_is_wrong_for_one_kind_of_inputs_is_never_chosen() {
    let project = blocks("cltune-e2e-kinds-tuned");
    let arguments = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let chosen = tuned.messages("finished")[0]["values"][0].as_i64();
    assert!(matches!(chosen, Some(0 | 4)), "{tuned}");
}

#[test]
fn verify_finds_who_is_wrong_for_one_kind_of_inputs() {
    let project = blocks("cltune-e2e-kinds-verified");
    let arguments = ["tune", "--budget", "1", "--device", "0"];
    let _ = project.cltune(&arguments).expect_code(0);
    let mut before = 0;
    for (value, expected) in [
        (1, "with negative inputs: y["),
        (2, "with zeros among the inputs: y["),
        (3, "with inputs near their bounds: y["),
    ] {
        let values = |value| format!("values = [{value}]");
        project.edit("cltune.lock", &values(before), &values(value));
        before = value;
        let verified = project.cltune(&["verify", "--larger", "1"]).expect_code(1);
        // The first, by how much it may differ, and how many do.
        let said = [
            "wrong-result",
            expected,
            ", the reference has ",
            " ± ",
            "of 256 elements differ",
        ];
        let _ = verified.expect_stdout(&said);
    }
    project.edit("cltune.lock", "values = [3]", "values = [4]");
    let verified = project.cltune(&["verify", "--larger", "1"]).expect_code(0);
    // Eight random draws, and those of four kinds.
    let _ = verified.expect_stdout(&["12 of 12", "1 right, 0 not"]);
}

#[test]
fn verify_says_which_kinds_of_inputs_it_could_not_use() {
    let kernel = "__kernel void run(const uint n, __global const float* x, __global float* y) {
        y[get_global_id(0)] = 1 / x[get_global_id(0)];
    }";
    let arguments = "#[arg(len = n)] x: &Buffer<f32>, #[arg(out, len = n)] y: &mut Buffer<f32>";
    let project = project("cltune-e2e-kinds-out", arguments, "params(A = [0])", kernel);
    let arguments = ["verify", "--larger", "1"];
    let verified = project.cltune(&arguments).expect_code(0);
    let _ = verified.expect_stdout(&[
        "10 of 12",
        "not run with zeros among the inputs: the reference computes infinity, or nearly, at y[",
        "not run with denormal numbers among the inputs: the reference computes",
    ]);
    let arguments = ["verify", "--larger", "1", "--message-format", "json"];
    let verified = project.cltune(&arguments).expect_code(0);
    let result = &verified.messages("verified")[0];
    assert_eq!(result["draws"], 10, "{result}");
    assert_eq!(
        result["left_out"].as_array().map(Vec::len),
        Some(2),
        "{result}"
    );
}

#[test]
fn a_file_of_the_wrong_length_is_an_error_that_names_both() {
    let kernel = "__kernel void run(const uint n, __global const int* x, __global int* y) {
        y[get_global_id(0)] = x[get_global_id(0)];
    }";
    let arguments = "#[arg(len = n, fill = file(\"data.bin\"))] x: &Buffer<i32>, \
                     #[arg(out, len = n)] y: &mut Buffer<i32>";
    let project = project(
        "cltune-e2e-file-length",
        arguments,
        "params(A = [0])",
        kernel,
    );
    for (bytes, said) in [
        (1020, "1020 bytes (255 elements of i32)"),
        (1026, "1026 bytes (256.5 elements of i32)"),
        (0, "0 bytes (0 elements of i32)"),
    ] {
        project.write("data.bin", vec![0; bytes]);
        let tuned = project.cltune(&["--device", "0"]).expect_code(1);
        let needed = "`x` has 1024 bytes (256 elements)";
        let _ = tuned.expect_stderr(&["data.bin", "`x`", said, needed]);
        assert!(!project.path("cltune.lock").exists());
    }
    project.write("data.bin", vec![7; 1024]);
    let _ = project.cltune(&["--device", "0"]).expect_code(0);
    // No input is random: there is nothing to draw twice. The file fits one size only.
    let verified = project.cltune(&["verify"]).expect_code(0);
    let _ = verified.expect_stdout(&[
        "1 of 1",
        "`x` has 2048 bytes (512 elements)",
        "1 right, 0 not, 2 not run",
    ]);
}

#[test]
fn a_default_that_differs_from_itself_says_what_that_means() {
    // Who comes first writes first.
    let kernel = "__kernel void run(const uint n, __global int* count, __global int* y) {
        for (int i = 0; i < 8192; i++) y[atomic_inc(count) % (8192 * n)] = get_global_id(0);
    }";
    let arguments = "#[arg(len = 1, fill = zeros)] count: &mut Buffer<i32>, \
                     #[arg(out, len = 8192 * n)] y: &mut Buffer<i32>";
    let clauses = "params(A = [0, 1]), local(1)";
    let project = project("cltune-e2e-itself", arguments, clauses, kernel);
    let arguments = ["tune", "--device", "0", "--message-format", "json"];
    let tuned = project.cltune(&arguments);
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        println!("SKIPPED: nothing races on one core");
        return;
    }
    let all = statuses(&tuned.messages("configuration"));
    let of_default = all.lines().find(|line| line.starts_with('0'));
    let of_default = of_default.unwrap_or_default();
    for said in [
        "wrong-result",
        "the reference is an earlier run of this same configuration",
        "races",
        "real data",
    ] {
        assert!(of_default.contains(said), "{all}");
    }
    let other = all.lines().find(|line| line.starts_with('1'));
    assert!(
        !other.unwrap_or_default().contains("same configuration"),
        "{all}"
    );
}
