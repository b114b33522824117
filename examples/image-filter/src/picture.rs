//! Pictures as planes of floats, and their PNG files.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// One channel of a picture; 0 is dark, 1 is bright.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plane {
    /// Pixels in a row, at least 1.
    pub(crate) width: u32,
    /// Rows, at least 1.
    pub(crate) height: u32,
    /// The pixels, row by row.
    pub(crate) values: Vec<f32>,
}

/// A picture of 8 bits per channel: gray or RGB, each with or without alpha.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    /// The colour channels, and alpha last where there is one; all of the same size.
    pub(crate) planes: Vec<Plane>,
}

/// Why a picture was not read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureError {
    /// The file could not be opened or created.
    #[error("cannot {action} the picture {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// The content is not a PNG that this program understands.
    #[error("{path} is not a readable PNG: {source}")]
    Decode {
        path: PathBuf,
        source: png::DecodingError,
    },
    /// Writing failed.
    #[error("cannot write the picture {path}: {source}")]
    Encode {
        path: PathBuf,
        source: png::EncodingError,
    },
}

impl Picture {
    /// A gray picture.
    pub(crate) fn gray(plane: Plane) -> Self {
        Self {
            planes: vec![plane],
        }
    }

    /// The number of planes which hold colour: all but alpha.
    pub(crate) fn colours(&self) -> usize {
        match self.planes.len() {
            2 => 1,
            planes => planes.min(3),
        }
    }

    /// Reads a PNG of any kind.
    pub(crate) fn read(path: &Path) -> Result<Self, PictureError> {
        let file = File::open(path).map_err(|source| PictureError::File {
            action: "open",
            path: path.to_owned(),
            source,
        })?;
        let decode = || -> Result<Self, png::DecodingError> {
            let mut decoder = png::Decoder::new(BufReader::new(file));
            decoder.set_transformations(png::Transformations::normalize_to_color8());
            let mut reader = decoder.read_info()?;
            let size = reader
                .output_buffer_size()
                .ok_or(png::DecodingError::LimitsExceeded)?;
            let mut bytes = vec![0; size];
            let info = reader.next_frame(&mut bytes)?;
            let channels = info.color_type.samples();
            let plane = |channel| Plane {
                width: info.width,
                height: info.height,
                values: bytes[channel..]
                    .iter()
                    .step_by(channels)
                    .map(|byte| f32::from(*byte) / 255.0)
                    .collect(),
            };
            Ok(Self {
                planes: (0..channels).map(plane).collect(),
            })
        };
        decode().map_err(|source| PictureError::Decode {
            path: path.to_owned(),
            source,
        })
    }

    /// Writes a PNG; values outside 0..=1 become the nearest of these.
    pub(crate) fn write(&self, path: &Path) -> Result<(), PictureError> {
        let file = File::create(path).map_err(|source| PictureError::File {
            action: "create",
            path: path.to_owned(),
            source,
        })?;
        let mut bytes = vec![0; self.planes.iter().map(|plane| plane.values.len()).sum()];
        for (channel, plane) in self.planes.iter().enumerate() {
            let places = bytes[channel..].iter_mut().step_by(self.planes.len());
            for (byte, value) in places.zip(&plane.values) {
                *byte = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            }
        }
        let encode = || -> Result<(), png::EncodingError> {
            let mut file = BufWriter::new(file);
            let plane = &self.planes[0];
            let mut encoder = png::Encoder::new(&mut file, plane.width, plane.height);
            encoder.set_color(match self.planes.len() {
                1 => png::ColorType::Grayscale,
                2 => png::ColorType::GrayscaleAlpha,
                3 => png::ColorType::Rgb,
                _ => png::ColorType::Rgba,
            });
            encoder.set_compression(png::Compression::High);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&bytes)?;
            writer.finish()?;
            Ok(file.flush()?)
        };
        encode().map_err(|source| PictureError::Encode {
            path: path.to_owned(),
            source,
        })
    }
}
