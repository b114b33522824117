//! Products of matrices that go to a library: the statement `C = A * B` as a call, with what is
//! done to the product in the statement.

use super::Reader;
use crate::errors::{Errors, fail};
use crate::fused::library::{Call, View};
use crate::fused::program::{Action, Place, Statement};
use crate::fused::tokens::names;
use crate::fused::value::{At, Kind, Shape, Type, Value};
use cltune_core::model::ScalarType;
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Lit, Stmt};

/// A product in the statement that is read.
pub(super) struct Product {
    /// What stands for it in the value of the statement.
    operand: usize,
    gemm: Ident,
    left: Value,
    right: Value,
    rows: usize,
    depth: usize,
    columns: usize,
    /// The `*`.
    span: Span,
}

impl Reader {
    /// The product of two matrices, and the numbers that its factors are multiplied by.
    pub(super) fn of_library(
        &mut self,
        left: Value,
        right: Value,
        (rows, depth, columns): (usize, usize, usize),
        span: Span,
    ) -> syn::Result<Value> {
        let (ty, scalar) = (left.ty, left.scalar());
        let Some(gemm) = self.gemms.iter().find(|gemm| gemm.scalar == scalar) else {
            let message = format!(
                "this product is of `{0}`, and there is no argument `&mut Gemm<{0}>`: add one",
                scalar.rust_name()
            );
            return fail(span, message);
        };
        let gemm = gemm.name.clone();
        let (by_left, left) = scaled(left);
        let (by_right, right) = scaled(right);
        for factor in [&left, &right] {
            let is_stored = match factor.kind {
                Kind::Element(operand, At::Cell | At::Crossed) => {
                    matches!(self.program.operands[operand].place, Place::Buffer { .. })
                }
                _ => false,
            };
            if !is_stored {
                let message = "a factor of this product is computed, and the library multiplies matrices \
                               in memory: write it to a `&mut Buffer<…>` in a statement before";
                return fail(span, message);
            }
        }
        let shape = Shape::Matrix {
            rows: Some(rows),
            columns: Some(columns),
        };
        let operand = self.reduced("product", scalar, shape);
        let mut value = Value {
            kind: Kind::Element(operand, At::Cell),
            ty,
            shape,
        };
        for number in [by_left, by_right].into_iter().flatten() {
            value = self.program.binary(number, "*", value, span)?;
        }
        self.products.push(Product {
            operand,
            gemm,
            left,
            right,
            rows,
            depth,
            columns,
            span,
        });
        Ok(value)
    }

