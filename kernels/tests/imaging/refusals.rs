//! Calls that are refused, and their errors.

use cltune::{Buffer, Error, Queue};
use cltune_kernels::conv2d::Border;
use cltune_kernels::imaging::{
    Camera, ImagingError, Matching, Picture, Transfer, View, Volume, box_filter, match_stereo,
    raycast,
};

/// Whether it is said which buffer is too short, and by how much.
fn is_too_short(error: &ImagingError, name: &str, least: usize, len: usize) -> bool {
    matches!(error, ImagingError::Runtime(Error::BufferTooShort { argument, needed, found, .. })
        if argument == name && (*needed, *found) == (least, len))
}

#[test]
fn pictures_of_the_wrong_size() {
    let queue = Queue::default_device().unwrap();
    let short = Buffer::from_slice(&queue, &[0.0; 11]).unwrap();
    let enough = Buffer::from_slice(&queue, &[0.0; 12]).unwrap();
    let error = Picture::new(&queue, 4, 3, &short, 5, Border::Zero).unwrap_err();
    assert!(is_too_short(&error, "plain", 12, 11), "{error}");
    let mut picture = Picture::new(&queue, 4, 3, &enough, 5, Border::Zero).unwrap();
    let error = picture.set(&queue, &short).unwrap_err();
    assert!(is_too_short(&error, "plain", 12, 11), "{error}");
    let mut output = Buffer::new(queue.context(), 11).unwrap();
    let error = box_filter(&queue, &picture, &mut output).unwrap_err();
    assert!(is_too_short(&error, "output", 12, 11), "{error}");

    let [short, enough] = [11, 12].map(|len| Buffer::from_slice(&queue, &vec![0; len]).unwrap());
    let matching = Matching {
        window: 3,
        disparities: 2,
    };
    for (left, right, len, name) in [
        (&short, &enough, 12, "left"),
        (&enough, &short, 12, "right"),
        (&enough, &enough, 11, "disparity"),
    ] {
        let mut disparity = Buffer::new(queue.context(), len).unwrap();
        let error = match_stereo(&queue, 4, 3, matching, left, right, &mut disparity).unwrap_err();
        assert!(is_too_short(&error, name, 12, 11), "{error}");
    }

    let volume = Volume::new(&queue, [1; 3], &[1]).unwrap();
    let view = View::new(&queue, &volume, 4, 3, CAMERA).unwrap();
    let transfer = Transfer::new(&queue, &[[0.0; 4]; 256]).unwrap();
    let mut output = Buffer::new(queue.context(), 11).unwrap();
    let error = raycast(&queue, &volume, &transfer, &view, 0.0, &mut output).unwrap_err();
    assert!(is_too_short(&error, "output", 12, 11), "{error}");
}

