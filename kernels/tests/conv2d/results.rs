//! All sizes, borders and filters through the function that programs call.

use crate::definition::{BORDERS, Picture, compare, convolved, random};
use cltune::{Buffer, Queue};
use cltune_kernels::conv2d::{Border, Filter, convolve};

/// What `convolve` makes of a picture, in a buffer that is longer than it has to be.
fn filtered(
    queue: &Queue,
    picture: &Picture,
    size: usize,
    weights: &[f32],
    border: Border,
) -> Vec<f32> {
    let (width, height) = (picture.width as u32, picture.height as u32);
    let filter = Filter::new(queue, size as u32, weights).unwrap();
    let input = Buffer::from_slice(queue, &picture.pixels).unwrap();
    let count = picture.pixels.len();
    let mut output = Buffer::from_slice(queue, &vec![7.5; count + 3]).unwrap();
    convolve(queue, width, height, &filter, border, &input, &mut output).unwrap();
    let mut values = output.read(queue).unwrap();
    let beyond = values.split_off(count);
    assert_eq!(beyond, [7.5; 3], "written beyond {width} x {height}");
    values
}

pub(crate) fn check(
    queue: &Queue,
    picture: &Picture,
    size: usize,
    weights: &[f32],
    border: Border,
) {
    let what = format!("{} x {}, {size}, {border:?}", picture.width, picture.height);
    let expected = convolved(picture, size, weights, border);
    let found = filtered(queue, picture, size, weights, border);
    compare(&found, &expected, size * size, &what);
}

#[test]
fn every_size_and_border() {
    let queue = Queue::default_device().unwrap();
    // Widths are odd or multiples of 8: others build further programs, of which the sample of the
    // space has some.
    let sizes = [
        (1, 1),
        (1, 9),
        (11, 1),
        (3, 2),
        (5, 4),
        (13, 17),
        (63, 65),
        (64, 64),
        (65, 63),
        (128, 31),
        (131, 127),
    ];
    for (seed, (width, height)) in (0..).zip(sizes) {
        let picture = Picture::random(width, height, seed);
        for size in [3, 7, 11] {
            let weights = random(size * size, seed + 100);
            for border in BORDERS {
                check(&queue, &picture, size, &weights, border);
            }
        }
    }
}

#[test]
fn filters_of_other_sizes() {
    let queue = Queue::default_device().unwrap();
    let picture = Picture::random(37, 41, 1);
    // The largest is larger than the picture.
    for size in [1, 5, 65] {
        let weights = random(size * size, 2);
        for border in BORDERS {
            check(&queue, &picture, size, &weights, border);
        }
    }
}

#[test]
fn a_picture_without_pixels_is_no_launch() {
    let queue = Queue::default_device().unwrap();
    let filter = Filter::new(&queue, 3, &[1.0; 9]).unwrap();
    let input = Buffer::new(queue.context(), 0).unwrap();
    let mut output = Buffer::new(queue.context(), 0).unwrap();
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let event = convolve(
            &queue,
            width,
            height,
            &filter,
            Border::Zero,
            &input,
            &mut output,
        );
        assert!(event.unwrap().is_none());
    }
}

/// Pixels that are no numbers, with the weights of a size.
pub(crate) fn stays_in_its_windows(weights: impl Fn(&Queue, usize) -> Vec<f32>) {
    let queue = Queue::default_device().unwrap();
    for (value, size) in [
        (f32::NAN, 3),
        (f32::INFINITY, 7),
        (f32::NEG_INFINITY, 11),
        (f32::NAN, 11),
    ] {
        let mut picture = Picture::random(71, 45, 3);
        for (x, y) in [(0, 0), (33, 21), (70, 44), (64, 20)] {
            picture.pixels[y * picture.width + x] = value;
        }
        let weights = weights(&queue, size);
        for border in BORDERS {
            check(&queue, &picture, size, &weights, border);
        }
    }
}

#[test]
fn what_is_no_number_stays_in_its_windows() {
    stays_in_its_windows(|_, size| {
        let mut weights = random(size * size, 4);
        // A product of zero and infinity is NaN, too.
        weights[size + 1] = 0.0;
        weights
    });
}

#[test]
fn weights_that_are_no_number_show_everywhere() {
    let queue = Queue::default_device().unwrap();
    let picture = Picture::random(35, 20, 5);
    let mut weights = random(49, 6);
    weights[0] = f32::INFINITY;
    for border in BORDERS {
        check(&queue, &picture, 7, &weights, border);
    }
}
