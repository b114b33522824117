//! Unit tests of `fused` with a library that multiplies matrices: the function and the parts that
//! are made.

use super::*;
use syn::{File, Item as RustItem, ItemMod};

/// What is made of statements about matrices `a` and `b` of `m` by `n`, `c` of `m` by `m`, `e` of
/// `n` by `n`, the vector `x` of `m`, and numbers `h` and `g` of the call.
fn expansion(attribute: &str, body: &str) -> File {
    let item = format!(
        "pub(crate) fn f(
            queue: &Queue, m: u32, n: u32, ldb: u64, offset: u32, h: f32, g: f32,
            #[arg(matrix = [m, n])] a: &Buffer<f32>,
            #[arg(matrix = [m, n], ld = ldb, offset = offset, layout = columns)] b: &Buffer<f32>,
            #[arg(out, matrix = [m, m], compare = 0..9)] c: &mut Buffer<f32>,
            #[arg(matrix = [n, n])] e: &mut Buffer<f32>,
            #[arg(len = m)] x: &mut Buffer<f32>,
            gemm: &mut Gemm<f32>,
        ) -> Result<Event, GemmError> {{ {body} x += g * h; e = 2.0 * e; }}"
    );
    let environment = Environment {
        directory: "/nowhere".into(),
        package: "my-crate".into(),
        version: "1.2.3".into(),
        override_lock: None,
        source_file: "src/lib.rs".into(),
    };
    let [attribute, item] = [attribute, &item].map(|text| text.parse().expect("it is Rust"));
    let expansion = expand(&attribute, &item, Ok(environment));
    let text = expansion.to_string();
    assert!(!text.contains("compile_error"), "{body}: {text}");
    syn::parse2(expansion).expect("it is items")
}

const SIZES: &str = "tune(m = [8, 16], n = [4, 5])";

