//! Values of parameters that are not plain integers, through everything that writes and reads them.

use cltune_tests::Project;

const FRACTIONS: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- 2 * x, a share of it in one way and the rest in another
#[tunable(
    params(SHARE = [0.25, 0.5, 1.0], WG = [2, 4]),
    constraints(SHARE > 0.25 || WG == 4),
    global(n), local(WG),
    tune(n = 64),
    defaults(SHARE = 1.0, WG = 4),
)]
pub fn doubled(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void doubled(const uint n, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        y[i] = i < (uint)(n * (float)SHARE) ? x[i] + x[i] : 2 * x[i];
    }"
}
"#;

const PROGRAM: &str = r#"
mod tunables;
use cltune::{Buffer, Device, Queue, Result};
use tunables::doubled;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &[1.5; 64])?;
    let mut y = Buffer::new(queue.context(), 64)?;
    doubled(&queue, 64, &x, &mut y)?;
    assert_eq!(y.read(&queue)?, [3.0; 64]);
    let chosen = doubled::select(&Device::select()?, doubled::Problem { n: 64 })?;
    let share: f64 = chosen.params.SHARE;
    println!("{share:?} of {}", doubled::BAKED.len());
    assert!(doubled::BAKED.iter().all(|baked| baked.params.SHARE == share));
    Ok(())
}
"#;

#[test]
fn fractions_are_numbers_in_every_file_and_output() {
    let project = Project::new("cltune-e2e-fractions")
        .file("src/tunables.rs", FRACTIONS)
        .file("src/main.rs", PROGRAM);
    let list = project.cltune(&["list"]).expect_code(0);
    let _ = list.expect_stdout(&["SHARE = 0.25, 0.5, 1.0", "5 of 6 configurations are valid"]);
    let tune = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&tune).expect_code(0);
    let configurations = tuned.messages("configuration");
    assert_eq!(configurations.len(), 5, "{tuned}");
    let share = |values: &serde_json::Value| values[0].as_f64().expect("a number");
    for configuration in &configurations {
        assert!(
            [0.25, 0.5, 1.0].contains(&share(&configuration["values"])),
            "{configuration}"
        );
        assert!(configuration["values"][0].is_f64(), "{configuration}");
    }
    let best = &tuned.messages("finished")[0]["values"];
    let lockfile = project.read("cltune.lock");
    assert!(
        lockfile.contains(&format!("values = [{}, {}]", best[0], best[1])),
        "{lockfile}"
    );
    let _ = project.cltune(&["check"]).expect_code(0);
    let run = project.run().expect_code(0);
    assert_eq!(run.stdout, format!("{:?} of 1\n", share(best)), "{run}");

    // The journal is read back: nothing is left to measure.
    let resumed = project
        .cltune(&[&tune[..], &["--resume"]].concat())
        .expect_code(0);
    assert_eq!(resumed.messages("configuration").len(), 0, "{resumed}");
    for command in [
        &["rules"][..],
        &["verify"],
        &["report", "--output", "report.html"],
    ] {
        let _ = project.cltune(command).expect_code(0);
    }
    assert!(project.read("report.html").contains("SHARE = "));
    for (format, text) in [
        ("csv", "\n0.25,4,"),
        ("kernel-tuner", "\"SHARE\": [0.25,0.5,1.0]"),
        ("t4", "\"SHARE\":0.25"),
    ] {
        let file = format!("results.{format}");
        let export = ["export", "--format", format, "--output", &file];
        let _ = project.cltune(&export).expect_code(0);
        let exported = project.read(&file);
        assert!(exported.contains(text), "{exported}");
        let import = ["report", "--import", &file, "--output", "imported.html"];
        let _ = project.cltune(&import).expect_code(0);
        assert!(project.read("imported.html").contains("SHARE = "));
    }
    let space = [
        "simulate",
        "results.csv",
        "--strategy",
        "bayes",
        "--budget",
        "4",
    ];
    let _ = project.cltune(&space).expect_code(0);
}

const PER_DEVICE: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- 2 * x, in blocks
#[tunable(
    params(BLOCKS = [1, device.compute_units, 7 * device.compute_units], FAST = [false, true]),
    options("-cl-fast-relaxed-math" if FAST, "-DGIVEN" if BLOCKS > 1),
    global(BLOCKS), local(1),
    tune(n = 64),
    defaults(BLOCKS = 1, FAST = false),
)]
pub fn doubled(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void doubled(const uint n, __global const float* x, __global float* y) {
    #if defined(GIVEN) != (BLOCKS > 1)
        not_what_was_declared
    #endif
        for (uint i = get_group_id(0); i < n; i += BLOCKS) y[i] = 2 * x[i];
    }"
}
"#;

const BLOCKS: &str = r#"
mod tunables;
use cltune::{Buffer, Device, Queue, Result};
use tunables::doubled;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &[1.5; 64])?;
    let mut y = Buffer::new(queue.context(), 64)?;
    doubled(&queue, 64, &x, &mut y)?;
    assert_eq!(y.read(&queue)?, [3.0; 64]);
    let device = Device::select()?;
    let problem = doubled::Problem { n: 64 };
    let chosen = doubled::select(&device, problem)?.params.BLOCKS;
    println!("{} {chosen}", device.info().limits.compute_units);
    println!("{}", doubled::explain(&queue, problem)?);
    Ok(())
}
"#;

