use cltune::{Event, Queue, Result, tunable};

struct Filter;

impl Filter {
    #[tunable(global(n), tune(n = 1024))]
    fn run(&self, queue: &Queue, n: u32) -> Result<Event> { "" }
}

fn main() {}
