//! Passes over memory: the statements that one kernel computes together.
//!
//! A pass loops over the positions of vectors of one length, and folds what is reduced to a part
//! for each work-group. Where something was reduced, one work-group then folds the parts and
//! computes the statements about single numbers that follow.
//!
//! A pass over matrices goes through lines. Where lines are reduced, statements about the results
//! follow in the same pass: vectors with an element for each line, and the elements of the line
//! itself. Where all lines are folded to one, statements about that one follow.

use super::folded::Folded;
use super::program::{Action, Grid, Program, Statement};
use super::value::{At, Shape};

/// The statements that one loop computes, and what one work-item does after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pass {
    /// The length of the loop; `None` where there is none.
    pub(super) length: Option<usize>,
    /// The lines of the loop, where it goes through matrices.
    pub(super) grid: Option<Grid>,
    /// The positions of the statements in the loop.
    pub(super) looped: Vec<usize>,
    /// The positions of the statements about single numbers.
    pub(super) numbers: Vec<usize>,
}

/// The most reductions whose parts the kernel of their loop folds as well. PoCL 3.1 builds such a
/// kernel of three in seconds, and one of five not in three minutes: what it copies grows with the
/// barriers.
const MOST_FOLDS_IN_LOOP: usize = 3;

impl Pass {
    /// The folds among its statements.
    pub(super) fn folds<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = Folded<'a>> + 'a {
        let looped = self.looped.iter();
        looped.filter_map(|at| Folded::of(program, &program.statements[*at]))
    }

    /// Whether one work-group has something to do after the loop.
    pub(super) fn finishes(&self, program: &Program) -> bool {
        !self.numbers.is_empty() || self.folds(program).next().is_some()
    }

    /// Whether the work-group of the loop that ends last can do that.
    pub(super) fn may_finish_in_loop(&self, program: &Program) -> bool {
        may_hand_over(&self.folds(program).collect::<Vec<_>>())
    }

    /// Whether the work-group that ends last of those with the same columns can fold the lines that
    /// they made.
    pub(super) fn may_finish_columns_in_loop(&self, program: &Program) -> bool {
        self.is_across(program) && may_hand_over(&self.line_folds(program).collect::<Vec<_>>())
    }

    /// Whether all lines are folded to one.
    pub(super) fn is_across(&self, program: &Program) -> bool {
        let mut looped = self.looped.iter().map(|at| &program.statements[*at]);
        looped.any(|statement| matches!(statement.action, Action::Across(_)))
    }

    /// The reductions of lines among its statements.
    pub(super) fn line_folds<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = Folded<'a>> + 'a {
        let looped = self.looped.iter();
        looped.filter_map(|at| Folded::of_lines(program, &program.statements[*at]))
    }

    /// The product of matrices that it computes. No other statement is in a pass with it but those
    /// that store what is computed from its elements.
    pub(super) fn product<'a>(&self, program: &'a Program) -> Option<&'a Statement> {
        let mut looped = self.looped.iter().map(|at| &program.statements[*at]);
        looped.find(|statement| statement.is_product())
    }

    /// How many kernels are launched for it.
    #[cfg(test)]
    pub(super) fn launches(&self, program: &Program) -> usize {
        let has_loop = self.length.is_some() || self.grid.is_some();
        usize::from(has_loop)
            + usize::from(self.is_across(program))
            + usize::from(self.finishes(program))
    }

    /// Whether a statement can be computed in this pass, after those that it has.
    fn takes(&self, program: &Program, statement: &Statement, fused: bool) -> bool {
        let looped = || self.looped.iter().map(|at| &program.statements[*at]);
        if let Some(product) = self.product(program) {
            let place = statement.place_of(product.target);
            let mut others = looped().filter(|other| !other.is_product());
            return place.is_some() && others.all(|it| it.place_of(product.target) == place);
        }
        if statement.is_product() {
            return false;
        }
        match (statement.grid, self.grid) {
            (None, None) => fused && self.length == statement.length,
            (Some(grid), Some(of)) => {
                let fits = |other: &Statement| match statement.action {
                    Action::Lines(_) => !matches!(other.action, Action::Across(_)),
                    Action::Across(_) => !matches!(other.action, Action::Lines(_)),
                    _ => true,
                };
                fused && grid == of && looped().all(fits)
            }
            // A vector of what lines are reduced to.
            (None, Some(grid)) => {
                let is_across = self.is_across(program);
                let length = if is_across { grid.line } else { grid.lines };
                let read = statement.value.operands();
                let gives = |other: &Statement| {
                    let is_scratch = matches!(other.action, Action::Lines(_) | Action::Across(_));
                    (fused || is_scratch) && read.contains(&other.target)
                };
                statement.action == Action::Store
                    && statement.length == Some(length)
                    && looped().any(gives)
            }
            (Some(_), None) => false,
        }
    }
}

