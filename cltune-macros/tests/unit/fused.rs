//! Unit tests of `fused`: the passes that statements take, the source, and mistakes.

use super::plan::{Pass, passes};
use super::program::Program;
use super::*;

/// Vectors `a` to `f` of `n` elements, `u` and `v` of `m`, and numbers `s` and `t`.
fn program(body: &str) -> Program {
    let vectors = ["a", "b", "c", "d", "e", "f"].map(|name| (name, "n"));
    let buffers = vectors
        .into_iter()
        .chain([("u", "m"), ("v", "m"), ("s", "1"), ("t", "1")]);
    let buffers = buffers
        .map(|(name, len)| format!("#[arg(len = {len})] {name}: &mut Buffer<f32>, "))
        .collect::<Vec<_>>()
        .concat();
    let item = format!("fn k(queue: &Queue, n: u32, m: u32, x: f32, {buffers}) {{ {body} }}");
    let item = syn::parse_str(&item).expect("it is a function");
    let mut errors = Errors::default();
    let program = read::program(&item, &mut errors);
    // Not every buffer is used.
    let message = errors.into_first().map(|error| error.to_string());
    assert!(
        message.is_none_or(|text| text.starts_with("no statement")),
        "{body}"
    );
    program
}

fn launches(body: &str, fused: bool) -> usize {
    let program = program(body);
    let passes = passes(&program, fused);
    passes.iter().map(|pass| pass.launches(&program)).sum()
}

/// The counts of ViennaCL's generator (its tests of 2013), vectors standing for matrices.
#[test]
fn as_many_kernels_as_the_paper_has() {
    for (body, fused, single) in [
        ("s = dot(a, b);", 2, 2),
        ("a = b + c; b = c + a;", 1, 2),
        ("u = u + v; v = u + v;", 1, 2),
        ("a = b + c; b = c + a; u = u + v; v = u + v;", 2, 4),
        ("s = dot(a, 2.0 * a + b);", 2, 2),
        ("a = b + c; d = b - c;", 1, 2),
        ("s = dot(a, b); t = dot(c, d);", 2, 4),
    ] {
        assert_eq!(launches(body, true), fused, "{body}");
        assert_eq!(launches(body, false), single, "{body}");
    }
}

#[test]
fn statements_wait_for_what_they_need_and_for_nothing_else() {
    for (body, expected) in [
        // A number that is reduced is there when its pass has ended.
        (
            "s = dot(a, b); c = s * a;",
            vec![(vec![0], vec![1]), (vec![2], vec![])],
        ),
        // What does not need it shares the first pass, though it is written later.
        (
            "s = dot(a, b); c = s * a; d = a + b;",
            vec![(vec![0, 3], vec![1]), (vec![2], vec![])],
        ),
        // A vector that the first pass reads is overwritten after it has been read.
        (
            "s = dot(a, b); c = s * a; b = x * b;",
            vec![(vec![0, 3], vec![1]), (vec![2], vec![])],
        ),
        // `c` is read before it is written again, so the last statement waits for the second.
        (
            "s = dot(a, b); d = s * c; c = x * b;",
            vec![(vec![0], vec![1]), (vec![2, 3], vec![])],
        ),
        // Numbers are computed after the pass that they come from.
        (
            "s = dot(a, b); t = s / x; c = t * a; s = x * t;",
            vec![(vec![0], vec![1, 2, 4]), (vec![3], vec![])],
        ),
        // A number that a pass reads is not changed before it.
        ("a = s * a; s = dot(b, c);", vec![(vec![0, 1], vec![2])]),
    ] {
        let program = program(body);
        let passes = passes(&program, true);
        let found: Vec<_> = passes
            .into_iter()
            .map(
                |Pass {
                     looped, numbers, ..
                 }| (looped, numbers),
            )
            .collect();
        assert_eq!(found, expected, "{body}");
    }
}

/// Vectors that are assigned together are in one pass, the new values in registers.
#[test]
fn assignments_of_several_vectors_are_not_divided() {
    for (body, fused, single) in [
        ("(a, b) = (b, a);", 1, 1),
        ("c = a + b; (a, b) = (x * a + b, a - x * b);", 1, 2),
        // The swap waits for the pass that reads what it overwrites.
        ("s = dot(a, b); c = s * a; (a, b) = (b, a);", 3, 4),
    ] {
        assert_eq!(launches(body, true), fused, "{body}");
        assert_eq!(launches(body, false), single, "{body}");
    }
    let program = program("(a, b) = (b, a);");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let [pass] = &kernels[..] else {
        panic!("{} kernels", kernels.len());
    };
    assert!(!pass.text.contains("new_a_["), "{}", pass.text);
    assert!(pass.text.contains("a_[at] = a_1;"), "{}", pass.text);
}

