use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split(m = WG))]
fn no_dimension(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split(n = WG, n = 8))]
fn twice(queue: &Queue, n: u32, #[arg(out, len = n, split(n))] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split(n = 8 - 8))]
fn nothing(queue: &Queue, n: u32, #[arg(out, len = n, split(n))] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split(n = WD))]
fn unknown(queue: &Queue, n: u32, #[arg(out, len = n, split(n))] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split())]
fn empty(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), local(WG), tune(n = 1024), split(n))]
fn no_value(queue: &Queue, n: u32, #[arg(out, len = n, split(n))] y: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
