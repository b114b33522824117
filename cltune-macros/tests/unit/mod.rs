//! Expansions without a compiler: what depends on files, and what must never be a panic.

mod files;
mod lockfile;
mod recovery;

use crate::environment::Environment;
use crate::expand::expand;
use proc_macro2::TokenStream;
use std::path::Path;

/// A package in a folder.
fn environment(directory: &Path) -> Environment {
    Environment {
        directory: directory.to_owned(),
        package: "my-crate".into(),
        version: "1.2.3".into(),
        override_lock: None,
        source_file: "src/lib.rs".into(),
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test is Rust syntax")
}

/// The text of an expansion.
fn expanded(attribute: &str, item: &str, environment: &Environment) -> String {
    expand(tokens(attribute), &tokens(item), Ok(environment.clone())).to_string()
}

/// The messages of an expansion's `compile_error!`s.
fn errors(attribute: &str, item: &str, environment: &Environment) -> Vec<String> {
    let expansion = expand(tokens(attribute), &tokens(item), Ok(environment.clone()));
    let file: syn::File = syn::parse2(expansion).expect("an expansion is items");
    let macros = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Macro(item) => {
            let name = item.mac.path.segments.last()?;
            let message = item.mac.parse_body::<syn::LitStr>().ok();
            message.filter(|_| name.ident == "compile_error")
        }
        _ => None,
    });
    macros.map(|message| message.value()).collect()
}

/// The one message of an expansion.
fn error(attribute: &str, item: &str, environment: &Environment) -> String {
    let mut errors = errors(attribute, item, environment);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}
