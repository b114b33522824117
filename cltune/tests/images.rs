//! Memory spaces as a parameter, and images, on a real device.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, WrongKind};
use cltune::{
    Buffer, Context, Device, DeviceField, Error, Event, Image2d, Image2dArray, Image3d, Normalized,
    Queue, Result, Tunable, tunable,
};

#[tunable(
    source = "tests/kernels/images.cl",
    params(MEM = ["buffer", "constant", "image"], WEIGHTS = ["buffer", "constant"], WRONG = [0, 1]),
    global(w, h),
    reference(kernel = "smooth_reference", global(w, h)),
    tune(w = 64, h = [32, 48]),
)]
fn smooth(
    queue: &Queue,
    w: i32,
    h: i32,
    #[arg(len = w * h, memory = MEM, image = [w, h])] picture: &Buffer<f32>,
    #[arg(len = 9, memory = WEIGHTS)] weights: &Buffer<f32>,
    #[arg(out, len = w * h)] result: &mut Buffer<f32>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(COLUMNS = [1, 2, 4], WRONG = [0, 1, 2]),
    constraints(w % COLUMNS == 0),
    global(w / COLUMNS, h),
    reference(kernel = "mirror_reference", global(w, h)),
    tune(w = 32, h = 20),
)]
fn mirror(
    queue: &Queue,
    #[arg(host_only)] w: u32,
    #[arg(host_only)] h: u32,
    #[arg(size = [w, h])] from: &Image2d<[f32; 4]>,
    #[arg(out, size = [w, h])] to: &mut Image2d<[f32; 4]>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(FACTOR = [2, 3, 4]),
    global(w, h),
    defaults(FACTOR = 2),
    tune(w = 16, h = 8),
)]
fn darken(
    queue: &Queue,
    #[arg(host_only)] w: u32,
    #[arg(host_only)] h: u32,
    #[arg(size = [w, h])] from: &Image2d<Normalized<[u8; 4]>>,
    #[arg(out, size = [w, h])] to: &mut Image2d<Normalized<[u8; 4]>>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(REACH = [0, 1, 2]),
    defaults(REACH = 1),
    global(n, n, 8),
    tune(n = 12),
)]
fn columns(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(size = [n, n, 8])] volume: &Image3d<[u32; 4]>,
    #[arg(out, len = 8 * n * n)] sums: &mut Buffer<u32>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(P = [1]),
    global(w, h),
    tune(w = 16, h = 8, images = 3),
)]
fn flatten(
    queue: &Queue,
    #[arg(host_only)] w: u32,
    #[arg(host_only)] h: u32,
    images: i32,
    #[arg(size = [w, h, images])] array: &Image2dArray<[f32; 4]>,
    #[arg(out, size = [w, h])] sum: &mut Image2d<[f32; 4]>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(STEP = [1, 2]),
    options("-cl-std=CL2.0"),
    global(w, h),
    tune(w = 16, h = 8),
)]
fn brighten(
    queue: &Queue,
    #[arg(host_only)] w: u32,
    #[arg(host_only)] h: u32,
    #[arg(size = [w, h])] picture: &mut Image2d<[f32; 4]>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(FLIPPED = [false, true]),
    stages(
        stage(load(w, x, picture), global(w, h)),
        stage(store(w, picture, y), global(w, h)),
    ),
    tune(w = 16, h = 8),
)]
fn through(
    queue: &Queue,
    w: i32,
    #[arg(host_only)] h: i32,
    #[arg(len = w * h)] x: &Buffer<f32>,
    #[arg(out, size = [w, h])] picture: &mut Image2d<[f32; 4]>,
    #[arg(out, len = w * h)] y: &mut Buffer<f32>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/images.cl",
    params(GLOW = [0, 1], MEM = ["image", "buffer"]),
    global(w, h),
    prepare(
        stage(gradient(w, ramp, from), global(w, h)),
    ),
    reference(
        scratch(sums: [f32; w * h]),
        stage(glow_sums(w, ramp, sums), global(w, h)),
        stage(glow_reference(w, from, sums, to), global(w, h)),
    ),
    tune(w = 16, h = 8),
)]
fn glow(
    queue: &Queue,
    w: i32,
    #[arg(host_only)] h: i32,
    #[arg(len = w * h, memory = MEM, image = [w, h])] ramp: &Buffer<f32>,
    #[arg(size = [w, h], fill = prepared)] from: &Image2d<[f32; 4]>,
    #[arg(out, size = [w, h])] to: &mut Image2d<[f32; 4]>,
) -> Result<Event>;

