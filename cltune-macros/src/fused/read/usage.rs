//! Uses of arguments and values: buffers that no statement uses, and values that none reads.

use super::Reader;
use crate::errors::Errors;
use crate::fused::program::{Place, Program, Statement};
use crate::parse::Argument;
use syn::ext::IdentExt;

impl Reader {
    /// Whether every buffer is used, and what may be written is.
    pub(super) fn check_use(&self, arguments: &[Argument], errors: &mut Errors) {
        for argument in arguments {
            let Some(position) = self.program.operand(&argument.name.unraw()) else {
                continue;
            };
            let mut statements = self.program.statements.iter();
            let is_written = self.written[position] > 0;
            let is_read =
                statements.any(|statement| statement.value.operands().contains(&position));
            let name = &argument.name;
            let message = match self.program.operands[position].place {
                Place::Buffer { out: true, .. } if !is_written => {
                    format!(
                        "no statement writes the output `{name}`: write `{name} = …;`, or leave the \
                         argument out"
                    )
                }
                Place::Buffer { .. } if !is_written && !is_read => {
                    format!("no statement uses `{name}`")
                }
                Place::Buffer { mutable: true, .. } if !is_written => {
                    format!("no statement writes `{name}`: declare it as `&Buffer<…>`")
                }
                _ => continue,
            };
            errors.add(name.span(), message);
        }
    }
}

/// Whether what a statement stores is replaced before any other reads it.
pub(super) fn is_overwritten(program: &Program, position: usize) -> bool {
    let target = program.statements[position].target;
    let reads = |statement: &Statement| statement.value.operands().contains(&target);
    let mut later = program.statements[position + 1..].iter();
    let next = later.find(|statement| reads(statement) || statement.target == target);
    next.is_some_and(|statement| !reads(statement))
}
