//! The clauses `scratch(…)` and `stages(…)`.

use super::pieces::{Spanned, in_parentheses, list, separated, single};
use crate::errors::{Errors, did_you_mean, quoted};
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, ExprRange, LitStr, RangeLimits, Token};

/// A step of `stages(…)`.
#[expect(
    clippy::large_enum_variant,
    reason = "most are stages, and there are few"
)]
pub(crate) enum StepSyntax {
    Launch(StageSyntax),
    Clear {
        buffer: Ident,
        when: Option<Expr>,
    },
    Copy {
        from: Ident,
        to: Ident,
        when: Option<Expr>,
    },
    Swap {
        buffers: [Ident; 2],
    },
    Repeat {
        round: Ident,
        count: Expr,
        steps: Vec<Self>,
    },
}

/// `stage(KERNEL(ARGUMENTS), global(…), …)`.
pub(crate) struct StageSyntax {
    pub(crate) kernel: KernelName,
    pub(crate) arguments: Vec<Expr>,
    pub(crate) when: Option<Expr>,
    pub(crate) global: Option<Spanned<Vec<Expr>>>,
    pub(crate) local: Option<Spanned<Vec<Expr>>>,
    pub(crate) offset: Option<Spanned<Vec<Expr>>>,
    pub(crate) local_memory: Option<Spanned<Expr>>,
}

/// The name of a stage's kernel: a name, or a string in which `{PARAMETER}` stands for a value.
pub(crate) struct KernelName {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The words of steps.
pub(super) const STEPS: [&str; 5] = ["stage", "clear", "copy", "swap", "repeat"];
const CLAUSES: [&str; 5] = ["global", "local", "offset", "local_memory", "when"];

/// `(STEP, …)`.
pub(super) fn steps(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<StepSyntax>> {
    in_parentheses(input, |content| Ok(separated(content, errors, step)))
}

/// One step.
pub(super) fn step(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<StepSyntax> {
    let word = input.call(Ident::parse_any)?;
    match word.to_string().as_str() {
        "stage" => in_parentheses(input, |content| stage(content, errors)).map(StepSyntax::Launch),
        "clear" => in_parentheses(input, |content| {
            let ([buffer], when) = buffers(content, "a buffer, for example `clear(sums)`")?;
            Ok(StepSyntax::Clear { buffer, when })
        }),
        "copy" => in_parentheses(input, |content| {
            let ([from, to], when) = buffers(content, "two buffers, `copy(from, to)`")?;
            Ok(StepSyntax::Copy { from, to, when })
        }),
        "swap" => in_parentheses(input, |content| {
            let expected = "two buffers, `swap(a, b)`";
            match buffers(content, expected)? {
                (buffers, None) => Ok(StepSyntax::Swap { buffers }),
                (_, Some(when)) => Err(syn::Error::new_spanned(
                    when,
                    "`swap` takes no condition: buffers change places in every round or in none",
                )),
            }
        }),
        "repeat" => in_parentheses(input, |content| repeat(content, errors)),
        text => {
            let near = did_you_mean(text, STEPS);
            let steps = quoted(STEPS);
            let message = format!("unknown step `{text}`{near}; the steps are {steps}");
            Err(syn::Error::new(word.span(), message))
        }
    }
}

/// `ROUND in 0..COUNT, STEP, …`.
fn repeat(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<StepSyntax> {
    const EXPECTED: &str = "`repeat` begins with its rounds, which count from 0, for example \
                            `repeat(round in 0..8, …)`";
    let expected = |span| syn::Error::new(span, EXPECTED);
    let round: Ident = input.parse().map_err(|_| expected(input.span()))?;
    input
        .parse::<Token![in]>()
        .map_err(|_| expected(round.span()))?;
    let range: Expr = input.parse()?;
    let count = match &range {
        Expr::Range(ExprRange {
            start: Some(start),
            limits: RangeLimits::HalfOpen(_),
            end: Some(end),
            ..
        }) if is_zero(start) => (**end).clone(),
        _ => return Err(syn::Error::new_spanned(range, EXPECTED)),
    };
    if input.is_empty() {
        return Err(syn::Error::new(round.span(), "this repeats no step"));
    }
    input.parse::<Token![,]>()?;
    let steps = separated(input, errors, step);
    Ok(StepSyntax::Repeat {
        round,
        count,
        steps,
    })
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(literal)
        if matches!(&literal.lit, syn::Lit::Int(number) if number.base10_digits() == "0"))
}

/// So many names of buffers, and a condition.
fn buffers<const N: usize>(
    input: ParseStream<'_>,
    expected: &str,
) -> syn::Result<([Ident; N], Option<Expr>)> {
    let mut names = Vec::new();
    let mut when = None;
    while !input.is_empty() {
        let name = input.call(Ident::parse_any)?;
        if name == "when" && input.peek(syn::token::Paren) {
            when = Some(single(input)?);
        } else {
            names.push(name);
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    let names: [Ident; N] = names
        .try_into()
        .map_err(|_| input.error(format!("expected {expected}, with or without `when(…)`")))?;
    Ok((names, when))
}

fn stage(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<StageSyntax> {
    let kernel = kernel_name(input)?;
    let arguments = list(input, errors)?;
    let mut stage = StageSyntax {
        kernel,
        arguments,
        when: None,
        global: None,
        local: None,
        offset: None,
        local_memory: None,
    };
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    separated(input, errors, |input, errors| stage.clause(input, errors));
    Ok(stage)
}

fn kernel_name(input: ParseStream<'_>) -> syn::Result<KernelName> {
    let begin = input.span();
    let expected = || {
        let message = "a stage begins with its kernel and the kernel's arguments, for example \
                       `stage(partial_sums(n, x, partial), global(n))`";
        syn::Error::new(begin, message)
    };
    let (text, span) = if input.peek(LitStr) {
        let literal: LitStr = input.parse()?;
        (literal.value(), literal.span())
    } else {
        let name: Ident = input.parse().map_err(|_| expected())?;
        (name.unraw().to_string(), name.span())
    };
    if input.peek(syn::token::Paren) {
        Ok(KernelName { text, span })
    } else {
        Err(expected())
    }
}

impl StageSyntax {
    fn clause(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let span = word.span();
        let spanned = |value| Spanned { value, span };
        let repeated = match word.to_string().as_str() {
            "when" => self.when.replace(single(input)?).is_some(),
            "global" => self.global.replace(spanned(list(input, errors)?)).is_some(),
            "local" => self.local.replace(spanned(list(input, errors)?)).is_some(),
            "offset" => self.offset.replace(spanned(list(input, errors)?)).is_some(),
            "local_memory" => {
                let value = single(input)?;
                self.local_memory.replace(Spanned { value, span }).is_some()
            }
            text => {
                let near = did_you_mean(text, CLAUSES);
                let clauses = quoted(CLAUSES);
                let message = format!(
                    "unknown clause `{text}` of a stage{near}; after the kernel there may be {clauses}"
                );
                return Err(syn::Error::new(span, message));
            }
        };
        if repeated {
            let message = format!("the clause `{word}` is given twice; keep one");
            return Err(syn::Error::new(span, message));
        }
        Ok(())
    }
}