/// Reductions with several numbers have one loop, and positions of 64 bits.
#[test]
fn indexes_and_norms_are_one_pass_each() {
    for body in ["s = norm2(a);", "s = index_of_max_abs(a) as f32;"] {
        assert_eq!(launches(body, true), 2, "{body}");
    }
    let program = program("s = index_of_max(a) as f32;");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text = kernels[0].text.clone() + &kernels[1].text;
    assert!(
        !text.contains("uint at = FIRST") && !text.contains("uint at = get_global"),
        "{text}"
    );
    assert!(
        text.contains("__global ulong* parts_index_of_max_"),
        "{text}"
    );
    assert!(text.contains("for (ulong turn = FIRST(turns)"), "{text}");
}

/// Every loop over elements counts in 64 bits.
#[test]
fn vectors_may_have_more_elements_than_32_bits_count() {
    let program = program("a = b + c; s = dot(a, b); t = norm2(c);");
    let all = [value::Style::Tuned, value::Style::Reference]
        .map(|style| kernels::kernels(&program, &passes(&program, true), "k", style));
    for kernel in all.into_iter().flatten() {
        let narrow = kernel
            .text
            .lines()
            .filter(|line| line.contains("for (uint"));
        // Parts, lanes and accumulators are few.
        let few = |line: &&str| {
            let ends = ["at < groups", "width > 0", "lane < VW", "c < ACCUMULATORS"];
            ends.into_iter().any(|end| line.contains(end))
        };
        assert_eq!(
            narrow.filter(|line| !few(line)).count(),
            0,
            "{}",
            kernel.text
        );
    }
}

