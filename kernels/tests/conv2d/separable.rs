//! Weights that are the products of a column and a row, through the function that programs call.

use crate::definition::{BORDERS, Picture, products, random};
use crate::results::{check, stays_in_its_windows};
use cltune::Queue;
use cltune_kernels::conv2d::Filter;

/// Weights that have factors, of which the library has to find out.
fn weights(queue: &Queue, column: &[f32], row: &[f32]) -> Vec<f32> {
    let weights = products(column, row);
    let filter = Filter::new(queue, column.len() as u32, &weights).unwrap();
    let factors = filter.factors().expect("these weights have factors");
    assert_eq!(factors.len(), 2 * column.len());
    weights
}

#[test]
fn sizes_borders_and_filters() {
    let queue = Queue::default_device().unwrap();
    // Widths are odd or multiples of 16: others build further programs, of which the sample of the
    // space has some.
    let pictures = [
        (1, 1),
        (1, 9),
        (11, 1),
        (3, 2),
        (5, 4),
        (64, 64),
        (65, 63),
        (128, 31),
        (131, 127),
    ];
    for (seed, (width, height)) in (0..).zip(pictures) {
        let picture = Picture::random(width, height, seed);
        for size in [3, 7, 11] {
            let column = random(size, seed + 100);
            let weights = weights(&queue, &column, &random(size, seed + 200));
            for border in BORDERS {
                check(&queue, &picture, size, &weights, border);
            }
        }
    }
}

#[test]
fn other_sizes_of_filters() {
    let queue = Queue::default_device().unwrap();
    let picture = Picture::random(37, 41, 1);
    // The last is larger than the picture.
    for size in [5, 65] {
        let weights = weights(&queue, &random(size, 2), &random(size, 3));
        for border in BORDERS {
            check(&queue, &picture, size, &weights, border);
        }
    }
}

#[test]
fn filters_of_one_row_or_one_column() {
    let queue = Queue::default_device().unwrap();
    let picture = Picture::random(71, 45, 3);
    let mut one = [0.0; 7];
    one[3] = 1.0;
    let line = random(7, 4);
    for border in BORDERS {
        check(&queue, &picture, 7, &weights(&queue, &one, &line), border);
        check(&queue, &picture, 7, &weights(&queue, &line, &one), border);
    }
}

#[test]
fn gaussians_whose_weights_are_rounded_each() {
    let queue = Queue::default_device().unwrap();
    let picture = Picture::random(71, 45, 5);
    let at = |x: i32, y: i32| (-f64::from(x * x + y * y) / 8.0).exp() / 25.1;
    let weights: Vec<f32> = (-5..=5)
        .flat_map(|y| (-5..=5).map(move |x| at(x, y) as f32))
        .collect();
    assert!(
        Filter::new(&queue, 11, &weights)
            .unwrap()
            .factors()
            .is_some()
    );
    for border in BORDERS {
        check(&queue, &picture, 11, &weights, border);
    }
}

#[test]
fn what_is_no_number_stays_in_its_windows() {
    stays_in_its_windows(|queue, size| {
        let (mut column, mut row) = (random(size, 4), random(size, 5));
        // A product of zero and infinity is NaN, too.
        column[0] = 0.0;
        row[size - 1] = 0.0;
        weights(queue, &column, &row)
    });
}

#[test]
fn weights_without_factors_are_applied_one_by_one() {
    let queue = Queue::default_device().unwrap();
    for weights in [
        [0.0; 9],
        [1.0, 1.0, 1.0, 1.0, f32::INFINITY, 1.0, 1.0, 1.0, 1.0],
    ] {
        assert!(
            Filter::new(&queue, 3, &weights)
                .unwrap()
                .factors()
                .is_none()
        );
        let picture = Picture::random(13, 17, 6);
        for border in BORDERS {
            check(&queue, &picture, 3, &weights, border);
        }
    }
}
