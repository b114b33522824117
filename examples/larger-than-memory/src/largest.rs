//! The largest matrices that a limit of host memory allows, with temporaries in blocks and as
//! matrices.

use crate::arguments::{self, Bytes, Largest};
use crate::expression::Expression;
use crate::memory;
use cltune::Device;
use cltune::schedule::{ScheduleError, Scheduler, SchedulerOptions};
use cltune_kernels::gemm::Arithmetic;
use cltune_kernels::scheduled::{difference, gemm, sum};
use std::error::Error;

/// How A + B and A - B exist.
#[derive(Clone, Copy, PartialEq)]
enum Temporaries {
    /// As matrices in host memory, which operations of their own compute.
    Whole,
    /// Block by block on devices.
    InBlocks,
}

impl Temporaries {
    /// The matrices in host memory.
    const fn matrices(self) -> usize {
        match self {
            Self::Whole => 5,
            Self::InBlocks => 3,
        }
    }
}

pub(crate) fn run(largest: &Largest) -> Result<(), Box<dyn Error>> {
    let devices = arguments::devices(&largest.devices)?;
    let Bytes(host) = largest.host;
    println!(
        "C = (A + B)(A - B), at most {:.1} MB of host memory for matrices, {:.1} MB on each device",
        host as f64 / 1e6,
        largest.limit.0 as f64 / 1e6
    );
    let mut sizes = Vec::new();
    for temporaries in [Temporaries::Whole, Temporaries::InBlocks] {
        let matrices = temporaries.matrices();
        let size = (host / (matrices * size_of::<f32>())).isqrt();
        let error = computed(largest, &devices, size, temporaries)?;
        let refused = match computed(largest, &devices, size + 1, temporaries) {
            Err(error) => match error.downcast_ref() {
                Some(ScheduleError::HostLimit { .. }) => error,
                _ => return Err(error),
            },
            Ok(_) => return Err(format!("{} was computed beyond the limit", size + 1).into()),
        };
        println!(
            "  {matrices} matrices: {size} x {size} is computed (the largest error is {error:.1e} of what rounding may \
             be, the process has had at most {}), {} is refused: {refused}",
            memory::peak().map_or("unknown".to_owned(), |peak| format!("{:.1} MB", peak / 1e6)),
            size + 1
        );
        sizes.push(size);
    }
    if let [whole, in_blocks] = sizes[..] {
        println!(
            "  with temporaries in blocks n is {:.3} times as large",
            in_blocks as f64 / whole as f64
        );
    }
    Ok(())
}

/// Computes the expression; the largest error as a part of what rounding may be.
fn computed(
    largest: &Largest,
    devices: &[Device],
    size: usize,
    temporaries: Temporaries,
) -> Result<f64, Box<dyn Error>> {
    let options = SchedulerOptions::new()
        .device_memory(&[largest.limit.0])
        .host_memory(largest.host.0);
    let scheduler = Scheduler::with(devices, &options)?;
    let mut matrices = Expression::new(&scheduler, size)?;
    if temporaries == Temporaries::Whole {
        let matrix = || scheduler.matrix::<f32>(size, size);
        let (mut left, mut right) = (matrix()?, matrix()?);
        scheduler.store(sum(&matrices.a, &matrices.b)?, &mut left)?;
        scheduler.store(difference(&matrices.a, &matrices.b)?, &mut right)?;
        gemm(&scheduler, 1.0, &left, &right, 0.0, &mut matrices.c)?;
        let _ = scheduler.finish()?;
    } else {
        matrices.enqueue(&scheduler, Arithmetic::Automatic)?;
        let _ = scheduler.finish()?;
    }
    matrices.check()
}
