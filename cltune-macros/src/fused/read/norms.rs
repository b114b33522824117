//! The norms of rows or columns: sums of squares of large, small and other values, as `norm2` of a
//! vector has them, which here are statements.

use super::Reader;
use crate::fused::functions::{ABS, Fold, SQRT};
use crate::fused::norm_folds::{Powers, powers};
use crate::fused::value::{Kind, Shape, Type, Value};
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, Span};

impl Reader {
    /// The root of the sum of squares of each row, or each column.
    pub(super) fn norms_of_lines(
        &mut self,
        value: &Value,
        of_rows: bool,
        what: &str,
        name: &Ident,
    ) -> syn::Result<Value> {
        let (span, scalar) = (name.span(), value.scalar());
        let Powers {
            large,
            down,
            small,
            up,
            middle,
        } = powers(scalar);
        let power = |exponent: i16| number(2.0_f64.powi(exponent.into()), scalar, span);
        let zero = || number(0.0, scalar, span);
        let square = |reader: &Self, exponent: Option<i16>| {
            let scaled = match exponent {
                None => value.clone(),
                Some(exponent) => reader.times(value.clone(), power(exponent), span)?,
            };
            reader.times(scaled.clone(), scaled, span)
        };
        let size = self.program.elementwise(&ABS, vec![value.clone()], name)?;
        let is_large = self.program.binary(size.clone(), ">", power(large), span)?;
        let is_small = self.program.binary(size, "<", power(small), span)?;
        let is_other = self
            .program
            .binary(is_large.clone(), "||", is_small.clone(), span)?;
        // NaN is neither large nor small.
        let of_others = (is_other, zero(), square(self, None)?);
        let of_large = (is_large, square(self, Some(down))?, zero());
        let of_small = (is_small, square(self, Some(up))?, zero());
        let mut sums = Vec::new();
        for (condition, yes, no) in [of_others, of_large, of_small] {
            let terms = self.program.select(condition, yes, no, [span; 2])?;
            sums.push(self.folded_lines(Fold::Sum, terms, of_rows, what, name)?);
            // One pass for the three, also where statements are not fused.
            let is_first = sums.len() == 1;
            if let Some(statement) = self.program.statements.last_mut() {
                statement.with_previous = !is_first;
            }
        }
        let [others, of_large, of_small] = [sums[0].clone(), sums[1].clone(), sums[2].clone()];
        let root = |reader: &Self, sum: &Value, rest: &Value, by: i16, back: i16| {
            let rest = reader.times(rest.clone(), power(by), span)?;
            let rest = reader.times(rest, power(by), span)?;
            let sum = reader.program.binary(sum.clone(), "+", rest, span)?;
            let root = reader.program.elementwise(&SQRT, vec![sum], name)?;
            reader.times(root, power(back), span)
        };
        let large_root = root(self, &of_large, &others, down, -down)?;
        let other_root = root(self, &others, &of_small, -up, 0)?;
        let small_root = root(self, &of_small, &others, up, -up)?;
        let is_large = self.program.binary(of_large, ">", zero(), span)?;
        let is_other = self.program.binary(others, ">", power(middle), span)?;
        let rest = self
            .program
            .select(is_other, other_root, small_root, [span; 2])?;
        self.program.select(is_large, large_root, rest, [span; 2])
    }

    fn times(&self, left: Value, right: Value, span: Span) -> syn::Result<Value> {
        self.program.binary(left, "*", right, span)
    }
}

/// A number of a type.
fn number(value: f64, scalar: ScalarType, span: Span) -> Value {
    Value {
        kind: Kind::Literal(format!("{value:e}"), span),
        ty: Type::Number(scalar),
        shape: Shape::Number,
    }
}
