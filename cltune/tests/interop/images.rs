//! Images of other packages.

use super::Program;
use cltune::{
    Error, Event, ForeignError, Image2d, Image3d, ImageSize, Normalized, Pixel, Queue, Result,
    tunable,
};
use opencl3::command_queue::CommandQueue;
use opencl3::memory::{
    CL_FLOAT, CL_LUMINANCE, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_RGBA,
    ClMem, Image, cl_image_desc, cl_image_format, cl_mem_flags,
};
use opencl3::types::CL_TRUE;
use std::ptr;

/// to <- 2 * from
#[tunable(
    name = "interop::double",
    kernel = "double_pixels",
    params(P = [1]),
    global(w, h),
    tune(w = 8, h = 4),
)]
fn double(
    queue: &Queue,
    #[arg(host_only)] w: u32,
    #[arg(host_only)] h: u32,
    #[arg(size = [w, h])] from: &Image2d<[f32; 4]>,
    #[arg(out, size = [w, h])] to: &mut Image2d<[f32; 4]>,
) -> Result<Event> {
    "__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
     __kernel void double_pixels(read_only image2d_t from, write_only image2d_t to) {
        const int2 at = (int2)(get_global_id(0), get_global_id(1));
        write_imagef(to, at, 2 * read_imagef(from, NEAREST, at));
     }"
}

/// An image of opencl3's, 8 x 4 pixels. `None` where the device has no such image.
fn theirs(program: &Program, flags: cl_mem_flags, order: u32) -> Option<Image> {
    let format = cl_image_format {
        image_channel_order: order,
        image_channel_data_type: CL_FLOAT,
    };
    let description = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: 8,
        image_height: 4,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    // SAFETY: there is no host memory.
    unsafe {
        Image::create(
            &program.context,
            flags,
            &raw const format,
            &raw const description,
            ptr::null_mut(),
        )
    }
    .ok()
}

fn read(queue: &CommandQueue, image: &Image) -> Vec<[f32; 4]> {
    let mut pixels = vec![[0.0; 4]; 32];
    let (origin, region) = ([0; 3], [8, 4, 1]);
    // SAFETY: the transfer blocks, and there is room for all pixels.
    let event = unsafe {
        queue.enqueue_read_image(
            image,
            CL_TRUE,
            origin.as_ptr(),
            region.as_ptr(),
            0,
            0,
            pixels.as_mut_ptr().cast(),
            &[],
        )
    };
    event.unwrap();
    pixels
}

fn image_of<T: Pixel, S: ImageSize>(queue: &Queue, image: &Image) -> Result<cltune::Image<T, S>> {
    // SAFETY: the image is alive.
    unsafe { cltune::Image::from_raw(queue.context(), image.get()) }
}

fn reason<T>(result: Result<T>) -> ForeignError {
    match result.err() {
        Some(Error::Foreign { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_launch_works_on_the_images_of_another_program() {
    let program = Program::new();
    let queue = program.tuned();
    let Some(to) = theirs(&program, CL_MEM_READ_WRITE, CL_RGBA) else {
        return;
    };
    let pixels = vec![[1.0, 2.0, 3.0, 4.0]; 32];
    let from = Image2d::from_slice(&queue, [8, 4], &pixels).unwrap();
    let mut ours: Image2d<[f32; 4]> = image_of(&queue, &to).unwrap();
    assert_eq!((ours.size(), ours.as_raw()), ([8, 4], to.get()));
    double(&queue, 8, 4, &from, &mut ours).unwrap();
    let doubled = vec![[2.0, 4.0, 6.0, 8.0]; 32];
    assert_eq!(read(&program.queue, &to), doubled);
    ours.write(&queue, &pixels).unwrap();
    drop(ours);
    assert_eq!(read(&program.queue, &to), pixels);
    let given = Image::new(from.into_raw());
    assert_eq!(read(&program.queue, &given), pixels);
}

#[test]
fn an_image_that_is_not_what_the_type_says_is_refused() {
    let program = Program::new();
    let queue = program.tuned();
    let Some(image) = theirs(&program, CL_MEM_READ_WRITE, CL_RGBA) else {
        return;
    };
    // SAFETY: null is refused.
    let null = unsafe { Image2d::<f32>::from_raw(queue.context(), ptr::null_mut()) };
    assert_eq!(reason(null), ForeignError::Null);
    let volume = image_of::<[f32; 4], [usize; 3]>(&queue, &image).map(|_: Image3d<_>| ());
    assert_eq!(
        volume.unwrap_err().to_string(),
        "the image cannot be used with cltune: it is a two-dimensional image, and image3d_t was \
         expected"
    );
    let pixel = image_of::<Normalized<[u8; 4]>, [usize; 2]>(&queue, &image);
    assert_eq!(
        pixel.unwrap_err().to_string(),
        "the image cannot be used with cltune: its pixels are [f32; 4], and pixels of type \
         Normalized<[u8; 4]> were expected"
    );
    let buffer = program.buffer(&[0.0; 4]);
    // SAFETY: the buffer is alive.
    let no_image = unsafe { Image2d::<f32>::from_raw(queue.context(), buffer.get()) };
    let found = "a buffer";
    let expected = "image2d_t";
    assert_eq!(reason(no_image), ForeignError::NoImage { expected, found });
    let other = Program::new();
    let elsewhere = image_of::<[f32; 4], [usize; 2]>(&other.tuned(), &image).unwrap_err();
    assert!(
        matches!(elsewhere, Error::OtherContext { .. }),
        "{elsewhere}"
    );
    if let Some(grey) = theirs(&program, CL_MEM_READ_ONLY, CL_LUMINANCE) {
        let found = reason(image_of::<f32, [usize; 2]>(&queue, &grey)).to_string();
        assert!(
            found.contains("a format that cltune does not have"),
            "{found}"
        );
    }
}

#[test]
fn flags_of_an_image_say_which_kernels_may_use_it() {
    let program = Program::new();
    let queue = program.tuned();
    let Some(image) = theirs(&program, CL_MEM_READ_ONLY, CL_RGBA) else {
        return;
    };
    let mut read_only: Image2d<[f32; 4]> = image_of(&queue, &image).unwrap();
    let mut to = Image2d::new(queue.context(), [8, 4]).unwrap();
    double(&queue, 8, 4, &read_only, &mut to).unwrap();
    let refused = double(&queue, 8, 4, &to, &mut read_only).unwrap_err();
    assert!(matches!(refused, Error::BufferAccess { .. }), "{refused}");
}

#[cfg(feature = "opencl3")]
#[test]
fn images_go_to_opencl3_and_back() {
    let program = Program::new();
    let queue = program.tuned();
    let Some(image) = theirs(&program, CL_MEM_READ_WRITE, CL_RGBA) else {
        return;
    };
    let mut ours = Image2d::<[f32; 4]>::from_opencl3(queue.context(), image).unwrap();
    ours.write(&queue, &[[5.0; 4]; 32]).unwrap();
    let image = ours.into_opencl3();
    assert_eq!(read(&program.queue, &image), [[5.0; 4]; 32]);
    let plain = super::queue(&program.context, &program.device, 0);
    assert_eq!(read(&plain, &image), [[5.0; 4]; 32]);
    let other = Image3d::<[f32; 4]>::from_opencl3(queue.context(), image);
    assert!(matches!(reason(other), ForeignError::NoImage { .. }));
}
