//! Arguments: what statements read and write, and how it lies.

use super::Reader;
use crate::errors::Errors;
use crate::errors::fail;
use crate::fused::literals::computable;
use crate::fused::matrices::Matrices;
use crate::fused::program::{Layout, Length, Operand, Place, Program};
use crate::fused::tokens::tidy;
use crate::fused::value::Shape;
use crate::parse::{Argument, ArgumentType};
use cltune_core::model::ElementType;
use quote::ToTokens;
use syn::Expr;
use syn::ext::IdentExt;

impl Reader {
    pub(super) fn argument(
        &mut self,
        argument: &Argument,
        matrices: &Matrices,
        errors: &mut Errors,
    ) {
        let name = argument.name.unraw().to_string();
        if matrices.wrong.contains(&name) {
            return self.unknown.push(name);
        }
        match self.operand_of(argument, matrices) {
            Ok(Some(operand)) => self.push(operand),
            Ok(None) => self.unknown.push(name),
            Err(error) => {
                self.unknown.push(name);
                errors.push(error);
            }
        }
    }

    fn operand_of(
        &mut self,
        argument: &Argument,
        matrices: &Matrices,
    ) -> syn::Result<Option<Operand>> {
        let name = argument.name.unraw().to_string();
        let scalar = |element: ElementType| {
            let scalar = element.as_scalar().ok_or_else(|| {
                let message = "statements compute with scalars: the tuner chooses vectors, and each \
                               field of a struct is a buffer of its own here";
                syn::Error::new(argument.name.span(), message)
            })?;
            computable(scalar, argument.name.span())
        };
        let mut storage = None;
        let [offset, stride] = [&argument.options.offset, &argument.options.stride]
            .map(|named| named.as_ref().map(|(name, _)| name));
        let (scalar, shape, place) = match argument.kind {
            None => return Ok(None),
            Some(ArgumentType::Image(_)) => {
                let message = format!("statements are about buffers, and `{name}` is an image");
                return fail(argument.name.span(), message);
            }
            Some(ArgumentType::Scalar(element)) => (scalar(element)?, Shape::Number, Place::Value),
            Some(ArgumentType::Buffer { element, mutable }) => {
                let Some((len, _)) = &argument.options.len else {
                    let message = format!(
                        "statements need the length of `{name}`: write `#[arg(len = …)]` before it"
                    );
                    return fail(argument.name.span(), message);
                };
                let out = argument.options.out.is_some();
                let place = Place::Buffer { mutable, out };
                let matrix = matrices.list.iter().find(|(of, _)| *of == name);
                if let (Some(_), Some((word, _))) = (matrix, &argument.options.stride) {
                    let message = format!(
                        "`{name}` is a matrix, whose lines are `ld` elements apart: leave `stride` out"
                    );
                    return fail(word.span(), message);
                }
                let shape = match matrix {
                    None => self.shape(len),
                    Some((_, matrix)) => {
                        storage = Some(matrix.storage.clone());
                        Shape::Matrix {
                            rows: Some(self.length(&matrix.rows)),
                            columns: Some(self.length(&matrix.columns)),
                        }
                    }
                };
                (scalar(element)?, shape, place)
            }
        };
        Ok(Some(Operand {
            name,
            layout: match place {
                Place::Buffer { .. } => Layout::new(offset, stride),
                _ => Layout::default(),
            },
            scalar,
            shape,
            place,
            matrix: storage,
        }))
    }

    /// The shape of a buffer with this length.
    fn shape(&mut self, len: &Expr) -> Shape {
        if tidy(len.to_token_stream()) == "1" {
            return Shape::Number;
        }
        Shape::Vector(self.length(len))
    }

    /// The position of a length in the program's.
    fn length(&mut self, len: &Expr) -> usize {
        let text = tidy(len.to_token_stream());
        let lengths = &mut self.program.lengths;
        let known = lengths.iter().position(|length| length.text == text);
        known.unwrap_or_else(|| {
            lengths.push(Length {
                text,
                formula: len.clone(),
            });
            lengths.len() - 1
        })
    }

    pub(super) fn push(&mut self, operand: Operand) {
        self.program.operands.push(operand);
        self.written.push(0);
    }
}

/// The arguments that say where vectors lie, with the values that the tuner passes.
pub(super) fn while_tuning(program: &Program, arguments: &[Argument]) -> Vec<(String, u8)> {
    let mut found: Vec<(String, u8)> = Vec::new();
    for Layout { offset, stride } in program.operands.iter().map(|operand| &operand.layout) {
        let named = [(offset, 0), (stride, 1)].into_iter();
        for (name, value) in named.filter_map(|(name, value)| Some((name.as_ref()?, value))) {
            let is_open = arguments
                .iter()
                .any(|argument| argument.name.unraw() == *name && argument.options.value.is_none());
            if is_open && !found.iter().any(|(other, _)| other == name) {
                found.push((name.clone(), value));
            }
        }
    }
    found
}
