//! Time limits and Ctrl-C hold whatever is under way.

use cltune_tests::{Project, Running, is_left_to_full, samples};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Never ends where `condition` holds, in one work-item, so that it leaves a core to other tests.
fn endless(condition: &str) -> String {
    format!(
        "__kernel void run(const uint n, __global int* y) {{
            volatile uint more = get_global_id(0) == 0 ? {condition} : 0;
            while (more) {{ more += 2; }}
            y[get_global_id(0)] = (int)n;
        }}"
    )
}

/// A default that never ends, and is the reference.
fn endless_default(name: &str) -> Project {
    samples::inline(
        name,
        "params(A = 0..=1), defaults(A = 0)",
        &endless("A == 0 ? 1 : 0"),
    )
}

#[test]
fn a_default_that_never_ends_is_an_error_as_soon_as_the_limit_has_passed() {
    let project = endless_default("cltune-e2e-endless-default");
    let tuned = project
        .cltune(&["tune", "--time-limit", "2"])
        .expect_code(1);
    let _ = tuned.expect_stderr(&["no answer within 2 s", "--time-limit"]);
    assert!(!project.path("cltune.lock").exists());
}

/// A session of which the reference never ends, whose limit is an hour.
fn making_ready(project: &Project) -> Running {
    let arguments = ["tune", "--time-limit", "3600", "--message-format", "json"];
    let mut running = Running::start(&mut project.cltune_command(&arguments));
    running.wait_for("\"space\"");
    // Long enough to get to the reference. Whatever is under way has to end.
    sleep(Duration::from_secs(2));
    running
}

/// Far below the limit, and far above what ending takes, however busy the machine is.
const SOON: Duration = Duration::from_mins(5);

#[test]
fn ctrl_c_ends_making_ready() {
    let project = endless_default("cltune-e2e-interrupted-default");
    let running = making_ready(&project);
    let pressed = Instant::now();
    running.signal("INT");
    let _ = running.end().expect_code(130);
    assert!(pressed.elapsed() < SOON);
}

#[test]
fn ctrl_c_ends_waiting_for_another_session() {
    let project = endless_default("cltune-e2e-interrupted-wait");
    let first = making_ready(&project);
    for command in ["tune", "verify"] {
        let waiting = Running::start(&mut project.cltune_command(&[command]));
        // It cannot have passed: the first would go on for hours.
        sleep(Duration::from_secs(3));
        waiting.signal("INT");
        let ended = waiting.end().expect_code(130);
        let _ = ended.expect_stderr(&["Blocking", "interrupted while waiting"]);
    }
    first.signal("INT");
    let _ = first.end().expect_code(130);
}

#[test]
fn what_never_ends_on_one_draw_only_costs_one_configuration() {
    if is_left_to_full() {
        return;
    }
    let source = "use cltune::{Buffer, Event, Queue, Result, tunable};
#[tunable(
    params(A = 0..=3), defaults(A = 0), global(n), tune(n = 256), draws = 8,
    reference(kernel = \"right\", global(n)),
)]
pub fn run(
    queue: &Queue, n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<i32>,
) -> Result<Event> {
    r\"__kernel void run(const uint n, __global const float* x, __global int* y) {
        float waste = x[get_global_id(0)];
        for (int k = 0; k < (A == 0 ? 64000 : 500); k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        volatile uint more = A > 0 && (A % 2 == 0) == (x[0] < x[1]) ? 1 : 0;
        while (more) more += 2;
        y[get_global_id(0)] = waste > 1e30f ? 0 : (int)n;
    }
    __kernel void right(const uint n, __global const float* x, __global int* y) {
        y[get_global_id(0)] = (int)n;
    }\"
}
";
    let project = Project::new("cltune-e2e-endless-draw").file("src/lib.rs", source);
    let arguments = ["tune", "--strategy", "full", "--time-limit", "8"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let _ = tuned.expect_stdout(&["3 timed-out", "A = 0"]);
}
