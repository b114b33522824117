use cltune::tunable;

#[tunable(global(64))]
struct Kernel;

#[tunable(global(64))]
const KERNEL: Kernel = Kernel;

fn main() {}
