//! The statements of a fused function, with types and lengths checked.

use super::functions::Fold;
use super::library::Call;
use super::value::{At, Shape, Value};
use cltune_core::model::ScalarType;
use syn::ext::IdentExt;
use syn::{Expr, Ident};

/// A function's operands and statements, in a form that passes are made from: a reduction is a
/// statement of its own, and names of `let` for vectors are replaced by what they mean.
pub(super) struct Program {
    pub(super) operands: Vec<Operand>,
    /// The lengths of vectors, each once.
    pub(super) lengths: Vec<Length>,
    pub(super) statements: Vec<Statement>,
    /// The products that a library computes.
    pub(super) calls: Vec<Call>,
    /// Names of `let`.
    pub(super) named: Vec<Ident>,
    /// Those that no statement uses.
    pub(super) unused: Vec<Ident>,
    /// The targets of statements whose result is overwritten before one reads it.
    pub(super) overwritten: Vec<Ident>,
    /// Arguments that say where vectors lie, with their values while tuning.
    pub(super) while_tuning: Vec<(String, u8)>,
}

/// Something that statements read or write.
#[derive(Clone)]
pub(super) struct Operand {
    pub(super) name: String,
    pub(super) scalar: ScalarType,
    pub(super) shape: Shape,
    pub(super) place: Place,
    pub(super) layout: Layout,
    /// Of a matrix.
    pub(super) matrix: Option<Storage>,
}

/// Where the elements of a matrix are.
#[derive(Clone)]
pub(super) struct Storage {
    /// Where the element is that an expression means by the row and the column.
    pub(super) at: At,
    /// The distance of lines, where they do not follow one another.
    pub(super) leading: Option<Expr>,
}

/// Where the elements of an operand lie in its buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The argument that says at which element the vector begins.
    pub(super) offset: Option<String>,
    /// The argument that says how many elements apart they are; with a negative one the vector
    /// begins at its end, as in BLAS.
    pub(super) stride: Option<String>,
}

impl Layout {
    pub(super) fn new(offset: Option<&Ident>, stride: Option<&Ident>) -> Self {
        let text = |name: &Ident| name.unraw().to_string();
        Self {
            offset: offset.map(text),
            stride: stride.map(text),
        }
    }

    /// Whether the elements are the first ones of the buffer, one after the other.
    pub(super) const fn is_plain(&self) -> bool {
        self.offset.is_none() && self.stride.is_none()
    }

    /// The operands that say so.
    pub(super) fn operands(&self, program: &Program) -> Vec<usize> {
        let names = [&self.offset, &self.stride].into_iter().flatten();
        let position = |name: &String| {
            let mut operands = program.operands.iter();
            operands.position(|operand| operand.name == *name)
        };
        names.filter_map(position).collect()
    }
}

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An argument passed by value.
    Value,
    /// A buffer of the caller's.
    Buffer {
        /// Whether it may be written.
        mutable: bool,
        /// Whether what it holds before the call is not to be read.
        out: bool,
    },
    /// A scratch buffer of one element, or of a vector's.
    Scratch,
    /// Nowhere: a vector that is computed and used in the same pass.
    Register,
}

/// A length of vectors.
#[derive(Clone)]
pub(super) struct Length {
    /// Its text, by which lengths are told apart.
    pub(super) text: String,
    /// As it was written.
    pub(super) formula: Expr,
}

/// A statement that one loop, or one work-item, computes, or a call of a library.
#[derive(Clone)]
pub(super) struct Statement {
    /// The operand that it writes.
    pub(super) target: usize,
    pub(super) value: Value,
    pub(super) action: Action,
    /// Whether it has to be in the pass of the statement before it.
    pub(super) with_previous: bool,
    /// The length of the loop that computes it; `None` for a single number, and for matrices.
    pub(super) length: Option<usize>,
    /// The lines that it goes through, of matrices.
    pub(super) grid: Option<Grid>,
    /// Where the element is that is stored, of a matrix.
    pub(super) at: At,
    /// The statement as it was written, for comments in the generated source.
    pub(super) text: String,
}

/// What becomes of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It is stored, at each position if it is a vector.
    Store,
    /// The values of all positions are folded to one number.
    Fold(Fold),
    /// The values of each line are folded to one number.
    Lines(Fold),
    /// The values of all lines are folded to one line.
    Across(Fold),
    /// Two matrices, the operands of a `*`, are multiplied. Sums have as many terms as the length
    /// of this position says.
    Product { depth: usize },
    /// The call of a library at this position of the program's. The value has what it reads.
    Call(usize),
}

/// A loop over the elements of matrices. Lines are rows, or columns where most operands have those
/// contiguous. Lengths are named by their positions in the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grid {
    /// How many lines there are.
    pub(super) lines: usize,
    /// The elements of a line.
    pub(super) line: usize,
}

impl Program {
    /// A name that no operand has.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.operands.iter().any(|operand| operand.name == name) {
            name.push('_');
        }
        name
    }

    /// The name of an operand in the source: no keyword, and none of the kernels' own.
    pub(super) fn name_in_source(&self, operand: usize) -> String {
        format!("{}_", self.operands[operand].name)
    }

    /// A name for an argument that is made: none that an operand has, here or in the source.
    pub(super) fn free_argument(&self, wanted: &str) -> String {
        let mut name = self.free_name(wanted);
        while (0..self.operands.len()).any(|operand| self.name_in_source(operand) == name) {
            name = self.free_name(&format!("{name}_"));
        }
        name
    }

    /// The operand of a name.
    pub(super) fn operand(&self, name: &Ident) -> Option<usize> {
        self.operands
            .iter()
            .position(|operand| *name == operand.name)
    }
}
