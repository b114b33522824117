//! The values that an expression can have.

use super::step::Levels;
use super::tree::Tree;
use cltune_core::expr::arithmetic;
use std::rc::Rc;

/// The most pairs of operands' values that are combined.
const MOST_PAIRS: usize = 1 << 12;

/// The values of a tree without words, ascending; `None` where they would take long to find.
pub(super) fn values(tree: &Tree, levels: &Levels<'_>) -> Option<Rc<[i64]>> {
    let named = tree
        .operands()
        .iter()
        .map(|o| o.parameters().len())
        .sum::<usize>();
    if named > tree.parameters().len() {
        // Operands that share a parameter do not take their values independently.
        return None;
    }
    let mut found = match tree {
        Tree::Const(value) => vec![*value],
        Tree::Param(level) => levels.codes[*level].to_vec(),
        Tree::Unary(op, a) => values(a, levels)?
            .iter()
            .filter_map(|a| arithmetic::unary(*op, *a)?.ok())
            .collect(),
        Tree::Binary(op, a, b) => pairs(*op, &values(a, levels)?, &values(b, levels)?)?,
        Tree::Chain(op, operands) => {
            let (first, rest) = operands.split_first()?;
            rest.iter()
                .try_fold(values(first, levels)?, |found, operand| {
                    let mut found = pairs(*op, &found, &values(operand, levels)?)?;
                    found.sort_unstable();
                    found.dedup();
                    Some(found.into())
                })?
                .to_vec()
        }
        Tree::Fails | Tree::Word(..) | Tree::And(..) | Tree::Or(..) | Tree::If(_) => return None,
    };
    if !found.is_sorted_by(|a, b| a < b) {
        found.sort_unstable();
        found.dedup();
    }
    Some(found.into())
}

fn pairs(op: cltune_core::expr::Op, a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    if a.len().saturating_mul(b.len()) > MOST_PAIRS {
        return None;
    }
    let of = |a: &i64, b: &i64| arithmetic::binary(op, *a, *b)?.ok();
    let found = a
        .iter()
        .flat_map(|a| b.iter().filter_map(move |b| of(a, b)));
    Some(found.collect())
}
