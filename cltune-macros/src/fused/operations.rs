//! Operations on typed values: the type and shape of a result, or why the operation does not exist.

use super::functions::Function;
use super::program::Program;
use super::value::{Kind, Shape, Type, Value, is_for_integers};
use crate::errors::fail;
use proc_macro2::{Ident, Span};

/// The message about a vector where an element of a matrix is computed.
pub(super) const VECTOR_AND_MATRIX: &str = "a vector goes with a matrix as `row(v)`, the same in each row, or as `column(v)`, the same in \
     each column";

impl Program {
    /// `left operator right`.
    pub(super) fn binary(
        &self,
        mut left: Value,
        operator: &'static str,
        mut right: Value,
        span: Span,
    ) -> syn::Result<Value> {
        let shape = self.common_shape(left.shape, right.shape, span)?;
        let ty = match operator {
            "&&" | "||" => match (left.ty, right.ty) {
                (Type::Truth(scalar), Type::Truth(_)) => Type::Truth(scalar),
                _ => {
                    return fail(
                        span,
                        format!("`{operator}` joins conditions, such as `x > 0.0`"),
                    );
                }
            },
            _ => {
                let ty = common_type(&mut left, &mut right, span)?;
                if is_for_integers(operator)
                    && matches!(ty, Type::Number(scalar) if !scalar.is_integer())
                {
                    return fail(span, format!("`{operator}` is for integers"));
                }
                match operator {
                    "==" | "!=" | "<" | "<=" | ">" | ">=" => {
                        let Type::Number(scalar) = ty else {
                            let message = "both sides of this comparison are constants: give one of them \
                                           a type, as in `2f32`";
                            return fail(span, message);
                        };
                        Type::Truth(scalar)
                    }
                    _ => ty,
                }
            }
        };
        Ok(Value {
            kind: Kind::Binary(operator, Box::new(left), Box::new(right)),
            ty,
            shape,
        })
    }

    /// `if condition { yes } else { no }`.
    pub(super) fn select(
        &self,
        condition: Value,
        mut yes: Value,
        mut no: Value,
        spans: [Span; 2],
    ) -> syn::Result<Value> {
        let [at_condition, at_no] = spans;
        let ty = common_type(&mut yes, &mut no, at_no)?;
        let shape = self.common_shape(yes.shape, no.shape, at_no)?;
        let shape = self.common_shape(shape, condition.shape, at_condition)?;
        Ok(Value {
            kind: Kind::Select(Box::new([condition, yes, no])),
            ty,
            shape,
        })
    }

    /// A function of the elements at one position.
    pub(super) fn elementwise(
        &self,
        function: &'static Function,
        mut arguments: Vec<Value>,
        name: &Ident,
    ) -> syn::Result<Value> {
        let known = arguments.iter().find_map(|value| match value.ty {
            Type::Literal => None,
            ty => Some(ty),
        });
        let scalar = match known {
            Some(Type::Number(scalar)) => scalar,
            Some(Type::Truth(_)) => {
                return fail(
                    name.span(),
                    format!("`{name}` is for numbers, not for conditions"),
                );
            }
            _ => {
                let message = "all arguments of this function are constants: give one of them a type, as \
                               in `2f32`";
                return fail(name.span(), message);
            }
        };
        if scalar.is_integer() && function.integer.is_none() {
            let message = format!(
                "`{name}` is for floating-point numbers, and this is {}: convert it, `… as f32`",
                described(Type::Number(scalar))
            );
            return fail(name.span(), message);
        }
        let mut shape = Shape::Number;
        for value in &mut arguments {
            value.settle(scalar);
            if value.ty != Type::Number(scalar) {
                return fail(name.span(), mixed(Type::Number(scalar), value.ty));
            }
            shape = self.common_shape(shape, value.shape, name.span())?;
        }
        Ok(Value {
            kind: Kind::Call(function, arguments),
            ty: Type::Number(scalar),
            shape,
        })
    }

    /// The shape of what is computed from values of two shapes: a number goes with each position.
    pub(super) fn common_shape(&self, left: Shape, right: Shape, span: Span) -> syn::Result<Shape> {
        match (left, right) {
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                fail(span, self.different(of, other))
            }
            (
                Shape::Matrix { rows, columns },
                Shape::Matrix {
                    rows: other_rows,
                    columns: other_columns,
                },
            ) => Ok(Shape::Matrix {
                rows: self.common_length(rows, other_rows, "rows", span)?,
                columns: self.common_length(columns, other_columns, "columns", span)?,
            }),
            (Shape::Vector(_), Shape::Matrix { .. }) | (Shape::Matrix { .. }, Shape::Vector(_)) => {
                fail(span, VECTOR_AND_MATRIX)
            }
            (Shape::Number, shape) | (shape, _) => Ok(shape),
        }
    }

    /// The number of rows or columns of what is computed from two matrices.
    fn common_length(
        &self,
        left: Option<usize>,
        right: Option<usize>,
        what: &str,
        span: Span,
    ) -> syn::Result<Option<usize>> {
        match (left, right) {
            (Some(of), Some(other)) if of != other => {
                let lengths = &self.lengths;
                let message = format!(
                    "the numbers of {what} differ: `{}` and `{}`",
                    lengths[of].text, lengths[other].text
                );
                fail(span, message)
            }
            _ => Ok(left.or(right)),
        }
    }

    /// The message about two lengths.
    pub(super) fn different(&self, one: usize, other: usize) -> String {
        let lengths = &self.lengths;
        format!(
            "the lengths differ: `{}` and `{}`",
            lengths[one].text, lengths[other].text
        )
    }
}

/// One type for two values; literals take that of the other.
fn common_type(left: &mut Value, right: &mut Value, span: Span) -> syn::Result<Type> {
    match (left.ty, right.ty) {
        (Type::Number(scalar), Type::Literal) => right.settle(scalar),
        (Type::Literal, Type::Number(scalar)) => left.settle(scalar),
        _ => {}
    }
    match (left.ty, right.ty) {
        (one, other) if one == other && !matches!(one, Type::Truth(_)) => Ok(one),
        (one, other) => fail(span, mixed(one, other)),
    }
}

/// The message about two types that are not the same.
pub(super) fn mixed(one: Type, other: Type) -> String {
    format!(
        "{} and {} do not mix: convert one of them with `as`",
        described(one),
        described(other)
    )
}

/// A type in a message.
pub(super) fn described(ty: Type) -> String {
    match ty {
        Type::Number(scalar) => format!("a number of type `{}`", scalar.rust_name()),
        Type::Truth(_) => "a condition".into(),
        Type::Literal => "a constant".into(),
    }
}
