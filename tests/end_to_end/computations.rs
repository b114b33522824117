//! Inputs that belong together, a reference of several launches and results of which a part is
//! compared, from their declaration to a tuned program.

use cltune_tests::Project;
use serde_json::Value;

/// The product of a sparse matrix and a vector: the starts of the rows are made of their lengths.
/// The default wastes its time, `HOW == "wrong"` forgets a row's last element, and
/// `HOW == "beside"` leaves numbers of its own in what is not compared. The last step of `prepare`
/// cannot be launched for the size that the program uses: captured data are not made again.
const TUNABLE: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    source = "kernels/product.cl",
    params(HOW = ["waste", "plain", "wrong", "beside"], WG = [8, 32]),
    global(rows), local(WG),
    defaults(HOW = "waste", WG = 8),
    tune(rows = [256, 1024]),
    prepare(
        source = "kernels/prepare.cl",
        scratch(sums: [u32; rows / 64]),
        stage(sum_lengths(lengths, sums), global(rows / 64)),
        repeat(part in 0..rows / 64, stage(scan(part as u32, lengths, sums, starts), global(1))),
        stage(last_start(rows, lengths, starts), global(if rows > 2000 { 0 } else { 1 })),
    ),
    reference(
        scratch(terms: [f32; 4 * rows]),
        clear(terms),
        stage(all_terms(values, x, starts, terms), global(rows)),
        stage(add_terms(rows, terms, y), global(rows)),
    ),
    tolerance(accumulates = 4),
)]
pub fn product(
    queue: &Queue,
    rows: u32,
    #[arg(len = rows, fill = uniform(0, 4))] lengths: &Buffer<u32>,
    #[arg(len = rows + 1, fill = prepared)] starts: &Buffer<u32>,
    #[arg(len = 4 * rows)] values: &Buffer<f32>,
    #[arg(len = rows)] x: &Buffer<f32>,
    #[arg(out, len = 2 * rows, compare = 0..rows)] y: &mut Buffer<f32>,
    #[arg(out, len = rows, compare = none)] order: &mut Buffer<u32>,
) -> Result<Event>;
"#;

const KERNEL: &str = r"
__kernel void product(const uint rows, __global const uint* lengths, __global const uint* starts,
                      __global const float* values, __global const float* x, __global float* y,
                      __global uint* order) {
    const uint row = get_global_id(0);
    uint end = starts[row + 1];
#ifdef HOW_wrong
    if (row % 7 == 3 && end > starts[row]) end--;
#endif
    float sum = 0;
    for (uint at = starts[row]; at < end; at++) sum += values[at] * x[at % rows];
#ifdef HOW_waste
    float waste = sum;
    for (int i = 0; i < 20000; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    sum += waste > 1e30f ? 1 : 0;
#endif
    y[row] = sum;
#ifdef HOW_beside
    y[rows + row] = 100 + WG;
    order[row] = WG;
#else
    y[rows + row] = sum;
    order[row] = lengths[row];
#endif
}

__kernel void all_terms(__global const float* values, __global const float* x,
                        __global const uint* starts, __global float* terms) {
    const uint row = get_global_id(0), rows = get_global_size(0);
    for (uint at = starts[row]; at < starts[row + 1]; at++)
        terms[(at - starts[row]) * rows + row] = values[at] * x[at % rows];
}

__kernel void add_terms(const uint rows, __global const float* terms, __global float* y) {
    float sum = 0;
    for (uint i = get_global_id(0); i < 4 * rows; i += rows) sum += terms[i];
    y[get_global_id(0)] = sum;
}
";

const PREPARE: &str = r"
__kernel void sum_lengths(__global const uint* lengths, __global uint* sums) {
    uint sum = 0;
    for (uint i = 0; i < 64; i++) sum += lengths[64 * get_global_id(0) + i];
    sums[get_global_id(0)] = sum;
}

__kernel void scan(const uint part, __global const uint* lengths, __global const uint* sums,
                   __global uint* starts) {
    uint start = 0;
    for (uint i = 0; i < part; i++) start += sums[i];
    for (uint i = 64 * part; i < 64 * part + 64; i++) {
        starts[i] = start;
        start += lengths[i];
    }
}

__kernel void last_start(const uint rows, __global const uint* lengths, __global uint* starts) {
    starts[rows] = starts[rows - 1] + lengths[rows - 1];
}
";

const PROGRAM: &str = r#"
use cltune::{Buffer, Queue, Result};
use cltune_e2e_computations::product;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let rows: u32 = std::env::var("ROWS").map_or(1024, |rows| rows.parse().unwrap());
    let lengths = vec![2_u32; rows as usize];
    let starts: Vec<u32> = (0..=rows).map(|row| 2 * row).collect();
    let values = vec![1.5_f32; 4 * rows as usize];
    let x = vec![2.0_f32; rows as usize];
    let lengths = Buffer::from_slice(&queue, &lengths)?;
    let starts = Buffer::from_slice(&queue, &starts)?;
    let values = Buffer::from_slice(&queue, &values)?;
    let x = Buffer::from_slice(&queue, &x)?;
    let mut y = Buffer::new(queue.context(), 2 * rows as usize)?;
    let mut order = Buffer::new(queue.context(), rows as usize)?;
    let problem = product::Problem { rows: rows.into() };
    let begin = std::time::Instant::now();
    // Until tuning with these calls has ended, where they tune.
    for call in 1.. {
        product(&queue, rows, &lengths, &starts, &values, &x, &mut y, &mut order)?.wait()?;
        let is_last = call % 100 == 1
            && !product::explain(&queue, problem)?.to_string().contains("tuning");
        if is_last || begin.elapsed().as_secs() > 60 {
            break;
        }
    }
    assert!(y.read(&queue)?[..rows as usize].iter().all(|y| *y == 6.0));
    println!("selected: {}", product::select(queue.device(), problem)?);
    println!("{}", product::explain(&queue, problem)?);
    Ok(())
}
"#;

