//! Operations that make matrices of vectors and turn matrices, and the way that a loop takes
//! through their elements.

use super::program::{Action, Grid, Statement};
use super::value::{At, Kind, Shape, Value};
use std::collections::BTreeSet;

impl Value {
    /// A vector as a matrix in which all rows, or all columns, are the same.
    pub(super) fn spread(mut self, at: At) -> Self {
        self.change(&|value| {
            if let Shape::Vector(length) = value.shape {
                if let Kind::Operand(operand) = value.kind {
                    value.kind = Kind::Element(operand, at);
                }
                value.shape = match at {
                    At::Line => Shape::Matrix {
                        rows: Some(length),
                        columns: None,
                    },
                    _ => Shape::Matrix {
                        rows: None,
                        columns: Some(length),
                    },
                };
            }
        });
        self
    }

    /// A matrix with rows and columns exchanged.
    pub(super) fn transposed(mut self) -> Self {
        self.change(&|value| {
            if let Kind::Element(_, at) = &mut value.kind {
                *at = at.transposed();
            }
            if let Shape::Matrix { rows, columns } = &mut value.shape {
                std::mem::swap(rows, columns);
            }
        });
        self
    }

    /// Whether more of its matrices have columns contiguous than rows.
    pub(super) fn is_by_columns(&self) -> bool {
        is_by_columns(&self.elements().into_iter().collect())
    }
}

impl At {
    pub(super) fn transposed(self) -> Self {
        match self {
            Self::Cell => Self::Crossed,
            Self::Crossed => Self::Cell,
            Self::Along => Self::Line,
            Self::Line => Self::Along,
        }
    }
}

impl Statement {
    /// The statement with lines along what most of its matrices have contiguous.
    pub(super) fn along_memory(mut self) -> Self {
        let mut elements: BTreeSet<(usize, At)> = self.value.elements().into_iter().collect();
        if self.action == Action::Store {
            elements.insert((self.target, self.at));
        }
        if is_by_columns(&elements) {
            self.value = self.value.transposed();
            if self.action == Action::Store {
                self.at = self.at.transposed();
            }
            self.grid = self.grid.map(|Grid { lines, line }| Grid {
                lines: line,
                line: lines,
            });
            self.action = match self.action {
                Action::Lines(fold) => Action::Across(fold),
                Action::Across(fold) => Action::Lines(fold),
                other => other,
            };
        }
        self
    }
}

fn is_by_columns(elements: &BTreeSet<(usize, At)>) -> bool {
    let count = |wanted: At| elements.iter().filter(|(_, at)| *at == wanted).count();
    count(At::Crossed) > count(At::Cell)
}
