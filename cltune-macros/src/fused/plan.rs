//! Passes over memory: the statements that one kernel computes together.
//!
//! A pass loops over the positions of vectors of one length, and folds what is reduced to a part for
//! each work-group. Where something was reduced, one work-group then folds the parts and computes
//! the statements about single numbers that follow.

use super::folds::Folded;
use super::program::{Action, Program};

/// The statements that one loop computes, and what one work-item does after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pass {
    /// The length of the loop; `None` where there is none.
    pub(super) length: Option<usize>,
    /// The positions of the statements in the loop.
    pub(super) looped: Vec<usize>,
    /// The positions of the statements about single numbers.
    pub(super) numbers: Vec<usize>,
}

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

    /// How many kernels are launched for it.
    #[cfg(test)]
    pub(super) fn launches(&self, program: &Program) -> usize {
        usize::from(self.length.is_some()) + usize::from(self.finishes(program))
    }
}

/// The passes of a program: as few as its dependencies allow, or with `fused` false one for each
/// statement.
pub(super) fn passes(program: &Program, fused: bool) -> Vec<Pass> {
    let mut passes: Vec<Pass> = Vec::new();
    // The pass of each statement so far.
    let mut places: Vec<usize> = Vec::new();
    for (position, statement) in program.statements.iter().enumerate() {
        let earliest = earliest(program, position, &places);
        let shared = (earliest..passes.len()).find(|at| match statement.length {
            Some(_) => fused && passes[*at].length == statement.length,
            // Not one by one with loops that have no result.
            None => fused || passes[*at].finishes(program) && *at + 1 == passes.len(),
        });
        let pass = shared.unwrap_or(passes.len());
        if pass == passes.len() {
            passes.push(Pass {
                length: statement.length,
                ..Pass::default()
            });
        }
        match statement.length {
            Some(_) => passes[pass].looped.push(position),
            None => passes[pass].numbers.push(position),
        }
        places.push(pass);
    }
    passes
}

/// The first pass in which a statement gives the same result: what it reads is there, and what it
/// overwrites was read.
fn earliest(program: &Program, position: usize, places: &[usize]) -> usize {
    let statement = &program.statements[position];
    let reads = statement.value.operands();
    let mut earliest = 0;
    for (other, place) in program.statements[..position].iter().zip(places) {
        let makes_number = other.length.is_none() || other.action != Action::Store;
        if reads.contains(&other.target) {
            // Numbers are there when a pass has ended; vectors are still in registers.
            let waits = makes_number && statement.length.is_some();
            earliest = earliest.max(place + usize::from(waits));
        }
        let is_overwritten =
            other.target == statement.target || other.value.operands().contains(&statement.target);
        if is_overwritten {
            earliest = earliest.max(*place);
        }
    }
    earliest
}
