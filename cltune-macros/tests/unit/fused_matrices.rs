//! Unit tests of `fused` over matrices: the kernels that statements take, and their source.

use super::arguments::Kernel;
use super::kernels;
use super::plan::passes;
use super::program::Program;
use super::value::Style;
use super::*;

/// Matrices `a` to `d` of `m` by `n`, `k` of `n` by `m`, `q` and `s` of `m` by `m`, vectors `x`,
/// `y` of `n`, `u`, `v`, `w` of `m`, and the number `t`.
fn program(body: &str) -> Program {
    let matrices = ["a", "b", "c", "d"].map(|name| (name, "matrix = [m, n]"));
    let others = [
        ("k", "matrix = [n, m]"),
        ("q", "matrix = [m, m]"),
        ("s", "matrix = [m, m], layout = columns"),
        ("x", "len = n"),
        ("y", "len = n"),
        ("u", "len = m"),
        ("v", "len = m"),
        ("w", "len = m"),
        ("t", "len = 1"),
    ];
    let buffers = matrices.into_iter().chain(others);
    let buffers: Vec<String> = buffers
        .map(|(name, options)| format!("#[arg({options})] {name}: &mut Buffer<f32>, "))
        .collect();
    let buffers = buffers.concat();
    let item = format!("fn f(queue: &Queue, m: u32, n: u32, h: f32, {buffers}) {{ {body} }}");
    let item = syn::parse_str(&item).expect("it is a function");
    let mut errors = Errors::default();
    let program = read::program(&item, &mut errors);
    // Not every buffer is used.
    let message = errors.into_first().map(|error| error.to_string());
    assert!(
        message
            .as_ref()
            .is_none_or(|text| text.starts_with("no statement")),
        "{body}: {message:?}"
    );
    program
}

fn made(body: &str, fused: bool, style: Style) -> Vec<Kernel> {
    let program = program(body);
    let kernels = kernels::kernels(&program, &passes(&program, fused), "k", style);
    if style == Style::Tuned {
        let launches: usize = passes(&program, fused)
            .iter()
            .map(|pass| pass.launches(&program))
            .sum();
        assert_eq!(launches, kernels.len(), "{body}");
    }
    kernels
}

/// Fused, and one by one. A kernel that folds lines to one leaves parts for a second one, which is
/// counted.
#[test]
fn as_few_kernels_as_dependencies_allow() {
    let softmax = "let e = exp(a - column(row_max(a))); b = e / column(row_sum(e));";
    let layer_norm = "let e = a - column(row_sum(a) / n as f32); \
                      b = e * column(rsqrt(row_dot(e, e) / n as f32 + 1e-5)) * row(x) + row(y);";
    for (body, fused, single) in [
        ("a = b + c; d = b - c;", 1, 2),
        // The paper's pair of matrices, and with one of vectors.
        ("c = a + b; a = c + b;", 1, 2),
        ("c = a + b; a = c + b; x = x + y; y = x + y;", 2, 4),
        ("u = a * x; v = b * y;", 1, 2),
        // Two independent products, of two sizes: as the paper has it.
        ("u = a * x; y = k * v;", 2, 2),
        ("u = h * (a * (x + y)) + h * u;", 1, 1),
        ("y = h * (a.t() * (u + v)) + h * y;", 2, 2),
        ("a += h * outer(u, x);", 1, 1),
        (softmax, 1, 3),
        (layer_norm, 1, 3),
        // In place: the row that was written is read again.
        (
            "a = exp(a - column(row_max(a))); a = a / column(row_sum(a));",
            1,
            4,
        ),
        // The result of a product is a vector of the next one.
        ("u = a * x; y = a.t() * u;", 3, 3),
        // The product reads what the statement writes.
        ("u = q * u;", 2, 2),
        ("u = q.t() * u;", 3, 3),
        // Rows, their sums, and the sum of those.
        ("t = sum(a);", 3, 3),
        // A matrix whose columns are contiguous, transposed.
        ("u = s.t() * v;", 1, 1),
        ("u = s * v;", 2, 2),
        // Rows and columns are two ways through the matrix.
        ("u = row_sum(a); x = column_sum(a);", 3, 3),
        (
            "b = 2.0 * a; x = column_sum(b); y = column_max(b) + x;",
            2,
            5,
        ),
        // Products of matrices: what is stored of them is computed with them.
        ("q = h * (a * k) + h * q;", 1, 1),
        // Factors that are computed are matrices in memory, made in one pass before.
        ("q = (a + b) * (a - b).t();", 2, 3),
        // A reduction reads the product from memory, and so does what overwrites a factor.
        ("u = row_sum(a * k);", 2, 2),
        ("q = q * q;", 2, 2),
    ] {
        assert_eq!(made(body, true, Style::Tuned).len(), fused, "{body}");
        assert_eq!(made(body, false, Style::Tuned).len(), single, "{body}");
    }
}

