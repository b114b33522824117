//! Statements with a product that the library's GEMM makes: the parts before and after it are
//! tunables.

use cltune_tests::manifest::manifest_with_kernels;
use cltune_tests::{Project, is_left_to_full};

const PROGRAM: &str = r#"
use cltune_kernels::gemm::{Gemm, GemmError};
use cltune::{Buffer, Event, Queue, fused};

/// A layer of a neural network: scaled inputs, weights, bias, and what is not negative.
#[fused(tune(m = 64, n = 48, k = 32))]
pub fn layer(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    n: u32,
    k: u32,
    #[arg(len = k)] scale: &Buffer<f32>,
    #[arg(matrix = [m, k])] x: &mut Buffer<f32>,
    #[arg(matrix = [k, n])] w: &Buffer<f32>,
    #[arg(len = n)] bias: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event, GemmError> {
    x *= row(scale);
    y = max(x * w + row(bias), 0.0);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let queue = Queue::default_device()?;
    let mut gemm = Gemm::new(&queue)?;
    let (m, n, k) = (64_u32, 48_u32, 32_u32);
    let filled = |len: u32, value| Buffer::from_slice(&queue, &vec![value; len as usize]);
    let (scale, mut x, w) = (filled(k, 0.5_f32)?, filled(m * k, 2.0)?, filled(k * n, 0.25)?);
    let (bias, mut y) = (filled(n, -3.0)?, filled(m * n, 0.0)?);
    layer(&queue, &mut gemm, m, n, k, &scale, &mut x, &w, &bias, &mut y)?;
    println!("y is {}", y.read(&queue)?[3071]);
    let device = queue.device();
    println!("{}", layer::part_1::select(device, layer::part_1::Problem { m: 64, k: 32 })?);
    println!("{}", layer::part_2::select(device, layer::part_2::Problem { m: 64, n: 48 })?);
    Ok(())
}
"#;

#[test]
fn what_stands_before_and_after_a_product_of_the_library_is_tuned() {
    if is_left_to_full() {
        return;
    }
    let name = "cltune-e2e-fused-library";
    let project = Project::new(name)
        .file("Cargo.toml", manifest_with_kernels(name))
        .file("src/main.rs", PROGRAM);
    let run = project.run().expect_code(0);
    // Nobody tuned them: the declared default, or what the database has for the device.
    let run = run.expect_stdout(&["y is 5"]);
    assert!(!run.stdout.contains("tuned on this device"), "{run}");
    let list = project.cltune(&["list"]).expect_code(0);
    let _ = list.expect_stdout(&["layer::part_1", "layer::part_2"]);
    // A part of a name that both have.
    let both = project.cltune(&["show", "layer"]).expect_code(2);
    let _ = both.expect_stderr(&["layer::part_1", "layer::part_2"]);
    let shown = project.cltune(&["show", "layer::part_2"]).expect_code(0);
    let _ = shown.expect_stdout(&[
        "pass_0(64, 48, bias, y)",
        "// y = max(x * w + row(bias), 0.0);",
    ]);
    let tuned = project
        .cltune(&["tune", "--budget", "2", "--seed", "3"])
        .expect_code(0);
    let _ = tuned.expect_stdout(&[
        "layer::part_1",
        "m = 64, k = 32",
        "layer::part_2",
        "m = 64, n = 48",
    ]);
    let _ = project.cltune(&["check"]).expect_code(0);
    let run = project.run().expect_code(0);
    let run = run.expect_stdout(&["y is 5", "tuned on this device for this problem"]);
    assert!(!run.stdout.contains("the declared default"), "{run}");
    let verify = [
        "verify",
        "--draws",
        "2",
        "--kernel",
        "part_2",
        "--problem",
        "m=7,n=31",
        // Vectors of several elements have no uneven rows.
        "--problem",
        "m=7,n=48",
    ];
    let verified = project.cltune(&verify).expect_code(0);
    let _ = verified.expect_stdout(&["layer::part_2"]);
    // A change of the product's statement is one of the part that follows it, and of no other.
    project.edit("src/main.rs", "max(x * w", "min(x * w");
    let check = project.cltune(&["check"]).expect_code(1);
    let check = check.expect_stdout(&["layer::part_2: stale"]);
    assert!(!check.stdout.contains("layer::part_1: stale"), "{check}");
}
