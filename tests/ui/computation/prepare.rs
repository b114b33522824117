use cltune::{Buffer, Event, Queue, Result, tunable};

/// An output, an argument that is no prepared one, and names that there are not.
#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 64),
    prepare(
        stage(order(n, x, perm, y), global(n)),
        clear(x),
        stage(order(n, z), global(n / WG)),
        stage("order_{WG}"(n), global(n)),
        copy(x, y),
    ),
)]
fn writes(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(len = n, fill = prepared)] perm: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void writes() {} order"
}

/// Nothing that it makes.
#[tunable(global(n), tune(n = 64), prepare(stage(order(n, x), global(n))))]
fn nothing(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void nothing() {} order"
}

/// One that no step takes, and memory that none takes.
#[tunable(
    global(n),
    tune(n = 64),
    prepare(scratch(own: [u32; n]), local_args(tile: [u32; 8]), stage(order(n, a), global(n))),
)]
fn unused(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] a: &Buffer<u32>,
    #[arg(len = n, fill = prepared)] b: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void unused() {} order"
}

#[tunable(global(n), tune(n = 64), prepare(stage(order(n, a), global(n))))]
fn not_made(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] a: &Buffer<u32>,
    #[arg(len = n, fill = prepared)] b: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void not_made() {} order"
}

/// Names that are taken.
#[tunable(
    global(n),
    tune(n = 64),
    prepare(
        scratch(own: [u32; n]),
        local_args(own: [u32; 8], a: [u32; 8] before y),
        stage(order(n, a, own), global(n)),
    ),
)]
fn taken(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] a: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void taken() {} order"
}

/// Without the clause; for an output; for a scalar.
#[tunable(global(n), tune(n = 64))]
fn without(
    queue: &Queue,
    n: u32,
    #[arg(fill = prepared)] factor: f32,
    #[arg(len = n, fill = prepared)] x: &Buffer<u32>,
    #[arg(out, len = n, fill = prepared)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void without() {}"
}

/// What is no word or no step.
#[tunable(global(n), tune(n = 64), prepare(kernel = "order", scratsh(own: [u32; n])), prepare())]
fn words(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void words() {}"
}

/// No launch.
#[tunable(global(n), tune(n = 64), prepare(clear(x)))]
fn no_launch(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void no_launch() {}"
}

/// A kernel that the source has not.
#[tunable(global(n), tune(n = 64), prepare(stage(ordre(n, x), global(n))))]
fn no_kernel(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = prepared)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void no_kernel() {} __kernel void order() {}"
}

fn main() {}
