//! Configurations of fused statements, measured and verified against the generated reference.

use cltune::tuning::{MeasureOptions, Measurer, Outcome};
use cltune::{Device, Tunable};
use cltune_formats::formula::{self, Scope, Type};
use cltune_search::space::{Space, SpaceConstraint};

/// Measures and verifies, for each problem of a tunable, at most `most` of the configurations that
/// satisfy `constraint`, spread over the space, which has `least` at least; a sixteenth as many
/// where this is not `scripts/test --full`, since each takes PoCL a second to build.
pub(crate) fn are_right(tunable: &'static Tunable, constraint: &str, least: u128, most: usize) {
    let most = if cltune_tests::is_full() {
        most
    } else {
        most.div_ceil(16)
    };
    let device = Device::select().expect("these tests need an OpenCL device");
    let limits = &device.info().limits;
    let declaration = tunable.declaration().unwrap();
    let model = &declaration.model;
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    let formula = formula::parse(constraint, &scope, Type::Bool).unwrap();
    for dims in &declaration.problems {
        let mut spec = model.space_spec(dims, limits);
        spec.constraints.push(SpaceConstraint {
            program: formula.program.bind(dims, limits),
            label: formula.text.clone(),
        });
        let space = Space::build(&spec);
        assert!(space.count() >= least, "{} configurations", space.count());
        let mut measurer =
            Measurer::new(&device, &declaration, dims, &MeasureOptions::default()).unwrap();
        for index in spread(space.count() as usize, most) {
            let codes = space.get(index as u128).unwrap();
            let what = format!(
                "{} ({})",
                model.describe(&codes),
                model.describe_sizes(dims)
            );
            let measured = measurer.measure(&codes, None, None);
            assert!(matches!(measured, Outcome::Ok(_)), "{what}: {measured:?}");
            let verified = measurer.verify(&codes);
            assert!(verified.is_ok(), "{what}: {verified:?}");
        }
    }
}

/// At most `most` indexes below `all`.
fn spread(all: usize, most: usize) -> Vec<usize> {
    if all <= most {
        return (0..all).collect();
    }
    // A step without a common divisor, most likely.
    (0..most).map(|at| (at * 7919 + 13) % all).collect()
}