fn device() -> Device {
    Device::select().expect("these tests need an OpenCL device; scripts/setup installs one")
}

fn queue() -> Queue {
    Queue::with_profiling(&Context::new(&device()).unwrap()).unwrap()
}

/// Whether the device has images. Where it has none, tests of images have nothing to do.
fn has_images() -> bool {
    let has = device().info().limits.image_support == 1;
    if !has {
        eprintln!("{} has no images", device().info().name);
    }
    has
}

/// A measurer for the first problem.
fn measurer(tunable: &'static Tunable, compare_on_device: bool) -> Measurer {
    let declaration = tunable.declaration().unwrap();
    let mut options = MeasureOptions::default();
    options.compare_on_device = Some(compare_on_device);
    let dims = &declaration.problems[0];
    Measurer::new(&device(), &declaration, dims, &options).unwrap()
}

/// The outcome of a configuration, also on inputs of other kinds.
fn outcome(measurer: &mut Measurer, codes: &[i64]) -> Outcome {
    match measurer.measure(codes, None, None) {
        Outcome::Ok(measured) => measurer
            .verify(codes)
            .map_or_else(|failed| failed, |_| Outcome::Ok(measured)),
        failed => failed,
    }
}

#[test]
fn an_argument_is_measured_in_each_memory() {
    for on_device in [false, true] {
        let mut measurer = measurer(&smooth::TUNABLE, on_device);
        for (memory, weights) in [(0, 0), (1, 1), (2, 0), (0, 1), (2, 1)] {
            if memory == 2 && !has_images() {
                continue;
            }
            let outcome = outcome(&mut measurer, &[memory, weights, 0]);
            let Outcome::Ok(measured) = outcome else {
                panic!("{memory} {weights}: {outcome:?}");
            };
            // Some drivers do not measure copies.
            assert!(memory == 2 || measured.conversion_us.is_none());
        }
        let wrong = outcome(&mut measurer, &[1, 0, 1]);
        assert!(matches!(wrong, Outcome::WrongResult(_)), "{wrong:?}");
        if has_images() {
            let wrong = outcome(&mut measurer, &[2, 0, 1]);
            assert!(matches!(wrong, Outcome::WrongResult(_)), "{wrong:?}");
        }
    }
}

/// What `smooth` computes.
fn smoothed(w: usize, h: usize, picture: &[f32], weights: &[f32]) -> Vec<f32> {
    let at = |column: isize, row: isize| {
        let column = column.clamp(0, w as isize - 1) as usize;
        picture[row.clamp(0, h as isize - 1) as usize * w + column]
    };
    let pixel = |index: usize| {
        let (column, row) = ((index % w) as isize, (index / w) as isize);
        let places = (0..9).map(|place| (place % 3 - 1, place / 3 - 1));
        let terms = places.zip(weights);
        terms
            .map(|((x, y), weight)| weight * at(column + x, row + y))
            .sum()
    };
    (0..w * h).map(pixel).collect()
}

fn is_near(found: &[f32], expected: &[f32]) {
    let mut pairs = found.iter().zip(expected);
    assert_eq!(found.len(), expected.len());
    assert!(
        pairs.all(|(a, b)| (a - b).abs() < 1e-4),
        "{found:?} {expected:?}"
    );
}