#[test]
fn a_matrix_is_loaded_once_for_each_phase_that_needs_it() {
    let kernels = made(
        "let e = exp(a - column(row_max(a))); b = e / column(row_sum(e));",
        true,
        Style::Tuned,
    );
    let text = &kernels[0].text;
    // Each of the three phases has a loop over vectors and one over what is left, and the first one
    // has a loop for several lines.
    assert_eq!(text.matches("KEPT(kept_a").count(), 7, "{text}");
    assert_eq!(text.matches("kept_a[KEEP]").count(), 1, "{text}");
    assert_eq!(text.matches("restrict a_").count(), 1, "{text}");
    // The reductions are folded in local memory, the second one after the first was read.
    assert_eq!(text.matches("FOLD_LINE(").count(), 2, "{text}");
    // Their results stay in registers.
    assert!(
        !text.contains("row_max_") || !text.contains("row_max_9_[line]"),
        "{text}"
    );
}

#[test]
fn a_transposed_matrix_of_columns_is_one_of_rows() {
    let rows = made("u = q * v;", true, Style::Tuned);
    let columns = made("u = s.t() * v;", true, Style::Tuned);
    let same = columns[0]
        .text
        .replace("s.t()", "q")
        .replace("kept_s", "kept_q");
    let same = same
        .replace("restrict s_", "restrict q_")
        .replace("(s_ +", "(q_ +");
    assert_eq!(
        rows[0].text,
        same.replace(" s_", " q_").replace("(s_", "(q_")
    );
}

#[test]
fn what_a_line_stores_waits_for_what_it_loads() {
    // All work-items of the line read `u`, and one of them writes it.
    let kernels = made(
        "a = a / column(u + row_sum(a)); u = 2.0 * row_sum(a);",
        true,
        Style::Tuned,
    );
    let text = &kernels[0].text;
    let barrier = text
        .find("barrier(CLK_GLOBAL_MEM_FENCE)")
        .expect("there is one");
    let store = text.find("u_[line] =").expect("it is stored");
    assert!(barrier < store, "{text}");
    // Only one work-item needs it here.
    let kernels = made("u = a * x + u;", true, Style::Tuned);
    assert!(
        !kernels[0].text.contains("CLK_GLOBAL_MEM_FENCE"),
        "{}",
        kernels[0].text
    );
}

#[test]
fn references_sum_in_wider_arithmetic() {
    for body in ["u = a * x;", "x = a.t() * u;"] {
        let kernels = made(body, false, Style::Reference);
        let text = &kernels[0].text;
        assert!(text.contains("const wide new_product"), "{text}");
        assert!(!text.contains("VW") && !text.contains("barrier"), "{text}");
    }
}

/// The tolerance that a program's reference is given: what sums are made of, or nothing.
fn accumulated(body: &str) -> Option<String> {
    let mut errors = Errors::default();
    let written = Attribute::parse(TokenStream::new(), &[], &mut errors);
    let clauses = tunable::tunable(&program(body), &written)
        .clauses
        .to_string();
    let clauses = clauses.replace(' ', "");
    let (_, rest) = clauses.split_once("tolerance(accumulates=")?;
    let (length, _) = rest.split_once("),bytes(").expect("the clause ends");
    Some(length.to_owned())
}

/// As many terms as a result of the longest sum has.
#[test]
fn tolerances_follow_the_length_of_the_longest_sum() {
    for (body, expected) in [
        ("a = b + c;", None),
        ("u = row_sum(a);", Some("(n)")),
        ("y = column_dot(a, b);", Some("(m)")),
        ("u = h * (a * x) + u;", Some("(n)")),
        ("y = a.t() * u;", Some("(m)")),
        // A product as deep as `a` has columns, and one as deep as `k` has.
        ("q = a * k;", Some("(n)")),
        ("q = a * b.t();", Some("(n)")),
        ("t = dot(x, y);", Some("(n)")),
        // Lines first, then what they are folded to.
        ("t = norm1(a);", Some("max((n),(n)*(m))")),
        ("u = row_sum(a); y = column_sum(b);", Some("max((n),(m))")),
    ] {
        assert_eq!(accumulated(body).as_deref(), expected, "{body}");
    }
}
