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

#[test]
fn an_operand_is_one_argument_and_is_loaded_once() {
    let program = program("a = b * b + a * b; c = a - b; s = dot(c, b);");
    let kernels = kernels::kernels(
        &program,
        &passes(&program, true),
        "k",
        kernels::Style::Tuned,
    );
    let [pass, end] = &kernels[..] else {
        panic!("{} kernels", kernels.len());
    };
    let scalar_loop = pass.text.split("#endif").last().expect("there is one");
    for load in ["a_[at];", "b_[at];"] {
        assert_eq!(scalar_loop.matches(load).count(), 1, "{}", pass.text);
    }
    assert!(!scalar_loop.contains("c_[at];"), "{}", pass.text);
    assert_eq!(pass.text.matches("float* b_").count(), 1, "{}", pass.text);
    assert!(end.text.contains("s_[0] = "), "{}", end.text);
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
    let kernels = kernels::kernels(
        &program,
        &passes(&program, true),
        "k",
        kernels::Style::Tuned,
    );
    let text = &kernels[0].text;
    assert!(
        text.contains("((uchar)((((uchar)((a_0 + a_0))) / 2)))"),
        "{text}"
    );
    assert!(text.contains("((a_0 + a_0) / ((VEC(uchar))(2)))"), "{text}");
}

/// What a compiler prints of tokens differs from release to release; the fingerprint must not.
#[test]
fn the_source_does_not_depend_on_how_statements_are_formatted() {
    let source = |body: &str| {
        let program = program(body);
        let all = kernels::kernels(
            &program,
            &passes(&program, true),
            "k",
            kernels::Style::Tuned,
        );
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
