//! The number of configurations: Falch & Elster 2015, table 2.

use cltune::Tunable;
use cltune_kernels::imaging::{imaging_box, imaging_raycast, imaging_stereo};

/// All combinations of values, before constraints and device limits.
fn combinations(tunable: &Tunable) -> usize {
    tunable
        .model()
        .parameters
        .iter()
        .map(|parameter| parameter.domain.len())
        .product()
}

#[test]
fn the_box_filter_has_as_many_as_the_paper() {
    assert_eq!(combinations(&imaging_box::TUNABLE), 131_072);
}

#[test]
fn ray_casting_has_as_many_as_the_paper() {
    assert_eq!(combinations(&imaging_raycast::TUNABLE), 655_360);
}

#[test]
fn stereo_matching_has_as_many_as_the_paper() {
    assert_eq!(combinations(&imaging_stereo::TUNABLE), 2_359_296);
}
