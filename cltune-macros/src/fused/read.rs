//! From syntax to the program. Every mistake is reported at its token.

use super::functions::{Each, FUNCTIONS, REDUCTIONS, Reduction, names};
use super::item::FusedItem;
use super::program::{Action, Length, Operand, Place, Program, Statement};
use super::value::{Kind, Shape, Type, Value};
use crate::errors::{Errors, did_you_mean, quoted};
use crate::parse::{self, Argument, ArgumentType};
use cltune_core::model::{ElementType, ScalarType};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprIf, Lit, Pat, Stmt, UnOp};

/// Reads the function.
pub(super) fn program(item: &FusedItem, errors: &mut Errors) -> Program {
    let mut reader = Reader {
        program: Program {
            operands: Vec::new(),
            lengths: Vec::new(),
            statements: Vec::new(),
            unused: Vec::new(),
        },
        vectors: HashMap::new(),
        written: Vec::new(),
        unknown: Vec::new(),
        bound: Vec::new(),
        text: String::new(),
    };
    let arguments = parse::arguments(&item.signature, errors);
    for argument in &arguments.list {
        reader.argument(argument, errors);
    }
    let statements = item.body.as_ref().map_or(&[][..], |body| &body.stmts);
    for statement in statements {
        let read = reader.statement(statement);
        errors.take(read);
    }
    if errors.is_empty() && reader.program.statements.is_empty() {
        errors.add(
            item.signature.ident.span(),
            "this computes nothing: a fused function has statements as its body, for example \
             `{ y = a * x + y; }`",
        );
    }
    if errors.is_empty() {
        reader.check_use(&arguments.list, errors);
    }
    let unused = reader.bound.into_iter().filter(|(_, is_used)| !is_used);
    reader.program.unused = unused.map(|(name, _)| name).collect();
    reader.program
}

struct Reader {
    program: Program,
    /// Vectors that have a name by `let`, with how often each of their operands was written then.
    vectors: HashMap<String, (Value, Vec<(usize, usize)>)>,
    /// How often each operand was written.
    written: Vec<usize>,
    /// Arguments with a mistake that was reported, which statements may name all the same.
    unknown: Vec<String>,
    /// The names of `let`, and whether each is used.
    bound: Vec<(Ident, bool)>,
    /// The statement that is read.
    text: String,
}

fn fail<T>(span: Span, message: impl std::fmt::Display) -> syn::Result<T> {
    Err(syn::Error::new(span, message))
}

impl Reader {
    fn argument(&mut self, argument: &Argument, errors: &mut Errors) {
        let name = argument.name.unraw().to_string();
        match self.operand_of(argument) {
            Ok(Some(operand)) => self.push(operand),
            Ok(None) => self.unknown.push(name),
            Err(error) => {
                self.unknown.push(name);
                errors.push(error);
            }
        }
    }

