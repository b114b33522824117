//! Typed expressions over the elements at one position, and their text in OpenCL C.

use super::functions::Function;
use cltune_core::model::ScalarType;
use proc_macro2::Span;

/// What an expression is made of. The operands of the program stand in it by their positions.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) ty: Type,
    pub(super) shape: Shape,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Number(ScalarType),
    /// The result of a comparison of numbers of this type.
    Truth(ScalarType),
    /// A literal: of whatever type it meets.
    Literal,
}

/// Whether a value is one number, one for each position of vectors of a length, or one for each
/// element of matrices. Lengths are named by their positions in the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Number,
    Vector(usize),
    /// What is the same in all rows goes with any number of rows, and so for columns.
    Matrix {
        rows: Option<usize>,
        columns: Option<usize>,
    },
}

/// Where the element of an operand is for the element of matrices that is computed. A loop goes
/// along a line, which is a row or, where statements are transposed, a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum At {
    /// In the same line of a matrix, at the same position.
    Cell,
    /// The same with lines and positions exchanged.
    Crossed,
    /// Of a vector at the position in the line.
    Along,
    /// Of a vector at the number of the line.
    Line,
}

/// How a value comes about.
#[derive(Clone)]
pub(super) enum Kind {
    /// An argument of the function, or a number that an earlier statement made.
    Operand(usize),
    /// An element of an operand where matrices are computed.
    Element(usize, At),
    /// As in the statement, without a type, and where it stands.
    Literal(String, Span),
    Unary(&'static str, Box<Value>),
    Binary(&'static str, Box<Value>, Box<Value>),
    Call(&'static Function, Vec<Value>),
    /// A condition, and the values where it is true and false.
    Select(Box<[Value; 3]>),
    /// To the type of this value.
    Convert(Box<Value>),
}

/// How many positions the text computes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    One,
    /// As many as the macro `VW` says.
    Many,
    /// As many as the macro `VW` says, which may be one.
    Cells,
    /// One, where numbers of `float` and `half` are computed in the type `wide`.
    Wide,
}

/// Whether kernels have parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Tuned,
    /// Plain, in wider arithmetic, with compensated sums (Neumaier 1974).
    Reference,
}

/// Whether an operator has no meaning for floating-point numbers.
pub(super) fn is_for_integers(operator: &str) -> bool {
    matches!(operator, "%" | "&" | "|" | "^" | "<<" | ">>")
}

impl Value {
    /// Gives literals a type.
    pub(super) fn settle(&mut self, scalar: ScalarType) {
        if self.ty != Type::Literal {
            return;
        }
        self.ty = Type::Number(scalar);
        match &mut self.kind {
            Kind::Unary(_, value) => value.settle(scalar),
            Kind::Binary(_, left, right) => {
                left.settle(scalar);
                right.settle(scalar);
            }
            Kind::Call(_, arguments) => arguments
                .iter_mut()
                .for_each(|argument| argument.settle(scalar)),
            Kind::Select(parts) => {
                let [_, yes, no] = &mut **parts;
                yes.settle(scalar);
                no.settle(scalar);
            }
            Kind::Operand(_) | Kind::Element(..) | Kind::Literal(..) | Kind::Convert(_) => {}
        }
    }

    /// The operands in it, in order, one that occurs several times as often.
    pub(super) fn operands(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(&mut |value| {
            if let Kind::Operand(position) | Kind::Element(position, _) = value.kind {
                found.push(position);
            }
        });
        found
    }

    /// The elements of operands in it where it is computed for matrices, in order.
    pub(super) fn elements(&self) -> Vec<(usize, At)> {
        let mut found = Vec::new();
        self.visit(&mut |value| {
            if let Kind::Element(position, at) = value.kind {
                found.push((position, at));
            }
        });
        found
    }

