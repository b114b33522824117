//! Fused statements on a device without double precision. The program is this test binary, run
//! again on a driver that hides what the device has.

use cltune::{Buffer, Event, Queue, Result, fused};
use cltune_tests::faulty::Session;
use cltune_tests::process::Output;
use std::process::Command;

#[fused(tune(n = 1003))]
fn doubles(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f64>,
    #[arg(out, len = 1)] s: &mut Buffer<f64>,
) -> Result<Event> {
    s = sum(x);
}

/// Double precision in the statement alone.
#[fused(tune(n = 1003))]
fn converted(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = sum(x as f64) as f32;
}

#[fused(tune(n = 1003))]
fn singles(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = sum(x);
}

/// The program: a call of each, and what became of it.
#[test]
fn program() -> Result<()> {
    if std::env::var_os("CALLS").is_none() {
        return Ok(());
    }
    let queue = Queue::default_device()?;
    println!("fp64 is {}", queue.device().info().limits.fp64);
    let context = queue.context();
    let wide = Buffer::from_slice(&queue, &[0.5_f64; 10])?;
    let narrow = Buffer::from_slice(&queue, &[0.5_f32; 10])?;
    let mut s = Buffer::from_slice(&queue, &[7.0_f64])?;
    if let Err(error) = doubles(&queue, 10, &wide, &mut s) {
        println!("doubles: {error}");
    }
    println!("doubles: {:?}", s.read(&queue)?);
    let mut s = Buffer::new(context, 1)?;
    if let Err(error) = converted(&queue, 10, &narrow, &mut s) {
        println!("converted: {error}");
    }
    singles(&queue, 10, &narrow, &mut s)?;
    println!("singles: {:?}", s.read(&queue)?);
    Ok(())
}

fn run(faults: &str) -> Output {
    let session = Session::new(faults);
    let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
    command.args([
        "--exact",
        "end_to_end::double_precision::program",
        "--nocapture",
    ]);
    session.place(&mut command);
    Output::of(command.env("CALLS", "")).expect_code(0)
}

#[test]
fn statements_in_double_precision_are_refused_where_the_device_has_none() {
    let as_it_is = run("").expect_stdout(&["singles: [5.0]"]);
    if as_it_is.stdout.contains("fp64 is 1") {
        let _ = as_it_is.expect_stdout(&["doubles: [5.0]"]);
    }
    let hidden = run("hide=cl_khr_fp64@CL_DEVICE_EXTENSIONS; answer=0@CL_DEVICE_DOUBLE_FP_CONFIG");
    let hidden = hidden.expect_stdout(&["fp64 is 0", "doubles: [7.0]", "singles: [5.0]"]);
    for name in ["doubles", "converted"] {
        let refused = format!("::{name}` has no valid configuration for n = 10 on ");
        let mut lines = hidden.stdout.lines();
        let line = lines.find(|line| line.contains(&refused));
        assert!(
            line.is_some_and(|line| line.contains("device.fp64 == 1")),
            "{hidden}"
        );
    }
}
