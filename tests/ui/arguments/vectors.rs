use cltune::{Buffer, Event, Queue, Result, tunable};

const LANES: usize = 4;

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn lengths(queue: &Queue, n: u32, a: [f32; 3], b: [u8; 5], c: &Buffer<[f32; LANES]>, d: &Buffer<[bool; 4]>, e: &Buffer<[[f32; 2]; 2]>, f: [usize; 2]) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024, m = 16),
)]
fn dimension(queue: &Queue, n: u32, m: [u32; 2], k: [i16; 4], #[arg(value = 0.5)] v: [u8; 2]) -> Result<Event> { "" }

#[tunable(
    global(n * k),
    tune(n = 1024),
    split(n = 1),
)]
fn formula(queue: &Queue, n: u32, #[arg(value = 1, split(n))] k: [u32; 2], #[arg(len = n, split(n))] y: &mut Buffer<[u32; 2]>) -> Result<Event> { "" }

#[tunable(
    scratch(a: [[f32; 4]; n], b: [[f32; 3]; n]),
    stages(
        copy(x, a),
        stage(k(n as [u32; 2], a, b, x), global(n)),
    ),
    tune(n = 1024),
)]
fn stages(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<[f32; 2]>) -> Result<Event> { "" }

fn main() {}
