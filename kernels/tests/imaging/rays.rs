//! Pictures of random and of made volumes, from many sides.

use crate::definitions::{Rays, random_bytes};
use cltune::{Buffer, Error, Queue};
use cltune_core::select::{Rule, Table, TunedDevice, TunedResult, candidates};
use cltune_kernels::imaging::imaging_raycast::{self, Params, Problem};
use cltune_kernels::imaging::{Camera, Transfer, View, Volume, raycast, scenes};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Colours of which no two are alike, of about the same opacity, which they are multiplied by.
pub(crate) fn colours(opacity: f32) -> [[f32; 4]; 256] {
    std::array::from_fn(|density| {
        let part = density as f32 / 255.0;
        let opacity = opacity * (0.5 + part / 2.0);
        [
            part * opacity,
            (1.0 - part) * opacity,
            0.5 * opacity,
            opacity,
        ]
    })
}

/// What `raycast` makes of a volume, compared with the definition.
fn check(
    queue: &Queue,
    size: [usize; 3],
    voxels: &[u8],
    colours: &[[f32; 4]; 256],
    camera: Camera,
) {
    let what = format!("{size:?}, {camera:?}");
    let (width, height) = (41, 27);
    let volume = Volume::new(queue, size.map(|side| side as u32), voxels).unwrap();
    let view = View::new(queue, &volume, width as u32, height as u32, camera).unwrap();
    let transfer = Transfer::new(queue, colours).unwrap();
    let mut output = Buffer::from_slice(queue, &vec![[7.5; 4]; width * height + 2]).unwrap();
    raycast(queue, &volume, &transfer, &view, 0.0, &mut output).unwrap();
    let mut found = output.read(queue).unwrap();
    assert_eq!(
        found.split_off(width * height),
        [[7.5; 4]; 2],
        "written beyond the picture: {what}"
    );
    let vectors = view.rays().read(queue).unwrap();
    let rays = Rays {
        size,
        voxels,
        colours,
        view: [vectors[0], vectors[1], vectors[2], vectors[3]],
    };
    rays.compare(&found, width, height, &what);
}

#[test]
fn every_side_and_step() {
    let queue = Queue::default_device().unwrap();
    let colours = colours(0.02);
    for (seed, size) in (0..).zip([[1, 1, 1], [2, 1, 9], [16, 16, 16], [23, 5, 31]]) {
        let voxels = random_bytes(size.iter().product(), seed);
        // Along the axes, along diagonals, nearly along an axis, and from below.
        let angles = [
            (0.0, 0.0),
            (FRAC_PI_2, 0.0),
            (0.0, FRAC_PI_2),
            (PI, 0.0),
            (FRAC_PI_4, FRAC_PI_4),
            (1e-5, -1e-4),
        ];
        for (yaw, pitch) in angles.into_iter().chain([(0.5, 0.3), (-2.0, -1.2)]) {
            for (zoom, step) in [(1.0, 1.0), (3.0, 0.37), (0.2, 5.5)] {
                check(
                    &queue,
                    size,
                    &voxels,
                    &colours,
                    Camera {
                        yaw,
                        pitch,
                        zoom,
                        step,
                    },
                );
            }
        }
    }
}

#[test]
fn opaque_and_transparent_volumes() {
    let queue = Queue::default_device().unwrap();
    let size = [12, 13, 14];
    let voxels = random_bytes(size.iter().product(), 7);
    let camera = Camera {
        yaw: 0.4,
        pitch: 0.2,
        zoom: 1.0,
        step: 0.5,
    };
    let opaque = colours(1.0).map(|[red, green, blue, _]| [red, green, blue, 1.0]);
    for colours in [opaque, colours(1.0), colours(0.0), colours(1e-39)] {
        check(&queue, size, &voxels, &colours, camera);
    }
}

#[test]
fn a_cutoff_ends_rays_where_little_is_seen() {
    let queue = Queue::default_device().unwrap();
    let voxels = scenes::phantom([32; 3]);
    let volume = Volume::new(&queue, [32; 3], &voxels).unwrap();
    let camera = Camera {
        yaw: 0.4,
        pitch: 0.2,
        zoom: 1.5,
        step: 0.25,
    };
    let view = View::new(&queue, &volume, 40, 40, camera).unwrap();
    let transfer = Transfer::new(&queue, &colours(0.2)).unwrap();
    let pictures = [0.0, 1.0 / 256.0].map(|cutoff| {
        let mut output = Buffer::new(queue.context(), 1600).unwrap();
        raycast(&queue, &volume, &transfer, &view, cutoff, &mut output).unwrap();
        output.read(&queue).unwrap()
    });
    assert_ne!(pictures[0], pictures[1]);
    for (whole, short) in pictures[0]
        .iter()
        .flatten()
        .zip(pictures[1].iter().flatten())
    {
        assert!(
            (whole - short).abs() <= 1.0 / 256.0,
            "{short} instead of {whole}"
        );
    }
}