    fn operand_of(&mut self, argument: &Argument) -> syn::Result<Option<Operand>> {
        let name = argument.name.unraw().to_string();
        let scalar = |element: ElementType| {
            element.as_scalar().ok_or_else(|| {
                let message = "statements compute with scalars: the tuner chooses vectors, and each \
                               field of a struct is a buffer of its own here";
                syn::Error::new(argument.name.span(), message)
            })
        };
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
                (scalar(element)?, self.shape(len), place)
            }
        };
        Ok(Some(Operand {
            name,
            scalar,
            shape,
            place,
        }))
    }

    /// The shape of a buffer with this length.
    fn shape(&mut self, len: &Expr) -> Shape {
        let text = tidy(len.to_token_stream());
        if text == "1" {
            return Shape::Number;
        }
        let lengths = &mut self.program.lengths;
        let known = lengths.iter().position(|length| length.text == text);
        Shape::Vector(known.unwrap_or_else(|| {
            lengths.push(Length {
                text,
                formula: len.clone(),
            });
            lengths.len() - 1
        }))
    }

    fn push(&mut self, operand: Operand) {
        self.program.operands.push(operand);
        self.written.push(0);
    }

    fn statement(&mut self, statement: &Stmt) -> syn::Result<()> {
        self.text = tidy(statement.to_token_stream());
        match statement {
            Stmt::Expr(Expr::Assign(assign), Some(_)) => {
                let target = target_name(&assign.left)?;
                self.assign(target, &assign.right, None)
            }
            Stmt::Expr(Expr::Binary(binary), Some(_)) if compound(&binary.op).is_some() => {
                let target = target_name(&binary.left)?;
                self.assign(target, &binary.right, compound(&binary.op))
            }
            Stmt::Local(local) => {
                let Pat::Ident(pattern) = &local.pat else {
                    return fail(
                        local.pat.span(),
                        "`let` gives a value one name, without a type",
                    );
                };
                let Some(init) = &local.init else {
                    return fail(local.span(), "`let` needs a value, `let name = …;`");
                };
                self.bind(&pattern.ident, &init.expr)
            }
            Stmt::Expr(Expr::Assign(_) | Expr::Binary(_), None) => {
                fail(statement.span(), "a statement ends with `;`")
            }
            _ => fail(
                statement.span(),
                "a statement is `y = …;`, `y += …;` (also `-=`, `*=`, `/=`) or `let name = …;`",
            ),
        }
    }

    /// `target = value`, or with an operator between the target and the value.
    fn assign(
        &mut self,
        name: &Ident,
        value: &Expr,
        operator: Option<&'static str>,
    ) -> syn::Result<()> {
        let Some(target) = self.program.operand(&name.unraw()) else {
            if self.unknown.iter().any(|unknown| name.unraw() == *unknown) {
                return Ok(());
            }
            let operands = self.program.operands.iter();
            let names = operands.map(|operand| operand.name.as_str());
            let near = did_you_mean(&name.to_string(), names);
            let message = format!("there is no argument `{name}` to write to{near}");
            return fail(name.span(), message);
        };
        match self.program.operands[target].place {
            Place::Buffer { mutable: true, .. } => {}
            Place::Buffer { .. } => {
                let message = format!("`{name}` is written here: declare it as `&mut Buffer<…>`");
                return fail(name.span(), message);
            }
            Place::Value | Place::Scratch => {
                let message = format!(
                    "`{name}` is a number of the call: only buffers (`&mut Buffer<…>`) are written to"
                );
                return fail(name.span(), message);
            }
        }
        let mut value_read = self.value(value)?;
        let Operand { scalar, shape, .. } = self.program.operands[target];
        if let Some(operator) = operator {
            let current = self.operand_value(target, name)?;
            value_read = self.binary(current, operator, value_read, value.span())?;
        }
        value_read.settle(scalar);
        if value_read.ty != Type::Number(scalar) {
            let message = format!(
                "`{name}` has elements of `{}`, and this is {}{}",
                scalar.rust_name(),
                described(value_read.ty),
                conversion(value_read.ty, scalar)
            );
            return fail(value.span(), message);
        }
        match (shape, value_read.shape) {
            (Shape::Number, Shape::Vector(_)) => {
                let message = format!(
                    "`{name}` is one number, and this has one for each position: reduce it, for \
                     example with `sum(…)`"
                );
                return fail(value.span(), message);
            }
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                return fail(value.span(), self.different(of, other));
            }
            _ => {}
        }
        self.store(target, value_read);
        Ok(())
    }

    fn store(&mut self, target: usize, value: Value) {
        let length = match self.program.operands[target].shape {
            Shape::Vector(length) => Some(length),
            Shape::Number => None,
        };
        self.written[target] += 1;
        self.program.statements.push(Statement {
            target,
            value,
            action: Action::Store,
            length,
            text: self.text.clone(),
        });
    }

    /// `let name = value`.
    fn bind(&mut self, name: &Ident, value: &Expr) -> syn::Result<()> {
        let text = name.unraw().to_string();
        let taken =
            self.program.operand(&name.unraw()).is_some() || self.vectors.contains_key(&text);
        if taken {
            let message = format!("the name `{name}` is taken; choose another");
            return fail(name.span(), message);
        }
        let read = self.value(value);
        let mut value = match read {
            Ok(value) => value,
            Err(error) => {
                self.unknown.push(text);
                return Err(error);
            }
        };
        if matches!(value.ty, Type::Truth(_)) {
            let message = "a condition has no name: use it in `if … { … } else { … }`";
            return fail(name.span(), message);
        }
        let scalar = value.scalar();
        value.settle(scalar);
        self.bound.push((name.clone(), false));
        if let Shape::Vector(_) = value.shape {
            let operands = value.operands();
            let versions = operands.iter().map(|at| (*at, self.written[*at])).collect();
            self.vectors.insert(text, (value, versions));
            return Ok(());
        }
        let target = self.scratch(text, scalar);
        self.store(target, value);
        Ok(())
    }

    /// A number that belongs to the tunable.
    fn scratch(&mut self, name: String, scalar: ScalarType) -> usize {
        self.push(Operand {
            name,
            scalar,
            shape: Shape::Number,
            place: Place::Scratch,
        });
        self.program.operands.len() - 1
    }

    fn value(&mut self, expr: &Expr) -> syn::Result<Value> {
        match expr {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.named(name),
                None => fail(
                    path.span(),
                    "a name of an argument or of a `let` is expected here",
                ),
            },
            Expr::Lit(literal) => number(&literal.lit),
            Expr::Unary(unary) => self.unary(&unary.op, &unary.expr),
            Expr::Binary(binary) => {
                let Some(operator) = operator(&binary.op) else {
                    let message = "there is no such operation on elements; there are `+ - * / %`, \
                                   `== != < <= > >=`, `&& || !`, and of integers `& | ^ << >>`";
                    return fail(binary.op.span(), message);
                };
                let left = self.value(&binary.left)?;
                let right = self.value(&binary.right)?;
                self.binary(left, operator, right, binary.op.span())
            }
            Expr::Cast(cast) => {
                let element = parse::element_type(&cast.ty)?;
                let Some(scalar) = element.as_scalar() else {
                    return fail(cast.ty.span(), "a value is converted to a scalar type");
                };
                let mut value = self.value(&cast.expr)?;
                if value.ty == Type::Literal {
                    value.settle(scalar);
                    return Ok(value);
                }
                if matches!(value.ty, Type::Truth(_)) {
                    let message = "a condition is no number: write `if … { 1 } else { 0 }`";
                    return fail(cast.span(), message);
                }
                Ok(Value {
                    shape: value.shape,
                    kind: Kind::Convert(Box::new(value)),
                    ty: Type::Number(scalar),
                })
            }
            Expr::If(condition) => self.select(condition),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => {
                let message = format!(
                    "functions are written before what they take: `{}(…)`",
                    call.method
                );
                fail(call.method.span(), message)
            }
            Expr::Index(index) => fail(
                index.span(),
                "statements are about all elements; there is no indexing",
            ),
            _ => fail(
                expr.span(),
                "this is no expression over elements: there are names, numbers, operators, `if` \
                 with `else`, `as`, and calls of functions",
            ),
        }
    }

    fn named(&mut self, name: &Ident) -> syn::Result<Value> {
        let text = name.unraw().to_string();
        for (bound, is_used) in &mut self.bound {
            *is_used |= bound.unraw() == name.unraw();
        }
        if let Some(position) = self.program.operand(&name.unraw()) {
            return self.operand_value(position, name);
        }
        if let Some((value, versions)) = self.vectors.get(&text) {
            let changed = versions
                .iter()
                .find(|(at, then)| self.written[*at] != *then);
            if let Some((operand, _)) = changed {
                let operand = &self.program.operands[*operand].name;
                let message = format!(
                    "`{name}` was computed from `{operand}`, which has been written since: use it \
                     before, or keep it in a buffer"
                );
                return fail(name.span(), message);
            }
            return Ok(value.clone());
        }
        if self.unknown.contains(&text) {
            // Was reported: whatever fits.
            return Ok(Value {
                kind: Kind::Literal("0".into()),
                ty: Type::Literal,
                shape: Shape::Number,
            });
        }
        let operands = self.program.operands.iter();
        let names = operands.map(|operand| operand.name.as_str());
        let names = names.chain(self.vectors.keys().map(String::as_str));
        let near = did_you_mean(&text, names);
        let message = format!("there is no argument and no `let` of the name `{name}`{near}");
        fail(name.span(), message)
    }

    fn operand_value(&self, position: usize, name: &Ident) -> syn::Result<Value> {
        let Operand {
            scalar,
            shape,
            place,
            ..
        } = self.program.operands[position];
        let is_unread = matches!(place, Place::Buffer { out: true, .. });
        if is_unread && self.written[position] == 0 {
            let message = format!(
                "`{name}` is declared as `out`, so it holds nothing before it is written: leave \
                 `out` away, or write it first"
            );
            return fail(name.span(), message);
        }
        Ok(Value {
            kind: Kind::Operand(position),
            ty: Type::Number(scalar),
            shape,
        })
    }

    fn unary(&mut self, operator: &UnOp, operand: &Expr) -> syn::Result<Value> {
        let value = self.value(operand)?;
        let (text, fits) = match operator {
            UnOp::Neg(_) => ("-", !matches!(value.ty, Type::Truth(_))),
            UnOp::Not(_) => ("!", matches!(value.ty, Type::Truth(_))),
            _ => return fail(operator.span(), "there are no references to elements"),
        };
        let is_unsigned = matches!(value.ty, Type::Number(scalar)
            if scalar.is_integer() && scalar.integers().0 == 0);
        if !fits || text == "-" && is_unsigned {
            let message = format!("`{text}` is not for {}", described(value.ty));
            return fail(operator.span(), message);
        }
        Ok(Value {
            ty: value.ty,
            shape: value.shape,
            kind: Kind::Unary(text, Box::new(value)),
        })
    }

    fn binary(
        &self,
        mut left: Value,
        operator: &'static str,
        mut right: Value,
        span: Span,
    ) -> syn::Result<Value> {
        let shape = self.common_shape(&left, &right, span)?;
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
                let is_for_integers = matches!(operator, "%" | "&" | "|" | "^" | "<<" | ">>");
                if is_for_integers && matches!(ty, Type::Number(scalar) if !scalar.is_integer()) {
                    return fail(span, format!("`{operator}` is for integers"));
                }
                match operator {
                    "==" | "!=" | "<" | "<=" | ">" | ">=" => match ty {
                        Type::Number(scalar) => Type::Truth(scalar),
                        _ => return fail(span, "both sides of this comparison are constants"),
                    },
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

    fn select(&mut self, expr: &ExprIf) -> syn::Result<Value> {
        let condition = self.value(&expr.cond)?;
        if !matches!(condition.ty, Type::Truth(_)) {
            return fail(
                expr.cond.span(),
                "a condition is expected, such as `x > 0.0`",
            );
        }
        let Some((_, otherwise)) = &expr.else_branch else {
            return fail(expr.span(), "`if` needs `else`: each position gets a value");
        };
        let mut yes = self.block(&expr.then_branch)?;
        let mut no = match &**otherwise {
            Expr::Block(block) => self.block(&block.block)?,
            other => self.value(other)?,
        };
        let span = otherwise.span();
        let ty = common_type(&mut yes, &mut no, span)?;
        let shape = self.common_shape(&yes, &no, span)?;
        let shape = match (condition.shape, shape) {
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                return fail(expr.cond.span(), self.different(other, of));
            }
            (Shape::Vector(of), _) => Shape::Vector(of),
            (Shape::Number, shape) => shape,
        };
        Ok(Value {
            kind: Kind::Select(Box::new([condition, yes, no])),
            ty,
            shape,
        })
    }

    fn block(&mut self, block: &syn::Block) -> syn::Result<Value> {
        match &*block.stmts {
            [Stmt::Expr(expr, None)] => self.value(expr),
            _ => fail(block.span(), "one expression is expected here, without `;`"),
        }
    }

    fn call(&mut self, call: &ExprCall) -> syn::Result<Value> {
        let name = match &*call.func {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name else {
            return fail(call.func.span(), "the name of a function is expected here");
        };
        let text = name.to_string();
        let count = call.args.len();
        let function = FUNCTIONS
            .iter()
            .find(|function| function.name == text && function.arguments == count);
        let reduction = REDUCTIONS
            .iter()
            .find(|reduction| reduction.name == text && reduction.arguments == count);
        let read: syn::Result<Vec<Value>> = call.args.iter().map(|arg| self.value(arg)).collect();
        let arguments = read?;
        if let Some(reduction) = reduction {
            return self.reduction(reduction, arguments, name);
        }
        let Some(function) = function else {
            if names().contains(&text.as_str()) {
                let takes = FUNCTIONS.iter().map(|known| (known.name, known.arguments));
                let reductions = REDUCTIONS.iter().map(|known| (known.name, known.arguments));
                let counts = takes.chain(reductions).filter(|(known, _)| *known == text);
                let counts: Vec<String> = counts.map(|(_, count)| count.to_string()).collect();
                let message = format!(
                    "`{name}` takes {} argument(s), and here are {count}",
                    counts.join(" or ")
                );
                return fail(name.span(), message);
            }
            let near = did_you_mean(&text, names());
            let message = format!(
                "there is no function `{name}`{near}; the functions are {}",
                quoted(names())
            );
            return fail(name.span(), message);
        };
        self.elementwise(function, arguments, name)
    }

    fn elementwise(
        &self,
        function: &'static super::functions::Function,
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
            _ => return fail(name.span(), "all arguments of this function are constants"),
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
            shape = match (shape, value.shape) {
                (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                    return fail(name.span(), self.different(of, other));
                }
                (Shape::Vector(of), _) => Shape::Vector(of),
                (Shape::Number, shape) => shape,
            };
        }
        Ok(Value {
            kind: Kind::Call(function, arguments),
            ty: Type::Number(scalar),
            shape,
        })
    }

    /// A reduction is a statement before the one that it stands in.
    fn reduction(
        &mut self,
        reduction: &Reduction,
        arguments: Vec<Value>,
        name: &Ident,
    ) -> syn::Result<Value> {
        let span = name.span();
        let mut arguments = arguments.into_iter();
        let Some(first) = arguments.next() else {
            return fail(span, "a reduction takes a vector");
        };
        let value = match (reduction.each, arguments.next()) {
            (Each::Product, Some(second)) => self.binary(first, "*", second, span)?,
            (Each::Square, _) => self.binary(first.clone(), "*", first, span)?,
            (Each::Absolute, _) => {
                let [absolute, ..] = &FUNCTIONS;
                let is_unsigned = matches!(first.ty, Type::Number(scalar)
                    if scalar.is_integer() && scalar.integers().0 == 0);
                if is_unsigned {
                    first
                } else {
                    self.elementwise(absolute, vec![first], name)?
                }
            }
            (_, _) => first,
        };
        let Type::Number(scalar) = value.ty else {
            let message = format!(
                "`{name}` reduces numbers, and this is {}",
                described(value.ty)
            );
            return fail(span, message);
        };
        let Shape::Vector(length) = value.shape else {
            let message =
                format!("`{name}` reduces a vector to a number, and this is one number already");
            return fail(span, message);
        };
        if reduction.root && scalar.is_integer() {
            let message = format!("`{name}` is for floating-point numbers");
            return fail(span, message);
        }
        let count = self.program.operands.len();
        let name_of = self
            .program
            .free_name(&format!("{}_{count}", reduction.name));
        let target = self.scratch(name_of, scalar);
        self.written[target] += 1;
        self.program.statements.push(Statement {
            target,
            value,
            action: Action::Fold(reduction.fold),
            length: Some(length),
            text: self.text.clone(),
        });
        let result = Value {
            kind: Kind::Operand(target),
            ty: Type::Number(scalar),
            shape: Shape::Number,
        };
        if !reduction.root {
            return Ok(result);
        }
        let sqrt = FUNCTIONS.iter().find(|function| function.name == "sqrt");
        match sqrt {
            Some(sqrt) => self.elementwise(sqrt, vec![result], name),
            None => Ok(result),
        }
    }

    fn common_shape(&self, left: &Value, right: &Value, span: Span) -> syn::Result<Shape> {
        match (left.shape, right.shape) {
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                fail(span, self.different(of, other))
            }
            (Shape::Vector(of), _) | (_, Shape::Vector(of)) => Ok(Shape::Vector(of)),
            _ => Ok(Shape::Number),
        }
    }

    fn different(&self, one: usize, other: usize) -> String {
        let lengths = &self.program.lengths;
        format!(
            "the lengths differ: `{}` and `{}`",
            lengths[one].text, lengths[other].text
        )
    }

    /// Whether every buffer is used, and what may be written is.
    fn check_use(&self, arguments: &[Argument], errors: &mut Errors) {
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
                Place::Buffer { mutable: true, .. } if !is_written => {
                    format!("no statement writes `{name}`: declare it as `&Buffer<…>`")
                }
                Place::Buffer { .. } if !is_written && !is_read => {
                    format!("no statement uses `{name}`")
                }
                _ => continue,
            };
            errors.add(name.span(), message);
        }
    }
}

