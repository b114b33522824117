//! Statements over matrices: shown, tuned and verified like any tunable.

use cltune_tests::Project;

const PROGRAM: &str = r#"
use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(m = 64, n = 96), crate = cltune)]
pub fn softmax(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event> {
    let e = exp(a - column(row_max(a)));
    y = e / column(row_sum(e));
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let a = Buffer::from_slice(&queue, &[3.0; 64 * 96])?;
    let mut y = Buffer::new(queue.context(), 64 * 96)?;
    softmax(&queue, 64, 96, &a, &mut y)?;
    println!("{:.6}", y.read(&queue)?[6143] * 96.0);
    println!("{}", softmax::select(queue.device(), softmax::Problem { m: 64, n: 96 })?);
    Ok(())
}
"#;

#[test]
fn rows_that_are_normalised_are_one_kernel_that_is_tuned() {
    let project = Project::new("cltune-e2e-fused-matrices").file("src/main.rs", PROGRAM);
    // Nobody tuned it: the declared default, or what the database has for the device.
    let run = project.run().expect_code(0).expect_stdout(&["1.000000"]);
    assert!(!run.stdout.contains("tuned on this device"), "{run}");
    let default = "FUSE=all,VW=1,WGX=16,WGY=4,UNROLL=1,KEEP=0,LINES=1,TAIL=0";
    let show = ["show", "softmax", "--config", default];
    let shown = project.cltune(&show).expect_code(0);
    let _ = shown.expect_stdout(&[
        "//   pass_0(64, 96, a, y, 256 bytes of local memory), 1024 work-items in groups of 64",
        "// y = e / column(row_sum(e));",
    ]);
    let tuned = project
        .cltune(&["tune", "--budget", "6", "--seed", "3"])
        .expect_code(0);
    let _ = tuned.expect_stdout(&["softmax"]);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["1.000000", "tuned on this device for this problem"]);
    // Vectors of several elements have no uneven rows, and what keeps rows has those of one length.
    let problems = ["m=7,n=31", "m=7,n=48", "m=7,n=96"].map(|problem| ["--problem", problem]);
    let verify = [&["verify", "--draws", "2"][..], &problems.concat()].concat();
    let _ = project.cltune(&verify).expect_code(0);
}