fn project(name: &str) -> Project {
    Project::new(name)
        .file("src/lib.rs", TUNABLE)
        .file(
            "src/main.rs",
            PROGRAM.replace("cltune_e2e_computations", &name.replace('-', "_")),
        )
        .file("kernels/product.cl", KERNEL)
        .file("kernels/prepare.cl", PREPARE)
}

#[test]
fn prepared_inputs_are_tuned_and_verified() {
    let project = project("cltune-e2e-computations");
    let listed = project.cltune(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["8 of 8 configurations are valid"]);
    let full = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&full).expect_code(0);
    let found = tuned.messages("configuration");
    assert_eq!(found.len(), 16, "{tuned}");
    for message in &found {
        let is_wrong = message["values"].to_string().contains("wrong");
        let status = message["status"].as_str().unwrap_or_default();
        assert_eq!(
            status,
            if is_wrong { "wrong-result" } else { "ok" },
            "{message}"
        );
        let detail = message["detail"].as_str().unwrap_or_default();
        assert_eq!(is_wrong, detail.starts_with("y["), "{message}");
    }
    for finished in tuned.messages("finished") {
        let how = finished["values"][0].as_str().unwrap_or_default();
        assert!(["plain", "beside"].contains(&how), "{finished}");
    }
    let _ = project.cltune(&["check"]).expect_code(0);

    // On other draws, larger problems, and under Oclgrind.
    let verify = ["verify", "--message-format", "json"];
    let verified = project.cltune(&verify).expect_code(0);
    assert!(
        verified
            .messages("verified")
            .iter()
            .any(|verified| verified["status"] == "ok" && verified["purpose"] == "own"),
        "{verified}"
    );
    if super::oclgrind::is_installed() {
        let simulated = project.cltune(&["verify", "--oclgrind"]).expect_code(0);
        let _ = simulated.expect_stdout(&[" right, 0 not"]);
        // What makes inputs is watched as the reference is.
        project.edit(
            "kernels/prepare.cl",
            "starts[rows] = ",
            "starts[rows] = (lengths[rows] == 12345 ? 1 : 0) + ",
        );
        let simulated = project.cltune(&["verify", "--oclgrind", "--message-format", "json"]);
        let findings: Vec<Value> = simulated
            .messages("verified")
            .iter()
            .flat_map(|verified| verified["findings"].as_array().cloned().unwrap_or_default())
            .collect();
        assert!(!findings.is_empty(), "{simulated}");
        for finding in &findings {
            assert_eq!(finding["in_reference"], true, "{finding}");
            assert_eq!(finding["kernel_function"], "last_start", "{finding}");
        }
    }

    // Values apply whatever makes inputs, and were verified by other rules.
    project.edit("src/lib.rs", "compare = 0..rows", "compare = 1..rows");
    let checked = project.cltune(&["check"]).expect_code(0);
    let _ = checked.expect_stdout(&["verified by other rules than today's"]);
}

#[test]
fn captured_data_are_what_they_are() {
    if cltune_tests::is_left_to_full() {
        return;
    }
    let project = project("cltune-e2e-computations-live");
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");
    let capture = [
        ("CLTUNE_CAPTURE", launches),
        ("CLTUNE_CAPTURE_DATA", "1"),
        ("ROWS", "4096"),
    ];
    let _ = project.run_with(&capture).expect_code(0);
    let arguments = ["tune", "--captured", "launches", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let finished = tuned.messages("finished");
    assert_eq!(finished.len(), 1, "{tuned}");
    assert_eq!(finished[0]["problem"]["rows"], 4096, "{tuned}");
    let verified = project.cltune(&["verify", "--captured", "launches"]);
    let _ = verified.expect_code(0).expect_stdout(&["1 right"]);
    // Without data the inputs of that size would have to be made.
    let sized = ["verify", "--problem", "rows=4096"];
    let refused = project.cltune(&sized);
    let said = format!("{refused}");
    assert!(said.contains("`prepare(…)` fails, in "), "{said}");
    std::fs::remove_file(project.path("cltune.lock")).expect("it was written");

    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        manifest.replace("features = [", "features = [\"tuning\", "),
    );
    for (cache, policy) in [("cache", "tune-once:8"), ("other-cache", "online:60s")] {
        let cache = project.path(cache);
        let cache = cache.to_str().expect("it is text");
        let variables = [("CLTUNE_CACHE", cache), ("CLTUNE_POLICY", policy)];
        let ran = project.run_with(&variables).expect_code(0);
        let selected = format!("{ran}");
        assert!(
            selected.contains("selected: HOW = plain")
                || selected.contains("selected: HOW = beside"),
            "{policy}: {ran}"
        );
    }
}
