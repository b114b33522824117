//! Finds how far away everything is in two pictures that cameras side by side have taken.
//!
//! | file | owns |
//! |---|---|
//! | `picture` | PNG files |

#![forbid(unsafe_code)]

mod picture;

use clap::Parser;
use cltune::{Buffer, Context, Device, Queue};
use cltune_kernels::imaging::scenes::{self, StereoPair};
use cltune_kernels::imaging::{ImagingError, Matching, imaging_stereo, match_stereo};
use picture::{Picture, PictureError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes the depth of a scene as a PNG: the brighter, the nearer.
///
/// Without pictures it takes a made scene, writes its two views as well, and says how much of the
/// known depth was found. The device is the first GPU, else the first device, unless CLTUNE_DEVICE
/// names another.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What the left camera sees, a PNG
    #[arg(requires = "right")]
    left: Option<PathBuf>,
    /// What the right camera sees, of the same size, with the same in each row
    right: Option<PathBuf>,
    /// The folder for `depth.png` and, of the made scene, `left.png`, `right.png` and `known.png`
    #[arg(long, short, default_value = ".")]
    output: PathBuf,
    /// Pixels on each side of the made scene
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    size: u32,
    /// Pixels in each direction of the window that is compared; odd
    #[arg(long, default_value_t = 9)]
    window: u32,
    /// One more than the farthest that a pixel can have moved [default: a 18th of the width]
    #[arg(long)]
    disparities: Option<u32>,
}

/// Why the program ends without having done its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    Imaging(#[from] ImagingError),
    #[error(transparent)]
    OpenCl(#[from] cltune::Error),
    #[error(
        "the left picture has {left:?} pixels and the right one {right:?}: both need the same size"
    )]
    Sizes { left: [u32; 2], right: [u32; 2] },
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("depth: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let queue = Queue::with_profiling(&Context::new(&Device::select()?)?)?;
    if let (Some(left), Some(right)) = (&arguments.left, &arguments.right) {
        return find_depth(
            &queue,
            arguments,
            &Picture::read(left)?,
            &Picture::read(right)?,
        )
        .map(drop);
    }
    let size = arguments.size;
    let StereoPair {
        left,
        right,
        disparity,
    } = scenes::stereo_pair(size, size);
    let [left, right] = [left, right].map(|gray| Picture {
        width: size,
        height: size,
        gray,
    });
    left.write(&arguments.output.join("left.png"))?;
    right.write(&arguments.output.join("right.png"))?;
    map(size, size, &disparity).write(&arguments.output.join("known.png"))?;
    let found = find_depth(&queue, arguments, &left, &right)?;
    let right = found
        .iter()
        .zip(&disparity)
        .filter(|(found, known)| found.abs_diff(**known) <= 1);
    let part = 100.0 * right.count() as f64 / found.len().max(1) as f64;
    println!("{part:.1} % of the disparities are within a pixel of the known ones");
    Ok(())
}

/// Matches two pictures and writes the depth.
fn find_depth(
    queue: &Queue,
    arguments: &Arguments,
    left: &Picture,
    right: &Picture,
) -> Result<Vec<u16>, Failure> {
    let sizes = [left, right].map(|picture| [picture.width, picture.height]);
    if sizes[0] != sizes[1] {
        return Err(Failure::Sizes {
            left: sizes[0],
            right: sizes[1],
        });
    }
    let [width, height] = sizes[0];
    let matching = Matching {
        window: arguments.window,
        disparities: arguments
            .disparities
            .unwrap_or(StereoPair::disparities(width)),
    };
    let [left, right] = [&left.gray, &right.gray].map(|gray| Buffer::from_slice(queue, gray));
    let (left, right) = (left?, right?);
    let mut disparity = Buffer::new(queue.context(), left.len())?;
    if let Some(event) = match_stereo(
        queue,
        width,
        height,
        matching,
        &left,
        &right,
        &mut disparity,
    )? {
        event.wait()?;
        let problem = imaging_stereo::Problem {
            width: width.into(),
            height: height.into(),
            window: matching.window.into(),
            disparities: matching.disparities.into(),
        };
        println!("{}", queue.device());
        println!("{}", imaging_stereo::select(queue.device(), problem)?);
        println!("{:.3} ms", event.duration()?.as_secs_f64() * 1e3);
    }
    let found = disparity.read(queue)?;
    map(width, height, &found).write(&arguments.output.join("depth.png"))?;
    Ok(found)
}

/// Disparities as a picture in which the largest is white.
fn map(width: u32, height: u32, disparity: &[u16]) -> Picture {
    let largest = disparity.iter().copied().max().unwrap_or(0).max(1);
    let gray = disparity
        .iter()
        .map(|of| (u32::from(*of) * 255 / u32::from(largest)) as u8);
    Picture {
        width,
        height,
        gray: gray.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_white() {
        let picture = map(3, 1, &[0, 5, 10]);
        assert_eq!(picture.gray, [0, 127, 255]);
        assert_eq!(map(2, 1, &[0, 0]).gray, [0, 0]);
        assert!(map(0, 0, &[]).gray.is_empty());
    }

    #[test]
    fn a_picture_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("cltune-depth-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let picture = map(3, 2, &[0, 1, 2, 3, 4, 5]);
        picture.write(&folder.join("a.png")).unwrap();
        assert_eq!(Picture::read(&folder.join("a.png")).unwrap(), picture);
        let missing = Picture::read(&folder.join("b.png")).unwrap_err();
        assert!(missing.to_string().contains("cannot open"), "{missing}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn views_of_different_sizes_are_refused() {
        let queue = Queue::default_device().unwrap();
        let arguments = Arguments::parse_from(["depth"]);
        let views = [map(3, 2, &[0; 6]), map(2, 3, &[0; 6])];
        let failure = find_depth(&queue, &arguments, &views[0], &views[1]).unwrap_err();
        assert!(
            failure.to_string().contains("both need the same size"),
            "{failure}"
        );
    }
}
