//! The worth on this device of the best values of each tuned device.

use crate::Failure;
use crate::convolver::Convolver;
use crate::filter::Filter;
use crate::kernel::convolve;
use crate::picture::Picture;
use crate::timing::{medians, milliseconds};
use cltune::Queue;

/// For each size: the default's time and the time with each device's values, timed in turns.
pub(crate) fn run(
    queue: &Queue,
    picture: &Picture,
    sizes: impl Iterator<Item = u32>,
) -> Result<(), Failure> {
    println!("\n| filter | values of | time here | against the default |");
    println!("|---|---|---|---|");
    for size in sizes {
        let mut convolver = Convolver::new(queue, &picture.planes[0], &Filter::unsharp_mask(size))?;
        let problem = convolver.problem();
        let mut names = vec!["the default".to_owned()];
        let mut configurations = vec![convolve::default_params(queue.device(), problem)?];
        for known in convolve::BAKED
            .iter()
            .filter(|known| known.problem == problem)
        {
            names.push(format!("{} ({})", known.device, known.platform));
            configurations.push(known.params);
        }
        let times = medians(&mut convolver, &configurations);
        let default = times.first().and_then(|time| time.as_ref().ok().copied());
        for (name, time) in names.iter().zip(&times) {
            let (time, gain) = match time {
                Ok(time) => {
                    let gain = default.map(|default| default.as_secs_f64() / time.as_secs_f64());
                    let gain = gain.map_or_else(String::new, |gain| format!("{gain:.2}x"));
                    (milliseconds(*time), gain)
                }
                Err(error) => ("cannot run here".to_owned(), error.to_string()),
            };
            println!("| {size}x{size} | {name} | {time} | {gain} |");
        }
    }
    Ok(())
}