    /// The assignment of a value with a product in it. The library writes the product to the
    /// target, as `alpha * product + beta * target` if the value has that; what else there is to
    /// compute is a statement about the target after that. `first` is the number of statements
    /// before this one.
    pub(super) fn call_library(
        &mut self,
        first: usize,
        target: usize,
        value: &Value,
    ) -> syn::Result<()> {
        let mut products = std::mem::take(&mut self.products);
        let Some(product) = products.pop() else {
            return Ok(());
        };
        let span = product.span;
        if !products.is_empty() {
            let message = "the library writes one product in a statement: make a statement of each, as in \
                           `c = a * b; c += d * e;`";
            return fail(span, message);
        }
        let places = value.elements().into_iter();
        let mut places = places.filter(|(operand, _)| *operand == product.operand);
        let Some((_, place)) = places.next() else {
            return fail(span, NOT_ASSIGNED);
        };
        self.check_target(target, &product)?;
        let stored = self.program.operands[target].matrix.as_ref();
        let stored_at = stored.map_or(At::Cell, |storage| storage.at);
        let of_target = Value {
            kind: Kind::Element(target, stored_at),
            ty: product.left.ty,
            shape: self.program.operands[target].shape,
        };
        let scalar = product.left.scalar();
        let is_read = |value: &Value| value.operands().contains(&target);
        // What the statement reduces is computed after the call, which has overwritten the target.
        let mut reduced = self.program.statements[first..].iter();
        let is_reduced = reduced.any(|statement| is_read(&statement.value));
        let parts = self.linear(value, product.operand, &of_target);
        let parts = parts.filter(|_| !is_reduced);
        let (alpha, beta, rest) = match parts {
            Some(Linear { alpha, beta, rest }) => {
                let mut sum = None;
                for (is_negative, term) in rest {
                    let sum_so_far = sum.unwrap_or_else(|| of_target.clone());
                    let operator = if is_negative { "-" } else { "+" };
                    sum = Some(self.program.binary(sum_so_far, operator, term, span)?);
                }
                (alpha, beta, sum)
            }
            None if is_reduced || is_read(value) => {
                let name = &self.program.operands[target].name;
                let message = format!(
                    "`{name}` is where the library writes this product, and the statement reads it in \
                     another way than `alpha * (a * b) + beta * {name}`, with numbers of the call: write \
                     the product to another matrix, and compute with it in a statement after"
                );
                return fail(span, message);
            }
            None => {
                let mut rest = value.clone();
                rest.change(&|part| {
                    if matches!(part.kind, Kind::Element(of, _) if of == product.operand) {
                        part.kind = of_target.kind.clone();
                    }
                });
                (one(scalar, span), None, Some(rest))
            }
        };
        let mut read = both(product.left.clone(), product.right.clone());
        if beta.is_some() {
            read = both(read, of_target.clone());
        }
        let (rows, depth, columns) = (product.rows, product.depth, product.columns);
        let call = Call {
            gemm: product.gemm,
            alpha,
            beta,
            left: self.view(&product.left, rows, depth)?,
            right: self.view(&product.right, depth, columns)?,
            target: View {
                by_rows: (stored_at == At::Cell) == (place == At::Cell),
                ..self.view(&of_target, rows, columns)?
            },
        };
        let statement = Statement {
            target,
            value: read,
            action: Action::Call(self.program.calls.len()),
            with_previous: false,
            length: None,
            grid: None,
            at: stored_at,
            text: self.text.clone(),
        };
        self.program.calls.push(call);
        self.written[target] += 1;
        // Before what the statement reduces: no factor depends on that.
        self.program.statements.insert(first, statement);
        if let Some(rest) = rest {
            self.store(target, rest);
        }
        Ok(())
    }

    /// Whether the library can write a product to a matrix: one that it does not read, and that has
    /// elements of its type.
    fn check_target(&self, target: usize, product: &Product) -> syn::Result<()> {
        let span = product.span;
        let factors = [&product.left, &product.right];
        if factors.iter().any(|it| it.operands().contains(&target)) {
            let name = &self.program.operands[target].name;
            let message = format!(
                "`{name}` is a factor of this product, and the library cannot write to what it reads: \
                 write to another matrix"
            );
            return fail(span, message);
        }
        let of_buffer = self.program.operands[target].scalar;
        if of_buffer != product.left.scalar() {
            let message = format!(
                "this product is of `{}`, and the library writes it to `{}`, which has elements of `{}`: write \
                 it to another matrix, and convert that in a statement after",
                product.left.scalar().rust_name(),
                self.program.operands[target].name,
                of_buffer.rust_name()
            );
            return fail(span, message);
        }
        Ok(())
    }

    /// A value as a sum of a multiple of the product, one of the target, and terms that read
    /// neither; `None` where it is no such sum.
    fn linear(&self, value: &Value, product: usize, target: &Value) -> Option<Linear> {
        let Kind::Element(target, stored_at) = target.kind else {
            return None;
        };
        let (mut alpha, mut beta) = (None, None);
        let mut rest = Vec::new();
        for (is_negative, term) in terms(value, false) {
            let (factor, inner) = scaled(term.clone());
            let place = match inner.kind {
                Kind::Element(of, _) if of == product => Some(&mut alpha),
                Kind::Element(of, at) if of == target && at == stored_at => Some(&mut beta),
                _ => None,
            };
            let factor = factor.unwrap_or_else(|| one(inner.scalar(), Span::call_site()));
            match place {
                Some(place) if place.is_none() && self.is_of_call(&factor) => {
                    *place = Some(if is_negative { negated(factor) } else { factor });
                }
                _ => rest.push((is_negative, term)),
            }
        }
        let is_read = |term: &Value| {
            let operands = term.operands();
            operands.contains(&product) || operands.contains(&target)
        };
        if rest.iter().any(|(_, term)| is_read(term)) {
            return None;
        }
        Some(Linear {
            alpha: alpha?,
            beta,
            rest,
        })
    }

