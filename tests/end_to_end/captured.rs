//! Tuning what a running program launches, with its data.

use cltune_tests::{Output, Project, is_left_to_full, tools};
use serde_json::Value;

/// Which value of `FOR` is fast depends on the data: `FOR` = 1 where the flag is 1000, which random
/// inputs never are, else `FOR` = 0.
const PROGRAM: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(FOR = [0, 1]), defaults(FOR = 0), global(n), tune(n = 64),
    reference = default, tolerance(rel = 0.0, abs = 0.0),
)]
pub fn work(
    queue: &Queue, n: u32, #[arg(value = 1)] shift: i32, #[arg(value = 1)] pair: [i32; 2],
    #[arg(len = n)] flags: &Buffer<i32>,
    #[arg(len = n)] y: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void work(const uint n, const int shift, const int2 pair, __global const int* flags,
                        __global int* y) {
        const size_t i = get_global_id(0);
        const int is_real = flags[0] == 1000 && shift == 7 && pair.x == -1 && pair.y == 2;
        float waste = i;
        if (is_real != FOR)
            for (int k = 0; k < 4000; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        y[i] += waste > 1e30f ? 0 : flags[i] + shift;
    }"
}

#[tunable(params(A = [0, 1]), global(n), tune(n = 64))]
pub fn other(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void other(const uint n, __global int* y) { y[get_global_id(0)] = (int)n; }"
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    for n in [256_u32, 4096] {
        let flags = Buffer::from_slice(&queue, &vec![1000; n as usize])?;
        let mut y = Buffer::from_slice(&queue, &vec![1; n as usize])?;
        for _ in 0..3 {
            work(&queue, n, 7, [-1, 2], &flags, &mut y)?;
        }
        // What was captured before the first launch is not what it has written.
        assert_eq!(y.read(&queue)?, vec![1 + 3 * 1007; n as usize]);
    }
    let mut y = Buffer::new(queue.context(), 128)?;
    other(&queue, 128, &mut y)?.wait()
}
"#;

#[test]
fn what_a_program_launches_is_tuned_with_its_data() {
    let project = Project::new("cltune-e2e-captured").file("src/main.rs", PROGRAM);
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");

    // Without the variable nothing is written; two processes add up.
    let _ = project.run().expect_code(0);
    assert!(!folder.exists());
    let _ = project
        .run_with(&[("CLTUNE_CAPTURE", launches)])
        .expect_code(0);
    let _ = project
        .run_with(&[("CLTUNE_CAPTURE", launches), ("CLTUNE_CAPTURE_DATA", "1")])
        .expect_code(0);

    // A tuned problem of one kernel of two: the most expensive first.
    let arguments = ["tune", "--captured", "launches", "--strategy", "full"];
    let only = [
        &arguments[..],
        &["--kernel", "work", "--message-format", "json"],
    ]
    .concat();
    let tuned = project.cltune(&only).expect_code(0);
    let problems: Vec<Value> = tuned
        .messages("finished")
        .iter()
        .map(|finished| finished["problem"]["n"].clone())
        .collect();
    assert_eq!(problems, [4096, 256], "{tuned}");
    let captured = &tuned.messages("captured")[0];
    assert_eq!(captured["problems"], 3, "{captured}");
    assert_eq!(captured["tuned"], 2, "{captured}");
    let part = |of: &str| captured[of].as_f64().expect("it is a number");
    assert!(part("covered_seconds") > 0.0 && part("covered_seconds") < part("seconds"));
    let _ = tuned.expect_stderr(&["not tuned: cltune_e2e_captured::other on"]);

    // With the captured data the other configuration is the faster one, and it is verified on it.
    let lockfile = project.read("cltune.lock");
    assert_eq!(lockfile.matches("values = [1]").count(), 2, "{lockfile}");
    let declared = project.cltune(&["tune", "--kernel", "work", "--strategy", "full"]);
    let _ = declared.expect_code(0);
    let lockfile = project.read("cltune.lock");
    assert_eq!(lockfile.matches("values = [0]").count(), 1, "{lockfile}");

    // All of it.
    let all = project.cltune(&arguments).expect_code(0);
    let _ = all.expect_stdout(&["covers 100.0 % of the captured", "3 of 3 problems"]);

    // Nothing there, and nothing that fits.
    let nothing = project
        .cltune(&["tune", "--captured", "src"])
        .expect_code(2);
    let _ = nothing.expect_stderr(&["CLTUNE_CAPTURE"]);
    project.edit("src/main.rs", "pub fn work", "pub fn task");
    project.edit("src/main.rs", "void work", "void task");
    project.edit("src/main.rs", "work(&queue", "task(&queue");
    let renamed = project.cltune(&["tune", "--captured", "launches", "--kernel", "task"]);
    let _ = renamed
        .expect_code(2)
        .expect_stderr(&["there is no such tunable"]);
}

/// Right for permutations only, which random inputs are not.
const SCATTER: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(params(A = [0, 1]), defaults(A = 0), global(n), tune(n = 64))]
pub fn scatter(
    queue: &Queue, n: u32, #[arg(len = n)] place: &Buffer<i32>, #[arg(out, len = n)] y: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void scatter(const uint n, __global const int* place, __global int* y) {
        const int i = get_global_id(0);
        y[place[i]] = A == 1 && i == 7 ? 3 : i;
    }"
}

