//! The clauses `prepare` and `reference`.

use super::local_arg::LocalArg;
use super::pieces::{NamedArray, assigned, in_parentheses, list, separated};
use super::stages::{STEPS, StepSyntax, step};
use crate::errors::{Errors, did_you_mean, quoted};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Token};

/// `prepare(…)` or `reference(…)`: steps, and what they need; or one kernel with its sizes.
#[derive(Default)]
pub(crate) struct ComputationSyntax {
    pub(crate) kernel: Option<LitStr>,
    pub(crate) source: Option<LitStr>,
    pub(crate) global: Option<Vec<Expr>>,
    pub(crate) local: Option<Vec<Expr>>,
    pub(crate) scratch: Option<Vec<NamedArray>>,
    pub(crate) local_args: Option<Vec<LocalArg>>,
    pub(crate) steps: Vec<StepSyntax>,
}

/// The words of both clauses besides the steps.
const WORDS: [&str; 3] = ["source", "scratch", "local_args"];
/// Those that only a reference has.
const OF_KERNEL: [&str; 3] = ["kernel", "global", "local"];

/// `= default`, which is `None`, or `(…)`.
pub(super) fn reference(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<ComputationSyntax>> {
    if input.parse::<Option<Token![=]>>()?.is_some() {
        let word = input.call(Ident::parse_any)?;
        if word == "default" {
            return Ok(None);
        }
        return Err(syn::Error::new(
            word.span(),
            "expected `reference = default` or `reference(kernel = \"…\", global(…))`",
        ));
    }
    computation(input, "reference", &OF_KERNEL, errors).map(Some)
}

/// `(…)`.
pub(super) fn prepare(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<ComputationSyntax> {
    computation(input, "prepare", &[], errors)
}

fn computation(
    input: ParseStream<'_>,
    clause: &str,
    further: &[&str],
    errors: &mut Errors,
) -> syn::Result<ComputationSyntax> {
    let words = further.iter().chain(&WORDS).chain(&STEPS).copied();
    let words: Vec<&str> = words.collect();
    let mut computation = ComputationSyntax::default();
    in_parentheses(input, |content| {
        separated(content, errors, |content, errors| {
            let word = content.fork().call(Ident::parse_any)?;
            let text = word.to_string();
            if STEPS.contains(&&*text) {
                computation.steps.push(step(content, errors)?);
                return Ok(());
            }
            if words.contains(&&*text) {
                return computation.word(content, errors);
            }
            let near = did_you_mean(&text, words.iter().copied());
            let words = quoted(&words);
            let message = format!("unknown word `{text}` in `{clause}`{near}; there are {words}");
            Err(syn::Error::new(word.span(), message))
        });
        Ok(())
    })?;
    Ok(computation)
}

impl ComputationSyntax {
    /// One of the words that are no steps.
    fn word(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let repeated = match word.to_string().as_str() {
            "kernel" => self.kernel.replace(assigned(input)?).is_some(),
            "source" => self.source.replace(assigned(input)?).is_some(),
            "global" => self.global.replace(list(input, errors)?).is_some(),
            "local" => self.local.replace(list(input, errors)?).is_some(),
            "scratch" => self.scratch.replace(list(input, errors)?).is_some(),
            _ => self.local_args.replace(list(input, errors)?).is_some(),
        };
        if repeated {
            let message = format!("`{word}` is given twice; keep one");
            return Err(syn::Error::new(word.span(), message));
        }
        Ok(())
    }
}
