//! Making a wished configuration valid.

use super::generator::Generator;
use crate::space::Space;

/// A valid configuration between `wish`, which may be invalid, and `anchor`, which is valid: the
/// parameters take the anchor's values one after the other, in random order, until the
/// configuration is valid. Every code of the wish is one of its parameter's.
pub(super) fn towards(
    space: &Space,
    mut wish: Vec<i64>,
    anchor: &[i64],
    generator: &mut Generator,
) -> Vec<i64> {
    let mut order: Vec<usize> = (0..wish.len().min(anchor.len())).collect();
    generator.shuffle(&mut order);
    for parameter in order {
        if space.contains(&wish) {
            return wish;
        }
        wish[parameter] = anchor[parameter];
    }
    wish
}

/// One of the parameter's values, each equally likely.
pub(super) fn any_value(space: &Space, parameter: usize, generator: &mut Generator) -> Option<i64> {
    let codes = &space.parameters().get(parameter)?.codes;
    generator.pick(codes).copied()
}
