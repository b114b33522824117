//! The template of a program, by which the database of template defaults knows it.

use super::program::{Action, Program, Statement};
use super::value::Shape;
use crate::parse::TemplateSyntax;
use std::collections::BTreeSet;
use syn::{Expr, parse_quote};

/// The template; `None` where all statements are about single numbers.
pub(super) fn template(program: &Program) -> Option<TemplateSyntax> {
    let looped = || {
        let statements = program.statements.iter();
        statements.filter_map(|statement| Some((statement, elements(program, statement)?)))
    };
    let mut most: Option<Expr> = None;
    let mut seen = BTreeSet::new();
    let mut operands = BTreeSet::new();
    for (statement, (lengths, count)) in looped() {
        if seen.insert(lengths) {
            most = Some(match most {
                None => count,
                Some(other) => parse_quote!(max(#other, #count)),
            });
        }
        let read = statement.value.operands().into_iter();
        let all = read.chain([statement.target]);
        operands.extend(all.filter(|operand| program.operands[*operand].shape != Shape::Number));
    }
    let any = |fits: fn(&Statement) -> bool| program.statements.iter().any(fits);
    let name = if any(|of| matches!(of.action, Action::Product { .. })) {
        "product"
    } else if any(|of| matches!(of.action, Action::Across(_))) {
        "columns"
    } else if any(|of| of.grid.is_some()) {
        "rows"
    } else if any(|of| matches!(of.action, Action::Fold(_))) {
        "reduce"
    } else {
        "map"
    };
    let sizes = operands.iter();
    let sizes = sizes.map(|at| program.operands[*at].scalar.size());
    Some(TemplateSyntax {
        name,
        scalar_size: sizes.max()?,
        vectors: operands.len(),
        elements: most?,
    })
}

/// The lengths that a statement loops over, and how many elements that are.
fn elements(program: &Program, statement: &Statement) -> Option<((usize, Option<usize>), Expr)> {
    let formula = |length: usize| &program.lengths[length].formula;
    if let Some(grid) = statement.grid {
        let (lines, line) = (formula(grid.lines), formula(grid.line));
        let count = parse_quote!((#lines) * (#line));
        return Some(((grid.lines, Some(grid.line)), count));
    }
    let length = statement.length?;
    let formula = formula(length);
    Some(((length, None), parse_quote!((#formula))))
}
