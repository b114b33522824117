//! Sources of small packages with a tunable.

/// A tunable whose default is slow beyond doubt on every device, so that every search finds better
/// values. Its second output tells which values the kernel was compiled with.
pub const LIBRARY: &str = r#"
use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- a * x
#[tunable(
    source = "kernels/scale.cl",
    params(WG = [4, 16], WASTE = [true, false]),
    constraints(n % WG == 0),
    global(n), local(WG),
    tune(n = 4096),
    defaults(WG = 4, WASTE = true),
    // The second output differs between configurations: that is its purpose.
    tolerance(rel = 0.0, abs = 100.0),
    bytes(8 * n), flops(n),
)]
pub fn scale(
    queue: &Queue, n: u32, a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
    #[arg(out, len = 2)] used: &mut Buffer<f32>,
) -> Result<Event>;
"#;

/// Its kernel.
pub const KERNEL: &str = r#"
#include "waste.h"
__kernel void scale(const uint n, const float a, __global const float* x, __global float* y,
                    __global float* used) {
    const size_t i = get_global_id(0);
    y[i] = a * x[i] + waste(x[i]);
    if (i == 0) {
        used[0] = WG;
        used[1] = WASTE;
    }
}
"#;

/// What its kernel includes: work that the compiler cannot know to be for nothing. Without what is
/// added, numbers would become subnormal, which take processors many times as long as others.
pub const INCLUDE: &str = r"
float waste(float x) {
    float w = x;
#if WASTE
    for (int i = 0; i < 2000; i++) w = w * 0.75f + 0.125f * w + 1.0f;
#endif
    return w > 1e30f ? 1.0f : 0.0f;
}
";

/// A program that launches it, and prints which rule applied, which values were selected, and
/// which values the kernel was compiled with.
pub const PROGRAM: &str = r#"
mod tunables;
use cltune::{Buffer, Queue, Result};
use tunables::scale;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &vec![1.5_f32; 4096])?;
    let mut y = Buffer::from_slice(&queue, &vec![0.0_f32; 4096])?;
    let mut used = Buffer::from_slice(&queue, &[0.0_f32; 2])?;
    scale(&queue, 4096, 2.0, &x, &mut y, &mut used)?.wait()?;
    assert!(y.read(&queue)?.iter().all(|y| *y == 3.0));
    let selection = scale::select(queue.device(), scale::Problem { n: 4096 })?;
    println!("rule: {}", selection.rule);
    println!("selected: {} {}", selection.params.WG, i32::from(selection.params.WASTE));
    let used = used.read(&queue)?;
    println!("used: {} {}", used[0], used[1]);
    println!("baked: {}", scale::BAKED.len());
    Ok(())
}
"#;

/// A package with the program.
///
/// # Panics
/// See [`Project::new`](crate::Project::new).
pub fn program(name: &str) -> crate::Project {
    crate::Project::new(name)
        .file("src/main.rs", PROGRAM)
        .file("src/tunables.rs", LIBRARY)
        .file("kernels/scale.cl", KERNEL)
        .file("kernels/waste.h", INCLUDE)
}

/// A package with one tunable named `run` without parameters' effect: the kernel is inline, and
/// `clauses` are added to its attribute.
///
/// # Panics
/// See [`Project::new`](crate::Project::new).
pub fn inline(name: &str, clauses: &str, kernel: &str) -> crate::Project {
    let source = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};\n\
         #[tunable(global(n), tune(n = 256), {clauses})]\n\
         pub fn run(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>)\n\
         -> Result<Event> {{\n    {kernel:?}\n}}\n"
    );
    crate::Project::new(name).file("src/lib.rs", source)
}

/// An ordinary kernel for [`inline`].
pub const FILL: &str =
    "__kernel void run(const uint n, __global int* y) { y[get_global_id(0)] = (int)n; }";
