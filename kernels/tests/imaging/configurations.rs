//! Random configurations of each kernel, on problems whose edges lie within work-groups.

use crate::definitions::{Pair, Rays, bits, compare, compare_exactly, means, random, random_bytes};
use crate::rays::colours;
use cltune::{Buffer, Error, Event, Queue, Tunable};
use cltune_kernels::conv2d::Border;
use cltune_kernels::imaging::{
    Camera, View, Volume, imaging_box, imaging_pad, imaging_raycast, imaging_stereo,
};

/// Launches configurations that are drawn at random, with a number for each, until enough of them
/// could run here.
fn sample(tunable: &Tunable, mut launch: impl FnMut(&[i64], u32) -> Result<Event, Error>) {
    let wanted = if cltune_tests::is_full() { 200 } else { 6 };
    let parameters = &tunable.model().parameters;
    let mut launched = 0;
    for seed in 0..40 * wanted {
        let draws = bits(parameters.len(), 1000 + seed);
        let codes: Vec<i64> = parameters
            .iter()
            .zip(draws)
            .map(|(parameter, draw)| {
                parameter
                    .domain
                    .code_at(draw as usize % parameter.domain.len())
                    .unwrap()
            })
            .collect();
        match launch(&codes, seed) {
            Ok(_) => launched += 1,
            // Not every device has room for every one.
            Err(
                Error::InvalidConfiguration { .. }
                | Error::WorkGroupTooLarge { .. }
                | Error::LocalMemoryTooLarge { .. }
                | Error::PrivateMemoryTooLarge { .. },
            ) => {}
            Err(error) => panic!("{codes:?}: {error}"),
        }
        if launched == wanted {
            return;
        }
    }
    panic!("only {launched} of {wanted} can run here");
}

#[test]
fn a_sample_of_the_box_filters() {
    let queue = Queue::default_device().unwrap();
    let (width, height, size) = (150, 75, 5);
    let pixels = random(width * height, 1);
    let plain = Buffer::from_slice(&queue, &pixels).unwrap();
    let expected = [Border::Zero, Border::Nearest, Border::Mirror, Border::Wrap]
        .map(|border| means(width, height, &pixels, size, border));
    let mut picture = Buffer::new(queue.context(), (width + 4) * (height + 4)).unwrap();
    let mut output = Buffer::new(queue.context(), width * height).unwrap();
    let (width, height) = (width as i32, height as i32);
    sample(&imaging_box::TUNABLE, |codes, number| {
        let params = imaging_box::Params::from_codes(codes).unwrap();
        let border = number as usize % 4;
        imaging_pad(
            &queue,
            width,
            height,
            5,
            border as i32,
            &plain,
            &mut picture,
        )?;
        output.write(&queue, &vec![f32::NAN; pixels.len()])?;
        let event = imaging_box::launch_with(
            &params,
            &queue,
            width,
            height,
            5,
            border as i32,
            0.04,
            &picture,
            &mut output,
        )?;
        compare(
            &output.read(&queue)?,
            &expected[border],
            25,
            &format!("{params:?}"),
        );
        Ok(event)
    });
}

#[test]
fn a_sample_of_the_stereo_matchers() {
    let queue = Queue::default_device().unwrap();
    let (window, count) = (5, 11);
    let pair = Pair::random(75, 41, 2);
    let expected = pair.disparities(window, count);
    let left = Buffer::from_slice(&queue, &pair.left).unwrap();
    let right = Buffer::from_slice(&queue, &pair.right).unwrap();
    let mut disparity = Buffer::new(queue.context(), expected.len()).unwrap();
    sample(&imaging_stereo::TUNABLE, |codes, _| {
        let params = imaging_stereo::Params::from_codes(codes).unwrap();
        disparity.write(&queue, &vec![60_000; expected.len()])?;
        let event = imaging_stereo::launch_with(
            &params,
            &queue,
            75,
            41,
            window as i32,
            count as i32,
            &left,
            &right,
            &mut disparity,
        )?;
        compare_exactly(&disparity.read(&queue)?, &expected, &format!("{params:?}"));
        Ok(event)
    });
}

#[test]
fn a_sample_of_the_ray_casters() {
    let queue = Queue::default_device().unwrap();
    let (width, height, size) = (61, 37, [23, 19, 29]);
    let voxels = random_bytes(size.iter().product(), 3);
    let colours = colours(0.03);
    let volume = Volume::new(&queue, size.map(|side| side as u32), &voxels).unwrap();
    let camera = Camera {
        yaw: 0.5,
        pitch: 0.3,
        zoom: 1.2,
        step: 0.7,
    };
    let view = View::new(&queue, &volume, width as u32, height as u32, camera).unwrap();
    let vectors = view.rays().read(&queue).unwrap();
    let rays = Rays {
        size,
        voxels: &voxels,
        colours: &colours,
        view: [vectors[0], vectors[1], vectors[2], vectors[3]],
    };
    let volume = Buffer::from_slice(&queue, &voxels).unwrap();
    let table = Buffer::from_slice(&queue, &colours).unwrap();
    let mut output = Buffer::new(queue.context(), width * height).unwrap();
    sample(&imaging_raycast::TUNABLE, |codes, _| {
        let params = imaging_raycast::Params::from_codes(codes).unwrap();
        output.write(&queue, &vec![[f32::NAN; 4]; width * height])?;
        let [x, y, z] = size.map(|side| side as i32);
        let event = imaging_raycast::launch_with(
            &params,
            &queue,
            width as i32,
            height as i32,
            x,
            y,
            z,
            0.0,
            view.rays(),
            &volume,
            &table,
            &table,
            &mut output,
        )?;
        rays.compare(&output.read(&queue)?, width, height, &format!("{params:?}"));
        Ok(event)
    });
}
