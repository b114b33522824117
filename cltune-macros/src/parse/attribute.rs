//! The clauses of `#[tunable(…)]`.

use super::compile_option::OptionSyntax;
use super::computation::{ComputationSyntax, prepare, reference};
use super::local_arg::LocalArg;
use super::pieces::{
    Assignment, NamedArray, Spanned, assigned, assignments, in_parentheses, list, separated, single,
};
use super::stages::{StepSyntax, steps};
use super::tolerance::ToleranceSyntax;
use crate::errors::{Errors, did_you_mean, quoted};
use cltune_core::measure::{Caches, Objective};
use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, LitBool, LitInt, LitStr, Path, Token};

/// Every clause as written.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) source: Option<Spanned<LitStr>>,
    pub(crate) kernel: Option<Spanned<LitStr>>,
    pub(crate) name: Option<Spanned<LitStr>>,
    pub(crate) krate: Option<Spanned<Path>>,
    pub(crate) params: Option<Spanned<Vec<Assignment>>>,
    pub(crate) constraints: Option<Spanned<Vec<Expr>>>,
    pub(crate) global: Option<Spanned<Vec<Expr>>>,
    pub(crate) local: Option<Spanned<Vec<Expr>>>,
    pub(crate) offset: Option<Spanned<Vec<Expr>>>,
    pub(crate) local_memory: Option<Spanned<Expr>>,
    pub(crate) local_args: Option<Spanned<Vec<LocalArg>>>,
    pub(crate) tune: Vec<Spanned<Vec<Assignment>>>,
    pub(crate) tune_if: Option<Spanned<Expr>>,
    pub(crate) defaults: Option<Spanned<Vec<Assignment>>>,
    pub(crate) options: Option<Spanned<Vec<OptionSyntax>>>,
    pub(crate) defines: Option<Spanned<Vec<Assignment>>>,
    /// `None` inside: `reference = default`.
    pub(crate) reference: Option<Spanned<Option<ComputationSyntax>>>,
    pub(crate) prepare: Option<Spanned<ComputationSyntax>>,
    pub(crate) tolerance: Option<Spanned<Vec<ToleranceSyntax>>>,
    pub(crate) draws: Option<Spanned<LitInt>>,
    pub(crate) bytes: Option<Spanned<Expr>>,
    pub(crate) flops: Option<Spanned<Expr>>,
    pub(crate) even_work: Option<Spanned<LitBool>>,
    pub(crate) measure: Option<Spanned<Caches>>,
    pub(crate) objective: Option<Spanned<Objective>>,
    pub(crate) split: Option<Spanned<Vec<Assignment>>>,
    pub(crate) scratch: Option<Spanned<Vec<NamedArray>>>,
    pub(crate) stages: Option<Spanned<Vec<StepSyntax>>>,
    /// Of generated kernels. No clause says it.
    pub(crate) template: Option<TemplateSyntax>,
    /// Whether a function launches it together with others. No clause says it.
    pub(crate) is_part: bool,
}

/// The template that kernels are generated from, see [`Template`](cltune_core::model::Template).
pub(crate) struct TemplateSyntax {
    pub(crate) name: &'static str,
    pub(crate) scalar_size: usize,
    pub(crate) vectors: usize,
    pub(crate) elements: Expr,
}

/// All clauses.
pub(crate) const CLAUSES: [&str; 28] = [
    "source",
    "kernel",
    "name",
    "crate",
    "params",
    "constraints",
    "global",
    "local",
    "offset",
    "local_memory",
    "local_args",
    "tune",
    "tune_if",
    "defaults",
    "options",
    "defines",
    "reference",
    "prepare",
    "tolerance",
    "draws",
    "bytes",
    "flops",
    "even_work",
    "measure",
    "objective",
    "split",
    "scratch",
    "stages",
];

