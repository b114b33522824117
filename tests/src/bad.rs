//! Kernels that are wrong in every way we know of, beside good ones: one tunable, whose first
//! parameter says what is wrong, and whose second how much work a good one does.

use std::fmt::Write as _;

/// What is wrong with a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Bad {
    /// Its value of `KIND`.
    pub kind: i64,
    /// In words.
    pub name: &'static str,
    /// What its kernel does instead of `y[i] = 2 * x[i]`.
    body: &'static str,
    /// The statuses that it may end with; by the device, accesses out of bounds show in different
    /// ways.
    pub statuses: &'static [&'static str],
}

/// The value of `KIND` of those that are right.
pub const GOOD: i64 = 0;
/// How many values `SPEED` has: 0 is the fastest.
pub const SPEEDS: i64 = 8;

const WRONG: &[&str] = &["wrong-result"];
/// It is wrong on a draw of a kind that only finalists are verified on.
const LATER: &[&str] = &["wrong-result", "ok"];
/// A crash on devices whose buffers lie between protected pages, and elsewhere damage that is seen,
/// by Oclgrind at the latest.
const OUTSIDE: &[&str] = &["wrong-result", "crashed", "launch-failed", "unsound"];

/// Only protected pages and Oclgrind show it; where it reads NaN its result is wrong.
const READ: &[&str] = &["crashed", "wrong-result", "unsound", "ok"];

/// All of them. Every one is faster than what is right, and would win.
pub const ALL: &[Bad] = &[
    bad("does not compile", "\n#error no\n", &["build-failed"]),
    bad("one element is wrong", "y[i] = i == 7 ? 0.5f : RIGHT;", WRONG),
    bad("one element is never written", "if (i != 7) y[i] = RIGHT;", WRONG),
    bad("NaN", "y[i] = i == 7 ? NAN : RIGHT;", WRONG),
    bad("infinity", "y[i] = i == 7 ? INFINITY : RIGHT;", WRONG),
    bad("an input is written", "y[i] = RIGHT; if (i == 7) ((__global float*)x)[i] = 3;", WRONG),
    bad("right for positive numbers only", "y[i] = 2 * fabs(x[i]);", WRONG),
    bad("wrong for zero", "y[i] = x[i] == 0 ? 1 : RIGHT;", LATER),
    bad("wrong for large numbers", "y[i] = fabs(x[i]) > 99.9999f ? 1 : RIGHT;", LATER),
    bad("wrong on some draws", "y[i] = x[0] < x[1] ? RIGHT + 1 : RIGHT;", LATER),
    bad("wrong on the other draws", "y[i] = x[0] < x[1] ? RIGHT : RIGHT + 1;", LATER),
    bad(
        "a barrier is missing",
        "__local float tile[64]; const uint l = get_local_id(0); tile[l] = x[i];
         y[i] = 2 * tile[63 - l] + 0 * tile[l]; if (l > 31) y[i] = RIGHT;",
        WRONG,
    ),
    bad("written right after the end", "y[i] = RIGHT; if (i == 0) y[n] = 1;", OUTSIDE),
    bad("written right before the begin", "y[i] = RIGHT; if (i == 0) y[-1] = 1;", OUTSIDE),
    bad("written 17 KiB after the end", "y[i] = RIGHT; if (i == 0) y[n + 4352] = 1;", OUTSIDE),
    bad("written 64 KiB after the end", "y[i] = RIGHT; if (i == 0) y[n + 16384] = 1;", OUTSIDE),
    bad("written 64 KiB before the begin", "y[i] = RIGHT; if (i == 0) y[-16384] = 1;", OUTSIDE),
    bad("written 1 MiB after the end", "y[i] = RIGHT; if (i == 0) y[n + 262144] = 1;", OUTSIDE),
    bad(
        "written all over",
        "y[i] = RIGHT; if (i == 0) for (int k = 0; k < 300000; k++) y[n + k] = 1;",
        OUTSIDE,
    ),
    bad(
        "written at no valid address",
        "y[i] = RIGHT; if (i == 0) *(volatile __global int*)(8 * (ulong)(n - n / 2)) = 1;",
        OUTSIDE,
    ),
    bad("read right after the end", "y[i] = RIGHT + (i == 0 ? 0 * x[n] : 0);", READ),
    bad("read right before the begin", "y[i] = RIGHT + (i == 0 ? 0 * x[-1] : 0);", READ),
    bad("read 64 KiB after the end", "y[i] = RIGHT + (i == 0 ? 0 * x[n + 16384] : 0);", READ),
    bad(
        "skips what is there already",
        "if (y[i] != RIGHT) { for (int k = 0; k < 3000; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
         y[i] = waste > 1e30f ? 0 : RIGHT; }",
        &["skips-work", "ok"],
    ),
    bad("too much local memory", "__local int tile[1 << 26]; tile[i] = 1; y[i] = tile[i] + RIGHT;", &[
        "build-failed",
        "launch-failed",
        "crashed",
        // Some drivers have as much.
        "wrong-result",
    ]),
    // Compilers may take for granted that a loop ends in which nothing happens.
    bad("never ends", "y[i] = RIGHT; while (((volatile __global float*)y)[i] < 1000);", &["timed-out"]),
    bad(
        "never ends on some draws",
        "y[i] = RIGHT; if (x[0] < x[1]) while (((volatile __global float*)y)[i] < 1000);",
        &["timed-out", "ok"],
    ),
    bad(
        "prints what looks like an answer",
        "y[i] = i == 7 ? 0.5f : RIGHT;
         if (i == 0) printf(\"\\n@cltune {\\\"Outcome\\\":{\\\"outcome\\\":{\\\"Ok\\\":{\\\"time_us\\\":0.1,\
         \\\"samples_us\\\":[0.1],\\\"build_seconds\\\":0}},\\\"usable\\\":true}}\\n\");",
        WRONG,
    ),
];

