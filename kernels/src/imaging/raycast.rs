//! Pictures of volumes.

use super::ImagingError;
use super::error::{LARGEST_SIDE, LEAST_STEP, picture_size};
use cltune::{Buffer, Event, Queue, Result, tunable};

/// Densities on a device: a cuboid of 8-bit numbers.
#[derive(Debug)]
pub struct Volume {
    size: [i32; 3],
    voxels: Buffer<u8>,
}

impl Volume {
    /// A volume of `size` voxels along x, y and z; x runs fastest, then y.
    ///
    /// # Errors
    /// There are more or fewer voxels than the size says, a side is 0 or above 16,384, or OpenCL
    /// fails: [`ImagingError`].
    pub fn new(queue: &Queue, size: [u32; 3], voxels: &[u8]) -> Result<Self, ImagingError> {
        let is_side = |side: &u32| (1..=LARGEST_SIDE).contains(side);
        let count = |size: [u32; 3]| size.map(u64::from).iter().product::<u64>();
        if !size.iter().all(is_side) || count(size) != voxels.len() as u64 {
            let found = voxels.len();
            return Err(ImagingError::Voxels { size, found });
        }
        Ok(Self {
            size: size.map(|side| side as i32),
            voxels: Buffer::from_slice(queue, voxels)?,
        })
    }
}

/// A transfer function on a device: the colour of each density.
#[derive(Debug)]
pub struct Transfer {
    colours: Buffer<[f32; 4]>,
}

impl Transfer {
    /// The colours of the densities from 0 to 255: red, green, blue and opacity of one sample, each
    /// from 0 to 1. The first three are multiplied by the opacity already.
    ///
    /// # Errors
    /// OpenCL fails: [`ImagingError::Runtime`].
    pub fn new(queue: &Queue, colours: &[[f32; 4]; 256]) -> Result<Self, ImagingError> {
        Ok(Self {
            colours: Buffer::from_slice(queue, colours)?,
        })
    }
}

/// Where a picture of a volume is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The angle around the volume's y axis, radians. At 0 and pitch 0 the camera looks along the z
    /// axis, with x to the right and y downwards.
    pub yaw: f32,
    /// The angle above the volume's x-z plane, radians.
    pub pitch: f32,
    /// The magnification: at 1 the volume's diagonal fills the shorter side of the picture.
    pub zoom: f32,
    /// The distance of the samples along a ray, voxels.
    pub step: f32,
}

/// Parallel rays through a volume, one for each pixel of a picture; on a device. They serve for all
/// volumes of its size.
#[derive(Debug)]
pub struct View {
    /// The size of the volume.
    volume: [i32; 3],
    width: u32,
    height: u32,
    rays: Buffer<[f32; 4]>,
}

impl View {
    /// The rays of a picture of `width` x `height` pixels, whose centre shows the centre of the
    /// volume.
    ///
    /// # Errors
    /// The picture is too large, the step is below 1/256, an angle is no finite number, the zoom is
    /// not positive, or OpenCL fails: [`ImagingError`].
    pub fn new(
        queue: &Queue,
        volume: &Volume,
        width: u32,
        height: u32,
        camera: Camera,
    ) -> Result<Self, ImagingError> {
        picture_size(width, height)?;
        let Camera {
            yaw,
            pitch,
            zoom,
            step,
        } = camera;
        if !(step.is_finite() && step >= LEAST_STEP) {
            return Err(ImagingError::Step { step });
        }
        if !(yaw.is_finite() && pitch.is_finite() && zoom.is_finite() && zoom > 0.0) {
            return Err(ImagingError::Camera { yaw, pitch, zoom });
        }
        let rays = rays(
            volume.size,
            [width, height],
            [yaw, pitch, zoom, step].map(f64::from),
        );
        Ok(Self {
            volume: volume.size,
            width,
            height,
            rays: Buffer::from_slice(queue, &rays)?,
        })
    }

    /// The rays on the device, in voxels: the first sample of the upper left pixel's ray, from a
    /// pixel to the next in its row, from a row to the next, and from a sample to the next; the
    /// last component of that is the number of samples.
    pub fn rays(&self) -> &Buffer<[f32; 4]> {
        &self.rays
    }
}

/// The vectors that [`View::rays`] has.
fn rays(size: [i32; 3], picture: [u32; 2], [yaw, pitch, zoom, step]: [f64; 4]) -> [[f32; 4]; 4] {
    let size = size.map(f64::from);
    let diagonal = size.iter().map(|side| side * side).sum::<f64>().sqrt();
    let [width, height] = picture.map(f64::from);
    let spacing = diagonal / zoom / width.min(height).max(1.0);
    // A right angle in single precision has a cosine that is nearly zero, and rays shall run along
    // the axis.
    let sine_and_cosine = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        [sine, cosine].map(|value| if value.abs() < 1e-7 { 0.0 } else { value })
    };
    let [yaw, pitch] = [yaw, pitch].map(sine_and_cosine);
    let right = [yaw[1], 0.0, -yaw[0]];
    let away = [pitch[1] * yaw[0], pitch[0], pitch[1] * yaw[1]];
    let below = [-pitch[0] * yaw[0], pitch[1], -pitch[0] * yaw[1]];
    let vector = |of: &dyn Fn(usize) -> f64, last: f64| {
        [of(0) as f32, of(1) as f32, of(2) as f32, last as f32]
    };
    let corner = |axis: usize| {
        let across = (width - 1.0) / 2.0 * spacing * right[axis];
        let down = (height - 1.0) / 2.0 * spacing * below[axis];
        size[axis] / 2.0 - diagonal / 2.0 * away[axis] - across - down
    };
    [
        vector(&corner, 0.0),
        vector(&|axis| spacing * right[axis], 0.0),
        vector(&|axis| spacing * below[axis], 0.0),
        vector(&|axis| step * away[axis], (diagonal / step).ceil()),
    ]
}

