//! `cargo cltune simulate` as its users see it, on recordings made here.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn simulate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-cltune"))
        .args(["cltune", "simulate"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// A folder with the recording of a bowl, fastest at `best`; every seventh configuration fails.
struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let recorded = Self { folder };
        recorded.bowl("here.csv", 9);
        recorded
    }

    fn bowl(&self, name: &str, best: i64) {
        let mut lines = vec!["X,Y,time_ms,error".to_owned()];
        for x in 0..20_i64 {
            for y in 0..20_i64 {
                let time = ((x - best).pow(2) + (y - best).pow(2) + 10) as f64 / 10.0;
                match (x + 3 * y) % 7 {
                    5 => lines.push(format!("{x},{y},,crash")),
                    _ => lines.push(format!("{x},{y},{time},")),
                }
            }
        }
        self.write(name, &lines.join("\n"));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the file is written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }
}

fn stdout(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(output: &Output, texts: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    for text in texts {
        assert!(stderr.contains(text), "{text} is not in {stderr}");
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file was written")
}

#[test]
fn figures_traces_and_plots_of_several_strategies_follow_from_the_seed() {
    let recorded = Recorded::new();
    let (space, trace, plot) = (
        recorded.text("here.csv"),
        recorded.path("trace.jsonl"),
        recorded.path("plot.svg"),
    );
    let run = || {
        let (trace, plot) = (trace.to_string_lossy(), plot.to_string_lossy());
        let output = simulate(&[
            &space,
            "--strategy",
            "random",
            "--strategy",
            "pso:s=6",
            "--strategy",
            "random",
            "--budget",
            "60",
            "--repeats",
            "3",
            "--seed",
            "5",
            "--format",
            "json",
            "--trace",
            &trace,
            "--plot",
            &plot,
        ]);
        stdout(&output)
    };
    let printed = run();
    let objects: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"))
        .collect();
    let names: Vec<&str> = objects
        .iter()
        .filter_map(|o| o["strategy"].as_str())
        .collect();
    assert_eq!(names, ["random", "pso:s=6"]);
    let figures = objects[0]["spaces"][0]["figures"]
        .as_array()
        .expect("figures");
    let points: Vec<u64> = figures
        .iter()
        .filter_map(|f| f["evaluations"].as_u64())
        .collect();
    assert_eq!(points, [20, 50, 60]);
    assert_eq!(objects[0]["spaces"][0]["configurations"], 400);

    let (traced, drawn) = (read(&trace), read(&plot));
    assert_eq!(traced.lines().count(), 6);
    for line in traced.lines() {
        let run: Value = serde_json::from_str(line).expect("a JSON object");
        let evaluations = run["evals"].as_array().expect("evaluations");
        assert_eq!(evaluations.len(), 60);
        assert!(evaluations.iter().any(|of| of["time_ms"].is_null()));
        assert!(evaluations.iter().all(|of| of["config"]["X"].is_i64()));
    }
    assert!(
        drawn.starts_with("<svg") && drawn.contains("pso:s=6"),
        "{drawn}"
    );
    assert_eq!(run(), printed);
    assert_eq!((read(&trace), read(&plot)), (traced, drawn));
}

#[test]
fn a_budget_larger_than_the_space_finds_the_optimum() {
    let recorded = Recorded::new();
    for strategy in ["auto", "random", "genetic"] {
        let space = recorded.text("here.csv");
        let arguments = [
            &space,
            "--strategy",
            strategy,
            "--budget",
            "1000",
            "--repeats",
            "2",
        ];
        let printed = stdout(&simulate(&arguments));
        assert!(printed.contains("@400 1.000 (0.000) 1.000"), "{printed}");
    }
}

#[test]
fn the_error_of_predictions_is_printed_where_there_are_any() {
    let recorded = Recorded::new();
    let space = recorded.text("here.csv");
    let run = |more: &[&str]| {
        let common = [&space, "--budget", "50", "--repeats", "2", "--strategy"];
        stdout(&simulate(&[&common[..], more].concat()))
    };
    let printed = run(&["ann:n=40,m=10"]);
    let line = printed.lines().last().expect("lines");
    let percent = line
        .strip_prefix("mean relative error of predicted times, held out: here ")
        .and_then(|rest| rest.strip_suffix(" %"))
        .unwrap_or_else(|| panic!("{printed}"));
    let percent: f64 = percent.parse().expect("a number");
    let json = run(&["ann:n=40,m=10", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("a JSON object");
    let error = json["spaces"][0]["held_out_error"].as_f64();
    let error = error.expect("there is an error");
    assert!(
        error > 0.0 && (percent - 100.0 * error).abs() < 0.06,
        "{json}"
    );
    assert!(json["spaces"][0]["limitation"].is_null(), "{json}");

    assert!(!run(&["random"]).contains("held out"));
}

#[test]
fn a_warm_start_begins_with_the_best_of_the_other_device() {
    let recorded = Recorded::new();
    recorded.bowl("there.csv", 9);
    let (here, there) = (recorded.text("here.csv"), recorded.text("there.csv"));
    let warm = ["--warm-start", &there, "--budget", "1", "--repeats", "2"];
    let printed = stdout(&simulate(&[&[here.as_str()][..], &warm].concat()));
    assert!(printed.contains("@1 1.000 (0.000) 1.000"), "{printed}");
    recorded.write("other.csv", "X,Z,time_ms\n1,1,1\n");
    let other = recorded.text("other.csv");
    refused(
        &simulate(&[&here, "--warm-start", &other]),
        &["other.csv", "X, Z", "X, Y"],
    );
}

#[test]
fn what_cannot_be_replayed_or_written_is_named() {
    let recorded = Recorded::new();
    recorded.write("failed.csv", "X,time_ms\n1,\n2,NaN\n3,inf\n");
    let failed = recorded.text("failed.csv");
    refused(
        &simulate(&[&failed]),
        &["failed.csv", "every configuration failed"],
    );
    recorded.write("twice.csv", "X,time_ms\n1,2\n1,3\n");
    let twice = recorded.text("twice.csv");
    refused(&simulate(&[&twice]), &["twice.csv:3", "a second time"]);
    let absent = recorded.text("absent.csv.gz");
    refused(&simulate(&[&absent]), &["absent.csv.gz"]);
    let here = recorded.text("here.csv");
    let folder = recorded.text("");
    let output = simulate(&[&here, "--repeats", "1", "--budget", "5", "--plot", &folder]);
    refused(&output, &["cannot write", &folder]);
    // What was computed is printed all the same.
    assert!(String::from_utf8_lossy(&output.stdout).contains("@5 "));
    // What can be known before is said before.
    let nowhere = recorded.text("no/folder/out");
    let text = read(&recorded.path("here.csv"));
    recorded.write("there.csv", &text);
    let there = recorded.text("there.csv");
    for option in ["--trace", "--plot"] {
        for (output, says) in [
            (&nowhere, "there is no folder"),
            (&here, "this command reads that file"),
            (&there, "this command reads that file"),
        ] {
            let ended = simulate(&[&here, "--warm-start", &there, option, output]);
            refused(&ended, &[&format!("{option} {output}: {says}")]);
            assert_eq!(ended.stdout, b"");
        }
    }
    for name in ["here.csv", "there.csv"] {
        assert_eq!(read(&recorded.path(name)), text);
    }
    refused(
        &simulate(&[&here, "--strategy", "anealing"]),
        &["anealing", "annealing"],
    );
}

#[test]
fn recordings_of_other_tuners_are_replayed() {
    let recorded = Recorded::new();
    recorded.write("here.csv", "X,KIND,time_ms\n1,a,4\n2,a,2\n1,b,\n2,b,3\n");
    // As of a session that was killed: there is no end.
    recorded.write(
        "killed.json",
        "{\n\"device_name\": \"GPU\",\n\"kernel_name\": \"sum\",\n\"problem_size\": 8,\n\
         \"tune_params_keys\": [\n\"X\",\n\"KIND\"\n],\n\
         \"tune_params\": {\"X\": [1, 2], \"KIND\": [\"a\", \"b\"]},\n\"objective\": [\"time\"],\n\"cache\": {\n\
         \"1,a\": {\"X\": 1, \"KIND\": \"a\", \"time\": 4.0, \"power\": NaN},\n\
         \"2,a\": {\"X\": 2, \"KIND\": \"a\", \"time\": 2.0},\n\
         \"1,b\": {\"X\": 1, \"KIND\": \"b\", \"__error__\": \"RuntimeFailedConfig\"},\n\
         \"2,b\": {\"X\": 2, \"KIND\": \"b\", \"time\": 3.0},\n\"3,",
    );
    recorded.write(
        "t4.json",
        r#"{"schema_version": "1.0.0", "results": [
            {"configuration": {"X": 1, "KIND": "a"}, "times": {}, "invalidity": "correct",
             "correctness": 1, "measurements": [{"name": "time", "value": 4.0, "unit": "ms"}]},
            {"configuration": {"X": 2, "KIND": "a"}, "times": {}, "invalidity": "correct",
             "correctness": 1, "measurements": [{"name": "time", "value": 0.002, "unit": "s"}]},
            {"configuration": {"X": 1, "KIND": "b"}, "times": {}, "invalidity": "runtime",
             "correctness": 1},
            {"configuration": {"X": 2, "KIND": "b"}, "times": {}, "invalidity": "correct",
             "correctness": 1, "measurements": [{"name": "time", "value": 3.0}]}]}"#,
    );
    let figures = |name: &str| {
        let file = recorded.text(name);
        let arguments = [&file, "--budget", "3", "--repeats", "5", "--format", "json"];
        let printed = stdout(&simulate(&arguments));
        let object: Value = serde_json::from_str(&printed).expect("a JSON object");
        object["spaces"][0]["figures"].clone()
    };
    let csv = figures("here.csv");
    assert_eq!(figures("killed.json"), csv);
    assert_eq!(figures("t4.json"), csv);
    recorded.write("other.json", "{\"results\": [{\"invalidity\": 3}]}");
    let other = recorded.text("other.json");
    refused(
        &simulate(&[&other]),
        &["other.json: results[0]: ", "expected a string"],
    );
}

/// The lines of `--score-over-time --format json`, by strategy.
fn scored(arguments: &[&str]) -> Vec<(String, Value)> {
    let options = ["--score-over-time", "--format", "json"];
    let printed = stdout(&simulate(&[arguments, &options[..]].concat()));
    let lines = printed.lines().map(|line| {
        let of: Value = serde_json::from_str(line).expect("a JSON object");
        (of["strategy"].as_str().expect("a name").to_owned(), of)
    });
    lines.collect()
}

fn mean_score(of: &Value) -> f64 {
    of["score"]["mean"].as_f64().expect("a score")
}

#[test]
fn a_score_over_time_is_near_zero_for_random_search_and_near_one_for_the_optimum_at_once() {
    let recorded = Recorded::new();
    // A minute for each: the time that a strategy takes on a busy machine is nothing beside it.
    let text = read(&recorded.path("here.csv"));
    let (header, rows) = text.split_once('\n').expect("a header");
    let rows: String = rows.lines().flat_map(|row| [row, ",60000\n"]).collect();
    recorded.write("slow.csv", &format!("{header},compile_ms\n{rows}"));
    let slow = recorded.text("slow.csv");
    let found = scored(&[&slow, "--strategy", "random", "--repeats", "400"]);
    let of = &found[0].1;
    let deviation = of["score"]["deviation"].as_f64().expect("a deviation");
    // Five standard errors of the mean: once in two million by chance.
    assert!(mean_score(of).abs() < 5.0 * deviation / 20.0, "{of}");
    let found = scored(&[&slow, "--warm-start", &slow, "--repeats", "2"]);
    let of = &found[0].1;
    assert!(mean_score(of) > 0.9, "{of}");
    assert_eq!(of["spaces"][0]["compile_times"], true);
    assert_eq!(of["spaces"][0]["runs"], 2);
}

#[test]
fn runs_of_other_tuners_are_scored_beside_ours() {
    let recorded = Recorded::new();
    let space = recorded.text("here.csv");
    let trace = recorded.text("trace.jsonl");
    let ours = ["--strategy", "random", "--repeats", "5"];
    let traced = scored(&[&[space.as_str(), "--trace", &trace][..], &ours].concat());
    let text = read(&recorded.path("trace.jsonl"));
    recorded.write("runs.jsonl", &text.replace("\"random\"", "\"theirs\""));
    let best = r#"{"space": "here", "strategy": "lucky", "seed": 0, "evals": [{"config": {"X": 9, "Y": 9}}]}"#;
    recorded.write("lucky.jsonl", best);
    let (runs, lucky) = (recorded.text("runs.jsonl"), recorded.text("lucky.jsonl"));
    let others = [
        "--strategy",
        "random",
        "--repeats",
        "1",
        "--runs",
        &runs,
        "--runs",
        &lucky,
    ];
    let found = scored(&[&[space.as_str()][..], &others].concat());
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["random", "theirs", "lucky"]);
    assert_eq!(found[1].1["score"], traced[0].1["score"]);
    assert!(mean_score(&found[2].1) > 0.9, "{}", found[2].1);

    recorded.write("bad.jsonl", &best.replace("\"X\": 9", "\"X\": 99"));
    let bad = recorded.text("bad.jsonl");
    refused(
        &simulate(&[&space, "--score-over-time", "--runs", &bad]),
        &["bad.jsonl:1: evaluation 1 is of", "99"],
    );
    refused(&simulate(&[&space, "--runs", &bad]), &["--score-over-time"]);
}

#[test]
fn a_score_over_time_says_what_it_cannot_count_and_where_there_is_none() {
    let recorded = Recorded::new();
    let space = recorded.text("here.csv");
    let options = [
        "--score-over-time",
        "--strategy",
        "random",
        "--repeats",
        "1",
    ];
    let printed = stdout(&simulate(&[&[space.as_str()][..], &options].concat()));
    assert!(
        printed.contains("without compiling, whose times are not recorded"),
        "{printed}"
    );
    let rows: Vec<String> = (1..=100).map(|x| format!("{x},{x},500\n")).collect();
    let rows = rows.concat();
    recorded.write("line.csv", &format!("X,time_ms,compile_ms\n{rows}"));
    let line = recorded.text("line.csv");
    let printed = stdout(&simulate(&[&[line.as_str()][..], &options].concat()));
    assert!(!printed.contains("without compiling"), "{printed}");

    recorded.write("small.csv", "X,time_ms\n1,1\n2,2\n3,3\n");
    let small = recorded.text("small.csv");
    refused(
        &simulate(&[&[small.as_str()][..], &options].concat()),
        &["small.csv: too small for a score over time", "3 of 3"],
    );
    recorded.write("flat.csv", "X,time_ms\n1,1\n2,1\n3,\n");
    let flat = recorded.text("flat.csv");
    refused(
        &simulate(&[&[flat.as_str()][..], &options].concat()),
        &["flat.csv", "as fast as the optimum"],
    );
    recorded.write("failed.csv", "X,time_ms\n1,\n2,NaN\n");
    let failed = recorded.text("failed.csv");
    refused(
        &simulate(&[&[failed.as_str()][..], &options].concat()),
        &["failed.csv", "every configuration failed"],
    );
    refused(
        &simulate(&[&space, "--score-over-time", "--budget", "20"]),
        &["--budget", "cannot be used with"],
    );
}
