//! Groups of launches, from their declaration to a tuned program: every command, and tuning at run
//! time.

use cltune_tests::{Output, Project};
use serde_json::Value;

/// The sums of a picture's rows, then their sum; the default wastes its time in the first stage, a
/// few times what the launches take, so that noise does not hide it.
/// `HOW == "wrong"` reads scratch memory that nothing has written, and `HOW == "beyond"` writes
/// beyond it.
const TUNABLE: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    source = "kernels/sum.cl",
    params(HOW = ["waste", "plain", "wrong", "beyond"], ROWS = [4, 16]),
    constraints(n % ROWS == 0),
    scratch(sums: [i32; ROWS]),
    stages(
        clear(total),
        stage(row_sums((n / ROWS) as u32, x, sums), global(ROWS)),
        repeat(row in 0..ROWS, stage(add_row(row as u32, sums, total), global(1))),
    ),
    defaults(HOW = "waste", ROWS = 4),
    reference(kernel = "reference", global(1)),
    tune(n = [256, 4096]),
    bytes(4 * n),
)]
pub fn sum(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = uniform(-9, 9))] x: &Buffer<i32>,
    #[arg(out, len = 1)] total: &mut Buffer<i32>,
) -> Result<Event>;
"#;

const KERNEL: &str = r"
__kernel void row_sums(const uint width, __global const int* x, __global int* sums) {
    const uint row = get_global_id(0);
    int sum = 0;
    for (uint i = row * width; i < (row + 1) * width; i++) sum += x[i];
#ifdef HOW_waste
    float waste = sum;
    for (int i = 0; i < 100000; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    sum += waste > 1e30f ? 1 : 0;
#endif
#ifdef HOW_wrong
    if (row == 1) return;
#endif
#ifdef HOW_beyond
    if (row == 0) sums[ROWS] = 1;
#endif
    sums[row] = sum;
}

__kernel void add_row(const uint row, __global const int* sums, __global int* total) {
    *total += sums[row];
}

__kernel void reference(const uint n, __global const int* x, __global int* total) {
    int sum = 0;
    for (uint i = 0; i < n; i++) sum += x[i];
    *total = sum;
}
";

const PROGRAM: &str = r#"
use cltune::{Buffer, Queue, Result};
use cltune_e2e_groups::sum;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let n = 4096;
    let x: Vec<i32> = (0..n).collect();
    let right: i32 = x.iter().sum();
    let x = Buffer::from_slice(&queue, &x)?;
    let mut total = Buffer::new(queue.context(), 1)?;
    let problem = sum::Problem { n: n.into() };
    let begin = std::time::Instant::now();
    // Until tuning with these calls has ended, where they tune.
    for call in 1.. {
        sum(&queue, n as u32, &x, &mut total)?.wait()?;
        let is_last = call % 100 == 1
            && !sum::explain(&queue, problem)?.to_string().contains("tuning");
        if is_last || begin.elapsed().as_secs() > 60 {
            break;
        }
    }
    assert_eq!(total.read(&queue)?, [right]);
    let given = sum::Params { HOW: sum::HOW::plain, ROWS: 16 };
    sum::launch_with(&given, &queue, n as u32, &x, &mut total)?.wait()?;
    assert_eq!(total.read(&queue)?, [right]);
    println!("selected: {}", sum::select(queue.device(), problem)?);
    println!("{}", sum::explain(&queue, problem)?);
    Ok(())
}
"#;

fn project(name: &str) -> Project {
    Project::new(name)
        .file("src/lib.rs", TUNABLE)
        .file(
            "src/main.rs",
            PROGRAM.replace("cltune_e2e_groups", &name.replace('-', "_")),
        )
        .file("kernels/sum.cl", KERNEL)
}

/// The values of each configuration that was measured, and its message.
fn configurations(output: &Output) -> Vec<(String, Value)> {
    let messages = output.messages("configuration").into_iter();
    messages
        .map(|message| (message["values"].to_string(), message))
        .collect()
}

