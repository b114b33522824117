//! Random formulas: the compiled program agrees with a naive evaluator on unbounded integers, the
//! canonical text is the formula, and binding changes neither values nor failures.

use cltune_core::Text;
use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::{Env, EvalError, Formula, Op};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::formula::{Scope, Type};
use proptest::prelude::*;
use std::fmt;

/// A formula as this test sees it.
#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Bool(bool),
    Param(usize),
    Dim(usize),
    LocalMemSize,
    IsValue(&'static str),
    Unary(&'static str, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Call(&'static str, Vec<Tree>),
    If(Box<[Tree; 3]>),
}

const PARAMETERS: [&str; 4] = ["A", "B", "C", "T"];
const DIMENSIONS: [Text; 2] = [Text::Borrowed("n"), Text::Borrowed("m")];

fn parameters() -> Vec<Parameter> {
    let domains = [
        Domain::Integers(vec![1, 2].into()),
        Domain::Range {
            first: -2,
            last: 2,
            step: 1,
        },
        Domain::Booleans(vec![false, true].into()),
        Domain::Names(vec!["x".into(), "y".into()].into()),
    ];
    let parameter = |(name, domain)| Parameter {
        name: Text::Borrowed(name),
        domain,
    };
    PARAMETERS.into_iter().zip(domains).map(parameter).collect()
}

/// Rust syntax with parentheses around every operand.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Param(index) => f.write_str(PARAMETERS[*index]),
            Self::Dim(index) => f.write_str(&DIMENSIONS[*index]),
            Self::LocalMemSize => f.write_str("device.local_mem_size"),
            Self::IsValue(name) => write!(f, "(T == {name:?})"),
            Self::Unary(symbol, a) => write!(f, "({symbol}({a}))"),
            Self::Binary(symbol, a, b) => write!(f, "(({a}){symbol}({b}))"),
            Self::Call(name, operands) => match &**operands {
                [a] => write!(f, "({a}).{name}()"),
                [a, b] => write!(f, "{name}({a}, ({b}),)"),
                _ => Err(fmt::Error),
            },
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                write!(
                    f,
                    "(if ({condition}) {{ {then} }} else {{ ({otherwise}) }})"
                )
            }
        }
    }
}

fn integer(depth: u32) -> BoxedStrategy<Tree> {
    let extreme = prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(i64::from(i32::MIN)),
        any::<i64>()
    ];
    let leaf = prop_oneof![
        4 => (-4..70_i64).prop_map(Tree::Int),
        1 => extreme.prop_map(Tree::Int),
        4 => (0..2_usize).prop_map(Tree::Param),
        3 => (0..2_usize).prop_map(Tree::Dim),
        1 => Just(Tree::LocalMemSize),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let operand = || integer(depth - 1).prop_map(Box::new);
    let symbols = prop::sample::select(vec!["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"]);
    let functions = prop::sample::select(vec!["min", "max", "pow", "div_ceil", "next_multiple_of"]);
    prop_oneof![
        2 => leaf,
        1 => operand().prop_map(|a| Tree::Unary("-", a)),
        1 => integer(depth - 1).prop_map(|a| Tree::Call("abs", vec![a])),
        6 => (symbols, operand(), operand()).prop_map(|(symbol, a, b)| Tree::Binary(symbol, a, b)),
        3 => (functions, integer(depth - 1), integer(depth - 1))
            .prop_map(|(name, a, b)| Tree::Call(name, vec![a, b])),
        1 => (boolean(depth - 1), integer(depth - 1), integer(depth - 1))
            .prop_map(|(condition, a, b)| Tree::If(Box::new([condition, a, b]))),
    ]
    .boxed()
}

fn boolean(depth: u32) -> BoxedStrategy<Tree> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Tree::Bool),
        Just(Tree::Param(2)),
        prop::sample::select(vec!["x", "y"]).prop_map(Tree::IsValue),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let truth = || boolean(depth - 1).prop_map(Box::new);
    let number = || integer(depth - 1).prop_map(Box::new);
    let connectives = prop::sample::select(vec!["&&", "||", "==", "!="]);
    let comparisons = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    prop_oneof![
        1 => leaf,
        1 => truth().prop_map(|a| Tree::Unary("!", a)),
        1 => integer(depth - 1).prop_map(|a| Tree::Call("is_power_of_two", vec![a])),
        4 => (connectives, truth(), truth()).prop_map(|(symbol, a, b)| Tree::Binary(symbol, a, b)),
        3 => (comparisons, number(), number()).prop_map(|(symbol, a, b)| Tree::Binary(symbol, a, b)),
        1 => (boolean(depth - 1), boolean(depth - 1), boolean(depth - 1))
            .prop_map(|(condition, a, b)| Tree::If(Box::new([condition, a, b]))),
    ]
    .boxed()
}

