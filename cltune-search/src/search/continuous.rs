//! Moves along continuous parameters, whose values are places on a line and not names.

use super::generator::Generator;
use super::repair;
use crate::space::Space;

fn is_continuous(space: &Space, parameter: usize) -> bool {
    let parameters = space.parameters();
    parameters.get(parameter).is_some_and(|it| it.continuous)
}

/// Where a value stands among the listed ones of its parameter; one that is not listed, where the
/// nearest does.
pub(super) fn place(space: &Space, parameter: usize, code: i64) -> f64 {
    space
        .nearest_position(parameter, code)
        .map_or(0.0, f64::from)
}

/// The listed value at a place: of one between two values the nearer, of one beyond the ends
/// reflected there. The parameter has a value.
pub(super) fn value(space: &Space, parameter: usize, place: f64) -> i64 {
    let codes = &space.parameters()[parameter].codes;
    codes[reflected(place.round(), codes.len())]
}

/// A position in a list of `len` values, at least 1, from a coordinate that may lie outside.
pub(super) fn reflected(coordinate: f64, len: usize) -> usize {
    let last = (len - 1) as f64;
    let inside = if coordinate < 0.0 {
        -coordinate
    } else if coordinate > last {
        2.0 * last - coordinate
    } else {
        coordinate
    };
    inside.clamp(0.0, last) as usize
}

/// Another value of a parameter: any, each equally likely; of a continuous one a value at a distance
/// on either side whose logarithm is uniform, so that small steps are as likely as large ones.
pub(super) fn mutated(
    space: &Space,
    parameter: usize,
    code: i64,
    generator: &mut Generator,
) -> i64 {
    if !is_continuous(space, parameter) {
        return repair::any_value(space, parameter, generator).unwrap_or(code);
    }
    let most = (space.parameters()[parameter].codes.len() as f64).ln();
    let distance = (most * generator.unit()).exp();
    let side = if generator.unit() < 0.5 { -1.0 } else { 1.0 };
    value(
        space,
        parameter,
        place(space, parameter, code) + side * distance,
    )
}

/// The second of two parents' values; of a continuous parameter a value between them or as far
/// outside as half their distance, each equally likely (BLX-0.5: Eshelman & Schaffer, Real-Coded
/// Genetic Algorithms and Interval-Schemata, 1993).
pub(super) fn crossed(
    space: &Space,
    parameter: usize,
    parents: (i64, i64),
    generator: &mut Generator,
) -> i64 {
    if !is_continuous(space, parameter) {
        return parents.1;
    }
    let [a, b] = [parents.0, parents.1].map(|code| place(space, parameter, code));
    value(
        space,
        parameter,
        a + (2.0 * generator.unit() - 0.5) * (b - a),
    )
}

/// The second of two best values; of a continuous parameter one from the normal distribution whose
/// mean is in the middle of the two and whose deviation is their distance (Kennedy, Bare Bones
/// Particle Swarms, 2003).
pub(super) fn towards(
    space: &Space,
    parameter: usize,
    bests: (i64, i64),
    generator: &mut Generator,
) -> i64 {
    if !is_continuous(space, parameter) {
        return bests.1;
    }
    let [a, b] = [bests.0, bests.1].map(|code| place(space, parameter, code));
    value(
        space,
        parameter,
        0.5 * (a + b) + (b - a) * generator.normal(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{SpaceParameter, SpaceSpec};

    #[test]
    fn coordinates_are_reflected_into_the_list() {
        let positions = [-9.0, -1.0, 0.0, 2.0, 3.0, 4.0, 99.0].map(|at| reflected(at, 4));
        assert_eq!(positions, [3, 1, 0, 2, 3, 2, 0]);
        assert_eq!(reflected(7.0, 1), 0);
    }

    /// The places from 0 to 1000 that a move leads to.
    fn places(mut draw: impl FnMut(&Space, &mut Generator) -> i64) -> Vec<f64> {
        let mut parameter = SpaceParameter::listed("A", (0..=1000).map(|at| 7 * at).collect());
        parameter.continuous = true;
        let space = Space::build(&SpaceSpec {
            parameters: vec![parameter],
            constraints: Vec::new(),
        });
        let mut generator = Generator::new(1);
        let drawn = (0..2000).map(|_| draw(&space, &mut generator));
        drawn.map(|code| place(&space, 0, code)).collect()
    }

    fn part(places: &[f64], of: impl Fn(&f64) -> bool) -> f64 {
        places.iter().filter(|place| of(place)).count() as f64 / places.len() as f64
    }

    #[test]
    fn small_steps_are_as_likely_as_large_ones() {
        let places = places(|space, generator| mutated(space, 0, 7 * 500, generator));
        let small = part(&places, |place| (place - 500.0).abs() < 31.6);
        assert!((small - 0.5).abs() < 0.05, "{small}");
        let below = part(&places, |place| *place < 500.0);
        assert!((below - 0.5).abs() < 0.05, "{below}");
        assert!(!places.contains(&500.0));
    }

    #[test]
    fn blends_lie_around_two_values_and_normal_ones_near_their_middle() {
        let codes = (7 * 400, 7 * 600);
        let blends = places(|space, generator| crossed(space, 0, codes, generator));
        assert!(blends.iter().all(|place| (300.0..=700.0).contains(place)));
        let between = part(&blends, |place| (400.0..=600.0).contains(place));
        assert!((between - 0.5).abs() < 0.05, "{between}");
        let normals = places(|space, generator| towards(space, 0, codes, generator));
        let near = part(&normals, |place| (place - 500.0).abs() < 200.0);
        assert!((near - 0.68).abs() < 0.05, "{near}");
        // Two that are one stay there.
        let same = places(|space, generator| towards(space, 0, (codes.0, codes.0), generator));
        assert!(same.iter().all(|place| *place == 400.0));
    }
}
