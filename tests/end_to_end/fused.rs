//! Statements that become kernels: listed, shown, tuned, checked and verified like any tunable.

use cltune_tests::Project;

const PROGRAM: &str = r#"
use cltune_runtime::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 4096), crate = cltune_runtime)]
pub fn step(
    queue: &Queue,
    n: u32,
    alpha: f32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    x = alpha * x + y;
    s = dot(x, y);
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[1.0; 4096])?;
    let y = Buffer::from_slice(&queue, &[2.0; 4096])?;
    let mut s = Buffer::new(queue.context(), 1)?;
    step(&queue, 4096, 3.0, &mut x, &y, &mut s)?;
    println!("{:?} {:?}", x.read(&queue)?[4095], s.read(&queue)?);
    println!("{}", step::select(queue.device(), step::Problem { n: 4096 })?);
    Ok(())
}
"#;

#[test]
fn fused_statements_are_tuned_like_any_kernel() {
    let project = Project::new("cltune-e2e-fused").file("src/main.rs", PROGRAM);
    let right = "5.0 [40960.0]";
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&[right, "the declared default"]);
    let listed = project.cltune(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["cltune_e2e_fused::step", "FUSE", "VW", "GROUPS", "FETCH"]);

    // What was written is a comment where it is computed.
    let shown = project.cltune(&["show", "step"]).expect_code(0);
    let _ = shown.expect_stdout(&[
        "// cltune_e2e_fused::step\n",
        "// problem: n = 4096\n",
        "(the declared default)",
        "//   pass_0(4096, alpha, x, y, parts_dot_",
        "#define VW 1\n",
        "        // x = alpha * x + y;\n",
        "        // s = dot(x, y);\n",
    ]);
    let single = ["show", "step", "--config", "FUSE=none,VW=4,WG=32,GROUPS=16"];
    let shown = project.cltune(&single).expect_code(0);
    let _ = shown.expect_stdout(&[
        "VW = 4, WG = 32",
        "//   single_0(4096, alpha, x, y), 512 work-items in groups of 32",
        "#define VW 4\n",
    ]);
    for (arguments, message) in [
        (&["show", "stap"][..], "stap"),
        (
            &["show", "step", "--config", "VW=3"],
            "`VW` has no value `3`",
        ),
        (
            &["show", "step", "--config", "WH=3"],
            "has no parameter `WH`; it has: FUSE, VW",
        ),
        (
            &["show", "step", "--config", "VW"],
            "`VW` is not of the form `WG=64`",
        ),
        (&["show", "step", "--problem", "m=3"], "no dimension `m`"),
        (
            &["show", "step", "--device", "no such device"],
            "no such device",
        ),
    ] {
        let _ = project
            .cltune(arguments)
            .expect_code(2)
            .expect_stderr(&[message]);
    }

    let tuned = project
        .cltune(&["tune", "--budget", "6", "--seed", "3"])
        .expect_code(0);
    let _ = tuned.expect_stdout(&["step"]);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&[right, "tuned on this device for this problem"]);
    let _ = project.cltune(&["verify", "--draws", "2"]).expect_code(0);

    // Another statement is another kernel.
    project.edit("src/main.rs", "alpha * x + y;", "alpha * x - y;");
    let _ = project
        .cltune(&["check"])
        .expect_code(1)
        .expect_stdout(&["stale"]);
}