/// Vectors with an offset or a stride take them as arguments, and are loaded several at once where
/// the stride is 1.
#[test]
fn a_stride_is_an_argument_and_decides_how_elements_are_loaded() {
    let item = "fn k(queue: &Queue, n: u32, #[arg(len = n, offset = o, stride = d)] a: &mut \
                Buffer<f32>, o: u64, d: i64, #[arg(len = n)] b: &Buffer<f32>) { a = a + b; }";
    let mut errors = Errors::default();
    let item = syn::parse_str(item).expect("it is a function");
    let program = read::program(&item, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(
        program.while_tuning,
        [("o".to_owned(), 0), ("d".to_owned(), 1)]
    );
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text = &kernels[0].text;
    for part in [
        "__global float* a_, const ulong o_, const long d_, __global const float* b_",
        "const long a_first = (long)o_ + (d_ < 0 ? (1 - (long)count) * (long)d_ : 0);",
        "const ulong vectors = d_ == 1 ? count / VW : 0;",
        "const bool aligned = (a_first) % VW == 0;",
        "else a_0 = JOIN(vload, VW)(at, a_ + a_first);",
        "((__global const VEC(float)*)b_)[at]",
        "a_[a_first + (long)at * d_] = a_1;",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn the_reference_keeps_what_additions_round_away() {
    let program = program("s = dot(a, b);");
    let reference = value::Style::Reference;
    let kernels = kernels::kernels(&program, &passes(&program, false), "r", reference);
    for part in [
        "wide one_dot_13 = 0, rest_dot_13 = 0;",
        "const wide new_dot_13 = ",
        "rest_dot_13 += fabs(one_dot_13) >= fabs(new_dot_13) ? ",
        "lanes_f32[get_local_id(0)] = one_dot_13 + rest_dot_13;",
    ] {
        let text = &kernels[0].text;
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn an_operand_is_one_argument_and_is_loaded_once() {
    let program = program("a = b * b + a * b; c = a - b; s = dot(c, b);");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let [pass, end] = &kernels[..] else {
        panic!("{} kernels", kernels.len());
    };
    let scalar_loop = pass.text.split("#endif").nth(1).expect("there is one");
    for load in ["a_[at];", "b_[at];"] {
        assert_eq!(scalar_loop.matches(load).count(), 1, "{}", pass.text);
    }
    assert!(!scalar_loop.contains("c_[at];"), "{}", pass.text);
    assert_eq!(pass.text.matches("float* b_").count(), 1, "{}", pass.text);
    assert!(end.text.contains("s_[0] = "), "{}", end.text);
    // The loop's kernel does the same where a parameter says so.
    assert_eq!(pass.text.matches("s_[0] = ").count(), 1, "{}", pass.text);
    assert!(end.is_in_loop && !pass.is_in_loop);
}

/// Words of 4 bytes are what atomic functions of every device take.
#[test]
fn parts_of_small_numbers_are_folded_by_a_second_launch() {
    let item = "fn k(queue: &Queue, n: u32, #[arg(len = n)] b: &Buffer<u8>, #[arg(out, len = 1)] s: &mut \
                Buffer<u8>) { s = max(b); }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty());
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    assert!(
        kernels
            .iter()
            .all(|kernel| !kernel.is_in_loop && !kernel.text.contains("atomic"))
    );
}

/// C computes `uchar` as `int`, and vectors of them as they are.
#[test]
fn small_integers_wrap_around_whatever_the_vector_width() {
    let item =
        "fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<u8>) { a = (a + a) / 2; }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty(), "{errors:?}");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text = &kernels[0].text;
    assert!(
        text.contains("((uchar)((((uchar)((a_0 + a_0))) / 2)))"),
        "{text}"
    );
    assert!(text.contains("((a_0 + a_0) / ((VEC(uchar))(2)))"), "{text}");
}

/// Of `uchar` and `int` a driver does not know which function is meant.
#[test]
fn arguments_of_functions_are_small_integers_where_the_function_is_of_such() {
    let item = "fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<u8>) \
                { let most = max(if a > 3 { a } else { 2 }); \
                a = clamp(a, 2, if a > most { 9 } else { a }); }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty(), "{errors:?}");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text: String = kernels.into_iter().map(|kernel| kernel.text).collect();
    for part in [
        "clamp(a_0, ((uchar)(2)), ((uchar)(((a_0 > most_0) ? 9 : a_0))))",
        "max(one_max_2, ((uchar)(((a_0 > 3) ? a_0 : 2))));",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// The digits of the least `i32` are a `long` of C, which does not wrap around as an `int` does.
#[test]
fn the_least_integer_is_of_its_type() {
    let item = "fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<i32>) \
                { a = (a - -2147483648) / 2; }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty(), "{errors:?}");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text = &kernels[0].text;
    assert!(text.contains("((a_0 - INT_MIN) / 2)"), "{text}");
    assert!(text.contains("(a_0 - ((VEC(int))(INT_MIN)))"), "{text}");
}

/// A `let`, an argument, and an argument's name in the source are none that is made.
#[test]
fn what_is_made_has_names_of_its_own() {
    let item = "fn k(queue: &Queue, n: u32, lanes_f32: f32, #[arg(len = n)] finished: &Buffer<f32>, \
                #[arg(len = n)] parts_sum_6: &Buffer<f32>, #[arg(out, len = 1)] s: &mut Buffer<f32>) \
                { let sum_5 = lanes_f32 * sum(finished); s = sum_5 + sum(parts_sum_6); }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty(), "{errors:?}");
    let all_differ = |names: &[&str]| {
        let mut seen = std::collections::HashSet::new();
        assert!(names.iter().all(|name| seen.insert(*name)), "{names:?}");
    };
    let names: Vec<&str> = program.operands.iter().map(|it| it.name.as_str()).collect();
    all_differ(&names);
    let [reduced, named, ..] = &program.statements[..] else {
        panic!("{} statements", program.statements.len());
    };
    assert_eq!(names[named.target], "sum_5");
    assert_eq!(named.value.operands(), [1, reduced.target]);
    for kernel in kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned) {
        let (_, declared) = kernel.text.split_once('(').expect("it has arguments");
        let (declared, _) = declared.split_once(") {").expect("it has a body");
        let declared = declared.split(", ");
        let declared: Vec<&str> = declared.filter_map(|it| it.rsplit(' ').next()).collect();
        all_differ(&declared);
    }
    let clauses = Attribute::parse(TokenStream::new(), &[], &mut errors);
    let clauses = tunable::tunable(&program, &clauses).clauses.to_string();
    let clauses = clauses.replace(' ', "");
    assert!(
        clauses.contains("local_args(lanes_f32_:[f32;WG])"),
        "{clauses}"
    );
}

/// A register of that name would be a number, and no kernel would be built.
#[test]
fn no_register_has_the_name_of_a_constant_of_opencl_c() {
    let item = "fn k(queue: &Queue, n: u32, #[arg(len = n)] M_PI: &mut Buffer<f32>) \
                { M_PI += 1.0; M_PI *= 2.0; M_PI -= 3.0; }";
    let mut errors = Errors::default();
    let program = read::program(
        &syn::parse_str(item).expect("it is a function"),
        &mut errors,
    );
    assert!(errors.is_empty(), "{errors:?}");
    let kernels = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
    let text = &kernels[0].text;
    assert!(text.contains("const float M_PI_5 = "), "{text}");
    for defined in ["M_PI_2", "M_PI_4"] {
        assert!(!text.contains(defined), "{text}");
    }
}

/// What rounds to the largest number is one, as in Rust.
#[test]
fn the_largest_numbers_are_numbers_of_their_type() {
    let refused = |number: &str, scalar: &str| {
        let item = format!(
            "fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<{scalar}>) {{ a = min(a, {number}); }}"
        );
        let mut errors = Errors::default();
        read::program(
            &syn::parse_str(&item).expect("it is a function"),
            &mut errors,
        );
        !errors.is_empty()
    };
    let largest = [f32::MAX.to_string(), format!("{:e}", f32::MAX)];
    for number in &largest {
        assert!(!refused(number, "f32"), "{number}");
    }
    assert!(!refused(&format!("{:e}", f64::MAX), "f64"));
    assert!(refused("3.4028236e38", "f32"));
    assert!(refused("1.8e308", "f64"));
}

/// The mistake is reported, and neither the statements nor `#[arg(…)]` are left for the compiler.
#[test]
fn statements_that_are_no_rust_are_reported_once() {
    let item = "pub fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<f32>) \
                -> Result<Event> { a = 2.0 * a; a = if 1.0 < a < 2.0 { a } else { 0.0 }; }";
    let environment = Environment {
        directory: "/nowhere".into(),
        package: "my-crate".into(),
        version: "1.2.3".into(),
        override_lock: None,
        source_file: "src/lib.rs".into(),
    };
    let [attribute, item] = ["tune(n = 8)", item].map(|text| text.parse().expect("it is tokens"));
    let expansion = expand(&attribute, &item, Ok(environment)).to_string();
    assert_eq!(expansion.matches("compile_error").count(), 1, "{expansion}");
    assert!(expansion.contains("pub fn k"), "{expansion}");
    assert!(expansion.contains("pub mod k"), "{expansion}");
    for left in ["arg (", "2.0"] {
        assert!(!expansion.contains(left), "{expansion}");
    }
    // What is no function is left as it is.
    let item: TokenStream = "struct S;".parse().expect("it is tokens");
    let expansion = expand(&attribute, &item, Err("no cargo".into())).to_string();
    assert!(expansion.ends_with("struct S ;"), "{expansion}");
}

/// Compilers take 256 parentheses inside of one another, and names of `let` are computed where they
/// are used.
#[test]
fn expressions_that_are_too_long_are_refused() {
    let message = |body: &str| {
        let item = format!(
            "fn k(queue: &Queue, n: u32, #[arg(len = n)] a: &mut Buffer<f32>) {{ {body} }}"
        );
        let mut errors = Errors::default();
        read::program(
            &syn::parse_str(&item).expect("it is a function"),
            &mut errors,
        );
        errors.into_first().map(|error| error.to_string())
    };
    let sum = |terms: usize| format!("a = {};", vec!["a"; terms].join(" + "));
    assert_eq!(message(&sum(253)), None);
    let error = message(&sum(254)).expect("it is too long");
    assert!(error.contains("255 parentheses"), "{error}");
    let double = |at: i32| format!("let t{} = t{at} + t{at};", at + 1);
    let doubles: String = (0..40).map(double).collect();
    let error = message(&format!("let t0 = 2.0 * a; {doubles} a = t40;"));
    assert!(error.is_some_and(|error| error.contains("steps")));
}

/// What a compiler prints of tokens differs from release to release; the fingerprint must not.
#[test]
fn the_source_does_not_depend_on_how_statements_are_formatted() {
    let source = |body: &str| {
        let program = program(body);
        let all = kernels::kernels(&program, &passes(&program, true), "k", value::Style::Tuned);
        all.into_iter()
            .map(|kernel| kernel.text)
            .collect::<String>()
    };
    let formatted = source("a = if b <= -1.5 { max(b, c) } else { x * b };");
    let dense = source("a=if b<=-1.5{max(b,c)}else{x*b};");
    assert_eq!(formatted, dense);
    assert!(
        formatted.contains("// a = if b <= -1.5 { max(b, c) } else { x * b };"),
        "{formatted}"
    );
}