#[test]
fn values_and_options_may_depend_on_the_device_and_on_parameters() {
    let project = Project::new("cltune-e2e-per-device")
        .file("src/tunables.rs", PER_DEVICE)
        .file("src/main.rs", BLOCKS);
    let phones = ["--limits", "phone:compute_units=3", "--limits", "other:"];
    let list = project
        .cltune(&[&["list"][..], &phones].concat())
        .expect_code(0);
    let _ = list.expect_stdout(&[
        "BLOCKS = 1, device.compute_units, 7 * device.compute_units",
        "phone: n = 64: 6 of 6 configurations are valid",
        "other: n = 64: 2 of 2 configurations are valid",
        "values of parameters that need them are left out: device.compute_units",
    ]);
    let tune = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&tune).expect_code(0);
    let configurations = tuned.messages("configuration");
    for configuration in &configurations {
        assert_eq!(configuration["status"], "ok", "{configuration}");
    }
    let run = project.run().expect_code(0);
    let (units, chosen) = run
        .stdout
        .lines()
        .next()
        .and_then(|line| line.split_once(' '))
        .unwrap();
    let units: i64 = units.parse().unwrap();
    let values = if units == 1 { 2 } else { 3 };
    assert_eq!(configurations.len(), 2 * values, "{tuned}");
    let lockfile = project.read("cltune.lock");
    assert!(
        lockfile.contains(&format!("values = [{chosen}, ")),
        "{lockfile}"
    );
    for command in [
        &["check"][..],
        &["verify"],
        &["rules"],
        &["report", "--output", "page.html"],
    ] {
        let _ = project.cltune(command).expect_code(0);
    }
    let export = [
        "export",
        "--format",
        "kernel-tuner",
        "--output",
        "results.json",
    ];
    let _ = project.cltune(&export).expect_code(0);
    let exported = project.read("results.json");
    assert!(
        exported.contains(&7.to_string()) && exported.contains(&(7 * units).to_string()),
        "{exported}"
    );

    // Results of a machine with another number of compute units are passed over, with the reason.
    let elsewhere = format!("values = [{}, ", 7 * units + 1);
    project.edit("cltune.lock", &format!("values = [{chosen}, "), &elsewhere);
    let _ = project.cltune(&["check"]).expect_code(0);
    let run = project.run().expect_code(0);
    let run = run.expect_stdout(&["on this device: its values are 1, device.compute_units"]);
    assert!(run.stdout.starts_with(&format!("{units} 1\n")), "{run}");
}

/// Successive over-relaxation, whose number of sweeps depends on the relaxation factor: 1500 at 1.0
/// and 70 at the best factor, 2 / (1 + sin(pi / 33)) = 1.83 (Young, 1954).
const RANGES: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

/// Solves -x[i - 1] + 2 x[i] - x[i + 1] = b in each work-item
#[tunable(
    params(OMEGA = 1.0..=1.99, CHECKS = logarithmic(0.5..=64.0), WG = [1, 2, 4]),
    constraints(OMEGA < 1.95 || WG == 1),
    global(n), local(WG),
    tune(n = 16),
    defaults(OMEGA = 1.0, CHECKS = 1.5, WG = 4),
    tolerance(rel = 1e-6, abs = 1e-6),
)]
pub fn relaxed(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] b: &Buffer<f64>,
    #[arg(out, len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    "__kernel void relaxed(const uint n, __global const double* b, __global double* y) {
        const uint own = get_global_id(0);
        double x[34];
        for (int i = 0; i < 34; i++) x[i] = 0;
        double change = 1;
        for (int sweep = 1; change > 1e-12 && sweep < 100000; sweep++) {
            const bool checks = sweep % (int)ceil(CHECKS) == 0;
            if (checks) change = 0;
            for (int i = 1; i < 33; i++) {
                const double step = OMEGA * (0.5 * (b[own] + x[i - 1] + x[i + 1]) - x[i]);
                x[i] += step;
                if (checks) change = fmax(change, fabs(step));
            }
        }
        y[own] = x[16];
    }"
}
"#;

const RELAXED: &str = r#"
mod tunables;
use cltune::{Buffer, Device, Queue, Result};
use tunables::relaxed;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let b = Buffer::from_slice(&queue, &[1.0; 16])?;
    let mut y = Buffer::new(queue.context(), 16)?;
    relaxed(&queue, 16, &b, &mut y)?;
    assert!(y.read(&queue)?.iter().all(|x| (x - 136.0).abs() < 1e-6));
    let chosen = relaxed::select(&Device::select()?, relaxed::Problem { n: 16 })?;
    let (omega, checks): (f64, f64) = (chosen.params.OMEGA, chosen.params.CHECKS);
    println!("{omega:?} {checks:?}");
    let baked = relaxed::BAKED.iter().map(|baked| baked.params);
    assert!(baked.clone().all(|params| params == chosen.params) && baked.count() == 1);
    Ok(())
}
"#;

