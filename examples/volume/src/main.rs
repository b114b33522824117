//! Renders a picture of a volume.

#![forbid(unsafe_code)]

use clap::Parser;
use cltune::{Buffer, Context, Device, Queue};
use cltune_kernels::imaging::{
    Camera, ImagingError, Transfer, View, Volume, imaging_raycast, raycast, scenes,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Renders a head of skin, bone and brain, made by formulas, as a PNG.
///
/// The device is the first GPU, else the first device, unless CLTUNE_DEVICE names another.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The PNG to write
    #[arg(long, short, default_value = "volume.png")]
    output: PathBuf,
    /// Voxels along each side of the volume
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    voxels: u32,
    /// Pixels on each side of the picture
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pixels: u32,
    /// The angle around the head, degrees; 0 is the face
    #[arg(long, default_value_t = 35.0, allow_negative_numbers = true)]
    yaw: f32,
    /// The angle above the horizon, degrees
    #[arg(long, default_value_t = 12.0, allow_negative_numbers = true)]
    pitch: f32,
    /// The magnification
    #[arg(long, default_value_t = 1.6)]
    zoom: f32,
    /// The distance of the samples, voxels
    #[arg(long, default_value_t = 0.5)]
    step: f32,
}

/// Why the program ends without having done its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Imaging(#[from] ImagingError),
    #[error(transparent)]
    OpenCl(#[from] cltune::Error),
    #[error("cannot write the picture {path}: {source}")]
    Write {
        path: PathBuf,
        source: png::EncodingError,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("volume: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let queue = Queue::with_profiling(&Context::new(&Device::select()?)?)?;
    let (voxels, pixels) = (arguments.voxels, arguments.pixels);
    let volume = Volume::new(&queue, [voxels; 3], &scenes::phantom([voxels; 3]))?;
    // At twice the resolution a ray meets twice as many samples, of half the opacity.
    let transfer = Transfer::new(&queue, &colours(arguments.step * 256.0 / voxels as f32))?;
    let camera = Camera {
        yaw: arguments.yaw.to_radians(),
        pitch: arguments.pitch.to_radians(),
        zoom: arguments.zoom,
        step: arguments.step,
    };
    let view = View::new(&queue, &volume, pixels, pixels, camera)?;
    let mut output = Buffer::new(queue.context(), pixels as usize * pixels as usize)?;
    if let Some(event) = raycast(&queue, &volume, &transfer, &view, 1.0 / 256.0, &mut output)? {
        event.wait()?;
        let side = i64::from(voxels);
        let problem = imaging_raycast::Problem {
            width: pixels.into(),
            height: pixels.into(),
            size_x: side,
            size_y: side,
            size_z: side,
        };
        println!("{}", queue.device());
        println!("{}", imaging_raycast::select(queue.device(), problem)?);
        println!("{:.3} ms", event.duration()?.as_secs_f64() * 1e3);
    }
    let picture = output.read(&queue)?;
    write(&arguments.output, pixels, &picture).map_err(|source| Failure::Write {
        path: arguments.output.clone(),
        source,
    })
}

/// Skin, bone and brain, for samples at a distance of `step` 256ths of the volume.
fn colours(step: f32) -> [[f32; 4]; 256] {
    std::array::from_fn(|density| {
        // Red, green and blue, and the opacity of a 256th of the volume.
        let (colour, opacity) = match density {
            1..40 => ([0.25, 0.02, 0.02], 0.02),
            40..80 => ([1.0, 0.55, 0.35], 0.012),
            80..100 => ([0.3, 0.6, 1.0], 0.3),
            100..150 => {
                // Folds are darker inside.
                let light = (density - 100) as f32 / 50.0;
                (
                    [0.6 + 0.4 * light, 0.25 + 0.35 * light, 0.3 + 0.3 * light],
                    0.03,
                )
            }
            150.. => ([1.0, 0.95, 0.82], 0.06),
            _ => ([0.0; 3], 0.0),
        };
        let opacity = 1.0 - (1.0_f32 - opacity).powf(step);
        let [red, green, blue] = colour.map(|part| part * opacity);
        [red, green, blue, opacity]
    })
}

/// Writes the picture before black.
fn write(path: &Path, size: u32, picture: &[[f32; 4]]) -> Result<(), png::EncodingError> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(&mut file, size, size);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    let bytes = |pixel: &[f32; 4]| {
        [pixel[0], pixel[1], pixel[2]].map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8)
    };
    let bytes: Vec<u8> = picture.iter().flat_map(bytes).collect();
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(file.flush()?)
}