    /// Applies a change to each part of it, the whole last.
    pub(super) fn change(&mut self, each: &impl Fn(&mut Self)) {
        match &mut self.kind {
            Kind::Operand(_) | Kind::Element(..) | Kind::Literal(..) => {}
            Kind::Unary(_, value) | Kind::Convert(value) => value.change(each),
            Kind::Binary(_, left, right) => {
                left.change(each);
                right.change(each);
            }
            Kind::Call(_, arguments) => arguments.iter_mut().for_each(|value| value.change(each)),
            Kind::Select(parts) => parts.iter_mut().for_each(|value| value.change(each)),
        }
        each(self);
    }

    /// Whether anything in it is of a type.
    pub(super) fn uses(&self, scalar: ScalarType) -> bool {
        let mut found = false;
        self.visit(&mut |value| found |= value.ty == Type::Number(scalar));
        found
    }

    fn visit(&self, each: &mut impl FnMut(&Self)) {
        each(self);
        for part in self.parts() {
            part.visit(each);
        }
    }

    /// The values that it is made from.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Operand(_) | Kind::Element(..) | Kind::Literal(..) => Vec::new(),
            Kind::Unary(_, value) | Kind::Convert(value) => vec![value],
            Kind::Binary(_, left, right) => vec![left, right],
            Kind::Call(_, arguments) => arguments.iter().collect(),
            Kind::Select(parts) => parts.iter().collect(),
        }
    }

    /// Where the first literal in it is.
    pub(super) fn literal(&self) -> Option<Span> {
        let mut found = None;
        self.visit(&mut |value| {
            if let (None, Kind::Literal(_, span)) = (found, &value.kind) {
                found = Some(*span);
            }
        });
        found
    }

    /// The scalar type of a number, or of what was compared.
    pub(super) fn scalar(&self) -> ScalarType {
        match self.ty {
            Type::Number(scalar) | Type::Truth(scalar) => scalar,
            // Where no other type is near, as in Rust.
            Type::Literal => ScalarType::F32,
        }
    }

    /// The value in OpenCL C. `register` names what holds an operand; a number among many lanes is
    /// widened here.
    pub(super) fn text(
        &self,
        lanes: Lanes,
        register: &impl Fn(usize, Option<At>) -> String,
    ) -> String {
        let scalar = self.scalar();
        let widened = |text: String| match lanes {
            Lanes::One => text,
            Lanes::Many | Lanes::Cells | Lanes::Wide => {
                format!("(({})({text}))", type_text(scalar, lanes))
            }
        };
        match &self.kind {
            Kind::Operand(position) => match (self.shape, lanes) {
                (Shape::Vector(_), Lanes::One | Lanes::Many | Lanes::Cells) => {
                    register(*position, None)
                }
                _ => widened(register(*position, None)),
            },
            Kind::Element(position, at) => match (at, lanes) {
                (At::Cell | At::Crossed | At::Along, Lanes::One | Lanes::Many | Lanes::Cells) => {
                    register(*position, Some(*at))
                }
                _ => widened(register(*position, Some(*at))),
            },
            Kind::Literal(digits, _) => widened(literal(digits, scalar)),
            Kind::Unary("-", value) if value.is_least(scalar) => widened("INT_MIN".to_owned()),
            Kind::Unary(operator, value) => {
                let text = format!("({operator}{})", value.text(lanes, register));
                self.narrowed(text, lanes)
            }
            Kind::Binary(operator, left, right) => {
                let (left, right) = match (left.ty, right.ty) {
                    // `&&` and `||` of conditions of two widths.
                    (Type::Truth(_), Type::Truth(_)) => (
                        left.condition(scalar, lanes, register),
                        right.condition(scalar, lanes, register),
                    ),
                    _ => (left.text(lanes, register), right.text(lanes, register)),
                };
                self.narrowed(format!("({left} {operator} {right})"), lanes)
            }
            Kind::Call(function, arguments) => {
                let texts = arguments.iter().map(|value| {
                    let text = value.text(lanes, register);
                    match value.kind {
                        // C makes an `int` of both, and functions have one type for all arguments.
                        Kind::Literal(..) | Kind::Select(_) => self.narrowed(text, lanes),
                        _ => text,
                    }
                });
                let texts: Vec<String> = texts.collect();
                let name = match function.integer {
                    Some(integer) if scalar.is_integer() => integer,
                    _ => function.float,
                };
                let call = format!("{name}({})", texts.join(", "));
                // `abs` of signed integers is unsigned in OpenCL C.
                if name == "abs" {
                    convert(&call, scalar, lanes)
                } else {
                    call
                }
            }
            Kind::Select(parts) => {
                let [condition, yes, no] = &**parts;
                format!(
                    "({} ? {} : {})",
                    condition.condition(scalar, lanes, register),
                    yes.text(lanes, register),
                    no.text(lanes, register)
                )
            }
            Kind::Convert(value) => convert(&value.text(lanes, register), scalar, lanes),
        }
    }

    /// Whether it is the literal whose negative is the least `i32`: of C its digits are a `long`, and
    /// what is computed with it would be.
    fn is_least(&self, scalar: ScalarType) -> bool {
        let is_least = |digits: &str| digits == "2147483648";
        scalar == ScalarType::I32
            && matches!(&self.kind, Kind::Literal(digits, _) if is_least(digits))
    }

    /// A result of an operator on small integers, or an argument of a function: as vectors have it,
    /// and not as the `int` that C computes with.
    pub(super) fn narrowed(&self, text: String, lanes: Lanes) -> String {
        let is_small = |scalar: ScalarType| scalar.is_integer() && scalar.size() < 4;
        match self.ty {
            Type::Number(scalar) if is_small(scalar) && lanes != Lanes::Many => {
                convert(&text, scalar, lanes)
            }
            _ => text,
        }
    }

    /// A condition of the width that numbers of a type have, as vectors need it.
    fn condition(
        &self,
        scalar: ScalarType,
        lanes: Lanes,
        register: &impl Fn(usize, Option<At>) -> String,
    ) -> String {
        let text = self.text(lanes, register);
        let is_vector = matches!(lanes, Lanes::Many | Lanes::Cells);
        if !is_vector || self.scalar().size() == scalar.size() {
            return text;
        }
        let integer = match scalar.size() {
            1 => ScalarType::I8,
            2 => ScalarType::I16,
            4 => ScalarType::I32,
            _ => ScalarType::I64,
        };
        convert(&text, integer, lanes)
    }
}

