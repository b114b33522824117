//! Disparities of random and of made pictures.

use crate::definitions::{Pair, compare_exactly};
use cltune::{Buffer, Queue};
use cltune_kernels::imaging::{Matching, match_stereo, scenes};

fn matched(queue: &Queue, pair: &Pair, matching: Matching) -> Vec<u16> {
    let left = Buffer::from_slice(queue, &pair.left).unwrap();
    let right = Buffer::from_slice(queue, &pair.right).unwrap();
    let mut disparity = Buffer::from_slice(queue, &vec![60_000; pair.left.len() + 3]).unwrap();
    let (width, height) = (pair.width as u32, pair.height as u32);
    match_stereo(
        queue,
        width,
        height,
        matching,
        &left,
        &right,
        &mut disparity,
    )
    .unwrap();
    let mut found = disparity.read(queue).unwrap();
    assert_eq!(
        found.split_off(pair.left.len()),
        [60_000; 3],
        "written beyond {width} x {height}"
    );
    found
}

fn check(queue: &Queue, pair: &Pair, window: usize, count: usize) {
    let matching = Matching {
        window: window as u32,
        disparities: count as u32,
    };
    let what = format!("{} x {}, {matching:?}", pair.width, pair.height);
    let found = matched(queue, pair, matching);
    compare_exactly(&found, &pair.disparities(window, count), &what);
}

#[test]
fn every_size() {
    let queue = Queue::default_device().unwrap();
    for (seed, (width, height)) in
        (0..).zip([(1, 1), (1, 9), (11, 1), (13, 17), (64, 33), (67, 31)])
    {
        let pair = Pair::random(width, height, seed);
        // More disparities than columns, too.
        for (window, count) in [(1, 1), (5, 7), (9, 20)] {
            check(&queue, &pair, window, count);
        }
    }
}

#[test]
fn the_largest_window() {
    let queue = Queue::default_device().unwrap();
    // Smaller than the window reaches, and with a pixel more than that.
    for (seed, (width, height)) in (40..).zip([(7, 3), (64, 1), (1, 65)]) {
        check(&queue, &Pair::random(width, height, seed), 127, 3);
    }
}

#[test]
fn the_first_of_equal_disparities() {
    let queue = Queue::default_device().unwrap();
    let (width, height) = (48, 20);
    for gray in [0, 255] {
        let even = vec![gray; width * height];
        let stripes: Vec<u8> = (0..width * height)
            .map(|i| if i % 4 < 2 { 0 } else { 255 })
            .collect();
        for (left, right) in [
            (&even, &even),
            (&even, &stripes),
            (&stripes, &stripes),
            (&stripes, &even),
        ] {
            let pair = Pair {
                width,
                height,
                left: left.clone(),
                right: right.clone(),
            };
            check(&queue, &pair, 5, 16);
        }
    }
}

#[test]
fn the_depth_of_a_scene_is_found() {
    let queue = Queue::default_device().unwrap();
    let (width, height) = (288, 144);
    let scene = scenes::stereo_pair(width, height);
    let pair = Pair {
        width: 288,
        height: 144,
        left: scene.left,
        right: scene.right,
    };
    let disparities = scenes::StereoPair::disparities(width);
    let found = matched(
        &queue,
        &pair,
        Matching {
            window: 9,
            disparities,
        },
    );
    assert!(
        scene
            .disparity
            .iter()
            .all(|known| u32::from(*known) < disparities)
    );
    let near = found
        .iter()
        .zip(&scene.disparity)
        .filter(|(found, known)| found.abs_diff(**known) <= 1)
        .count();
    // What only one of the cameras sees, and what is near an edge, is not found.
    assert!(near * 10 > found.len() * 8, "{near} of {}", found.len());
}

#[test]
fn pictures_without_pixels_are_no_launch() {
    let queue = Queue::default_device().unwrap();
    let nothing = Buffer::new(queue.context(), 0).unwrap();
    let mut disparity = Buffer::new(queue.context(), 0).unwrap();
    let matching = Matching {
        window: 9,
        disparities: 64,
    };
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let event = match_stereo(
            &queue,
            width,
            height,
            matching,
            &nothing,
            &nothing,
            &mut disparity,
        );
        assert!(event.unwrap().is_none());
    }
}
