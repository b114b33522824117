//! A sample of the space on one picture: what is slow here may be the best elsewhere.

use crate::definition::{BORDERS, Picture, compare, convolved, products, random};
use cltune::{Buffer, Error, Queue, Result};
use cltune_kernels::conv2d::conv2d_direct::{self, Params, Problem};
use cltune_kernels::conv2d::{Filter, conv2d_separable};
use std::fmt::Debug;

/// A choice of values in which each value of each parameter appears as often as the others, for
/// numbers that are not near to each other.
fn choice(number: usize) -> impl FnMut(&[i64]) -> i64 {
    let mut rest = random(8, number as u32)
        .into_iter()
        .map(|value| f64::midpoint(f64::from(value), 1.0));
    move |values| {
        let place = rest.next().unwrap_or_default() * values.len() as f64;
        values[(place as usize).min(values.len() - 1)]
    }
}

fn configuration(number: usize) -> Params {
    let mut one_of = choice(number);
    let xwpt = one_of(&[1, 2, 4, 8, 16]);
    let cache = one_of(&[0, 1, 2]);
    Params {
        XWG: one_of(&[8, 16, 32, 64]),
        YWG: one_of(&[8, 16, 32, 64]),
        XWPT: xwpt,
        YWPT: one_of(&[1, 2, 4, 8]),
        CACHE: cache,
        VW: one_of(&[1, 2, 4, 8, 16]).min(xwpt),
        PAD: one_of(&[0, 1]).min(cache),
        UNR: one_of(&[0, 1]),
    }
}

/// Launches configuration `number` on a picture and compares with the host; whether it can run.
/// `launch` takes the border, the input and the output.
fn is_right<T>(
    queue: &Queue,
    (number, params): (usize, &impl Debug),
    picture: &Picture,
    (size, weights): (usize, &[f32]),
    launch: impl FnOnce(i32, &Buffer<f32>, &mut Buffer<f32>) -> Result<T>,
) -> bool {
    let border = number % BORDERS.len();
    let input = Buffer::from_slice(queue, &picture.pixels).unwrap();
    let mut output = Buffer::from_slice(queue, &vec![f32::NAN; input.len()]).unwrap();
    match launch(border as i32, &input, &mut output) {
        Ok(_) => {}
        // Not every device has room for every one, and large blocks are not unrolled.
        Err(
            Error::InvalidConfiguration { .. }
            | Error::WorkGroupTooLarge { .. }
            | Error::LocalMemoryTooLarge { .. },
        ) => return false,
        Err(error) => panic!("{params:?}: {error}"),
    }
    let expected = convolved(picture, size, weights, BORDERS[border]);
    let found = output.read(queue).unwrap();
    compare(&found, &expected, size * size, &format!("{params:?}"));
    true
}

fn most_can_run(wanted: usize, is_right: impl FnMut(&usize) -> bool) {
    let checked = (0..wanted).filter(is_right).count();
    assert!(
        3 * checked >= wanted,
        "only {checked} of {wanted} can run here"
    );
}

#[test]
fn a_sample_of_the_space_computes_the_same() {
    let queue = Queue::default_device().unwrap();
    let wanted = if cltune_tests::is_full() { 64 } else { 8 };
    most_can_run(wanted, |&number| {
        let params = configuration(number);
        // Wider than a work-group's part with most configurations; rows are aligned in every way.
        let picture = Picture::random(146 + number % 7, 75, number as u32);
        let size = [3, 7, 11][number % 3];
        let weights = random(size * size, number as u32 + 50);
        let (width, height) = (picture.width as i32, picture.height as i32);
        let on_device = Buffer::from_slice(&queue, &weights).unwrap();
        is_right(
            &queue,
            (number, &params),
            &picture,
            (size, &weights),
            |border, input, output| {
                conv2d_direct::launch_with(
                    &params,
                    &queue,
                    width,
                    height,
                    size as i32,
                    border,
                    &on_device,
                    input,
                    output,
                )
            },
        )
    });
}

fn separable(number: usize) -> conv2d_separable::Params {
    let mut one_of = choice(number);
    let xwpt = one_of(&[1, 2, 4, 8, 16]);
    conv2d_separable::Params {
        XWG: one_of(&[8, 16, 32, 64]),
        YWG: one_of(&[1, 2, 4, 8, 16]),
        XWPT: xwpt,
        YWPT: one_of(&[1, 2, 4, 8, 16, 32, 64]),
        VW: one_of(&[1, 2, 4, 8, 16]).min(xwpt),
        LOCAL: one_of(&[0, 1]) == 1,
        UNR: one_of(&[0, 1, 2]),
    }
}

#[test]
fn a_sample_of_the_separable_space_computes_the_same() {
    let queue = Queue::default_device().unwrap();
    let wanted = if cltune_tests::is_full() { 96 } else { 12 };
    most_can_run(wanted, |&number| {
        let params = separable(number);
        let picture = Picture::random(146 + number % 15, 75, number as u32);
        let size = [3, 7, 11][number % 3];
        let weights = products(
            &random(size, number as u32 + 50),
            &random(size, number as u32 + 60),
        );
        let (width, height) = (picture.width as i32, picture.height as i32);
        let filter = Filter::new(&queue, size as u32, &weights).unwrap();
        is_right(
            &queue,
            (number, &params),
            &picture,
            (size, &weights),
            |border, input, output| {
                conv2d_separable::launch_with(
                    &params,
                    &queue,
                    width,
                    height,
                    size as i32,
                    border,
                    filter.factors().unwrap(),
                    input,
                    output,
                )
            },
        )
    });
}

#[test]
fn every_device_has_values_for_the_sizes_that_are_tuned_and_for_others() {
    let queue = Queue::default_device().unwrap();
    for filter in [1, 3, 7, 11, 31, 127] {
        let problem = Problem {
            width: 1999,
            height: 3,
            filter,
        };
        conv2d_direct::select(queue.device(), problem).unwrap();
        let Problem {
            width,
            height,
            filter,
        } = problem;
        let problem = conv2d_separable::Problem {
            width,
            height,
            filter,
        };
        conv2d_separable::select(queue.device(), problem).unwrap();
    }
}
