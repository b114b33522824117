//! `device.LIMIT` in every clause that may use it: what tunes, verifies and launches takes the
//! limits of the device at hand, and nothing takes them for 0.

use cltune_tests::Project;

/// `1` on every device, and 0 where a limit is taken for 0.
const ONE: &str = "min(device.max_work_group_size, 1)";

const LIBRARY: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- 2 * x + w[0]
#[tunable(
    params(WG = [2, 4]),
    constraints(WG * ONE == WG),
    global(n * ONE), local(WG * ONE), offset(8 * ONE),
    local_memory(16 * ONE), local_args(tile: [f32; WG * ONE]),
    defines(TWO = 2 * ONE),
    tune(n = [64, 128, 512]), tune_if(n < 512 * ONE),
    reference(kernel = "plain", global(n * ONE), local(2 * ONE)),
    tolerance(accumulates = ONE),
    bytes(8000 * n * ONE), flops(2000 * n * ONE),
    split(n = WG * ONE),
)]
pub fn doubled(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    // More elements than there are, if the limit is taken for 0.
    #[arg(len = 100 - 96 * ONE)] w: &Buffer<f32>,
    #[arg(len = n, split(n))] x: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void doubled(__global const float* w, __global const float* x, __global float* y,
                           __local float* tile) {
        __local float own[4];
        const size_t i = get_global_id(0) - 8, l = get_local_id(0);
        own[l] = x[i];
        tile[l] = TWO * own[l];
        y[i] = tile[l] + w[0];
    }
    __kernel void plain(__global const float* w, __global const float* x, __global float* y) {
        const size_t i = get_global_id(0);
        y[i] = 2 * x[i] + w[0];
    }"
}
"#;

const PROGRAM: &str = r#"
mod tunables;
use cltune::{Buffer, DeviceSet, Error, Queue, Result};
use tunables::doubled;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let x: Vec<f32> = (0..64_u8).map(f32::from).collect();
    let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
    let w = vec![1.0; 4];
    let mut y = Buffer::new(queue.context(), 64)?;
    let buffers = [&x, &w].map(|values| Buffer::from_slice(&queue, values));
    let [input, weights] = buffers;
    let (input, weights) = (input?, weights?);
    doubled(&queue, 64, &weights, &input, &mut y)?.wait()?;
    assert_eq!(y.read(&queue)?, expected);

    let mut devices = DeviceSet::new(&[queue.device().clone(), queue.device().clone()])?;
    let mut y = vec![0.0; 64];
    doubled::split_n(&mut devices, 64, &w, &x, &mut y)?;
    assert_eq!(y, expected);
    // Too short is too short.
    let few = doubled::split_n(&mut devices, 64, &w[..3], &x, &mut y).map(drop);
    assert!(matches!(few, Err(Error::BufferTooShort { needed: 4, found: 3, .. })), "{few:?}");
    println!("rule: {}", doubled::select(queue.device(), doubled::Problem { n: 64 })?.rule);
    Ok(())
}
"#;

#[test]
fn limits_are_those_of_the_device_at_hand_in_every_clause() {
    let project = Project::new("cltune-e2e-device-limits")
        .file("src/main.rs", PROGRAM)
        .file("src/tunables.rs", LIBRARY.replace("ONE", ONE));
    let _ = project.run().expect_code(0);
    let listed = project.cltune(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["n = 64", "2 of 2"]);
    let tuned = project
        .cltune(&["tune", "--budget", "2"])
        .expect_code(0)
        .expect_stdout(&["n = 64", "n = 128", "GB/s", "GFLOPS"]);
    assert!(!tuned.stdout.contains(" 0.0 G"), "{tuned}");
    assert!(!tuned.stdout.contains("n = 512"), "`tune_if`: {tuned}");
    let _ = project.cltune(&["verify"]).expect_code(0);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["tuned on this device for this problem"]);
}
