use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64], U = [false, true], T = ["float", "half"]),
    constraints(WG + 1, U == 1, T == "double", T < "half", !WG),
    global(n == WG), local(U),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
