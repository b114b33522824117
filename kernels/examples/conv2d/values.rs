//! The worth of values that are the best for another filter size, or on another device.

use crate::{Convolution, time};
use cltune::Queue;
use cltune_kernels::conv2d::conv2d_direct::{self, Params};
use std::error::Error;
use std::time::Duration;

/// The filter sizes of the paper.
const SIZES: [u32; 3] = [3, 7, 11];

/// Each set of values is timed this often, in turns with the others.
const ROUNDS: usize = 9;

/// Some values, and where they are from.
struct Candidate {
    name: String,
    params: Params,
}

/// The best values of Nugteren & Codreanu 2015, table II, as configurations of this kernel.
fn published() -> Vec<Candidate> {
    let candidate = |device: &str, filter: u32, codes: [i64; 8]| {
        Params::from_codes(&codes).map(|params| Candidate {
            name: format!("published: {device}, {filter} x {filter}"),
            params,
        })
    };
    [
        ("K40m", 3, [32, 8, 1, 8, 0, 1, 0, 1]),
        ("K40m", 7, [32, 16, 2, 4, 2, 2, 1, 1]),
        ("K40m", 11, [32, 8, 2, 8, 2, 2, 1, 1]),
        ("GTX 480", 3, [64, 8, 1, 4, 0, 1, 0, 1]),
        ("GTX 480", 7, [32, 8, 2, 8, 2, 2, 0, 1]),
        ("GTX 480", 11, [32, 8, 2, 4, 1, 2, 0, 1]),
    ]
    .into_iter()
    .filter_map(|(device, filter, codes)| candidate(device, filter, codes))
    .collect()
}

/// Prints the time of each candidate with each filter size, and how it compares to the best of this
/// device for that size.
pub(crate) fn table(queue: &Queue, width: u32, height: u32) -> Result<(), Box<dyn Error>> {
    let mut convolutions = Vec::new();
    let mut candidates = Vec::new();
    for size in SIZES {
        let convolution = Convolution::new(queue, width, height, size)?;
        let selection = conv2d_direct::select(queue.device(), convolution.problem())?;
        candidates.push(Candidate {
            name: format!("best here for {size} x {size}"),
            params: selection.params,
        });
        convolutions.push(convolution);
    }
    if let Some(convolution) = convolutions.first() {
        candidates.push(Candidate {
            name: "the default".to_owned(),
            params: conv2d_direct::default_params(queue.device(), convolution.problem())?,
        });
    }
    candidates.extend(published());

    println!("{}, {width} x {height} pixels\n", queue.device());
    println!("| values | {} | 3 x 3 | 7 x 7 | 11 x 11 |", names());
    println!("|---|---|---|---|---|");
    let mut columns = Vec::new();
    for convolution in &mut convolutions {
        columns.push(timed(queue, convolution, &candidates)?);
    }
    for (row, candidate) in candidates.iter().enumerate() {
        let codes = candidate.params.to_codes().map(|code| code.to_string());
        print!("| {} | {} |", candidate.name, codes.join(", "));
        for (place, column) in columns.iter().enumerate() {
            // The candidates begin with the best for each size.
            match (column[row], column[place]) {
                (Some(time), Some(best)) => {
                    let (time, best) = (time.as_secs_f64(), best.as_secs_f64());
                    print!(" {:.0} % ({:.1} us) |", 100.0 * best / time, time * 1e6);
                }
                _ => print!(" cannot run |"),
            }
        }
        println!();
    }
    Ok(())
}

fn names() -> String {
    <Params as cltune::Configuration>::NAMES.join(", ")
}

/// The median time of each candidate; `None` for those that cannot run here.
fn timed(
    queue: &Queue,
    convolution: &mut Convolution<'_>,
    candidates: &[Candidate],
) -> Result<Vec<Option<Duration>>, Box<dyn Error>> {
    let mut batches = Vec::new();
    for candidate in candidates {
        let mut launch = || Ok(convolution.launch_with(&candidate.params).map(drop)?);
        batches.push(time::batch(queue, &mut launch).ok());
    }
    let mut times = vec![Vec::new(); candidates.len()];
    for _ in 0..ROUNDS {
        for ((candidate, batch), times) in candidates.iter().zip(&batches).zip(&mut times) {
            let Some(launches) = *batch else { continue };
            let mut launch = || Ok(convolution.launch_with(&candidate.params).map(drop)?);
            times.push(time::timed(queue, launches, &mut launch)?);
        }
    }
    Ok(times
        .into_iter()
        .map(|times| (!times.is_empty()).then(|| time::middle(times)))
        .collect())
}
