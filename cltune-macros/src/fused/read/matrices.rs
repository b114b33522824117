//! Expressions over matrices: vectors spread over rows or columns, products, and reductions of rows
//! or columns.

use super::Reader;
use super::expressions::{in_type, summed};
use crate::errors::fail;
use crate::fused::functions::{Fold, REDUCTIONS};
use crate::fused::literals;
use crate::fused::nesting;
use crate::fused::operations::mixed;
use crate::fused::program::{Action, Grid, Statement};
use crate::fused::value::{At, Kind, Shape, Type, Value};
use proc_macro2::{Ident, Span};
use syn::ExprMethodCall;

/// What functions of matrices do.
const SPREAD: &str = "spreads a vector over a matrix";

impl Reader {
    /// A call of a function for matrices; `None` where it is another function.
    pub(super) fn of_matrices(
        &mut self,
        name: &Ident,
        arguments: &[Value],
    ) -> syn::Result<Option<Value>> {
        let text = name.to_string();
        let along = |what: &Value, at: At| match what.shape {
            Shape::Vector(_) => Ok(what.clone().spread(at)),
            _ => fail(name.span(), format!("`{name}` {SPREAD}, and this is none")),
        };
        let value = match (text.as_str(), arguments) {
            ("row", [vector]) => along(vector, At::Along)?,
            ("column", [vector]) => along(vector, At::Line)?,
            ("outer", [left, right]) => {
                let (left, right) = (along(left, At::Line)?, along(right, At::Along)?);
                self.program.binary(left, "*", right, name.span())?
            }
            ("hadamard", [left, right]) => {
                self.program
                    .binary(left.clone(), "*", right.clone(), name.span())?
            }
            ("row" | "column", _) => {
                return fail(name.span(), format!("`{name}` takes one vector"));
            }
            ("outer", _) => return fail(name.span(), "`outer` takes two vectors"),
            ("hadamard", _) => return fail(name.span(), "`hadamard` takes two matrices"),
            _ => {
                let of_rows = text.strip_prefix("row_");
                let Some(of) = of_rows.or_else(|| text.strip_prefix("column_")) else {
                    return Ok(None);
                };
                let mut known = REDUCTIONS.iter();
                let is_known = known.find(|known| known.name == of);
                let Some(reduction) = is_known.filter(|it| it.fold != Fold::IndexOfMax) else {
                    return Ok(None);
                };
                if reduction.arguments != arguments.len() {
                    let message = format!(
                        "`{name}` takes {} argument(s), and here are {}",
                        reduction.arguments,
                        arguments.len()
                    );
                    return fail(name.span(), message);
                }
                let (value, scalar) = self.each(reduction, arguments.to_vec(), name)?;
                let is_of_rows = of_rows.is_some();
                let folded = self.folded_lines(reduction.fold, value, is_of_rows, &text, name)?;
                let folded = in_type(folded, scalar);
                self.no_less_than_nothing(reduction, folded, name)?
            }
        };
        Ok(Some(value))
    }

    /// `a.t()`.
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> syn::Result<Value> {
        let name = &call.method;
        if name != "t" || !call.args.is_empty() {
            let message = format!(
                "functions are written before what they take: `{name}(…)`; the only method is \
                 `.t()`, of a matrix"
            );
            return fail(name.span(), message);
        }
        let value = self.value(&call.receiver)?;
        if !matches!(value.shape, Shape::Matrix { .. }) {
            return fail(name.span(), "`.t()` is for matrices, and this is none");
        }
        Ok(value.transposed())
    }

    /// `matrix * vector`, or the product of matrices where one is a vector that was spread.
    pub(super) fn product(&mut self, left: Value, right: Value, span: Span) -> syn::Result<Value> {
        let Shape::Matrix { rows, columns } = left.shape else {
            return self.program.binary(left, "*", right, span);
        };
        match right.shape {
            Shape::Vector(length) => {
                if let Some(columns) = columns
                    && columns != length
                {
                    let lengths = &self.program.lengths;
                    let message = format!(
                        "a matrix of `{}` columns is multiplied by a vector of `{}`",
                        lengths[columns].text, lengths[length].text
                    );
                    return fail(span, message);
                }
                let terms = self
                    .program
                    .binary(left, "*", right.spread(At::Along), span)?;
                let Type::Number(scalar) = terms.ty else {
                    return fail(span, "a matrix of conditions has no product");
                };
                let name = Ident::new("product", span);
                let folded = self.folded_lines(Fold::Sum, summed(terms), true, "product", &name)?;
                Ok(in_type(folded, scalar))
            }
            Shape::Matrix {
                rows: Some(other_rows),
                columns: Some(other_columns),
            } if rows.is_some() && columns.is_some() => {
                let (Some(rows), Some(columns)) = (rows, columns) else {
                    return self.program.binary(left, "*", right, span);
                };
                if columns != other_rows {
                    let lengths = &self.program.lengths;
                    let message = format!(
                        "a matrix of `{}` columns is multiplied by one of `{}` rows; element by \
                         element it is `hadamard(a, b)`",
                        lengths[columns].text, lengths[other_rows].text
                    );
                    return fail(span, message);
                }
                self.of_two_matrices(left, right, (rows, columns, other_columns), span)
            }
            _ => self.program.binary(left, "*", right, span),
        }
    }

