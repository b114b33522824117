//! The grammar of formulas: what is accepted, what it means, and what every mistake is answered
//! with.

use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::{Env, EvalError, Formula, Program};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::{List, Text};
use cltune_formats::formula::{Scope, Type};

fn parameters() -> Vec<Parameter> {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let names: List<Text> = vec!["float".into(), "half".into()].into();
    vec![
        parameter("WG", Domain::Integers(vec![32, 64].into())),
        parameter(
            "WPT",
            Domain::Range {
                first: 0,
                last: 8,
                step: 1,
            },
        ),
        parameter("CACHE", Domain::Booleans(vec![false, true].into())),
        parameter("T", Domain::Names(names)),
    ]
}

const DIMENSIONS: [Text; 2] = [Text::Borrowed("n"), Text::Borrowed("filter")];

fn parse(text: &str, expected: Type) -> Result<Formula, cltune_core::expr::TextError> {
    let parameters = parameters();
    cltune_formats::formula::parse(
        text,
        &Scope {
            parameters: &parameters,
            dimensions: &DIMENSIONS,
        },
        expected,
    )
}

fn formula(text: &str) -> Formula {
    parse(text, Type::Int)
        .or_else(|_| parse(text, Type::Bool))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The value with WG = 64, WPT = 2, CACHE = true, T = "half", n = 1000, filter = 3.
fn value(text: &str) -> Result<i64, EvalError> {
    let device = DeviceLimits::NONE.with(DeviceField::LocalMemSize, 4096);
    formula(text).eval(&Env {
        params: &[64, 2, 1, 1],
        dims: &[1000, 3],
        device: &device,
    })
}

/// The error of a text, which must be wrong, with its column.
fn error(text: &str, expected: Type) -> (usize, String) {
    let error = parse(text, expected).expect_err(text);
    (error.column, error.message)
}

#[track_caller]
fn refused(text: &str, expected: Type, column: usize, parts: &[&str]) {
    let (found, message) = error(text, expected);
    assert_eq!(found, column, "column of: {message}");
    for part in parts {
        assert!(
            message.contains(part),
            "`{part}` is missing from: {message}"
        );
    }
}

#[test]
fn precedence_and_meaning_are_rusts() {
    for (text, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 - 3 - 4", -5),
        ("7 / 2 % 2", 1),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 << 2 + 1", 8),
        ("6 & 3 == 2", 1),
        ("1 | 6 ^ 2 & 3", 5),
        ("-1.abs()", -1),
        ("(-1).abs()", 1),
        ("WG * WPT + filter", 131),
        ("n.div_ceil(WG * WPT)", 8),
        ("next_multiple_of(n, WG)", 1024),
        ("min(WG, n).max(filter).pow(2)", 4096),
        ("WG.is_power_of_two() && !n.is_power_of_two()", 1),
        ("if CACHE { WG * 4 } else if WG > 1 { 2 } else { 3 }", 256),
        ("WG * 4 <= device.local_mem_size", 1),
        ("T == \"half\" && T != \"float\" && \"half\" == T", 1),
        ("CACHE == (WG == 64)", 1),
        ("0xff + 1_000 + 0b11 + 0o17", 1273),
        ("-9223372036854775808", i64::MIN),
        ("-0x8000_0000_0000_0000", i64::MIN),
        ("{ (1) }", 1),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    assert_eq!(value("n / (WPT - 2)"), Err(EvalError::DivisionByZero));
    assert_eq!(value("9223372036854775807 + WPT"), Err(EvalError::Overflow));
    assert_eq!(value("-(-9223372036854775808)"), Err(EvalError::Overflow));
    assert_eq!(value("2.pow(WPT - 3)"), Err(EvalError::OutOfRange));
    assert_eq!(value("WPT != 2 && n / (WPT - 2) == 1"), Ok(0));
    assert_eq!(value("WPT == 2 || n / (WPT - 2) == 1"), Ok(1));
    assert_eq!(value("if WPT == 2 { 7 } else { n / (WPT - 2) }"), Ok(7));
}

#[test]
fn canonical_text_is_independent_of_how_it_was_written() {
    for (written, canonical) in [
        ("((WG))*(WPT)", "WG * WPT"),
        ("(WG+WPT)*2", "(WG + WPT) * 2"),
        ("WG-(WPT-1)", "WG - (WPT - 1)"),
        ("(WG-WPT)-1", "WG - WPT - 1"),
        ("min(WG,(WPT+1))", "WG.min(WPT + 1)"),
        ("(WG+1).abs()", "(WG + 1).abs()"),
        ("-(1)", "-1"),
        ("- -1", "--1"),
        ("-(-(-0))", "0"),
        ("(-1).abs()", "(-1).abs()"),
        ("-(1.abs())", "-1.abs()"),
        ("!(CACHE)", "!CACHE"),
        ("!(CACHE&&CACHE)", "!(CACHE && CACHE)"),
        ("(CACHE==CACHE)==CACHE", "(CACHE == CACHE) == CACHE"),
        ("(WG&1)==0", "WG & 1 == 0"),
        ("0x10+1_0", "16 + 10"),
        (
            "if(CACHE){1}else{if CACHE{2}else{3}}",
            "if CACHE { 1 } else if CACHE { 2 } else { 3 }",
        ),
        ("(if CACHE{1}else{2})+1", "(if CACHE { 1 } else { 2 }) + 1"),
        ("T=='h'", ""),
    ] {
        if canonical.is_empty() {
            continue;
        }
        let parsed = formula(written);
        assert_eq!(parsed.text, canonical, "{written}");
        assert_eq!(
            formula(canonical),
            parsed,
            "{canonical} does not parse to itself"
        );
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let known = ["`WG`, `WPT`, `CACHE`, `T`", "`n`, `filter`"];
    refused(
        "WG + WPTT",
        Type::Int,
        6,
        &["unknown name `WPTT`", "did you mean `WPT`?"],
    );
    refused("WG + WPTT", Type::Int, 6, &known);
    refused("x", Type::Int, 1, &known);
    refused(
        "T == half",
        Type::Bool,
        6,
        &["`half` is a value of `T`: write \"half\""],
    );
    refused(
        "local_mem_size",
        Type::Int,
        1,
        &["did you mean `device.local_mem_size`?"],
    );
    refused(
        "device",
        Type::Int,
        1,
        &["device.LIMIT", "`max_work_group_size`"],
    );
    refused(
        "device.local_mem",
        Type::Int,
        8,
        &["`local_mem`", "`local_mem_size`"],
    );
    refused("device.0", Type::Int, 8, &["`local_mem_size`"]);
    refused(
        "WG.local_mem_size",
        Type::Int,
        3,
        &["only `device` has fields"],
    );
    refused("min", Type::Int, 1, &["`min` is a function"]);
    refused(
        "WG.mni(1)",
        Type::Int,
        4,
        &["unknown function `mni`", "`next_multiple_of`"],
    );
    refused("powr(1, 2)", Type::Int, 1, &["did you mean `pow`?"]);
    refused(
        "T == \"hlaf\"",
        Type::Bool,
        6,
        &["`T` has no value \"hlaf\"", "`float`, `half`"],
    );
}

#[test]
fn types_must_fit() {
    refused(
        "WG + CACHE",
        Type::Int,
        6,
        &["an integer", "`+`", "a boolean", "if … { 1 } else { 0 }"],
    );
    refused(
        "WG % 2",
        Type::Bool,
        1,
        &["expected a boolean", "an integer", "== 0"],
    );
    refused(
        "WG == 1",
        Type::Int,
        1,
        &["expected an integer", "a boolean"],
    );
    refused(
        "WG && CACHE",
        Type::Bool,
        1,
        &["a boolean", "`&&`", "an integer"],
    );
    refused("WG == CACHE", Type::Bool, 1, &["an integer and a boolean"]);
    refused(
        "T + 1",
        Type::Int,
        1,
        &["whose values are names", "`float`, `half`"],
    );
    refused("T == T", Type::Bool, 1, &["compares two integers"]);
    refused("T < \"half\"", Type::Bool, 1, &["`<`"]);
    refused(
        "WG == \"half\"",
        Type::Bool,
        1,
        &["an integer and the name \"half\""],
    );
    refused(
        "if WG { 1 } else { 2 }",
        Type::Int,
        4,
        &["condition", "a boolean", "an integer"],
    );
    refused(
        "if CACHE { 1 } else { CACHE }",
        Type::Int,
        1,
        &["both branches"],
    );
    refused("!WG", Type::Bool, 2, &["`!`", "an integer"]);
    refused("-CACHE", Type::Int, 2, &["`-`", "a boolean"]);
    refused("CACHE < CACHE", Type::Bool, 1, &["`<`", "a boolean"]);
}

#[test]
fn arguments_are_counted() {
    refused(
        "WG.min()",
        Type::Int,
        4,
        &["`min` takes 1 argument here, not 0", "`a.min(b)`"],
    );
    refused("min(1)", Type::Int, 1, &["takes 2 arguments here, not 1"]);
    refused(
        "WG.abs(1)",
        Type::Int,
        4,
        &["takes 0 arguments here, not 1", "`a.abs()`"],
    );
}

#[test]
fn what_formulas_do_not_have_is_refused_at_its_own_token() {
    for (text, column, part) in [
        ("WG as i64", 4, "a cast"),
        ("1.5", 1, "a number with a fraction"),
        ("1u32", 1, "write `1`"),
        ("'a'", 1, "literal"),
        ("b\"a\"", 1, "literal"),
        ("9223372036854775808", 1, "64 bits"),
        ("-9223372036854775809", 2, "64 bits"),
        ("[1, 2]", 1, "an array"),
        ("[0; 4]", 1, "an array"),
        ("WG[0]", 3, "indexing"),
        ("(1, 2)", 1, "a tuple"),
        ("|x| x", 1, "a closure"),
        ("WG = 1", 4, "an assignment"),
        ("WG += 1", 4, "assignment"),
        ("0..4", 2, "a range"),
        ("match WG { _ => 1 }", 1, "`match`"),
        ("loop {}", 1, "a loop"),
        ("while true {}", 1, "a loop"),
        ("for x in y {}", 1, "a loop"),
        ("return 1", 1, "`return`"),
        ("&WG", 1, "a reference"),
        ("*WG", 1, "operator"),
        ("WG?", 3, "`?`"),
        ("max!(1)", 1, "a macro call"),
        ("unsafe { 1 }", 1, "`unsafe`"),
        ("const { 1 }", 1, "`const`"),
        ("i64::MAX", 1, "paths"),
        ("i64::max(1, 2)", 1, "only these functions"),
        ("(min)(1, 2)", 1, "only these functions"),
        ("WG.min::<i64>(2)", 7, "type arguments"),
        ("#[a] 1", 1, "attributes"),
        ("{ let x = 1; x }", 3, "statements"),
        ("{ 1; }", 4, "`;`"),
        ("{}", 1, "empty block"),
        ("if CACHE { 1 }", 1, "`else`"),
        ("if let x = 1 { 1 } else { 2 }", 4, "`let`"),
        ("WG { a: 1 }", 1, "a struct"),
    ] {
        refused(text, Type::Int, column, &[part]);
    }
}

#[test]
fn text_that_is_no_expression_is_an_error_with_a_column() {
    for (text, column) in [
        ("", 1),
        ("  ", 1),
        ("1 +", 4),
        ("1 2", 3),
        ("(1", 1),
        ("1 ⊕ 2", 3),
        ("\"a", 1),
        (")", 1),
    ] {
        let (found, message) = error(text, Type::Int);
        assert_eq!(found, column, "{text}: {message}");
    }
    // Columns count characters, and go on over lines.
    refused("\"é\" == x", Type::Bool, 8, &["`x`"]);
    refused("WG +\n  x", Type::Int, 8, &["`x`"]);
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let parameters = parameters();
    let scope = Scope {
        parameters: &parameters,
        dimensions: &DIMENSIONS,
    };
    let expr: syn::Expr = syn::parse_str("x + 1.5 + (WG && y) + z").expect("Rust syntax");
    let errors =
        cltune_formats::formula::from_syn(&expr, &scope, Type::Int).expect_err("five mistakes");
    let messages: Vec<&str> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(errors.len(), 6, "{messages:#?}");
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let texts = [
        format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("{}1", "-".repeat(10_000)),
        format!("{}CACHE", "!".repeat(10_000)),
        vec!["1"; 10_000].join(" + "),
        vec!["WG"; 500].join(" + "),
        format!("{}1", "WG + (".repeat(31)) + &")".repeat(31),
        "if CACHE { 1 } else ".repeat(150) + "{ 2 }",
        "WG = ".repeat(300) + "1",
        "|WG| ".repeat(250) + "1",
        "return ".repeat(500),
        "WG".to_owned() + &".abs()".repeat(200),
        "{ ".repeat(300) + "1" + &" }".repeat(300),
    ];
    for text in texts {
        let (_, message) = error(&text, Type::Int);
        let start: String = text.chars().take(30).collect();
        assert!(
            ["nested too deeply", "too long", "not supported"]
                .iter()
                .any(|m| message.contains(m)),
            "{start}: {message}"
        );
    }
    let as_deep_as_possible = format!("{}1", "WG + (".repeat(20)) + &")".repeat(20);
    assert_eq!(value(&as_deep_as_possible), Ok(20 * 64 + 1));
    let long = vec!["WG == 64"; 120].join(" && ");
    assert_eq!(value(&long), Ok(1));
}

#[test]
fn constants_are_folded_but_failures_are_kept() {
    assert_eq!(formula("2 * 3 + 4").program.constant(), Some(10));
    assert_eq!(formula("1 == 2 && WG == 1").program.constant(), Some(0));
    assert_eq!(formula("1 / 0").program.constant(), None);
    assert_eq!(value("1 / 0"), Err(EvalError::DivisionByZero));
    assert_eq!(value("true || 1 / 0 == 1"), Ok(1));
    assert_eq!(formula("WG + WG * WPT").program.parameters(), [0, 1]);
    assert!(formula("WG + 1").program.ops.len() <= Program::MAX_OPS);
}

#[test]
fn names_that_are_keywords_of_rust_are_raw() {
    let dimensions = [Text::Borrowed("type")];
    let scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let formula =
        cltune_formats::formula::parse("r#type * 2", &scope, Type::Int).expect("a raw name");
    assert_eq!(formula.text, "r#type * 2", "the text can be parsed again");
    assert_eq!(
        cltune_formats::formula::parse(&formula.text, &scope, Type::Int),
        Ok(formula)
    );
}

#[test]
fn a_formula_is_told_from_other_texts_without_its_names() {
    let check = |text| cltune_formats::formula::check_text(text, Type::Bool);
    for text in [
        "WG * WPT <= 1024",
        "CACHE",
        "!CACHE || T == \"half\"",
        "OMEGA < 1.5 && 0.5 < OMEGA",
        "if CACHE { X } else { Y }",
        "n.div_ceil(WG) <= device.compute_units",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    for (text, column, part) in [
        ("WG <=", 6, "unexpected end of input"),
        ("(WG <= 4", 1, "not Rust syntax"),
        ("", 1, "expected a formula"),
        ("WG = 4", 4, "assignment"),
        ("WG * 2", 1, "expected a boolean here, found an integer"),
        ("WG <= device.lokal_mem_size", 14, "local_mem_size"),
        ("maxx(WG, 4) == 4", 1, "unknown function `maxx`"),
    ] {
        let error = check(text).expect_err(text);
        assert_eq!(error.column, column, "{error}");
        assert!(error.message.contains(part), "{error}");
    }
}
