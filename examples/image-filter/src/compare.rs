//! Filters a picture, and shows default against tuned times from this one run.

use crate::convolver::Convolver;
use crate::filter::Filter;
use crate::kernel::convolve;
use crate::picture::Picture;
use crate::timing::{medians, milliseconds};
use crate::{Failure, numbered};
use cltune::Queue;
use std::path::Path;

/// For each size: filters every colour, times the first, and writes the result.
pub(crate) fn run(
    queue: &Queue,
    picture: &Picture,
    sizes: impl Iterator<Item = u32>,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let plane = &picture.planes[0];
    println!("{} x {} pixels, medians\n", plane.width, plane.height);
    println!("filter      default        tuned  speed-up  values");
    for size in sizes {
        let filter = Filter::unsharp_mask(size);
        compare(queue, picture, &filter)?;
        if let Some(output) = output {
            let file = numbered(output, size);
            filtered(queue, picture, &filter)?.write(&file)?;
            println!("         -> {}", file.display());
        }
    }
    Ok(())
}

fn compare(queue: &Queue, picture: &Picture, filter: &Filter) -> Result<(), Failure> {
    let mut convolver = Convolver::new(queue, &picture.planes[0], filter)?;
    let default = convolve::default_params(queue.device(), convolver.problem())?;
    let selection = convolve::select(queue.device(), convolver.problem())?;
    let mut times = Vec::new();
    for time in medians(&mut convolver, &[default, selection.params]) {
        times.push(time?);
    }
    println!(
        "{:>2} x {:<2} {:>12} {:>12}  {:>7.2}x  {selection}",
        filter.size,
        filter.size,
        milliseconds(times[0]),
        milliseconds(times[1]),
        times[0].as_secs_f64() / times[1].as_secs_f64(),
    );
    Ok(())
}

fn filtered(queue: &Queue, picture: &Picture, filter: &Filter) -> Result<Picture, Failure> {
    let mut result = picture.clone();
    let colours = picture.colours();
    for plane in &mut result.planes[..colours] {
        let mut convolver = Convolver::new(queue, plane, filter)?;
        convolver.launch()?;
        *plane = convolver.output()?;
    }
    Ok(result)
}