    /// The product of two matrices of so many rows, terms and columns: a statement before the one
    /// that it stands in.
    fn of_two_matrices(
        &mut self,
        left: Value,
        right: Value,
        (rows, depth, columns): (usize, usize, usize),
        span: Span,
    ) -> syn::Result<Value> {
        let (ty, other) = (left.ty, right.ty);
        if ty != other {
            return fail(span, mixed(ty, other));
        }
        let Type::Number(scalar) = ty else {
            return fail(span, "a matrix of conditions has no product");
        };
        if scalar.is_integer() {
            return fail(span, "products of matrices are of floating-point numbers");
        }
        if !self.gemms.is_empty() {
            return self.of_library(left, right, (rows, depth, columns), span);
        }
        let left = self.in_memory(left);
        let right = self.in_memory(right);
        let shape = Shape::Matrix {
            rows: Some(rows),
            columns: Some(columns),
        };
        let target = self.reduced("product", scalar, shape);
        self.program.statements.push(Statement {
            target,
            value: Value {
                kind: Kind::Binary("*", Box::new(left), Box::new(right)),
                ty,
                shape,
            },
            action: Action::Product { depth },
            with_previous: false,
            length: None,
            grid: Some(Grid {
                lines: rows,
                line: columns,
            }),
            at: At::Cell,
            text: self.text.clone(),
        });
        Ok(Value {
            kind: Kind::Element(target, At::Cell),
            ty,
            shape,
        })
    }

    /// A factor of a product: a matrix as it is, or what is computed stored in a matrix before. The
    /// product reads each element many times.
    fn in_memory(&mut self, value: Value) -> Value {
        if matches!(value.kind, Kind::Element(_, At::Cell | At::Crossed)) {
            return value;
        }
        let (ty, shape) = (value.ty, value.shape);
        let target = self.reduced("factor", value.scalar(), shape);
        self.store_matrix(target, value);
        Value {
            kind: Kind::Element(target, At::Cell),
            ty,
            shape,
        }
    }

    /// Each row or column of a matrix folded to a number: a vector.
    pub(super) fn folded_lines(
        &mut self,
        fold: Fold,
        value: Value,
        of_rows: bool,
        what: &str,
        name: &Ident,
    ) -> syn::Result<Value> {
        let span = name.span();
        match fold {
            Fold::Norm2 => return self.norms_of_lines(&value, of_rows, what, name),
            Fold::IndexOfMax => {
                let message =
                    format!("`{name}` is for vectors: a position in a matrix is two numbers");
                return fail(span, message);
            }
            _ => {}
        }
        literals::check(&value)?;
        nesting::check(&value, span)?;
        let (rows, columns) = match value.shape {
            Shape::Matrix {
                rows: Some(rows),
                columns: Some(columns),
            } => (rows, columns),
            Shape::Matrix { .. } => {
                let message =
                    "there is no matrix here that says how many rows and columns there are";
                return fail(span, message);
            }
            _ => {
                let message = format!("`{what}` reduces a matrix, and this is none");
                return fail(span, message);
            }
        };
        let scalar = value.scalar();
        let shape = Shape::Vector(if of_rows { rows } else { columns });
        let target = self.reduced(what, scalar, shape);
        let statement = Statement {
            target,
            value,
            action: if of_rows {
                Action::Lines(fold)
            } else {
                Action::Across(fold)
            },
            with_previous: false,
            length: None,
            grid: Some(Grid {
                lines: rows,
                line: columns,
            }),
            at: At::Cell,
            text: self.text.clone(),
        };
        self.program.statements.push(statement.along_memory());
        Ok(Value {
            kind: Kind::Operand(target),
            ty: Type::Number(scalar),
            shape,
        })
    }

    /// The lines of a matrix reduced, before they are reduced to a number.
    pub(super) fn line_by_line(
        &mut self,
        fold: Fold,
        value: Value,
        name: &Ident,
    ) -> syn::Result<Value> {
        let of_rows = !value.is_by_columns();
        self.folded_lines(fold, value, of_rows, &name.to_string(), name)
    }

    /// Whether a statement reads in another place what it writes.
    pub(super) fn check_overwritten(
        &self,
        target: usize,
        value: &Value,
        name: &Ident,
    ) -> syn::Result<()> {
        let Some(storage) = &self.program.operands[target].matrix else {
            return Ok(());
        };
        let is_read = |(operand, at): &(usize, At)| *operand == target && *at != storage.at;
        if value.elements().iter().any(is_read) {
            let message =
                format!("`{name}` is read transposed while it is written: write to another buffer");
            return fail(name.span(), message);
        }
        Ok(())
    }

    pub(super) fn store_matrix(&mut self, target: usize, value: Value) {
        let operand = &self.program.operands[target];
        let Shape::Matrix {
            rows: Some(rows),
            columns: Some(columns),
        } = operand.shape
        else {
            return;
        };
        let at = operand
            .matrix
            .as_ref()
            .map_or(At::Cell, |storage| storage.at);
        let statement = Statement {
            target,
            value,
            action: Action::Store,
            with_previous: false,
            length: None,
            grid: Some(Grid {
                lines: rows,
                line: columns,
            }),
            at,
            text: self.text.clone(),
        };
        self.program.statements.push(statement.along_memory());
    }
}