    /// Whether a number is known on the host: it is made of arguments and literals.
    fn is_of_call(&self, number: &Value) -> bool {
        match &number.kind {
            Kind::Literal(..) => true,
            Kind::Operand(operand) => self.program.operands[*operand].place == Place::Value,
            Kind::Unary("-", inner) => self.is_of_call(inner),
            Kind::Binary("+" | "-" | "*" | "/", left, right) => {
                self.is_of_call(left) && self.is_of_call(right)
            }
            _ => false,
        }
    }

    /// How a matrix of so many rows and columns lies.
    fn view(&self, matrix: &Value, rows: usize, columns: usize) -> syn::Result<View> {
        let Kind::Element(operand, at) = matrix.kind else {
            return fail(Span::call_site(), "the library multiplies matrices");
        };
        let storage = self.program.operands[operand].matrix.as_ref();
        let leading = storage.and_then(|storage| storage.leading.clone());
        let [rows, columns] = [rows, columns].map(|at| self.program.lengths[at].formula.clone());
        for size in [&rows, &columns].into_iter().chain(&leading) {
            self.check_size(size)?;
        }
        Ok(View {
            operand,
            by_rows: at == At::Cell,
            rows,
            columns,
            leading,
        })
    }

    /// Whether a size is a number, or an argument that is an integer.
    fn check_size(&self, size: &Expr) -> syn::Result<()> {
        let is_known = match ungrouped(size) {
            Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_)),
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                let operand = self.program.operand(&name.unraw());
                let operand = operand.map(|at| &self.program.operands[at]);
                operand.is_some_and(|it| it.place == Place::Value && it.scalar.is_integer())
            }),
            _ => false,
        };
        if is_known {
            return Ok(());
        }
        let message = "the sizes of a matrix that the library multiplies are integer arguments or numbers: \
                       make this an argument of its own";
        fail(size.span(), message)
    }

    /// What calls of the library make impossible: a product that nothing writes, and what was
    /// computed before a call in memory of a tunable's own and is used after it.
    pub(super) fn check_calls(&self, statement: &Stmt) -> syn::Result<()> {
        if let Some(product) = self.products.first() {
            return fail(product.span, NOT_ASSIGNED);
        }
        let statements = &self.program.statements;
        let is_call = |statement: &Statement| matches!(statement.action, Action::Call(_));
        let Some(call) = statements.iter().rposition(is_call) else {
            return Ok(());
        };
        let is_before = |operand: &usize| {
            let made = statements.iter().position(|it| it.target == *operand);
            self.program.operands[*operand].place == Place::Scratch
                && made.is_some_and(|made| made < call)
        };
        for name in names(statement.to_token_stream()) {
            let text = name.unraw().to_string();
            let operands = match self.vectors.get(&text) {
                Some((value, _)) => value.operands(),
                None => self.program.operand(&name.unraw()).into_iter().collect(),
            };
            if operands.iter().any(is_before) {
                let message = format!(
                    "`{name}` is computed before a product that the library makes, in memory that is gone after \
                     it: compute it after the product, or write it to a `&mut Buffer<…>`"
                );
                return fail(name.span(), message);
            }
        }
        Ok(())
    }

    /// Whether each of the arguments that multiply has something to do, and whether there is
    /// something besides.
    pub(super) fn check_gemms(&self, function: Span, errors: &mut Errors) {
        let calls = &self.program.calls;
        for gemm in &self.gemms {
            if !calls.iter().any(|call| call.gemm == gemm.name) {
                let scalar = gemm.scalar.rust_name();
                let message = format!(
                    "no statement multiplies matrices of `{scalar}`: leave `{}` out",
                    gemm.name
                );
                errors.add(gemm.name.span(), message);
            }
        }
        if !calls.is_empty() && calls.len() == self.program.statements.len() {
            let message = format!(
                "nothing is left to tune here, since the library makes all products: call \
                 `{}.multiply(…)` instead",
                calls[0].gemm
            );
            errors.add(function, message);
        }
    }
}

