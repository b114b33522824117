//! Errors of the functions of this module.

use std::fmt;

/// Why a picture or a volume is not computed.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ImagingError {
    /// The picture is too wide or too high.
    #[error(
        "a picture of {width} x {height}: at most {LARGEST} pixels in each direction are possible; compute it in parts"
    )]
    Size {
        /// Pixels in a row.
        width: u32,
        /// The number of rows.
        height: u32,
    },
    /// The window is even, or zero, or too large.
    #[error("a window of {size} x {size} pixels: the size must be odd, from 1 to {LARGEST_WINDOW}")]
    Window {
        /// The size.
        size: u32,
    },
    /// There are no disparities to choose from, or more than a result can hold.
    #[error(
        "{count} disparities: give 1 to {LARGEST_DISPARITIES}, one more than the farthest that a pixel can have moved"
    )]
    Disparities {
        /// The number of disparities.
        count: u32,
    },
    /// The number of voxels is not that of the volume's size.
    #[error(
        "a volume of {} x {} x {} voxels, each side from 1 to {LARGEST_SIDE}, does not have {found} of them",
        size[0], size[1], size[2]
    )]
    Voxels {
        /// Voxels along x, y and z.
        size: [u32; 3],
        /// The number of voxels given.
        found: usize,
    },
    /// The distance of samples along a ray is no positive number, or too small for the volume.
    #[error("a step of {step} voxels: give a number from {LEAST_STEP} on")]
    Step {
        /// The distance, voxels.
        step: f32,
    },
    /// What is left of a ray's transparency where it ends is no number.
    #[error("a cutoff of {cutoff}: give the transparency at which a ray may end, 0 for none")]
    Cutoff {
        /// The transparency.
        cutoff: f32,
    },
    /// A camera's angle or zoom is no number, or the zoom is not positive.
    #[error(
        "a camera of yaw {yaw}, pitch {pitch} and zoom {zoom}: give finite angles and a positive zoom"
    )]
    Camera {
        /// The angle around the vertical axis, radians.
        yaw: f32,
        /// The angle above the horizon, radians.
        pitch: f32,
        /// The magnification.
        zoom: f32,
    },
    /// The view was made with a volume of another size, and its rays pass that one.
    #[error(
        "the view is of a volume of {} x {} x {} voxels, not of this one of {} x {} x {}: make another `View` with \
         this volume",
        of[0], of[1], of[2], volume[0], volume[1], volume[2]
    )]
    View {
        /// Voxels along x, y and z of the volume that the view was made with.
        of: [u32; 3],
        /// Those of the volume given.
        volume: [u32; 3],
    },
    /// A buffer is too short, or OpenCL fails.
    #[error(transparent)]
    Runtime(#[from] cltune::Error),
}

/// The kernels' coordinates have 32 bits, and they look a little beyond the picture.
const LARGEST: u32 = 1 << 30;

/// Of the sides of a window, pixels.
pub(super) const LARGEST_WINDOW: u32 = 127;

/// A result is a 16-bit number.
pub(super) const LARGEST_DISPARITIES: u32 = 1 << 16;

/// Of the sides of a volume, voxels: positions are floats, which count so far in hundredths.
pub(super) const LARGEST_SIDE: u32 = 1 << 14;

/// Of the distance of samples, voxels: beyond it a ray of the largest volume has more samples than
/// floats count.
pub(super) const LEAST_STEP: f32 = 1.0 / 256.0;

/// As its text, as [`cltune::Error`].
impl fmt::Debug for ImagingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A picture's size as the kernels' numbers; `None` where it has no pixels.
pub(super) fn picture_size(width: u32, height: u32) -> Result<Option<(i32, i32)>, ImagingError> {
    if width > LARGEST || height > LARGEST {
        return Err(ImagingError::Size { width, height });
    }
    Ok((width > 0 && height > 0).then_some((width as i32, height as i32)))
}

/// A window's size as the kernels' number.
pub(super) fn window_size(size: u32) -> Result<i32, ImagingError> {
    if size.is_multiple_of(2) || size > LARGEST_WINDOW {
        return Err(ImagingError::Window { size });
    }
    Ok(size as i32)
}