#[tunable(params(B = [0, 1]), defaults(B = 0), global(n), tune(n = 64))]
pub fn other(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void other(const uint n, __global int* y) { y[get_global_id(0)] = (int)n; }"
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    if std::env::args().any(|argument| argument == "other") {
        let mut y = Buffer::new(queue.context(), 128)?;
        return other(&queue, 128, &mut y)?.wait();
    }
    for n in [256, 1000] {
        let places: Vec<i32> = (0..n).rev().collect();
        let mut y = Buffer::new(queue.context(), n as usize)?;
        scatter(&queue, n as u32, &Buffer::from_slice(&queue, &places)?, &mut y)?.wait()?;
    }
    Ok(())
}
"#;

/// Each verification's kernel, size, purpose and status.
fn verified(output: &Output) -> Vec<(String, i64, String, String)> {
    let results = output.messages("verified");
    let all = results.iter().map(|result| {
        let word = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
        let kernel = word("kernel");
        let kernel = kernel.rsplit(':').next().unwrap_or_default().to_owned();
        let n = result["problem"]["n"].as_i64().unwrap_or_default();
        (kernel, n, word("purpose"), word("status"))
    });
    all.collect()
}

#[test]
fn what_a_program_launches_is_verified_with_its_data() {
    if is_left_to_full() {
        return;
    }
    let project = Project::new("cltune-e2e-captured-verify").file("src/main.rs", SCATTER);
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");
    let data = [("CLTUNE_CAPTURE", launches), ("CLTUNE_CAPTURE_DATA", "1")];
    let _ = project.run_with(&data).expect_code(0);
    let tune = ["tune", "--captured", "launches", "--kernel", "scatter"];
    let _ = project.cltune(&tune).expect_code(0);

    // Random places are out of bounds.
    let _ = project
        .cltune(&["verify", "--kernel", "scatter"])
        .expect_code(1);
    let arguments = [
        "verify",
        "--captured",
        "launches",
        "--message-format",
        "json",
    ];
    let own = |n, status: &str| ("scatter".into(), n, "captured".into(), status.to_owned());
    let others = |n, purpose: &str| ("other".into(), n, purpose.to_owned(), "ok".to_owned());
    let output = project.cltune(&arguments).expect_code(0);
    let mut found = verified(&output);
    found.sort();
    // What was not captured is run as ever.
    let expected = [
        others(61, "uneven"),
        others(64, "own"),
        others(128, "larger"),
        own(256, "ok"),
        own(1000, "ok"),
    ];
    assert_eq!(found, expected, "{output}");
    let results = output.messages("verified");
    let captured = results.iter().filter(|of| of["purpose"] == "captured");
    // It is the same each time.
    assert!(captured.clone().all(|of| of["draws"] == 1), "{output}");
    assert!(captured.clone().all(|of| of["rule"].is_null()), "{output}");
    let only = ["verify", "--captured", "launches", "--kernel", "scatter"];
    let _ = project
        .cltune(&only)
        .expect_code(0)
        .expect_stdout(&["n = 256 (captured)", "2 right, 0 not"]);

    // A wrong one is wrong on it.
    project.edit("cltune.lock", "values = [0]", "values = [1]");
    let output = project.cltune(&arguments).expect_code(1);
    assert!(
        verified(&output).contains(&own(256, "wrong-result")),
        "{output}"
    );

    // Without its data a capture has problems, and the tuned ones that it lacks are named.
    let plain = project.path("plain");
    let mut command = project.command(&tools::cargo());
    command.args(["run", "--quiet", "--", "other"]);
    let _ = Output::of(command.env("CLTUNE_CAPTURE", &plain)).expect_code(0);
    let _ = project
        .cltune(&["tune", "--kernel", "other"])
        .expect_code(0);
    let only = ["verify", "--captured", "plain", "--kernel", "other"];
    let _ = project.cltune(&only).expect_code(0).expect_stdout(&[
        "tuned for n = 64): the capture has other problems of it",
        "n = 128 ",
        "n = 256 (larger)",
        "n = 127 (uneven)",
        "3 right, 0 not",
    ]);

    // Of another kernel, of another version, of nothing, and what does not go together.
    let none = project.cltune(&["verify", "--captured", "plain", "--kernel", "scatter"]);
    let _ = none.expect_code(2).expect_stderr(&[
        "no launch of the capture can be verified here",
        "there is no such tunable",
    ]);
    project.edit("src/main.rs", "i == 7 ? 3", "i == 8 ? 3");
    let changed = project.cltune(&["verify", "--captured", "launches"]);
    let _ = changed
        .expect_code(2)
        .expect_stderr(&["its data was passed to another version of the kernel; capture it again"]);
    let _ = project
        .cltune(&["verify", "--captured", "src"])
        .expect_code(2)
        .expect_stderr(&["CLTUNE_CAPTURE"]);
    for other in [&["--oclgrind"][..], &["--problem", "n=8"]] {
        let arguments = [&["verify", "--captured", "launches"], other].concat();
        let _ = project
            .cltune(&arguments)
            .expect_code(2)
            .expect_stderr(&["cannot be used with", "--captured"]);
    }
}