/// A type in OpenCL C.
pub(super) fn type_text(scalar: ScalarType, lanes: Lanes) -> String {
    match (lanes, scalar) {
        (Lanes::Wide, ScalarType::F16 | ScalarType::F32) => "wide".to_owned(),
        (Lanes::One | Lanes::Wide, _) => scalar.opencl_name().to_owned(),
        (Lanes::Many | Lanes::Cells, _) => format!("VEC({})", scalar.opencl_name()),
    }
}

/// A conversion in OpenCL C.
pub(super) fn convert(text: &str, to: ScalarType, lanes: Lanes) -> String {
    match lanes {
        // To `wide` as well, which is no name that `convert_` is put before.
        Lanes::One | Lanes::Wide => format!("(({})({text}))", type_text(to, lanes)),
        Lanes::Many | Lanes::Cells => {
            format!("JOIN(convert_, VEC({}))({text})", to.opencl_name())
        }
    }
}

/// A literal of a type.
fn literal(digits: &str, scalar: ScalarType) -> String {
    let fraction = || {
        if digits.contains(['.', 'e', 'E']) {
            digits.to_owned()
        } else {
            format!("{digits}.0")
        }
    };
    match scalar {
        ScalarType::F64 => fraction(),
        ScalarType::F32 => format!("{}f", fraction()),
        ScalarType::F16 => format!("(half){}f", fraction()),
        ScalarType::U64 => format!("{digits}UL"),
        ScalarType::I64 => format!("{digits}L"),
        ScalarType::U32 => format!("{digits}u"),
        _ => digits.to_owned(),
    }
}
