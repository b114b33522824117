//! From Rust's syntax tree to the formula's own, resolving names. Whatever the grammar does not
//! have is an error at its own token.

use super::ast::{BinaryOp, Expr, Function, IfElse, Node};
use super::scope::{ParseError, Scope};
use super::unsupported::unsupported;
use cltune_core::device::DeviceField;
use cltune_core::expr::nearest;
use cltune_core::parameter::{Domain, Fraction, Parameter};
use proc_macro2::Span;
use std::fmt::Write as _;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The most levels of a tree; the walks over it are recursive.
const MAX_DEPTH: usize = 200;

/// The name before a device limit: `device.local_mem_size`.
const DEVICE: &str = "device";

/// The tree of a Rust expression; mistakes are added to `errors`.
pub(super) fn lower(
    expr: &syn::Expr,
    scope: Option<&Scope<'_>>,
    errors: &mut Vec<ParseError>,
) -> Expr {
    Lowering {
        scope,
        errors,
        depth: 0,
    }
    .expr(expr)
}

struct Lowering<'a> {
    /// Without one every name is taken, of whatever type.
    scope: Option<&'a Scope<'a>>,
    errors: &'a mut Vec<ParseError>,
    depth: usize,
}

impl Lowering<'_> {
    fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = expr.span();
        if self.depth == MAX_DEPTH {
            let message =
                format!("this formula is nested too deeply: at most {MAX_DEPTH} operators deep");
            return Expr {
                node: self.error(span, message),
                span,
            };
        }
        self.depth += 1;
        let node = self.node(expr);
        self.depth -= 1;
        Expr { node, span }
    }

    fn node(&mut self, expr: &syn::Expr) -> Node {
        if let Some(attribute) = attributes(expr).first() {
            return self.error(attribute.span(), "attributes are not supported in formulas");
        }
        match expr {
            syn::Expr::Group(group) => self.node(&group.expr),
            syn::Expr::Paren(paren) => self.node(&paren.expr),
            syn::Expr::Lit(literal) => self.literal(&literal.lit, false),
            syn::Expr::Path(path) => self.path(path),
            syn::Expr::Field(field) => self.field(field),
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::MethodCall(call) => self.method_call(call),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::If(choice) => self.choice(choice),
            syn::Expr::Block(block) if block.label.is_none() => self.block(&block.block),
            _ => {
                let (span, message) = unsupported(expr);
                self.error(span, message)
            }
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Node {
        self.errors.push(ParseError::new(span, message));
        Node::Reported
    }

    fn literal(&mut self, literal: &syn::Lit, negated: bool) -> Node {
        match literal {
            syn::Lit::Int(int) if !int.suffix().is_empty() => {
                let message = format!(
                    "integers take no suffix here: all are 64-bit; write `{}`",
                    int.base10_digits()
                );
                self.error(int.span(), message)
            }
            syn::Lit::Int(int) => {
                let magnitude = int.base10_digits().parse::<i128>().ok();
                let value = magnitude.map(|value| if negated { -value } else { value });
                match value.map(i64::try_from) {
                    Some(Ok(value)) => Node::Int(value),
                    _ => self.error(int.span(), "this integer does not fit into 64 bits, signed"),
                }
            }
            syn::Lit::Bool(bool) => Node::Bool(bool.value),
            syn::Lit::Str(text) => Node::Name(text.value()),
            syn::Lit::Float(float) => self.fraction(float, negated),
            other => {
                let message = "this literal is not supported in formulas: only numbers, \
                               `true`/`false` and the names of values, as `\"float4\"`";
                self.error(other.span(), message)
            }
        }
    }

    fn fraction(&mut self, float: &syn::LitFloat, negated: bool) -> Node {
        if !float.suffix().is_empty() {
            let message = format!(
                "numbers with a fraction take no suffix here; write `{}`",
                float.base10_digits()
            );
            return self.error(float.span(), message);
        }
        match float.base10_parse::<f64>() {
            Ok(value) if value.is_finite() => {
                Node::Fraction(Fraction::of(if negated { -value } else { value }))
            }
            _ => self.error(float.span(), "this number is not finite"),
        }
    }

    fn path(&mut self, path: &syn::ExprPath) -> Node {
        let Some(ident) = path.path.get_ident().filter(|_| path.qself.is_none()) else {
            let message = "paths are not supported in formulas: only plain names of parameters \
                           and problem dimensions";
            return self.error(path.span(), message);
        };
        // A name that is a keyword, written `r#type`, is the parameter `type` of the kernel.
        let name = ident.unraw().to_string();
        let Some(scope) = self.scope else {
            return Node::Reported;
        };
        let mut parameters = scope.parameters.iter();
        let parameter = parameters.position(|known| known.name == name);
        let mut dimensions = scope.dimensions.iter();
        let dimension = dimensions.position(|known| *known == name);
        let node = match (parameter, dimension) {
            (Some(position), _) => u16::try_from(position).ok().map(Node::Param),
            (None, Some(position)) => u16::try_from(position).ok().map(Node::Dim),
            (None, None) => {
                let message = unknown_name(&name, scope);
                return self.error(ident.span(), message);
            }
        };
        node.unwrap_or_else(|| self.error(ident.span(), "more than 65536 names are not supported"))
    }

    fn field(&mut self, field: &syn::ExprField) -> Node {
        let is_device = matches!(&*field.base, syn::Expr::Path(base) if base.path.is_ident(DEVICE));
        if !is_device {
            let message = "only `device` has fields in formulas, as `device.local_mem_size`";
            return self.error(field.dot_token.span(), message);
        }
        match &field.member {
            syn::Member::Named(member) => {
                let name = member.to_string();
                if let Some(field) = DeviceField::from_name(&name) {
                    return Node::Device(field);
                }
                let known = DeviceField::ALL.iter().map(|field| field.name());
                let near = did_you_mean(&name, known);
                let limits = limits();
                let message =
                    format!("unknown device limit `{name}`; {near}the limits are {limits}");
                self.error(member.span(), message)
            }
            syn::Member::Unnamed(index) => {
                let message = format!("device limits have names: {}", limits());
                self.error(index.span(), message)
            }
        }
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Node {
        match unary.op {
            // The sign belongs to the literal, so that the least integer can be written.
            syn::UnOp::Neg(_) => match unparenthesised(&unary.expr) {
                syn::Expr::Lit(literal)
                    if matches!(literal.lit, syn::Lit::Int(_) | syn::Lit::Float(_)) =>
                {
                    self.literal(&literal.lit, true)
                }
                _ => match self.expr(&unary.expr) {
                    // `-(-0)`: written as `-0` it would be read as the literal again.
                    Expr {
                        node: Node::Int(0), ..
                    } => Node::Int(0),
                    operand => Node::Neg(Box::new(operand)),
                },
            },
            syn::UnOp::Not(_) => Node::Not(Box::new(self.expr(&unary.expr))),
            _ => self.error(
                unary.op.span(),
                "this operator is not supported in formulas",
            ),
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Node {
        let Some(op) = binary_op(&binary.op) else {
            let message = "assignment is not supported in formulas: they only compute a value";
            return self.error(binary.op.span(), message);
        };
        let a = self.expr(&binary.left);
        let b = self.expr(&binary.right);
        Node::Binary(op, Box::new(a), Box::new(b))
    }

    fn method_call(&mut self, call: &syn::ExprMethodCall) -> Node {
        let receiver = self.expr(&call.receiver);
        if let Some(turbofish) = &call.turbofish {
            return self.error(
                turbofish.span(),
                "type arguments are not supported in formulas",
            );
        }
        self.function(&call.method, Some(receiver), call.args.iter())
    }

    fn call(&mut self, call: &syn::ExprCall) -> Node {
        let name = match &*call.func {
            syn::Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
            _ => None,
        };
        if let Some(name) = name {
            return self.function(name, None, call.args.iter());
        }
        let message = format!("only these functions can be called: {}", functions());
        self.error(call.func.span(), message)
    }

    fn function<'e>(
        &mut self,
        name: &syn::Ident,
        receiver: Option<Expr>,
        arguments: impl Iterator<Item = &'e syn::Expr>,
    ) -> Node {
        let is_method = receiver.is_some();
        let mut operands: Vec<Expr> = receiver.into_iter().collect();
        operands.extend(arguments.map(|argument| self.expr(argument)));
        let word = name.to_string();
        let Some(function) = Function::from_name(&word) else {
            let known = Function::ALL.iter().map(|function| function.name());
            let near = did_you_mean(&word, known);
            let functions = functions();
            let message = format!("unknown function `{word}`; {near}the functions are {functions}");
            return self.error(name.span(), message);
        };
        if operands.len() == function.operands() {
            return Node::Call(function, operands);
        }
        let implied = usize::from(is_method);
        let expected = function.operands() - implied;
        let plural = if expected == 1 { "" } else { "s" };
        let example = match function.operands() {
            1 => format!("`a.{word}()` or `{word}(a)`"),
            _ => format!("`a.{word}(b)` or `{word}(a, b)`"),
        };
        let message = format!(
            "`{word}` takes {expected} argument{plural} here, not {}: write {example}",
            operands.len() - implied
        );
        self.error(name.span(), message)
    }

    fn choice(&mut self, choice: &syn::ExprIf) -> Node {
        let condition = self.expr(&choice.cond);
        let then = Expr {
            node: self.block(&choice.then_branch),
            span: choice.then_branch.span(),
        };
        let Some((_, otherwise)) = &choice.else_branch else {
            let message = "this `if` needs an `else`: a formula always has a value";
            return self.error(choice.if_token.span, message);
        };
        let otherwise = self.expr(otherwise);
        Node::If(Box::new(IfElse {
            condition,
            then,
            otherwise,
        }))
    }

    /// A block of one expression.
    fn block(&mut self, block: &syn::Block) -> Node {
        match &*block.stmts {
            [syn::Stmt::Expr(value, None)] => self.expr(value).node,
            [] => self.error(
                block.span(),
                "an empty block has no value: write an expression in it",
            ),
            [syn::Stmt::Expr(_, Some(semicolon))] => self.error(
                semicolon.span(),
                "leave the `;` out: the block's value is wanted",
            ),
            [first, ..] => {
                let message = "statements are not supported in formulas: a block holds one \
                               expression";
                self.error(first.span(), message)
            }
        }
    }
}

/// What is said of a name that is not in scope.
fn unknown_name(name: &str, scope: &Scope<'_>) -> String {
    if name == DEVICE {
        return format!(
            "`device` has fields: write `device.LIMIT`, with one of {}",
            limits()
        );
    }
    if Function::from_name(name).is_some() {
        return format!("`{name}` is a function: write `a.{name}(…)` or `{name}(…)`");
    }
    let is_value = |parameter: &&Parameter| match &parameter.domain {
        Domain::Names(values) => values.iter().any(|value| *value == name),
        _ => false,
    };
    if let Some(of) = scope.parameters.iter().find(is_value) {
        return format!("`{name}` is a value of `{}`: write \"{name}\"", of.name);
    }
    let parameters = || scope.parameters.iter().map(|parameter| &*parameter.name);
    let dimensions = || scope.dimensions.iter().map(|dimension| &**dimension);
    let mut message = format!("unknown name `{name}`");
    if let Some(near) = nearest(name, parameters().chain(dimensions())) {
        let _ = write!(message, "; did you mean `{near}`?");
    } else if DeviceField::from_name(name).is_some() {
        let _ = write!(message, "; did you mean `device.{name}`?");
    }
    for (what, names) in [
        ("parameters", parameters().collect::<Vec<_>>()),
        ("problem dimensions", dimensions().collect()),
    ] {
        match &*names {
            [] => write!(message, "; there are no {what} here"),
            names => write!(message, "; {what}: {}", quoted(names)),
        }
        .ok();
    }
    message
}

fn unparenthesised(mut expr: &syn::Expr) -> &syn::Expr {
    loop {
        expr = match expr {
            syn::Expr::Paren(paren) if paren.attrs.is_empty() => &paren.expr,
            syn::Expr::Group(group) if group.attrs.is_empty() => &group.expr,
            _ => return expr,
        }
    }
}

fn binary_op(op: &syn::BinOp) -> Option<BinaryOp> {
    Some(match op {
        syn::BinOp::Or(_) => BinaryOp::Or,
        syn::BinOp::And(_) => BinaryOp::And,
        syn::BinOp::Eq(_) => BinaryOp::Eq,
        syn::BinOp::Ne(_) => BinaryOp::Ne,
        syn::BinOp::Lt(_) => BinaryOp::Lt,
        syn::BinOp::Le(_) => BinaryOp::Le,
        syn::BinOp::Gt(_) => BinaryOp::Gt,
        syn::BinOp::Ge(_) => BinaryOp::Ge,
        syn::BinOp::BitOr(_) => BinaryOp::BitOr,
        syn::BinOp::BitXor(_) => BinaryOp::BitXor,
        syn::BinOp::BitAnd(_) => BinaryOp::BitAnd,
        syn::BinOp::Shl(_) => BinaryOp::Shl,
        syn::BinOp::Shr(_) => BinaryOp::Shr,
        syn::BinOp::Add(_) => BinaryOp::Add,
        syn::BinOp::Sub(_) => BinaryOp::Sub,
        syn::BinOp::Mul(_) => BinaryOp::Mul,
        syn::BinOp::Div(_) => BinaryOp::Div,
        syn::BinOp::Rem(_) => BinaryOp::Rem,
        _ => return None,
    })
}

/// The attributes of the kinds of expression that formulas have.
fn attributes(expr: &syn::Expr) -> &[syn::Attribute] {
    match expr {
        syn::Expr::Group(expr) => &expr.attrs,
        syn::Expr::Paren(expr) => &expr.attrs,
        syn::Expr::Lit(expr) => &expr.attrs,
        syn::Expr::Path(expr) => &expr.attrs,
        syn::Expr::Field(expr) => &expr.attrs,
        syn::Expr::Unary(expr) => &expr.attrs,
        syn::Expr::Binary(expr) => &expr.attrs,
        syn::Expr::MethodCall(expr) => &expr.attrs,
        syn::Expr::Call(expr) => &expr.attrs,
        syn::Expr::If(expr) => &expr.attrs,
        syn::Expr::Block(expr) => &expr.attrs,
        _ => &[],
    }
}

fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known)
        .map(|near| format!("did you mean `{near}`? "))
        .unwrap_or_default()
}

fn functions() -> String {
    quoted(&Function::ALL.map(Function::name))
}

fn limits() -> String {
    let names: Vec<&str> = DeviceField::ALL.iter().map(|field| field.name()).collect();
    quoted(&names)
}

/// `` `a`, `b`, `c` ``, shortened when there are many.
pub(super) fn quoted(names: &[&str]) -> String {
    const SHOWN: usize = 32;
    let mut list = String::new();
    for (position, name) in names.iter().take(SHOWN).enumerate() {
        let separator = if position == 0 { "" } else { ", " };
        let _ = write!(list, "{separator}`{name}`");
    }
    if names.len() > SHOWN {
        let _ = write!(list, " and {} more", names.len() - SHOWN);
    }
    list
}
