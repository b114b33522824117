//! Conditions in C's syntax on integers, as published search spaces state their restrictions.
//!
//! C's operators and precedences (ISO C11, 6.5), with 64-bit checked integers: a comparison is 0 or
//! 1 and may be added up, every value but 0 is true. `min`, `max`, `abs` and `pow` are functions.

use cltune_core::expr::{Fragment, Op, Program, nearest};
use std::collections::HashMap;

pub use cltune_core::expr::TextError;

/// The most brackets, prefix operators and conditions within each other.
const MAX_DEPTH: usize = 64;
/// The most operations; jumps have 16 bits.
const MAX_OPS: usize = 1 << 12;

/// Names of parameters, each of which is found at once: there may be thousands.
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    names: Vec<&'a str>,
    positions: HashMap<&'a str, usize>,
}

impl<'a> FromIterator<&'a str> for Names<'a> {
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        Self {
            positions: names.iter().copied().zip(0..).collect(),
            names,
        }
    }
}

/// The condition of a text in C's syntax on the parameters with these names; its value is 0 or 1.
///
/// ```
/// use cltune_search::c_syntax::condition;
///
/// let names = ["WGX", "WGY"].into_iter().collect();
/// assert!(condition("WGX * WGY <= 1024 && WGX % WGY == 0", &names).is_ok());
/// let mistake = condition("WGX * WGZ <= 1024", &names).unwrap_err();
/// assert_eq!(mistake.column, 7);
/// ```
///
/// # Errors
/// The first mistake and its column.
pub fn condition(text: &str, names: &Names<'_>) -> Result<Program, TextError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        end: text.chars().count() + 1,
        names,
        depth: 0,
    };
    let condition = truth(parser.conditional()?).fragment;
    if let Some(token) = parser.tokens.get(parser.next) {
        let message = format!("expected an operator, found `{}`", token.text);
        return Err(error(token.column, message));
    }
    if condition.operations() > MAX_OPS || condition.stack() > Program::MAX_STACK {
        return Err(error(
            1,
            "this condition is too long or nests too deeply; split it",
        ));
    }
    Ok(condition.finish())
}

fn error(column: usize, message: impl Into<String>) -> TextError {
    TextError {
        column,
        message: message.into(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
    Symbol,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    /// The position of the first character, from 1.
    column: usize,
}

/// Longer ones first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 26] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "!", "&",
    "|", "^", "(", ")", "?", ":", ",", "~", "=",
];

fn tokens(text: &str) -> Result<Vec<Token<'_>>, TextError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let word = |start: char| start.is_ascii_alphanumeric() || start == '_';
        let (kind, length) = if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            column += 1;
            continue;
        } else if word(first) {
            let kind = if first.is_ascii_digit() {
                Kind::Number
            } else {
                Kind::Name
            };
            (kind, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Kind::Symbol, symbol.len())
        } else {
            return Err(error(column, format!("unknown character `{first}`")));
        };
        let (token, after) = rest.split_at(length);
        tokens.push(Token {
            kind,
            text: token,
            column,
        });
        column += length;
        rest = after;
    }
    Ok(tokens)
}

/// A part of a condition, and whether its value is 0 or 1 only.
struct Operand {
    fragment: Fragment,
    boolean: bool,
}

fn integer(fragment: Fragment) -> Operand {
    Operand {
        fragment,
        boolean: false,
    }
}

fn boolean(fragment: Fragment) -> Operand {
    Operand {
        fragment,
        boolean: true,
    }
}

/// 1 for every value but 0.
fn truth(operand: Operand) -> Operand {
    if operand.boolean {
        return operand;
    }
    boolean(Fragment::binary(
        Op::Ne,
        operand.fragment,
        Fragment::constant(0),
    ))
}

