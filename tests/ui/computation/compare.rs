use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(params(WG = [32, 64]), global(n), local(WG), tune(n = 64))]
fn ranges(
    queue: &Queue,
    n: u32,
    #[arg(compare = none)] factor: f32,
    #[arg(len = n, compare = none)] x: &Buffer<u32>,
    #[arg(out, len = n, compare = 0..n / WG)] y: &mut Buffer<u32>,
    #[arg(out, len = n, compare = 4..4)] z: &mut Buffer<u32>,
    #[arg(out, len = n, compare = -1..4)] w: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void ranges() {}"
}

#[tunable(global(n), tune(n = 64))]
fn forms(
    queue: &Queue,
    n: u32,
    #[arg(out, len = n, compare = 0..=n)] x: &mut Buffer<u32>,
    #[arg(out, len = n, compare = some)] y: &mut Buffer<u32>,
    #[arg(out, len = n, compare = none, compare = none)] z: &mut Buffer<u32>,
    #[arg(out, len = n, compare = 0..m)] v: &mut Buffer<u32>,
    #[arg(out, len = n, comparr = none)] w: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void forms() {}"
}

#[tunable(global(n), tune(n = 64))]
fn nothing(
    queue: &Queue,
    n: u32,
    #[arg(out, len = n, compare = none)] x: &mut Buffer<u32>,
    #[arg(len = n, compare = none)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void nothing() {}"
}

fn main() {}