impl Attribute {
    /// Reads all clauses. What is wrong is collected and left out. `offered` are those that are named
    /// where one is unknown.
    pub(crate) fn parse(tokens: TokenStream, offered: &[&str], errors: &mut Errors) -> Self {
        let mut attribute = Self::default();
        if let Err(error) = cltune_formats::formula::check_nesting(tokens.clone()) {
            errors.push(error.into());
            return attribute;
        }
        let read = |input: ParseStream<'_>| {
            separated(input, errors, |input, errors| {
                attribute.clause(input, offered, errors)
            });
            Ok(())
        };
        let result = read.parse2(tokens);
        // Tokens that a wrong clause left over are not a second mistake.
        if errors.is_empty() {
            errors.take(result);
        }
        attribute
    }

    fn clause(
        &mut self,
        input: ParseStream<'_>,
        offered: &[&str],
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        match word.to_string().as_str() {
            "source" => set(&mut self.source, &word, assigned(input)),
            "kernel" => set(&mut self.kernel, &word, assigned(input)),
            "name" => set(&mut self.name, &word, assigned(input)),
            "crate" => {
                let path = assigned::<ModulePath>(input).map(|path| path.0);
                set(&mut self.krate, &word, path)
            }
            "params" => set(&mut self.params, &word, assignments(input, errors)),
            "constraints" => set(&mut self.constraints, &word, list(input, errors)),
            "global" => set(&mut self.global, &word, list(input, errors)),
            "local" => set(&mut self.local, &word, list(input, errors)),
            "offset" => set(&mut self.offset, &word, list(input, errors)),
            "local_memory" => set(&mut self.local_memory, &word, single(input)),
            "local_args" => set(&mut self.local_args, &word, list(input, errors)),
            "tune" => {
                let value = assignments(input, errors)?;
                let span = word.span();
                self.tune.push(Spanned { value, span });
                Ok(())
            }
            "tune_if" => set(&mut self.tune_if, &word, single(input)),
            "defaults" => set(&mut self.defaults, &word, assignments(input, errors)),
            "options" => set(&mut self.options, &word, list(input, errors)),
            "defines" => set(&mut self.defines, &word, assignments(input, errors)),
            "reference" => set(&mut self.reference, &word, reference(input, errors)),
            "prepare" => set(&mut self.prepare, &word, prepare(input, errors)),
            "tolerance" => set(&mut self.tolerance, &word, list(input, errors)),
            "draws" => set(&mut self.draws, &word, assigned(input)),
            "bytes" => set(&mut self.bytes, &word, single(input)),
            "flops" => set(&mut self.flops, &word, single(input)),
            "even_work" => set(&mut self.even_work, &word, assigned(input)),
            "measure" => set(&mut self.measure, &word, caches(input, &word)),
            "objective" => set(&mut self.objective, &word, objective(input, &word)),
            "split" => set(&mut self.split, &word, assignments(input, errors)),
            "scratch" => set(&mut self.scratch, &word, list(input, errors)),
            "stages" => set(&mut self.stages, &word, steps(input, errors)),
            text => {
                let near = did_you_mean(text, offered.iter().copied());
                let clauses = quoted(offered);
                let message = format!("unknown clause `{text}`{near}; the clauses are {clauses}");
                Err(syn::Error::new(word.span(), message))
            }
        }
    }
}

/// `(cold)` or `(warm)`.
fn caches(input: ParseStream<'_>, clause: &Ident) -> syn::Result<Caches> {
    let expected =
        "`measure(cold)` times launches with cold caches, `measure(warm)` with warm ones";
    let words = Caches::ALL.map(|caches| (caches.word().to_owned(), caches));
    word_of(input, clause, &words, expected)
}

/// `(time)`, `(energy)` or `(energy_delay)`.
fn objective(input: ParseStream<'_>, clause: &Ident) -> syn::Result<Objective> {
    let expected = "`objective(energy)` chooses the configuration that takes least energy, \
                    `objective(energy_delay)` that of the least product with the time, `objective(time)` the fastest";
    let words = Objective::ALL.map(|objective| (objective.word().replace('-', "_"), objective));
    word_of(input, clause, &words, expected)
}

/// One of a few words, in parentheses.
fn word_of<T: Copy>(
    input: ParseStream<'_>,
    clause: &Ident,
    words: &[(String, T)],
    expected: &str,
) -> syn::Result<T> {
    in_parentheses(input, |content| {
        if content.is_empty() {
            let message = format!("a word is missing: {expected}");
            return Err(syn::Error::new(clause.span(), message));
        }
        if !content.peek(Ident::peek_any) {
            return Err(content.error(format!("expected a word: {expected}")));
        }
        let word = content.call(Ident::parse_any)?;
        let text = word.to_string();
        let found = words.iter().find(|(known, _)| *known == text);
        let (_, value) = found.ok_or_else(|| {
            let near = did_you_mean(&text, words.iter().map(|(known, _)| known.as_str()));
            let message = format!("unknown word `{text}`{near}; {expected}");
            syn::Error::new(word.span(), message)
        })?;
        content.parse::<Option<Token![,]>>()?;
        if content.is_empty() {
            Ok(*value)
        } else {
            Err(content.error(format!("expected one word: {expected}")))
        }
    })
}

/// Stores a clause that may be given once.
fn set<T>(place: &mut Option<Spanned<T>>, word: &Ident, value: syn::Result<T>) -> syn::Result<()> {
    let value = value?;
    if place.is_some() {
        let message = format!("the clause `{word}` is given twice; keep one");
        return Err(syn::Error::new(word.span(), message));
    }
    let span = word.span();
    *place = Some(Spanned { value, span });
    Ok(())
}

/// A path of plain names, `::cltune` or `crate::gpu::cltune`.
struct ModulePath(Path);

impl Parse for ModulePath {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Path::parse_mod_style).map(Self)
    }
}