#[test]
fn a_volume_beyond_the_limits_of_images_stays_in_a_buffer() {
    let queue = Queue::default_device().unwrap();
    let most = queue.device().info().limits.image3d_max_depth;
    let size = [2, 3, most as usize + 1];
    let voxels = random_bytes(size.iter().product(), 8);
    let colours = colours(0.02);
    // Where images are as deep as a `Volume` can be, as on NVIDIA's GPUs, there is none beyond them.
    if most < LARGEST_SIDE {
        let camera = Camera {
            yaw: 1.5,
            pitch: 0.0,
            zoom: 1.0,
            step: 7.0,
        };
        check(&queue, size, &voxels, &colours, camera);
    }

    // Whoever asks for an image is told.
    let volume = Buffer::from_slice(&queue, &voxels).unwrap();
    let table = Buffer::from_slice(&queue, &colours).unwrap();
    let view = Buffer::from_slice(&queue, &[[0.0; 4]; 4]).unwrap();
    let mut output = Buffer::new(queue.context(), 64).unwrap();
    let mut launch = |place| {
        let [x, y, z] = size.map(|side| side as i32);
        imaging_raycast::launch_with(
            &with_volume_in(place),
            &queue,
            8,
            8,
            x,
            y,
            z,
            0.0,
            &view,
            &volume,
            &table,
            &table,
            &mut output,
        )
    };
    launch(imaging_raycast::VOLUME::buffer).unwrap();
    let error = launch(imaging_raycast::VOLUME::image).unwrap_err();
    assert!(
        matches!(error, Error::InvalidConfiguration { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("volume"), "{error}");
}

/// No device of the tests need have tuned values with an image: the values and the limits are made.
#[test]
fn a_tuned_image_is_passed_over_for_a_volume_that_it_cannot_hold() {
    let queue = Queue::default_device().unwrap();
    let mut device = queue.device().info().clone();
    device.limits.image_support = 1;
    device.limits.image3d_max_width = 64;
    device.limits.image3d_max_height = 64;
    device.limits.image3d_max_depth = 64;
    let problem = |side: i64| Problem {
        width: 40,
        height: 40,
        size_x: 64,
        size_y: 64,
        size_z: side,
    };
    let tuned = Table {
        devices: vec![TunedDevice::of(&device)].into(),
        results: vec![TunedResult {
            device: 0,
            problem: problem(64).to_dims().to_vec().into(),
            values: with_volume_in(imaging_raycast::VOLUME::image)
                .to_codes()
                .to_vec()
                .into(),
            time_us: 1.0,
        }]
        .into(),
    };
    let model = imaging_raycast::TUNABLE.model();
    let chosen = |side: i64| {
        let dims = problem(side).to_dims();
        let mut found = candidates(model, &device, &dims, &tuned, &Table::EMPTY);
        let first = found.clone().next().unwrap();
        let chosen = found.find(|of| of.verdict.is_ok()).unwrap();
        let params = Params::from_codes(&chosen.codes).unwrap();
        (first.to_string(), params.VOLUME, chosen.rule)
    };
    let (_, place, rule) = chosen(64);
    assert_eq!(place, imaging_raycast::VOLUME::image);
    assert_eq!(rule, Rule::ExactDevice { exact: true });
    let (refused, place, rule) = chosen(65);
    assert!(refused.contains("volume"), "{refused}");
    assert_eq!(place, imaging_raycast::VOLUME::buffer);
    assert_eq!(rule, Rule::Default);
}

/// The most voxels along a side of a `Volume`.
const LARGEST_SIDE: i64 = 16_384;

fn with_volume_in(place: imaging_raycast::VOLUME) -> Params {
    Params {
        WGX: 8,
        WGY: 8,
        PPX: 1,
        PPY: 1,
        VOLUME: place,
        TABLE: imaging_raycast::TABLE::buffer,
        TABLE_CONSTANT: imaging_raycast::TABLE_CONSTANT::buffer,
        TABLE_LOCAL: false,
        INTERLEAVED: true,
        UNROLL: 1,
    }
}

#[test]
fn a_picture_without_pixels_is_no_launch() {
    let queue = Queue::default_device().unwrap();
    let volume = Volume::new(&queue, [1; 3], &[1]).unwrap();
    let transfer = Transfer::new(&queue, &colours(0.1)).unwrap();
    let mut output = Buffer::new(queue.context(), 0).unwrap();
    let camera = Camera {
        yaw: 0.0,
        pitch: 0.0,
        zoom: 1.0,
        step: 1.0,
    };
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let view = View::new(&queue, &volume, width, height, camera).unwrap();
        assert!(
            raycast(&queue, &volume, &transfer, &view, 0.0, &mut output)
                .unwrap()
                .is_none()
        );
    }
}
