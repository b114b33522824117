use cltune::{Buffer, Event, Queue, Result, tunable};

/// One constraint is wrong; everything that uses the tunable is right.
#[tunable(
    params(WG = [32, 64], U = [false, true], T = ["float", "half"]),
    constraints(WGX % 2 == 0),
    global(n / WG), local(WG),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn uses(queue: &Queue, x: &mut Buffer<f32>) -> Result<()> {
    let params = k::Params { WG: 32, U: true, T: k::T::float };
    k::launch_with(&params, queue, 1024, x)?;
    let selection = k::select(queue.device(), k::Problem { n: 1024 })?;
    println!("{} {:?}", selection, k::default_params(queue.device(), k::Problem { n: 1024 })?);
    println!("{} {}", k::BAKED.len(), k::TUNABLE.model().name);
    k(queue, 1024, x)?.wait()
}

fn main() {
    let _ = uses;
}
