//! Filters a picture with an OpenCL convolution whose work-group size, work per work-item, vector
//! width, caching and unrolling are chosen by cltune.
//!
//! | file | owns |
//! |---|---|
//! | `kernel` | the tunable: parameters, constraints, arguments |
//! | `convolver` | a picture and a filter on a device |
//! | `timing` | several configurations timed in turns |
//! | `compare` | the program's main job: filters, and shows default against tuned times |
//! | `portability` | the values of every tuned device, timed on this one |
//! | `check` | extreme configurations against the definition on the host |
//! | `filter`, `picture`, `scene` | weights, PNG files, the picture that the example comes with |

#![forbid(unsafe_code)]

mod check;
mod compare;
mod convolver;
mod filter;
mod kernel;
mod picture;
mod portability;
mod scene;
mod timing;

use clap::Parser;
use cltune::{Context, Device, Queue};
use picture::{Picture, PictureError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Sharpens a PNG with filters of 3x3, 7x7 and 11x11 weights, and shows what tuning gains.
///
/// The device is the first GPU, else the first device, unless CLTUNE_DEVICE names another.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The picture [default: the landscape that comes with the example]
    input: Option<PathBuf>,
    /// Where to write the filtered pictures: `out.png` becomes `out-3.png`, `out-7.png`, ...
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Only this filter size
    #[arg(long, value_parser = ["3", "7", "11"])]
    size: Option<String>,
    /// Time the values of every device of the lockfile on this device
    #[arg(long, conflicts_with_all = ["output", "check"])]
    portability: bool,
    /// Compare extreme configurations with the definition, on a picture of this size
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = dimensions, conflicts_with = "input")]
    check: Option<(u32, u32)>,
    /// Write the landscape that comes with the example, and stop
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
}

/// Why the program ends without having done its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    OpenCl(#[from] cltune::Error),
    #[error("{0} of the results are wrong")]
    Wrong(usize),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("image-filter: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.scene {
        let landscape = Picture::gray(scene::landscape(scene::SIZE, scene::SIZE));
        return Ok(landscape.write(file)?);
    }
    let queue = Queue::with_profiling(&Context::new(&Device::select()?)?)?;
    println!("{}", queue.device());
    if let Some((width, height)) = arguments.check {
        return check::run(&queue, &scene::landscape(width, height));
    }
    let picture = match &arguments.input {
        Some(file) => Picture::read(file)?,
        None => Picture::gray(scene::landscape(scene::SIZE, scene::SIZE)),
    };
    let sizes = filter::SIZES.into_iter().filter(|size| {
        arguments
            .size
            .as_ref()
            .is_none_or(|only| *only == size.to_string())
    });
    if arguments.portability {
        return portability::run(&queue, &picture, sizes);
    }
    compare::run(&queue, &picture, sizes, arguments.output.as_deref())
}

/// `out.png` and 7: `out-7.png`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.png"))
}

fn dimensions(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        text.parse()
            .ok()
            .filter(|number| (1..=16_384).contains(number))
    };
    text.split_once('x')
        .and_then(|(width, height)| Some((number(width)?, number(height)?)))
        .ok_or_else(|| "two numbers from 1 to 16384, as in 640x480".into())
}