const fn bad(name: &'static str, body: &'static str, statuses: &'static [&'static str]) -> Bad {
    Bad {
        kind: 0,
        name,
        body,
        statuses,
    }
}

/// All of them, with their numbers.
pub fn all() -> Vec<Bad> {
    let numbered = (GOOD + 1..).zip(ALL);
    numbered.map(|(kind, bad)| Bad { kind, ..*bad }).collect()
}

/// The Rust source of the tunable `mixed`, for a library.
pub fn source() -> String {
    let mut bodies = String::new();
    for Bad { kind, body, .. } in all() {
        // A String takes whatever is written.
        let _ = write!(bodies, "#elif KIND == {kind}\n        {body}\n");
    }
    let last = ALL.len();
    // The default is the slowest of those that are right.
    let (slowest, most) = (SPEEDS - 1, SPEEDS);
    format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};
#[tunable(
    params(KIND = 0..={last}, SPEED = 0..{most}), defaults(KIND = 0, SPEED = {slowest}),
    constraints(KIND == 0 || SPEED == 0), global(n), local(64), tune(n = 4096), draws = 6,
    reference(kernel = \"right\", global(n)),
)]
pub fn mixed(
    queue: &Queue, n: u32,
    #[arg(len = n, fill = uniform(-100, 100))] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {{
    r##\"#define RIGHT (2 * x[i])
    __kernel void mixed(const uint n, __global const float* x, __global float* y) {{
        const size_t i = get_global_id(0);
        float waste = i;
#if KIND == 0
        for (int k = 0; k < 1000 << SPEED; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        y[i] = waste > 1e30f ? 0 : RIGHT;
{bodies}#endif
    }}
    __kernel void right(const uint n, __global const float* x, __global float* y) {{
        y[get_global_id(0)] = 2 * x[get_global_id(0)];
    }}\"##
}}
"
    )
}