#[test]
fn numbers_of_a_range_are_tuned_and_come_back_exactly() {
    let project = Project::new("cltune-e2e-ranges")
        .file("src/tunables.rs", RANGES)
        .file("src/main.rs", RELAXED);
    let list = project.cltune(&["list", "--explain"]).expect_code(0);
    let _ = list.expect_stdout(&[
        "OMEGA = all numbers from 1.0 to 1.99 (counted as 65537 values)",
        "CHECKS = all numbers from 0.5 to 64.0, on a logarithmic scale (counted as 65537 values)",
        "OMEGA < 1.95 || WG == 1",
    ]);
    let full = project.cltune(&["tune", "--strategy", "full"]);
    let full = full.expect_stderr(&["`full` tries every configuration", "`OMEGA`"]);
    assert_ne!(full.code, Some(0), "{full}");
    // The journal is read back: nothing is left to measure.
    let drawn = [
        "tune",
        "--strategy",
        "random",
        "--budget",
        "6",
        "--no-warm-start",
    ];
    let drawn = [&drawn[..], &["--message-format", "json"]].concat();
    let first = project.cltune(&drawn).expect_code(0);
    assert_eq!(first.messages("configuration").len(), 6, "{first}");
    let resumed = project
        .cltune(&[&drawn[..], &["--resume"]].concat())
        .expect_code(0);
    assert_eq!(resumed.messages("configuration").len(), 0, "{resumed}");

    let tune = [
        "tune",
        "--budget",
        "30",
        "--seed",
        "1",
        "--message-format",
        "json",
    ];
    let tuned = project.cltune(&tune).expect_code(0);
    let configurations = tuned.messages("configuration");
    assert_eq!(configurations.len(), 30, "{tuned}");
    assert_eq!(
        configurations[0]["values"],
        serde_json::json!([1.0, 1.5, 4])
    );
    for configuration in &configurations {
        assert_eq!(configuration["status"], "ok", "{configuration}");
    }
    // The default takes twenty times as many sweeps as the best.
    let best = &tuned.messages("finished")[0]["values"];
    let omega = best[0].as_f64().expect("a number");
    assert!((1.6..1.95).contains(&omega), "{best}");
    let lockfile = project.read("cltune.lock");
    let values = format!("values = [{}, {}, {}]", best[0], best[1], best[2]);
    assert!(lockfile.contains(&values), "{lockfile}");
    let _ = project.cltune(&["check"]).expect_code(0);
    let run = project.run().expect_code(0);
    assert_eq!(run.stdout, format!("{} {}\n", best[0], best[1]), "{run}");

    for command in [
        &["rules"][..],
        &["verify"],
        &["report", "--output", "report.html"],
    ] {
        let _ = project.cltune(command).expect_code(0);
    }
    let report = project.read("report.html");
    // Parts of the range are compared, and not single numbers.
    assert!(report.contains("OMEGA = 1.0 to 1.12375"), "{report}");
    assert!(report.contains(&format!("OMEGA = {}", best[0])), "{report}");
    for (format, text) in [
        ("csv", format!("\n{},{},{},", best[0], best[1], best[2])),
        (
            "kernel-tuner",
            format!("\"OMEGA\": {}, \"CHECKS\": {}", best[0], best[1]),
        ),
        ("t4", format!("\"OMEGA\":{}", best[0])),
    ] {
        let file = format!("results.{format}");
        let export = ["export", "--format", format, "--output", &file];
        let _ = project.cltune(&export).expect_code(0);
        let exported = project.read(&file);
        assert!(exported.contains(&text), "{exported}");
        assert!(exported.len() < 100_000, "only what occurs is listed");
        let import = ["report", "--import", &file, "--output", "imported.html"];
        let _ = project.cltune(&import).expect_code(0);
        assert!(
            project
                .read("imported.html")
                .contains(&format!("OMEGA = {}", best[0]))
        );
    }
    let shown = project.cltune(&["show", "relaxed", "--config", "OMEGA=1.2500000001,WG=1"]);
    let _ = shown.expect_code(0).expect_stdout(&["OMEGA 1.2500000001"]);
    let beyond = project.cltune(&["show", "relaxed", "--config", "OMEGA=2.5"]);
    let _ = beyond.expect_stderr(&["`OMEGA` has no value `2.5`"]);

    // A person may write any number of the range, and none beyond it.
    project.edit(
        "cltune.lock",
        &values,
        "values = [1.7320508, 0.6666666666666666, 2]",
    );
    let _ = project.cltune(&["check"]).expect_code(0);
    let run = project.run().expect_code(0);
    assert_eq!(run.stdout, "1.7320508 0.6666666666666666\n", "{run}");
    project.edit("cltune.lock", "values = [1.7320508", "values = [2.5");
    let check = project.cltune(&["check"]);
    assert_ne!(check.code, Some(0), "{check}");
}
