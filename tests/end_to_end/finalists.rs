//! Configurations that are right on the draw they were measured on, and wrong on another one: they
//! are found among the finalists, and never chosen.

use cltune_tests::{Output, Project};
use serde_json::Value;

/// `A = 1` and `A = 2` are fast; one of them is wrong on each draw. `A = 3` is right, and faster
/// than the default by far more than times vary; both are slower than the first two by more than
/// finalists may be.
const TWO_WRONG: &str = "
    #if A == 0
        const int rounds = 64000;
    #elif A == 3
        const int rounds = 16000;
    #else
        const int rounds = 500;
    #endif
        float waste = x[i];
        for (int k = 0; k < rounds; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    #if A == 1
        const int wrong = x[0] < x[1];
    #elif A == 2
        const int wrong = x[0] >= x[1];
    #else
        const int wrong = 0;
    #endif
        y[i] = waste > 1e30f ? 0 : (int)n + wrong;";

/// Every configuration is wrong on some draws.
const ALL_WRONG: &str = "
        y[i] = (int)n + ((A % 2 == 0) == (x[0] < x[1]));";

fn project(name: &str, body: &str) -> Project {
    let source = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};
#[tunable(
    params(A = 0..=3), defaults(A = 0), global(n), tune(n = 256), draws = 8,
    reference(kernel = \"right\", global(n)),
)]
pub fn run(
    queue: &Queue, n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<i32>,
) -> Result<Event> {{
    r\"__kernel void run(const uint n, __global const float* x, __global int* y) {{
        const size_t i = get_global_id(0);{body}
    }}
    __kernel void right(const uint n, __global const float* x, __global int* y) {{
        y[get_global_id(0)] = (int)n;
    }}\"
}}
"
    );
    Project::new(name).file("src/lib.rs", source)
}

/// The last word on each configuration.
fn last_words(output: &Output) -> Vec<Value> {
    let mut messages = output.messages("revised");
    messages.extend(output.messages("configuration"));
    let of = |a: i64| {
        let found = messages.iter().find(|message| message["values"][0] == a);
        found.unwrap_or_else(|| panic!("A = {a} is missing: {output}"))["status"].clone()
    };
    (0..=3).map(of).collect()
}

const TUNE: [&str; 3] = ["tune", "--strategy", "full"];

#[test]
fn the_next_best_takes_the_place_of_what_is_wrong_on_another_draw() {
    let project = project("cltune-e2e-two-wrong", TWO_WRONG);
    let tuned = project.cltune(&[&TUNE[..], &["--message-format", "json"]].concat());
    let tuned = tuned.expect_code(0);
    assert_eq!(
        last_words(&tuned),
        ["ok", "wrong-result", "wrong-result", "ok"],
        "{tuned}"
    );
    let finished = &tuned.messages("finished")[0];
    assert_eq!(finished["values"][0], 3, "{tuned}");
    assert_eq!(finished["failed"], 2, "{tuned}");
    assert!(finished["default_us"].is_number(), "{tuned}");
    for part in ["spread", "flip_rate", "regret"] {
        let part = finished[part].as_f64().expect("two were compared");
        assert!((0.0..=1.0).contains(&part), "{tuned}");
    }
    let _ = project
        .cltune(&["report", "--output", "report.html"])
        .expect_code(0);
    let page = std::fs::read_to_string(project.path("report.html")).expect("the report");
    let page = page.replace('\n', "");
    for (label, part) in [
        ("spread", "spread"),
        ("flip rate", "flip_rate"),
        ("regret", "regret"),
    ] {
        let figure = 100.0 * finished[part].as_f64().expect("two were compared");
        let fact = format!("<dt>{label}</dt><dd><span>{figure:.1} %</span></dd>");
        assert!(page.contains(&fact), "{fact}: {page}");
    }

    // The journal says so as well, whoever reads it.
    let exported = project
        .cltune(&["export", "--format", "csv"])
        .expect_code(0);
    let text = std::fs::read_to_string(exported.stdout.trim()).expect("a file is named");
    assert_eq!(text.matches("wrong-result").count(), 2, "{text}");
    let resumed = project.cltune(&[&TUNE[..], &["--resume", "--message-format", "json"]].concat());
    let resumed = resumed.expect_code(0);
    assert_eq!(resumed.messages("finished")[0]["failed"], 2, "{resumed}");
    assert!(resumed.messages("configuration").is_empty(), "{resumed}");
    assert_eq!(resumed.messages("finished")[0]["values"][0], 3, "{resumed}");
}

#[test]
fn where_all_are_wrong_on_some_draw_nothing_is_written() {
    let project = project("cltune-e2e-all-wrong", ALL_WRONG);
    let tuned = project.cltune(&TUNE).expect_code(1);
    let tuned = tuned.expect_stdout(&["every configuration failed", "4 wrong-result"]);
    assert!(!tuned.stderr.contains("The results are in"), "{tuned}");
    assert!(!project.path("cltune.lock").exists(), "{tuned}");
}

#[test]
fn an_entry_that_turns_out_to_be_wrong_is_replaced_by_what_is_right_though_slower() {
    let project = project("cltune-e2e-wrong-entry", TWO_WRONG);
    let tuned = project.cltune(&TUNE).expect_code(0);
    let right = project.read("cltune.lock");
    assert!(right.contains("values = [3]"), "{tuned}");
    // As an earlier release may have written it.
    let wrong = right.replace("values = [3]", "values = [1]");
    let time = wrong.lines().find(|line| line.starts_with("time_us"));
    let wrong = wrong.replace(time.unwrap(), "time_us = 0.5");
    project.write("cltune.lock", &wrong);
    // The default and the entry are measured, and the search ends before it finds anything better.
    let tuned = project.cltune(&["tune", "--strategy", "full", "--budget", "2"]);
    let tuned = tuned.expect_code(0);
    let found = project.read("cltune.lock");
    assert!(found.contains("values = [0]"), "{tuned}\n{found}");
}