/// The binary operators below `&&`, by how tightly they bind.
fn binary(symbol: &str) -> Option<(u8, Op)> {
    Some(match symbol {
        "|" => (1, Op::BitOr),
        "^" => (2, Op::BitXor),
        "&" => (3, Op::BitAnd),
        "==" => (4, Op::Eq),
        "!=" => (4, Op::Ne),
        "<" => (5, Op::Lt),
        "<=" => (5, Op::Le),
        ">" => (5, Op::Gt),
        ">=" => (5, Op::Ge),
        "<<" => (6, Op::Shl),
        ">>" => (6, Op::Shr),
        "+" => (7, Op::Add),
        "-" => (7, Op::Sub),
        "*" => (8, Op::Mul),
        "/" => (8, Op::Div),
        "%" => (8, Op::Rem),
        _ => return None,
    })
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    /// The column after the text.
    end: usize,
    names: &'a Names<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(|token| token.text)
    }

    fn column(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.end, |token| token.column)
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.peek() == Some(symbol);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), TextError> {
        if self.take(symbol) {
            return Ok(());
        }
        let found = self.peek().unwrap_or("the end");
        Err(error(
            self.column(),
            format!("expected `{symbol}`, found `{found}`"),
        ))
    }

    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        if self.depth == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} levels within each other");
            return Err(error(self.column(), message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn conditional(&mut self) -> Result<Operand, TextError> {
        let condition = self.disjunction()?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.deeper(Self::conditional)?;
        self.expect(":")?;
        let otherwise = self.deeper(Self::conditional)?;
        Ok(Operand {
            boolean: then.boolean && otherwise.boolean,
            fragment: Fragment::if_else(
                truth(condition).fragment,
                then.fragment,
                otherwise.fragment,
            ),
        })
    }

    fn disjunction(&mut self) -> Result<Operand, TextError> {
        let mut left = self.conjunction()?;
        while self.take("||") {
            let right = truth(self.conjunction()?);
            left = boolean(Fragment::or(truth(left).fragment, right.fragment));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Operand, TextError> {
        let mut left = self.operation(0)?;
        while self.take("&&") {
            let right = truth(self.operation(0)?);
            left = boolean(Fragment::and(truth(left).fragment, right.fragment));
        }
        Ok(left)
    }

    /// Operators that bind more tightly than `above`, by precedence climbing.
    fn operation(&mut self, above: u8) -> Result<Operand, TextError> {
        let mut left = self.prefix()?;
        while let Some((level, op)) = self.peek().and_then(binary).filter(|found| found.0 > above) {
            self.next += 1;
            let right = self.operation(level)?;
            left = Operand {
                fragment: Fragment::binary(op, left.fragment, right.fragment),
                boolean: matches!(level, 4 | 5),
            };
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Operand, TextError> {
        if self.take("!") {
            let operand = truth(self.deeper(Self::prefix)?);
            return Ok(boolean(Fragment::unary(Op::Not, operand.fragment)));
        }
        if self.take("+") {
            return Ok(integer(self.deeper(Self::prefix)?.fragment));
        }
        if self.take("-") {
            // The least integer has no positive counterpart.
            if self.peek().and_then(number) == Some(i64::MIN.unsigned_abs()) {
                self.next += 1;
                return Ok(integer(Fragment::constant(i64::MIN)));
            }
            let operand = self.deeper(Self::prefix)?;
            return Ok(integer(Fragment::unary(Op::Neg, operand.fragment)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Operand, TextError> {
        let column = self.column();
        let Some(&token) = self.tokens.get(self.next) else {
            return Err(error(column, "expected a value, found the end"));
        };
        self.next += 1;
        match (token.kind, token.text) {
            (Kind::Symbol, "(") => {
                let inner = self.deeper(Self::conditional)?;
                self.expect(")")?;
                Ok(inner)
            }
            (Kind::Symbol, text) => Err(error(column, format!("expected a value, found `{text}`"))),
            (Kind::Number, text) => number(text)
                .and_then(|value| i64::try_from(value).ok())
                .map(|value| integer(Fragment::constant(value)))
                .ok_or_else(|| error(column, format!("`{text}` is no 64-bit integer"))),
            (Kind::Name, _) if self.peek() == Some("(") => self.call(token),
            (Kind::Name, name) => self.name(name, column),
        }
    }

    fn name(&self, name: &str, column: usize) -> Result<Operand, TextError> {
        if let Some(index) = self.names.positions.get(name) {
            let index = u16::try_from(*index)
                .map_err(|_| error(column, "more parameters than a condition can name"))?;
            return Ok(integer(Fragment::leaf(Op::Param(index))));
        }
        match name {
            "true" => Ok(boolean(Fragment::constant(1))),
            "false" => Ok(boolean(Fragment::constant(0))),
            _ => {
                let hint = nearest(name, self.names.names.iter().copied())
                    .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
                Err(error(
                    column,
                    format!("there is no parameter `{name}`{hint}"),
                ))
            }
        }
    }

    fn call(&mut self, name: Token<'_>) -> Result<Operand, TextError> {
        let (op, unary) = match name.text {
            "min" => (Op::Min, false),
            "max" => (Op::Max, false),
            "pow" => (Op::Pow, false),
            "abs" => (Op::Abs, true),
            other => {
                let message =
                    format!("there is no function `{other}`; there are min, max, pow, abs");
                return Err(error(name.column, message));
            }
        };
        self.expect("(")?;
        let first = self.deeper(Self::conditional)?.fragment;
        let result = if unary {
            Fragment::unary(op, first)
        } else {
            self.expect(",")?;
            Fragment::binary(op, first, self.deeper(Self::conditional)?.fragment)
        };
        self.expect(")")?;
        Ok(integer(result))
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::device::DeviceLimits;
    use cltune_core::expr::Env;

    fn value(text: &str, params: &[i64]) -> Option<i64> {
        let program = condition(text, &["A", "B", "C"].into_iter().collect()).expect(text);
        let env = Env {
            params,
            dims: &[],
            device: &DeviceLimits::default(),
        };
        program.eval(&env).ok()
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, expected) in [
            ("A + B * C == 7", 1),
            ("(A + B) * C == 9", 1),
            ("C - B - A == 0", 1),
            ("A < B == B < C", 1),
            ("A == 1 && B == 3 || C == 3", 1),
            ("C == 3 || A == 3 && B == 3", 1),
            ("A | B == 3", 1),
            ("1 << A + 1 == 4", 1),
            ("-A % 2 == -1", 1),
            ("!A == 0", 1),
            ("A ? B : C == 9", 1),
            ("A == 2 ? 0 : A == 1 ? 5 : 0", 1),
            ("(A > 0) + (B > 0) + (C > 5) == 2", 1),
            ("B && C", 1),
            ("(B && C) == 1", 1),
            ("min(A, B) + max(B, C) + abs(-2) + pow(2, C) == 14", 1),
            ("7 / B == 3 && -7 / B == -3", 1),
            ("-9223372036854775808 < 9223372036854775807", 1),
            ("0x10 == 16", 1),
        ] {
            assert_eq!(value(text, &[1, 2, 3]), Some(expected), "{text}");
        }
        assert_eq!(value("B / A == 1", &[0, 2, 3]), None);
        assert_eq!(value("A == 0 || B / A == 1", &[0, 2, 3]), Some(1));
    }

    #[test]
    fn mistakes_have_their_column() {
        for (text, column, part) in [
            ("", 1, "the end"),
            ("A +", 4, "the end"),
            ("A = B", 3, "expected an operator"),
            ("A == BB", 6, "no parameter `BB`"),
            ("(A == B", 8, "expected `)`"),
            ("A == 9223372036854775808", 6, "64-bit"),
            ("A == 1.5", 7, "unknown character"),
            ("A == 12ab", 6, "64-bit"),
            ("sqrt(A) > 1", 1, "no function"),
            ("A B", 3, "expected an operator"),
            ("~A", 1, "expected a value"),
        ] {
            let error = condition(text, &["A", "B"].into_iter().collect()).expect_err(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
        let deep = format!("{}A{}", "(".repeat(10_000), ")".repeat(10_000));
        let names = ["A"].into_iter().collect();
        assert!(condition(&deep, &names).is_err());
        assert!(condition(&format!("A{}", "+A".repeat(10_000)), &names).is_err());
    }
}