#[test]
fn a_buffer_is_converted_at_first_use_and_again_when_it_changed() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let (w, h) = (40_usize, 24_usize);
    let weights: Vec<f32> = (0..9).map(|i| i as f32 / 36.0).collect();
    let mut values: Vec<f32> = (0..w * h).map(|i| (i * 7 % 31) as f32).collect();
    let mut picture = Buffer::from_slice(&queue, &values).unwrap();
    let device_weights = Buffer::from_slice(&queue, &weights).unwrap();
    let mut result = Buffer::new(queue.context(), w * h).unwrap();
    let params = |memory| smooth::Params {
        MEM: memory,
        WEIGHTS: smooth::WEIGHTS::buffer,
        WRONG: 0,
    };
    let mut launch = |picture: &Buffer<f32>, memory, queue: &Queue| {
        let (w, h) = (w as i32, h as i32);
        let event = smooth::launch_with(
            &params(memory),
            queue,
            w,
            h,
            picture,
            &device_weights,
            &mut result,
        );
        let time = event.unwrap().conversion_time().unwrap();
        (result.read(queue).unwrap(), time)
    };
    let expected = smoothed(w, h, &values, &weights);
    for memory in [
        smooth::MEM::buffer,
        smooth::MEM::constant,
        smooth::MEM::image,
        smooth::MEM::image,
        smooth::MEM::buffer,
    ] {
        is_near(&launch(&picture, memory, &queue).0, &expected);
    }
    let again = launch(&picture, smooth::MEM::image, &queue).1;
    assert!(again.is_zero(), "it is kept");

    // A write by the host.
    values.reverse();
    picture.write(&queue, &values).unwrap();
    let expected = smoothed(w, h, &values, &weights);
    is_near(&launch(&picture, smooth::MEM::image, &queue).0, &expected);

    // A write to a part.
    values[..64].fill(3.5);
    picture
        .slice_mut(..64)
        .unwrap()
        .write(&queue, &[3.5; 64])
        .unwrap();
    let expected = smoothed(w, h, &values, &weights);
    is_near(&launch(&picture, smooth::MEM::image, &queue).0, &expected);

    // Another queue, and events.
    let other = Queue::with_profiling(queue.context()).unwrap();
    is_near(&launch(&picture, smooth::MEM::image, &other).0, &expected);
    values[7] = 1000.0;
    picture.write(&queue, &values).unwrap();
    let expected = smoothed(w, h, &values, &weights);
    let after = other.after(&[]).unwrap();
    is_near(&launch(&picture, smooth::MEM::image, &after).0, &expected);
}

#[test]
fn a_kernel_that_writes_a_buffer_makes_its_image_stale() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let (w, h) = (64, 32);
    let weights = [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0];
    let weights = Buffer::from_slice(&queue, &weights).unwrap();
    let mut from = Buffer::from_slice(&queue, &vec![1.0_f32; w * h]).unwrap();
    let mut to = Buffer::new(queue.context(), w * h).unwrap();
    let params = smooth::Params {
        MEM: smooth::MEM::image,
        WEIGHTS: smooth::WEIGHTS::constant,
        WRONG: 0,
    };
    for _ in 0..5 {
        let (w, h) = (w as i32, h as i32);
        smooth::launch_with(&params, &queue, w, h, &from, &weights, &mut to).unwrap();
        std::mem::swap(&mut from, &mut to);
    }
    assert_eq!(from.read(&queue).unwrap(), vec![1.0 / 32.0; w * h]);
}

#[test]
fn views_and_what_others_have_are_converted_for_each_call() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let (w, h) = (16, 16);
    let weights = Buffer::from_slice(&queue, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let weights = weights.unwrap();
    let mut result = Buffer::new(queue.context(), 256).unwrap();
    let params = smooth::Params {
        MEM: smooth::MEM::image,
        WEIGHTS: smooth::WEIGHTS::buffer,
        WRONG: 0,
    };
    let picture = Buffer::from_slice(&queue, &(0..1024).map(|i| i as f32).collect::<Vec<_>>());
    let picture = picture.unwrap();
    for begin in [0, 512] {
        let part = picture.slice(begin..begin + 256).unwrap();
        smooth::launch_with(&params, &queue, w, h, &part, &weights, &mut result).unwrap();
        let expected: Vec<f32> = (begin..begin + 256).map(|i| i as f32).collect();
        assert_eq!(result.read(&queue).unwrap(), expected);
    }
    // SAFETY: the handle is of a buffer that lives as long.
    let mut theirs = unsafe { Buffer::from_raw(queue.context(), picture.as_raw(), 256) }.unwrap();
    for value in [1.0, 2.0] {
        theirs.write(&queue, &[value; 256]).unwrap();
        smooth::launch_with(&params, &queue, w, h, &picture, &weights, &mut result).unwrap();
        assert_eq!(result.read(&queue).unwrap(), [value; 256]);
    }
}