/// The target of an assignment.
fn target_name(expr: &Expr) -> syn::Result<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
    .ok_or_else(|| {
        syn::Error::new(
            expr.span(),
            "the name of a `&mut Buffer<…>` is expected here",
        )
    })
}

fn number(literal: &Lit) -> syn::Result<Value> {
    let (digits, suffix) = match literal {
        Lit::Int(number) => (number.base10_digits(), number.suffix()),
        Lit::Float(number) => (number.base10_digits(), number.suffix()),
        _ => return fail(literal.span(), "a number is expected here"),
    };
    let mut value = Value {
        kind: Kind::Literal(digits.to_owned()),
        ty: Type::Literal,
        shape: Shape::Number,
    };
    if !suffix.is_empty() {
        let Some(scalar) = ScalarType::from_rust_name(suffix) else {
            return fail(
                literal.span(),
                format!("there are no elements of type `{suffix}`"),
            );
        };
        value.settle(scalar);
    }
    Ok(value)
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

fn mixed(one: Type, other: Type) -> String {
    format!(
        "{} and {} do not mix: convert one of them with `as`",
        described(one),
        described(other)
    )
}

fn described(ty: Type) -> String {
    match ty {
        Type::Number(scalar) => format!("a number of type `{}`", scalar.rust_name()),
        Type::Truth(_) => "a condition".into(),
        Type::Literal => "a constant".into(),
    }
}

fn conversion(from: Type, to: ScalarType) -> String {
    match from {
        Type::Number(_) => format!(": convert it, `(…) as {}`", to.rust_name()),
        _ => String::new(),
    }
}

fn operator(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::Div(_) => "/",
        BinOp::Rem(_) => "%",
        BinOp::And(_) => "&&",
        BinOp::Or(_) => "||",
        BinOp::BitXor(_) => "^",
        BinOp::BitAnd(_) => "&",
        BinOp::BitOr(_) => "|",
        BinOp::Shl(_) => "<<",
        BinOp::Shr(_) => ">>",
        BinOp::Eq(_) => "==",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Ne(_) => "!=",
        BinOp::Ge(_) => ">=",
        BinOp::Gt(_) => ">",
        _ => return None,
    })
}

