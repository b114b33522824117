//! The template of a program, by which the database of template defaults knows it.

use super::program::{Action, Operand, Place, Program};
use super::value::Shape;
use crate::parse::TemplateSyntax;
use std::collections::BTreeSet;
use syn::{Expr, parse_quote};

/// The template; `None` where all statements are about single numbers.
pub(super) fn template(program: &Program) -> Option<TemplateSyntax> {
    let looped = || {
        let statements = program.statements.iter();
        statements.filter_map(|statement| Some((statement, statement.length?)))
    };
    let mut elements: Option<Expr> = None;
    let mut seen = BTreeSet::new();
    let mut vectors = BTreeSet::new();
    for (statement, length) in looped() {
        if seen.insert(length) {
            let formula = &program.lengths[length].formula;
            elements = Some(match elements {
                None => parse_quote!((#formula)),
                Some(other) => parse_quote!(max(#other, (#formula))),
            });
        }
        let read = statement.value.operands().into_iter();
        let all = read.chain([statement.target]);
        vectors.extend(all.filter(|operand| {
            let Operand { shape, place, .. } = &program.operands[*operand];
            *shape != Shape::Number && *place != Place::Register
        }));
    }
    let is_reduction = looped().any(|(of, _)| matches!(of.action, Action::Fold(_)));
    let sizes = vectors.iter().map(|at| program.operands[*at].scalar.size());
    Some(TemplateSyntax {
        name: if is_reduction { "reduce" } else { "map" },
        scalar_size: sizes.max()?,
        vectors: vectors.len(),
        elements: elements?,
    })
}