/// The statements of the function, without spaces and paths.
fn steps(body: &str) -> Vec<String> {
    let file = expansion(SIZES, body);
    let RustItem::Fn(function) = &file.items[0] else {
        panic!("the function is first");
    };
    let statements = function.block.stmts.iter();
    let texts = statements.map(|statement| {
        let text = quote::quote!(#statement).to_string().replace(' ', "");
        let text = text.replace(
            "<::core::primitive::f32as::core::convert::From<_>>::from",
            "",
        );
        let text = text.replace(
            "<::core::primitive::usizeas::core::convert::TryFrom<_>>::try_from",
            "",
        );
        text.replace(".unwrap_or(::core::primitive::usize::MAX)", "")
    });
    texts.collect()
}

/// The call that multiplies, of statements with one product.
fn call(body: &str) -> String {
    let all = steps(body);
    let mut calls = all.iter().filter(|step| step.contains("__multiply"));
    let call = calls.next().expect("there is a product");
    assert!(calls.next().is_none(), "{body}: {all:?}");
    call.clone()
}

#[test]
fn a_product_is_a_call_with_the_numbers_that_stand_beside_it() {
    const OF_A: &str = "a,(true,[(m),(n),(n),0])";
    const OF_B_T: &str = "b,(true,[(n),(m),(ldb),(offset)])";
    const OF_C: &str = "c,(true,[(m),(m),(m),0])";
    for (body, alpha, beta) in [
        ("c = a * b.t();", "1.0", "0.0"),
        ("c = h * a * b.t();", "(h)", "0.0"),
        ("c = a * (b.t() * h);", "(h)", "0.0"),
        ("c = -(a * b.t()) / h;", "((-1.0)/(h))", "0.0"),
        ("c = 2.0 * a * (h * b.t());", "((h)*2.0)", "0.0"),
        ("c = 0.0 * row(x); c += a * b.t();", "1.0", "1.0"),
        (
            "c = 0.0 * row(x); c = g * c - h * (a * b.t());",
            "(-(h))",
            "(g)",
        ),
        (
            "c = 0.0 * row(x); c -= (h - 1.5) * a * b.t();",
            "(-((h)-1.5))",
            "1.0",
        ),
    ] {
        let expected = format!("gemm.__multiply(queue,{alpha},{OF_A},{OF_B_T},{beta},{OF_C})?;");
        assert_eq!(call(body), expected, "{body}");
    }
}

#[test]
fn transposed_matrices_are_the_same_memory_in_another_order() {
    let call = |body: &str| call(&format!("{body} c = row(x);"));
    let of_e = |by_rows| format!("0.0,e,({by_rows},[(n),(n),(n),0])");
    assert!(call("e = a.t() * b;").contains("1.0,a,(false,[(n),(m),(n),0]),b,(false,"));
    assert!(call("e = a.t() * b;").contains(&of_e(true)));
    // The product is what the transposed matrix holds.
    assert!(call("e = (a.t() * b).t();").contains(&of_e(false)));
    assert!(call("e = (a.t() * b).t() + 3.0;").contains(&of_e(false)));
}

#[test]
fn all_is_checked_before_the_first_launch() {
    let all = steps("x = 2.0 * x; c = max(a * b.t() + column(x), 0.0);");
    let names: Vec<&str> = all
        .iter()
        .map(|step| step.split('(').next().unwrap_or(""))
        .collect();
    let expected = [
        "gemm.__check",
        "f::check_part_2",
        "f::part_1",
        "gemm.__multiply",
        "::core::result::Result::Ok",
    ];
    assert_eq!(names, expected, "{all:?}");
    assert!(
        all[0].starts_with("gemm.__check(queue,\"a\",a,(true,"),
        "{}",
        all[0]
    );
    assert!(
        all[4].contains("Ok(f::part_2(queue,m,n,h,g,c,e,x)?)"),
        "{}",
        all[4]
    );
}

/// The function of a part.
fn part(file: &File, name: &str) -> syn::ItemFn {
    let module = file.items.iter().find_map(|item| match item {
        RustItem::Mod(module) if module.ident == "f" => Some(module),
        _ => None,
    });
    let ItemMod { vis, content, .. } = module.expect("the parts are in a module");
    assert_eq!(quote::quote!(#vis).to_string(), "pub (crate)");
    let items = &content.as_ref().expect("it has content").1;
    let function = items.iter().find_map(|item| match item {
        RustItem::Fn(function) if function.sig.ident == name => Some(function.clone()),
        _ => None,
    });
    function.expect("the part is there")
}

#[test]
fn a_part_has_the_arguments_that_it_uses_as_it_uses_them() {
    let signature = |file: &File, name| {
        let signature = part(file, name).sig;
        let text = quote::quote!(#signature).to_string().replace(' ', "");
        text.replace("::core::primitive::", "")
            .replace("::cltune::", "")
    };
    // The second part reads `c`, which was `out`, and the first one only `x`.
    let file = expansion(SIZES, "x = h * x; c = a * b.t(); x = row_sum(c);");
    assert_eq!(
        signature(&file, "part_1"),
        "fnpart_1(queue:&Queue,m:u32,h:f32,x:&mutBuffer<f32>)->Result<Event>"
    );
    assert_eq!(
        signature(&file, "part_2"),
        "fnpart_2(queue:&Queue,m:u32,n:u32,h:f32,g:f32,c:&Buffer<f32>,e:&mutBuffer<f32>,x:&mutBuffer<f32>)->Result<Event>"
    );
    // What a clause names is a dimension of each part.
    let file = expansion(
        "tune(m = 8, n = 4), tune_if(n < 9), name = \"other::name\"",
        "x = h * x; c = a * b.t();",
    );
    assert!(signature(&file, "part_1").contains("m:u32,n:u32,h:f32"));
    let text = quote::quote!(#file).to_string();
    assert!(text.contains("my_crate::other::name::part_2"));
}

#[test]
fn without_cargo_the_reason_is_all_there_is() {
    let item =
        "fn f(queue: &Queue, gemm: &mut Gemm<f32>, m: u32, #[arg(matrix = [m, m])] a: &Buffer<f32>,
        #[arg(matrix = [m, m])] c: &mut Buffer<f32>) -> Result<Event> { c = a * a; c = 2.0 * c; }";
    let [attribute, item] = [SIZES, item].map(|text| text.parse().expect("it is Rust"));
    let expansion = expand(&attribute, &item, Err("no cargo".into())).to_string();
    assert_eq!(expansion, ":: core :: compile_error ! { \"no cargo\" }");
}
