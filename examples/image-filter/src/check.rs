//! Configurations from the corners of the space against the definition, on the host, in double
//! precision. Meant for a checking simulator of OpenCL devices, such as Oclgrind.

use crate::Failure;
use crate::convolver::Convolver;
use crate::filter::{Filter, SIZES};
use crate::kernel::convolve::{Params, UNROLL};
use crate::picture::Plane;
use cltune::{Error, Queue};

/// Filters a plane with each size and each configuration; says what differs.
pub(crate) fn run(queue: &Queue, plane: &Plane) -> Result<(), Failure> {
    let mut wrong = 0;
    for size in SIZES {
        let filter = Filter::unsharp_mask(size);
        let expected = expected(plane, &filter);
        let mut convolver = Convolver::new(queue, plane, &filter)?;
        let mut checked = 0;
        for params in configurations() {
            match convolver.launch_with(&params) {
                Ok(_) => {}
                // Not every device has room for every corner.
                Err(Error::InvalidConfiguration { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
            checked += 1;
            let output = convolver.output()?;
            let differs =
                |(found, expected): (&f32, &f64)| (f64::from(*found) - expected).abs() > 1e-4;
            if let Some(at) = output.values.iter().zip(&expected).position(differs) {
                wrong += 1;
                let (x, y) = (at as u32 % plane.width, at as u32 / plane.width);
                let (found, expected) = (output.values[at], expected[at]);
                println!("{size}x{size}, {params:?}: {found} instead of {expected} at {x}, {y}");
            }
        }
        println!("{size}x{size}: {checked} configurations checked");
    }
    if wrong == 0 {
        Ok(())
    } else {
        Err(Failure::Wrong(wrong))
    }
}

fn expected(plane: &Plane, filter: &Filter) -> Vec<f64> {
    let rows = 0..plane.height;
    rows.flat_map(|y| (0..plane.width).map(move |x| filter.pixel(plane, x, y)))
        .collect()
}

/// Each way of reading with each vector width, and each way of unrolling; small work-groups, so
/// that a small picture has inner ones too.
fn configurations() -> Vec<Params> {
    let mut all = Vec::new();
    for (cache, pad) in [(false, false), (true, false), (true, true)] {
        for (width, vector) in [(1, 1), (2, 2), (4, 4), (8, 8), (8, 2), (4, 1)] {
            for unroll in [UNROLL::none, UNROLL::columns, UNROLL::all] {
                all.push(Params {
                    WGX: 4,
                    WGY: 4,
                    WPTX: width,
                    WPTY: if unroll == UNROLL::columns { 2 } else { 1 },
                    VW: vector,
                    CACHE: cache,
                    PAD: pad,
                    UNROLL: unroll,
                });
            }
        }
    }
    all
}
