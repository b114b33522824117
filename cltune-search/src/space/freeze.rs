//! Replacing the known parts of an expression by words that keep their values.

use super::bounds::Failure;
use super::step::Levels;
use super::tree::Tree;

/// Parts of a tree whose values are kept as words.
pub(super) struct Loads<'a> {
    level: Option<usize>,
    levels: &'a Levels<'a>,
    pub(super) trees: Vec<Load>,
    /// The next free word.
    next: usize,
}

pub(super) struct Load {
    pub(super) tree: Tree,
    pub(super) may_fail: bool,
    word: Tree,
}

impl<'a> Loads<'a> {
    /// For what is known once the parameter of `level` is; words before `next` are taken.
    pub(super) const fn new(level: Option<usize>, levels: &'a Levels<'a>, next: usize) -> Self {
        Self {
            level,
            levels,
            trees: Vec::new(),
            next,
        }
    }

    /// The tree with its largest known parts as words.
    pub(super) fn freeze(&mut self, tree: &Tree) -> Tree {
        if tree.names_only(self.level) {
            return self.load(tree);
        }
        let Tree::Chain(op, operands) = tree else {
            return tree.map(|operand| self.freeze(operand));
        };
        let (known, open): (Vec<Tree>, Vec<Tree>) = operands
            .iter()
            .cloned()
            .partition(|operand| operand.names_only(self.level));
        let mut operands: Vec<Tree> = open.iter().map(|operand| self.freeze(operand)).collect();
        if !known.is_empty() {
            operands.push(self.load(&Tree::chain(*op, known)));
        }
        Tree::Chain(*op, operands)
    }

    fn load(&mut self, tree: &Tree) -> Tree {
        if matches!(tree, Tree::Const(_) | Tree::Fails) {
            return tree.clone();
        }
        if let Some(load) = self.trees.iter().find(|load| load.tree == *tree) {
            return load.word.clone();
        }
        let bounds = tree.bounds(&self.levels.bounds, &[]);
        let may_fail = bounds.failure != Failure::Never;
        if !may_fail && bounds.low == bounds.high {
            return Tree::Const(bounds.low);
        }
        let word = Tree::Word(self.next, bounds);
        self.next += 1 + usize::from(may_fail);
        self.trees.push(Load {
            tree: tree.clone(),
            may_fail,
            word: word.clone(),
        });
        word
    }
}