#[test]
fn pictures_that_no_coordinate_reaches() {
    let queue = Queue::default_device().unwrap();
    let floats = Buffer::from_slice(&queue, &[0.0]).unwrap();
    let bytes = Buffer::from_slice(&queue, &[0]).unwrap();
    let mut disparity = Buffer::from_slice(&queue, &[0]).unwrap();
    let volume = Volume::new(&queue, [1; 3], &[1]).unwrap();
    let matching = Matching {
        window: 3,
        disparities: 2,
    };
    for (width, height) in [(u32::MAX, 1), (1, (1 << 30) + 1), (u32::MAX, u32::MAX)] {
        let refused = [
            Picture::new(&queue, width, height, &floats, 5, Border::Zero).map(drop),
            match_stereo(
                &queue,
                width,
                height,
                matching,
                &bytes,
                &bytes,
                &mut disparity,
            )
            .map(drop),
            View::new(&queue, &volume, width, height, CAMERA).map(drop),
        ];
        for refused in refused {
            assert!(
                matches!(refused, Err(ImagingError::Size { .. })),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn windows_and_disparities_that_are_none() {
    let queue = Queue::default_device().unwrap();
    let floats = Buffer::from_slice(&queue, &[0.0; 4]).unwrap();
    let bytes = Buffer::from_slice(&queue, &[0; 4]).unwrap();
    let mut disparity = Buffer::new(queue.context(), 4).unwrap();
    let mut matched = |window, disparities| {
        let matching = Matching {
            window,
            disparities,
        };
        match_stereo(&queue, 2, 2, matching, &bytes, &bytes, &mut disparity).unwrap_err()
    };
    for size in [0, 2, 128, 129, u32::MAX] {
        let errors = [
            Picture::new(&queue, 2, 2, &floats, size, Border::Zero).unwrap_err(),
            matched(size, 3),
        ];
        for error in errors {
            assert!(matches!(error, ImagingError::Window { .. }), "{error}");
            assert!(error.to_string().contains("odd, from 1 to 127"), "{error}");
        }
    }
    for count in [0, 65_537, u32::MAX] {
        let error = matched(3, count);
        assert!(matches!(error, ImagingError::Disparities { .. }), "{error}");
    }
    assert!(
        matched(3, 0)
            .to_string()
            .starts_with("0 disparities: give 1 to 65536")
    );
}

#[test]
fn volumes_of_other_sizes_than_their_voxels() {
    let queue = Queue::default_device().unwrap();
    for size in [
        [2, 2, 3],
        [0, 1, 1],
        [1, 0, 0],
        [20_000, 1, 1],
        [u32::MAX; 3],
    ] {
        let error = Volume::new(&queue, size, &[0; 11]).unwrap_err();
        assert!(
            matches!(error, ImagingError::Voxels { found: 11, .. }),
            "{error}"
        );
    }
    let error = Volume::new(&queue, [2, 2, 3], &[0; 11]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a volume of 2 x 2 x 3 voxels, each side from 1 to 16384, does not have 11 of them"
    );
}

const CAMERA: Camera = Camera {
    yaw: 0.0,
    pitch: 0.0,
    zoom: 1.0,
    step: 1.0,
};

#[test]
fn cameras_that_see_nothing() {
    let queue = Queue::default_device().unwrap();
    let volume = Volume::new(&queue, [1; 3], &[1]).unwrap();
    for step in [0.0, -1.0, 1e-9, f32::NAN, f32::INFINITY] {
        let error = View::new(&queue, &volume, 4, 3, Camera { step, ..CAMERA }).unwrap_err();
        assert!(matches!(error, ImagingError::Step { .. }), "{error}");
    }
    for camera in [
        Camera {
            zoom: 0.0,
            ..CAMERA
        },
        Camera {
            zoom: f32::NAN,
            ..CAMERA
        },
        Camera {
            yaw: f32::INFINITY,
            ..CAMERA
        },
        Camera {
            pitch: f32::NAN,
            ..CAMERA
        },
    ] {
        let error = View::new(&queue, &volume, 4, 3, camera).unwrap_err();
        assert!(matches!(error, ImagingError::Camera { .. }), "{error}");
    }
    let view = View::new(&queue, &volume, 4, 3, CAMERA).unwrap();
    let transfer = Transfer::new(&queue, &[[0.0; 4]; 256]).unwrap();
    let mut output = Buffer::from_slice(&queue, &[[7.0; 4]; 12]).unwrap();
    let refused = raycast(&queue, &volume, &transfer, &view, f32::NAN, &mut output);
    let error = refused.unwrap_err();
    assert!(matches!(error, ImagingError::Cutoff { .. }), "{error}");
    assert_eq!(output.read(&queue).unwrap(), [[7.0; 4]; 12]);
}

#[test]
fn views_of_a_volume_of_another_size() {
    let queue = Queue::default_device().unwrap();
    let volume = |size: [u32; 3]| {
        let voxels = size.iter().product::<u32>() as usize;
        Volume::new(&queue, size, &vec![1; voxels]).unwrap()
    };
    let view = View::new(&queue, &volume([2, 3, 4]), 4, 3, CAMERA).unwrap();
    let transfer = Transfer::new(&queue, &[[0.0; 4]; 256]).unwrap();
    let mut output = Buffer::from_slice(&queue, &[[7.0; 4]; 12]).unwrap();
    for size in [[8, 8, 8], [4, 3, 2], [2, 3, 3]] {
        let refused = raycast(&queue, &volume(size), &transfer, &view, 0.0, &mut output);
        let error = refused.unwrap_err().to_string();
        let [x, y, z] = size;
        assert_eq!(
            error,
            format!(
                "the view is of a volume of 2 x 3 x 4 voxels, not of this one of {x} x {y} x {z}: make another `View` \
                 with this volume"
            )
        );
    }
    assert_eq!(output.read(&queue).unwrap(), [[7.0; 4]; 12]);
    // Such as the next of a series of volumes.
    let same_size = volume([2, 3, 4]);
    raycast(&queue, &same_size, &transfer, &view, 0.0, &mut output).unwrap();
    assert_ne!(output.read(&queue).unwrap(), [[7.0; 4]; 12]);
}
