use cltune::{Buffer, Event, Queue, Result, tunable};

/// A parameter's values are wrong; whatever mentions it is not reported as well.
#[tunable(
    params(WG = [32, 32], WPT = 1..=8),
    constraints(n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    tune(n = 1024),
    defaults(WG = 32, WPT = 1),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {
    let params = k::Params { WG: 32, WPT: 1 };
    println!("{params:?}");
}