#[test]
fn an_image_is_verified_like_a_buffer() {
    if !has_images() {
        return;
    }
    for on_device in [false, true] {
        let mut measurer = measurer(&mirror::TUNABLE, on_device);
        for columns in [1, 2, 4] {
            let outcome = outcome(&mut measurer, &[columns, 0]);
            let Outcome::Ok(measured) = outcome else {
                panic!("{columns}: {outcome:?}");
            };
            assert_eq!(measured.conversion_us, None, "images are not converted");
        }
        let Outcome::WrongResult(wrong) = outcome(&mut measurer, &[2, 1]) else {
            panic!("it is wrong");
        };
        assert_eq!(wrong.argument, "to");
        assert!(
            matches!(wrong.kind, WrongKind::NeverWritten { .. }),
            "{wrong:?}"
        );
        let Outcome::WrongResult(wrong) = outcome(&mut measurer, &[4, 2]) else {
            panic!("it is wrong");
        };
        let WrongKind::Mismatch { index, count, .. } = wrong.kind else {
            panic!("{wrong:?}");
        };
        // The third channel, since they are written in reverse.
        assert_eq!((index, count), ((32 + 5) * 4 + 2, 1));
    }
}

#[test]
fn images_are_read_and_written_by_calls() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let (w, h) = (6_usize, 3_usize);
    let pixels: Vec<[f32; 4]> = (0..w * h)
        .map(|i| [i as f32, 1.0, 2.0, 3.0 * i as f32])
        .collect();
    let from = Image2d::from_slice(&queue, [w, h], &pixels).unwrap();
    assert_eq!(from.read(&queue).unwrap(), pixels);
    let mut to = Image2d::new(queue.context(), [w, h]).unwrap();
    mirror(&queue, w as u32, h as u32, &from, &mut to).unwrap();
    let pixel = |index: usize| {
        let right = (index % w + 1 < w).then(|| pixels[index + 1]);
        let sum = |channel: usize| pixels[index][channel] + right.map_or(0.0, |of| of[channel]);
        [sum(3), sum(2), sum(1), sum(0)]
    };
    let expected: Vec<[f32; 4]> = (0..w * h).map(pixel).collect();
    assert_eq!(to.read(&queue).unwrap(), expected);

    let wrong = mirror(&queue, 7, 3, &from, &mut to).unwrap_err();
    assert!(
        matches!(&wrong, Error::ImageSize { argument, .. } if argument == "from"),
        "{wrong}"
    );
    let short = from.read_into(&queue, &mut [[0.0; 4]; 3]).unwrap_err();
    assert!(matches!(short, Error::LengthMismatch { .. }), "{short}");
    let empty = Image2d::<[f32; 4]>::new(queue.context(), [0, 3]).unwrap_err();
    assert!(empty.to_string().contains("0 x 3"), "{empty}");
    let elsewhere = Queue::new(&Context::new(&device()).unwrap()).unwrap();
    let other = mirror(&elsewhere, 6, 3, &from, &mut to).unwrap_err();
    assert!(matches!(other, Error::OtherContext { .. }), "{other}");
}

#[test]
fn normalized_pixels_are_numbers_for_kernels_and_integers_for_the_host() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let pixels: Vec<[u8; 4]> = (0..128).map(|i| [2 * i, 0, 100, 250]).collect();
    let from = Image2d::<Normalized<[u8; 4]>>::from_slice(&queue, [16, 8], &pixels).unwrap();
    let mut to = Image2d::<Normalized<[u8; 4]>>::new(queue.context(), [16, 8]).unwrap();
    darken(&queue, 16, 8, &from, &mut to).unwrap();
    let expected: Vec<[u8; 4]> = (0..128).map(|i| [i, 0, 50, 125]).collect();
    assert_eq!(to.read(&queue).unwrap(), expected);

    let mut measurer = measurer(&darken::TUNABLE, false);
    for factor in [2, 4] {
        let right = outcome(&mut measurer, &[factor]);
        assert!(matches!(right, Outcome::Ok(_)), "{factor}: {right:?}");
    }
    let Outcome::WrongResult(wrong) = outcome(&mut measurer, &[3]) else {
        panic!("it is wrong");
    };
    let said = wrong.to_string();
    assert!(said.contains("to["), "{said}");
}