/// The operator of `y += x`.
fn compound(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::AddAssign(_) => "+",
        BinOp::SubAssign(_) => "-",
        BinOp::MulAssign(_) => "*",
        BinOp::DivAssign(_) => "/",
        _ => return None,
    })
}

/// Tokens as text, the same whatever the compiler's version is and however they were formatted: the
/// text becomes part of the source, which the fingerprint counts.
fn tidy(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut before = Before::Nothing;
    for token in tokens {
        before = match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let is_call = group.delimiter() == Delimiter::Parenthesis
                    && text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                if !is_call {
                    before.separate(&mut text);
                }
                text.push_str(open);
                text.push_str(&tidy(group.stream()));
                text.push_str(close);
                Before::Value
            }
            TokenTree::Punct(punct) => before.punctuation(punct.as_char(), &mut text),
            other => {
                before.separate(&mut text);
                text.push_str(&other.to_string());
                Before::Value
            }
        };
    }
    text
}

/// The last token of a text.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Value,
    /// A character of an operator, which a second one may complete.
    Operator(char),
    /// An operator of two characters, or a comma.
    Complete,
    /// An operator before its only operand.
    Prefix,
}

impl Before {
    fn separate(self, text: &mut String) {
        if !matches!(self, Self::Nothing | Self::Prefix) {
            text.push(' ');
        }
    }

    fn punctuation(self, next: char, text: &mut String) -> Self {
        const PAIRS: [&str; 12] = [
            "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=",
        ];
        if let Self::Operator(first) = self
            && PAIRS.contains(&format!("{first}{next}").as_str())
        {
            text.push(next);
            return Self::Complete;
        }
        if matches!(next, ',' | ';') {
            text.push(next);
            return Self::Complete;
        }
        // `!` after a value begins `!=`.
        let is_prefix = matches!(next, '-' | '!') && !matches!(self, Self::Value);
        self.separate(text);
        text.push(next);
        if is_prefix {
            Self::Prefix
        } else {
            Self::Operator(next)
        }
    }
}