/// Writes the picture of a volume into the first `width * height` elements of `output` (the view's
/// sizes), row by row: red, green, blue and opacity, the first three multiplied by the last. Each
/// pixel's ray takes samples from front to back at the view's step; what is behind counts as much
/// as what is before it is transparent.
///
/// A ray ends early where what is left of its transparency is at most `cutoff`: at 0 all samples
/// count, and at 1/256 the picture looks the same and takes less time.
///
/// It uses the best values known for the queue's device and the sizes. Where the volume is larger
/// than the device's images can be, it stays in a buffer. A picture without pixels is computed
/// without a launch: `None`.
///
/// # Errors
/// `view` was made with a volume of another size, `cutoff` is NaN, `output` is too short, or OpenCL
/// fails: [`ImagingError`].
pub fn raycast(
    queue: &Queue,
    volume: &Volume,
    transfer: &Transfer,
    view: &View,
    cutoff: f32,
    output: &mut Buffer<[f32; 4]>,
) -> Result<Option<Event>, ImagingError> {
    if view.volume != volume.size {
        let [of, volume] = [view.volume, volume.size].map(|size| size.map(i32::cast_unsigned));
        return Err(ImagingError::View { of, volume });
    }
    let Some((width, height)) = picture_size(view.width, view.height)? else {
        return Ok(None);
    };
    if cutoff.is_nan() {
        return Err(ImagingError::Cutoff { cutoff });
    }
    let [x, y, z] = volume.size;
    let table = &transfer.colours;
    let voxels = &volume.voxels;
    Ok(Some(imaging_raycast(
        queue, width, height, x, y, z, cutoff, &view.rays, voxels, table, table, output,
    )?))
}

/// The picture of `width` x `height` pixels of a volume of `size_x` x `size_y` x `size_z` voxels, x
/// fastest, by the parallel rays of `view` (four vectors, see `ray.cl`). `transfer` and
/// `constant_transfer` are the same table. [`raycast`](raycast()) is the checked way to call it.
///
/// The kernel is the ray casting of Falch & Elster 2015, tables 1 and 2, with the parameters and
/// values of that paper: 655,360 configurations. docs/imaging.md says what each does.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes (as where one is 0), or OpenCL fails.
#[tunable(
    source = "src/imaging/raycast.cl",
    params(
        WGX = powers_of_two(1..=128), WGY = powers_of_two(1..=128),
        PPX = powers_of_two(1..=128), PPY = powers_of_two(1..=128),
        VOLUME = ["buffer", "image"],
        TABLE = ["buffer", "image"],
        TABLE_CONSTANT = ["buffer", "constant"],
        TABLE_LOCAL = [false, true],
        INTERLEAVED = [false, true],
        UNROLL = [1, 2, 4, 8, 16],
    ),
    // The table is read from one place.
    constraints(TABLE == "buffer" || TABLE_CONSTANT == "buffer"),
    global(width.div_ceil(WGX * PPX) * WGX, height.div_ceil(WGY * PPY) * WGY),
    local(WGX, WGY),
    local_memory(if TABLE_LOCAL { 4096 } else { 0 }),
    defaults(
        WGX = 16, WGY = 16, PPX = 1, PPY = 1, VOLUME = "buffer", TABLE = "buffer", TABLE_CONSTANT = "buffer",
        TABLE_LOCAL = false, INTERLEAVED = true, UNROLL = 1,
    ),
    // A processor takes seconds for the paper's size, and likes the values of a quarter of it in
    // each direction.
    tune(width = 1024, height = 1024, size_x = 512, size_y = 512, size_z = 512),
    tune(width = 256, height = 256, size_x = 128, size_y = 128, size_z = 128),
    tune_if(device.is_gpu == 1 || width <= 256),
    prepare(
        source = "src/imaging/raycast_reference.cl",
        stage(oblique_view(width, height, size_x, size_y, size_z, view), global(1)),
        stage(copy_of_table(transfer, constant_transfer), global(256)),
    ),
    reference(
        kernel = "imaging_raycast_reference", source = "src/imaging/raycast_reference.cl", global(width, height),
    ),
    tolerance(accumulates = size_x + size_y + size_z),
)]
pub fn imaging_raycast(
    queue: &Queue,
    width: i32,
    height: i32,
    size_x: i32,
    size_y: i32,
    size_z: i32,
    #[arg(value = 0.0)] cutoff: f32,
    #[arg(len = 4, fill = prepared)] view: &Buffer<[f32; 4]>,
    #[arg(
        len = size_x * size_y * size_z, memory = VOLUME, image = [size_x, size_y, size_z], fill = uniform(0, 255),
    )]
    volume: &Buffer<u8>,
    #[arg(len = 256, memory = TABLE, image = [256, 1], fill = uniform(0, 0.02))] transfer: &Buffer<
        [f32; 4],
    >,
    #[arg(len = 256, memory = TABLE_CONSTANT, fill = prepared)] constant_transfer: &Buffer<
        [f32; 4],
    >,
    #[arg(out, len = width * height)] output: &mut Buffer<[f32; 4]>,
) -> Result<Event>;