/// Whether work-groups can hand over these in one launch: it has to be made of words that atomic
/// functions take.
fn may_hand_over(folds: &[Folded<'_>]) -> bool {
    let mut components = folds.iter().flat_map(Folded::components);
    (1..=MOST_FOLDS_IN_LOOP).contains(&folds.len())
        && components.all(|component| component.scalar.size() >= 4)
}

/// The passes of a program: as few as its dependencies allow, or with `fused` false one for each
/// statement.
pub(super) fn passes(program: &Program, fused: bool) -> Vec<Pass> {
    let mut passes: Vec<Pass> = Vec::new();
    // The pass of each statement so far.
    let mut places: Vec<usize> = Vec::new();
    for (position, statement) in program.statements.iter().enumerate() {
        if statement.with_previous {
            continue;
        }
        let followers = program.statements[position + 1..].iter();
        let followers = followers.take_while(|statement| statement.with_previous);
        let group = position..position + 1 + followers.count();
        let earliest = group
            .clone()
            .map(|member| earliest(program, member, &places, &passes))
            .fold(0, usize::max);
        let has_loop = statement.length.is_some() || statement.grid.is_some();
        let shared = (earliest..passes.len()).find(|at| {
            if has_loop {
                let members = &program.statements[group.clone()];
                members
                    .iter()
                    .all(|member| passes[*at].takes(program, member, fused))
            } else {
                // Not one by one with loops that have no result.
                fused || passes[*at].finishes(program) && *at + 1 == passes.len()
            }
        });
        let pass = shared.unwrap_or(passes.len());
        if pass == passes.len() {
            passes.push(Pass {
                length: statement.length,
                grid: statement.grid,
                ..Pass::default()
            });
        }
        places.extend(group.clone().map(|_| pass));
        if has_loop {
            passes[pass].looped.extend(group);
        } else {
            passes[pass].numbers.extend(group);
        }
    }
    passes
}

/// The first pass in which a statement gives the same result: what it reads is there, and what it
/// overwrites was read. The statements that have no place yet do not count.
fn earliest(program: &Program, position: usize, places: &[usize], passes: &[Pass]) -> usize {
    let statement = &program.statements[position];
    let has_loop = statement.length.is_some() || statement.grid.is_some();
    let reads = statement.value.operands();
    let mut earliest = 0;
    for (other, place) in program.statements[..position].iter().zip(places) {
        let makes_number = program.operands[other.target].shape == Shape::Number;
        let is_across = passes[*place].grid.is_some() && passes[*place].is_across(program);
        if reads.contains(&other.target) {
            // Numbers are there when a pass has ended; vectors are still in registers.
            let waits = makes_number && has_loop
                || statement.is_product()
                || !other.is_product() && is_elsewhere(statement, other.target, other.at)
                || is_across
                    && statement.grid.is_some()
                    && (other.grid.is_none() || other.action != Action::Store);
            earliest = earliest.max(place + usize::from(waits));
        }
        let is_overwritten =
            other.target == statement.target || other.value.operands().contains(&statement.target);
        if is_overwritten {
            let waits = is_elsewhere(other, statement.target, statement.at)
                || other.is_product()
                || other.target == statement.target && other.at != statement.at
                || is_across && other.grid.is_none() != statement.grid.is_none();
            earliest = earliest.max(place + usize::from(waits));
        }
    }
    earliest
}

impl Statement {
    /// Whether it multiplies matrices.
    pub(super) fn is_product(&self) -> bool {
        matches!(self.action, Action::Product { .. })
    }

    /// Where the elements of a product are for the element that it stores: `None` where it stores
    /// nothing that is computed from those of one place.
    pub(super) fn place_of(&self, product: usize) -> Option<At> {
        if self.action != Action::Store || self.grid.is_none() {
            return None;
        }
        let elements = self.value.elements().into_iter();
        let mut places = elements.filter(|(of, _)| *of == product).map(|(_, at)| at);
        let first = places.next()?;
        places.all(|at| at == first).then_some(first)
    }
}

/// Whether a statement reads elements of an operand that another work-item may write, which writes
/// a matrix at this place.
fn is_elsewhere(statement: &Statement, operand: usize, written: At) -> bool {
    let elements = statement.value.elements();
    let mut places = elements.iter().filter(|(of, _)| *of == operand);
    places.any(|(_, at)| match at {
        At::Along => true,
        At::Line => false,
        At::Cell | At::Crossed => *at != written,
    })
}
