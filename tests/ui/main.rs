//! Mistakes in declarations: each is one error on its token. The folders are named after what the
//! mistake is about.

#[test]
fn mistakes_are_reported_where_they_are() {
    // The compiler's own rendering differs between releases: see `rust-version`.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*/*.rs");
}
