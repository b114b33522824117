//! Taking off an expression what is known of it, so that its interval becomes one of the rest.

use super::bounds::Failure;
use super::formula::Atom;
use super::interval::Action;
use super::step::Levels;
use super::tree::Tree;
use cltune_core::expr::Op;

/// Takes off an atom's tree what is known.
pub(super) struct Peeling<'a> {
    pub(super) level: Option<usize>,
    pub(super) levels: &'a Levels<'a>,
    pub(super) atom: Atom,
    pub(super) actions: Vec<(Action, Tree)>,
}

impl Peeling<'_> {
    /// Takes off one layer, if that can be.
    pub(super) fn peel(&mut self) -> bool {
        let known = |tree: &Tree| tree.names_only(self.level);
        let bounds = |tree: &Tree| tree.bounds(&self.levels.bounds, &[]);
        let taken = match &self.atom.tree {
            Tree::Binary(op, a, b) if self.atom.comparison && (known(a) || known(b)) => {
                // Equal and different are the same interval, inside and outside.
                self.atom.outside ^= *op == Op::Ne;
                let (op, a, b) = if known(b) {
                    (*op, a, b)
                } else {
                    (mirrored(*op), b, a)
                };
                Some((Action::Compare(op), (**b).clone(), (**a).clone()))
            }
            Tree::Binary(Op::Div, a, b) if known(b) && bounds(b).low > 0 => {
                Some((Action::Divide, (**b).clone(), (**a).clone()))
            }
            Tree::Unary(Op::Neg, a) if bounds(a).low > i64::MIN => {
                Some((Action::Multiply, Tree::Const(-1), (**a).clone()))
            }
            Tree::Chain(op @ (Op::Add | Op::Mul | Op::Min | Op::Max), operands) => {
                let (known, open): (Vec<Tree>, Vec<Tree>) =
                    operands.iter().cloned().partition(known);
                if known.is_empty() {
                    return false;
                }
                let (known, open) = (Tree::chain(*op, known), Tree::chain(*op, open));
                let factor = bounds(&known);
                let action = match op {
                    Op::Add => Action::Add,
                    // The result may be known although the rest has no value.
                    _ if bounds(&open).failure != Failure::Never
                        && !(*op == Op::Mul && (factor.low > 0 || factor.high < 0)) =>
                    {
                        return false;
                    }
                    Op::Mul => Action::Multiply,
                    Op::Min => Action::Min,
                    _ => Action::Max,
                };
                Some((action, known, open))
            }
            _ => None,
        };
        let Some((action, known, open)) = taken else {
            return false;
        };
        self.actions.push((action, known));
        self.atom.tree = open;
        self.atom.comparison = false;
        true
    }
}

/// The comparison that says the same with its sides exchanged.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        other => other,
    }
}