/// The value by the definition of each operator on unbounded integers.
fn reference(tree: &Tree, env: &Env<'_>) -> Result<i128, EvalError> {
    let value = match tree {
        Tree::Int(value) => i128::from(*value),
        Tree::Bool(value) => i128::from(*value),
        Tree::Param(index) => i128::from(env.params[*index]),
        Tree::Dim(index) => i128::from(env.dims[*index]),
        Tree::LocalMemSize => i128::from(env.device.local_mem_size),
        Tree::IsValue(name) => i128::from(env.params[3] == i64::from(*name == "y")),
        Tree::Unary("-", a) => -reference(a, env)?,
        Tree::Unary(_, a) => 1 - reference(a, env)?,
        Tree::Binary("&&", a, b) => match reference(a, env)? {
            0 => 0,
            _ => reference(b, env)?,
        },
        Tree::Binary("||", a, b) => match reference(a, env)? {
            0 => reference(b, env)?,
            _ => 1,
        },
        Tree::If(parts) => match reference(&parts[0], env)? {
            0 => reference(&parts[2], env)?,
            _ => reference(&parts[1], env)?,
        },
        Tree::Binary(symbol, a, b) => operation(symbol, reference(a, env)?, reference(b, env)?)?,
        Tree::Call(name, operands) => {
            let a = reference(&operands[0], env)?;
            match operands.get(1) {
                Some(b) => operation(name, a, reference(b, env)?)?,
                None if *name == "abs" => a.abs(),
                None => i128::from((0..63).any(|power| a == 1 << power)),
            }
        }
    };
    if i64::try_from(value).is_ok() {
        Ok(value)
    } else {
        Err(EvalError::Overflow)
    }
}

fn operation(symbol: &str, a: i128, b: i128) -> Result<i128, EvalError> {
    let divides = matches!(symbol, "/" | "%" | "div_ceil" | "next_multiple_of");
    if divides && b == 0 {
        return Err(EvalError::DivisionByZero);
    }
    let shifts = matches!(symbol, "<<" | ">>") && !(0..64).contains(&b);
    let out_of_range = matches!(symbol, "pow" | "next_multiple_of") && b < 0;
    if shifts || out_of_range {
        return Err(EvalError::OutOfRange);
    }
    Ok(match symbol {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        // Rust's `%` overflows where `/` does.
        "%" if a == i128::from(i64::MIN) && b == -1 => return Err(EvalError::Overflow),
        "%" => a % b,
        "<<" => a * (1 << b),
        ">>" => a.div_euclid(1 << b),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "<" => i128::from(a < b),
        "<=" => i128::from(a <= b),
        ">" => i128::from(a > b),
        ">=" => i128::from(a >= b),
        "min" => a.min(b),
        "max" => a.max(b),
        "pow" => power(a, b)?,
        // The least quotient that is not below the exact one.
        "div_ceil" => (a / b - 1..=a / b + 1)
            .find(|quotient| {
                if b > 0 {
                    quotient * b >= a
                } else {
                    quotient * b <= a
                }
            })
            .expect("one of three"),
        "next_multiple_of" if a % b > 0 => (a / b + 1) * b,
        "next_multiple_of" => a / b * b,
        other => panic!("{other} is not an operator"),
    })
}

fn power(base: i128, exponent: i128) -> Result<i128, EvalError> {
    // Bases of at most 1 repeat with a period of 2.
    let exponent = if base.abs() <= 1 {
        exponent.min(2) + (exponent.max(2) % 2)
    } else {
        exponent
    };
    let mut result = 1;
    for _ in 0..exponent.min(64) {
        result *= base;
        if i64::try_from(result).is_err() {
            return Err(EvalError::Overflow);
        }
    }
    Ok(result)
}

fn formula(text: &str, expected: Type) -> Result<Formula, String> {
    let parameters = parameters();
    let scope = Scope {
        parameters: &parameters,
        dimensions: &DIMENSIONS,
    };
    cltune_formats::formula::parse(text, &scope, expected)
        .map_err(|error| format!("{text}: {error}"))
}

