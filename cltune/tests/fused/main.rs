//! Fused statements on a real device: configurations are measured and verified against the
//! generated reference, and calls are compared with the host.
//!
//! | file | has |
//! |---|---|
//! | `vectors` | statements over vectors and numbers |
//! | `functions` | every function and operator |
//! | `reductions` | reductions of each kind, also of nothing |
//! | `strides` | vectors with offsets and strides, indexes of largest values, norms without overflow |
//! | `streaming` | stores past the caches |
//! | `matrices` | statements over matrices |
//! | `parts` | parts of matrices, beside vectors with strides |
//! | `halves` | half precision |
//! | `loop_end` | what the work-group that ends last reads of the others |
//! | `products` | products of matrices |
//! | `configurations` | the configurations that are measured and verified |

use cltune::{Device, Queue};

mod configurations;
mod functions;
mod halves;
mod loop_end;
mod matrices;
mod parts;
mod products;
mod reductions;
mod streaming;
mod strides;
mod vectors;

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

fn is_cpu(device: &Device) -> bool {
    device.info().limits.is_cpu == 1
}
