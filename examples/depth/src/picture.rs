//! Gray PNG files.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A gray picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Pixels in a row.
    pub(crate) width: u32,
    /// The number of rows.
    pub(crate) height: u32,
    /// Row by row; 0 is black, 255 is white.
    pub(crate) gray: Vec<u8>,
}

/// Why a picture was not read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureError {
    #[error("cannot {action} the picture {path}: {source}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} is not a readable PNG: {source}")]
    Decode {
        path: PathBuf,
        source: png::DecodingError,
    },
    #[error("cannot write the picture {path}: {source}")]
    Encode {
        path: PathBuf,
        source: png::EncodingError,
    },
}

impl Picture {
    /// Reads a PNG of any kind; of colours the mean counts.
    pub(crate) fn read(path: &Path) -> Result<Self, PictureError> {
        let path = || path.to_owned();
        let file = File::open(path()).map_err(|source| PictureError::File {
            action: "open",
            path: path(),
            source,
        })?;
        let decode = || -> Result<Self, png::DecodingError> {
            let mut decoder = png::Decoder::new(BufReader::new(file));
            decoder.set_transformations(png::Transformations::normalize_to_color8());
            let mut reader = decoder.read_info()?;
            let size = reader.output_buffer_size();
            let mut bytes = vec![0; size.ok_or(png::DecodingError::LimitsExceeded)?];
            let info = reader.next_frame(&mut bytes)?;
            let channels = info.color_type.samples();
            // Without alpha.
            let colours = if channels < 3 { 1 } else { 3 };
            let mean = |pixel: &[u8]| {
                let sum: u32 = pixel[..colours].iter().copied().map(u32::from).sum();
                (sum / colours as u32) as u8
            };
            Ok(Self {
                width: info.width,
                height: info.height,
                gray: bytes.chunks_exact(channels).map(mean).collect(),
            })
        };
        decode().map_err(|source| PictureError::Decode {
            path: path(),
            source,
        })
    }

    /// Writes a PNG.
    pub(crate) fn write(&self, path: &Path) -> Result<(), PictureError> {
        let file = File::create(path).map_err(|source| PictureError::File {
            action: "create",
            path: path.to_owned(),
            source,
        })?;
        let encode = || -> Result<(), png::EncodingError> {
            let mut file = BufWriter::new(file);
            let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
            encoder.set_color(png::ColorType::Grayscale);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&self.gray)?;
            writer.finish()?;
            Ok(file.flush()?)
        };
        encode().map_err(|source| PictureError::Encode {
            path: path.to_owned(),
            source,
        })
    }
}
