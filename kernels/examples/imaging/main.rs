//! The times of the box filter, the ray casting and the stereo matching on this device, at the
//! sizes of Falch & Elster 2015 or others:
//!
//! ```text
//! cargo run --release -p cltune-kernels --example imaging
//! cargo run --release -p cltune-kernels --example imaging -- time box WIDTH HEIGHT SIZE
//! cargo run --release -p cltune-kernels --example imaging -- time raycast PIXELS VOXELS
//! cargo run --release -p cltune-kernels --example imaging -- time stereo WIDTH HEIGHT WINDOW DISPARITIES
//! cargo run --release -p cltune-kernels --example imaging -- pair WIDTH HEIGHT FOLDER
//! cargo run --release -p cltune-kernels --example imaging -- phantom VOXELS FOLDER
//! ```
//!
//! The first is a table. `time` prints microseconds for one launch; `pair` and `phantom` write the
//! gray values of the scene (`left`, `right`, `known`, one byte for each pixel) and the densities
//! of the volume (`phantom`): both for programs that compare.

#[path = "../conv2d/time.rs"]
mod time;

use cltune::{Buffer, Queue};
use cltune_kernels::conv2d::Border;
use cltune_kernels::imaging::{
    Camera, Matching, Picture, Transfer, View, Volume, box_filter, match_stereo, raycast, scenes,
};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let time = match arguments[..] {
        [] => return table(&Queue::default_device()?),
        ["pair", width, height, folder] => {
            return write_pair(width.parse()?, height.parse()?, Path::new(folder));
        }
        ["phantom", voxels, folder] => {
            let voxels = scenes::phantom([voxels.parse()?; 3]);
            return Ok(std::fs::write(Path::new(folder).join("phantom"), voxels)?);
        }
        ["time", "box", width, height, size] => time_of_box(
            &Queue::default_device()?,
            width.parse()?,
            height.parse()?,
            size.parse()?,
        ),
        ["time", "raycast", pixels, voxels] => {
            time_of_raycast(&Queue::default_device()?, pixels.parse()?, voxels.parse()?)
        }
        ["time", "stereo", width, height, window, disparities] => {
            let matching = Matching {
                window: window.parse()?,
                disparities: disparities.parse()?,
            };
            time_of_stereo(
                &Queue::default_device()?,
                width.parse()?,
                height.parse()?,
                matching,
            )
        }
        _ => {
            return Err(
                "see the first lines of kernels/examples/imaging/main.rs for what can be asked"
                    .into(),
            );
        }
    };
    println!("{:.3}", time?.as_secs_f64() * 1e6);
    Ok(())
}

fn table(queue: &Queue) -> Result<()> {
    println!("{}", queue.device());
    let stereo = Matching {
        window: 9,
        disparities: 64,
    };
    let rows = [
        (
            "box filter, 2048 x 2048, 5 x 5",
            time_of_box(queue, 2048, 2048, 5)?,
        ),
        (
            "ray casting, 1024 x 1024 of 512 x 512 x 512",
            time_of_raycast(queue, 1024, 512)?,
        ),
        (
            "stereo matching, 1024 x 1024, 9 x 9, 64",
            time_of_stereo(queue, 1024, 1024, stereo)?,
        ),
    ];
    for (name, time) in rows {
        println!("{name}: {:.1} us", time.as_secs_f64() * 1e6);
    }
    Ok(())
}

fn time_of_box(queue: &Queue, width: u32, height: u32, size: u32) -> Result<Duration> {
    // Which pixels these are makes no difference to the time.
    let pixels = scenes::stereo_pair(width, height)
        .left
        .into_iter()
        .map(f32::from);
    let pixels = Buffer::from_slice(queue, &pixels.collect::<Vec<f32>>())?;
    let picture = Picture::new(queue, width, height, &pixels, size, Border::Nearest)?;
    let mut output = Buffer::new(queue.context(), pixels.len())?;
    time::median(queue, || {
        box_filter(queue, &picture, &mut output)
            .map(drop)
            .map_err(Into::into)
    })
}

/// The head from aside at a step of a voxel. The table is nearly transparent, so that no ray ends
/// early.
fn time_of_raycast(queue: &Queue, pixels: u32, voxels: u32) -> Result<Duration> {
    let volume = Volume::new(queue, [voxels; 3], &scenes::phantom([voxels; 3]))?;
    let transfer = Transfer::new(
        queue,
        &std::array::from_fn(|density| [density as f32 * 1e-5; 4]),
    )?;
    let camera = Camera {
        yaw: 0.6,
        pitch: 0.2,
        zoom: 1.0,
        step: 1.0,
    };
    let view = View::new(queue, &volume, pixels, pixels, camera)?;
    let mut output = Buffer::new(queue.context(), pixels as usize * pixels as usize)?;
    time::median(queue, || {
        raycast(queue, &volume, &transfer, &view, 0.0, &mut output)
            .map(drop)
            .map_err(Into::into)
    })
}

fn time_of_stereo(queue: &Queue, width: u32, height: u32, matching: Matching) -> Result<Duration> {
    let scene = scenes::stereo_pair(width, height);
    let left = Buffer::from_slice(queue, &scene.left)?;
    let right = Buffer::from_slice(queue, &scene.right)?;
    let mut disparity = Buffer::new(queue.context(), scene.left.len())?;
    time::median(queue, || {
        match_stereo(
            queue,
            width,
            height,
            matching,
            &left,
            &right,
            &mut disparity,
        )
        .map(drop)
        .map_err(Into::into)
    })
}

fn write_pair(width: u32, height: u32, folder: &Path) -> Result<()> {
    let scene = scenes::stereo_pair(width, height);
    std::fs::write(folder.join("left"), scene.left)?;
    std::fs::write(folder.join("right"), scene.right)?;
    let known: Vec<u8> = scene
        .disparity
        .iter()
        .map(|disparity| u8::try_from(*disparity))
        .collect::<Result<_, _>>()?;
    Ok(std::fs::write(folder.join("known"), known)?)
}