fn environment() -> impl Strategy<Value = ([i64; 4], [i64; 2])> {
    let number = || prop_oneof![5 => -3..70_i64, 1 => any::<i64>()];
    (number(), number(), 0..2_i64, 0..2_i64, number(), number())
        .prop_map(|(a, b, c, t, n, m)| ([a, b, c, t], [n, m]))
}

const DEVICE: fn() -> DeviceLimits =
    || DeviceLimits::NONE.with(DeviceField::LocalMemSize, 48 << 10);

fn agrees(
    tree: &Tree,
    expected: Type,
    (params, dims): ([i64; 4], [i64; 2]),
) -> Result<(), TestCaseError> {
    let device = DEVICE();
    let env = Env {
        params: &params,
        dims: &dims,
        device: &device,
    };
    let value = reference(tree, &env);
    let formula = formula(&tree.to_string(), expected).map_err(TestCaseError::fail)?;
    let found = formula.eval(&env).map(i128::from);
    prop_assert_eq!(found, value, "{}", formula.text);

    let bound = formula.program.bind(&dims, &device);
    prop_assert!(
        !bound
            .ops
            .iter()
            .any(|op| matches!(op, Op::Dim(_) | Op::Device(_)))
    );
    let params_only = Env {
        params: &params,
        dims: &[],
        device: &DeviceLimits::default(),
    };
    let found = bound.eval(&params_only).map(i128::from);
    prop_assert_eq!(found, value, "bound: {}", formula.text);
    prop_assert!(bound.ops.len() <= formula.program.ops.len());
    Ok(())
}

fn canonical(tree: &Tree, expected: Type) -> Result<(), TestCaseError> {
    let parsed = formula(&tree.to_string(), expected).map_err(TestCaseError::fail)?;
    let again = formula(&parsed.text, expected).map_err(TestCaseError::fail)?;
    prop_assert_eq!(&again, &parsed);
    for shorter in without_one_pair(&parsed.text) {
        if let Ok(other) = formula(&shorter, expected) {
            prop_assert_ne!(&other.text, &parsed.text, "needless parentheses");
        }
    }
    Ok(())
}

/// The texts that lack one pair of grouping parentheses. A call's parentheses group nothing, and
/// those around `if` are kept for the reader.
fn without_one_pair(text: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut texts = Vec::new();
    for (position, c) in text.char_indices() {
        match c {
            '(' => open.push(position),
            ')' => {
                let Some(start) = open.pop() else { continue };
                let is_call = text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                if !is_call && !text[start..].starts_with("(if ") {
                    let inner = &text[start + 1..position];
                    texts.push(format!(
                        "{} {inner} {}",
                        &text[..start],
                        &text[position + 1..]
                    ));
                }
            }
            _ => {}
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn integers_agree_with_the_reference(tree in integer(4), env in environment()) {
        agrees(&tree, Type::Int, env)?;
    }

    #[test]
    fn booleans_agree_with_the_reference(tree in boolean(4), env in environment()) {
        agrees(&tree, Type::Bool, env)?;
    }
}

proptest! {
    #[test]
    fn canonical_text_is_the_formula(integer in integer(4), boolean in boolean(4)) {
        canonical(&integer, Type::Int)?;
        canonical(&boolean, Type::Bool)?;
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-+*/%&|^!<>=(){}.,;: a-eA-E0-9\"'#_]{0,40}") {
        let _ = formula(&text, Type::Int);
        let _ = formula(&text, Type::Bool);
    }

    #[test]
    fn no_sequence_of_words_makes_the_parser_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "A", "C", "T", "n", "device", ".", "local_mem_size", "(", ")", "{", "}", "if ",
                "else ", "1", "-", "!", "==", "&&", "min", ",", "\"x\"", "let ", "|", "=", "match ",
            ]),
            0..24,
        ),
    ) {
        let _ = formula(&words.concat(), Type::Int);
    }
}

#[test]
fn the_generator_reaches_every_device_field_by_name() {
    for field in DeviceField::ALL {
        let text = format!("device.{}", field.name());
        let parsed = formula(&text, Type::Int).expect("a limit");
        assert_eq!(parsed.text, text);
        assert_eq!(*parsed.program.ops, [Op::Device(*field)]);
    }
}
