//! The made volume and pictures.

use cltune_kernels::imaging::scenes::{StereoPair, phantom, stereo_pair};

#[test]
fn both_cameras_see_the_same() {
    let (width, height) = (180, 90);
    let StereoPair {
        left,
        right,
        disparity,
    } = stereo_pair(width, height);
    assert_eq!([left.len(), right.len(), disparity.len()], [180 * 90; 3]);
    let in_row = (0..left.len()).map(|i| i % 180 >= usize::from(disparity[i]));
    let shown = (0..left.len())
        .zip(in_row)
        .filter(|(i, in_row)| *in_row && right[i - usize::from(disparity[*i])] == left[*i]);
    // The others are hidden from the right camera, or outside of its picture.
    let part = shown.count() as f64 / left.len() as f64;
    assert!((0.85..1.0).contains(&part), "{part}");
    let largest = disparity.iter().max().copied().unwrap_or_default();
    let possible = StereoPair::disparities(width);
    assert!(
        u32::from(largest) < possible && u32::from(largest) * 10 > possible * 8,
        "{largest}"
    );
    assert_eq!(
        stereo_pair(width, height),
        StereoPair {
            left,
            right,
            disparity
        }
    );
}

#[test]
fn pictures_of_any_size() {
    for (width, height) in [(0, 0), (0, 3), (3, 0), (1, 1), (17, 2)] {
        let pair = stereo_pair(width, height);
        let pixels = width as usize * height as usize;
        assert_eq!(
            [pair.left.len(), pair.right.len(), pair.disparity.len()],
            [pixels; 3]
        );
    }
    assert!(phantom([0, 5, 5]).is_empty());
    assert_eq!(phantom([3, 4, 5]).len(), 60);
}

#[test]
fn the_head_has_air_skin_brain_bone_and_hollows() {
    let side = 48;
    let voxels = phantom([side as u32; 3]);
    let part = |densities: std::ops::RangeInclusive<u8>| {
        let count = voxels
            .iter()
            .filter(|density| densities.contains(density))
            .count();
        count as f64 / voxels.len() as f64
    };
    for (densities, least, most) in [
        (0..=0, 0.5, 0.9),
        (60..=60, 0.02, 0.2),
        (110..=130, 0.03, 0.2),
        (200..=200, 0.01, 0.2),
        (20..=35, 0.001, 0.02),
    ] {
        let found = part(densities.clone());
        assert!((least..most).contains(&found), "{densities:?}: {found}");
    }
    // The brain's folds are the only difference between left and right; x runs fastest.
    for row in voxels.chunks_exact(side) {
        for (left, right) in row.iter().zip(row.iter().rev()) {
            assert!(left == right || (110..=130).contains(left) && (110..=130).contains(right));
        }
    }
}