#[test]
fn deep_images_and_arrays_of_images_are_filled_and_read() {
    if !has_images() {
        return;
    }
    let queue = queue();
    let mut measurer = measurer(&columns::TUNABLE, false);
    for (reach, is_right) in [(0, false), (1, true), (2, true)] {
        let outcome = outcome(&mut measurer, &[reach]);
        assert_eq!(
            matches!(outcome, Outcome::Ok(_)),
            is_right,
            "{reach}: {outcome:?}"
        );
    }
    let n = 5;
    let volume: Vec<[u32; 4]> = (0..8 * n * n).map(|i| [i * i, 0, 0, 0]).collect();
    let size = n as usize;
    let image = Image3d::from_slice(&queue, [size, size, 8], &volume).unwrap();
    let mut sums = Buffer::new(queue.context(), volume.len()).unwrap();
    columns(&queue, n, &image, &mut sums).unwrap();
    let plane = (n * n) as usize;
    let at = |index: Option<usize>| index.and_then(|i| volume.get(i)).map_or(0, |of| of[0]);
    let expected = (0..volume.len())
        .map(|i| at(i.checked_sub(plane)) + at(Some(i)) + at(Some(i + plane)))
        .collect::<Vec<u32>>();
    assert_eq!(sums.read(&queue).unwrap(), expected);

    let layers: Vec<[f32; 4]> = (0..4 * 3 * 2).map(|i| [i as f32, 1.0, 0.0, 0.5]).collect();
    let array = Image2dArray::from_slice(&queue, ([4, 3], 2), &layers).unwrap();
    assert_eq!(array.size(), ([4, 3], 2));
    let mut sum = Image2d::new(queue.context(), [4, 3]).unwrap();
    flatten(&queue, 4, 3, 2, &array, &mut sum).unwrap();
    let expected: Vec<[f32; 4]> = (0..12)
        .map(|i| [2.0 * i as f32 + 12.0, 2.0, 0.0, 1.0])
        .collect();
    assert_eq!(sum.read(&queue).unwrap(), expected);
    let right = outcome(&mut crate::measurer(&flatten::TUNABLE, false), &[1]);
    assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
}

#[test]
fn an_image_that_is_read_and_written_needs_a_device_that_can_do_both() {
    let dims = [16, 8];
    let tunable = &brighten::TUNABLE;
    let model = tunable.declaration().unwrap().model;
    let limits = device().info().limits.clone();
    let none = limits.clone().with(DeviceField::MaxReadWriteImageArgs, 0);
    let reason = model.check(&[1], &dims, &none).unwrap_err().to_string();
    let expected = "the number of images that are read and written is 1, more than the device's \
                    max_read_write_image_args = 0";
    assert_eq!(reason, expected);
    if !has_images() || limits.max_read_write_image_args == 0 {
        return;
    }
    let queue = queue();
    let mut picture = Image2d::from_slice(&queue, [16, 8], &[[1.0, 2.0, 3.0, 4.0]; 128]).unwrap();
    match brighten::launch_with(&brighten::Params { STEP: 2 }, &queue, 16, 8, &mut picture) {
        // Some drivers have such arguments, and no format for them.
        Err(error @ Error::ImageFormat { .. }) => eprintln!("{error}"),
        Err(error) => panic!("{error}"),
        Ok(_) => {
            assert_eq!(picture.read(&queue).unwrap(), [[3.0, 4.0, 5.0, 6.0]; 128]);
            let mut measurer = measurer(tunable, false);
            let right = outcome(&mut measurer, &[1]);
            assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
            let wrong = outcome(&mut measurer, &[2]);
            assert!(matches!(wrong, Outcome::WrongResult(_)), "{wrong:?}");
        }
    }
}

#[test]
fn stages_pass_an_image_on() {
    if !has_images() {
        return;
    }
    let mut measurer = measurer(&through::TUNABLE, false);
    let right = outcome(&mut measurer, &[0]);
    assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
    let Outcome::WrongResult(wrong) = outcome(&mut measurer, &[1]) else {
        panic!("it is another result");
    };
    assert_eq!(wrong.argument, "y");
}

#[test]
fn images_are_prepared_and_compared_with_several_launches() {
    if !has_images() {
        return;
    }
    let mut measurer = measurer(&glow::TUNABLE, false);
    for memory in [0, 1] {
        let right = outcome(&mut measurer, &[0, memory]);
        assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
        let wrong = outcome(&mut measurer, &[1, memory]);
        assert!(matches!(wrong, Outcome::WrongResult(_)), "{wrong:?}");
    }
}