/// The message about a product that is no part of an assignment's value.
const NOT_ASSIGNED: &str = "the library writes a product to a matrix: assign it, as in `c = a * b;`, and use \
                            `c` in the statements after";

/// A sum with a product in it.
struct Linear {
    alpha: Value,
    beta: Option<Value>,
    /// The other terms, and whether each is subtracted.
    rest: Vec<(bool, Value)>,
}

/// The terms of a sum, and whether each is subtracted.
fn terms(value: &Value, is_negative: bool) -> Vec<(bool, Value)> {
    match &value.kind {
        Kind::Unary("-", inner) => terms(inner, !is_negative),
        Kind::Binary(operator @ ("+" | "-"), left, right) => {
            let mut all = terms(left, is_negative);
            all.extend(terms(right, is_negative != (*operator == "-")));
            all
        }
        _ => vec![(is_negative, value.clone())],
    }
}

/// A matrix and the number that it is multiplied by.
fn scaled(value: Value) -> (Option<Value>, Value) {
    let is_number = |value: &Value| value.shape == Shape::Number;
    let times = |number: Option<Value>, operator, right: Value| {
        let ty = right.ty;
        let number = number.unwrap_or_else(|| one(right.scalar(), Span::call_site()));
        Some(Value {
            kind: Kind::Binary(operator, Box::new(number), Box::new(right)),
            ty,
            shape: Shape::Number,
        })
    };
    match value.kind {
        Kind::Unary("-", inner) if !is_number(&inner) => {
            let (number, matrix) = scaled(*inner);
            let number = number.unwrap_or_else(|| one(matrix.scalar(), Span::call_site()));
            (Some(negated(number)), matrix)
        }
        Kind::Binary("*", left, right) if is_number(&left) && !is_number(&right) => {
            let (number, matrix) = scaled(*right);
            match number {
                None => (Some(*left), matrix),
                Some(number) => (times(Some(*left), "*", number), matrix),
            }
        }
        Kind::Binary("*", left, right) if is_number(&right) && !is_number(&left) => {
            let (number, matrix) = scaled(*left);
            match number {
                None => (Some(*right), matrix),
                Some(number) => (times(Some(number), "*", *right), matrix),
            }
        }
        Kind::Binary("/", left, right) if is_number(&right) && !is_number(&left) => {
            let (number, matrix) = scaled(*left);
            (times(number, "/", *right), matrix)
        }
        kind => (None, Value { kind, ..value }),
    }
}

fn one(scalar: ScalarType, span: Span) -> Value {
    Value {
        kind: Kind::Literal("1".into(), span),
        ty: Type::Number(scalar),
        shape: Shape::Number,
    }
}

fn negated(number: Value) -> Value {
    Value {
        ty: number.ty,
        shape: number.shape,
        kind: Kind::Unary("-", Box::new(number)),
    }
}

/// A value that reads both.
fn both(left: Value, right: Value) -> Value {
    Value {
        ty: left.ty,
        shape: left.shape,
        kind: Kind::Binary("*", Box::new(left), Box::new(right)),
    }
}

fn ungrouped(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Group(group) => &group.expr,
            Expr::Paren(paren) => &paren.expr,
            _ => return expr,
        }
    }
}
