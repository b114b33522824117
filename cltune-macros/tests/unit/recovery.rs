//! Input of every kind expands to items: never to a panic, never to nothing.

use super::{environment, errors, expanded, tokens};
use crate::expand::expand;
use std::path::Path;

const ITEM: &str = "pub fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &Buffer<f32>) -> \
                    Result<Event> { \"void k(); void r();\" }";
const ATTRIBUTE: &str = "crate = rt, params(WG = [32, 64], T = [\"a\", \"b\"]), \
                         constraints(WG < n, T == \"a\" || true), global(n, 1), local(WG, 1), \
                         local_args(t: [f32; WG] before x), tune(n = 1..=2), defaults(WG = 32, T \
                         = \"a\"), options(\"-w\"), defines(A = n), reference(kernel = \"r\", \
                         global(n, 1)), tolerance(rel = 1e-3), bytes(4 * n), flops(n)";

#[test]
fn an_attribute_that_is_cut_off_anywhere_still_gives_the_item() {
    let environment = environment(Path::new("/nowhere"));
    let all: Vec<_> = tokens(ATTRIBUTE).into_iter().collect();
    for length in 0..all.len() {
        let attribute: String = all[..length]
            .iter()
            .cloned()
            .collect::<proc_macro2::TokenStream>()
            .to_string();
        let text = expanded(&attribute, ITEM, &environment);
        assert!(text.contains("pub fn k"), "{attribute}: {text}");
        assert!(text.contains("pub mod k"), "{attribute}: {text}");
    }
}

#[test]
fn an_attribute_without_one_of_its_tokens_is_reported_or_right() {
    let environment = environment(Path::new("/nowhere"));
    let flat = ATTRIBUTE.split(' ').collect::<Vec<_>>();
    for left_out in 0..flat.len() {
        let mut words = flat.clone();
        words.remove(left_out);
        let Ok(attribute) = words.join(" ").parse() else {
            continue;
        };
        let expansion = expand(attribute, &tokens(ITEM), Ok(environment.clone()));
        syn::parse2::<syn::File>(expansion).expect("an expansion is items");
    }
}

#[test]
fn mistakes_are_reported_together() {
    let environment = environment(Path::new("/nowhere"));
    let attribute = "params(A = [1, 1], B = 5..=2), constraints(C > 1), global(n, n, n, n), \
                     tune(n = -1), tolerance(rel = -1)";
    let found = errors(attribute, ITEM, &environment);
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn deeply_nested_input_is_an_error() {
    let environment = environment(Path::new("/nowhere"));
    let deep = format!("global({}n{})", "(".repeat(5000), ")".repeat(5000));
    assert!(errors(&deep, ITEM, &environment)[0].contains("nested too deeply"));
    let long = format!("global({})", vec!["n"; 5000].join(" + "));
    assert!(errors(&long, ITEM, &environment)[0].contains("too long"));
    let item = ITEM.replace("len = n", &format!("len = {}", "-".repeat(5000)));
    assert!(errors("global(n), tune(n = 1)", &item, &environment)[0].contains("nested too deeply"));
}

#[test]
fn a_list_of_a_hundred_thousand_values_is_read() {
    let environment = environment(Path::new("/nowhere"));
    let values: Vec<String> = (0..100_000).map(|value| value.to_string()).collect();
    let attribute = format!(
        "params(A = [{}]), global(n), tune(n = 1)",
        values.join(", ")
    );
    assert_eq!(errors(&attribute, ITEM, &environment), [""; 0]);
}

#[test]
fn without_cargo_the_reason_is_given() {
    let reason = "no variables".to_owned();
    let expansion = expand(tokens(ATTRIBUTE), &tokens(ITEM), Err(reason)).to_string();
    assert!(expansion.contains("no variables"), "{expansion}");
}
