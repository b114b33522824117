//! Several configurations timed in turns, so that what else the machine does hits all alike.

use crate::convolver::Convolver;
use crate::kernel::convolve::Params;
use cltune::Result;
use std::time::Duration;

/// How often each configuration is timed.
const ROUNDS: usize = 11;

/// The median time on the device of each configuration; the error of those that cannot run here.
pub(crate) fn medians(
    convolver: &mut Convolver,
    configurations: &[Params],
) -> Vec<Result<Duration>> {
    // The first launch builds the program.
    let mut samples: Vec<Result<Vec<Duration>>> = configurations
        .iter()
        .map(|params| convolver.launch_with(params)?.wait().map(|()| Vec::new()))
        .collect();
    for _ in 0..ROUNDS {
        for (params, samples) in configurations.iter().zip(&mut samples) {
            let Ok(so_far) = samples else { continue };
            match convolver
                .launch_with(params)
                .and_then(|event| event.duration())
            {
                Ok(time) => so_far.push(time),
                Err(error) => *samples = Err(error),
            }
        }
    }
    samples
        .into_iter()
        .map(|samples| samples.map(median))
        .collect()
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Milliseconds with three digits that count.
pub(crate) fn milliseconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    let decimals = if ms >= 100.0 {
        0
    } else if ms >= 10.0 {
        1
    } else if ms >= 1.0 {
        2
    } else {
        3
    };
    format!("{ms:.decimals$} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        let of =
            |values: &[u64]| median(values.iter().copied().map(Duration::from_micros).collect());
        assert_eq!(of(&[9, 1, 5]), Duration::from_micros(5));
        assert_eq!(of(&[]), Duration::ZERO);
    }

    #[test]
    fn times_have_three_digits() {
        for (us, text) in [
            (1234, "1.23 ms"),
            (12_345, "12.3 ms"),
            (234_567, "235 ms"),
            (56, "0.056 ms"),
        ] {
            assert_eq!(milliseconds(Duration::from_micros(us)), text);
        }
    }
}
