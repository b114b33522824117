//! Means of all sizes and borders.

use crate::definitions::{BORDERS, compare, means, random};
use cltune::{Buffer, Queue};
use cltune_kernels::conv2d::Border;
use cltune_kernels::imaging::{Picture, box_filter};

fn check(
    queue: &Queue,
    (width, height): (usize, usize),
    pixels: &[f32],
    size: usize,
    border: Border,
) {
    let what = format!("{width} x {height}, {size}, {border:?}");
    let input = Buffer::from_slice(queue, pixels).unwrap();
    let picture = Picture::new(
        queue,
        width as u32,
        height as u32,
        &input,
        size as u32,
        border,
    )
    .unwrap();
    // Longer than it has to be.
    let mut output = Buffer::from_slice(queue, &vec![7.5; pixels.len() + 3]).unwrap();
    box_filter(queue, &picture, &mut output).unwrap();
    let mut found = output.read(queue).unwrap();
    assert_eq!(
        found.split_off(pixels.len()),
        [7.5; 3],
        "written beyond {what}"
    );
    compare(
        &found,
        &means(width, height, pixels, size, border),
        size * size,
        &what,
    );
}

#[test]
fn every_size_and_border() {
    let queue = Queue::default_device().unwrap();
    let sizes = [
        (1, 1),
        (1, 9),
        (11, 1),
        (3, 2),
        (13, 17),
        (64, 64),
        (65, 63),
        (131, 127),
    ];
    for (seed, (width, height)) in (0..).zip(sizes) {
        let pixels = random(width * height, seed);
        for size in [1, 5, 17] {
            for border in BORDERS {
                check(&queue, (width, height), &pixels, size, border);
            }
        }
    }
}

#[test]
fn the_largest_window() {
    let queue = Queue::default_device().unwrap();
    // Smaller than the window reaches, and with a pixel more than that.
    for (seed, (width, height)) in (40..).zip([(5, 3), (64, 2), (1, 65)]) {
        let pixels = random(width * height, seed);
        for border in BORDERS {
            check(&queue, (width, height), &pixels, 127, border);
        }
    }
}

#[test]
fn what_is_no_number_stays_in_its_windows() {
    let queue = Queue::default_device().unwrap();
    for value in [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX / 32.0,
        1e-42,
    ] {
        let (width, height) = (71, 45);
        let mut pixels = random(width * height, 3);
        for (x, y) in [(0, 0), (33, 21), (70, 44), (64, 20)] {
            pixels[y * width + x] = value;
        }
        for border in BORDERS {
            check(&queue, (width, height), &pixels, 5, border);
        }
    }
}

#[test]
fn a_picture_takes_other_pixels() {
    let queue = Queue::default_device().unwrap();
    let (width, height) = (37, 21);
    let pixels = [random(width * height, 1), random(width * height, 2)];
    let inputs = pixels
        .each_ref()
        .map(|pixels| Buffer::from_slice(&queue, pixels).unwrap());
    let mut picture = Picture::new(
        &queue,
        width as u32,
        height as u32,
        &inputs[0],
        5,
        Border::Mirror,
    )
    .unwrap();
    assert_eq!((picture.width(), picture.height()), (37, 21));
    let mut output = Buffer::new(queue.context(), width * height).unwrap();
    for (pixels, input) in pixels.iter().zip(&inputs).chain(pixels.iter().zip(&inputs)) {
        picture.set(&queue, input).unwrap();
        box_filter(&queue, &picture, &mut output).unwrap();
        let expected = means(width, height, pixels, 5, Border::Mirror);
        compare(&output.read(&queue).unwrap(), &expected, 25, "set again");
    }
}

#[test]
fn a_picture_without_pixels_is_no_launch() {
    let queue = Queue::default_device().unwrap();
    let nothing = Buffer::new(queue.context(), 0).unwrap();
    let mut output = Buffer::new(queue.context(), 0).unwrap();
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let picture = Picture::new(&queue, width, height, &nothing, 5, Border::Zero).unwrap();
        assert!(box_filter(&queue, &picture, &mut output).unwrap().is_none());
    }
}