#[test]
fn a_group_is_tuned_verified_and_baked() {
    let project = project("cltune-e2e-groups");
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["HOW = waste, ROWS = 4 (the declared default)"]);
    let listed = project.cltune(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["cltune_e2e_groups::sum", "8 of 8 configurations are valid"]);

    // Every configuration; the wrong ones are found out, each for its reason.
    let full = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&full).expect_code(0);
    let found = configurations(&tuned);
    assert_eq!(found.len(), 16, "{tuned}");
    for (values, message) in &found {
        let status = message["status"].as_str().unwrap_or_default();
        let is_right = values.contains("waste") || values.contains("plain");
        assert_eq!(status == "ok", is_right, "{message}");
        let detail = message["detail"].as_str().unwrap_or_default();
        if values.contains("wrong") {
            assert!(detail.contains("total"), "{message}");
        }
        if values.contains("beyond") {
            assert!(detail.contains("sums"), "{message}");
        }
        // The rounds of a stage are one row.
        if is_right {
            let stages = message["stages"].as_array().expect("a group has stages");
            let names = stages
                .iter()
                .map(|stage| stage["stage"].as_str().unwrap_or_default());
            assert_eq!(names.collect::<Vec<_>>(), ["clear", "row_sums", "add_row"]);
            let rows = if values.contains("16") { 16 } else { 4 };
            assert_eq!(stages[2]["launches"], rows, "{message}");
        }
    }
    for finished in tuned.messages("finished") {
        assert_eq!(finished["values"][0], "plain", "{finished}");
    }
    let lockfile = project.read("cltune.lock");
    assert_eq!(lockfile.matches("\"plain\"").count(), 2, "{lockfile}");

    // Nothing is measured again, and nothing is stale.
    let resumed = project.cltune(&["tune", "--resume", "--message-format", "json"]);
    assert_eq!(configurations(&resumed.expect_code(0)), []);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project.cltune(&["rules"]).expect_code(0);
    let verified = project
        .cltune(&["verify", "--message-format", "json"])
        .expect_code(0);
    assert!(verified.messages("verified").len() >= 2, "{verified}");
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["selected: HOW = plain", "for this problem"]);

    let report = project
        .cltune(&["report", "--output", "report.html"])
        .expect_code(0);
    let page = project.read("report.html");
    assert!(
        page.contains("The stages of a call") && page.contains("add_row"),
        "{report}"
    );

    // A stage that changes makes the values stale.
    project.edit("src/lib.rs", "clear(total),", "clear(total), clear(sums),");
    let _ = project.cltune(&["check"]).expect_code(1);
}

#[test]
fn a_group_is_captured_and_tuned_at_run_time() {
    let project = project("cltune-e2e-groups-live");
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");
    let data = [("CLTUNE_CAPTURE", launches), ("CLTUNE_CAPTURE_DATA", "1")];
    let _ = project.run_with(&data).expect_code(0);
    let arguments = ["tune", "--captured", "launches", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let problems: Vec<Value> = tuned
        .messages("finished")
        .iter()
        .map(|finished| finished["problem"]["n"].clone())
        .collect();
    assert_eq!(problems, [4096], "{tuned}");
    if cltune_tests::is_left_to_full() {
        // All dependencies are built once more, with other features.
        return;
    }
    std::fs::remove_file(project.path("cltune.lock")).expect("it was written");

    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        manifest.replace("features = [", "features = [\"tuning\", "),
    );
    let cache = project.path("cache");
    let cache = cache.to_str().expect("it is text");
    let once = [("CLTUNE_CACHE", cache), ("CLTUNE_POLICY", "tune-once:20")];
    let _ = project
        .run_with(&once)
        .expect_code(0)
        .expect_stdout(&["selected: HOW = plain"]);
    // Results are compared while calls tune, and nothing watches memory that no result shows.
    project.edit("src/lib.rs", ", \"beyond\"", "");
    let other = project.path("other-cache");
    let other = other.to_str().expect("it is text");
    let online = [("CLTUNE_CACHE", other), ("CLTUNE_POLICY", "online:60s")];
    let _ = project
        .run_with(&online)
        .expect_code(0)
        .expect_stdout(&["HOW = plain"]);
}

#[test]
fn a_group_with_an_unsound_stage_is_objected_to() {
    if !super::oclgrind::is_installed() {
        return;
    }
    let project = project("cltune-e2e-groups-oclgrind");
    let _ = project.cltune(&["verify", "--oclgrind"]).expect_code(0);
    project.edit(
        "kernels/sum.cl",
        "*total += sums[row];",
        "*total += sums[row] + (sums[row + ROWS] == 12345 ? 1 : 0);",
    );
    let verified = project.cltune(&["verify", "--oclgrind"]);
    let _ = verified.expect_code(1).expect_stdout(&["add_row"]);
}
