//! Box filter, ray casting and stereo matching: the kernels of Falch & Elster 2015, which places
//! its data in every memory that a device has.
//!
//! | file | owns |
//! |---|---|
//! | `box_filter` | means of the pixels around each pixel |
//! | `raycast` | pictures of volumes |
//! | `stereo` | disparities of two pictures |
//! | `error` | what the functions refuse |
//! | `scenes` | a volume and a pair of pictures for examples, tests and benchmarks |
//!
//! ```no_run
//! use cltune_kernels::imaging::{Matching, match_stereo, scenes};
//! use cltune::{Buffer, Queue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::default_device()?;
//! let (width, height) = (640, 480);
//! let scene = scenes::stereo_pair(width, height);
//! let left = Buffer::from_slice(&queue, &scene.left)?;
//! let right = Buffer::from_slice(&queue, &scene.right)?;
//! let mut disparity = Buffer::new(queue.context(), scene.left.len())?;
//! let matching = Matching { window: 9, disparities: 64 };
//! match_stereo(&queue, width, height, matching, &left, &right, &mut disparity)?;
//! # Ok(())
//! # }
//! ```

mod box_filter;
mod error;
mod raycast;
pub mod scenes;
mod stereo;

pub use box_filter::{Picture, box_filter, imaging_box, imaging_pad};
pub use error::ImagingError;
pub use raycast::{Camera, Transfer, View, Volume, imaging_raycast, raycast};
pub use stereo::{Matching, imaging_stereo, match_stereo};
