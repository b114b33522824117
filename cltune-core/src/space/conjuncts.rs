//! Splitting `a && b` at the top of a constraint, so that each part is checked as early as it can
//! be and connects only the parameters it names.

use crate::expr::{Op, Program};

/// The parts of which all must hold for the program to hold. A part that has no value makes a
/// configuration invalid, as it would inside the whole or after a part that is false.
pub(super) fn conjuncts(program: &Program) -> Vec<Program> {
    let mut parts = Vec::new();
    let mut rest = program.ops.to_vec();
    while let Some((first, second)) = split(&rest) {
        // The left part of `(a && b) && c` is itself a conjunction; parts only get shorter.
        parts.extend(conjuncts(&Program { ops: first.into() }));
        rest = second;
    }
    parts.push(Program { ops: rest.into() });
    parts
}

fn split(ops: &[Op]) -> Option<(Vec<Op>, Vec<Op>)> {
    let is_whole = |op: &Op| matches!(op, Op::AndThen(target) if usize::from(*target) == ops.len());
    let at = (0..ops.len()).find(|at| is_whole(&ops[*at]) && is_separate(ops, *at))?;
    let start = at + 1;
    let back = |target: u16| target.saturating_sub(start as u16);
    let second = ops[start..]
        .iter()
        .map(|op| match *op {
            Op::Jump(target) => Op::Jump(back(target)),
            Op::JumpIfFalse(target) => Op::JumpIfFalse(back(target)),
            Op::AndThen(target) => Op::AndThen(back(target)),
            Op::OrElse(target) => Op::OrElse(back(target)),
            other => other,
        })
        .collect();
    Some((ops[..at].to_vec(), second))
}

/// Whether nothing before the operation at `at` jumps beyond it: then what stands before is the
/// whole left operand, and not the last part of something larger.
fn is_separate(ops: &[Op], at: usize) -> bool {
    ops[..at].iter().all(|op| match *op {
        Op::Jump(target) | Op::JumpIfFalse(target) | Op::AndThen(target) | Op::OrElse(target) => {
            usize::from(target) <= at
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::{AndThen, Const, Jump, JumpIfFalse, OrElse, Param};

    fn parts(ops: &[Op]) -> Vec<Vec<Op>> {
        conjuncts(&Program {
            ops: ops.to_vec().into(),
        })
        .into_iter()
        .map(|part| part.ops.into_owned())
        .collect()
    }

    #[test]
    fn conjunctions_split_into_their_parts() {
        // (a && b) && (c || d)
        let ops = [
            Param(0),
            AndThen(3),
            Param(1),
            AndThen(7),
            Param(2),
            OrElse(7),
            Param(3),
        ];
        let or = vec![Param(2), OrElse(3), Param(3)];
        assert_eq!(parts(&ops), [vec![Param(0)], vec![Param(1)], or]);
        // a && (b && c)
        let ops = [Param(0), AndThen(5), Param(1), AndThen(5), Param(2)];
        assert_eq!(parts(&ops), [[Param(0)], [Param(1)], [Param(2)]]);
    }

    #[test]
    fn conjunctions_inside_something_else_stay() {
        // a || (b && c)
        let or = [Param(0), OrElse(5), Param(1), AndThen(5), Param(2)];
        assert_eq!(parts(&or), [or.to_vec()]);
        // if a { 1 } else { b && c }
        let choice = [
            Param(0),
            JumpIfFalse(4),
            Const(1),
            Jump(7),
            Param(1),
            AndThen(7),
            Param(2),
        ];
        assert_eq!(parts(&choice), [choice.to_vec()]);
    }
}
